/* stokes/step/drift_impl.h - what a backend does for steps with the mobility of all spheres. */
#ifndef STOKES_DRIFT_IMPL_H
#define STOKES_DRIFT_IMPL_H

#include "core/context.h"

MD_BEGIN_C

typedef struct {
  /* f [3 n]: the same force on every sphere. */
  md_status (*drive)(md_ctx *ctx, int64_t n, const double force[3], double *f);
  /* many [3 n][m] = dt v + scale many, v [3 n]. */
  md_status (*combine)(md_ctx *ctx, int64_t n, int m, double dt, const double *v, double scale,
                       double *many);
  /* Spheres x [n][4] go as far as one column says. */
  md_status (*advance)(md_ctx *ctx, int64_t n, int m, int column, const double *many, double *x);
} drift_backend;
extern const drift_backend drift_cpu, drift_gpu;

MD_END_C
#endif
