/* neighbor/cpu/build.prec.c - full and half lists on the CPU.
 *
 * Rows come in blocks (rows_cpu.h).  In a window of a block rows are sorted by length and
 * interleaved in slices as wide as a vector, so that a force kernel holds one atom in each lane and
 * little of the list is padding.  When its slices are laid out, a block takes the next part of the
 * list, in the order of blocks: so one pass writes a list without gaps that does not depend on the
 * number of threads.  A pass that runs out of room only counts.
 *
 * Compiled once per precision and instruction set. */
#include "neighbor/cpu/bin_order.h"
#include "neighbor/cpu/chunks.h"
#include "neighbor/cpu/lines.h"
#include "neighbor/cpu/rows_cpu.h"

#include <string.h>

typedef int32_t lanes_i32 __attribute__((vector_size(4 * SIMD_LANES), may_alias));

enum { WINDOW = LINES_WINDOW }; /* rows sorted by length */
_Static_assert(ROWS_BLOCK % WINDOW == 0 && WINDOW % SIMD_LANES == 0, "slices fill windows");

typedef struct {
  rows_job job;
  int64_t capacity; /* of nbr */
  /* Totals of the blocks so far. */
  int64_t slots, entries;
  int32_t longest;
} build;

/* The rows of a block in the order of the list. */
typedef struct {
  int64_t first;
  int rows;
  int32_t order[ROWS_BLOCK];
} layout;

/* The longest of a slice's rows, k and its followers in order. */
static int32_t slice_length(const rows_search *s, const layout *lay, int k)
{
  int32_t longest = 0;
  for (int l = k; l < k + SIMD_LANES && l < lay->rows; l++)
    if (s->found[lay->order[l]].count > longest) longest = s->found[lay->order[l]].count;
  return longest;
}

/* Sort rows begin..end, longest first: roughly, where lengths differ by more than there are
 * buckets. */
static void sort_window(const rows_search *s, int begin, int end, int32_t *order)
{
  enum { BUCKETS = 128 };
  int64_t most = 0, least = INT32_MAX;
  for (int k = begin; k < end; k++) {
    const int32_t count = s->found[k].count;
    most = count > most ? count : most;
    least = count < least ? count : least;
  }
  const bool fine = most - least < BUCKETS; /* spares the rows of a liquid a division each */
  int32_t start[BUCKETS + 1] = {0};
  uint8_t bucket[WINDOW];
  for (int k = begin; k < end; k++) {
    const int64_t below = most - s->found[k].count;
    bucket[k - begin] = (uint8_t)(fine ? below : below * (BUCKETS - 1) / (most - least));
    start[bucket[k - begin] + 1]++;
  }
  for (int q = 0; q < BUCKETS; q++)
    start[q + 1] += start[q];
  for (int k = begin; k < end; k++)
    order[start[bucket[k - begin]]++] = k;
}

/* Order the rows of a block; returns the slots that their slices take. */
static int64_t lay_out(const rows_search *s, layout *lay)
{
  int64_t slots = 0;
  for (int k = 0; k < lay->rows; k += WINDOW)
    sort_window(s, k, k + WINDOW < lay->rows ? k + WINDOW : lay->rows, lay->order + k);
  for (int k = 0; k < lay->rows; k += SIMD_LANES)
    slots += SIMD_LANES * slice_length(s, lay, k);
  return slots;
}

/* The rows of a slice: where their entries begin, in units of four, for each part of a vector;
 * their lengths and atoms likewise. */
enum { PARTS = SIMD_F32 / SIMD_LANES };
typedef struct {
  int32_t unit[SIMD_F32];
  simd_i32 length, own;
} slice_rows;

/* Write the next entries of a slice from e on, at most 4 PARTS and not beyond the end; where a row
 * is shorter, its own atom. */
MD_INLINE void write_entries(const slice_rows *rows, const int32_t *entry, int32_t e, int32_t end,
                             int32_t *to)
{
  simd_f32 four[4];
  simd_load_fours(entry + e, rows->unit, four);
  for (int k = 0; k < 4; k++) {
    const simd_i32 number = rows->length * 0 + (e + k), beyond = number >= rows->length;
    lanes_i32 part[PARTS];
    const simd_i32 all = ((simd_i32)four[k] & ~beyond) | (rows->own & beyond);
    memcpy(part, &all, sizeof part);
    for (int p = 0; p < PARTS; p++)
      if (e + k + 4 * p < end) *(lanes_i32 *)(to + (e + k + 4 * p) * SIMD_LANES) = part[p];
  }
}

/* Write the slice of rows k and its followers from slot `base` on; lanes without a row are empty
 * rows of the last atom.  Returns the next free slot. */
static int64_t write_slice(const build *b, const rows_search *s, const layout *lay, int k,
                           int64_t base)
{
  neighbor_list *list = b->job.list;
  int32_t *count = list->count.data, *atom = list->atom.data, *shared = list->shared.data;
  slice_rows rows = {0};
  int32_t longest = 0;
  for (int l = 0; l < SIMD_LANES; l++) {
    const bool empty = k + l >= lay->rows;
    const int32_t row = lay->order[empty ? lay->rows - 1 : k + l];
    const int64_t r = lay->first + k + l;
    atom[r] = b->job.rows[lay->first + row];
    count[r] = empty ? 0 : s->found[row].count;
    if (b->job.half) shared[r] = empty ? 0 : s->found[row].shared;
    longest = count[r] > longest ? count[r] : longest;
    for (int p = 0; p < PARTS; p++) {
      rows.unit[p * SIMD_LANES + l] = (int32_t)(s->found[row].begin / 4) + p;
      rows.length[p * SIMD_LANES + l] = count[r] - 4 * p;
      rows.own[p * SIMD_LANES + l] = atom[r];
    }
  }
  ((int64_t *)list->start.data)[(lay->first + k) / SIMD_LANES] = base;
  int32_t *to = (int32_t *)list->nbr.data + base;
  int32_t e = 0;
  for (; e + 4 * PARTS <= longest; e += 4 * PARTS)
    write_entries(&rows, s->entry, e, e + 4 * PARTS, to);
  write_entries(&rows, s->entry, e, longest, to);
  return base + (int64_t)SIMD_LANES * longest;
}

