/* force/eam/eam.h - embedded-atom potentials of one kind of atom: their files and functions.
 *
 *     U = sum_i F(rho_i) + 1/2 sum_{i != j} phi(r_ij),      rho_i = sum_j rho(r_ij)
 *
 * Daw and Baskes, Phys. Rev. B 29:6443 (1984).  Energies are in eV, lengths in Angstrom; the unit
 * of densities cancels.  A file tabulates F, rho, and phi as Z (funcfl) or r phi (setfl), at equal
 * steps from 0.  Between two knots a function is a cubic whose slopes at the knots are central
 * differences over five of them, as in LAMMPS, so that both programs compute the same. */
#ifndef EAM_H
#define EAM_H

#include "core/md.h"

MD_BEGIN_C

/* f((m + p) step) = knot[m][0] + p (knot[m][1] + p (knot[m][2] + p knot[m][3])), 0 <= p <= 1. */
typedef struct {
  int64_t n; /* knots, at least EAM_KNOTS_LEAST; of the last only the value and slope count */
  double step;
  double (*knot)[4]; /* [n] */
} eam_curve;
enum { EAM_KNOTS_LEAST = 5, EAM_KNOTS_MOST = 1 << 24 };

typedef struct {
  char element[16];         /* as a setfl file names it; "" from funcfl */
  double mass, cutoff;      /* [g/mol], [A] */
  eam_curve embed, density; /* F(rho) [eV], rho(r) */
  eam_curve pair;           /* r phi(r) [eV A] */
} eam_potential;

/* Read a funcfl or setfl file of one element, told apart by content.  *out is empty on failure.
 * Errors: MD_EIO, MD_EINVAL (file and line, what was expected: a number that is none or not finite,
 * too few or too many of them, several elements, a cutoff beyond the table), MD_ENOMEM. */
md_status eam_read(const char *path, eam_potential *out);
void eam_free(eam_potential *eam); /* an empty one is allowed */
/* Check sum of the tables and the cutoff: what forces depend on. */
uint32_t eam_check_sum(const eam_potential *eam);

/* The curve through n values at 0, step, 2 step ...; free(out->knot).  Errors: MD_ENOMEM. */
md_status eam_curve_make(const double *values, int64_t n, double step, eam_curve *out);
/* Value and slope; beyond the last knot those of the last. */
double eam_curve_at(const eam_curve *curve, double at, double *slope);

/* F and F'.  Beyond the table F goes on linearly. */
double eam_embed(const eam_potential *eam, double rho, double *slope);
bool eam_embed_beyond(const eam_potential *eam, double rho);
/* rho(r) and phi(r), and their slopes; 0 from the cutoff on. */
double eam_density(const eam_potential *eam, double r, double *slope);
double eam_pair(const eam_potential *eam, double r, double *slope);

MD_END_C
#endif
