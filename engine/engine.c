/* engine/engine.c - the time step: the phases of docs/architecture.md, in order. */
#include "comm/world.h"
#include "engine/engine_impl.h"
#include "engine/integrate/integrate.h"
#include "engine/system/system.h"

#include <stdlib.h>
#include <string.h>

/* Rebuild everything that depends on who is where; the list is still to be settled. */
static md_status rebuild_early(engine *sim, bool sort)
{
  md_ctx *ctx = sim->ctx;
  md_timer_lap(ctx);
  md_phase_begin(ctx, MD_PHASE_GHOSTS);
  const double back = sim->spec->every > 0 ? sim->spec->dt : -1;
  md_status sorted = MD_OK,
            status = comm_migrate_early(sim->cm, sim->atoms, sim->list_cutoff, back);
  md_phase_end(ctx, MD_PHASE_GHOSTS);
  if (!status && sort) {
    md_phase_begin(ctx, MD_PHASE_SORT);
    sorted = neighbor_sort(sim->list, sim->atoms);
    md_phase_end(ctx, MD_PHASE_SORT);
    sim->sorts++;
  }
  if (!status) {
    md_phase_begin(ctx, MD_PHASE_GHOSTS);
    status = comm_borders_after(sim->cm, sim->atoms, sim->list_cutoff, sorted);
    md_phase_end(ctx, MD_PHASE_GHOSTS);
  }
  if (status == MD_ENUMERIC)
    return MD_FAIL(status, "step %lld: %s", (long long)sim->step, md_message());
  if (!status) {
    md_phase_begin(ctx, MD_PHASE_NEIGHBOR);
    status = engine_charges_place(sim);
    if (!status) status = neighbor_build_early(sim->list, sim->atoms);
    status = world_agree(status ? status : force_reserve_types(sim->fc, sim->atoms));
    if (!status && sim->atoms->n_types > 1)
      status = world_agree(force_take_types(sim->fc, sim->atoms));
    md_phase_end(ctx, MD_PHASE_NEIGHBOR);
  }
  sim->rebuilt_at = sim->step, sim->rebuilds++;
  return status;
}

static md_status rebuild(engine *sim, bool sort)
{
  MD_TRY(rebuild_early(sim, sort));
  sim->mesh_placed = false; /* a saved run's atoms go on to where they were */
  return neighbor_settle(sim->list, NULL);
}

static md_status forces(engine *sim, bool tally)
{
  MD_TRY(engine_charges_begin(sim, tally));
  md_phase_begin(sim->ctx, MD_PHASE_FORCE);
  const md_status status =
      force_compute(sim->fc, sim->atoms, sim->list, tally ? &sim->tally : NULL);
  md_phase_end(sim->ctx, MD_PHASE_FORCE);
  return status ? status : engine_charges_end(sim, tally);
}

/* What a force adds in half a step to the velocity of each kind of atom. */
typedef struct {
  double of[MD_TYPES];
} half_kicks;

static half_kicks half_kicks_of(const engine *sim)
{
  half_kicks kick = {{0}};
  const double inertia = engine_constants_of(sim->spec).inertia;
  for (int32_t t = 0; t < sim->atoms->n_types; t++)
    kick.of[t] = 0.5 * sim->spec->dt / (sim->mass * sim->relative[t] * inertia);
  return kick;
}

static md_status advance(engine *sim, int kicks, double drift)
{
  md_phase_begin(sim->ctx, MD_PHASE_INTEGRATE);
  const half_kicks kick = half_kicks_of(sim);
  const md_status status = integrate_advance(sim->atoms, kick.of, kicks, drift);
  md_phase_end(sim->ctx, MD_PHASE_INTEGRATE);
  return status;
}

/* Which rank did not come, and by when. */
static md_status by_step(const engine *sim, md_status status)
{
  if (status != MD_ECUDA) return status;
  return MD_FAIL(status, "by step %lld: %s", (long long)sim->step, md_message());
}

/* Kicks and drift that begin a step, with the forces of the last one where they are still to come;
 * then also of more steps than one, between which several ranks exchange ghosts. */
