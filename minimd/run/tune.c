/* minimd/run/tune.c - see tune.h. */
#include "minimd/run/tune.h"
#include "core/processors.h"
#include "core/timer.h"
#include "minimd/locality/locality.h"
#include "minimd/shell/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word, key) word,
const char *const tune_dimension_words[TUNE_DIMENSION_COUNT] = {TUNE_DIMENSIONS(WORD)};
#undef WORD
#define KEY(name, word, key) key,
static const char *const keys[TUNE_DIMENSION_COUNT] = {TUNE_DIMENSIONS(KEY)};
#undef KEY

enum { VARIANTS = TUNE_DIMENSION_COUNT + 2, REPEATS = 9, STEPS_LEAST = 20 };
static const double search_share = 0.6;

typedef struct {
  const options *opts;
  bool check, quiet;
  double l1_hit; /* of the last run that was asked for it */
  int64_t atoms;
} timing;

md_status tune_configure(const options *opts, const tune_point at, bool check, config **out)
{
  MD_TRY(config_create(out));
  md_status status = settings_read(*out, opts, 0);
  if (!status && check) status = config_set(*out, "neighbor.every", "check", "tune");
  for (int d = 0; !status && d < TUNE_DIMENSION_COUNT; d++)
    if (at[d][0]) status = config_set(*out, keys[d], at[d], "tune");
  if (!status) status = config_check(*out);
  if (!status) return MD_OK;
  config_destroy(*out);
  *out = NULL;
  return status;
}

/* Time steps from the first list on. */
static md_status time_steps(timing *t, const tune_point at, int64_t steps, bool figures,
                            double *step_s)
{
  config *cfg;
  engine *sim = NULL;
  double figure[LOCALITY_FIGURE_COUNT];
  MD_TRY(tune_configure(t->opts, at, t->check, &cfg));
  md_status status = engine_create(config_get(cfg), &sim);
  if (!status) status = md_ctx_sync(sim->ctx);
  const double began = md_wall_seconds();
  if (!status) status = engine_steps(sim, steps);
  if (!status) status = md_ctx_sync(sim->ctx);
  *step_s = (md_wall_seconds() - began) / (double)steps;
  if (!status && figures) status = locality_of(sim, figure);
  if (!status && figures) t->l1_hit = figure[LOCALITY_L1_HIT];
  if (!status) t->atoms = sim->atoms->n_total;
  engine_destroy(sim);
  config_destroy(cfg);
  return status;
}

static double clock_of(void *with, const tune_point at, int64_t steps)
{
  double step_s;
  return time_steps(with, at, steps, false, &step_s) ? INFINITY : step_s;
}

static void add(tune_values *to, const char *value)
{
  for (int k = 0; k < to->n; k++)
    if (strcmp(to->value[k], value) == 0) return;
  if (to->n < 16) snprintf(to->value[to->n++], TUNE_VALUE, "%.*s", TUNE_VALUE - 1, value);
}

static void add_list(tune_values *to, const char *words)
{
  char word[TUNE_VALUE];
  for (int used; sscanf(words, "%31s%n", word, &used) == 1; words += used)
    add(to, word);
}

/* The value that a point begins from, then the others.  What cannot be had drops out in the
 * search. */
