/* force/rows_cpu.h - rows of a neighbour list as CPU kernels walk along them: one atom a lane, how
 * many entries the lanes have, and what entries that both atoms share do to the other one. */
#ifndef ROWS_CPU_H
#define ROWS_CPU_H

#include "force/pair_cpu.h"

typedef int32_t simd_index __attribute__((vector_size(4 * SIMD_LANES), aligned(4), may_alias));

/* The components of SIMD_LANES structures of four reals. */
MD_INLINE void rows_load_fours(const real *base, const int32_t *index, simd_real out[4])
{
#if MD_PREC == 2
  simd_load_fours_f64(base, index, out);
#else
  simd_load_fours(base, index, out);
#endif
}

/* Coordinates are prefetched where a list says which (neighbor_view.line); the list itself some
 * bytes ahead, further than processors do by themselves. */
enum { ROWS_LINE = 64, ROWS_LIST_AHEAD = 16384 };

/* In slice s; f: NULL, or the forces that will be added to. */
MD_INLINE void rows_ask_lines(const neighbor_view *list, int64_t s, const void *x, const void *f)
{
  if (!list->line) return;
  const int32_t *line = list->line + list->line_start[s];
  const int32_t *const end = list->line + list->line_start[s + 1];
  for (; line < end; line++) {
    const int64_t at = (int64_t)*line * ROWS_LINE;
    __builtin_prefetch((const char *)x + at);
    if (f) __builtin_prefetch((const char *)f + at, 1);
  }
}

/* Whether forces are to be asked for, too: those of shorter chunks stay in the second cache, where
 * asking costs 2 to 8 % of a step, as threads take lines at borders of chunks from each other. */
enum { ROWS_KEPT = 32768 };
MD_INLINE bool rows_ask_forces(const neighbor_view *list)
{
  return list->n_rows > (int64_t)ROWS_KEPT * list->n_chunks;
}

/* For `entries` of a slice. */
MD_INLINE void rows_ask_list(const int32_t *nbr, int entries)
{
  for (int64_t at = 0; at < (int64_t)sizeof(int32_t) * SIMD_LANES * entries; at += ROWS_LINE)
    __builtin_prefetch((const char *)nbr + ROWS_LIST_AHEAD + at);
}

/* Lanes at the start of which rows still have entries. */
typedef struct {
  int32_t all, any; /* entries of the shortest and the longest row */
  simd_index each;
} lengths;

static inline lengths lengths_of(const int32_t *count)
{
  lengths n = {count[0], count[0], *(const simd_index *)count};
  for (int l = 1; l < SIMD_LANES; l++) {
    n.all = count[l] < n.all ? count[l] : n.all;
    n.any = count[l] > n.any ? count[l] : n.any;
  }
  return n;
}

/* The lanes whose rows have an entry k, as a mask of pairs. */
MD_INLINE simd_mask lanes_with(const lengths *n, int32_t k)
{
  return __builtin_convertvector(k < n->each, simd_mask);
}

/* Vectors of (x, y, z) as structures {x, y, z, 0} in memory, where each is loaded in one piece:
 * taken out of a register each costs the port that shuffles an instruction. Those of lanes l, l +
 * ROWS_EACH, ... lie one behind the other. */
typedef struct {
  simd_real part[4];
} rows_fours;
enum { ROWS_EACH = MD_PREC == 2 ? 2 : 4 };

MD_INLINE void rows_turn(const simd_real g[3], rows_fours *out)
{
  const simd_real zero = {0};
#if MD_PREC == 2
  const simd_f64 xy[2] = {SIMD_LO64(g[0], g[1]), SIMD_HI64(g[0], g[1])};
  const simd_f64 z[2] = {SIMD_LO64(g[2], zero), SIMD_HI64(g[2], zero)};
  for (int k = 0; k < 2; k++) {
#if MD_ISA == 0
    out->part[2 * k] = xy[k];
    out->part[2 * k + 1] = z[k];
#elif MD_ISA == 1
    out->part[2 * k] = SIMD_MIX_(xy[k], z[k], 0, 1, 4, 5);
    out->part[2 * k + 1] = SIMD_MIX_(xy[k], z[k], 2, 3, 6, 7);
#else
    out->part[2 * k] = SIMD_MIX_(xy[k], z[k], 0, 1, 8, 9, 2, 3, 10, 11);
    out->part[2 * k + 1] = SIMD_MIX_(xy[k], z[k], 4, 5, 12, 13, 6, 7, 14, 15);
#endif
  }
#else
  const simd_f64 low[2] = {(simd_f64)SIMD_LO32(g[0], g[1]), (simd_f64)SIMD_LO32(g[2], zero)};
  const simd_f64 high[2] = {(simd_f64)SIMD_HI32(g[0], g[1]), (simd_f64)SIMD_HI32(g[2], zero)};
  out->part[0] = (simd_f32)SIMD_LO64(low[0], low[1]);
  out->part[1] = (simd_f32)SIMD_HI64(low[0], low[1]);
  out->part[2] = (simd_f32)SIMD_LO64(high[0], high[1]);
  out->part[3] = (simd_f32)SIMD_HI64(high[0], high[1]);
#endif
  __asm__("" : "+m"(*out)); /* no compiler looks through memory */
}

