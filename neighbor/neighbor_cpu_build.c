/* neighbor/neighbor_cpu_build.c - full and half lists on the CPU.
 *
 * Rows come in blocks.  A thread copies the candidates of a tile (tiles.h), as floats relative to
 * the tile's centre, into its halo, and tests them against each row's atom, a vector at a time; the
 * lanes within reach are packed onto the row.  When a block's rows are complete, the block takes
 * the next part of the list, in the order of blocks: so one pass writes a list without gaps that
 * does not depend on the number of threads.  A pass that runs out of room only counts.
 *
 * Full lists: rows of a window are sorted by length and interleaved in slices as wide as a vector.
 * Half lists: row by row, padded to whole vectors.  A candidate belongs to the chunk of its own (or
 * its home's) row; within the chunk only candidates after the row's atom are listed, as shared.
 *
 * Compiled once per precision and instruction set. */
#include "neighbor/neighbor_impl.h"
#include "neighbor/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  WINDOW = 64,        /* rows sorted by length */
  BLOCK = 4 * WINDOW, /* rows that a thread takes at a time */
  CHUNK_ROWS = 2048,  /* least and */
  CHUNKS_MOST = 64    /* most chunks of deterministic half lists */
};

typedef struct {
  neighbor_list *list;
  tiling tiles;
  bool half, split; /* split: half, and some pairs are in both rows */
  int64_t n;
  const state *x;
  const int32_t *home, *shift; /* of ghosts */
  const int32_t *rows;         /* [n] atoms by tiles */
  double reach_sq;
  float sure_sq, maybe_sq; /* floats decide below the one and beyond the other */
  int64_t capacity;        /* of nbr */
  /* Totals of the blocks so far. */
  int64_t slots, entries;
  int32_t longest;
} build;

typedef struct {
  int64_t begin; /* into entry */
  int32_t count, shared;
} found_row;

typedef struct {
  build *job;
  int64_t tile;
  state origin[3];
  /* The halo: n candidates, then far ones up to a whole vector. */
  int64_t n, room;
  float *x, *y, *z;
  int32_t *index;       /* atom or ghost */
  int32_t *row, *after; /* half: row of the atom or home; place in the order of pairs */
  int32_t *single;      /* entries of the row at hand that are not shared */
  /* The rows of a block. */
  int64_t n_entry, entry_room;
  int32_t *entry;
  found_row found[BLOCK];
  int32_t order[BLOCK];
} worker;

