/* neighbor/cpu/halo.prec.c - candidates of a tile: from atoms to the order of bins, from there to
 * halos, see rows_cpu.h.
 *
 * Positions in the order of bins are 32-bit fixed-point numbers, 12 bytes an atom.  A part of a
 * column of bins is about a vector long, and a halo is put together from such parts; a row
 * of a liquid has 14 candidates copied (tiles 1 r_list wide), at two operations a coordinate and
 * vector.
 *
 * Compiled once per precision and instruction set. */
#include "neighbor/cpu/rows_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef simd_i32 loose_i32 __attribute__((aligned(4), may_alias));
typedef simd_u32 loose_u32 __attribute__((aligned(4), may_alias));
typedef simd_f32 loose_f32 __attribute__((aligned(4), may_alias));
typedef int32_t narrow __attribute__((vector_size(4 * SIMD_STATES), aligned(4), may_alias));
/* As many doubles as there are states in a vector. */
typedef double wide __attribute__((vector_size(8 * SIMD_STATES)));
typedef int64_t wide_mask __attribute__((vector_size(8 * SIMD_STATES)));

/* Steps from the corner to the farthest atom. */
static const double FARTHEST = INT32_MAX;

/* Steps from the corner of `count` atoms, at most SIMD_STATES, to `to` from k on; the other lanes
 * repeat the first.  What lies outside is far from every row, as it is at the edge. */
MD_INLINE void load_steps(const rows_job *job, const int32_t *atom, int64_t count,
                          int32_t *const to[3], int64_t k)
{
  int32_t index[SIMD_STATES];
  simd_state at[3];
  for (int64_t l = 0; l < SIMD_STATES; l++)
    index[l] = atom[l < count ? l : 0];
  simd_load_state(job->x, index, at);
  for (int d = 0; d < 3; d++) {
    wide steps = (__builtin_convertvector(at[d], wide) - job->corner[d]) * job->inv_step;
    steps = (wide)((wide_mask)steps & (wide_mask)(steps > 0));
    const wide_mask inside = steps < FARTHEST, far = (wide_mask)((wide){0} + FARTHEST);
    steps = (wide)(((wide_mask)steps & inside) | (far & ~inside));
    *(narrow *)(to[d] + k) = __builtin_convertvector(steps, narrow);
  }
}

/* The corner, the step, and how far floats can be trusted.  Squares in a halo are at most M = 3/4
 * of its extent squared; three sums of multiples of them, of at most 3 M, and what else is rounded
 * leave less than 2^-19 M of a distance squared unsure, hence 2^-20 M / r_list of a distance, to
 * which steps add less than 8: in between, doubles decide. */
static void set_steps(rows_job *job, const md_atoms *atoms)
{
  const neighbor_grid *g = &job->list->grid;
  const md_box *span = &job->list->span;
  const double reach = job->list->r_near;
  double extent = reach, longest = 0;
  for (int d = 0; d < 3; d++) {
    const double around = 2 * (g->margin[d] * g->side[d] + atoms->r_ghost);
    const double edge = span->hi[d] - span->lo[d];
    job->corner[d] = span->lo[d] - around;
    longest = fmax(longest, edge + 2 * around);
    extent = fmax(extent, 3 * reach + (g->margin[d] + 1) * g->side[d]);
  }
  const double step = longest * (1 + 0x1p-20) / FARTHEST;
  const double wrong = 0x1p-20 * extent * extent / reach + 8 * step;
  const double sure = fmax(0, reach - wrong), maybe = reach + wrong;
  job->inv_step = 1 / step;
  job->reach_sq = reach * reach;
  job->sure_sq = (float)(sure * sure / (step * step));
  job->maybe_sq = (float)(maybe * maybe / (step * step));
}

/* For half lists: whose row a candidate belongs to, and its place in the order of pairs
 * (rows_cpu.h), given that its bin begins and ends there along axis 0. Without newton, or of
 * another rank's atom, a ghost has no row. */
static void set_owner(rows_job *job, int64_t p, int32_t begin, int32_t end)
{
  const int32_t atom = job->tiles.place[p], at = job->at[0][p];
  const int32_t inside = at < begin ? begin : at < end ? at : end - 1, along = inside & ~3;
  const int64_t ghost = atom - job->n;
  if (ghost < 0) {
    job->row[p] = job->row_of[atom];
    job->after[p] = along + 1;
    return;
  }
  const bool shares = job->list->spec.newton && job->home[ghost] >= 0;
  const int32_t shift = job->shift[ghost];
  int s[3];
  md_shift_unpack(shift, s);
  job->row[p] = shares ? job->row_of[job->home[ghost]] : -1;
  job->after[p] = s[0] > 0 ? INT32_MAX : s[0] < 0 ? -1 : along + (shift > 0 ? 2 : 0);
}

