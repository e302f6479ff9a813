/* stokes/solver/vectors_ranks.c - sums over the rows of several ranks. */
#include "comm/world.h"
#include "core/time/timer.h"
#include "stokes/solver/vectors_impl.h"

#include <stdlib.h>
#include <string.h>

md_status vectors_add_ranks(vector_space *s, int width, double *sums)
{
  const size_t bytes = (size_t)width * sizeof *sums;
  const double began = md_wall_seconds();
  double *all = malloc((size_t)world_count() * bytes);
  MD_REQUIRE(all, MD_ENOMEM, "out of memory for sums of %d ranks", world_count());
  world_gather(sums, bytes, all);
  memset(sums, 0, bytes);
  for (int r = 0; r < world_count(); r++)
    for (int k = 0; k < width; k++)
      sums[k] += all[r * width + k];
  free(all);
  s->shared.sums++;
  s->shared.seconds += md_wall_seconds() - began;
  return MD_OK;
}
