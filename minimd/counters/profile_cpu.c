/* minimd/counters/profile_cpu.c - see profile_cpu.h. */
#include "minimd/counters/profile_cpu_impl.h"
#include "minimd/counters/addresses.h"
#include "core/time/timer.h"
#include "minimd/run/compare.h"
#include "minimd/shell/settings.h"
#include "minimd/shell/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const profile_with_words[PROFILE_WITH_COUNT] = {PROFILE_WITH(WORD)};
static const char *const quantity_words[PROFILE_CPU_QUANTITY_COUNT] = {
    PROFILE_CPU_QUANTITIES(WORD)};
#undef WORD

enum { WARM, COLD, CACHES };
static const char *const caches_words[CACHES] = {"warm", "cold"};

/* One order and list. */
typedef struct {
  profile_cpu_case of;
  double force_s, least_s;
  struct {
    profile_cpu_figures measured, spread, modelled; /* spread in percent */
  } caches[CACHES];
} variant;

typedef struct {
  const profile_cpu_job *job;
  variant *variants; /* [n] */
  int n;
  bool measured, modelled;
  perf_counters counters;
} study;

static int64_t last_level_bytes(const machine *m)
{
  return m->level[m->n_levels - 1].bytes;
}

/* Put other data into every cache. */
static md_status flush(const machine *m)
{
  const int64_t bytes = 2 * last_level_bytes(m);
  volatile char *other = malloc((size_t)bytes);
  MD_REQUIRE(other, MD_ENOMEM, "out of memory: %" PRId64 " bytes to empty the caches", bytes);
  for (int64_t k = 0; k < bytes; k += 64)
    other[k] = (char)k;
  free((void *)other);
  return MD_OK;
}

/* Medians and spreads of the launches: values[launch][quantity]. */
static void summarise(const profile_cpu_figures *values, int64_t n, double *work, double *median,
                      double *spread)
{
  for (int q = 0; q < PROFILE_CPU_QUANTITY_COUNT; q++) {
    for (int64_t k = 0; k < n; k++)
      work[k] = values[k][q];
    median[q] = spread[q] = NAN;
    if (isnan(work[0])) continue;
    median[q] = compare_summarise(work, n).median; /* sorts them */
    spread[q] = median[q] > 0 ? 100 * (work[n - 1] - work[0]) / median[q] : 0;
  }
}

static md_status launch(const locality_run *run)
{
  return force_compute(run->sim->fc, run->sim->atoms, run->sim->list, NULL);
}

/* What the counters say of the launches. */
static md_status count(study *s, const locality_run *run, variant *v, int caches)
{
  const int64_t n = s->job->launches;
  profile_cpu_figures *values = calloc((size_t)n, sizeof *values);
  double *work = calloc((size_t)n, sizeof *work);
  md_status status = values && work
                         ? launch(run)
                         : MD_FAIL(MD_ENOMEM, "out of memory for %" PRId64 " launches", n);
  for (int64_t k = 0; !status && k < n; k++) {
    perf_reading readings[PERF_EVENT_COUNT];
    if (caches == COLD) status = flush(&s->job->m);
    perf_start(&s->counters);
    if (!status) status = launch(run);
    const md_status stopped = perf_stop(&s->counters, readings);
    if (!status) status = stopped;
    if (!status) profile_cpu_of_perf(readings, (double)v->of.atoms, values[k]);
  }
  if (!status) summarise(values, n, work, v->caches[caches].measured, v->caches[caches].spread);
  free(values);
  free(work);
  return status;
}

static md_status time_launches(const study *s, const locality_run *run, variant *v)
{
  const int64_t n = s->job->launches;
  double *seconds = calloc((size_t)n, sizeof *seconds);
  MD_REQUIRE(seconds, MD_ENOMEM, "out of memory for %" PRId64 " launches", n);
  md_status status = MD_OK;
  for (int64_t k = 0; !status && k < n; k++) {
    const double began = md_wall_seconds();
    status = launch(run);
    seconds[k] = md_wall_seconds() - began;
  }
  if (!status) v->force_s = compare_summarise(seconds, n).median; /* sorts them */
  if (!status) v->least_s = seconds[0];
  free(seconds);
  return status;
}

static md_status model(const study *s, const locality_run *run, variant *v)
{
  const hierarchy_options best = hierarchy_default();
  const machine *m = &s->job->m;
  hierarchy_result cold, warm;
  MD_TRY(locality_model(run, m, &best, &cold, &warm));
  profile_cpu_of_model(&cold, v->of.kind, m->n_levels, v->caches[COLD].modelled);
  profile_cpu_of_model(&warm, v->of.kind, m->n_levels, v->caches[WARM].modelled);
  return MD_OK;
}

static md_status grind(study *s, const locality_run *run, variant *v)
{
  char *missing = NULL;
  double *measured = v->caches[WARM].measured, *modelled = v->caches[WARM].modelled;
  md_status status = profile_cpu_grind(s->job, &v->of, measured, &missing);
  if (!status && !missing && s->job->addresses)
    status = profile_cpu_trace(s->job, &v->of, run->sim, measured, modelled, &missing);
  if (missing) fprintf(stderr, "minimd: warning: no counters: %s\n", missing);
  if (missing) s->measured = false;
  free(missing);
  return status;
}

/* Run a variant to the configuration's last step and look at its kernel, on one thread: counters
 * belong to a thread. */
