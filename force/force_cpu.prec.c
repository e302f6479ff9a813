/* force/force_cpu.prec.c - Lennard-Jones forces from full and half lists on the CPU.
 *
 * The lanes of a vector are the atoms of a slice; a step takes one neighbour of each: SIMD_LANES
 * structures of four, transposed in registers, which beats gathers.  No sums across lanes, one
 * store an atom, and in full lists no two threads write one address.
 *
 * Half lists: shared entries act on both atoms.  Their forces are turned back into structures of
 * four and subtracted from f[j], one lane after the other, so that an atom may come twice in one
 * vector.  Chunks own the atoms of their rows and the ghosts of these, and write no others: threads
 * need no atomics.  Forces on its ghosts go to their homes when a chunk's rows are done.
 *
 * Bytes a pair: 4 + a coord4, and for shared entries two real4.  Compiled once per precision and
 * instruction set. */
#include "force/rows_cpu.h"

/* Types of the pairs of a slice: NULL where all atoms are alike. */
typedef struct {
  const uint8_t *type;
  const real *force, *energy; /* [n_types][n_types][4] */
  int32_t row[SIMD_LANES];    /* where the lanes' own types begin */
} slice_types;

MD_INLINE void open_types(const force_job *job, const int32_t *own, slice_types *out)
{
  out->type = job->types->type.data;
  out->force = job->types->force.data, out->energy = job->types->energy.data;
  for (int l = 0; l < SIMD_LANES; l++)
    out->row[l] = out->type[own[l]] * job->types->n;
}

/* Constants of the lanes' pairs with atoms j; those of the energy where it is wanted. */
MD_INLINE const lj_reals *load_pairs(const slice_types *types, const int32_t *j, bool energy,
                                     lj_reals *out)
{
  int32_t pair[SIMD_LANES];
  simd_real four[4];
  if (!types) return NULL;
  for (int l = 0; l < SIMD_LANES; l++)
    pair[l] = types->row[l] + types->type[j[l]];
  rows_load_fours(types->force, pair, four);
  out->r_cut_sq = four[0], out->lj1 = four[1], out->lj2 = four[2], out->f_shift = four[3];
  if (!energy) return out;
  rows_load_fours(types->energy, pair, four);
  out->lj3 = four[0], out->lj4 = four[1], out->u_shift = four[2];
  return out;
}

/* Where atoms are, and if charged their charges: beside coordinates that are floats, in mixed
 * precision in a row of their own. */
typedef struct {
  const void *coord;
  const real *charge;
  bool charged;
} atom_source;

MD_INLINE void load_atoms(atom_source from, const int32_t *index, simd_coord at[3], simd_real *q)
{
#if MD_PREC == 1
  simd_load_coord(from.coord, index, at);
  if (from.charged) *q = pair_charges(from.charge, index);
#else
  simd_real four[4]; /* what is not used, the compiler drops */
  rows_load_fours(from.coord, index, four);
  for (int d = 0; d < 3; d++)
    at[d] = four[d];
  if (from.charged) *q = four[3];
#endif
}

/* How an instance of the kernel works, with everything known when it is compiled. */
typedef struct {
  bool half;
  lj_form form;
  pair_charge charge;
  bool typed;
} run_mode;

/* A software pipeline of three stages, two vectors of pairs in each: while two are divided,
 * coordinates of the next are loaded and the two before are added, in the order of entries.  In
 * half lists a fourth: what they bring to their other atoms waits in memory for one stage. */
typedef struct {
  const pair_constants *c;
  const void *x;
  const simd_coord *i;
  run_mode mode;
  simd_four *f;
} stream_job;

/* It needs more registers than instruction sets before AVX-512 have. */
enum { STREAMS = MD_ISA == 2 };

MD_INLINE void stream_see(const stream_job *job, const int32_t *nbr, pair_state p[2])
{
  simd_coord j[3];
  rows_ask_list(nbr, 2);
  for (int e = 0; e < 2; e++) {
    simd_load_coord(job->x, nbr + e * SIMD_LANES, j);
    pair_see(job->c, job->i, j, &p[e]);
  }
}

MD_INLINE void stream_divide(pair_state p[2])
{
  pair_divide(&p[0], false);
  pair_divide(&p[1], false);
}

