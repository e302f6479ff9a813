/* tests/ref/ref_stokes.h - slow, obvious references for suspensions, and packings to test with.
 *
 * Resistance functions are written as published, in the ratio of radii, and summed over all pairs
 * in long double; matrices are dense. */
#ifndef REF_STOKES_H
#define REF_STOKES_H

#include "stokes/matrix/matrix.h"
#include "stokes/packing/packing.h"

/* F(xi) of Jeffrey and Onishi for the ratio lambda = a_j / a_i, in units of 6 pi eta a_i. */
long double ref_squeeze(long double lambda, long double xi);
long double ref_shear(long double lambda, long double xi);

/* R' as a dense matrix of 3 n rows, row-major. */
double *ref_resistance(const stokes_packing *packing, const stokes_resistance *law);

/* Y = A X for a dense n x n matrix and m columns, row-major. */
void ref_multiply(const double *a, int64_t n, int m, const double *x, double *y);

/* X in place of B in A X = B, for m columns, by Gaussian elimination with pivots.  Destroys a. */
void ref_solve(double *a, int64_t n, int64_t m, double *b);

/* Eigenvalues of a symmetric n x n matrix, ascending: Householder, then bisection by Sturm counts.
 * Destroys a. */
void ref_eigenvalues(double *a, int64_t n, double *value);

/* Number of groups of spheres that are linked by pairs with a gap below gap_cut. */
int64_t ref_clusters(const stokes_packing *packing, double gap_cut);

/* A packing of n spheres, of E. coli sizes or all of radius 30; free with stokes_packing_free. */
stokes_packing ref_packing(int64_t n, double occupancy, bool one_size, uint64_t seed);

/* Spheres and everything of theirs on the context's backend. */
typedef struct {
  md_ctx *ctx;
  md_buffer x;
  stokes_view view;
  stokes_pairs *pairs;
} ref_suspension;
ref_suspension ref_suspend(md_ctx *ctx, const stokes_packing *packing, double gap_cut);
void ref_suspension_free(ref_suspension *s);
stokes_matrix *ref_assemble(const ref_suspension *s, stokes_storage storage,
                            const stokes_resistance *law, int vectors);

/* L in the lower triangle of a [n][n], which is L L^T. */
void ref_factor(double *a, int64_t n);

/* n doubles in -1..1 that depend on the seed. */
double *ref_vector(int64_t n, uint64_t seed);

/* Product of a matrix with m columns on the host. */
void ref_product(const stokes_matrix *matrix, md_ctx *ctx, int64_t rows, int m, const double *x,
                 double *y);

/* A packing like this one; free with stokes_packing_free. */
stokes_packing ref_copy(const stokes_packing *packing);

/* A suspension, its matrix in bcrs storage, and the same as a dense reference below 2000 rows. */
typedef struct {
  md_ctx *ctx;
  stokes_packing packing;
  ref_suspension suspension;
  stokes_matrix *matrix;
  int64_t n;     /* rows */
  double *dense; /* [n][n] or NULL */
} ref_bed;
/* On the backend under test, deterministic; takes the packing over. */
ref_bed ref_bed_make(stokes_packing packing, int threads, const stokes_resistance *law);
void ref_bed_free(ref_bed *bed);

#endif
