/* force/eam/eam_cpu.prec.c - forces of embedded atoms from full and half lists on the CPU.
 *
 * Two passes over one list, lanes as in force_cpu.prec.c: densities rho_i of all atoms, then F and
 * F' of each, then forces
 *     -[ phi'(r) + (F'(rho_i) + F'(rho_j)) rho'(r) ] (x_i - x_j) / r
 * which need F' of both atoms, a ghost's being that of its home.  Each lane loads the coefficients
 * of its knot as one or two structures of four (eam_pair_cpu.h).
 *
 * Bytes a pair: twice 4 + a coord4, in the second pass with F' beside it, and a quarter and half a
 * cache line of knots in double, which 2000 knots keep in the second cache; in single precision
 * they are in the first.
 * Compiled once per precision and instruction set. */
#include "force/eam/eam_pair_cpu.h"

#include <string.h>

/* Each pass takes BATCH vectors through stages: where their distances lie between knots, then what
 * the knots say, then what others get of it.  A vector waits for coordinates, a root and knots in
 * turn; those of a batch wait together. */
enum { BATCH = 8 };

/* How many of n entries from k on a batch takes. */
MD_INLINE int32_t batch_of(int32_t n, int32_t k)
{
  return n - k < BATCH ? n - k : BATCH;
}

/* The rows of a slice as both passes walk along them: entries that were near in pass 1, so many in
 * each lane, of them shared.  Behind the last of a lane lies its own atom. */
typedef struct {
  const int32_t *own, *nbr;
  int32_t any; /* of the longest row */
  simd_mask each;
  lengths shared; /* half lists */
  bool all;       /* every entry is shared */
} eam_rows;

MD_INLINE eam_rows eam_rows_of(const force_job *job, int64_t s, bool half)
{
  const int64_t row = s * SIMD_LANES;
  const int32_t *near = job->fc->near.data, *count = job->fc->near_count.data;
  const lengths all = lengths_of(count + 2 * row);
  eam_rows rows = {.own = job->list->atom + row,
                   .nbr = near + job->list->start[s],
                   .any = all.any,
                   .each = __builtin_convertvector(all.each, simd_mask)};
  if (!half) return rows;
  rows.shared = lengths_of(count + 2 * row + SIMD_LANES);
  rows.all = memcmp(count + 2 * row, count + 2 * row + SIMD_LANES, sizeof all.each) == 0;
  return rows;
}

/* Pick from the rows of slice s the entries that are near, in their order: every entry goes where
 * the next near one of its lane belongs. */
MD_INLINE void slice_near(const force_job *job, const eam_constants *c, int64_t s, bool half)
{
  const neighbor_view *list = job->list;
  const int64_t row = s * SIMD_LANES;
  const int32_t *own = list->atom + row, *nbr = list->nbr + list->start[s];
  const lengths count = lengths_of(list->count + row);
  const simd_mask each = __builtin_convertvector(count.each, simd_mask);
  const simd_index shared = *(const simd_index *)((half ? list->shared : list->count) + row);
  int32_t *near = (int32_t *)job->fc->near.data + list->start[s], to[BATCH][SIMD_LANES];
  int32_t *found = (int32_t *)job->fc->near_count.data + 2 * row;
  const int64_t width = list->start[s + 1] - list->start[s];
  simd_index n = {0}, n_shared = {0}, lane;
  simd_coord i[3];
  for (int l = 0; l < SIMD_LANES; l++)
    lane[l] = l;
  simd_load_coord(job->coord, own, i);
  rows_ask_lines(list, s, job->coord, NULL);
  for (int32_t k = 0; k < count.any; k += BATCH, nbr += BATCH * SIMD_LANES) {
    const int32_t some = batch_of(count.any, k);
    for (int32_t e = 0; e < some; e++) {
      simd_real d[3];
      rows_ask_list(nbr + e * SIMD_LANES, 1);
      __builtin_prefetch(near + width + (k + e) * SIMD_LANES, 1);
      const simd_real r_sq = eam_see(c, i, job->coord, nbr + e * SIMD_LANES, d, NULL);
      const simd_mask far = r_sq >= c->r_cut_sq; /* a NaN is near, and shows */
      const simd_mask is_near = eam_lanes(each, k + e) & ~far;
      *(simd_index *)to[e] = n * SIMD_LANES + lane;
      n = eam_count(n, is_near);
      if (half) n_shared -= __builtin_convertvector(is_near, simd_index) & (k + e < shared);
    }
    for (int32_t e = 0; e < some; e++)
      for (int l = 0; l < SIMD_LANES; l++)
        near[to[e][l]] = nbr[e * SIMD_LANES + l];
  }
  *(simd_index *)found = n;
  *(simd_index *)(found + SIMD_LANES) = half ? n_shared : n;
  const lengths ends = lengths_of(found);
  for (int32_t k = ends.all; k < ends.any; k++) {
    simd_index *at = (simd_index *)(near + k * SIMD_LANES);
    *at = (*at & (k < n)) | (*(const simd_index *)own & ~(k < n));
  }
}

