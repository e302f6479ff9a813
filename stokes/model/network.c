/* stokes/model/network.c - the network that ranks have. */
#include "core/time/timer.h"
#include "stokes/model/network_impl.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL = 8, RUNS = 100 }; /* many: a busy host pauses ranks */

/* Seconds until `bytes` have gone to the next rank and those of the one before are here: the least
 * of a few, of the rank for which that is most. */
static md_status exchange(network_pass *pass, void *by, char *data, size_t bytes, double *seconds)
{
  const int count = world_count(), me = world_rank();
  const world_message in = {(me + count - 1) % count, data, bytes};
  const world_message out = {(me + 1) % count, data + NETWORK_LARGE, bytes};
  double unused = 0;
  *seconds = INFINITY;
  for (int k = 0; k < RUNS; k++) {
    world_most(&unused, 1); /* all begin at once */
    const double began = md_wall_seconds();
    MD_TRY(pass(by, &in, &out));
    *seconds = fmin(*seconds, md_wall_seconds() - began);
  }
  world_most(seconds, 1);
  return MD_OK;
}

md_status network_time(network_pass *pass, void *by, char *data, stokes_network *out)
{
  double seconds;
  MD_TRY(exchange(pass, by, data, SMALL, &out->latency));
  MD_TRY(exchange(pass, by, data, NETWORK_LARGE, &seconds));
  out->bandwidth = NETWORK_LARGE / fmax(seconds - out->latency, 1e-9);
  return MD_OK;
}

static md_status pass_by_host(void *by, const world_message *in, const world_message *out)
{
  (void)by;
  world_start(in, 1, out, 1);
  world_wait();
  return MD_OK;
}

md_status stokes_network_measure(stokes_network *out)
{
  *out = (stokes_network){0, INFINITY};
  if (world_count() == 1) return MD_OK;
  char *data = calloc(2, NETWORK_LARGE);
  md_status status = data ? world_reserve(2, 2 * NETWORK_LARGE)
                          : MD_FAIL(MD_ENOMEM, "out of memory for messages to measure with");
  status = world_agree(status);
  if (!status) status = network_time(pass_by_host, NULL, data, out);
  free(data);
  return status;
}
