/* cachemodel/cachemodel.h - how often does a sweep over ordered cells miss in a cache?
 *
 * A trace is a stream of accesses, each the number of a line (a block of consecutive memory); lines
 * are numbered densely from 0, so that memory is proportional to the distinct lines.  Whatever
 * makes a trace hands it over in batches of any size; whatever simulates a cache is fed with
 * batches.  Everything here runs on one core; several traces run side by side.  [AK] section 3.2.
 */
#ifndef CACHEMODEL_H
#define CACHEMODEL_H

#include "core/context.h"
#include "ordering/ordering.h"
#include "ordering/stencil.h"

MD_BEGIN_C

/* A stencil sweep, [AK] Algorithm 1 made precise: the cells are visited in the ordering; those
 * nearer than g to the border are skipped; for each cell of the stencil, di outermost and dk
 * innermost, each ascending, line floor(index / line) is accessed. */
typedef struct {
  ordering order;
  int32_t n[3];
  ordering_stencil stencil;
  bool half;
  int64_t line; /* cells in a line, >= 1 */
} cachemodel_sweep;

/* Check a sweep before anything is allocated; copies: how many are to be held at a time.
 * Errors: MD_EINVAL (a size or line < 1, no cell is g away from the border, a hybrid's tile does
 * not divide the sizes), MD_ECAPACITY (2^32 cells or more), MD_ENOMEM (more memory than is free:
 * says how much is needed). */
md_status cachemodel_sweep_check(const cachemodel_sweep *sweep, int copies);

/* Length of its trace: visited cells times cells of the stencil. */
int64_t cachemodel_sweep_accesses(const cachemodel_sweep *sweep);

typedef struct cachemodel_trace cachemodel_trace;

/* Errors: those of cachemodel_sweep_check, MD_ENOMEM. */
md_status cachemodel_trace_create(const cachemodel_sweep *sweep, cachemodel_trace **out);
void cachemodel_trace_destroy(cachemodel_trace *trace); /* NULL is allowed */
/* The next accesses, at most room; returns how many, 0 at the end.  Rewind starts again. */
int64_t cachemodel_trace_next(cachemodel_trace *trace, int64_t room, uint32_t *line);
void cachemodel_trace_rewind(cachemodel_trace *trace);

/* LRU stack distances (Mattson 1970): all capacities at once.  The distance of an access is the
 * number of distinct lines accessed since the last access to the same line; a fully associative LRU
 * cache of c lines hits where the distance is below c. */
typedef struct cachemodel_stack cachemodel_stack;
md_status cachemodel_stack_create(md_isa isa, cachemodel_stack **out);
void cachemodel_stack_destroy(cachemodel_stack *stack); /* NULL is allowed */
/* Lines are < 2^32 - 1.  Where most accesses go to lines long unused, 16,384 or more at a time cost
 * least.  Errors: MD_ENOMEM; the stack is then lost. */
md_status cachemodel_stack_feed(cachemodel_stack *stack, int64_t n, const uint32_t *line);
/* Lines seen, by whatever class: cold misses. */
int64_t cachemodel_stack_distinct(const cachemodel_stack *stack);
/* Accesses from now on are counted in class k >= 0, at first 0, and what follows tells of that
 * class: so one pass says what each of several arrays misses.  Errors: MD_ENOMEM. */
md_status cachemodel_stack_count_in(cachemodel_stack *stack, int k);
int64_t cachemodel_stack_accesses(const cachemodel_stack *stack);
/* misses[c - 1] of a cache of c lines, c = 1..n. */
void cachemodel_stack_misses(const cachemodel_stack *stack, int64_t n, int64_t *misses);

/* Caches of given size.  Line x of a cache of C lines in W ways lives in set x mod (C / W).  LRU
 * evicts the line of the set that was used least recently, FIFO the one that came first.  Levels:
 *
 *   inclusive  a line is also in every level beyond the nearest that has it; evicting it from one
 *              removes it from the nearer ones; a hit refreshes only the level that had it
 *   exclusive  a line is in one level; a hit moves it to the nearest; what a level evicts goes to
 *              the next */
#define CACHEMODEL_POLICIES(X) X(LRU, "lru") X(FIFO, "fifo")
#define CACHEMODEL_INCLUSIONS(X) X(INCLUSIVE, "inclusive") X(EXCLUSIVE, "exclusive")
#define MD_ENUM_(name, word) CACHEMODEL_##name,
typedef enum { CACHEMODEL_POLICIES(MD_ENUM_) CACHEMODEL_POLICY_COUNT } cachemodel_policy;
typedef enum { CACHEMODEL_INCLUSIONS(MD_ENUM_) CACHEMODEL_INCLUSION_COUNT } cachemodel_inclusion;
#undef MD_ENUM_
extern const char *const cachemodel_policy_words[CACHEMODEL_POLICY_COUNT];
extern const char *const cachemodel_inclusion_words[CACHEMODEL_INCLUSION_COUNT];

typedef struct {
  int64_t capacity; /* lines, >= 1 */
  int64_t ways;     /* divides capacity; 0: fully associative */
  cachemodel_policy policy;
} cachemodel_level;

/* Read `[inclusive:|exclusive:]LEVEL,LEVEL,...`, nearest first, with LEVEL = LINES[/WAYS][/POLICY];
 * what a level leaves out is taken from *usual, inclusive where nothing is said.  free(*levels).
 * Errors: MD_EINVAL, MD_ENOMEM. */
md_status cachemodel_levels_parse(const char *text, const cachemodel_level *usual,
                                  cachemodel_level **levels, int *n,
                                  cachemodel_inclusion *inclusion);

typedef struct cachemodel_cache cachemodel_cache;

/* n levels, nearest first.  Errors: MD_EINVAL (capacity < 1, ways that do not divide it),
 * MD_ENOMEM (also: more sets than memory holds). */
md_status cachemodel_cache_create(md_isa isa, int n, const cachemodel_level *levels,
                                  cachemodel_inclusion inclusion, cachemodel_cache **out);
void cachemodel_cache_destroy(cachemodel_cache *cache); /* NULL is allowed */
/* Lines are < 2^32 - 1.  Errors: MD_ENOMEM; the cache is then lost. */
md_status cachemodel_cache_feed(cachemodel_cache *cache, int64_t n, const uint32_t *line);
/* Accesses that reached a level and those that missed there. */
void cachemodel_cache_counts(const cachemodel_cache *cache, int level, int64_t *accesses,
                             int64_t *misses);

/* Memory offsets of a stencil, [AK] Figs. 6-9.  count[span + d]: how often index(neighbour) -
 * index(centre) = d, over all visited cells of the sweep and all cells of the stencil, the centre
 * included; -span <= d <= span.  free(*count).  Errors: those of cachemodel_sweep_check, MD_ENOMEM.
 */
md_status cachemodel_offsets(const cachemodel_sweep *sweep, int64_t **count, int64_t *span);

MD_END_C
#endif
