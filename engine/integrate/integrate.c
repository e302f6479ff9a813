/* engine/integrate/integrate.c - picks the kernels of the time integration. */
#include "engine/integrate/integrate_impl.h"

static integrate_advance_fn *const cpu_advance[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(integrate_cpu_advance);
static integrate_sum_fn *const cpu_sum[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(integrate_cpu_sum);
static integrate_advance_fn *const gpu_advance[MD_PRECISION_COUNT] =
    PREC_TABLE(integrate_gpu_advance);
static integrate_sum_fn *const gpu_sum[MD_PRECISION_COUNT] = PREC_TABLE(integrate_gpu_sum);

md_status integrate_advance(md_atoms *atoms, const double *kick, int kicks, double drift)
{
  MD_REQUIRE(kicks >= 0 && kicks <= 2, MD_EINVAL, "%d half kicks: expected 0, 1 or 2", kicks);
  return SIMD_PICK(atoms->ctx, cpu_advance, gpu_advance)(atoms, kick, kicks, drift);
}

md_status integrate_sum(md_atoms *atoms, const double *weight, integrate_sums *out)
{
  *out = (integrate_sums){0};
  if (atoms->n == 0) return MD_OK;
  return SIMD_PICK(atoms->ctx, cpu_sum, gpu_sum)(atoms, weight, out);
}
