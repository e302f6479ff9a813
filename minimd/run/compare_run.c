/* minimd/run/compare_run.c - the runs of `minimd compare` (compare.h).
 *
 * Beside the times stand figures of locality (locality.h), of the list at the end of the first
 * repeat. */
#include "comm/world.h"
#include "core/random.h"
#include "minimd/run/compare.h"
#include "minimd/shell/progress.h"

#include <math.h>
#include <stdlib.h>

/* A time is at least this, a thousand starts of threads, unless that makes a repeat of a variant
 * with its set-up longer than most_seconds. */
static const double least_seconds = 0.02, most_seconds = 0.5;
static const double warm_seconds = 0.1; /* steps of one variant before the estimate */

md_status compare_set(config *cfg, const compare_variant *v)
{
  MD_TRY(config_set(cfg, "order.curve", v->order, "--order"));
  if (v->list) MD_TRY(config_set(cfg, "neighbor.list", v->list, "--list"));
  if (v->cut) MD_TRY(config_set(cfg, "device.cut", v->cut, "--cut"));
  return config_check(cfg);
}

static md_status make_engine(comparison *all, compare_variant *v, engine **out)
{
  MD_TRY(compare_set(all->cfg, v));
  MD_TRY(engine_create(config_get(all->cfg), out));
  int64_t times;
  if (!v->list) v->list = neighbor_list_words[neighbor_list_view((*out)->list)->kind];
  if (!v->cut) v->cut = partition_cut_words[comm_cut_made((*out)->cm, &times)];
  return md_ctx_sync((*out)->ctx);
}

/* More and more steps at once, until they have taken warm_seconds or the run ends. */
static md_status warm_steps(engine *sim, int64_t steps, double *seconds_per_step)
{
  const int64_t first = sim->step;
  const double began = md_wall_seconds();
  double taken = 0;
  for (int64_t chunk = 1; sim->step < steps && taken < warm_seconds; chunk *= 2) {
    const int64_t left = steps - sim->step;
    MD_TRY(engine_steps(sim, chunk < left ? chunk : left));
    MD_TRY(md_ctx_sync(sim->ctx));
    taken = md_wall_seconds() - began;
    world_most(&taken, 1); /* one decision of all ranks */
  }
  *seconds_per_step = sim->step > first ? taken / (double)(sim->step - first) : 0;
  return MD_OK;
}

/* Adds to *whole what a run takes with its set-up, and lowers *least to what its steps take. */
static md_status warm_up(comparison *all, compare_variant *v, double *whole, double *least)
{
  const int64_t steps = config_get(all->cfg)->steps;
  const double began = md_wall_seconds();
  double per_step = 0;
  engine *sim = NULL;
  md_status status = make_engine(all, v, &sim);
  double made = md_wall_seconds() - began;
  if (!status) status = warm_steps(sim, steps, &per_step);
  engine_destroy(sim);
  if (!status) world_most(&made, 1), world_most(&per_step, 1);
  *whole += made + (double)steps * per_step;
  *least = fmin(*least, (double)steps * per_step);
  return status;
}

static void print_duration(double seconds)
{
  if (seconds < 100)
    fprintf(stderr, "%.*f s\n", seconds < 10, seconds);
  else if (seconds < 6000)
    fprintf(stderr, "%.0f min\n", seconds / 60);
  else
    fprintf(stderr, "%.1f h\n", seconds / 3600);
}

/* Sets runs; says how long it will take. */
static md_status plan(comparison *all, bool quiet)
{
  double whole = 0, least = INFINITY;
  for (int k = 0; k < all->n; k++) {
    const md_status status = warm_up(all, &all->variants[k], &whole, &least);
    if (status) return MD_FAIL(status, "%s: %s", all->variants[k].order, md_message());
  }
  const double fit = floor(most_seconds * all->n / whole);
  all->runs = (int64_t)fmax(1, fmin(ceil(least_seconds / least), fit));
  if (quiet) return MD_OK;
  fprintf(stderr, "minimd: %lld runs (%d variants, %lld repeats",
          (long long)(all->n * all->repeats * all->runs), all->n, (long long)all->repeats);
  if (all->runs > 1) fprintf(stderr, " of %lld short runs", (long long)all->runs);
  if (all->n > 1 && all->repeats < compare_repeats(all->n, 0))
    fprintf(stderr, "; ranks need %lld repeats", (long long)compare_repeats(all->n, 0));
  fputs(") will take about ", stderr);
  print_duration(whole * (double)(all->repeats * all->runs));
  return MD_OK;
}

