/* bench/lattice.h - many spheres on a distorted lattice, made at once. */
#ifndef LATTICE_H
#define LATTICE_H

#include "bench/bench.h"
#include "stokes/packing/packing.h"

/* EDGE^3 spheres, each as far as `shake` from its place; their radii are 1 to `spread`. */
enum { EDGE = 100 };
#define LATTICE_STEP 2.5
static inline stokes_packing lattice_make(md_ctx *host, double spread, bool sorted)
{
  static const double step = LATTICE_STEP, shake = 0.2;
  const int64_t n = (int64_t)EDGE * EDGE * EDGE;
  stokes_packing p;
  bench_stop(stokes_packing_create(n, &p));
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = i * 7919 % n; /* no neighbour follows another */
    const int64_t at[3] = {k / EDGE / EDGE, k / EDGE % EDGE, k % EDGE};
    for (int d = 0; d < 3; d++) {
      const double move = (double)((k * 3 + d) * 2654435761u % 2000003u) / 1000001.5 - 1;
      p.x[4 * i + d] = step * ((double)at[d] + shake * move);
    }
    p.x[4 * i + 3] = 1 + (spread - 1) * (double)((k * 2654435761u >> 16) % 10) / 9;
  }
  for (int d = 0; d < 3; d++)
    p.box[d] = step * EDGE;
  if (sorted)
    bench_stop(stokes_packing_sort(host, &p, &(ordering){.kind = ORDERING_HILBERT}, NULL));
  return p;
}

#endif