static int64_t round_up(int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

/* Room for n candidates and as many entries more, vectors written past their end included. */
static bool make_room(worker *w, int64_t n)
{
  if (n > w->room) {
    free(w->x);
    w->room = round_up(n + n / 2, SIMD_F32) + SIMD_F32;
    w->x = aligned_alloc(SIMD_BYTES, (size_t)(7 * w->room) * sizeof(float));
    if (!w->x) w->room = 0;
    if (!w->x) return false;
    w->y = w->x + w->room;
    w->z = w->y + w->room;
    w->index = (int32_t *)(w->z + w->room);
    w->row = w->index + w->room;
    w->after = w->row + w->room;
    w->single = w->after + w->room;
  }
  const int64_t wanted = w->n_entry + n + 2 * SIMD_F32;
  if (wanted > w->entry_room) {
    int32_t *entry = realloc(w->entry, (size_t)(2 * wanted) * sizeof *entry);
    if (!entry) return false;
    w->entry = entry;
    w->entry_room = 2 * wanted;
  }
  return true;
}

/* Atoms and ghosts in and around tile t, as indices; false when memory runs out. */
static bool collect(worker *w, const tile *t)
{
  const tiling *ts = &w->job->tiles;
  const neighbor_grid *g = ts->grid;
  const int32_t i0 = (int32_t)fmax(0, t->lo[0] - g->margin[0]);
  const int32_t i1 = (int32_t)fmin(g->n[0] - 1, t->hi[0] + g->margin[0]);
  const int32_t j0 = (int32_t)fmax(0, t->lo[1] - g->margin[1]);
  const int32_t j1 = (int32_t)fmin(g->n[1] - 1, t->hi[1] + g->margin[1]);
  for (int pass = 0; pass < 2; pass++) {
    int64_t n = 0, begin, end;
    for (int32_t i = i0; i <= i1; i++)
      for (int32_t j = j0; j <= j1; j++) {
        if (!tiles_column(ts, t, i, j, &begin, &end)) continue;
        if (pass == 1)
          memcpy(w->index + n, ts->place + begin, (size_t)(end - begin) * sizeof(int32_t));
        n += end - begin;
      }
    if (pass == 0 && !make_room(w, n)) return false;
    w->n = n;
  }
  return true;
}

/* Positions of the candidates relative to the tile. */
static void fill_halo(worker *w, const tile *t)
{
  typedef float narrow __attribute__((vector_size(4 * SIMD_STATES), aligned(4)));
  const neighbor_grid *g = w->job->tiles.grid;
  for (int d = 0; d < 3; d++)
    w->origin[d] =
        (state)(g->lo[d] + (0.5 * (t->lo[d] + t->hi[d] + 1) - g->margin[d]) * g->side[d]);
  const int64_t n = w->n, padded = round_up(n, SIMD_F32);
  for (int64_t c = n; c < padded; c++)
    w->index[c] = w->index[n - 1];
  for (int64_t c = 0; c < n; c += SIMD_STATES) {
    simd_state at[3];
    simd_load_state(w->job->x, w->index + c, at);
    *(narrow *)(w->x + c) = __builtin_convertvector(at[0] - w->origin[0], narrow);
    *(narrow *)(w->y + c) = __builtin_convertvector(at[1] - w->origin[1], narrow);
    *(narrow *)(w->z + c) = __builtin_convertvector(at[2] - w->origin[2], narrow);
  }
  for (int64_t c = n; c < padded; c++)
    w->x[c] = 1e30f;
}

/* For half lists: whose row a candidate belongs to, and its place in the order of pairs.  A ghost
 * comes after every row when its shift is positive, else before; without newton it has no row. */
static void fill_owners(worker *w)
{
  const build *b = w->job;
  const int32_t *row_of = b->list->rows.data;
  const bool newton = b->list->spec.newton;
  for (int64_t c = 0; c < w->n; c++) {
    const int64_t ghost = w->index[c] - b->n;
    if (ghost < 0) {
      w->row[c] = w->after[c] = row_of[w->index[c]];
    } else {
      w->row[c] = newton ? row_of[b->home[ghost]] : -1;
      w->after[c] = b->shift[ghost] > 0 ? INT32_MAX : -1;
    }
  }
}

static bool enter_tile(worker *w, int64_t number)
{
  if (w->tile == number) return true;
  w->tile = -1;
  const tile *t = &w->job->tiles.tiles[number];
  if (!collect(w, t)) return false;
  fill_halo(w, t);
  if (w->job->half) fill_owners(w);
  w->tile = number;
  return true;
}

/* Keep those of n entries of an atom's row that are within reach in double; returns their number.
 */
static int64_t keep_near(const build *b, int32_t atom, int32_t *entry, int64_t n)
{
  const state *x = b->x + 4 * (int64_t)atom;
  int64_t kept = 0;
  for (int64_t k = 0; k < n; k++) {
    const state *y = b->x + 4 * (int64_t)entry[k];
    double r_sq = 0;
    for (int d = 0; d < 3; d++) {
      const double delta = (double)x[d] - y[d];
      r_sq += delta * delta;
    }
    if (r_sq < b->reach_sq) entry[kept++] = entry[k];
  }
  return kept;
}

/* List the candidates near the atom of row r: of a full list all but itself; of a half list those
 * in the chunk (first, length) and after r, as shared, then those in other chunks.  Without split
 * there are no others. */
MD_INLINE void test_halo(worker *w, int64_t r, int32_t first, int32_t length, bool half, bool split,
                         found_row *out)
{
  const build *b = w->job;
  const int32_t atom = b->rows[r];
  const state *x = b->x + 4 * (int64_t)atom;
  const float at[3] = {(float)(x[0] - w->origin[0]), (float)(x[1] - w->origin[1]),
                       (float)(x[2] - w->origin[2])};
  int32_t *const entry = w->entry + w->n_entry;
  int64_t n_shared = 0, n_single = 0;
  simd_i32 doubt = {0};
  for (int64_t c = 0; c < w->n; c += SIMD_F32) {
    const simd_f32 dx = *(const simd_f32 *)(w->x + c) - at[0];
    const simd_f32 dy = *(const simd_f32 *)(w->y + c) - at[1];
    const simd_f32 dz = *(const simd_f32 *)(w->z + c) - at[2];
    const simd_i32 index = *(const simd_i32 *)(w->index + c);
    const simd_f32 r_sq = dx * dx + dy * dy + dz * dz;
    const simd_i32 near = r_sq < b->maybe_sq;
    doubt |= near & ~(simd_i32)(r_sq < b->sure_sq);
    if (!half) {
      n_single += simd_pack(entry + n_single, index, near & (index != atom));
      continue;
    }
    const simd_i32 after = *(const simd_i32 *)(w->after + c) > (int32_t)r;
    if (!split) {
      n_shared += simd_pack(entry + n_shared, index, near & after);
      continue;
    }
    const simd_u32 row = *(const simd_u32 *)(w->row + c) - (uint32_t)first;
    const simd_i32 inside = row < (uint32_t)length;
    n_shared += simd_pack(entry + n_shared, index, near & inside & after);
    n_single += simd_pack(w->single + n_single, index, near & ~inside);
  }
  if (simd_any(doubt)) {
    n_shared = keep_near(b, atom, entry, n_shared);
    n_single = keep_near(b, atom, half ? w->single : entry, n_single);
  }
  if (split) memcpy(entry + n_shared, w->single, (size_t)n_single * sizeof *entry);
  *out = (found_row){w->n_entry, (int32_t)(n_shared + n_single), (int32_t)n_shared};
  w->n_entry += n_shared + n_single;
}

/* The tile that holds row r. */
static int64_t tile_of_row(const tiling *ts, int64_t r)
{
  int64_t low = 0, high = ts->count;
  while (high - low > 1) {
    const int64_t mid = low + (high - low) / 2;
    if (ts->tiles[mid].first_row <= r)
      low = mid;
    else
      high = mid;
  }
  return low;
}

/* The rows of a block; false when memory runs out. */
static bool find_rows(worker *w, int64_t first_row, int rows)
{
  build *b = w->job;
  const bool half = b->half, split = b->split;
  const int64_t *chunk = b->list->chunk.data;
  int64_t t = tile_of_row(&b->tiles, first_row), c = 0;
  w->n_entry = 0;
  for (int k = 0; k < rows; k++) {
    const int64_t r = first_row + k;
    while (b->tiles.tiles[t + 1].first_row <= r)
      t++;
    if (!enter_tile(w, t) || !make_room(w, w->n)) return false;
    if (!half) {
      test_halo(w, r, 0, 0, false, false, &w->found[k]);
      continue;
    }
    while (chunk[c + 1] <= r)
      c++;
    const int32_t first = (int32_t)chunk[c], length = (int32_t)(chunk[c + 1] - chunk[c]);
    if (split)
      test_halo(w, r, first, length, true, true, &w->found[k]);
    else
      test_halo(w, r, first, length, true, false, &w->found[k]);
    while (w->n_entry % SIMD_LANES != 0)
      w->entry[w->n_entry++] = b->rows[r];
  }
  return true;
}

/* The longest of a slice's rows, k of the block and its followers in order. */
static int32_t slice_length(const worker *w, int k, int rows)
{
  int32_t longest = 0;
  for (int l = k; l < k + SIMD_LANES && l < rows; l++)
    if (w->found[w->order[l]].count > longest) longest = w->found[w->order[l]].count;
  return longest;
}

/* Sort the rows of each window, longest first (roughly, where lengths differ by more than there are
 * buckets).  Returns the slots that their slices take. */
static int64_t sort_windows(worker *w, int rows)
{
  enum { BUCKETS = 128 };
  int64_t slots = 0;
  for (int begin = 0; begin < rows; begin += WINDOW) {
    const int end = begin + WINDOW < rows ? begin + WINDOW : rows;
    int64_t most = 0, least = INT32_MAX;
    for (int k = begin; k < end; k++) {
      most = w->found[k].count > most ? w->found[k].count : most;
      least = w->found[k].count < least ? w->found[k].count : least;
    }
    const int64_t range = most - least < BUCKETS ? BUCKETS - 1 : most - least;
    int32_t start[BUCKETS + 1] = {0};
#define BUCKET_(k) ((most - w->found[k].count) * (BUCKETS - 1) / range)
    for (int k = begin; k < end; k++)
      start[BUCKET_(k) + 1]++;
    for (int q = 0; q < BUCKETS; q++)
      start[q + 1] += start[q];
    for (int k = begin; k < end; k++)
      w->order[begin + start[BUCKET_(k)]++] = k;
#undef BUCKET_
    for (int k = begin; k < end; k += SIMD_LANES)
      slots += SIMD_LANES * slice_length(w, k, end);
  }
  return slots;
}

/* Write the slices of a block to nbr from slot `base` on; lanes without a row are empty rows of the
 * last atom. */
static void emit_full(const worker *w, int64_t first_row, int rows, int64_t base)
{
  neighbor_list *list = w->job->list;
  int64_t *start = list->start.data;
  int32_t *nbr = list->nbr.data, *count = list->count.data, *atom = list->atom.data;
  for (int k = 0; k < rows; k += SIMD_LANES) {
    const int32_t *from[SIMD_LANES];
    int32_t own[SIMD_LANES], length[SIMD_LANES], common = INT32_MAX;
    for (int l = 0; l < SIMD_LANES; l++) {
      const int row = w->order[k + l < rows ? k + l : rows - 1];
      from[l] = w->entry + w->found[row].begin;
      own[l] = atom[first_row + k + l] = w->job->rows[first_row + row];
      length[l] = count[first_row + k + l] = k + l < rows ? w->found[row].count : 0;
      common = length[l] < common ? length[l] : common;
    }
    start[(first_row + k) / SIMD_LANES] = base;
    const int32_t longest = slice_length(w, k, rows);
    int32_t *to = nbr + base;
    for (int32_t e = 0; e < common; e++)
      for (int l = 0; l < SIMD_LANES; l++)
        *to++ = from[l][e];
    for (int32_t e = common; e < longest; e++)
      for (int l = 0; l < SIMD_LANES; l++)
        *to++ = e < length[l] ? from[l][e] : own[l];
    base += (int64_t)SIMD_LANES * longest;
  }
}

static void emit_half(const worker *w, int64_t first_row, int rows, int64_t base)
{
  neighbor_list *list = w->job->list;
  int64_t *start = list->start.data;
  int32_t *count = list->count.data, *shared = list->shared.data;
  for (int k = 0; k < rows; k++) {
    start[first_row + k] = base + w->found[k].begin;
    count[first_row + k] = w->found[k].count;
    shared[first_row + k] = w->found[k].shared;
  }
  memcpy((int32_t *)list->nbr.data + base, w->entry, (size_t)w->n_entry * sizeof(int32_t));
}

/* Count a block's rows in and give it the next part of the list. */
static int64_t take_slots(build *b, const worker *w, int rows, int64_t slots)
{
  const int64_t base = b->slots;
  b->slots += slots;
  for (int k = 0; k < rows; k++) {
    b->entries += w->found[k].count;
    b->longest = w->found[k].count > b->longest ? w->found[k].count : b->longest;
  }
  return base;
}

/* One pass over all rows: counts them, and writes the list as far as there is room. */
static md_status find_all(build *b)
{
  const int64_t blocks = (b->n + BLOCK - 1) / BLOCK;
  bool failed = false;
  b->slots = b->entries = 0;
  b->longest = 0;
#pragma omp parallel num_threads(b->list->ctx->threads) reduction(| : failed)
  {
    worker w = {.job = b, .tile = -1};
#pragma omp for ordered schedule(dynamic, 1)
    for (int64_t block = 0; block < blocks; block++) {
      const int64_t first = block * BLOCK;
      const int rows = (int)(b->n - first < BLOCK ? b->n - first : BLOCK);
      if (!failed) failed = !find_rows(&w, first, rows);
      const int64_t slots = failed ? 0 : b->half ? w.n_entry : sort_windows(&w, rows);
      int64_t base = 0;
#pragma omp ordered
      if (!failed) base = take_slots(b, &w, rows, slots);
      if (failed || base + slots > b->capacity) continue;
      if (b->half)
        emit_half(&w, first, rows, base);
      else
        emit_full(&w, first, rows, base);
    }
    free(w.x);
    free(w.entry);
  }
  MD_REQUIRE(!failed, MD_ENOMEM, "out of memory while building a neighbour list");
  return MD_OK;
}

/* Rows of each chunk: one chunk a thread, or a number that depends on n alone. */
static md_status make_chunks(neighbor_list *list, int64_t n)
{
  int64_t chunks = list->ctx->threads;
  if (list->ctx->deterministic)
    chunks = n / CHUNK_ROWS < CHUNKS_MOST ? n / CHUNK_ROWS : CHUNKS_MOST;
  chunks = chunks > n ? n : chunks < 1 ? 1 : chunks;
  MD_TRY(md_buffer_reserve(list->ctx, &list->chunk, (size_t)(chunks + 1) * sizeof(int64_t), 0));
  int64_t *chunk = list->chunk.data;
  for (int64_t c = 0; c <= chunks; c++)
    chunk[c] = n * c / chunks;
  list->view.chunk = chunk;
  list->view.n_chunks = (int32_t)chunks;
  return MD_OK;
}

/* Tiles, rows, and what else is known before the search. */
static md_status prepare(build *b)
{
  neighbor_list *list = b->list;
  md_ctx *ctx = list->ctx;
  const int64_t n = b->n, padded = round_up(n, SIMD_LANES);
  const size_t ints = (size_t)padded * sizeof(int32_t);
  MD_TRY(md_buffer_reserve(ctx, &list->rows, ints, 0));
  MD_TRY(md_buffer_reserve(ctx, &list->atom, ints, 0));
  MD_TRY(md_buffer_reserve(ctx, &list->count, ints, 0));
  const int64_t slices = b->half ? n : padded / SIMD_LANES;
  MD_TRY(md_buffer_reserve(ctx, &list->start, (size_t)(slices + 1) * sizeof(int64_t), 0));
  int32_t *rows = b->half ? list->atom.data : list->rows.data;
  b->rows = rows;
  MD_TRY(tiles_make(list, n, rows, &b->tiles));
  if (!b->half) return MD_OK;
  MD_TRY(md_buffer_reserve(ctx, &list->shared, ints, 0));
  MD_TRY(make_chunks(list, n));
  b->split = list->view.n_chunks > 1 || !list->spec.newton;
  int32_t *row_of = list->rows.data;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t r = 0; r < n; r++)
    row_of[rows[r]] = (int32_t)r;
  return MD_OK;
}

