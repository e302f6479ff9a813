/* minimd/run/tune.c - see tune.h. */
#include "minimd/run/tune.h"
#include "core/time/timer.h"
#include "minimd/locality/locality.h"
#include "minimd/shell/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word, key) word,
const char *const tune_dimension_words[TUNE_DIMENSION_COUNT] = {TUNE_DIMENSIONS(WORD)};
#undef WORD
#define KEY(name, word, key) key,
static const char *const keys[TUNE_DIMENSION_COUNT] = {TUNE_DIMENSIONS(KEY)};
#undef KEY

/* On the lattice of the start atoms move as they never do again. */
enum { VARIANTS = TUNE_DIMENSION_COUNT + 2, REPEATS = 9, STEPS_LEAST = 20, STEPS_BEFORE = 100 };
static const double search_share = 0.6;

typedef struct {
  const tune_request *request;
  bool check;
  engine_state melt; /* where every run begins */
  bool alone;    /* on one thread of the CPU: other programs do not lengthen its processor time */
  double l1_hit; /* of the last run that was asked for it */
  int64_t atoms;
} timing;

/* ORDER:CUTOFF:ALPHA:MESH, as tune_values.c writes it. */
static md_status set_pme(config *cfg, const char *value)
{
  static const char *const parts[] = {"coulomb.order", "coulomb.cutoff", "coulomb.alpha"};
  char text[TUNE_VALUE], *rest = text;
  snprintf(text, sizeof text, "%s", value);
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    MD_TRY(config_set(cfg, parts[k], strsep(&rest, ":"), "tune"));
  for (char *x = rest; (x = strchr(x, 'x'));)
    *x = ',';
  return config_set(cfg, "coulomb.mesh", rest, "tune");
}

md_status tune_configure(const options *opts, const tune_point at, bool check, config **out)
{
  MD_TRY(config_create(out));
  md_status status = settings_read(*out, opts, 0);
  if (!status && check) status = config_set(*out, "neighbor.every", "check", "tune");
  for (int d = 0; !status && d < TUNE_DIMENSION_COUNT; d++)
    if (at[d][0])
      status = d == TUNE_PME ? set_pme(*out, at[d]) : config_set(*out, keys[d], at[d], "tune");
  if (!status) status = config_check(*out);
  if (!status) return MD_OK;
  config_destroy(*out);
  *out = NULL;
  return status;
}

md_status tune_save(const options *opts, const tune_point at, bool check, int64_t steps,
                    engine_state *out)
{
  config *cfg;
  engine *sim = NULL;
  MD_TRY(tune_configure(opts, at, check, &cfg));
  md_status status = engine_create(config_get(cfg), &sim);
  if (!status) status = engine_steps(sim, steps - 1);
  if (!status) status = engine_step(sim, true);
  if (!status) status = engine_save(sim, out);
  engine_destroy(sim);
  config_destroy(cfg);
  return status;
}

static double now(const timing *t)
{
  return t->alone ? md_cpu_seconds() : md_wall_seconds();
}

/* Time steps from the first list on. */
static md_status time_steps(timing *t, const tune_point at, int64_t steps, bool figures,
                            double *step_s, double *setup_s)
{
  const double start = now(t);
  config *cfg;
  engine *sim = NULL;
  double figure[LOCALITY_FIGURE_COUNT];
  MD_TRY(tune_configure(t->request->opts, at, t->check, &cfg));
  md_status status = engine_restore(config_get(cfg), &t->melt, false, &sim);
  if (!status) status = md_ctx_sync(sim->ctx);
  const double began = now(t);
  if (!status) status = engine_steps(sim, steps);
  if (!status) status = md_ctx_sync(sim->ctx);
  const double seconds = now(t) - began;
  *step_s = seconds / (double)steps;
  if (!status && figures) status = locality_of(sim, figure);
  if (!status && figures) t->l1_hit = figure[LOCALITY_L1_HIT];
  if (!status) t->atoms = sim->atoms->n_total;
  engine_destroy(sim);
  config_destroy(cfg);
  *setup_s = now(t) - start - seconds;
  return status;
}

static void record(FILE *trials, const tune_point at, int64_t steps, double step_s)
{
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    fprintf(trials, "%s,", at[d]);
  fprintf(trials, "%lld,", (long long)steps);
  if (isfinite(step_s)) fprintf(trials, "%.6g", 1e6 * step_s);
  fputs("\n", trials);
}

static double clock_of(void *with, const tune_point at, int64_t steps, double *setup_s)
{
  timing *t = with;
  double step_s;
  if (time_steps(t, at, steps, false, &step_s, setup_s)) step_s = INFINITY;
  if (t->request->trials) record(t->request->trials, at, steps, step_s);
  return step_s;
}

/* Who runs at the end: the winner, what it began from, and the winner with each choice taken
 * back. */