static md_status look(study *s, variant *v)
{
  const profile_cpu_job *job = s->job;
  locality_run run;
  MD_TRY(locality_open(job->opts, job->listed, v->of.order, v->of.list, MACHINE_CPU, true, &run));
  v->of.kind = run.kind;
  v->of.atoms = run.sim->atoms->n;
  md_status status = MD_OK;
  if (job->times)
    status = job->addresses ? addresses_launch(run.sim, job->launches) : time_launches(s, &run, v);
  if (!status && s->modelled) status = model(s, &run, v);
  for (int c = 0; !status && c < CACHES; c++)
    if (s->measured && job->with == PROFILE_WITH_PERF && (c == WARM ? job->warm : job->cold))
      status = count(s, &run, v, c);
  if (!status && s->measured && job->with == PROFILE_WITH_CACHEGRIND) status = grind(s, &run, v);
  locality_close(&run);
  return status;
}

/* --- Printing */

static void print_case(table *t, const study *s, const variant *v)
{
  const config *cfg = s->job->cfg;
  table_text(t, v->of.order);
  table_text(t, neighbor_list_words[v->of.kind]);
  table_text(t, md_precision_words[config_get(cfg)->precision]);
  table_text(t, md_isa_words[md_isa_detect()]);
  table_integer(t, config_get(cfg)->steps);
  table_integer(t, v->of.atoms);
}

#define CASE_COLUMNS                                                                               \
  {"order", -10, 0}, {"list", -4, 0}, {"precision", -9, 0}, {"isa", -8, 0}, {"step", 6, 0},        \
  {                                                                                                \
    "atoms", 8, 0                                                                                  \
  }

static void print_times(const study *s, FILE *stream)
{
  static const table_column columns[] = {
      CASE_COLUMNS, {"launches", 8, 0}, {"force_us", 10, 2}, {"least_us", 10, 2}};
  const table_source source = {"profile", s->job->opts, s->job->cfg, MD_CPU, NULL};
  table t;
  table_begin_from(&t, stream, s->job->format, &source, columns, 9);
  for (int k = 0; k < s->n; k++) {
    print_case(&t, s, &s->variants[k]);
    table_integer(&t, s->job->launches);
    table_real(&t, 1e6 * s->variants[k].force_s);
    table_real(&t, 1e6 * s->variants[k].least_s);
  }
  table_end(&t);
}

static void print(const study *s, FILE *stream)
{
  static const table_column columns[] = {
      CASE_COLUMNS,        {"caches", -6, 0},        {"with", -10, 0},   {"quantity", -26, 0},
      {"measured", 12, 4}, {"spread_percent", 8, 2}, {"modelled", 12, 4}};
  const table_source source = {"profile", s->job->opts, s->job->cfg, MD_CPU, NULL};
  const profile_with with = s->measured ? s->job->with : PROFILE_WITH_MODEL;
  table t;
  table_begin_from(&t, stream, s->job->format, &source, columns, 12);
  for (int k = 0; k < s->n; k++)
    for (int c = 0; c < CACHES; c++) {
      const variant *v = &s->variants[k];
      if (!(c == WARM ? s->job->warm : s->job->cold)) continue;
      for (int q = 0; q < PROFILE_CPU_QUANTITY_COUNT; q++) {
        const double measured = v->caches[c].measured[q], modelled = v->caches[c].modelled[q];
        if (isnan(measured) && isnan(modelled)) continue;
        print_case(&t, s, v);
        table_text(&t, caches_words[c]);
        table_text(&t, profile_with_words[with]);
        table_text(&t, quantity_words[q]);
        table_real(&t, measured);
        table_real(&t, v->caches[c].spread[q]);
        table_real(&t, modelled);
      }
    }
  table_end(&t);
}

static md_status make_variants(study *s)
{
  const profile_cpu_job *job = s->job;
  const int lists = job->lists ? job->n_lists : 1;
  s->n = lists * job->n_orders;
  s->variants = calloc((size_t)s->n, sizeof *s->variants);
  MD_REQUIRE(s->variants, MD_ENOMEM, "out of memory for %d cases", s->n);
  for (int k = 0; k < s->n; k++) {
    variant *v = &s->variants[k];
    v->of.order = job->orders[k % job->n_orders];
    v->of.list = job->lists ? job->lists[k / job->n_orders] : NULL;
    MD_TRY(locality_check(job->opts, job->listed, v->of.order, v->of.list, MACHINE_CPU));
    for (int c = 0; c < CACHES; c++)
      for (int q = 0; q < PROFILE_CPU_QUANTITY_COUNT; q++)
        v->caches[c].measured[q] = v->caches[c].spread[q] = v->caches[c].modelled[q] = NAN;
  }
  return MD_OK;
}

static md_status open_counters(study *s)
{
  char *missing = NULL;
  if (!s->measured || s->job->with != PROFILE_WITH_PERF) return MD_OK;
  MD_TRY(perf_open(&s->counters, &missing));
  if (!missing) return MD_OK;
  fprintf(stderr, "minimd: warning: no counters: %s\n", missing);
  free(missing);
  s->measured = false;
  return MD_OK;
}

md_status profile_cpu(const profile_cpu_job *job, FILE *stream)
{
  study s = {.job = job,
             .measured = job->with != PROFILE_WITH_MODEL && !job->times,
             .modelled = job->model && !job->times};
  const bool grinds = job->with == PROFILE_WITH_CACHEGRIND && !job->times;
  if (grinds) setenv("MINIMD_ISA", "portable", 1); /* the kernel that is modelled */
  md_status status = make_variants(&s);
  if (!status) status = open_counters(&s);
  const bool opened = s.measured && job->with == PROFILE_WITH_PERF;
  for (int k = 0; !status && k < s.n; k++)
    status = look(&s, &s.variants[k]);
  if (!status && !s.measured && !s.modelled && !job->times)
    status = MD_FAIL(MD_EINVAL, "without counters and without the model there is nothing to print");
  if (!status && !(job->times && job->addresses)) (job->times ? print_times : print)(&s, stream);
  if (opened) perf_close(&s.counters);
  free(s.variants);
  return status;
}