/* Add to the densities of atoms and ghosts j. */
MD_INLINE void thicken(real *density, const int32_t *j, const real rho[SIMD_LANES])
{
  for (int l = 0; l < SIMD_LANES; l++)
    density[j[l]] += rho[l];
}

/* The densities that a batch brings from entry k on, to atoms that share them. */
MD_INLINE void share_batch(real *density, const eam_rows *rows, int32_t k,
                           const simd_real rho[BATCH])
{
  for (int32_t e = 0; e < BATCH && k + e < rows->shared.any; e++) {
    const int32_t *nbr = rows->nbr + (int64_t)(k + e) * SIMD_LANES;
    if (rows->all) {
      thicken(density, nbr, (const real *)&rho[e]);
      continue;
    }
    const simd_real part = pair_only(lanes_with(&rows->shared, k + e), rho[e]);
    int32_t at[SIMD_LANES];
    shared_atoms(nbr, rows->own, &rows->shared, k + e, at);
    thicken(density, at, (const real *)&part);
  }
}

/* Densities of the atoms of slice s, stored (full) or added to them and those that share (half). */
MD_INLINE void slice_densities(const force_job *job, const eam_constants *c, int64_t s, bool half)
{
  const eam_rows rows = eam_rows_of(job, s, half);
  const int64_t left = job->list->n_rows - s * SIMD_LANES;
  real *density = job->fc->density.data;
  simd_coord i[3];
  eam_spots batch[BATCH];
  simd_real sum = {0}, rho[BATCH];
  simd_load_coord(job->coord, rows.own, i);
  for (int32_t k = 0; k < rows.any; k += BATCH) {
    const int32_t some = batch_of(rows.any, k);
    for (int32_t e = 0; e < some; e++) {
      simd_real d[3];
      const int32_t *nbr = rows.nbr + (int64_t)(k + e) * SIMD_LANES;
      eam_locate(c, eam_see(c, i, job->coord, nbr, d, NULL), false, &batch[e]);
    }
    for (int32_t e = 0; e < some; e++)
      sum += rho[e] = pair_only(eam_lanes(rows.each, k + e), eam_rho(c, &batch[e]));
    if (half) share_batch(density, &rows, k, rho);
  }
  for (int l = 0; l < SIMD_LANES && l < left; l++)
    density[rows.own[l]] = half ? density[rows.own[l]] + sum[l] : sum[l];
}

/* Pairs between the stages of the second pass; slopes: F' of both atoms, added. */
typedef struct {
  simd_real d[3], slopes;
  eam_spots at;
} force_pairs;

/* x: coordinates, with F' of each atom beside them. */
MD_INLINE void pull_batch(const void *x, const eam_constants *c, const simd_coord i[3],
                          simd_real slope_i, const int32_t *nbr, int32_t some,
                          force_pairs batch[BATCH])
{
  for (int32_t e = 0; e < some; e++, nbr += SIMD_LANES) {
    force_pairs *out = &batch[e];
    simd_real slope;
    eam_locate(c, eam_see(c, i, x, nbr, out->d, &slope), true, &out->at);
    *(simd_index *)out->at.m *= EAM_FOURS;
    out->slopes = slope_i + slope;
  }
}

