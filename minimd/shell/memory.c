/* minimd/shell/memory.c - see memory.h. */
#include "minimd/shell/memory.h"
#include "comm/world.h"
#include "core/sizes.h"

#include <stdio.h>

md_status memory_announce(const char *what, double bytes, bool quiet)
{
  const double present = (double)md_memory_free();
  int host, processors;
  char each[32] = "";
  world_share(&host, &processors);
  if (host > 1) snprintf(each, sizeof each, " on each of %d ranks", host);
  MD_REQUIRE(bytes * host <= present, MD_ENOMEM,
             "%s needs about %.3g GB of memory%s, and %.3g GB are free", what, 1e-9 * bytes, each,
             1e-9 * present);
  if (!quiet) fprintf(stderr, "%s: about %.3g GB of memory%s\n", what, 1e-9 * bytes, each);
  return MD_OK;
}
