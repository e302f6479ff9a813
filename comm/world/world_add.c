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

/* Own part of all ranks [ranks][part], added up to `to`: as many reals at a time as the first cache
 * holds sums of. */
#define ADD_PARTS(real)                                                                            \
  static void add_parts_##real(const real *all, int64_t part, real *to)                            \
  {                                                                                                \
    enum { AT_ONCE = 512 };                                                                        \
    double sum[AT_ONCE];                                                                           \
    for (int64_t first = 0; first < part; first += AT_ONCE) {                                      \
      const int64_t n = part - first < AT_ONCE ? part - first : AT_ONCE;                           \
      memset(sum, 0, sizeof sum);                                                                  \
      for (int64_t r = 0; r < world_count(); r++)                                                  \
        for (int64_t k = 0; k < n; k++)                                                            \
          sum[k] += all[r * part + first + k];                                                     \
      for (int64_t k = 0; k < n; k++)                                                              \
        to[first + k] = (real)sum[k];                                                              \
    }                                                                                              \
  }
ADD_PARTS(float)
ADD_PARTS(double)

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
    if (size == sizeof(float))
      add_parts_float((const float *)all, part, (float *)mine);
    else
      add_parts_double((const double *)all, part, (double *)mine);
    for (int k = 0; k < n; k++)
      own[k].data = mine;
    world_start(other, n, own, n);
    world_wait();
  }
  free(all);
  free(other);
  return status;
}