MD_INLINE void stream_add(const stream_job *job, const pair_state p[2], simd_real f[3],
                          rows_fours wait[2])
{
  for (int e = 0; e < 2; e++) {
    const simd_mask near = pair_near(job->c, &p[e], ~(simd_mask){0}, NULL);
    const simd_real pull = pair_pull(job->c, &p[e], near, job->mode.form, NULL);
    simd_real g[3];
    for (int d = 0; d < 3; d++)
      if (job->mode.half)
        f[d] += g[d] = pull * p[e].d[d];
      else
        f[d] = simd_fma(pull, p[e].d[d], f[d]);
    if (job->mode.half) rows_turn(g, &wait[e]);
  }
}

/* What waited, for the atoms of two vectors. */
MD_INLINE void stream_react(const stream_job *job, const int32_t *nbr, const rows_fours wait[2])
{
  if (!job->mode.half) return;
  for (int e = 0; e < 2; e++)
    react_turned(job->f, nbr + e * SIMD_LANES, &wait[e]);
}

/* Of the first n entries of a slice, which all its lanes have; returns how many it took, all but at
 * most 3. */
MD_INLINE int32_t stream(const stream_job *job, const int32_t *nbr, int32_t n, simd_real f[3])
{
  enum { TWO = 2 * SIMD_LANES };
  pair_state a[2], b[2];
  rows_fours from_a[2], from_b[2];
  if (n < 2) return 0;
  stream_see(job, nbr, a);
  stream_divide(a);
  int32_t k = 2;
  for (; k + 4 <= n; k += 4, nbr += 2 * TWO) {
    stream_see(job, nbr + TWO, b);
    if (k > 2) stream_react(job, nbr - TWO, from_b);
    stream_add(job, a, f, from_a);
    stream_divide(b);
    stream_see(job, nbr + 2 * TWO, a);
    stream_react(job, nbr, from_a);
    stream_add(job, b, f, from_b);
    stream_divide(a);
  }
  if (k > 2) stream_react(job, nbr - TWO, from_b);
  stream_add(job, a, f, from_a);
  stream_react(job, nbr, from_a);
  return k;
}

/* Forces of slice s, on its atoms (full) or added to them and to those that share (half). */
MD_INLINE void slice_forces(const force_job *job, const pair_constants *c, int64_t s, run_mode mode,
                            pair_sums *sums)
{
  const neighbor_view *list = job->list;
  const bool half = mode.half, charged = mode.charge != PAIR_PLAIN;
  const atom_source from = {job->coord, job->fc->charge.data, charged};
  const int64_t row = s * SIMD_LANES;
  const int32_t *own = list->atom + row, *nbr = list->nbr + list->start[s];
  const lengths count = lengths_of(list->count + row);
  const lengths shared = half ? lengths_of(list->shared + row) : count;
  simd_four *const to = job->f;
  /* A pair that is not shared, or of a full list, is seen from both atoms. */
  const simd_real one = (simd_real){0} + 1, weight = half ? one : one / 2;
  simd_coord i[3], j[3];
  simd_real f[3] = {{0}, {0}, {0}}, g[3], q = {0}, qq = {0};
  lj_reals lanes;
  slice_types own_types;
  const slice_types *types = mode.typed ? &own_types : NULL;
  if (mode.typed) open_types(job, own, &own_types);
  load_atoms(from, own, i, &q);
  rows_ask_lines(list, s, from.coord, half && rows_ask_forces(list) ? to : NULL);
  int32_t k = 0;
  if (STREAMS && !charged && !types && !sums) {
    const stream_job pairs = {c, from.coord, i, mode, to};
    k = stream(&pairs, nbr, shared.all, f);
    nbr += (int64_t)k * SIMD_LANES;
  }
  for (; k < shared.all; k++, nbr += SIMD_LANES) { /* the same for every lane */
    rows_ask_list(nbr, 1);
    load_atoms(from, nbr, j, &qq);
    if (charged) qq *= q;
    pair_force(c, i, j, ~(simd_mask){0}, weight, mode.form,
               load_pairs(types, nbr, sums != NULL, &lanes), mode.charge, qq, f, half ? g : NULL,
               sums);
    if (half) react(to, nbr, g);
  }
  for (; k < count.any; k++, nbr += SIMD_LANES) {
    rows_ask_list(nbr, 1);
    load_atoms(from, nbr, j, &qq);
    const simd_real both = (simd_real)((simd_mask)one & lanes_with(&shared, k));
    if (charged) qq *= q;
    pair_force(c, i, j, lanes_with(&count, k), half ? (one + both) / 2 : weight, mode.form,
               load_pairs(types, nbr, sums != NULL, &lanes), mode.charge, qq, f, half ? g : NULL,
               sums);
    if (half && k < shared.any) react_some(to, nbr, own, &shared, k, g);
  }
  simd_four four[SIMD_LANES];
  simd_fours(f, four);
  for (int l = 0; l < SIMD_LANES && l < list->n_rows - row; l++)
    if (half)
      to[own[l]] += four[l];
    else
      to[own[l]] = four[l];
}

