/* minimd/run/tune_values.c - the values that `tune` tries, and the errors of what is not exact
 * (tune.h). */
#include "core/hardware/processors.h"
#include "engine/system/system.h"
#include "minimd/run/tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY(name, word, key) key,
static const char *const keys[TUNE_DIMENSION_COUNT] = {TUNE_DIMENSIONS(KEY)};
#undef KEY

enum { STEPS_BEFORE_ERROR = 20 }; /* on the lattice of the start forces are 0 */

static void add(tune_values *to, const char *value)
{
  for (int k = 0; k < to->n; k++)
    if (strcmp(to->value[k], value) == 0) return;
  if (to->n < TUNE_VALUES) snprintf(to->value[to->n++], TUNE_VALUE, "%s", value);
}

static void add_list(tune_values *to, const char *words)
{
  char word[TUNE_VALUE];
  for (int used; sscanf(words, "%63s%n", word, &used) == 1; words += used)
    add(to, word);
}

/* --- Charges */

static void add_pme(tune_values *to, const pme_problem *p)
{
  char text[TUNE_VALUE];
  snprintf(text, sizeof text, "%d:%.9g:%.9g:%dx%dx%d", p->order, p->r_cut, p->alpha, p->mesh[0],
           p->mesh[1], p->mesh[2]);
  add(to, text);
}

/* Candidates whose estimated error is not above that of the settings as given. */
static md_status add_charges(const config *cfg, tune_values *to, double *error)
{
  static const int orders[] = {4, 6, 8};
  static const double cuts[] = {0.7, 0.85, 1, 1.2};
  engine *sim;
  MD_TRY(engine_create(config_get(cfg), &sim));
  const pme_problem given = sim->charges;
  engine_destroy(sim);
  *error = hypot(pme_real_error(&given), pme_mesh_error(&given));
  MD_REQUIRE(*error > 0, MD_EINVAL, "the estimated force error of the PME settings is %g", *error);
  add_pme(to, &given);
  for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
      pme_problem p = given;
      p.order = orders[k];
      p.r_cut = cuts[c] * given.r_cut;
      p.alpha = 0;
      p.mesh[0] = p.mesh[1] = p.mesh[2] = 0;
      const md_status status = pme_choose(&p, *error);
      if (status != MD_ECAPACITY) MD_TRY(status); /* no mesh is fine enough: no candidate */
      if (!status) add_pme(to, &p);
    }
  return MD_OK;
}

/* --- Precision */

typedef struct {
  int64_t id;
  double f[3];
} force_of;

