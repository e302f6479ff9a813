/* tests/ref/ref_eam.h - embedded atoms by direct sums over all pairs and images, in long double.
 *
 * The functions are those of a setfl file, by Hermite's basis polynomials with the slopes that
 * LAMMPS' documentation describes; or, without a file, the exact ones of copper after Cleri and
 * Rosato (1993) with cutoff 4.95, of which the file of `minimd potential` is a table. */
#ifndef REF_EAM_H
#define REF_EAM_H

#include "tests/ref/ref.h"

typedef struct {
  int64_t n_rho, n_r; /* 0: the exact functions */
  long double d_rho, d_r, cutoff;
  long double *f, *rho, *r_phi;
} ref_eam;

ref_eam ref_eam_copper(void);
/* A setfl file of one element, which must be good. */
ref_eam ref_eam_read(const char *path);
void ref_eam_free(ref_eam *eam);

/* F, rho or phi and its slope. */
typedef enum { REF_EAM_EMBED, REF_EAM_DENSITY, REF_EAM_PAIR } ref_eam_what;
long double ref_eam_at(const ref_eam *eam, ref_eam_what what, long double at, long double *slope);

typedef struct {
  double energy, virial; /* of all atoms */
  double u_scale;        /* sum of the magnitudes of all terms */
  double f_max;          /* largest force on an atom */
  double *f;             /* [n][3] */
  double *own, *density; /* [n]: energy of an atom, half of its pairs; rho */
} ref_eam_sums;
ref_eam_sums ref_eam_find(const ref_eam *eam, const md_box *box, int64_t n, const double *x);
void ref_eam_sums_free(ref_eam_sums *sums);

/* Rows of tests/oracle/eam_f4_exact.csv: atoms of displaced fcc copper. */
typedef struct {
  md_box box;
  int64_t n;
  double energy, pressure; /* [eV], [bar] of the virial alone */
  double *x, *f;           /* [n][3] */
  double *own, *density;   /* [n] */
} ref_eam_oracle;
ref_eam_oracle ref_eam_oracle_read(void);
void ref_eam_oracle_free(ref_eam_oracle *oracle);

#endif
