/* force/lj.h - the Lennard-Jones pair formula, shared by every kernel and by the tests.
 *
 *   |f|/r = (s/r)^6 [48 eps (s/r)^6 - 24 eps] / r^2 + f_shift / r
 *   U     = 4 eps (s/r)^6 [(s/r)^6 - 1] - u_shift - f_shift * r
 *
 * With the linear force shift f_shift = U'(r_cut) and u_shift = U(r_cut) - r_cut U'(r_cut): the
 * force magnitude -U'(r) gains +U'(r_cut).  Without, f_shift = 0 and the square root is never
 * taken. */
#ifndef LJ_H
#define LJ_H

#include "core/md.h"

typedef struct {
  double r_cut_sq;
  double lj1, lj2;         /* 48 eps s^12, 24 eps s^6: force */
  double lj3, lj4;         /* 4 eps s^12, 4 eps s^6: energy */
  double u_shift, f_shift; /* see above */
} lj_constants;

#endif