/* Subtract g from the forces on the atoms of entry k that share it. */
MD_INLINE void react_shared(simd_four *f, const eam_rows *rows, int32_t k, const simd_real g[3])
{
  const int32_t *nbr = rows->nbr + (int64_t)k * SIMD_LANES;
  if (rows->all)
    react(f, nbr, g);
  else
    react_some(f, nbr, rows->own, &rows->shared, k, g);
}

/* Energy and virial of pairs of squared distances by d, whose forces over r are `pull`. */
MD_INLINE void eam_tally(const eam_constants *c, simd_real weight, simd_real energy, simd_real pull,
                         const simd_real d[3], pair_sums *sums)
{
  const simd_real r_sq = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  sums->energy += __builtin_convertvector(weight * energy, simd_accum);
  sums->virial += __builtin_convertvector(weight * pull * r_sq * c->unit_sq, simd_accum);
}

/* Forces of slice s, as slice_forces of force_cpu.prec.c. */
MD_INLINE void slice_forces(const force_job *job, const eam_constants *c, int64_t s, bool half,
                            pair_sums *sums)
{
  const eam_rows rows = eam_rows_of(job, s, half);
  const int32_t *own = rows.own;
  const int64_t left = job->list->n_rows - s * SIMD_LANES;
  simd_four *const to = job->f;
  const simd_real one = (simd_real){0} + 1, slope_i = pair_charges(job->fc->slope.data, own);
  const void *x = job->fc->packed.data;
  force_pairs batch[BATCH];
  simd_coord i[3];
  simd_real f[3] = {{0}, {0}, {0}}, g[3], energy;
  simd_load_coord(x, own, i);
  rows_ask_lines(job->list, s, x, half && rows_ask_forces(job->list) ? to : NULL);
  for (int32_t k = 0; k < rows.any; k += BATCH) {
    const int32_t some = batch_of(rows.any, k);
    pull_batch(x, c, i, slope_i, rows.nbr + (int64_t)k * SIMD_LANES, some, batch);
    for (int32_t e = 0; e < some; e++) {
      const simd_mask near = eam_lanes(rows.each, k + e);
      const simd_real *d = batch[e].d;
      const simd_real pull =
          pair_only(near, eam_pull(c, &batch[e].at, batch[e].slopes, sums ? &energy : NULL));
      for (int a = 0; a < 3; a++) {
        f[a] = simd_fma(pull, d[a], f[a]);
        g[a] = pull * d[a];
      }
      if (half && k + e < rows.shared.any) react_shared(to, &rows, k + e, g);
      if (!sums) continue;
      simd_real weight = one / 2; /* seen from both atoms */
      if (half) weight += (simd_real)((simd_mask)weight & lanes_with(&rows.shared, k + e));
      eam_tally(c, weight, pair_only(near, energy), pull, d, sums);
    }
  }
  simd_four four[SIMD_LANES];
  simd_fours(f, four);
  for (int l = 0; l < SIMD_LANES && l < left; l++)
    if (half)
      to[own[l]] += four[l];
    else
      to[own[l]] = four[l];
}

/* Slices begin..end; tally (energy and virial) may be NULL; exact, unless NULL, is used in its
 * place. */
MD_INLINE void slices(const force_job *job, int64_t begin, int64_t end, bool half, accum *tally,
                      exact_sum *exact)
{
  const eam_constants c = eam_round(job);
  pair_sums sums = {0};
  for (int64_t s = begin; s < end; s++) {
    pair_sums part = {0}; /* sums of sums lose fewer digits */
    slice_forces(job, &c, s, half, tally ? &part : NULL);
    if (exact) add_exactly(job, s, &part, exact);
    sums.energy += part.energy;
    sums.virial += part.virial;
  }
  if (tally) pair_add(job, &sums, tally);
}