/* The run from its first list on; energy and temperature at its end are finite. */
static md_status run_steps(engine *sim, int64_t steps, compare_variant *v, int64_t repeat)
{
  engine_thermo last;
  MD_TRY(md_ctx_sync(sim->ctx));
  md_timer_reset(sim->ctx);
  const double began = md_wall_seconds(), processor = md_cpu_seconds();
  if (sim->step < steps) {
    MD_TRY(engine_steps(sim, steps - sim->step - 1));
    MD_TRY(engine_step(sim, true));
  }
  MD_TRY(md_ctx_sync(sim->ctx));
  double wall = md_wall_seconds() - began, busy = md_cpu_seconds() - processor;
  world_most(&wall, 1);
  MD_TRY(comm_sum(sim->cm, &busy, 1));
  v->seconds[COMPARE_TOTAL][repeat] += wall;
  v->seconds[COMPARE_PROCESSOR][repeat] += busy;
  return engine_measure(sim, &last);
}

/* Adds one run to the times of a repeat. */
static md_status run_once(comparison *all, compare_variant *v, int64_t repeat, bool figures)
{
  static const md_phase phases[] = {
      [COMPARE_FORCE] = MD_PHASE_FORCE,
      [COMPARE_NEIGHBOR] = MD_PHASE_NEIGHBOR,
      [COMPARE_SORT] = MD_PHASE_SORT,
  };
  engine *sim = NULL;
  md_status status = make_engine(all, v, &sim);
  if (!status) status = run_steps(sim, config_get(all->cfg)->steps, v, repeat);
  if (!status) {
    for (int p = 0; p < COMPARE_TOTAL; p++) {
      double seconds = md_phase_seconds(sim->ctx, phases[p]);
      world_most(&seconds, 1);
      v->seconds[p][repeat] += seconds;
    }
    v->atoms = sim->atoms->n_total;
    all->backend = sim->ctx->backend;
    if (figures) status = world_agree(locality_of(sim, v->figure));
  }
  engine_destroy(sim);
  return status;
}

/* So many runs one after the other; their times become means. */
static md_status run_repeat(comparison *all, compare_variant *v, int64_t repeat)
{
  for (int64_t r = 0; r < all->runs; r++) {
    const md_status status = run_once(all, v, repeat, repeat == 0 && r == 0);
    if (status) return MD_FAIL(status, "%s: %s", v->order, md_message());
  }
  for (int t = 0; t < COMPARE_TIME_COUNT; t++)
    v->seconds[t][repeat] /= (double)all->runs;
  return MD_OK;
}

static md_status run_repeats(comparison *all, int *order, bool quiet)
{
  /* From the clock: the same order in every comparison would give what favours a place in it the
   * same variant each time. */
  int32_t seed = 1 + (int32_t)fmod(1e9 * md_wall_seconds(), 2147483646);
  world_broadcast(&seed, sizeof seed);
  progress bar;
  md_status status = MD_OK;
  progress_begin(&bar, all->repeats * all->n, quiet);
  for (int64_t k = 0; !status && k < all->repeats * all->n; k++) {
    if (k % all->n == 0) compare_shuffle(all->n, &seed, order);
    status = run_repeat(all, &all->variants[order[k % all->n]], k / all->n);
    progress_update(&bar, k + 1);
  }
  progress_end(&bar);
  return status;
}

md_status compare_run(comparison *all, bool quiet)
{
  MD_TRY(plan(all, quiet));
  int *order = malloc((size_t)all->n * sizeof *order);
  MD_REQUIRE(order, MD_ENOMEM, "out of memory for %d variants", all->n);
  const md_status status = run_repeats(all, order, quiet);
  free(order);
  return status;
}