static md_status begin_steps(engine *sim, int32_t steps)
{
  if (!sim->forces_due) return advance(sim, sim->half_kick_due ? 2 : 1, sim->spec->dt);
  const half_kicks kick = half_kicks_of(sim);
  md_mail mail = {0}, *via = steps > 1 && world_count() > 1 ? &mail : NULL;
  md_status status = MD_OK;
  md_phase_begin(sim->ctx, MD_PHASE_FORCE);
  if (via) status = by_step(sim, comm_send_inside(sim->cm, sim->atoms, steps, &mail));
  if (!status)
    status = force_advance(sim->fc, sim->atoms, sim->list, kick.of[0], sim->spec->dt, steps, via);
  md_phase_end(sim->ctx, MD_PHASE_FORCE);
  sim->forces_due = false;
  return status;
}

/* Ghosts to where their homes went. */
static md_status follow(engine *sim)
{
  const md_phase phase = world_count() > 1 ? MD_PHASE_EXCHANGE : MD_PHASE_GHOSTS;
  md_phase_begin(sim->ctx, phase);
  const md_status status = by_step(sim, comm_forward(sim->cm, sim->atoms));
  md_phase_end(sim->ctx, phase);
  return status;
}

/* Sorting falls on the first rebuild at or after its period. */
static bool sort_due(const engine *sim)
{
  const int32_t every = sim->spec->sort_every;
  if (every < 0) return true;
  return every > 0 && sim->step / every > sim->rebuilt_at / every;
}

/* Steps that may begin at once: forces of the last one are due, and neither a rebuild before the
 * end nor positions of other ranks that kernels do not exchange themselves. */
static int32_t steps_at_once(const engine *sim, int64_t steps)
{
  if (!sim->forces_due || sim->spec->every <= 0 || !comm_sends_inside(sim->cm)) return 1;
  const int64_t until = sim->rebuilt_at + sim->spec->every - sim->step;
  if (until < 1) return 1;
  return (int32_t)(steps < until ? steps : until);
}

/* That many steps, all but the last without anything else to do. */
static md_status take_steps(engine *sim, int32_t steps, bool tally)
{
  const int64_t copied = sim->ctx->bytes_copied;
  const bool moves_ghosts = sim->forces_due && world_count() == 1;
  const bool settled = neighbor_settled(sim->list);
  MD_TRY(begin_steps(sim, steps));
  sim->step += steps;
  sim->steady_steps += steps - 1;
  bool due;
  MD_TRY(engine_charges_place(sim));
  MD_TRY(engine_rebuild_ask(sim));
  if (engine_charges_beside(sim) && !engine_rebuild_expected(sim))
    MD_TRY(engine_charges_begin(sim, tally));
  MD_TRY(engine_rebuild_due(sim, &due));
  if (due) {
    MD_TRY(engine_charges_drop(sim));
    MD_TRY(rebuild_early(sim, sort_due(sim)));
    engine_list_ended(sim);
  } else if (!moves_ghosts) {
    MD_TRY(follow(sim));
  }
  sim->forces_due = !tally && engine_masses_alike(sim) && force_advances(sim->fc, sim->list);
  if (!sim->forces_due) {
    if (engine_charges_beside(sim)) MD_TRY(engine_charges_begin(sim, tally));
    MD_TRY(neighbor_settle(sim->list, NULL));
    MD_TRY(forces(sim, tally));
  }
  sim->half_kick_due = !tally;
  if (tally) MD_TRY(advance(sim, 1, 0));
  if (!due && !tally) {
    sim->steady_steps++;
    if (settled) sim->steady_bytes += sim->ctx->bytes_copied - copied; /* else the rebuild's */
  }
  return MD_OK;
}

md_status engine_step(engine *sim, bool tally)
{
  MD_TRY(take_steps(sim, 1, tally));
  return neighbor_settle(sim->list, NULL);
}

md_status engine_steps_early(engine *sim, int64_t steps)
{
  while (steps > 0) {
    const int32_t now = steps_at_once(sim, steps);
    MD_TRY(take_steps(sim, now, false));
    steps -= now;
  }
  return MD_OK;
}

md_status engine_steps(engine *sim, int64_t steps)
{
  MD_TRY(engine_steps_early(sim, steps));
  return neighbor_settle(sim->list, NULL);
}

