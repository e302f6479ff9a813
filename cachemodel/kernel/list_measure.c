/* cachemodel/kernel/list_measure.c - figures of a list that need no machine (list_trace.h). */
#include "cachemodel/kernel/list_impl.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, LINE = 64 };

/* Distinct places among some that are named one after the other: place p was named in this round
 * where stamp[p] is the number of the round. */
typedef struct {
  uint32_t *stamp; /* [places] */
  int64_t places;
  uint32_t round;
} marks;

static md_status marks_open(int64_t places, marks *out)
{
  *out = (marks){calloc((size_t)places, sizeof *out->stamp), places, 0};
  MD_REQUIRE(out->stamp, MD_ENOMEM, "out of memory for the figures of a list");
  return MD_OK;
}

static void next_round(marks *m)
{
  if (m->round++ < UINT32_MAX) return;
  memset(m->stamp, 0, (size_t)m->places * sizeof *m->stamp);
  m->round = 1;
}

static bool is_new(marks *m, int64_t place)
{
  if (m->stamp[place] == m->round) return false;
  m->stamp[place] = m->round;
  return true;
}

/* 32 rows of the CPU's list from row slice->first on. */
static md_status read_rows(const neighbor_view *view, list_slice *slice)
{
  const int64_t left = view->n_rows - slice->first;
  slice->rows = left < LIST_WARP ? (int32_t)left : LIST_WARP;
  slice->longest = 0;
  for (int32_t l = 0; l < slice->rows; l++) {
    const int64_t row = slice->first + l, width = view->width;
    const int32_t *from = view->nbr + view->start[row / width] + row % width;
    const int32_t count = slice->count[l] = view->count[row];
    MD_TRY(list_slice_reserve(slice, count));
    for (int32_t k = 0; k < count; k++)
      slice->nbr[k * LIST_WARP + l] = from[k * width];
    slice->longest = count > slice->longest ? count : slice->longest;
  }
  return MD_OK;
}

typedef struct {
  int64_t requests, sectors, lines;
} sums;

static void add_slice(const list_slice *s, int32_t size, marks *sectors, marks *lines, sums *sum)
{
  for (int32_t k = 0; k < s->longest; k++) {
    next_round(sectors);
    sum->requests++;
    for (int32_t l = 0; l < s->rows; l++)
      if (k < s->count[l])
        sum->sectors += is_new(sectors, (int64_t)s->nbr[k * LIST_WARP + l] * size / SECTOR);
  }
  for (int32_t l = 0; l < s->rows; l++) {
    next_round(lines);
    for (int32_t k = 0; k < s->count[l]; k++)
      sum->lines += is_new(lines, (int64_t)s->nbr[k * LIST_WARP + l] * size / LINE);
  }
}

static md_status measure(const list_input *in, const list_kernel *kernel, int64_t rows,
                         marks *sectors, marks *lines, list_figures *out)
{
  const neighbor_view *view = neighbor_list_view(in->list);
  const int32_t size = kernel->array[LIST_COORD].stride;
  list_slices *slices = NULL;
  list_slice slice = {0};
  sums sum = {0};
  md_status status = kernel->gpu ? list_slices_open(in, kernel, &slices) : MD_OK;
  for (out->rows = 0; !status && out->rows < rows; out->rows += slice.rows) {
    slice.first = out->rows;
    status = slices ? list_slices_next(slices, &slice) : read_rows(view, &slice);
    if (status) break;
    add_slice(&slice, size, sectors, lines, &sum);
  }
  list_slice_free(&slice);
  list_slices_close(slices);
  out->sectors_per_request = sum.requests ? (double)sum.sectors / (double)sum.requests : 0;
  out->lines_per_row = out->rows ? (double)sum.lines / (double)out->rows : 0;
  return status;
}

md_status list_measure(const list_input *in, int64_t rows, list_figures *out)
{
  list_kernel kernel;
  marks sectors, lines = {0};
  MD_TRY(list_kernel_of(in, &kernel));
  const int64_t bytes = (kernel.n + kernel.n_ghost) * kernel.array[LIST_COORD].stride;
  md_status status = marks_open(bytes / SECTOR + 1, &sectors);
  if (!status) status = marks_open(bytes / LINE + 1, &lines);
  if (!status)
    status = measure(in, &kernel, rows < kernel.n ? rows : kernel.n, &sectors, &lines, out);
  free(sectors.stamp);
  free(lines.stamp);
  return status;
}
