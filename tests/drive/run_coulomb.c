/* tests/drive/run_coulomb.c - see run_coulomb.h. */
#define MD_PREC 0
#include "tests/drive/run_coulomb.h"
#include "force/coulomb.h"

float run_coulomb_single(float r, float *u)
{
  const coulomb_constants constants = {64, 1};
  const coulomb_reals c = coulomb_round(&constants);
  return coulomb_f_over_r_inv(r * r, 1 / (r * r), &c, u);
}
