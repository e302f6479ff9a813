/* minimd/run/skin.c - see skin.h. */
#include "minimd/run/skin.h"
#include "comm/world.h"
#include "core/time/timer.h"
#include "engine/engine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const double multiples[SKIN_N_CANDIDATES] = SKIN_CANDIDATES;

/* Periods that are timed, after one that warms memory and clocks; the most steps of each, where no
 * build comes. */
enum { PERIODS = 3, MOST_STEPS = 60 };

/* Up to and with the next build. */
static md_status pass_period(engine *sim)
{
  const int64_t rebuilds = sim->rebuilds, end = sim->step + MOST_STEPS;
  while (sim->rebuilds == rebuilds && sim->step < end)
    MD_TRY(engine_step(sim, false));
  return md_ctx_sync(sim->ctx);
}

/* The least of several periods: other programs only ever add to a time. */
static md_status time_steps(engine *sim, skin_trial *out)
{
  MD_TRY(pass_period(sim));
  const int64_t first = sim->step, rebuilds = sim->rebuilds;
  for (int k = 0; k < PERIODS; k++) {
    const int64_t step = sim->step;
    const double began = md_wall_seconds();
    MD_TRY(pass_period(sim));
    if (sim->step > step)
      out->step_s = fmin(out->step_s, (md_wall_seconds() - began) / (double)(sim->step - step));
  }
  out->steps = sim->step - first;
  out->rebuilds = sim->rebuilds - rebuilds;
  return MD_OK;
}

/* Let candidate k be the configuration's skin. */
static md_status set_skin(config *cfg, int k, double *skin)
{
  char text[32];
  const engine_spec *spec = config_get(cfg);
  const double unit = spec->eam ? spec->eam->cutoff / 2.5 : engine_most(spec).sigma;
  snprintf(text, sizeof text, "%g", multiples[k] * unit);
  MD_TRY(config_set(cfg, "neighbor.skin", text, "measured"));
  *skin = config_get(cfg)->skin;
  return config_check(cfg);
}

/* A thick skin may need more memory than there is, or larger bins than were asked for: such a
 * candidate is no choice, unless it is the first. */
static md_status measure(config *cfg, skin_choice *choice, int k)
{
  skin_trial *trial = &choice->trials[k];
  engine *sim = NULL;
  trial->step_s = INFINITY;
  md_status status = set_skin(cfg, k, &trial->skin);
  if (!status) status = engine_create(config_get(cfg), &sim);
  if ((status == MD_EINVAL || status == MD_ENOMEM) && k != SKIN_FIRST) return MD_OK;
  if (!status) status = time_steps(sim, trial);
  world_most(&trial->step_s, 1); /* one choice of all ranks */
  engine_destroy(sim);
  return status;
}

/* Move the choice that way while it becomes faster. */
static md_status climb(config *cfg, skin_choice *choice, int way)
{
  for (int k = choice->best + way; k >= 0 && k < SKIN_N_CANDIDATES; k += way) {
    MD_TRY(measure(cfg, choice, k));
    if (!(choice->trials[k].step_s < choice->trials[choice->best].step_s)) return MD_OK;
    choice->best = k;
  }
  return MD_OK;
}

/* What was measured, thinnest first. */
static md_status give_reason(skin_choice *choice)
{
  size_t size;
  FILE *text = open_memstream(&choice->reason, &size);
  MD_REQUIRE(text, MD_ENOMEM, "out of memory for the choice of a skin");
  const skin_trial *best = &choice->trials[choice->best];
  const char *before = "measured fastest, ms a step:";
  for (int k = 0; k < SKIN_N_CANDIDATES; k++) {
    const skin_trial *trial = &choice->trials[k];
    if (trial->skin == 0) continue;
    if (isfinite(trial->step_s))
      fprintf(text, "%s %g %.3g", before, trial->skin, 1e3 * trial->step_s);
    else
      fprintf(text, "%s %g does not fit", before, trial->skin);
    before = ",";
  }
  if (best->rebuilds > 0)
    fprintf(text, "; a build every %.3g steps", (double)best->steps / (double)best->rebuilds);
  else
    fprintf(text, "; no build in %" PRId64 " steps", best->steps);
  MD_REQUIRE(fclose(text) == 0, MD_ENOMEM, "out of memory for the choice of a skin");
  return MD_OK;
}

md_status skin_choose(config *cfg, skin_choice *out)
{
  double skin;
  *out = (skin_choice){.best = SKIN_FIRST};
  MD_TRY(measure(cfg, out, SKIN_FIRST));
  MD_TRY(climb(cfg, out, 1));
  if (out->best == SKIN_FIRST) MD_TRY(climb(cfg, out, -1));
  MD_TRY(set_skin(cfg, out->best, &skin));
  return give_reason(out);
}

void skin_free(skin_choice *choice)
{
  free(choice->reason);
  choice->reason = NULL;
}
