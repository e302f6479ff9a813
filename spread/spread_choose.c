/* spread/spread_choose.c - the rules: which method, how many lanes a matrix row. */
#include "spread/spread_impl.h"

#include <stdio.h>

/* [Guo] section 3.2: the largest power of two within the mean row length, clamped to 1..16. */
int32_t spread_compute_unit(const spread_plan *plan)
{
  if (plan->spec.tuning.compute_unit) return plan->spec.tuning.compute_unit;
  const int64_t mean = spread_entries(plan, plan->n) / plan->grid.points;
  int32_t lanes = 1;
  while (lanes < 16 && 2 * lanes <= mean)
    lanes *= 2;
  return lanes;
}

spread_method spread_choose(const spread_plan *plan, int64_t n, char *reason, size_t size)
{
  const double density = (double)n / (double)plan->grid.points;
  snprintf(reason, size, "density %g", density);
  return SPREAD_TILED;
}
