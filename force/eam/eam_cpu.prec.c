/* force/eam/eam_cpu.prec.c - forces of embedded atoms from full and half lists on the CPU.
 *
 * Two passes over one list, lanes as in force_cpu.prec.c: densities rho_i of all atoms, then F and
 * F' of each, then forces
 *     -[ phi'(r) + (F'(rho_i) + F'(rho_j)) rho'(r) ] (x_i - x_j) / r
 * which need F' of both atoms, a ghost's being that of its home.  Each lane loads the coefficients
 * of its knot as one or two structures of four.
 *
 * Bytes a pair: twice 4 + a coord4, a real of F', and a quarter and half a cache line of knots in
 * double, which 2000 knots keep in the second cache.  Compiled once per precision and instruction
 * set. */
#include "force/rows_cpu.h"

typedef struct {
  real r_cut_sq, unit, unit_sq; /* coord_scale and its square */
  real inv_step, last;          /* knots a length; the last one that begins an interval */
} eam_constants;

static eam_constants eam_round(const force_job *job)
{
  const eam_potential *eam = job->fc->eam;
  return (eam_constants){(real)(eam->cutoff * eam->cutoff), (real)job->coord_scale,
                         (real)(job->coord_scale * job->coord_scale), (real)(1 / eam->pair.step),
                         (real)(eam->pair.n - 2)};
}

/* A vector of pairs: d in units of coord_scale, and in which lanes the two are near. */
typedef struct {
  simd_real d[3], r_sq;
  simd_mask near;
} eam_pairs;

MD_INLINE eam_pairs eam_see(const eam_constants *c, const simd_coord i[3], const void *x,
                            const int32_t *nbr, simd_mask valid)
{
  eam_pairs out;
  simd_coord j[3];
  simd_load_coord(x, nbr, j);
  for (int k = 0; k < 3; k++)
    out.d[k] = pair_difference(i[k], j[k]);
  out.r_sq = simd_fma(out.d[1], out.d[1], out.d[0] * out.d[0]);
  out.r_sq = simd_fma(out.d[2], out.d[2], out.r_sq);
#if MD_PREC == 1
  out.r_sq *= c->unit_sq;
#endif
  out.near = valid & ~(simd_mask)(out.r_sq >= c->r_cut_sq); /* a NaN is near, and shows */
  return out;
}

/* Where distances lie between knots: those before them, and how far on the way to the next. */
typedef struct {
  int32_t m[SIMD_LANES];
  simd_real p;
} eam_spots;

MD_INLINE void eam_locate(const eam_constants *c, simd_real r, eam_spots *out)
{
  const simd_real t = r * c->inv_step, one = (simd_real){0} + 1;
  const simd_mask inside = t < c->last;
  const simd_real at =
      (simd_real)(((simd_mask)t & inside) | ((simd_mask)(one * c->last) & ~inside));
  const simd_index knot = __builtin_convertvector(at, simd_index);
  *(simd_index *)out->m = knot;
  const simd_real p = t - __builtin_convertvector(knot, simd_real);
  const simd_mask over = p > one;
  out->p = (simd_real)(((simd_mask)p & ~over) | ((simd_mask)one & over));
}

/* Each pass takes BATCH vectors through two stages: where their distances lie between knots, then
 * what the knots say.  A vector waits for coordinates, a root and knots in turn; those of a batch
 * wait together. */
enum { BATCH = 8 };

/* The rows of a slice as both passes walk along them: entries that were near in pass 1. */
typedef struct {
  const int32_t *own, *nbr;
  lengths count, shared;
} eam_rows;

MD_INLINE eam_rows eam_rows_of(const force_job *job, int64_t s, bool half)
{
  const int64_t row = s * SIMD_LANES;
  const int32_t *near = job->fc->near.data, *count = job->fc->near_count.data;
  const lengths all = lengths_of(count + 2 * row);
  return (eam_rows){job->list->atom + row, near + job->list->start[s], all,
                    half ? lengths_of(count + 2 * row + SIMD_LANES) : all};
}

/* Pick from the rows of slice s the entries that are near, in their order; behind the last of a
 * lane lies its own atom, as in the list. */
