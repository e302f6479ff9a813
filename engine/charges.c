/* engine/charges.c - charges of an engine: what PME is made for, and its forces. */
#include "comm/world.h"
#include "engine/engine_impl.h"

#include <math.h>

/* A sum of charges that is no rounding error. */
static const double NEUTRAL = 1e-6;

/* Sums over charges as the engine holds them, of all ranks: q, |q|, q^2, without rounding, so that
 * a run that goes on from a checkpoint, or on other ranks, chooses the same to the bit. */
static void sum_charges(const engine *sim, const double *q, double sums[3])
{
  exact_sum all[3] = {0};
  for (int64_t i = 0; i < sim->atoms->n; i++) {
    const double held = sim->ctx->precision == MD_SINGLE ? (double)(float)q[i] : q[i];
    exact_add(&all[0], held);
    exact_add(&all[1], fabs(held));
    exact_add(&all[2], held * held);
  }
  for (int k = 0; k < 3; k++)
    exact_carry(&all[k]);
  world_sum((int64_t *)all, 3 * EXACT_WORDS);
  for (int k = 0; k < 3; k++)
    sums[k] = exact_value(&all[k]);
}

/* Splitting, mesh and real space for these charges. */
static md_status choose(engine *sim, const double *q)
{
  const engine_spec *spec = sim->spec;
  const md_box *box = &sim->atoms->box;
  double sums[3];
  sum_charges(sim, q, sums);
  sim->net_charge = fabs(sums[0]) > NEUTRAL * sums[1] ? sums[0] : 0;
  sim->charges = (pme_problem){
      .n = sim->atoms->n_total,
      .q_sq = sums[2],
      .r_cut = spec->coulomb_cutoff > 0 ? spec->coulomb_cutoff : engine_most(spec).r_cut,
      .order = spec->spline_order,
      .alpha = spec->alpha,
      .mesh = {spec->mesh[0], spec->mesh[1], spec->mesh[2]},
  };
  for (int d = 0; d < 3; d++)
    sim->charges.lo[d] = box->lo[d], sim->charges.hi[d] = box->hi[d];
  return pme_choose(&sim->charges, spec->tolerance);
}

static md_status add_few(void *sim, double *values, int count)
{
  (void)sim;
  return world_add(values, count, sizeof *values);
}

static md_status add_meshes(void *sim, void *reals, int64_t n)
{
  return comm_add(((engine *)sim)->cm, reals, n);
}

static md_status add_parts(void *sim, void *reals, const int64_t *cut)
{
  return world_add_parts(reals, cut, md_real_size(((engine *)sim)->ctx->precision));
}

static md_status complete(void *sim, void *items, const int64_t *cut, size_t width)
{
  (void)sim;
  return world_complete(items, cut, width);
}

static md_status swap(void *sim, const void *out, const int64_t *to, void *in, const int64_t *from,
                      size_t width)
{
  (void)sim;
  return world_swap(out, to, in, from, width);
}

/* The mesh is that of all ranks. */
static md_status share_mesh(engine *sim)
{
  const pme_processes ranks = {sim,        world_count(), world_rank(), add_few,
                               add_meshes, add_parts,     complete,     swap};
  if (ranks.count == 1) return MD_OK;
  MD_TRY(world_agree(pme_share(sim->mesh, &ranks)));
  const pme_problem *p = &sim->charges;
  return comm_add_open(sim->cm, (int64_t)p->mesh[0] * p->mesh[1] * p->mesh[2]);
}

md_status engine_set_charges(engine *sim, const double *q)
{
  if (sim->spec->coulomb != ENGINE_COULOMB_PME) return MD_OK;
  MD_REQUIRE(q, MD_EINVAL, "coulomb.method = \"pme\" needs charges, and '%s' has none",
             sim->spec->read ? sim->spec->read : "the checkpoint");
  MD_TRY(choose(sim, q));
  sim->charges_of = -1;
  const pme_problem *p = &sim->charges;
  const pme_spec spec = {.lo = {p->lo[0], p->lo[1], p->lo[2]},
                         .hi = {p->hi[0], p->hi[1], p->hi[2]},
                         .mesh = {p->mesh[0], p->mesh[1], p->mesh[2]},
                         .order = p->order,
                         .alpha = p->alpha,
                         .method = sim->spec->spread};
  md_status status = pme_create(sim->ctx, &spec, &sim->mesh);
  if (!status) status = force_set_coulomb(sim->fc, p->alpha, p->r_cut);
  if (!status) status = md_atoms_set_charges(sim->atoms, q);
  MD_TRY(world_agree(status));
  return share_mesh(sim);
}

/* Energy and virial of all charges, once over all ranks. */
static void add_to_tally(force_tally *tally, const pme_tally *sums)
{
  const double energy = sums->reciprocal + sums->self + sums->background;
  if (world_rank() > 0) return;
  tally->energy += energy;
  tally->virial += sums->virial;
  if (!tally->is_exact) return;
  exact_add(&tally->exact[0], energy);
  exact_add(&tally->exact[1], sums->virial);
}

bool engine_charges_beside(const engine *sim)
{
  return sim->mesh && sim->ctx->backend == MD_GPU && comm_adds_queued(sim->cm);
}

md_status engine_charges_place(engine *sim)
{
  if (!sim->mesh) return MD_OK;
  const md_atoms *atoms = sim->atoms;
  if (md_atoms_is_cut(atoms)) MD_TRY(neighbor_unfold(atoms, NULL, &sim->unfolded));
  sim->mesh_placed = true;
  return pme_mark(sim->mesh);
}

static md_status begin(engine *sim, bool tally)
{
  const md_atoms *atoms = sim->atoms;
  const size_t state = md_state_size(sim->ctx->precision);
  if (!sim->mesh_placed) MD_TRY(engine_charges_place(sim));
  sim->mesh_placed = false;
  const char *x = md_atoms_is_cut(atoms) ? sim->unfolded.data : atoms->x.data;
  const bool held = sim->charges_of == sim->rebuilds && !tally;
  const pme_charges charges = {atoms->n, x, 4, held ? NULL : x + 3 * state, 4};
  sim->charges_of = sim->rebuilds;
  return pme_begin(sim->mesh, &charges, tally ? &sim->mesh_tally : NULL);
}

md_status engine_charges_begin(engine *sim, bool tally)
{
  if (!sim->mesh || sim->mesh_begun) return MD_OK;
  md_phase_begin(sim->ctx, MD_PHASE_COULOMB);
  const md_status status = begin(sim, tally);
  md_phase_end(sim->ctx, MD_PHASE_COULOMB);
  sim->mesh_begun = true;
  return status;
}

md_status engine_charges_end(engine *sim, bool tally)
{
  if (!sim->mesh) return MD_OK;
  md_phase_begin(sim->ctx, MD_PHASE_COULOMB);
  const md_status status = pme_end(sim->mesh, sim->atoms->f.data);
  md_phase_end(sim->ctx, MD_PHASE_COULOMB);
  sim->mesh_begun = false;
  if (!status && tally) add_to_tally(&sim->tally, &sim->mesh_tally);
  return status;
}

md_status engine_charges_drop(engine *sim)
{
  if (!sim->mesh_begun) return MD_OK;
  sim->mesh_begun = false;
  return pme_end(sim->mesh, NULL);
}
