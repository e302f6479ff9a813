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
  static void add_parts_##real(const void *parts, int64_t part, void *mine)                        \
  {                                                                                                \
    enum { AT_ONCE = 512 };                                                                        \
    const real *all = parts;                                                                       \
    real *to = mine;                                                                               \
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

md_status world_add_parts(void *reals, const int64_t *cut, size_t size)
{
  const int ranks = world_count(), me = world_rank();
  if (ranks == 1) return MD_OK;
  const int64_t part = cut[me + 1] - cut[me];
  char *data = reals, *mine = data + (size_t)cut[me] * size;
  const size_t bytes = (size_t)part * size;
  char *all = malloc((size_t)ranks * bytes + 1);
  world_message *other = malloc(2 * (size_t)ranks * sizeof *other), *own = other + ranks;
  md_status status = all && other
                         ? world_reserve(2 * ranks, (cut[ranks] + ranks * part) * (int64_t)size)
                         : MD_FAIL(MD_ENOMEM, "out of memory for sums over %d ranks", ranks);
  status = world_agree(status);
  if (!status) {
    /* own: this rank's part of another one's array; other: that one's part of this array. */
    int n = 0;
    for (int r = 0; r < ranks; r++) {
      const size_t first = (size_t)cut[r], length = (size_t)(cut[r + 1] - cut[r]);
      if (r == me) continue;
      own[n] = (world_message){r, all + (size_t)r * bytes, bytes};
      other[n++] = (world_message){r, data + first * size, length * size};
    }
    memcpy(all + (size_t)me * bytes, mine, bytes);
    world_start(own, n, other, n);
    world_wait();
    (size == sizeof(float) ? add_parts_float : add_parts_double)(all, part, mine);
  }
  free(all);
  free(other);
  return status;
}

md_status world_add(void *reals, int64_t count, size_t size)
{
  const int ranks = world_count();
  if (ranks == 1) return MD_OK;
  int64_t *cut = malloc(((size_t)ranks + 1) * sizeof *cut);
  MD_TRY(world_agree(cut ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", ranks)));
  for (int r = 0; cut && r <= ranks; r++)
    cut[r] = world_part(count, r);
  md_status status = world_add_parts(reals, cut, size);
  if (!status) status = world_complete(reals, cut, size);
  free(cut);
  return status;
}
