/* tests/drive/run_ranks.c - see run_ranks.h. */
#include "tests/drive/run_ranks.h"
#include "comm/world.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

int run_ranks(Suite *suite, const char *name)
{
  if (world_open()) {
    fprintf(stderr, "%s\n", md_message());
    return 1;
  }
  if (world_count() > 1) setenv("CK_FORK", "no", 1); /* MPI does not survive a fork */
  const int failed = test_main(suite);
  if (failed) fprintf(stderr, "%s: rank %d failed\n", name, world_rank());
  world_close(failed, 1);
  return failed;
}
