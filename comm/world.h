/* comm/world.h - the processes, called ranks, that a launcher such as mpirun starts together.
 *
 * A program that no launcher started is one rank, and MPI is neither loaded nor initialised: its
 * start would take longer than a short run.  libmpi is loaded when it is needed, so that a built
 * program also runs where there is none. */
#ifndef WORLD_H
#define WORLD_H

#include "core/md.h"

MD_BEGIN_C

/* Join the ranks that the launcher started; once, before any other call.  Ranks other than 0 write
 * nothing to standard output from here on.
 * Errors: MD_EINVAL (there are several ranks, and this build has no MPI or libmpi cannot be
 * loaded), MD_EIO (standard output cannot be redirected). */
md_status world_open(void);
/* Leave them.  failed: this rank ends with an error.  Where the others do not know of it
 * (world_agree), all are ended with exit_code, the process's, so that none waits for this one. */
void world_close(bool failed, int exit_code);

/* This rank's number, 0 .. world_count() - 1. */
int world_rank(void);
int world_count(void);

/* What follows is called by all ranks together.  With one rank it costs nothing. */

/* The worst status of all, with the message of the lowest rank that has it.  What all have agreed
 * on already, since they fail alike, is not exchanged again. */
md_status world_agree(md_status status);
/* The same, where each rank met the failures of one sequence, or some of them: the message of the
 * one that came first, by `at` and then by `which`. */
md_status world_agree_first(md_status status, int64_t at, int64_t which);
/* From here on ranks wait for each other's messages: one that fails while the others do not know
 * ends them all. */
void world_work(void);
/* The status that a rank ends with: agreed, unless it fails while the others are at work.  Whether
 * it is this rank that tells. */
md_status world_end(md_status status);
bool world_tells(void);

/* `bytes` of each rank to all, in the order of ranks: all [count][bytes]. */
void world_gather(const void *mine, size_t bytes, void *all);
/* Of rank 0 to all. */
void world_broadcast(void *data, size_t bytes);
/* Each value becomes its sum over ranks; the largest of all ranks, of values that are numbers. */
void world_sum(int64_t *values, int64_t count);
void world_most(double *values, int count);
/* The same of many reals, float or double by their size: each becomes its sum over ranks, taken in
 * double and in the order of ranks, the same bits on all.  Takes memory for as many reals.
 * Errors: MD_ENOMEM. */
md_status world_add(void *reals, int64_t count, size_t size);
/* The same of a part of each rank: reals cut[r] .. cut[r + 1] - 1 become sums on rank r alone; cut
 * [count + 1] is the same on all, and cut[0] is 0. */
md_status world_add_parts(void *reals, const int64_t *cut, size_t size);
/* Where the part of `count` reals begins that rank r adds up, a multiple of WORLD_ALIGNED; of
 * world_count(): count. */
enum { WORLD_ALIGNED = 16 };
int64_t world_part(int64_t count, int r);
/* to[r] goes to rank r, which has it in from[this rank]: [count][width] each. */
void world_trade(const int64_t *to, int64_t *from, int width);
/* Items cut[r] ... cut[r + 1] - 1 of an array, `width` bytes each, are those of rank r: all ranks
 * get all in their places; rank 0 gets all, and `all` is NULL on others.  cut [count + 1] is the
 * same on all.  Errors, of all: MD_ENOMEM. */
md_status world_complete(void *items, const int64_t *cut, size_t width);
md_status world_collect(const void *mine, const int64_t *cut, size_t width, void *all);
/* Items to[r] .. to[r + 1] - 1 of `out` go to rank r, which has them at from[this rank] .. of `in`:
 * `width` bytes each, to and from [count + 1].  Of a rank itself there are none.  Errors, of all:
 * MD_ENOMEM. */
md_status world_swap(const void *out, const int64_t *to, void *in, const int64_t *from,
                     size_t width);
/* MD_OK where this text is the same on all ranks.  Errors: MD_EINVAL (names the first rank that
 * differs from rank 0, and what it is that differs). */
md_status world_same(const char *what, const void *data, size_t bytes);

/* A message to or from another rank; those between two ranks arrive in the order they are listed
 * in. */
typedef struct {
  int rank;
  void *data;
  size_t bytes;
} world_message;
/* Room for so many messages of so many bytes together, received and sent, between two calls of
 * world_wait.  A rank that has none tells the others before any waits for a message.
 * Errors, of this rank: MD_ENOMEM. */
md_status world_reserve(int64_t messages, int64_t bytes);
/* Begin to receive and to send, all at once, what there is room for; what is sent must stay until
 * world_wait, which waits for all. */
void world_start(const world_message *in, int n_in, const world_message *out, int n_out);
void world_wait(void);

/* How many ranks this rank shares its host with, and its processors: those that have the same
 * affinity there. */
void world_share(int *host, int *processors);
/* How many threads this rank gets (md_ctx_spec), where `asked` is 0 for as many as there are: where
 * ranks share processors, its part of them, unless OMP_NUM_THREADS says how many. */
int world_threads(int asked);
/* This rank's number among those of its host. */
int world_local(void);

/* What this build knows of MPI, for people. */
const char *world_library(void);

MD_END_C
#endif
