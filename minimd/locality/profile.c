/* minimd/locality/profile.c - see profile.h. */
#include "minimd/locality/profile.h"
#include "core/hardware/processors.h"
#include "minimd/run/compare.h"
#include "minimd/shell/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Variants modelled at a time on one GPU. */
enum { TOGETHER = 16 };

typedef md_status look(const profile_job *job, const locality_run *run, profile_case *at);

/* Run a variant from step to step. */
static md_status follow(const profile_job *job, int variant, look *each)
{
  profile_case *at = &job->cases[variant * job->n_steps];
  locality_run run;
  MD_TRY(locality_begin(job->opts, job->lists, at->order, at->list, MACHINE_GPU, false, &run));
  md_status status = MD_OK;
  for (int s = 0; s < job->n_steps && !status; s++, at++) {
    status = locality_advance(&run, at->step);
    if (!status) status = each(job, &run, at);
  }
  locality_close(&run);
  return status;
}

static double share(double seconds, int64_t n)
{
  return n > 0 ? seconds / (double)n : NAN;
}

static md_status time_launches(const profile_job *job, const locality_run *run, profile_case *at)
{
  engine *sim = run->sim;
  md_ctx *ctx = sim->ctx;
  MD_REQUIRE(ctx->backend == MD_GPU, MD_ENOGPU, "the force kernel of the GPU needs a GPU");
  double *seconds = malloc((size_t)job->launches * sizeof *seconds);
  MD_REQUIRE(seconds, MD_ENOMEM, "out of memory for %lld launches", (long long)job->launches);
  /* The first sort and build came before the timer began. */
  at->sort_s = share(md_phase_seconds(ctx, MD_PHASE_SORT), sim->sorts - 1);
  at->build_s = share(md_phase_seconds(ctx, MD_PHASE_NEIGHBOR), sim->rebuilds - 1);
  md_status status = md_ctx_sync(ctx);
  md_profiler(ctx, true);
  for (int64_t k = 0; k < job->launches && !status; k++) {
    const double before = md_phase_seconds(ctx, MD_PHASE_FORCE);
    md_phase_begin(ctx, MD_PHASE_FORCE);
    status = force_compute(sim->fc, sim->atoms, sim->list, NULL);
    md_phase_end(ctx, MD_PHASE_FORCE);
    seconds[k] = md_phase_seconds(ctx, MD_PHASE_FORCE) - before;
  }
  md_profiler(ctx, false);
  at->force_s = compare_summarise(seconds, job->launches).median; /* sorts them */
  at->least_s = seconds[0];
  free(seconds);
  return status;
}

md_status profile_time(profile_job *job)
{
  progress bar;
  md_status status = MD_OK;
  progress_begin(&bar, job->n_variants, job->quiet);
  for (int v = 0; v < job->n_variants && !status; v++) {
    status = follow(job, v, time_launches);
    progress_update(&bar, v + 1);
  }
  progress_end(&bar);
  return status;
}

static md_status model_case(const profile_job *job, const locality_run *run, profile_case *at)
{
  const hierarchy_options best = hierarchy_default();
  const int32_t carveout = run->sim->spec->carveout;
  machine m = job->m;
  if (!job->m_given && at->shared >= 0)
    machine_set_shared(&m, at->shared);
  else if (!job->m_given && carveout > 0)
    machine_set_shared(&m, machine_carveout(carveout));
  return locality_model(run, &m, &best, &at->caches[PROFILE_COLD], &at->caches[PROFILE_WARM]);
}

/* What the variants share while they are modelled. */
typedef struct {
  profile_job *job;
  progress bar;
  int64_t done;
  md_status status;
  char *message; /* of the first that failed: messages belong to threads */
} all_models;

static void model_one(all_models *all, int v)
{
  md_status before, own;
#pragma omp atomic read
  before = all->status;
  if (before) return;
  own = follow(all->job, v, model_case);
#pragma omp critical(profile_progress)
  {
    if (own && !all->message) {
      all->message = strdup(md_message());
#pragma omp atomic write
      all->status = own;
    }
    progress_update(&all->bar, ++all->done);
  }
}

md_status profile_model_all(profile_job *job)
{
  engine_choice choice;
  MD_TRY(engine_choose(config_get(job->cfg), 0, NULL, &choice)); /* the backend */
  /* The CPU's engine has threads itself, which it starts anew for every loop of a loop's thread. */
  const int most = choice.backend == MD_GPU ? md_processors() : 1;
  const int threads = most < TOGETHER ? most : TOGETHER;
  MD_TRY(md_threads_start(threads));
  all_models all = {.job = job};
  progress_begin(&all.bar, job->n_variants, job->quiet);
  if (threads == 1) {
    for (int v = 0; v < job->n_variants; v++)
      model_one(&all, v);
  } else {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int v = 0; v < job->n_variants; v++)
      model_one(&all, v);
  }
  progress_end(&all.bar);
  if (all.status)
    md_fail(all.status, __FILE__, __LINE__, "%s", all.message ? all.message : "out of memory");
  free(all.message);
  return all.status;
}
