/* cachemodel/machine/hierarchy_impl.h - the two models behind hierarchy.h. */
#ifndef HIERARCHY_IMPL_H
#define HIERARCHY_IMPL_H

#include "cachemodel/machine/hierarchy.h"
#include "core/simd.h"

MD_BEGIN_C

/* Everything a model needs; options are complete, the kernel compact. */
typedef struct {
  const list_input *in;
  list_kernel kernel;
  machine m;
  hierarchy_options opts;
} hierarchy_job;

typedef md_status hierarchy_fn(const hierarchy_job *job, hierarchy_result *cold,
                               hierarchy_result *warm);
SIMD_DECLARE_(hierarchy_fn, hierarchy_gpu);
SIMD_DECLARE_(hierarchy_fn, hierarchy_cpu);

MD_END_C
#endif
