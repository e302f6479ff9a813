/* engine/integrate/integrate_impl.h - what a backend provides to integrate.c. */
#ifndef INTEGRATE_IMPL_H
#define INTEGRATE_IMPL_H

#include "core/simd.h"
#include "engine/integrate/integrate.h"

MD_BEGIN_C

typedef md_status integrate_advance_fn(md_atoms *atoms, const double *kick, int kicks,
                                       double drift);
typedef md_status integrate_sum_fn(md_atoms *atoms, const double *weight, integrate_sums *out);
SIMD_DECLARE(integrate_advance_fn, integrate_cpu_advance);
SIMD_DECLARE(integrate_sum_fn, integrate_cpu_sum);
PREC_DECLARE(integrate_advance_fn, integrate_gpu_advance);
PREC_DECLARE(integrate_sum_fn, integrate_gpu_sum);

MD_END_C
#endif
