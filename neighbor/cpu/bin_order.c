/* neighbor/cpu/bin_order.c - see bin_order.h. */
#include "neighbor/cpu/bin_order.h"

#include <stdlib.h>

/* A bin has few atoms, which lie in order most often: insertion sorts it.  More than these are left
 * to the library. */
enum { FEW = 64 };

typedef struct {
  int64_t n;
  const int64_t *id, *ghost_id;
  const int32_t *shift;
} names;

static int64_t id_of(const names *a, int32_t i)
{
  return i < a->n ? a->id[i] : a->ghost_id[i - a->n];
}

static int32_t shift_of(const names *a, int32_t i)
{
  return i < a->n ? 0 : a->shift[i - a->n];
}

static int compare(const void *p, const void *q, void *all)
{
  const names *a = all;
  const int32_t i = *(const int32_t *)p, j = *(const int32_t *)q;
  const int64_t id_i = id_of(a, i), id_j = id_of(a, j);
  if (id_i != id_j) return id_i < id_j ? -1 : 1;
  return (shift_of(a, i) > shift_of(a, j)) - (shift_of(a, i) < shift_of(a, j));
}

static void insert_each(const names *a, int32_t *place, int32_t count)
{
  for (int32_t k = 1; k < count; k++) {
    const int32_t one = place[k], shift = shift_of(a, one);
    const int64_t id = id_of(a, one);
    int32_t at = k;
    for (; at > 0; at--) {
      const int64_t before = id_of(a, place[at - 1]);
      if (before < id || (before == id && shift_of(a, place[at - 1]) < shift)) break;
      place[at] = place[at - 1];
    }
    place[at] = one;
  }
}

void bins_by_id(neighbor_list *list, const md_atoms *atoms, int64_t bins)
{
  names a = {atoms->n, atoms->id.data, atoms->ghost_id.data, atoms->shift.data};
  const int32_t *start = list->bin_start.data;
  int32_t *place = list->place.data;
#pragma omp parallel for schedule(static) num_threads(list->ctx->threads)
  for (int64_t b = 0; b < bins; b++) {
    const int32_t count = start[b + 1] - start[b];
    if (count > FEW)
      qsort_r(place + start[b], (size_t)count, sizeof *place, compare, &a);
    else
      insert_each(&a, place + start[b], count);
  }
}