/* Everything but the atoms' data. */
static md_status make_rooms(engine *sim, neighbor_kind kind, const md_box *box)
{
  const engine_spec *spec = sim->spec;
  neighbor_spec list = engine_list_spec(spec, kind);
  /* A ghost of another rank's atom has no home to add a force to. */
  if (sim->ctx->backend == MD_GPU && world_count() > 1) list.newton = false;
  const force_lj most = engine_most(spec); /* of all pairs, where they are alike */
  const force_spec pair = {.epsilon = most.epsilon,
                           .sigma = most.sigma,
                           .r_cut = most.r_cut,
                           .shift = spec->shift,
                           .block_size = spec->block_size,
                           .carveout = spec->carveout,
                           .n_types = engine_pair_kinds(spec),
                           .pairs = spec->types ? spec->types->pairs : NULL};
  md_box around;
  for (int d = 0; d < 3; d++) {
    const double half = (box->hi[d] - box->lo[d]) / 2;
    sim->origin[d] = box->lo[d] + half;
    around.lo[d] = -half, around.hi[d] = half;
  }
  MD_TRY(md_atoms_create(sim->ctx, &around, &sim->atoms));
  sim->atoms->n_types = engine_kinds(spec);
  if (spec->precision != MD_DOUBLE)
    MD_TRY(md_atoms_cut(sim->atoms, ENGINE_FRAME_REACHES * sim->list_cutoff));
  MD_TRY(comm_create(sim->ctx, &sim->cm));
  comm_cut(sim->cm, spec->cut, &spec->curve);
  MD_TRY(comm_carry(sim->cm, spec->carrier));
  MD_TRY(neighbor_create(sim->ctx, &list, &sim->list));
  MD_TRY(force_create(sim->ctx, &pair, &sim->fc));
  if (world_count() > 1) force_share(sim->fc, engine_fill_ghosts, sim);
  return spec->eam ? force_set_eam(sim->fc, spec->eam) : MD_OK;
}

/* Atoms in the input's coordinates; their x is changed. */
static md_status set_atoms(engine *sim, system_state *from)
{
  for (int64_t k = 0; k < 3 * from->n; k++)
    from->x[k] -= sim->origin[k % 3];
  MD_TRY(md_atoms_set(sim->atoms, from->n, from->x, from->v, from->id, from->image));
  return from->type ? md_atoms_set_types(sim->atoms, from->type) : MD_OK;
}

/* The atoms that this rank begins with, in the input's coordinates. */
static md_status set_block(engine *sim, system_state *state)
{
  if (!state->id && world_count() > 1) MD_TRY(system_number(state));
  MD_TRY(set_atoms(sim, state));
  sim->atoms->n_total = state->all;
  return MD_OK;
}

/* Atoms as the specification describes them. */
static md_status fill(engine *sim)
{
  system_state state = {0};
  md_status status = system_create(sim->spec, &state);
  if (!status) {
    engine_set_masses(sim, state.mass);
    status = world_agree(set_block(sim, &state));
    if (!status) status = engine_set_charges(sim, state.q);
  }
  system_state_free(&state);
  return status;
}

/* An engine for n atoms in a box, without atoms. */
static md_status make(const engine_spec *spec, int64_t n, const md_box *box, engine **out)
{
  engine_choice choice;
  MD_REQUIRE(spec->skin >= 0, MD_EINVAL,
             "%s: neighbor.skin = \"auto\": expected a number: only `minimd run` measures it",
             engine_origin(spec, "neighbor.skin"));
  int sharers;
  MD_TRY(world_agree(engine_choose(spec, n, box, &choice)));
  MD_TRY(engine_check_ranks(spec, &choice, &sharers));
  engine *sim = *out = calloc(1, sizeof *sim);
  MD_REQUIRE(sim, MD_ENOMEM, "out of memory for the engine");
  sim->spec = spec;
  sim->choice = choice;
  sim->first_temperature = -1;
  sim->list_cutoff = engine_reach(spec) + spec->skin;
  const md_ctx_spec where = {choice.backend, spec->precision, world_threads(spec->threads),
                             spec->deterministic};
  MD_TRY(md_ctx_create(&where, &sim->ctx));
  MD_TRY(engine_check_memory(sim->ctx, spec, choice.list, n, box, sharers));
  return make_rooms(sim, choice.list, box);
}