MD_INLINE void run(const force_job *job, int64_t begin, int64_t end, bool half, accum *part,
                   exact_sum *exact)
{
  part[0] = part[1] = 0;
  if (exact)
    slices(job, begin, end, half, part, exact);
  else if (job->tally)
    slices(job, begin, end, half, part, NULL);
  else
    slices(job, begin, end, half, NULL, NULL);
}

#include "force/rows_run.h"

static md_status reserve(force *fc, const force_job *job)
{
  const size_t n = (size_t)job->n, all = n + (size_t)job->n_ghost;
  const int64_t n_slices = slices_before(job->list->n_rows), entries = job->list->start[n_slices];
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->near, (size_t)entries * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->near_count,
                           (size_t)n_slices * 2 * SIMD_LANES * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->density, all * sizeof(real), 0));
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->packed, all * 4 * sizeof(coord), 0));
  return md_buffer_reserve(fc->ctx, &fc->slope, all * sizeof(real), 0);
}

/* Coordinates with F' beside them, so that one load brings both. */
static void place_slopes(force *fc, const force_job *job)
{
  const int64_t n = job->n + job->n_ghost;
  const coord *x = job->coord;
  const real *slope = fc->slope.data;
  coord *to = fc->packed.data;
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads)
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++)
      to[4 * i + d] = x[4 * i + d];
    memcpy(&to[4 * i + 3], &slope[i], sizeof *slope);
  }
}

/* F and F' of all atoms; F' of ghosts.  exact, unless NULL, gets sum F in the tally's place. */
static md_status embed(force *fc, const force_job *job, exact_sum (*exact)[2])
{
  MD_TRY(reserve_parts(fc, PARTS));
  const real *density = fc->density.data;
  real *slope = fc->slope.data;
  accum(*part)[2] = fc->partial.data;
  int64_t beyond = 0;
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads) reduction(+ : beyond)
  for (int p = 0; p < PARTS; p++) {
    part[p][0] = part[p][1] = 0;
    for (int64_t i = job->n * p / PARTS; i < job->n * (p + 1) / PARTS; i++) {
      double d;
      const double u = eam_embed(fc->eam, density[i], &d);
      part[p][0] += u;
      if (exact) exact_add(&exact[p][0], u);
      slope[i] = (real)d;
      beyond += eam_embed_beyond(fc->eam, density[i]);
    }
  }
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads)
  for (int64_t g = 0; g < job->n_ghost; g++)
    if (job->home[g] >= 0) slope[job->n + g] = slope[job->home[g]];
  if (fc->fill) MD_TRY(fc->fill(fc->fill_arg, slope));
  place_slopes(fc, job);
  fc->beyond += beyond;
  if (!exact) add_parts(job, PARTS);
  return MD_OK;
}

md_status KERNEL(eam_cpu_full)(force *fc, const force_job *job)
{
  MD_TRY(reserve(fc, job));
  const eam_constants c = eam_round(job);
  const int64_t n = slices_before(job->list->n_rows);
  exact_sum(*exact)[2] = NULL;
  if (job->tally && job->tally->is_exact) MD_TRY(reserve_exact(fc, &exact));
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads)
  for (int64_t s = 0; s < n; s++) {
    slice_near(job, &c, s, false);
    slice_densities(job, &c, s, false);
  }
  MD_TRY(embed(fc, job, exact));
  rows_run_full(job, exact);
  return MD_OK;
}

md_status KERNEL(eam_cpu_half)(force *fc, const force_job *job)
{
  MD_TRY(reserve(fc, job));
  const eam_constants constants = eam_round(job);
  const neighbor_view *list = job->list;
#pragma omp parallel for schedule(static, 1) num_threads(fc->ctx->threads)
  for (int32_t c = 0; c < list->n_chunks; c++) {
    rows_run_half_open(job, c, fc->density.data, 1);
    for (int64_t s = slices_before(list->chunk[c]); s < slices_before(list->chunk[c + 1]); s++) {
      slice_near(job, &constants, s, true);
      slice_densities(job, &constants, s, true);
    }
    rows_run_half_close(job, c, fc->density.data, 1);
  }
  MD_TRY(embed(fc, job, NULL));
  return rows_run_half(fc, job);
}