/* Slices begin..end; tally (energy and virial) may be NULL; exact, unless NULL, is used in tally's
 * place. */
MD_INLINE void slices(const force_job *job, int64_t begin, int64_t end, run_mode mode, accum *tally,
                      exact_sum *exact)
{
  const pair_constants c = pair_round(job);
  pair_sums sums = {0};
  for (int64_t s = begin; s < end; s++) {
    pair_sums part = {0}; /* sums of sums lose fewer digits */
    slice_forces(job, &c, s, mode, tally ? &part : NULL);
    if (exact) add_exactly(job, s, &part, exact);
    sums.energy += part.energy;
    sums.virial += part.virial;
  }
  if (tally) pair_add(job, &sums, tally);
}

MD_INLINE void run_form(const force_job *job, int64_t begin, int64_t end, run_mode mode,
                        accum *part, exact_sum *exact)
{
  if (exact)
    slices(job, begin, end, mode, part, exact);
  else if (job->tally)
    slices(job, begin, end, mode, part, NULL);
  else if (mode.charge && !mode.half && coulomb_is_near(&job->coulomb))
    slices(job, begin, end, (run_mode){false, mode.form, PAIR_NEAR, mode.typed}, NULL, NULL);
  else
    slices(job, begin, end, mode, NULL, NULL);
}

MD_INLINE void run_kind(const force_job *job, int64_t begin, int64_t end, bool half,
                        pair_charge charge, bool typed, accum *part, exact_sum *exact)
{
  if (lj_form_of(&job->lj) == LJ_SHIFTED)
    run_form(job, begin, end, (run_mode){half, LJ_SHIFTED, charge, typed}, part, exact);
  else
    run_form(job, begin, end, (run_mode){half, LJ_PLAIN, charge, typed}, part, exact);
}

MD_INLINE void run(const force_job *job, int64_t begin, int64_t end, bool half, accum *part,
                   exact_sum *exact)
{
  const bool charged = job->coulomb.r_cut_sq > 0;
  part[0] = part[1] = 0;
  if (job->types && charged)
    run_kind(job, begin, end, half, PAIR_CHARGED, true, part, exact);
  else if (job->types)
    run_kind(job, begin, end, half, PAIR_PLAIN, true, part, exact);
  else if (charged)
    run_kind(job, begin, end, half, PAIR_CHARGED, false, part, exact);
  else
    run_kind(job, begin, end, half, PAIR_PLAIN, false, part, exact);
}

#include "force/rows_run.h"

/* Charges of all atoms and ghosts in a row of their own, where they are not beside coordinates. */
static md_status pack_charges(force *fc, const force_job *job)
{
  if (MD_PREC != 1 || job->coulomb.r_cut_sq == 0) return MD_OK;
  const int64_t all = job->n + job->n_ghost;
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->charge, (size_t)all * sizeof(real), 0));
  const state *x = job->x;
  real *charge = fc->charge.data;
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads)
  for (int64_t i = 0; i < all; i++)
    charge[i] = (real)x[4 * i + 3];
  return MD_OK;
}

md_status KERNEL(force_cpu_full)(force *fc, const force_job *job)
{
  exact_sum(*exact)[2] = NULL;
  MD_TRY(reserve_parts(fc, PARTS));
  MD_TRY(pack_charges(fc, job));
  if (job->tally && job->tally->is_exact) MD_TRY(reserve_exact(fc, &exact));
  rows_run_full(job, exact);
  return MD_OK;
}

md_status KERNEL(force_cpu_half)(force *fc, const force_job *job)
{
  MD_TRY(pack_charges(fc, job));
  return rows_run_half(fc, job);
}
