/* tests/ref/ref_rpy.h - the periodic mobility of spheres by Ewald's sum in long double, and cases
 * with known velocities. */
#ifndef REF_RPY_H
#define REF_RPY_H

#include "stokes/pairs/pairs.h"

/* Spheres, forces on them and their velocities: x [n][4], f and u [3 n][m]. */
typedef struct {
  stokes_view view;
  double viscosity;
  int m;
  double *x, *f, *u;
} ref_rpy_case;

/* tests/oracle/rpy/NAME.csv; fails the test when it cannot be read.  Free with ref_rpy_free. */
ref_rpy_case ref_rpy_read(const char *name);
/* n spheres of these radii at random places, which may overlap, with random forces; u is NULL. */
ref_rpy_case ref_rpy_random(int64_t n, const double box[3], double least, double most, int m);
void ref_rpy_free(ref_rpy_case *c);

/* u [3 n][m] by a straight sum over images and modes with this splitting parameter. */
void ref_rpy_product(const ref_rpy_case *c, double xi, double *u);

/* |u - v| / |v| of so many numbers. */
double ref_rpy_error(const double *u, const double *v, int64_t n);

#endif
