/* cachemodel/machine/hierarchy.h - what a machine's caches make of the force kernel's accesses.
 *
 * GPU.  A block of warps stays on one multiprocessor until all of them are done; the next block in
 * the grid takes its place.  Each multiprocessor gives one of its resident warps a turn after the
 * other: what it issues together (list_warp_turn).  A request is coalesced to distinct sectors,
 * grouped by line; each line is looked up in the multiprocessor's L1, sectors that miss in the L2,
 * sectors that miss there in memory, which gives some neighbours along with them.  Every load takes
 * a line of the L1; where the L1 is asked not to keep it nobody finds it again.  Sets are chosen by
 * a hash, hits are counted per sector.
 * The L2's parts each cache for half of the multiprocessors (pairs of them take turns); what misses
 * in the own part is looked up in the part that is home of the line, with the neighbours that
 * memory would give, and kept in both.  Lines that the L1 is asked not to keep have at most half of
 * each set of the L2, where any of them makes room for another; else the oldest line goes.
 * Stores and reductions pass the L1 and are done in the home part; a reduction that misses reads
 * its sector first; equal elements of a reduction follow each other, a sector each; dirty sectors
 * are written to memory when their line is evicted.  L1 caches start empty, the L2 empty (cold) or
 * as the same kernel left it (warm), whose blocks begin with the next multiprocessor.  Each pass of
 * embedded atoms is a grid of its own.
 *
 * CPU.  One core runs through all rows; set = line modulo sets, LRU; write-back, write-allocate; a
 * line is kept in every level on its way.  No prefetching, no other cores.  Arrays start where they
 * lie within their pages (list_kernel_compact): a first level whose ways are 4 KB or less has the
 * hits of the recorded addresses, to the access.  Farther levels see pages that follow each other.
 *
 * How the model fares against counters: docs/orderings.md.  Cost: about 10 ns a line; memory: the
 * caches and the resident rows (100 MB).  [AK] section 6.2. */
#ifndef HIERARCHY_H
#define HIERARCHY_H

#include "cachemodel/kernel/list_trace.h"
#include "cachemodel/machine/machine.h"

MD_BEGIN_C

/* Which of the resident warps has the next turn. */
#define HIERARCHY_SCHEDULES(X)                                                                     \
  X(ROUND, "round", "one after the other, with chance")                                            \
  X(LOCKSTEP, "lockstep", "one after the other")                                                   \
  X(RANDOM, "random", "any")                                                                       \
  X(OLDEST, "oldest", "the one resident longest, until it is done")
/* When the next block comes. */
#define HIERARCHY_REFILLS(X)                                                                       \
  X(DYNAMIC, "dynamic", "as soon as one is done")                                                  \
  X(WAVES, "waves", "when all resident blocks of the machine are done")
#define MD_ENUM_(name, ...) HIERARCHY_##name,
typedef enum { HIERARCHY_SCHEDULES(MD_ENUM_) HIERARCHY_SCHEDULE_COUNT } hierarchy_schedule;
typedef enum { HIERARCHY_REFILLS(MD_ENUM_) HIERARCHY_REFILL_COUNT } hierarchy_refill;
#undef MD_ENUM_
extern const char *const hierarchy_schedule_words[HIERARCHY_SCHEDULE_COUNT];
extern const char *const hierarchy_refill_words[HIERARCHY_REFILL_COUNT];

typedef struct {
  hierarchy_schedule schedule;
  int32_t skip; /* percent: probability that ROUND passes over a warp */
  int32_t stay; /* the same: that it lets one go on that need not wait for data */
  hierarchy_refill refill;
  int32_t block_size; /* threads; 0: the kernel's default */
  int32_t registers;  /* of a thread; 0: those of the kernel as compiled for sm_90 */
  int64_t rows;       /* only the first so many rows; 0: all */
} hierarchy_options;

/* round, 15 %, 40 %, dynamic: fits counters best. */
hierarchy_options hierarchy_default(void);

typedef struct {
  int64_t requests, lanes; /* instructions of warps and their active threads; CPU: accesses */
  int64_t lines, sectors;  /* distinct within each request */
  struct {
    int64_t sectors, hits; /* that were looked up in this level */
  } level[MACHINE_LEVELS_MOST];
  int64_t memory_read, memory_written; /* sectors */
} hierarchy_counts;

typedef struct {
  hierarchy_counts stream[TRACE_STREAM_COUNT];
  hierarchy_counts density[TRACE_STREAM_COUNT]; /* their part in embedded atoms' first pass */
  int64_t rows;                                 /* that were modelled */
  int32_t resident_warps;                       /* of a multiprocessor */
  int32_t block_size, registers;
} hierarchy_result;

/* Run the kernel through the machine's caches.  Addresses are taken as list_kernel_compact gives
 * them.  warm, unless NULL, gets the counts of a second run on the L2 (GPU) or all caches (CPU)
 * that the first left.  The same lists at the same places in their pages give the same counts.
 * Errors: MD_EINVAL (a kernel of the other kind of processor, a block that does not fit the
 * machine), MD_ECAPACITY (arrays of 2^32 lines or more), MD_ENOMEM, MD_ECUDA. */
md_status hierarchy_run(const list_input *in, const list_kernel *kernel, const machine *m,
                        const hierarchy_options *opts, hierarchy_result *cold,
                        hierarchy_result *warm);

/* The caches of one core, fed with accesses of any program. */
typedef struct hierarchy_core hierarchy_core;
/* m must outlive it.  Errors: MD_EINVAL (not a CPU), MD_ENOMEM. */
md_status hierarchy_core_create(md_isa isa, const machine *m, hierarchy_core **out);
void hierarchy_core_destroy(hierarchy_core *core); /* NULL is allowed */
/* Access lines of m->level[0].line bytes, numbered in groups (trace_lines) of what
 * hierarchy_core_group says, so that they fall into the sets of their addresses; counts->lines,
 * level and memory_* grow by what these accesses caused. */
void hierarchy_core_feed(hierarchy_core *core, int64_t n, const uint32_t *line, bool write,
                         hierarchy_counts *counts);
/* The least number of lines that the sets of every level divide. */
int64_t hierarchy_core_group(const machine *m);

/* The sum over streams. */
hierarchy_counts hierarchy_total(const hierarchy_result *result);

MD_END_C
#endif
