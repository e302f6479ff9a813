/* tests/ref/ref_caches.h - slow, obvious caches and machines for the hierarchy model.
 *
 * A cache is a list of lines with the time of their last access. */
#ifndef REF_CACHES_H
#define REF_CACHES_H

#include "cachemodel/machine/hierarchy.h"
#include "tests/ref/ref_threads.h"

/* A GPU whose caches are fully associative, from the requests of ref_threads; schedules LOCKSTEP
 * and OLDEST.  passes: results of one run after the other on the same L2. */
void ref_gpu(const ref_events *all, const list_kernel *kernel, const machine *m,
             const hierarchy_options *opts, int32_t resident_warps, int passes,
             hierarchy_result *results);

/* One core with any levels, from single accesses in their order. */
void ref_cpu(const ref_events *all, const machine *m, int passes, hierarchy_result *results);

#endif
