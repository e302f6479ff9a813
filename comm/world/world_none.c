/* comm/world/world_none.c - stands in for world_mpi.c where there was no MPI to build with. */
#include "comm/world/world_impl.h"

md_status carrier_open(int *rank, int *count)
{
  (void)rank, (void)count;
  return MD_FAIL(MD_EINVAL,
                 "a launcher started several ranks, and this build has no MPI: expected one rank, "
                 "or a build with the Debian package libopenmpi-dev");
}

void carrier_close(void) {}

void carrier_abort(int exit_code)
{
  (void)exit_code;
}

void carrier_gather(const void *mine, size_t bytes, void *all)
{
  (void)mine, (void)bytes, (void)all;
}

void carrier_broadcast(void *data, size_t bytes, int root)
{
  (void)data, (void)bytes, (void)root;
}

void carrier_sum(int64_t *values, int64_t count)
{
  (void)values, (void)count;
}

void carrier_most(double *values, int count)
{
  (void)values, (void)count;
}

void carrier_trade(const int64_t *to, int64_t *from, int width)
{
  (void)to, (void)from, (void)width;
}

md_status carrier_reserve(int64_t messages, int64_t bytes)
{
  (void)messages, (void)bytes;
  return MD_OK;
}

void carrier_start(const world_message *in, int n_in, const world_message *out, int n_out)
{
  (void)in, (void)n_in, (void)out, (void)n_out;
}

void carrier_wait(void) {}

const char *world_library(void)
{
  return "not in this build: one rank (Debian packages libopenmpi-dev openmpi-bin)";
}
