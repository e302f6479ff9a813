/* tests/hostile/pretend_ranks.h - several ranks without a launcher: processes forked from this one,
 * whose messages go through memory that they share.
 *
 * It stands in for comm/world/world_mpi.c where it is linked before it.  What MPI would wait for
 * without end, or take for something else, is a fault that is told at once: ranks that call
 * different things together, sizes that differ, a message from a rank that waits for others or has
 * ended. */
#ifndef PRETEND_RANKS_H
#define PRETEND_RANKS_H

#include "tests/hostile/failing_memory.h"

enum { PRETEND_RANKS = 3, PRETEND_SITES = 400 };

/* A place where a rank calls all others after something of its own that could fail: the first and
 * the last of it (failing_calls). */
typedef struct {
  const void *from; /* the caller */
  long first, last;
} pretend_site;

typedef struct {
  int code;        /* exit code, of all ranks or of the one that ended them */
  bool alone;      /* one ended the others, which had not agreed */
  int lines;       /* errors on standard error */
  char fault[512]; /* "": none */
  char said[2048]; /* standard error */
  int n_sites;     /* of the rank that is watched */
  pretend_site site[PRETEND_SITES];
} pretend_outcome;

/* Run `body`, which returns an exit code, as every rank; sites are those of rank `watched`, for
 * what fails there. */
void pretend_ranks(int body(int rank, void *of), void *of, int watched, failing_where where,
                   pretend_outcome *out);

#endif
