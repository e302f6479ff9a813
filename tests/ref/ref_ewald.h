/* tests/ref/ref_ewald.h - Ewald's sum as it is written down: no mesh, no splines, no lists. */
#ifndef REF_EWALD_H
#define REF_EWALD_H

#include <stdint.h>

/* Energy, virial (sum of r . f) and forces [n][3]. */
typedef struct {
  double energy, virial;
  double *f;
} ref_coulomb;

/* Charges q [n] at x [n][3] in a periodic box from 0 to edge. */
typedef struct {
  int n;
  double edge[3];
  const double *x, *q;
} ref_charges;

/* Add real space, pairs and images with r < r_cut; r_cut = 0: until erfc is below 1e-18. */
void ref_ewald_real(const ref_charges *charges, double alpha, double r_cut, ref_coulomb *to);
/* Add reciprocal space. */
void ref_ewald_reciprocal(const ref_charges *charges, double alpha, ref_coulomb *to);
/* Add the self term and the neutralising background. */
void ref_ewald_constant(const ref_charges *charges, double alpha, ref_coulomb *to);

#endif
