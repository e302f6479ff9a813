/* minimd/displacement_cpu.c - the largest displacement on the CPU: x, v and held are read once.
 * Compiled once per precision and instruction set. */
#include "minimd/displacement_impl.h"

#include <math.h>

md_status KERNEL(displacement_cpu_measure)(displacement *d, const md_atoms *atoms, double back)
{
  const state *x = atoms->x.data, *v = atoms->v.data, *held = d->held.data;
  double most = 0;
#pragma omp parallel for schedule(static) num_threads(d->ctx->threads) reduction(max : most)
  for (int64_t i = 0; i < atoms->n; i++) {
    double moved_sq = 0;
    for (int k = 0; k < 3; k++) {
      const double moved = (double)x[4 * i + k] - held[4 * i + k] - back * (double)v[4 * i + k];
      moved_sq += moved * moved;
    }
    if (!(moved_sq <= most)) most = isnan(moved_sq) ? INFINITY : moved_sq;
  }
  d->moved_sq = most;
  return MD_OK;
}
