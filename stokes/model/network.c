/* stokes/model/network.c - the network that ranks have. */
#include "comm/world.h"
#include "core/time/timer.h"
#include "stokes/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8, LARGE = 1 << 20, RUNS = 100 }; /* many: a busy host pauses ranks */

/* Seconds until `bytes` have gone to the next rank and those of the one before are here: the least
 * of a few, of the rank for which that is most. */
static double exchange(char *data, size_t bytes)
{
  const int count = world_count(), me = world_rank();
  const world_message in = {(me + count - 1) % count, data, bytes};
  const world_message out = {(me + 1) % count, data + LARGE, bytes};
  double least = INFINITY, unused = 0;
  for (int k = 0; k < RUNS; k++) {
    world_most(&unused, 1); /* all begin at once */
    const double began = md_wall_seconds();
    world_start(&in, 1, &out, 1);
    world_wait();
    least = fmin(least, md_wall_seconds() - began);
  }
  world_most(&least, 1);
  return least;
}

md_status stokes_network_measure(stokes_network *out)
{
  *out = (stokes_network){0, INFINITY};
  if (world_count() == 1) return MD_OK;
  char *data = malloc(2 * (size_t)LARGE);
  md_status status = data ? world_reserve(2, 2 * LARGE)
                          : MD_FAIL(MD_ENOMEM, "out of memory for messages to measure with");
  status = world_agree(status);
  if (!status && data) {
    memset(data, 0, 2 * (size_t)LARGE);
    out->latency = exchange(data, SMALL);
    out->bandwidth = LARGE / fmax(exchange(data, LARGE) - out->latency, 1e-9);
  }
  free(data);
  return status;
}
