/* engine/charges.c - charges of an engine: what PME is made for, and its forces. */
#include "engine/engine_impl.h"

#include <math.h>
#include <stdlib.h>

/* A sum of charges that is no rounding error. */
static const double NEUTRAL = 1e-6;

static int rising(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

/* Sums over charges as the engine holds them: q, |q|, q^2.  Taken by rising charge, so that a run
 * that goes on from a checkpoint, where atoms have another order, chooses the same to the bit. */
static md_status sum_charges(const engine *sim, int64_t n, const double *q, double sums[3])
{
  double *sorted = malloc((size_t)n * sizeof *sorted);
  MD_REQUIRE(sorted, MD_ENOMEM, "out of memory for %lld charges", (long long)n);
  for (int64_t i = 0; i < n; i++)
    sorted[i] = sim->ctx->precision == MD_SINGLE ? (double)(float)q[i] : q[i];
  qsort(sorted, (size_t)n, sizeof *sorted, rising);
  for (int64_t i = 0; i < n; i++) {
    sums[0] += sorted[i];
    sums[1] += fabs(sorted[i]);
    sums[2] += sorted[i] * sorted[i];
  }
  free(sorted);
  return MD_OK;
}

/* Splitting, mesh and real space for these charges. */
static md_status choose(engine *sim, int64_t n, const double *q)
{
  const engine_spec *spec = sim->spec;
  const md_box *box = &sim->atoms->box;
  double sums[3] = {0, 0, 0};
  MD_TRY(sum_charges(sim, n, q, sums));
  sim->net_charge = fabs(sums[0]) > NEUTRAL * sums[1] ? sums[0] : 0;
  sim->charges = (pme_problem){
      .n = n,
      .q_sq = sums[2],
      .r_cut = spec->coulomb_cutoff > 0 ? spec->coulomb_cutoff : spec->cutoff,
      .order = spec->spline_order,
      .alpha = spec->alpha,
      .mesh = {spec->mesh[0], spec->mesh[1], spec->mesh[2]},
  };
  for (int d = 0; d < 3; d++)
    sim->charges.lo[d] = box->lo[d], sim->charges.hi[d] = box->hi[d];
  return pme_choose(&sim->charges, spec->tolerance);
}

md_status engine_set_charges(engine *sim, int64_t n, const double *q)
{
  if (sim->spec->coulomb != ENGINE_COULOMB_PME) return MD_OK;
  MD_REQUIRE(q, MD_EINVAL, "coulomb.method = \"pme\" needs charges, and '%s' has none",
             sim->spec->read ? sim->spec->read : "the checkpoint");
  MD_TRY(choose(sim, n, q));
  const pme_problem *p = &sim->charges;
  const pme_spec spec = {.lo = {p->lo[0], p->lo[1], p->lo[2]},
                         .hi = {p->hi[0], p->hi[1], p->hi[2]},
                         .mesh = {p->mesh[0], p->mesh[1], p->mesh[2]},
                         .order = p->order,
                         .alpha = p->alpha,
                         .method = sim->spec->spread};
  MD_TRY(pme_create(sim->ctx, &spec, &sim->mesh));
  MD_TRY(force_set_coulomb(sim->fc, p->alpha, p->r_cut));
  return md_atoms_set_charges(sim->atoms, q);
}

md_status engine_charge_forces(engine *sim, bool tally)
{
  const md_atoms *atoms = sim->atoms;
  const size_t state = md_state_size(sim->ctx->precision);
  const bool cut = md_atoms_is_cut(atoms);
  if (cut) MD_TRY(neighbor_unfold(atoms, 0, &sim->unfolded));
  const char *x = cut ? sim->unfolded.data : atoms->x.data;
  const pme_charges charges = {atoms->n, x, 4, x + 3 * state, 4};
  pme_tally sums;
  MD_TRY(pme_compute(sim->mesh, &charges, atoms->f.data, tally ? &sums : NULL));
  if (!tally) return MD_OK;
  sim->tally.energy += sums.reciprocal + sums.self + sums.background;
  sim->tally.virial += sums.virial;
  return MD_OK;
}
