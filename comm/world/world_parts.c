/* comm/world/world_parts.c - arrays of which every rank has a part. */
#include "comm/world.h"

#include <stdlib.h>
#include <string.h>

/* Rank r's items. */
static world_message part_of(int r, char *items, const int64_t *cut, size_t width)
{
  const size_t count = (size_t)(cut[r + 1] - cut[r]);
  return (world_message){r, items + (size_t)cut[r] * width, count * width};
}

/* Messages [2][ranks] that come and go, and room for them; on all ranks, or an error of all. */
static md_status reserve(world_message **both, int64_t bytes)
{
  *both = calloc(2 * (size_t)world_count(), sizeof **both);
  return world_agree(
      *both ? world_reserve(2 * (int64_t)world_count(), bytes)
            : MD_FAIL(MD_ENOMEM, "out of memory for messages of %d ranks", world_count()));
}

md_status world_complete(void *items, const int64_t *cut, size_t width)
{
  const int ranks = world_count(), me = world_rank();
  const int64_t own = cut[me + 1] - cut[me];
  world_message *in;
  int n = 0;
  if (ranks == 1) return MD_OK;
  md_status status = reserve(&in, (cut[ranks] + own * ranks) * (int64_t)width);
  for (int r = 0; r < ranks && !status; r++) {
    if (r == me) continue;
    in[n] = part_of(r, items, cut, width);
    in[ranks + n] = part_of(me, items, cut, width);
    in[ranks + n++].rank = r;
  }
  if (!status) {
    world_start(in, n, in + ranks, n);
    world_wait();
  }
  free(in);
  return status;
}

md_status world_collect(const void *mine, const int64_t *cut, size_t width, void *all)
{
  const int ranks = world_count(), me = world_rank();
  const size_t own = (size_t)(cut[me + 1] - cut[me]) * width;
  const int n_in = me == 0 ? ranks - 1 : 0, n_out = me > 0;
  world_message *in;
  if (me == 0) memcpy(all, mine, own);
  if (ranks == 1) return MD_OK;
  md_status status = reserve(&in, cut[ranks] * (int64_t)width);
  if (!status) {
    for (int k = 0; k < n_in; k++)
      in[k] = part_of(k + 1, all, cut, width);
    in[ranks] = (world_message){0, (void *)mine, own};
    world_start(in, n_in, in + ranks, n_out);
    world_wait();
  }
  free(in);
  return status;
}

md_status world_swap(const void *out, const int64_t *to, void *in, const int64_t *from,
                     size_t width)
{
  const int ranks = world_count();
  world_message *come;
  int n_in = 0, n_out = 0;
  if (ranks == 1) return MD_OK;
  md_status status = reserve(&come, (from[ranks] + to[ranks]) * (int64_t)width);
  for (int r = 0; r < ranks && !status; r++) {
    if (from[r + 1] > from[r]) come[n_in++] = part_of(r, in, from, width);
    if (to[r + 1] > to[r]) come[ranks + n_out++] = part_of(r, (char *)out, to, width);
  }
  if (!status) {
    world_start(come, n_in, come + ranks, n_out);
    world_wait();
  }
  free(come);
  return status;
}
