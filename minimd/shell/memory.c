/* minimd/shell/memory.c - see memory.h. */
#include "minimd/shell/memory.h"
#include "core/sizes.h"

#include <stdio.h>

md_status memory_announce(const char *what, double bytes, bool quiet)
{
  const double present = (double)md_memory_free();
  MD_REQUIRE(bytes <= present, MD_ENOMEM, "%s needs about %.3g GB of memory, and %.3g GB are free",
             what, 1e-9 * bytes, 1e-9 * present);
  if (!quiet) fprintf(stderr, "%s: about %.3g GB of memory\n", what, 1e-9 * bytes);
  return MD_OK;
}
