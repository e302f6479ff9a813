/* tests/drive/run_rpy.h - mobilities of the cases of ref_rpy.h. */
#ifndef RUN_RPY_H
#define RUN_RPY_H

#include "stokes/mobility/rpy.h"
#include "tests/ref/ref_rpy.h"

/* All chosen from the tolerance. */
rpy_spec run_rpy_spec(const ref_rpy_case *c, double tolerance);
/* With the case's spheres; any failure fails the test. */
rpy *run_rpy_make(md_ctx *ctx, const rpy_spec *spec, const ref_rpy_case *c);
/* The whole matrix [3 n][3 n] of a part: 0 both, 1 near, 2 far.  Free it. */
double *run_rpy_dense(rpy *mobility, int64_t n, int part);

#endif
