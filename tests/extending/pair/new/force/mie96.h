/* force/mie96.h - the Mie 9-6 pair formula, softer than Lennard-Jones 12-6.
 *
 *   U = 27/4 eps [ (s/r)^9 - (s/r)^6 ]     least, -eps, at r = (3/2)^(1/3) s
 *
 * G. Mie, Zur kinetischen Theorie der einatomigen Koerper, Annalen der Physik 316, 657 (1903).
 * Included by force/lj.h, where a pair is a `real` or a vector of them; the shifts are those of
 * lj.h. */
#ifndef MIE96_H
#define MIE96_H

/* What epsilon and sigma must make within the range of floats. */
#define MIE96_PRODUCTS "60.75 epsilon sigma^9 and 40.5 epsilon sigma^6"

/* Force (lj1, lj2) and energy (lj3, lj4) without a shift: terms in r^-9 and r^-6. */
MD_INLINE void mie96_constants(double epsilon, double sigma, lj_constants *c)
{
  c->lj3 = 6.75 * epsilon * pow(sigma, 9), c->lj4 = 6.75 * epsilon * pow(sigma, 6);
  c->lj1 = 9 * c->lj3, c->lj2 = 6 * c->lj4;
}

/* r^-9 from r^-2. */
MD_INLINE LJ_REAL mie96_inv_9(LJ_REAL inv_sq)
{
  const LJ_REAL inv_4 = inv_sq * inv_sq;
  return inv_4 * inv_4 * LJ_SQRT(inv_sq);
}

/* |f|/r without a shift. */
MD_INLINE LJ_REAL mie96_f_over_r(LJ_REAL inv_sq, const lj_reals *c)
{
  return inv_sq * (c->lj1 * mie96_inv_9(inv_sq) - c->lj2 * (inv_sq * inv_sq * inv_sq));
}

/* The energy without a shift. */
MD_INLINE LJ_REAL mie96_energy(LJ_REAL inv_sq, const lj_reals *c)
{
  return c->lj3 * mie96_inv_9(inv_sq) - c->lj4 * (inv_sq * inv_sq * inv_sq);
}

#endif
