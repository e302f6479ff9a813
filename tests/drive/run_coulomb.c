/* tests/drive/run_coulomb.c - see run_coulomb.h. */
#define MD_PREC 0
#include "tests/drive/run_coulomb.h"
#include "force/coulomb_near.h"

float run_coulomb_single(float r, float *u)
{
  const coulomb_constants constants = {64, 1};
  const coulomb_reals c = coulomb_round(&constants);
  return coulomb_f_over_r_inv(r * r, 1 / (r * r), &c, u);
}

float run_coulomb_near_single(float r, float *u)
{
  const coulomb_constants constants = {10, 1};
  const coulomb_reals c = coulomb_round(&constants);
  const float pull = coulomb_near_f_over_r(r * r, 1 / r, 1 / (r * r), &c);
  *u = coulomb_near_energy(r * r, pull, &c);
  return pull;
}
