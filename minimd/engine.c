/* minimd/engine.c - the time step: the phases of DESIGN's "one time step", in order. */
#include "minimd/engine.h"
#include "minimd/integrate.h"
#include "minimd/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

md_status engine_choose(const config_values *values, engine_choice *out)
{
  if (values->backend == CONFIG_BACKEND_AUTO) {
    const bool gpu = md_gpu_available();
    out->backend = gpu ? MD_GPU : MD_CPU;
    out->backend_reason = gpu ? "a CUDA device was found" : "no CUDA device was found";
  } else {
    out->backend = values->backend == CONFIG_BACKEND_GPU ? MD_GPU : MD_CPU;
    out->backend_reason = "as asked";
  }
  if (values->list < 0) {
    out->list = NEIGHBOR_FULL;
    out->list_reason = "full lists need no atomics and measured fastest";
  } else {
    out->list = (neighbor_kind)values->list;
    out->list_reason = "as asked";
  }
  return MD_OK;
}

static neighbor_spec list_spec(const config_values *values, neighbor_kind kind)
{
  const double r_list = values->cutoff + values->skin;
  return (neighbor_spec){
      .kind = kind,
      .stencil = values->stencil,
      .newton = values->newton,
      .r_list = r_list,
      .bin_size = values->bin_size > 0 ? values->bin_size : r_list / -values->bin_size,
      .order = values->curve,
  };
}

int64_t engine_memory(const md_ctx *ctx, const config_values *values, neighbor_kind list, int64_t n,
                      double volume)
{
  const neighbor_spec spec = list_spec(values, list);
  const double edge = cbrt(volume), density = n > 0 ? (double)n / volume : 0;
  const double shell = pow(edge + 2 * spec.r_list, 3) - volume;
  const double ghosts = density * shell;
  const double state = 4.0 * (double)md_state_size(ctx->precision);
  const double coord = ctx->precision == MD_MIXED ? 16 : 0;
  const double pull = 4.0 * (double)md_real_size(ctx->precision);
  const double all = (double)n + ghosts;
  const double atoms = all * (state + coord) + (double)n * (state + pull + 8 + 12) + ghosts * 8;
  return (int64_t)(1.05 * atoms) + neighbor_memory(ctx, &spec, (int64_t)all, density);
}

/* Memory that a run may take on the context's backend [B]. */
static md_status memory_available(const md_ctx *ctx, int64_t *bytes)
{
  if (ctx->backend == MD_GPU) {
    md_gpu_info info;
    MD_TRY(md_gpu_describe(&info));
    *bytes = info.memory_free;
    return MD_OK;
  }
  *bytes = INT64_MAX;
  FILE *file = fopen("/proc/meminfo", "r");
  char line[256];
  long long kilobytes;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) *bytes = kilobytes * 1024;
  if (file) fclose(file);
  return MD_OK;
}

static md_status check_memory(const md_ctx *ctx, const config_values *values, neighbor_kind list,
                              int64_t n, const md_box *box)
{
  int64_t available;
  MD_TRY(memory_available(ctx, &available));
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= box->hi[d] - box->lo[d];
  /* On the host the initial state lies beside the engine's arrays: x and v in double. */
  const double host = ctx->backend == MD_CPU ? 48 : 0;
  const double needed = (double)engine_memory(ctx, values, list, n, volume) + host * (double)n;
  if (needed <= (double)available) return MD_OK;
  int64_t fits = 0, too_many = n;
  while (too_many - fits > 1) {
    const int64_t mid = fits + (too_many - fits) / 2;
    const double at_mid = volume * ((double)mid / (double)n);
    if ((double)engine_memory(ctx, values, list, mid, at_mid) + host * (double)mid <=
        (double)available)
      fits = mid;
    else
      too_many = mid;
  }
  return MD_FAIL(MD_ENOMEM,
                 "%lld atoms need %.2f GB of %s memory and %.2f GB are free; at most %lld atoms "
                 "(--cells %lld of fcc) fit with a %s list in %s precision",
                 (long long)n, needed / 1e9, ctx->backend == MD_GPU ? "device" : "host",
                 (double)available / 1e9, (long long)fits, (long long)cbrt((double)fits / 4),
                 neighbor_list_words[list], md_precision_words[ctx->precision]);
}

