/* neighbor/neighbor_cpu_rows.c - filling halos and testing them, see rows_cpu.h.
 *
 * Compiled once per precision and instruction set. */
#include "neighbor/rows_cpu.h"

#include <stdlib.h>
#include <string.h>

typedef simd_i32 unaligned_i32 __attribute__((aligned(4), may_alias));
typedef float narrow __attribute__((vector_size(4 * SIMD_STATES), aligned(4), may_alias));

static int64_t whole_vectors(int64_t n)
{
  return (n + SIMD_F32 - 1) / SIMD_F32 * SIMD_F32;
}

static int32_t larger(int32_t a, int32_t b)
{
  return a > b ? a : b;
}
static int32_t smaller(int32_t a, int32_t b)
{
  return a < b ? a : b;
}

/* Room for at least n items of 4 bytes; those there are kept. */
static bool grow(int32_t **items, int64_t *room, int64_t n)
{
  if (n <= *room) return true;
  int32_t *more = realloc(*items, (size_t)(2 * n) * sizeof **items);
  if (!more) return false;
  *items = more;
  *room = 2 * n;
  return true;
}

/* Room for what is kept about each of the candidates in `index`. */
static bool make_halo(rows_search *s)
{
  const int64_t n = whole_vectors(s->n) + SIMD_F32;
  if (n <= s->room) return true;
  const int64_t room = whole_vectors(n + n / 2);
  float *halo = aligned_alloc(SIMD_BYTES, (size_t)(6 * room) * sizeof *halo);
  if (!halo) return false;
  free(s->x);
  s->room = room;
  s->x = halo;
  s->y = s->x + room;
  s->z = s->y + room;
  s->row = (int32_t *)(s->z + room);
  s->after = s->row + room;
  s->single = s->after + room;
  return true;
}

/* The atoms and ghosts in and around tile t. */
static bool collect(rows_search *s, const tile *t)
{
  const tiling *ts = &s->job->tiles;
  const neighbor_grid *g = ts->grid;
  const int32_t i0 = larger(0, t->lo[0] - g->margin[0]);
  const int32_t i1 = smaller(g->n[0] - 1, t->hi[0] + g->margin[0]);
  const int32_t j0 = larger(0, t->lo[1] - g->margin[1]);
  const int32_t j1 = smaller(g->n[1] - 1, t->hi[1] + g->margin[1]);
  if (!s->slab) s->slab = malloc((size_t)(g->n[0] + 1) * sizeof *s->slab);
  if (!s->slab) return false;
  s->first_slab = i0;
  s->n = 0;
  for (int32_t i = i0; i <= i1; i++) {
    s->slab[i - i0] = s->n;
    for (int32_t j = j0; j <= j1; j++) {
      int64_t begin, end;
      if (!tiles_column(ts, t, i, j, &begin, &end)) continue;
      if (!grow(&s->index, &s->index_room, s->n + end - begin + SIMD_F32)) return false;
      /* Columns are short: whole vectors, read and written past the end. */
      for (int64_t p = begin; p < end; p += SIMD_F32)
        *(unaligned_i32 *)(s->index + s->n + (p - begin)) = *(const unaligned_i32 *)(ts->place + p);
      s->n += end - begin;
    }
  }
  s->n_slabs = i1 + 1 - i0;
  s->slab[s->n_slabs] = s->n;
  return make_halo(s);
}

/* Positions of the candidates relative to the tile. */
static void fill_positions(rows_search *s, const tile *t)
{
  const neighbor_grid *g = s->job->tiles.grid;
  for (int d = 0; d < 3; d++)
    s->origin[d] =
        (state)(g->lo[d] + (0.5 * (t->lo[d] + t->hi[d] + 1) - g->margin[d]) * g->side[d]);
  const int64_t padded = whole_vectors(s->n);
  for (int64_t c = s->n; c < padded; c++)
    s->index[c] = s->index[s->n - 1];
  for (int64_t c = 0; c < s->n; c += SIMD_STATES) {
    simd_state at[3];
    simd_load_state(s->job->x, s->index + c, at);
    *(narrow *)(s->x + c) = __builtin_convertvector(at[0] - s->origin[0], narrow);
    *(narrow *)(s->y + c) = __builtin_convertvector(at[1] - s->origin[1], narrow);
    *(narrow *)(s->z + c) = __builtin_convertvector(at[2] - s->origin[2], narrow);
  }
  for (int64_t c = s->n; c < padded; c++)
    s->x[c] = 1e30f;
}

/* For half lists: whose row a candidate belongs to, and its place in the order of pairs.  A ghost
 * comes after every row when its shift is positive, else before; without newton it has no row. */
static void fill_owners(rows_search *s)
{
  const rows_job *job = s->job;
  const bool newton = job->list->spec.newton;
  for (int64_t c = 0; c < whole_vectors(s->n); c++) {
    const int64_t ghost = s->index[c] - job->n;
    if (ghost < 0) {
      s->row[c] = s->after[c] = job->row_of[s->index[c]];
    } else {
      s->row[c] = newton ? job->row_of[job->home[ghost]] : -1;
      s->after[c] = job->shift[ghost] > 0 ? INT32_MAX : -1;
    }
  }
}

static bool enter_tile(rows_search *s, int64_t number)
{
  if (s->tile == number) return true;
  s->tile = -1;
  const tile *t = &s->job->tiles.tiles[number];
  if (!collect(s, t)) return false;
  fill_positions(s, t);
  if (s->job->half) fill_owners(s);
  s->tile = number;
  return true;
}

/* Keep those of n entries of an atom's row that are within reach in double; returns their number.
 */