/* That of lane l. */
MD_INLINE const simd_four *rows_four(const rows_fours *from, int l)
{
  return (const simd_four *)from + l % ROWS_EACH * (SIMD_LANES / ROWS_EACH) + l / ROWS_EACH;
}

/* Subtract g, as rows_turn gives it, from the forces on atoms and ghosts j. */
MD_INLINE void react_turned(simd_four *f, const int32_t *j, const rows_fours *g)
{
  for (int l = 0; l < SIMD_LANES; l++)
    f[j[l]] -= *rows_four(g, l);
}

/* The same of components. */
MD_INLINE void react(simd_four *f, const int32_t *j, const simd_real g[3])
{
  rows_fours four;
  rows_turn(g, &four);
  react_turned(f, j, &four);
}

/* The atoms j of entry k in the lanes that share it, in the others their own. */
MD_INLINE void shared_atoms(const int32_t *j, const int32_t *own, const lengths *shared, int32_t k,
                            int32_t *at)
{
  const simd_index both = k < shared->each;
  *(simd_index *)at = (*(const simd_index *)j & both) | (*(const simd_index *)own & ~both);
}

/* The same in the lanes that share entry k; the others bring no force, to their own atom. */
MD_INLINE void react_some(simd_four *f, const int32_t *j, const int32_t *own, const lengths *shared,
                          int32_t k, const simd_real g[3])
{
  int32_t at[SIMD_LANES];
  shared_atoms(j, own, shared, k, at);
  const simd_mask mask = lanes_with(shared, k);
  const simd_real some[3] = {pair_only(mask, g[0]), pair_only(mask, g[1]), pair_only(mask, g[2])};
  react(f, at, some);
}

/* Tallies of full lists are summed over PARTS equal parts, then over the parts: one result for any
 * threads.  In a deterministic context each atom's, which is that of a lane, is added without
 * rounding: one result for any order of atoms. */
enum { PARTS = 256 };

static inline int64_t slices_before(int64_t row)
{
  return (row + SIMD_LANES - 1) / SIMD_LANES;
}

static inline md_status reserve_parts(force *fc, int64_t n)
{
  return md_buffer_reserve(fc->ctx, &fc->partial, (size_t)n * sizeof(accum[2]), 0);
}

static inline void add_parts(const force_job *job, int64_t n)
{
  accum(*part)[2] = job->fc->partial.data;
  for (int64_t p = 0; job->tally && p < n; p++) {
    job->tally->energy += part[p][0];
    job->tally->virial += part[p][1];
  }
}

static inline md_status reserve_exact(force *fc, exact_sum (**out)[2])
{
  const size_t bytes = PARTS * sizeof **out;
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->exact, bytes, 0));
  *out = fc->exact.data;
  return md_fill(fc->ctx, *out, 0, bytes);
}

static inline void join_exact(const force_job *job, exact_sum (*exact)[2])
{
  force_tally *tally = job->tally;
  for (int p = 0; p < PARTS; p++)
    for (int k = 0; k < 2; k++)
      exact_join(&tally->exact[k], &exact[p][k]);
  tally->energy = exact_value(&tally->exact[0]);
  tally->virial = exact_value(&tally->exact[1]);
}

/* What a slice's atoms bring, one after the other. */
static inline void add_exactly(const force_job *job, int64_t s, const pair_sums *sums,
                               exact_sum *to)
{
  for (int l = 0; l < SIMD_LANES && s * SIMD_LANES + l < job->list->n_rows; l++) {
    exact_add(&to[0], sums->energy[l]);
    exact_add(&to[1], sums->virial[l] / job->coord_scale);
  }
}

#endif