/* Where bin i of axis 0 begins, in fours of steps. */
static int32_t slab_begin(const rows_job *job, int32_t i)
{
  const neighbor_grid *g = job->tiles.grid;
  const double at = g->lo[0] + (i - g->margin[0] + g->first[0]) * g->side[0] - job->corner[0];
  const double steps = at * job->inv_step;
  return (int32_t)(steps > 0 ? fmin(steps, FARTHEST) : 0) & ~3;
}

/* Rows look ahead along axis 0, unless a bin there is but a few steps. */
static void set_owners(rows_job *job)
{
  const neighbor_grid *g = job->tiles.grid;
  const int64_t slab = (int64_t)g->n[1] * g->n[2];
  if (g->side[0] * job->inv_step < 8) job->split = true;
#pragma omp parallel for schedule(static) num_threads(job->list->ctx->threads)
  for (int32_t i = 0; i < g->n[0]; i++) {
    const int32_t begin = slab_begin(job, i), end = slab_begin(job, i + 1);
    const int32_t *const start = job->tiles.bin_start + i * slab;
    for (int64_t p = start[0]; p < start[slab]; p++)
      set_owner(job, p, begin, end);
  }
}

md_status KERNEL(rows_prepare)(rows_job *job, const md_atoms *atoms)
{
  md_ctx *ctx = job->list->ctx;
  const int64_t count = job->n + atoms->n_ghost, stride = count + SIMD_F32;
  /* What sorting permutes atoms with lies idle. */
  md_buffer *work = &job->list->spare[0];
  const int arrays = job->half ? 5 : 3;
  MD_TRY(md_buffer_reserve(ctx, work, (size_t)(arrays * stride) * sizeof(int32_t), 0));
  for (int d = 0; d < 3; d++)
    job->at[d] = (int32_t *)work->data + d * stride;
  job->row = job->at[2] + stride;
  job->after = job->row + stride;
  set_steps(job, atoms);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t p = 0; p < count; p += SIMD_STATES)
    load_steps(job, job->tiles.place + p, count - p, job->at, p);
  if (job->half) set_owners(job);
  return MD_OK;
}

/* Room for n candidates and two vectors. */
static bool make_room(rows_search *s, int64_t n)
{
  if (n + 2 * SIMD_F32 <= s->room) return true;
  const int64_t room = (n + n / 2) / SIMD_F32 * SIMD_F32 + 2 * SIMD_F32;
  free(s->at[0]);
  s->room = 0;
  s->at[0] = aligned_alloc(SIMD_BYTES, (size_t)(8 * room) * sizeof(float));
  if (!s->at[0]) return false;
  s->at[1] = s->at[0] + room;
  s->at[2] = s->at[1] + room;
  s->norm = s->at[2] + room;
  s->index = (int32_t *)(s->norm + room);
  s->row = s->index + room;
  s->after = s->row + room;
  s->single = s->after + room;
  s->room = room;
  return true;
}

static bool grow_runs(rows_search *s, int64_t n)
{
  if (!s->slab) s->slab = malloc((size_t)(s->job->tiles.grid->n[0] + 1) * sizeof *s->slab);
  if (s->slab && n <= s->run_room) return true;
  free(s->run);
  s->run = s->slab ? malloc((size_t)(2 * n) * sizeof *s->run) : NULL;
  s->run_room = s->run ? 2 * n : 0;
  return s->run;
}

/* Room for the rows of tile t. */
static bool grow_own(rows_search *s, const tile *t)
{
  const int64_t n = t[1].first_row - t->first_row;
  if (n <= s->own_room) return true;
  free(s->own);
  s->own = malloc((size_t)(2 * n) * sizeof *s->own);
  s->own_room = s->own ? 2 * n : 0;
  return s->own;
}

/* The parts of columns that tile t can reach, slab by slab, and room for what is in them.  They lie
 * far apart: all are asked for before the first is needed. */
