/* minimd/run/tune_reason.c - why the settings that `tune` found are faster (tune.h). */
#include "minimd/counters/profile_cpu.h"
#include "minimd/locality/locality.h"
#include "minimd/run/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the model and the counters see of the force kernel. */
typedef struct {
  bool gpu;
  double model[LOCALITY_FIGURE_COUNT];
  profile_cpu_figures counted;
  char *missing; /* NULL: they were counted */
} sight;

/* One launch that finds the caches as the launch before left them, on one thread: counters belong
 * to a thread. */
static md_status count(engine *sim, perf_counters *counters, double *counted)
{
  perf_reading readings[PERF_EVENT_COUNT];
  sim->ctx->threads = 1;
  MD_TRY(force_compute(sim->fc, sim->atoms, sim->list, NULL));
  perf_start(counters);
  const md_status status = force_compute(sim->fc, sim->atoms, sim->list, NULL);
  const md_status stopped = perf_stop(counters, readings);
  profile_cpu_of_perf(readings, (double)sim->atoms->n, counted);
  return status ? status : stopped;
}

static md_status look(const options *opts, const tune_point at, bool check, sight *out)
{
  enum { STEPS = 100 }; /* atoms have left the lattice and the order of the start */
  config *cfg;
  engine *sim = NULL;
  perf_counters counters;
  MD_TRY(tune_configure(opts, at, check, &cfg));
  md_status status = engine_create(config_get(cfg), &sim);
  if (!status) status = engine_steps(sim, STEPS);
  if (!status) status = locality_of(sim, out->model);
  out->gpu = !status && sim->ctx->backend == MD_GPU;
  if (!status && !out->gpu) status = perf_open(&counters, &out->missing);
  if (!status && !out->gpu && !out->missing) {
    status = count(sim, &counters, out->counted);
    perf_close(&counters);
  }
  engine_destroy(sim);
  config_destroy(cfg);
  return status;
}

static void tell_model(const sight sights[2], bool same, char *text)
{
  const double *now = sights[0].model, *before = sights[1].model;
  char instead[64] = "";
  if (isnan(now[LOCALITY_L1_HIT])) {
    snprintf(text, TUNE_REASON, "the cache model has no figures of this list on this machine");
    return;
  }
  if (!same && !isnan(before[LOCALITY_L1_HIT]))
    snprintf(instead, sizeof instead, ", as given %.1f %% and %.3g bytes",
             100 * before[LOCALITY_L1_HIT], before[LOCALITY_MEMORY]);
  snprintf(text, TUNE_REASON,
           "by the cache model the force kernel finds %.1f %% of its neighbours' coordinates in L1 "
           "and reads %.3g bytes an atom from memory%s",
           100 * now[LOCALITY_L1_HIT], now[LOCALITY_MEMORY], instead);
}

static int list_counts(const sight *of, char *text, size_t size)
{
  return snprintf(text, size, "%.4g cycles, %.4g instructions and %.3g L1 load misses",
                  of->counted[PROFILE_CPU_CYCLES], of->counted[PROFILE_CPU_INSTRUCTIONS],
                  of->counted[PROFILE_CPU_L1_LOAD_MISSES]);
}

static void tell_counters(const sight sights[2], bool same, char *text)
{
  char now[96], before[96];
  if (sights[0].gpu) {
    snprintf(text, TUNE_REASON,
             "the GPU's counters are read by `minimd profile` (Nsight Compute), not while tuning");
    return;
  }
  if (sights[0].missing) {
    snprintf(text, TUNE_REASON, "no counters: %s", sights[0].missing);
    return;
  }
  list_counts(&sights[0], now, sizeof now);
  list_counts(&sights[1], before, sizeof before);
  snprintf(text, TUNE_REASON, "by the counters the force kernel takes %s an atom%s%s", now,
           same ? "" : ", as given ", same ? "" : before);
}

md_status tune_explain(const options *opts, tuning *out)
{
  sight sights[2] = {{.missing = NULL}, {.missing = NULL}};
  const bool same = memcmp(out->best, out->from, sizeof out->best) == 0;
  md_status status = look(opts, out->best, out->check, &sights[0]);
  if (!status && !same) status = look(opts, out->from, out->check, &sights[1]);
  if (!status) tell_model(sights, same, out->model);
  if (!status) tell_counters(sights, same, out->counters);
  free(sights[0].missing);
  free(sights[1].missing);
  return status;
}
