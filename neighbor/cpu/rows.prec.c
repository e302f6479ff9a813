/* neighbor/cpu/rows.prec.c - testing halos against rows, see rows_cpu.h.
 *
 * A row of a liquid looks at 430 candidates (tiles 1 r_list wide) to list 78.  Of |a - b|^2 the
 * part |b|^2 comes with the halo and |a|^2 with what is compared, so that a vector of candidates
 * costs three multiply-adds, a comparison, a maximum that tells whether any was near r_list, and a
 * packing; about half of the time of a build is spent here.
 *
 * Compiled once per precision and instruction set. */
#include "neighbor/cpu/rows_cpu.h"

#include <stdlib.h>
#include <string.h>

typedef simd_i32 loose_i32 __attribute__((aligned(4), may_alias));

bool KERNEL(rows_grow)(rows_search *s, int64_t n)
{
  if (n <= s->entry_room) return true;
  const int64_t room = (2 * n + SIMD_F32) / SIMD_F32 * SIMD_F32;
  int32_t *more = aligned_alloc(SIMD_BYTES, (size_t)room * sizeof *more);
  if (!more) return false;
  if (s->n_entry > 0) memcpy(more, s->entry, (size_t)s->n_entry * sizeof *more);
  free(s->entry);
  s->entry = more;
  s->entry_room = room;
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

/* A row's test against parts of a halo. */
typedef struct {
  simd_f32 maybe, twice[3], farthest;
  int32_t own, after;  /* its atom, and that one's place in the order of pairs */
  int32_t first, last; /* rows of its chunk */
  int32_t *entry, *single;
  int64_t n_shared, n_single;
} row_test;

/* What a row takes of the candidates within its reach: all, those after its atom in the order of
 * pairs, or these among its chunk's and all of other chunks'. */
typedef enum { TAKE_ALL, TAKE_AFTER, TAKE_SPLIT } row_take;

/* Lanes of candidates whose pair with the row's atom is listed there, if both are of one chunk. */
MD_INLINE simd_some is_lister(const row_test *t, simd_i32 index, simd_i32 after)
{
  const simd_i32 zero = {0}, own = zero + t->own, mine = zero + t->after;
  const simd_some by_number = simd_more(index, own) ^ simd_same((index ^ own) & 1, zero);
  return simd_more(after, mine) | (simd_same(after, mine) & by_number);
}

/* Test candidates begin .. end - 1, and what else is in their vectors; one begins at `begin`. */
MD_INLINE void test_part(const rows_search *s, int64_t begin, int64_t end, row_take take,
                         row_test *t)
{
  const float *const x = s->at[0], *const y = s->at[1], *const z = s->at[2], *const norm = s->norm;
  const int32_t *const index_of = s->index, *const row_of = s->row, *const after = s->after;
  for (int64_t c = begin; c < end; c += SIMD_F32) {
    const simd_f32 rest = *(const simd_f32 *)(norm + c) + *(const simd_f32 *)(x + c) * t->twice[0] +
                          *(const simd_f32 *)(y + c) * t->twice[1] +
                          *(const simd_f32 *)(z + c) * t->twice[2];
    const simd_i32 index = *(const simd_i32 *)(index_of + c);
    const simd_some near = simd_less(rest, t->maybe);
    simd_some lists = near;
    t->farthest = simd_max_of(t->farthest, rest, near);
    if (take != TAKE_ALL) lists &= is_lister(t, index, *(const simd_i32 *)(after + c));
    if (take == TAKE_SPLIT) {
      const simd_i32 row = *(const simd_i32 *)(row_of + c);
      const simd_some inside =
          simd_more(row, row * 0 + (t->first - 1)) & simd_more(row * 0 + t->last, row);
      t->n_single += simd_pack(t->single + t->n_single, index, near & ~inside);
      lists &= inside;
    }
    t->n_shared += simd_pack(t->entry + t->n_shared, index, lists);
  }
}

/* Find the entries of row r of the chunk of rows first .. last - 1: a full list takes all but the
 * atom itself; a half list those of the chunk that r lists, as shared, then those of other chunks.
 * Without split there are no others, and none of it lies in slabs before the atom's. */
MD_INLINE void find_row(rows_search *s, int64_t r, int32_t first, int32_t last, bool half,
                        bool split, rows_found *out)
{
  const rows_job *job = s->job;
  const rows_own me = s->own[r - job->tiles.tiles[s->tile].first_row];
  const int64_t lo = me.slab, hi = lo + 1, reach = job->list->grid.margin[0];
  const int64_t begin = s->slab[lo > reach ? lo - reach : 0] / SIMD_F32 * SIMD_F32;
  const int64_t end = s->slab[lo + reach < s->n_slabs ? lo + reach + 1 : s->n_slabs];
  const float own = s->norm[me.slot];
  const simd_f32 zero = {0};
  row_test t = {.maybe = zero + (job->maybe_sq - own),
                .farthest = zero - ROWS_FAR,
                .own = s->index[me.slot],
                .after = half ? s->after[me.slot] : 0,
                .first = first,
                .last = last,
                .entry = s->entry + s->n_entry,
                .single = s->single};
  for (int d = 0; d < 3; d++)
    t.twice[d] = zero - 2 * s->at[d][me.slot];
  s->norm[me.slot] = ROWS_FAR;
  if (!half) {
    test_part(s, begin, end, TAKE_ALL, &t);
  } else if (split) {
    test_part(s, begin, end, TAKE_SPLIT, &t);
  } else {
    const int64_t after = (s->slab[hi] + SIMD_F32 - 1) / SIMD_F32 * SIMD_F32;
    test_part(s, s->slab[lo] / SIMD_F32 * SIMD_F32, after, TAKE_AFTER, &t);
    test_part(s, after, end, TAKE_ALL, &t);
  }
  s->norm[me.slot] = own;
  if (!simd_all_less(t.farthest, job->sure_sq - own)) {
    const int32_t atom = job->rows[r];
    t.n_shared = keep_near(job, atom, t.entry, t.n_shared);
    t.n_single = keep_near(job, atom, t.single, t.n_single);
  }
  if (split) memcpy(t.entry + t.n_shared, t.single, (size_t)t.n_single * sizeof *t.entry);
  *out = (rows_found){s->n_entry, (int32_t)(t.n_shared + t.n_single),
                      (int32_t)(half ? t.n_shared : 0)};
  s->n_entry += (t.n_shared + t.n_single + 3) / 4 * 4;
}

bool KERNEL(rows_find)(rows_search *s, int64_t first, int count)
{
  const rows_job *job = s->job;
  const neighbor_view *view = &job->list->view;
  int64_t t = tiles_of_row(&job->tiles, first);
  int32_t c = 0, longest = 0;
  s->n_entry = 0;
  for (int k = 0; k < count; k++) {
    const int64_t r = first + k;
    while (job->tiles.tiles[t + 1].first_row <= r)
      t++;
    if (!KERNEL(rows_enter)(s, t)) return false;
    if (!KERNEL(rows_grow)(s, s->n_entry + s->n + 2 * SIMD_F32)) return false;
    while (job->half && view->chunk[c + 1] <= r)
      c++;
    const int32_t begin = job->half ? (int32_t)view->chunk[c] : 0;
    const int32_t end = job->half ? (int32_t)view->chunk[c + 1] : 0;
    if (!job->half)
      find_row(s, r, begin, end, false, false, &s->found[k]);
    else if (job->split)
      find_row(s, r, begin, end, true, true, &s->found[k]);
    else
      find_row(s, r, begin, end, true, false, &s->found[k]);
    longest = s->found[k].count > longest ? s->found[k].count : longest;
  }
  /* Rows are read as far as the longest goes, in fours. */
  return KERNEL(rows_grow)(s, s->n_entry + longest + 8);
}

void KERNEL(rows_free)(rows_search *s)
{
  free(s->at[0]);
  free(s->own);
  free(s->slab);
  free(s->run);
  free(s->entry);
}