/* Rebuild everything that depends on who is where. */
static md_status rebuild(engine *sim, bool sort)
{
  md_ctx *ctx = sim->ctx;
  md_phase_begin(ctx, MD_PHASE_GHOSTS);
  md_status status = comm_migrate(sim->cm, sim->atoms);
  md_phase_end(ctx, MD_PHASE_GHOSTS);
  if (!status && sort) {
    md_phase_begin(ctx, MD_PHASE_SORT);
    status = neighbor_sort(sim->list, sim->atoms);
    md_phase_end(ctx, MD_PHASE_SORT);
    sim->sorts++;
  }
  if (!status) {
    md_phase_begin(ctx, MD_PHASE_GHOSTS);
    status = comm_borders(sim->cm, sim->atoms, sim->list_cutoff);
    md_phase_end(ctx, MD_PHASE_GHOSTS);
  }
  if (!status) {
    md_phase_begin(ctx, MD_PHASE_NEIGHBOR);
    status = neighbor_build(sim->list, sim->atoms);
    md_phase_end(ctx, MD_PHASE_NEIGHBOR);
  }
  sim->rebuilt_at = sim->step;
  sim->rebuilds++;
  return status;
}

static md_status forces(engine *sim, bool tally)
{
  md_phase_begin(sim->ctx, MD_PHASE_FORCE);
  const md_status status =
      force_compute(sim->fc, sim->atoms, sim->list, tally ? &sim->tally : NULL);
  md_phase_end(sim->ctx, MD_PHASE_FORCE);
  return status;
}

static md_status advance(engine *sim, int kicks, double drift)
{
  md_phase_begin(sim->ctx, MD_PHASE_INTEGRATE);
  const md_status status =
      integrate_advance(sim->atoms, 0.5 * sim->values->dt / sim->mass, kicks, drift);
  md_phase_end(sim->ctx, MD_PHASE_INTEGRATE);
  return status;
}

static md_status rebuild_due(engine *sim, bool *due)
{
  const config_values *values = sim->values;
  if (values->every > 0) {
    *due = sim->step - sim->rebuilt_at >= values->every;
    return MD_OK;
  }
  double moved_sq;
  md_phase_begin(sim->ctx, MD_PHASE_NEIGHBOR);
  const md_status status = neighbor_max_move_sq(sim->list, sim->atoms, &moved_sq);
  md_phase_end(sim->ctx, MD_PHASE_NEIGHBOR);
  *due = !(moved_sq <= 0.25 * values->skin * values->skin); /* NaN is due, and found there */
  return status;
}

/* Sorting falls on the first rebuild at or after its period. */
static bool sort_due(const engine *sim)
{
  const int32_t every = sim->values->sort_every;
  if (every < 0) return true;
  return every > 0 && sim->step / every > sim->rebuilt_at / every;
}

md_status engine_step(engine *sim, bool tally)
{
  const int64_t copied = sim->ctx->bytes_copied;
  MD_TRY(advance(sim, sim->half_kick_due ? 2 : 1, sim->values->dt));
  sim->step++;
  bool due;
  MD_TRY(rebuild_due(sim, &due));
  if (due) {
    MD_TRY(rebuild(sim, sort_due(sim)));
  } else {
    md_phase_begin(sim->ctx, MD_PHASE_GHOSTS);
    const md_status status = comm_forward(sim->cm, sim->atoms);
    md_phase_end(sim->ctx, MD_PHASE_GHOSTS);
    MD_TRY(status);
  }
  MD_TRY(forces(sim, tally));
  sim->half_kick_due = !tally;
  if (tally) MD_TRY(advance(sim, 1, 0));
  if (!due && !tally) {
    sim->steady_steps++;
    sim->steady_bytes += sim->ctx->bytes_copied - copied;
  }
  return MD_OK;
}