/* Coordinates in the halo are off by less than 2^-22 of its extent, and distances by less than
 * 2^-20: in between, doubles decide. */
static void set_reach(build *b)
{
  const neighbor_grid *g = &b->list->grid;
  const double reach = b->list->spec.r_list;
  double extent = reach;
  for (int d = 0; d < 3; d++)
    extent = fmax(extent, 1.5 * reach + (g->margin[d] + 1) * g->side[d]);
  const double sure = fmax(0, reach - 0x1p-20 * extent), maybe = reach + 0x1p-20 * extent;
  b->reach_sq = reach * reach;
  b->sure_sq = (float)(sure * sure);
  b->maybe_sq = (float)(maybe * maybe);
}

md_status KERNEL(neighbor_cpu_build)(neighbor_list *list, const md_atoms *atoms)
{
  build b = {.list = list,
             .half = list->spec.kind == NEIGHBOR_HALF,
             .n = atoms->n,
             .x = atoms->x.data,
             .home = atoms->home.data,
             .shift = atoms->shift.data};
  set_reach(&b);
  MD_TRY(prepare(&b));
  do {
    MD_TRY(md_buffer_reserve(list->ctx, &list->nbr,
                             (size_t)(b.slots + b.slots / 16) * sizeof(int32_t), 0));
    b.capacity = (int64_t)(list->nbr.bytes / sizeof(int32_t));
    MD_TRY(find_all(&b));
  } while (b.slots > b.capacity);
  neighbor_view *view = &list->view;
  view->width = b.half ? 1 : SIMD_LANES;
  int64_t *start = list->start.data;
  start[b.half ? b.n : round_up(b.n, SIMD_LANES) / SIMD_LANES] = b.slots;
  view->start = start;
  view->nbr = list->nbr.data;
  view->count = list->count.data;
  view->atom = list->atom.data;
  view->shared = b.half ? list->shared.data : NULL;
  view->n_entries = b.entries;
  view->max_count = b.longest;
  return MD_OK;
}
