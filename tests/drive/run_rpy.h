/* tests/drive/run_rpy.h - mobilities of the cases of ref_rpy.h; spheres and vectors are on the
 * host, and are brought to where the mobility works. */
#ifndef RUN_RPY_H
#define RUN_RPY_H

#include "stokes/mobility/rpy.h"
#include "tests/ref/ref_rpy.h"

/* All chosen from the tolerance. */
rpy_spec run_rpy_spec(const ref_rpy_case *c, double tolerance);
/* A split as exact as a mesh of order 10 allows. */
rpy_spec run_rpy_tight(const ref_rpy_case *c, double xi, int rank);
/* What rpy_set says of these spheres. */
md_status run_rpy_set(md_ctx *ctx, rpy *mobility, const stokes_view *spheres);
/* With the case's spheres; any failure fails the test. */
rpy *run_rpy_make(md_ctx *ctx, const rpy_spec *spec, const ref_rpy_case *c);

typedef enum { RUN_RPY_WHOLE, RUN_RPY_NEAR, RUN_RPY_FAR } run_rpy_part;
/* u [3 n][m] of a part. */
void run_rpy_multiply(md_ctx *ctx, rpy *mobility, run_rpy_part part, int64_t n, int m,
                      const double *f, double *u);
/* Velocities of a case; free them.  Their relative error beside exact ones. */
double *run_rpy_velocities(md_ctx *ctx, rpy *mobility, const ref_rpy_case *c);
double run_rpy_error(md_ctx *ctx, const rpy_spec *spec, const ref_rpy_case *c, const double *exact);
/* The whole matrix [3 n][3 n] of a part.  Free it. */
double *run_rpy_dense(md_ctx *ctx, rpy *mobility, int64_t n, run_rpy_part part);
/* As rpy_sample. */
void run_rpy_sample(md_ctx *ctx, rpy *mobility, int64_t n, int m, uint64_t seed, uint64_t step,
                    double *u, stokes_outcome *out);

#endif
