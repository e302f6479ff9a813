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

/* What a core of one instruction set begins with. */
struct hierarchy_core {
  void (*feed)(hierarchy_core *core, int64_t n, const uint32_t *line, bool write,
               hierarchy_counts *counts);
  void (*destroy)(hierarchy_core *core);
};
typedef md_status hierarchy_core_fn(const machine *m, hierarchy_core **out);
SIMD_DECLARE_(hierarchy_core_fn, hierarchy_core_make);

MD_END_C
#endif