static int make_finalists(const tuning *t, tune_point *points, tune_dimension *back)
{
  int n = 0;
  memcpy(points[n++], t->best, sizeof(tune_point));
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    if (strcmp(t->best[d], t->from[d]) != 0) {
      back[n] = (tune_dimension)d;
      memcpy(points[n], t->best, sizeof(tune_point));
      memcpy(points[n++][d], t->from[d], TUNE_VALUE);
    }
  if (n > 1) {
    back[n] = TUNE_DIMENSION_COUNT;
    memcpy(points[n++], t->from, sizeof(tune_point));
  }
  return n;
}

/* seconds[finalist][repeat], each repeat in random sequence. */
static md_status run_finalists(timing *with, int n, tune_point *points, int64_t repeats,
                               int64_t steps, double seconds[][32], double *l1_hit)
{
  int order[VARIANTS];
  double setup_s;
  int32_t seed = 1 + (int32_t)fmod(1e9 * md_wall_seconds(), 2147483646);
  for (int64_t r = 0; r < repeats; r++) {
    compare_shuffle(n, &seed, order);
    for (int k = 0; k < n; k++) {
      const int v = order[k];
      MD_TRY(time_steps(with, points[v], steps, r == 0, &seconds[v][r], &setup_s));
      if (r == 0) l1_hit[v] = with->l1_hit;
    }
  }
  return MD_OK;
}

static md_status judge(timing *with, double budget, tuning *out)
{
  tune_point points[VARIANTS];
  tune_dimension back[VARIANTS] = {0};
  double seconds[VARIANTS][32], l1_hit[VARIANTS], work[32], step_s, setup_s;
  const int n = make_finalists(out, points, back);
  out->repeats = REPEATS;
  if (n > 1 && compare_repeats(n, 0) > REPEATS) out->repeats = compare_repeats(n, 0);
  if (out->repeats > 32) out->repeats = 32;
  MD_TRY(time_steps(with, out->best, STEPS_LEAST, false, &step_s, &setup_s));
  const double steps = (budget / (double)(n * out->repeats) - setup_s) / step_s;
  MD_TRY(run_finalists(with, n, points, out->repeats, (int64_t)fmax(STEPS_LEAST, steps), seconds,
                       l1_hit));
  out->runs += n * out->repeats;
  for (int v = 1; v < n; v++)
    out->choices[out->n_choices++] =
        (tune_choice){back[v],
                      compare_ratio(seconds[v], seconds[0], out->repeats, n, work),
                      {l1_hit[0], l1_hit[v]}};
  memcpy(out->kept, out->best, sizeof out->kept);
  for (int k = 0; k < out->n_choices; k++) {
    const tune_choice *c = &out->choices[k];
    if (c->dimension < TUNE_DIMENSION_COUNT && !tune_is_faster(c))
      memcpy(out->kept[c->dimension], out->from[c->dimension], TUNE_VALUE);
  }
  memcpy(work, seconds[0], sizeof work);
  out->step_s = compare_summarise(work, out->repeats);
  return MD_OK;
}

static md_status is_alone(const tune_request *request, bool *alone)
{
  static const tune_point none;
  config *cfg;
  engine_choice choice;
  MD_TRY(tune_configure(request->opts, none, false, &cfg));
  const md_status status = engine_choose(config_get(cfg), 0, NULL, &choice); /* the backend */
  *alone = !status && choice.backend == MD_CPU && config_get(cfg)->threads == 1 &&
           !request->over[TUNE_THREADS];
  config_destroy(cfg);
  return status;
}

static void head(FILE *trials)
{
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    fprintf(trials, "%s,", tune_dimension_words[d]);
  fputs("steps,us_per_step\n", trials);
}

/* Search, then tell apart what was found. */
static md_status work(timing *with, const tune_values *values, tuning *out)
{
  const tune_request *request = with->request;
  memcpy(out->best, out->from, sizeof out->best);
  if (!request->quiet)
    fprintf(stderr, "minimd: tuning takes about %.1f minutes\n", request->seconds / 60);
  if (request->trials) head(request->trials);
  MD_TRY(tune_search(values, request->exhaustive, search_share * request->seconds, clock_of, with,
                     out->best, &out->runs));
  MD_TRY(judge(with, (1 - search_share) * request->seconds, out));
  out->atoms = with->atoms;
  return tune_explain(request->opts, out);
}

md_status tune(const tune_request *request, tuning *out)
{
  tune_values values[TUNE_DIMENSION_COUNT];
  *out = (tuning){.check = request->over[TUNE_SKIN], .pme_error = NAN};
  for (int p = 0; p < MD_PRECISION_COUNT; p++)
    out->precision_error[p] = NAN;
  timing with = {.request = request, .check = out->check};
  MD_TRY(tune_make_values(request, values, out));
  MD_TRY(is_alone(request, &with.alone));
  /* Its error is the user's. */
  MD_TRY(tune_save(request->opts, out->from, out->check, STEPS_BEFORE, &with.melt));
  const md_status status = work(&with, values, out);
  engine_state_free(&with.melt);
  return status;
}
