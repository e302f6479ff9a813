/* engine/integrate/fastest_cpu.prec.c - the greatest v^2 on the CPU.
 *
 * An atom takes 16 bytes in single precision, 32 in double, and 5 operations: memory bounds it.
 * Compiled once per precision and instruction set. */
#include "engine/integrate/integrate_impl.h"

/* Greatest v^2 of atoms begin..end - 1; NaN where one is NaN. */
static double fastest_of(const state *v, int64_t begin, int64_t end)
{
  double most = 0;
  for (int64_t i = begin; i < end; i++) {
    const double x = v[4 * i], y = v[4 * i + 1], z = v[4 * i + 2];
    const double v_sq = x * x + y * y + z * z;
    if (v_sq <= most) continue;
    most = v_sq;
    if (isnan(v_sq)) break;
  }
  return most;
}

md_status KERNEL(integrate_cpu_fastest)(md_atoms *atoms, double *v_sq)
{
  const int64_t n = atoms->n;
  const int threads = atoms->ctx->threads;
  double most = 0;
  bool lost = false;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max                       \
                                                                         : most) reduction(|       \
                                                                                           : lost)
  for (int t = 0; t < threads; t++) {
    const double part = fastest_of(atoms->v.data, n * t / threads, n * (t + 1) / threads);
    lost |= isnan(part);
    most = part > most ? part : most;
  }
  *v_sq = lost ? NAN : most;
  return MD_OK;
}