static md_status make_values(const config *cfg, const bool *over,
                             tune_values values[TUNE_DIMENSION_COUNT], tune_point from)
{
  const engine_spec *spec = config_get(cfg);
  engine_choice choice;
  char text[CONFIG_TEXT_SIZE];
  MD_TRY(engine_choose(spec, &choice));
  const bool gpu = choice.backend == MD_GPU;
  const int64_t period = spec->every > 0 ? spec->every : 20;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++) {
    values[d].n = 0;
    from[d][0] = '\0';
    if (!over[d] || (d == TUNE_BLOCK_SIZE && !gpu) || (d == TUNE_THREADS && gpu)) continue;
    MD_TRY(config_format_value(cfg, keys[d], text, sizeof text));
    char *value = text + (*text == '"');
    value[strcspn(value, "\"")] = '\0';
    if (d == TUNE_LIST) value = strdupa(neighbor_list_words[choice.list]);
    if (d == TUNE_THREADS)
      snprintf(value = text, sizeof text, "%d", spec->threads ? spec->threads : md_processors());
    if (d == TUNE_SORT_EVERY && spec->sort_every < 0)
      snprintf(value = text, sizeof text, "%" PRId64, period);
    if (strlen(value) < TUNE_VALUE) add(&values[d], value);
    if (values[d].n) snprintf(from[d], TUNE_VALUE, "%s", value);
  }
  if (over[TUNE_ORDER]) add_list(&values[TUNE_ORDER], "row morton hilbert");
  if (over[TUNE_LIST]) add_list(&values[TUNE_LIST], gpu ? "full half tile" : "full half");
  if (over[TUNE_BIN_SIZE]) add_list(&values[TUNE_BIN_SIZE], "/1 /2 /3");
  for (int many = 1; over[TUNE_SORT_EVERY] && many <= 25; many *= 5) {
    snprintf(text, sizeof text, "%" PRId64, many * period);
    add(&values[TUNE_SORT_EVERY], text);
  }
  for (int tenths = 2; over[TUNE_SKIN] && tenths <= 7; tenths++) {
    snprintf(text, sizeof text, "%.6g", 0.1 * tenths * engine_most(spec).sigma);
    add(&values[TUNE_SKIN], text);
  }
  if (values[TUNE_BLOCK_SIZE].n) add_list(&values[TUNE_BLOCK_SIZE], "64 128 256 512");
  for (int n = 1; values[TUNE_THREADS].n && n <= md_processors(); n *= 2) {
    snprintf(text, sizeof text, "%d", n);
    add(&values[TUNE_THREADS], text);
  }
  return MD_OK;
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
  int32_t seed = 1 + (int32_t)fmod(1e9 * md_wall_seconds(), 2147483646);
  for (int64_t r = 0; r < repeats; r++) {
    compare_shuffle(n, &seed, order);
    for (int k = 0; k < n; k++) {
      const int v = order[k];
      MD_TRY(time_steps(with, points[v], steps, r == 0, &seconds[v][r]));
      if (r == 0) l1_hit[v] = with->l1_hit;
    }
  }
  return MD_OK;
}

static md_status judge(timing *with, double budget, tuning *out)
{
  tune_point points[VARIANTS];
  tune_dimension back[VARIANTS] = {0};
  double seconds[VARIANTS][32], l1_hit[VARIANTS], work[32], step_s;
  const int n = make_finalists(out, points, back);
  out->repeats = REPEATS;
  if (n > 1 && compare_repeats(n, 0) > REPEATS) out->repeats = compare_repeats(n, 0);
  if (out->repeats > 32) out->repeats = 32;
  MD_TRY(time_steps(with, out->best, STEPS_LEAST, false, &step_s));
  const double steps = budget / ((double)(n * out->repeats) * step_s);
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

md_status tune(const options *opts, const bool over[TUNE_DIMENSION_COUNT], double seconds,
               bool quiet, tuning *out)
{
  tune_values values[TUNE_DIMENSION_COUNT];
  static const tune_point none;
  config *cfg;
  double step_s;
  *out = (tuning){.check = over[TUNE_SKIN]};
  timing with = {.opts = opts, .check = over[TUNE_SKIN], .quiet = quiet};
  MD_TRY(tune_configure(opts, none, out->check, &cfg));
  const md_status status = make_values(cfg, over, values, out->from);
  config_destroy(cfg);
  MD_TRY(status);
  MD_TRY(time_steps(&with, out->from, STEPS_LEAST, false, &step_s)); /* its error is the user's */
  memcpy(out->best, out->from, sizeof out->best);
  if (!quiet) fprintf(stderr, "minimd: tuning takes about %.1f minutes\n", seconds / 60);
  tune_search(values, search_share * seconds, clock_of, &with, out->best, &out->runs);
  const md_status judged = judge(&with, (1 - search_share) * seconds, out);
  out->atoms = with.atoms;
  return judged;
}
