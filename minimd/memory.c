/* minimd/memory.c - see memory.h. */
#include "minimd/memory.h"

#include <stdio.h>
#include <unistd.h>

md_status memory_announce(const char *what, double bytes, bool quiet)
{
  const double present = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  MD_REQUIRE(present <= 0 || bytes <= present, MD_ENOMEM,
             "%s needs about %.3g GB of memory; this machine has %.3g GB", what, 1e-9 * bytes,
             1e-9 * present);
  if (!quiet) fprintf(stderr, "%s: about %.3g GB of memory\n", what, 1e-9 * bytes);
  return MD_OK;
}
