/* stokes/step/flow_impl.h - what a backend does for flow with lubrication. */
#ifndef STOKES_FLOW_IMPL_H
#define STOKES_FLOW_IMPL_H

#include "core/context.h"

MD_BEGIN_C

/* Spheres are [n][4], vectors [3 n][m]. */
typedef struct {
  /* scale [n] = sqrt(drag a_i). */
  md_status (*scales)(md_ctx *ctx, int64_t n, double drag, const double *x, double *scale);
  /* to = scale_i from, or from / scale_i; may be the same memory. */
  md_status (*scale)(md_ctx *ctx, int64_t n, int m, bool inverse, const double *scale,
                     const double *from, double *to);
  /* A column of `to` = shift on each sphere + factor from [3 n]. */
  md_status (*put)(md_ctx *ctx, int64_t n, int m, int column, const double shift[3], double factor,
                   const double *from, double *to);
  /* Spheres `to` = from + factor times a column of v; may be the same memory. */
  md_status (*move)(md_ctx *ctx, int64_t n, int m, int column, double factor, const double *v,
                    const double *from, double *to);
} flow_backend;
extern const flow_backend flow_cpu, flow_gpu;
const flow_backend *flow_backend_of(const md_ctx *ctx);

MD_END_C
#endif
