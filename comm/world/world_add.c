/* comm/world/world_add.c - sums of long arrays over ranks: each rank adds a part of them up, in the
 * order of ranks, and sends it to all. */
#include "comm/world.h"

#include <stdlib.h>
#include <string.h>

int64_t world_part(int64_t count, int r)
{
  const int64_t ranks = world_count();
  if (r == ranks) return count;
  return (count / ranks * r + (count % ranks) * r / ranks) / WORLD_ALIGNED * WORLD_ALIGNED;
}

/* Own part of all ranks [ranks][part], added up to `to`. */
static void add_parts(const void *all, int64_t part, size_t size, void *to)
{
  for (int64_t k = 0; k < part; k++) {
    double sum = 0;
    for (int64_t r = 0; r < world_count(); r++)
      sum += size == sizeof(float) ? (double)((const float *)all)[r * part + k]
                                   : ((const double *)all)[r * part + k];
    if (size == sizeof(float))
      ((float *)to)[k] = (float)sum;
    else
      ((double *)to)[k] = sum;
  }
}

md_status world_add(void *reals, int64_t count, size_t size)
{
  const int ranks = world_count(), me = world_rank();
  if (ranks == 1) return MD_OK;
  const int64_t begin = world_part(count, me), part = world_part(count, me + 1) - begin;
  char *data = reals, *mine = data + (size_t)begin * size;
  const size_t bytes = (size_t)part * size;
  char *all = malloc((size_t)ranks * bytes + 1);
  world_message *other = malloc(2 * (size_t)ranks * sizeof *other), *own = other + ranks;
  md_status status = all && other
                         ? world_reserve(2 * ranks, (2 * count + ranks) * (int64_t)size)
                         : MD_FAIL(MD_ENOMEM, "out of memory for sums over %d ranks", ranks);
  status = world_agree(status);
  if (!status) {
    /* own: this rank's part of another one's array; other: that one's part of this array. */
    int n = 0;
    for (int r = 0; r < ranks; r++) {
      const int64_t first = world_part(count, r), length = world_part(count, r + 1) - first;
      if (r == me) continue;
      own[n] = (world_message){r, all + (size_t)r * bytes, bytes};
      other[n++] = (world_message){r, data + (size_t)first * size, (size_t)length * size};
    }
    memcpy(all + (size_t)me * bytes, mine, bytes);
    world_start(own, n, other, n);
    world_wait();
    add_parts(all, part, size, mine);
    for (int k = 0; k < n; k++)
      own[k].data = mine;
    world_start(other, n, own, n);
    world_wait();
  }
  free(all);
  free(other);
  return status;
}