/* Count a block's rows in and give it the next part of the list. */
static int64_t take_slots(build *b, const rows_search *s, int rows, int64_t slots)
{
  const int64_t base = b->slots;
  b->slots += slots;
  for (int k = 0; k < rows; k++) {
    b->entries += s->found[k].count;
    b->longest = s->found[k].count > b->longest ? s->found[k].count : b->longest;
  }
  return base;
}

/* One pass over all rows: counts them, and writes the list as far as there is room. */
static md_status build_pass(build *b)
{
  const int64_t n = b->job.n, blocks = (n + ROWS_BLOCK - 1) / ROWS_BLOCK;
  bool failed = false;
  b->slots = b->entries = 0;
  b->longest = 0;
#pragma omp parallel num_threads(b->job.list->ctx->threads) reduction(| : failed)
  {
    rows_search s = {.job = &b->job, .tile = -1};
#pragma omp for ordered schedule(dynamic, 1)
    for (int64_t block = 0; block < blocks; block++) {
      layout lay = {.first = block * ROWS_BLOCK};
      lay.rows = (int)(n - lay.first < ROWS_BLOCK ? n - lay.first : ROWS_BLOCK);
      if (!failed) failed = !KERNEL(rows_find)(&s, lay.first, lay.rows);
      const int64_t slots = failed ? 0 : lay_out(&s, &lay);
      int64_t base = 0;
#pragma omp ordered
      if (!failed) base = take_slots(b, &s, lay.rows, slots);
      if (failed || base + slots > b->capacity) continue;
      for (int k = 0; k < lay.rows; k += SIMD_LANES)
        base = write_slice(b, &s, &lay, k, base);
    }
    KERNEL(rows_free)(&s);
  }
  MD_REQUIRE(!failed, MD_ENOMEM, "out of memory while building a neighbour list");
  return MD_OK;
}

/* Tiles, rows, and what else is known before the search. */
static md_status prepare(build *b, const md_atoms *atoms)
{
  rows_job *job = &b->job;
  neighbor_list *list = job->list;
  md_ctx *ctx = list->ctx;
  const int64_t n = job->n, slices = (n + SIMD_LANES - 1) / SIMD_LANES;
  const size_t ints = (size_t)(slices * SIMD_LANES) * sizeof(int32_t);
  MD_TRY(md_buffer_reserve(ctx, &list->atom, ints, 0));
  MD_TRY(md_buffer_reserve(ctx, &list->count, ints, 0));
  MD_TRY(md_buffer_reserve(ctx, &list->start, (size_t)(slices + 1) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->rows, ints, 0));
  const int32_t *bins = list->grid.n;
  if (ctx->deterministic && !job->half)
    bins_by_id(list, atoms, (int64_t)bins[0] * bins[1] * bins[2]);
  MD_TRY(tiles_make(list, n, list->rows.data, &job->tiles));
  job->rows = list->rows.data;
  if (!job->half) return MD_OK;
  MD_TRY(md_buffer_reserve(ctx, &list->shared, ints, 0));
  MD_TRY(md_buffer_reserve(ctx, &list->row_of, ints, 0));
  MD_TRY(chunks_of_rows(list, n));
  /* Ghosts of other ranks' atoms come last. */
  const bool alone = atoms->n_ghost == 0 || job->home[atoms->n_ghost - 1] >= 0;
  job->split = list->view.n_chunks > 1 || !list->spec.newton || !alone;
  int32_t *row_of = list->row_of.data;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t r = 0; r < n; r++)
    row_of[job->rows[r]] = (int32_t)r;
  job->row_of = row_of;
  return chunks_of_ghosts(list, atoms);
}

md_status KERNEL(neighbor_cpu_build)(neighbor_list *list, const md_atoms *atoms)
{
  build b = {.job = {.list = list,
                     .half = list->spec.kind == NEIGHBOR_HALF,
                     .n = atoms->n,
                     .x = list->x,
                     .home = atoms->home.data,
                     .shift = atoms->shift.data}};
  MD_TRY(prepare(&b, atoms));
  MD_TRY(KERNEL(rows_prepare)(&b.job, atoms));
  do {
    const int64_t room = b.slots + b.slots / 16;
    MD_TRY(md_buffer_reserve(list->ctx, &list->nbr, (size_t)room * sizeof(int32_t), 0));
    b.capacity = (int64_t)(list->nbr.bytes / sizeof(int32_t));
    MD_TRY(build_pass(&b));
  } while (b.slots > b.capacity);
  neighbor_view *view = &list->view;
  int64_t *start = list->start.data;
  start[(b.job.n + SIMD_LANES - 1) / SIMD_LANES] = b.slots;
  view->width = SIMD_LANES;
  view->start = start;
  view->nbr = list->nbr.data;
  view->count = list->count.data;
  view->atom = list->atom.data;
  view->shared = b.job.half ? list->shared.data : NULL;
  view->n_entries = b.entries;
  view->max_count = b.longest;
  return lines_find(list, &b.job.tiles);
}