static int64_t keep_near(const rows_job *job, int32_t atom, int32_t *entry, int64_t n)
{
  const state *x = job->x + 4 * (int64_t)atom;
  int64_t kept = 0;
  for (int64_t k = 0; k < n; k++) {
    const state *y = job->x + 4 * (int64_t)entry[k];
    double r_sq = 0;
    for (int d = 0; d < 3; d++) {
      const double delta = (double)x[d] - y[d];
      r_sq += delta * delta;
    }
    if (r_sq < job->reach_sq) entry[kept++] = entry[k];
  }
  return kept;
}

/* Whether row r lists its pair with each candidate of its chunk. */
MD_INLINE simd_i32 is_lister(const rows_search *s, int64_t c, simd_i32 index, int32_t r)
{
  const simd_i32 ahead = *(const simd_i32 *)(s->after + c) - r;
  const simd_i32 turned = ((ahead & 1) - 1) & (index < (int32_t)s->job->n);
  return (ahead ^ turned) - turned > 0;
}

/* The candidates in reach of an atom along axis 0, from a whole vector on. */
static void slabs_of(const rows_search *s, int32_t atom, int64_t *begin, int64_t *end)
{
  const rows_job *job = s->job;
  const neighbor_grid *g = job->tiles.grid;
  const uint32_t layer = (uint32_t)g->n[1] * (uint32_t)g->n[2];
  const int32_t i = (int32_t)(((const uint32_t *)job->list->key.data)[atom] / layer);
  *begin = s->slab[larger(0, i - g->margin[0] - s->first_slab)] / SIMD_F32 * SIMD_F32;
  *end = s->slab[smaller(s->n_slabs, i + g->margin[0] + 1 - s->first_slab)];
}

/* Test slabs of the halo against the atom of row r.  A full list takes all but the atom itself; a
 * half list those of chunk [first, first + length) that r lists, as shared, then those of other
 * chunks.  Without split there are no others. */
MD_INLINE void find_row(rows_search *s, int64_t r, int32_t first, int32_t length, bool half,
                        bool split, rows_found *out)
{
  const rows_job *job = s->job;
  const int32_t atom = job->rows[r];
  const state *x = job->x + 4 * (int64_t)atom;
  const float at[3] = {(float)(x[0] - s->origin[0]), (float)(x[1] - s->origin[1]),
                       (float)(x[2] - s->origin[2])};
  int32_t *const entry = s->entry + s->n_entry;
  int64_t n_shared = 0, n_single = 0, begin, end;
  simd_i32 doubt = {0};
  slabs_of(s, atom, &begin, &end);
  for (int64_t c = begin; c < end; c += SIMD_F32) {
    const simd_f32 dx = *(const simd_f32 *)(s->x + c) - at[0];
    const simd_f32 dy = *(const simd_f32 *)(s->y + c) - at[1];
    const simd_f32 dz = *(const simd_f32 *)(s->z + c) - at[2];
    const simd_i32 index = *(const unaligned_i32 *)(s->index + c);
    const simd_f32 r_sq = dx * dx + dy * dy + dz * dz;
    const simd_i32 near = r_sq < job->maybe_sq;
    doubt |= near & ~(simd_i32)(r_sq < job->sure_sq);
    if (!half) {
      n_single += simd_pack(entry + n_single, index, near & (index != atom));
      continue;
    }
    const simd_i32 lists = near & is_lister(s, c, index, (int32_t)r);
    if (!split) {
      n_shared += simd_pack(entry + n_shared, index, lists);
      continue;
    }
    const simd_u32 row = *(const simd_u32 *)(s->row + c) - (uint32_t)first;
    const simd_i32 inside = row < (uint32_t)length;
    n_shared += simd_pack(entry + n_shared, index, lists & inside);
    n_single += simd_pack(s->single + n_single, index, near & ~inside);
  }
  if (simd_any(doubt)) {
    n_shared = keep_near(job, atom, entry, n_shared);
    n_single = keep_near(job, atom, half ? s->single : entry, n_single);
  }
  if (split) memcpy(entry + n_shared, s->single, (size_t)n_single * sizeof *entry);
  *out = (rows_found){s->n_entry, (int32_t)(n_shared + n_single), (int32_t)n_shared};
  s->n_entry += n_shared + n_single;
}

bool KERNEL(rows_find)(rows_search *s, int64_t first, int count)
{
  const rows_job *job = s->job;
  const neighbor_view *view = &job->list->view;
  int64_t t = tiles_of_row(&job->tiles, first);
  int32_t c = 0;
  s->n_entry = 0;
  for (int k = 0; k < count; k++) {
    const int64_t r = first + k;
    while (job->tiles.tiles[t + 1].first_row <= r)
      t++;
    if (!enter_tile(s, t)) return false;
    if (!grow(&s->entry, &s->entry_room, s->n_entry + s->n + 2 * SIMD_F32)) return false;
    while (job->half && view->chunk[c + 1] <= r)
      c++;
    const int32_t begin = job->half ? (int32_t)view->chunk[c] : 0;
    const int32_t length = job->half ? (int32_t)(view->chunk[c + 1] - view->chunk[c]) : 0;
    if (!job->half)
      find_row(s, r, begin, length, false, false, &s->found[k]);
    else if (job->split)
      find_row(s, r, begin, length, true, true, &s->found[k]);
    else
      find_row(s, r, begin, length, true, false, &s->found[k]);
  }
  return true;
}

void KERNEL(rows_free)(rows_search *s)
{
  free(s->index);
  free(s->x);
  free(s->slab);
  free(s->entry);
}
