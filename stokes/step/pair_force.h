/* stokes/step/pair_force.h - Brownian forces pair by pair.
 *
 *     f_i = z_i + sum over j of +- (a_j / a_i)^1/4 T'^1/2 z_ij,   + for one sphere, - for the other
 *     T'^1/2 = sqrt(X') e e^T + sqrt(Y') (I - e e^T)
 *
 * T' is the lubrication block of stokes/matrix/assemble.h, z_i and z_ij are three normal numbers of
 * a sphere and of a pair.  f has covariance R' exactly: R' is I and a sum over pairs, and each term
 * has a root of its own (Ball and Melrose 1997; Banchio and Brady 2003).  f is continuous as a pair
 * crosses the cutoff, where T' = 0. */
#ifndef STOKES_PAIR_FORCE_H
#define STOKES_PAIR_FORCE_H

#include "stokes/matrix/matrix.h"

MD_BEGIN_C

/* Numbers of sphere id[i] and of pairs (id[i], id[j]), column c at step + c: the same on any
 * backend and for any order of the spheres in memory. */
typedef struct {
  uint64_t seed, step;
  const int32_t *id; /* [n], on the backend; no two are equal */
} stokes_noise;

/* f [3 n][m] on the backend, 1 <= m.  pairs, law: as in stokes_matrix_assemble, whose R' is the
 * covariance (that of storage in single precision is R' rounded).  One pass over the pairs; a
 * column is the same whatever the others are, and for any number of threads.  Errors: MD_ECUDA. */
md_status stokes_pair_force(md_ctx *ctx, const stokes_view *spheres, const stokes_pair_view *pairs,
                            const stokes_resistance *law, const stokes_noise *noise, int m,
                            double *f);
/* The same for spheres first ... end - 1 alone, at least one, whose rows of the list are enough, to
 * the bit; f [3 (end - first)][m]. */
md_status stokes_pair_force_rows(md_ctx *ctx, const stokes_view *spheres,
                                 const stokes_pair_view *pairs, const stokes_resistance *law,
                                 const stokes_noise *noise, int64_t first, int64_t end, int m,
                                 double *f);

MD_END_C
#endif