MD_INLINE void slice_near(const force_job *job, const eam_constants *c, int64_t s, bool half)
{
  const neighbor_view *list = job->list;
  const int64_t row = s * SIMD_LANES;
  const int32_t *own = list->atom + row, *nbr = list->nbr + list->start[s];
  const lengths count = lengths_of(list->count + row);
  const simd_index shared = *(const simd_index *)((half ? list->shared : list->count) + row);
  int32_t *near = (int32_t *)job->fc->near.data + list->start[s];
  int32_t *found = (int32_t *)job->fc->near_count.data + 2 * row;
  simd_index n = {0}, n_shared = {0};
  simd_coord i[3];
  simd_load_coord(job->coord, own, i);
  rows_ask_lines(list, s, job->coord, NULL, job->n);
  for (int32_t k = 0; k < count.any; k++, nbr += SIMD_LANES) {
    int32_t at[SIMD_LANES];
    rows_ask_list(nbr, 1);
    const eam_pairs pairs = eam_see(c, i, job->coord, nbr, lanes_with(&count, k));
    const simd_index is_near = __builtin_convertvector(pairs.near, simd_index);
    *(simd_index *)at = n * SIMD_LANES;
    for (int l = 0; l < SIMD_LANES; l++)
      near[at[l] + l] = nbr[l];
    n -= is_near;
    n_shared -= is_near & (k < shared);
  }
  *(simd_index *)found = n;
  *(simd_index *)(found + SIMD_LANES) = n_shared;
  const int32_t most = lengths_of(found).any;
  for (int l = 0; l < SIMD_LANES; l++)
    for (int32_t k = n[l]; k < most; k++)
      near[k * SIMD_LANES + l] = own[l];
}

typedef struct {
  eam_spots at;
  simd_mask near;
} density_pairs;

/* The first stage of a batch from entry k on. */
MD_INLINE void see_batch(const force_job *job, const eam_constants *c, const simd_coord i[3],
                         const eam_rows *rows, int32_t k, density_pairs batch[BATCH])
{
  for (int32_t e = 0; e < BATCH && k + e < rows->count.any; e++) {
    const int32_t *nbr = rows->nbr + (int64_t)(k + e) * SIMD_LANES;
    const eam_pairs pairs = eam_see(c, i, job->coord, nbr, lanes_with(&rows->count, k + e));
    eam_locate(c, simd_sqrt(pairs.r_sq), &batch[e].at);
    batch[e].near = pairs.near;
  }
}

/* Densities of the atoms of slice s, stored (full) or added to them and those that share (half). */
MD_INLINE void slice_densities(const force_job *job, const eam_constants *c, int64_t s, bool half)
{
  const eam_rows rows = eam_rows_of(job, s, half);
  const int32_t *own = rows.own, *nbr = rows.nbr;
  const int64_t left = job->list->n_rows - s * SIMD_LANES;
  const reaction to = {job->f, job->home, (int32_t)job->n};
  const real *knots = job->fc->density_knots.data;
  real *density = job->fc->density.data;
  simd_coord i[3];
  density_pairs batch[BATCH];
  simd_real sum = {0}, k4[4];
  simd_load_coord(job->coord, own, i);
  for (int32_t k = 0; k < rows.count.any; k++, nbr += SIMD_LANES) {
    const int32_t e = k % BATCH;
    if (e == 0) see_batch(job, c, i, &rows, k, batch);
    const simd_real p = batch[e].at.p;
    rows_load_fours(knots, batch[e].at.m, k4);
    const simd_real rho = pair_only(batch[e].near, k4[0] + p * (k4[1] + p * (k4[2] + p * k4[3])));
    sum += rho;
    if (!half || k >= rows.shared.any) continue;
    const simd_real some = pair_only(lanes_with(&rows.shared, k), rho);
    int32_t at[SIMD_LANES];
    shared_atoms(nbr, own, &rows.shared, k, at);
    for (int l = 0; l < SIMD_LANES; l++)
      density[home_of(to, at[l])] += some[l];
  }
  for (int l = 0; l < SIMD_LANES && l < left; l++)
    density[own[l]] = half ? density[own[l]] + sum[l] : sum[l];
}

/* Pairs between the stages of the second pass; slopes: F' of both atoms, added. */
typedef struct {
  eam_pairs pairs;
  simd_real inv_r, slopes;
  eam_spots at;
} force_pairs;

MD_INLINE void pull_batch(const force_job *job, const eam_constants *c, const simd_coord i[3],
                          simd_real slope_i, const eam_rows *rows, int32_t k,
                          force_pairs batch[BATCH])
{
  const real *slope = job->fc->slope.data;
  for (int32_t e = 0; e < BATCH && k + e < rows->count.any; e++) {
    const int32_t *nbr = rows->nbr + (int64_t)(k + e) * SIMD_LANES;
    force_pairs *out = &batch[e];
    out->pairs = eam_see(c, i, job->coord, nbr, lanes_with(&rows->count, k + e));
    const simd_real r = simd_sqrt(out->pairs.r_sq);
    out->inv_r = 1 / r;
    eam_locate(c, r, &out->at);
    for (int l = 0; l < SIMD_LANES; l++)
      out->at.m[l] *= 2;
    out->slopes = slope_i + pair_charges(slope, nbr);
  }
}

