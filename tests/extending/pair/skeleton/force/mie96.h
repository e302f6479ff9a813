/* force/mie96.h - a pair formula: write U(r) and its source here.
 *
 * Included by force/lj.h, where a pair is a `real` or a vector of them; the shifts are those of
 * lj.h. */
#ifndef MIE96_H
#define MIE96_H

/* What epsilon and sigma must make within the range of floats: fill in. */
#define MIE96_PRODUCTS "lj1 and lj2"

/* Constants of force (lj1, lj2) and energy (lj3, lj4) without a shift: fill in. */
MD_INLINE void mie96_constants(double epsilon, double sigma, lj_constants *c)
{
  (void)epsilon, (void)sigma;
  c->lj1 = c->lj2 = c->lj3 = c->lj4 = 1;
}

/* |f|/r without a shift, inv_sq = 1 / r^2: fill in. */
MD_INLINE LJ_REAL mie96_f_over_r(LJ_REAL inv_sq, const lj_reals *c)
{
  (void)c;
  return 0 * inv_sq;
}

/* The energy without a shift: fill in. */
MD_INLINE LJ_REAL mie96_energy(LJ_REAL inv_sq, const lj_reals *c)
{
  (void)c;
  return 0 * inv_sq;
}

#endif