static bool find_runs(rows_search *s, const tile *t)
{
  const tiling *ts = &s->job->tiles;
  const neighbor_grid *g = ts->grid;
  const int32_t i0 = t->lo[0] > g->margin[0] ? t->lo[0] - g->margin[0] : 0;
  const int32_t i1 = t->hi[0] < g->n[0] - g->margin[0] ? t->hi[0] + g->margin[0] + 1 : g->n[0];
  const int32_t j0 = t->lo[1] > g->margin[1] ? t->lo[1] - g->margin[1] : 0;
  const int32_t j1 = t->hi[1] < g->n[1] - g->margin[1] ? t->hi[1] + g->margin[1] + 1 : g->n[1];
  if (!grow_runs(s, (int64_t)(i1 - i0) * (j1 - j0))) return false;
  rows_run *run = s->run;
  int64_t most = 0;
  s->n_slabs = i1 - i0;
  for (int32_t i = i0; i < i1; i++) {
    s->slab[i - i0] = run - s->run;
    for (int32_t j = j0; j < j1; j++) {
      int64_t begin, end;
      if (!tiles_column(ts, t, i, j, &begin, &end)) continue;
      for (int d = 0; d < 3; d++)
        __builtin_prefetch(s->job->at[d] + begin);
      __builtin_prefetch(ts->place + begin);
      *run = (rows_run){(int32_t)begin, (int32_t)end, 0, 0};
      if (t->lo[0] <= i && i <= t->hi[0] && t->lo[1] <= j && j <= t->hi[1])
        tiles_own(ts, t, i, j, &run->own_begin, &run->own_end);
      run++;
      most += end - begin;
    }
  }
  s->slab[s->n_slabs] = run - s->run;
  return make_room(s, most);
}

/* Copy a part of a column to the end of the halo, whole vectors: what lies behind the part is
 * anything, hence unsigned differences. */
MD_INLINE void take_run(rows_search *s, const rows_run *run, const int32_t middle[3], bool half)
{
  const rows_job *job = s->job;
  for (int64_t p = run->begin; p < run->end; p += SIMD_F32) {
    const int64_t c = s->n + (p - run->begin);
    simd_f32 norm = {0};
    for (int d = 0; d < 3; d++) {
      const simd_f32 at = __builtin_convertvector(
          (simd_i32)(*(const loose_u32 *)(job->at[d] + p) - (uint32_t)middle[d]), simd_f32);
      *(loose_f32 *)(s->at[d] + c) = at;
      norm += at * at;
    }
    *(loose_f32 *)(s->norm + c) = norm;
    *(loose_i32 *)(s->index + c) = *(const loose_i32 *)(job->tiles.place + p);
    if (!half) continue;
    *(loose_i32 *)(s->row + c) = *(const loose_i32 *)(job->row + p);
    *(loose_i32 *)(s->after + c) = *(const loose_i32 *)(job->after + p);
  }
}

MD_INLINE void fill_halo(rows_search *s, const tile *t, bool half)
{
  const rows_job *job = s->job;
  const neighbor_grid *g = job->tiles.grid;
  rows_own *own = s->own;
  int32_t middle[3];
  for (int d = 0; d < 3; d++) {
    const double bins = 0.5 * (t->lo[d] + t->hi[d] + 1) - g->margin[d] + g->first[d];
    middle[d] = (int32_t)((g->lo[d] + bins * g->side[d] - job->corner[d]) * job->inv_step);
  }
  s->n = 0;
  for (int32_t i = 0; i < s->n_slabs; i++) {
    const rows_run *const end = s->run + s->slab[i + 1];
    const rows_run *run = s->run + s->slab[i];
    s->slab[i] = s->n;
    for (; run < end; run++) {
      take_run(s, run, middle, half);
      for (int32_t p = run->own_begin; p < run->own_end; p++)
        if (job->tiles.place[p] < job->n) *own++ = (rows_own){(int32_t)s->n + p - run->begin, i};
      s->n += run->end - run->begin;
    }
  }
  s->slab[s->n_slabs] = s->n;
  for (int l = 0; l < SIMD_F32; l++) {
    s->at[0][s->n + l] = s->at[1][s->n + l] = s->at[2][s->n + l] = 0;
    s->norm[s->n + l] = ROWS_FAR;
  }
}

bool KERNEL(rows_enter)(rows_search *s, int64_t number)
{
  if (s->tile == number) return true;
  s->tile = -1;
  const tile *t = &s->job->tiles.tiles[number];
  if (!find_runs(s, t) || !grow_own(s, t)) return false;
  if (s->job->half)
    fill_halo(s, t, true);
  else
    fill_halo(s, t, false);
  s->tile = number;
  return true;
}