md_status engine_measure(engine *sim, engine_thermo *out)
{
  md_phase_begin(sim->ctx, MD_PHASE_THERMO);
  integrate_sums sums;
  const md_status status = integrate_sum(sim->atoms, &sums);
  md_phase_end(sim->ctx, MD_PHASE_THERMO);
  MD_TRY(status);
  double total[3] = {sums.v_sq, sim->tally.energy, sim->tally.virial};
  MD_TRY(comm_sum(sim->cm, total, 3));
  const double n = (double)sim->atoms->n_total, freedom = n > 1 ? 3 * n - 3 : 3;
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= sim->atoms->box.hi[d] - sim->atoms->box.lo[d];
  const double kinetic = sim->mass * total[0]; /* twice the kinetic energy = freedom * T */
  *out = (engine_thermo){
      .step = sim->step,
      .temperature = kinetic / freedom,
      .e_pair = total[1] / n,
      .e_total = (total[1] + 0.5 * kinetic) / n,
      .pressure = (kinetic + total[2]) / (3 * volume),
  };
  MD_REQUIRE(isfinite(out->e_total) && isfinite(out->pressure), MD_ENUMERIC,
             "energy or pressure is not finite at step %lld: the time step %g may be too long, or "
             "atoms overlap",
             (long long)sim->step, sim->values->dt);
  return MD_OK;
}

/* Everything but the atoms' data. */
static md_status make_rooms(engine *sim, neighbor_kind kind, const md_box *box)
{
  const config_values *values = sim->values;
  const neighbor_spec list = list_spec(values, kind);
  const force_spec pair = {values->epsilon, values->sigma,      values->cutoff,
                           values->shift,   values->block_size, values->carveout};
  MD_TRY(md_atoms_create(sim->ctx, box, &sim->atoms));
  MD_TRY(comm_create(sim->ctx, &sim->cm));
  MD_TRY(neighbor_create(sim->ctx, &list, &sim->list));
  MD_TRY(force_create(sim->ctx, &pair, &sim->fc));
  return values->every > 0 ? MD_OK : neighbor_track(sim->list, true);
}

static md_status fill(engine *sim, const config *cfg)
{
  system_state state = {0};
  md_status status = system_create(cfg, &state);
  if (!status) {
    sim->mass = state.mass > 0 ? state.mass : sim->values->mass;
    status = md_atoms_set(sim->atoms, state.n, state.x, state.v, state.id, state.image);
  }
  system_state_free(&state);
  return status;
}

md_status engine_create(const config *cfg, engine **out)
{
  *out = NULL;
  const config_values *values = config_get(cfg);
  engine_choice choice;
  MD_TRY(engine_choose(values, &choice));
  int64_t n;
  md_box box;
  MD_TRY(system_size(cfg, &n, &box));
  engine *sim = calloc(1, sizeof *sim);
  MD_REQUIRE(sim, MD_ENOMEM, "out of memory for the engine");
  sim->values = values;
  sim->list_cutoff = values->cutoff + values->skin;
  const md_ctx_spec spec = {choice.backend, values->precision, values->threads,
                            values->deterministic};
  md_status status = md_ctx_create(&spec, &sim->ctx);
  if (!status) status = check_memory(sim->ctx, values, choice.list, n, &box);
  if (!status) status = make_rooms(sim, choice.list, &box);
  if (!status) status = fill(sim, cfg);
  if (!status) status = rebuild(sim, values->sort_every != 0);
  if (!status) status = forces(sim, true);
  if (status) {
    engine_destroy(sim);
    return status;
  }
  md_timer_reset(sim->ctx);
  *out = sim;
  return MD_OK;
}

void engine_destroy(engine *sim)
{
  if (!sim) return;
  force_destroy(sim->fc);
  neighbor_destroy(sim->list);
  comm_destroy(sim->cm);
  md_atoms_destroy(sim->atoms);
  md_ctx_destroy(sim->ctx);
  free(sim);
}
