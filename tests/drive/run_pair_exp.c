/* tests/drive/run_pair_exp.c - see run_pair_exp.h. */
#define MD_PREC 0
#define MD_ISA 0
#include "tests/drive/run_pair_exp.h"
#include "force/pair_cpu.h"

float run_pair_exp_single(float y)
{
  return pair_exp((simd_real){0} + y)[0];
}