static int by_id(const void *a, const void *b)
{
  const force_of *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

/* Forces at a saved state in another precision, by rising id. */
static md_status get_forces(const engine *sim, force_of *out)
{
  const int64_t n = sim->atoms->n;
  double *f = malloc((size_t)n * sizeof(double[3]));
  int64_t *id = malloc((size_t)n * sizeof *id);
  md_status status = f && id ? md_atoms_get(sim->atoms, NULL, NULL, f, id, NULL)
                             : MD_FAIL(MD_ENOMEM, "out of memory for forces");
  for (int64_t i = 0; !status && i < n; i++)
    out[i] = (force_of){id[i], {f[3 * i], f[3 * i + 1], f[3 * i + 2]}};
  if (!status) qsort(out, (size_t)n, sizeof *out, by_id);
  free(f);
  free(id);
  return status;
}

static md_status forces_of(const options *opts, const engine_state *at, int precision,
                           force_of *out)
{
  tune_point point = {""};
  config *cfg;
  engine *sim = NULL;
  snprintf(point[TUNE_PRECISION], TUNE_VALUE, "%s", md_precision_words[precision]);
  MD_TRY(tune_configure(opts, point, false, &cfg));
  md_status status = engine_restore(config_get(cfg), at, false, &sim);
  if (!status) status = get_forces(sim, out);
  engine_destroy(sim);
  config_destroy(cfg);
  return status;
}

md_status tune_measure_errors(const options *opts, tuning *out)
{
  tune_point exactly = {""};
  engine_state at = {0};
  snprintf(exactly[TUNE_PRECISION], TUNE_VALUE, "%s", md_precision_words[MD_DOUBLE]);
  MD_TRY(tune_save(opts, exactly, false, STEPS_BEFORE_ERROR, &at));
  force_of *exact = malloc((size_t)at.n * sizeof *exact), *f = malloc((size_t)at.n * sizeof *f);
  md_status status = exact && f ? forces_of(opts, &at, MD_DOUBLE, exact)
                                : MD_FAIL(MD_ENOMEM, "out of memory for forces");
  for (int p = 0; !status && p < MD_PRECISION_COUNT; p++) {
    double off = 0, all = 0;
    status = forces_of(opts, &at, p, f);
    for (int64_t k = 0; !status && k < 3 * at.n; k++) {
      const double f_exact = exact[k / 3].f[k % 3], difference = f[k / 3].f[k % 3] - f_exact;
      off += difference * difference;
      all += f_exact * f_exact;
    }
    out->precision_error[p] = off > 0 ? sqrt(off / all) : 0;
  }
  engine_state_free(&at);
  free(exact);
  free(f);
  return status;
}

/* The precision to begin from is the given one, or double where that is not allowed. */
static md_status add_precisions(const tune_request *request, md_precision given, tune_values *to,
                                tuning *out)
{
  MD_TRY(tune_measure_errors(request->opts, out));
  if (out->precision_error[given] <= request->error) add(to, md_precision_words[given]);
  add(to, md_precision_words[MD_DOUBLE]);
  for (int p = 0; p < MD_PRECISION_COUNT; p++)
    if (out->precision_error[p] <= request->error) add(to, md_precision_words[p]);
  return MD_OK;
}

/* --- All */

/* Whether the system has this dimension, and why not. */
static const char *lacks(int d, const engine_spec *spec, bool gpu)
{
  if (d == TUNE_BLOCK_SIZE && !gpu) return "blocks are a GPU's, and this runs on the CPU";
  if (d == TUNE_THREADS && gpu) return "threads are the CPU's, and this runs on a GPU";
  if (d == TUNE_PME && spec->coulomb != ENGINE_COULOMB_PME)
    return "there are no charges (coulomb.method is none)";
  return NULL;
}

/* The value as given. */
static md_status add_given(const config *cfg, int d, const engine_choice *choice, tune_values *to)
{
  const engine_spec *spec = config_get(cfg);
  const int64_t period = spec->every > 0 ? spec->every : 20;
  static char text[CONFIG_TEXT_SIZE]; /* too much for a small stack */
  MD_TRY(config_format_value(cfg, keys[d], text, sizeof text));
  char *value = text + (*text == '"');
  value[strcspn(value, "\"")] = '\0';
  if (d == TUNE_LIST) snprintf(value = text, sizeof text, "%s", neighbor_list_words[choice->list]);
  if (d == TUNE_THREADS)
    snprintf(value = text, sizeof text, "%d", spec->threads ? spec->threads : md_processors());
  if (d == TUNE_SORT_EVERY && spec->sort_every < 0)
    snprintf(value = text, sizeof text, "%" PRId64, period);
  if (strlen(value) < TUNE_VALUE) add(to, value);
  return MD_OK;
}

static void add_others(const engine_spec *spec, int d, bool gpu, tune_values *to)
{
  char text[TUNE_VALUE];
  const int64_t period = spec->every > 0 ? spec->every : 20;
  const double unit = spec->eam ? spec->eam->cutoff / 2.5 : engine_most(spec).sigma;
  if (d == TUNE_ORDER) add_list(to, "row morton hilbert");
  if (d == TUNE_LIST) add_list(to, gpu ? "full half tile" : "full half");
  if (d == TUNE_BIN_SIZE) add_list(to, "/1 /2 /3");
  if (d == TUNE_BLOCK_SIZE) add_list(to, "64 128 256 512");
  for (int many = 1; d == TUNE_SORT_EVERY && many <= 25; many *= 5) {
    snprintf(text, sizeof text, "%" PRId64, many * period);
    add(to, text);
  }
  for (int tenths = 2; d == TUNE_SKIN && tenths <= 7; tenths++) {
    snprintf(text, sizeof text, "%.6g", 0.1 * tenths * unit);
    add(to, text);
  }
  for (int n = 1; d == TUNE_THREADS && n <= md_processors(); n *= 2) {
    snprintf(text, sizeof text, "%d", n);
    add(to, text);
  }
}

static md_status make_values(const tune_request *request, const config *cfg,
                             tune_values values[TUNE_DIMENSION_COUNT], tuning *out)
{
  const engine_spec *spec = config_get(cfg);
  engine_choice choice;
  int64_t n;
  md_box box;
  MD_TRY(system_size(spec, &n, &box));
  MD_TRY(engine_choose(spec, n, &box, &choice));
  const bool gpu = choice.backend == MD_GPU;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++) {
    tune_values *to = &values[d];
    const char *lack = lacks(d, spec, gpu);
    to->n = 0;
    out->from[d][0] = '\0';
    MD_REQUIRE(!(lack && request->named && request->over[d]), MD_EINVAL, "--over %s: %s",
               tune_dimension_words[d], lack);
    if (!request->over[d] || lack) continue;
    if (d == TUNE_PME)
      MD_TRY(add_charges(cfg, to, &out->pme_error));
    else if (d == TUNE_PRECISION)
      MD_TRY(add_precisions(request, spec->precision, to, out));
    else
      MD_TRY(add_given(cfg, d, &choice, to));
    if (d != TUNE_PME && d != TUNE_PRECISION) add_others(spec, d, gpu, to);
    if (to->n) memcpy(out->from[d], to->value[0], TUNE_VALUE);
  }
  return MD_OK;
}

md_status tune_make_values(const tune_request *request, tune_values values[TUNE_DIMENSION_COUNT],
                           tuning *out)
{
  static const tune_point none;
  config *cfg;
  MD_TRY(tune_configure(request->opts, none, out->check, &cfg));
  const md_status status = make_values(request, cfg, values, out);
  config_destroy(cfg);
  return status;
}