/* Force over r of pairs, in units of coord_scale; 0 where they are not near. */
MD_INLINE simd_real eam_pull(const force_job *job, const eam_constants *c, const force_pairs *in,
                             simd_real weight, pair_sums *sums)
{
  const real *knots = job->fc->force_knots.data;
  simd_real z4[4], s4[4];
  const simd_real p = in->at.p, inv_r = in->inv_r;
  rows_load_fours(knots, in->at.m, z4);
  rows_load_fours(knots + 4, in->at.m, s4);
  const simd_real z = simd_fma(p, simd_fma(p, simd_fma(p, z4[3], z4[2]), z4[1]), z4[0]);
  const simd_real d_z = simd_fma(p, simd_fma(p, 3 * z4[3], 2 * z4[2]), z4[1]) * c->inv_step;
  const simd_real d_rho = simd_fma(p, simd_fma(p, s4[2], s4[1]), s4[0]);
  const simd_real d_phi = simd_fma(-z, inv_r, d_z) * inv_r;
  const simd_real pull = simd_fma(in->slopes, d_rho, d_phi) * inv_r * -c->unit;
  const simd_real near = pair_only(in->pairs.near, pull);
  if (sums) { /* no product of the force's, which compilers would then contract in another way */
    const simd_real u = pair_only(in->pairs.near, weight * z * inv_r);
    sums->energy += __builtin_convertvector(u, simd_accum);
    sums->virial += __builtin_convertvector(weight * near * in->pairs.r_sq, simd_accum);
  }
  return near;
}

/* Forces of slice s, as slice_forces of force_cpu.prec.c. */
MD_INLINE void slice_forces(const force_job *job, const eam_constants *c, int64_t s, bool half,
                            pair_sums *sums)
{
  const eam_rows rows = eam_rows_of(job, s, half);
  const int32_t *own = rows.own, *nbr = rows.nbr;
  const int64_t left = job->list->n_rows - s * SIMD_LANES;
  const reaction to = {job->f, job->home, (int32_t)job->n};
  const simd_real one = (simd_real){0} + 1, slope_i = pair_charges(job->fc->slope.data, own);
  force_pairs batch[BATCH];
  simd_coord i[3];
  simd_real f[3] = {{0}, {0}, {0}}, g[3];
  simd_load_coord(job->coord, own, i);
  rows_ask_lines(job->list, s, job->coord, half ? job->f : NULL, job->n);
  for (int32_t k = 0; k < rows.count.any; k++, nbr += SIMD_LANES) {
    const int32_t e = k % BATCH;
    if (e == 0) pull_batch(job, c, i, slope_i, &rows, k, batch);
    simd_real weight = one / 2; /* seen from both atoms */
    if (half && sums) weight += (simd_real)((simd_mask)weight & lanes_with(&rows.shared, k));
    const simd_real pull = eam_pull(job, c, &batch[e], weight, sums);
    for (int d = 0; d < 3; d++) {
      f[d] = simd_fma(pull, batch[e].pairs.d[d], f[d]);
      g[d] = pull * batch[e].pairs.d[d];
    }
    if (half && k < rows.shared.any) react_some(to, nbr, own, &rows.shared, k, g);
  }
  simd_four four[SIMD_LANES];
  simd_fours(f, four);
  for (int l = 0; l < SIMD_LANES && l < left; l++)
    if (half)
      to.f[own[l]] += four[l];
    else
      to.f[own[l]] = four[l];
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
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->density, n * sizeof(real), 0));
  return md_buffer_reserve(fc->ctx, &fc->slope, all * sizeof(real), 0);
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
  real *density = fc->density.data;
#pragma omp parallel for schedule(dynamic, 1) num_threads(fc->ctx->threads)
  for (int32_t c = 0; c < list->n_chunks; c++) {
    for (int64_t r = list->chunk[c]; r < list->chunk[c + 1]; r++)
      density[list->atom[r]] = 0;
    for (int64_t s = slices_before(list->chunk[c]); s < slices_before(list->chunk[c + 1]); s++) {
      slice_near(job, &constants, s, true);
      slice_densities(job, &constants, s, true);
    }
  }
  MD_TRY(embed(fc, job, NULL));
  return rows_run_half(fc, job);
}