static md_status begin(engine **sim, md_status status)
{
  if (!status) status = world_agree(forces(*sim, true));
  if (status) {
    engine_destroy(*sim);
    *sim = NULL;
  } else {
    md_timer_reset((*sim)->ctx);
  }
  return status;
}

md_status engine_create(const engine_spec *spec, engine **out)
{
  *out = NULL;
  int64_t n;
  md_box box;
  MD_TRY(system_size(spec, &n, &box));
  md_status status = make(spec, n, &box, out);
  if (!status) status = fill(*out);
  if (!status) world_work();
  if (!status) status = rebuild(*out, (*out)->spec->sort_every != 0);
  return begin(out, status);
}

/* The list of the saved run, then the atoms where they had come to. */
static md_status resume(engine *sim, const engine_state *from)
{
  MD_REQUIRE(memcmp(from->frames, sim->atoms->frames, sizeof from->frames) == 0, MD_EINVAL,
             "the saved run's box is divided into %d x %d x %d frames, not %d x %d x %d",
             from->frames[0], from->frames[1], from->frames[2], sim->atoms->frames[0],
             sim->atoms->frames[1], sim->atoms->frames[2]);
  md_status status =
      md_atoms_set_local(sim->atoms, from->n, from->x_at_build, from->v, from->id, from->image);
  if (!status && from->type) status = md_atoms_set_types(sim->atoms, from->type);
  MD_TRY(world_agree(status));
  world_work();
  sim->atoms->n_total = from->all;
  MD_TRY(engine_set_charges(sim, from->q));
  MD_TRY(rebuild(sim, false));
  MD_TRY(engine_place_again(sim, from));
  MD_TRY(integrate_advance(sim->atoms, NULL, 0, 0));
  sim->rebuilt_at = from->rebuilt_at;
  MD_TRY(follow(sim));
  bool due; /* it is not: this is for how far atoms have gone already */
  return engine_rebuild_due(sim, &due);
}

/* The atoms of a run whose box may have had other frames. */
static md_status refill(engine *sim, const engine_state *from)
{
  const int64_t n = from->n;
  double *x = malloc((size_t)n * 3 * sizeof *x);
  int32_t *image = malloc((size_t)n * 3 * sizeof *image);
  md_status status = (x && image) || n == 0
                         ? MD_OK
                         : MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms", (long long)n);
  if (!status) {
    md_frames_leave(&sim->atoms->box, from->frames, n, from->x, from->image, x, image);
    status = md_atoms_set(sim->atoms, n, x, from->v, from->id, image);
  }
  if (!status && from->type) status = md_atoms_set_types(sim->atoms, from->type);
  free(x);
  free(image);
  MD_TRY(world_agree(status));
  world_work();
  sim->atoms->n_total = from->all;
  MD_TRY(engine_set_charges(sim, from->q));
  return rebuild(sim, sim->spec->sort_every != 0);
}

md_status engine_restore(const engine_spec *spec, const engine_state *from, bool exact,
                         engine **out)
{
  *out = NULL;
  MD_REQUIRE((engine_kinds(spec) > 1) == (from->type != NULL), MD_EINVAL,
             "the saved run has %s, and these settings %d: expected the same species",
             from->type ? "several kinds of atoms" : "one kind of atom", engine_kinds(spec));
  md_status status = make(spec, from->all, &from->box, out);
  if (!status) {
    engine_set_masses(*out, from->mass);
    (*out)->step = from->step;
    (*out)->lists = from->lists;
    status = exact ? resume(*out, from) : refill(*out, from);
  }
  return begin(out, status);
}

void engine_destroy(engine *sim)
{
  if (!sim) return;
  pme_destroy(sim->mesh);
  if (sim->ctx) md_buffer_free(sim->ctx, &sim->unfolded);
  force_destroy(sim->fc);
  neighbor_destroy(sim->list);
  comm_destroy(sim->cm);
  md_atoms_destroy(sim->atoms);
  md_ctx_destroy(sim->ctx);
  free(sim);
}
