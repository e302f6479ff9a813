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

/* In slice s; f: NULL, or the forces on n atoms that will be added to. */
MD_INLINE void rows_ask_lines(const neighbor_view *list, int64_t s, const void *x, const void *f,
                              int64_t n)
{
  if (!list->line) return;
  const int32_t *line = list->line + list->line_start[s];
  const int32_t *const end = list->line + list->line_start[s + 1];
  for (; line < end; line++) {
    const int64_t at = (int64_t)*line * ROWS_LINE;
    __builtin_prefetch((const char *)x + at);
    if (f && at < n * (int64_t)sizeof(simd_four)) __builtin_prefetch((const char *)f + at, 1);
  }
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

/* What shared entries write to. */
typedef struct {
  simd_four *f;
  const int32_t *home;
  int32_t n;
} reaction;

/* The owned atom that j is, or is a ghost of. */
MD_INLINE int32_t home_of(reaction to, int32_t j)
{
  return j < to.n ? j : to.home[j - to.n];
}

/* Whether there may be a ghost among atoms j: where that is one comparison. */
MD_INLINE bool rows_any_ghost(reaction to, const int32_t *j)
{
#if MD_ISA == 2 && MD_PREC == 2
  return _mm256_cmpge_epi32_mask(_mm256_loadu_si256((const __m256i *)j), _mm256_set1_epi32(to.n)) !=
         0;
#elif MD_ISA == 2
  return _mm512_cmpge_epi32_mask(_mm512_loadu_si512(j), _mm512_set1_epi32(to.n)) != 0;
#else
  (void)to, (void)j;
  return true;
#endif
}

/* Subtract g from the forces on atoms j; a ghost stands for its home. */
MD_INLINE void react(reaction to, const int32_t *j, const simd_real g[3])
{
  simd_four four[SIMD_LANES];
  simd_fours(g, four);
  for (int l = 0; l < SIMD_LANES; l++)
    to.f[home_of(to, j[l])] -= four[l];
}

/* The same for atoms that are no ghosts. */
MD_INLINE void react_owned(reaction to, const int32_t *j, const simd_real g[3])
{
  simd_four four[SIMD_LANES];
  simd_fours(g, four);
  for (int l = 0; l < SIMD_LANES; l++)
    to.f[j[l]] -= four[l];
}

/* The atoms j of entry k in the lanes that share it, in the others their own. */
MD_INLINE void shared_atoms(const int32_t *j, const int32_t *own, const lengths *shared, int32_t k,
                            int32_t *at)
{
  const simd_index both = k < shared->each;
  *(simd_index *)at = (*(const simd_index *)j & both) | (*(const simd_index *)own & ~both);
}

/* The same in the lanes that share entry k; the others bring no force, to their own atom. */
MD_INLINE void react_some(reaction to, const int32_t *j, const int32_t *own, const lengths *shared,
                          int32_t k, const simd_real g[3])
{
  int32_t at[SIMD_LANES];
  shared_atoms(j, own, shared, k, at);
  const simd_mask mask = lanes_with(shared, k);
  const simd_real some[3] = {pair_only(mask, g[0]), pair_only(mask, g[1]), pair_only(mask, g[2])};
  react(to, at, some);
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
