/* minimd/cmd_compare.c - `minimd compare`: the same run under each ordering and list.
 *
 * Every repeat runs all variants one after the other, so that a machine that drifts slows them
 * alike.  Beside the times stand figures of locality (locality.h), of the list at the end of the
 * first repeat. */
#include "core/output.h"
#include "core/parse.h"
#include "minimd/commands.h"
#include "minimd/compare.h"
#include "minimd/plot.h"
#include "minimd/progress.h"
#include "minimd/settings.h"

#include <stdlib.h>

enum { REPEAT = SETTINGS_COUNT, FORMAT, OUTPUT, PLOT, QUIET, N_OPTIONS };

/* The command line's lists, which the variants' words point into. */
typedef struct {
  char **orders, **lists;
  int n_orders, n_lists;
} variant_words;

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
  v->seconds[COMPARE_TOTAL][repeat] = md_wall_seconds() - began;
  v->seconds[COMPARE_PROCESSOR][repeat] = md_cpu_seconds() - processor;
  return engine_measure(sim, &last);
}

static md_status set_variant(config *cfg, const compare_variant *v)
{
  MD_TRY(config_set(cfg, "order.curve", v->order, "--order"));
  if (v->list) MD_TRY(config_set(cfg, "neighbor.list", v->list, "--list"));
  return config_check(cfg);
}

static md_status run_once(comparison *all, compare_variant *v, int64_t repeat)
{
  static const md_phase phases[] = {
      [COMPARE_FORCE] = MD_PHASE_FORCE,
      [COMPARE_NEIGHBOR] = MD_PHASE_NEIGHBOR,
      [COMPARE_SORT] = MD_PHASE_SORT,
  };
  engine *sim;
  MD_TRY(set_variant(all->cfg, v));
  MD_TRY(engine_create(all->cfg, &sim));
  md_status status = run_steps(sim, config_get(all->cfg)->steps, v, repeat);
  for (int p = 0; p < COMPARE_TOTAL; p++)
    v->seconds[p][repeat] = md_phase_seconds(sim->ctx, phases[p]);
  if (!v->list) v->list = neighbor_list_words[neighbor_list_view(sim->list)->kind];
  v->atoms = sim->atoms->n_total;
  all->backend = sim->ctx->backend;
  if (!status && repeat == 0) status = locality_of(sim, v->figure);
  engine_destroy(sim);
  return status;
}

static md_status run_all(comparison *all, bool quiet)
{
  progress bar;
  md_status status = MD_OK;
  progress_begin(&bar, all->repeats * all->n, quiet);
  for (int64_t k = 0; !status && k < all->repeats * all->n; k++) {
    compare_variant *v = &all->variants[k % all->n];
    status = run_once(all, v, k / all->n);
    progress_update(&bar, k + 1);
    if (status) status = MD_FAIL(status, "%s: %s", v->order, md_message());
  }
  progress_end(&bar);
  return status;
}

/* Every pair of an order and a list, each a valid configuration. */
static md_status make_variants(comparison *all, const variant_words *words)
{
  all->n = words->n_orders * (words->lists ? words->n_lists : 1);
  all->variants = calloc((size_t)all->n, sizeof *all->variants);
  MD_REQUIRE(all->variants, MD_ENOMEM, "out of memory for %d variants", all->n);
  for (int k = 0; k < all->n; k++) {
    compare_variant *v = &all->variants[k];
    v->order = words->orders[k % words->n_orders];
    v->list = words->lists ? words->lists[k / words->n_orders] : NULL;
    MD_TRY(set_variant(all->cfg, v));
    for (int p = 0; p < COMPARE_TIME_COUNT; p++) {
      v->seconds[p] = calloc((size_t)all->repeats, sizeof(double));
      MD_REQUIRE(v->seconds[p], MD_ENOMEM, "out of memory for %lld repeats",
                 (long long)all->repeats);
    }
  }
  return MD_OK;
}

static md_status prepare(comparison *all, const options *opts, variant_words *words)
{
  const char *orders = options_value(opts, SETTINGS_ORDER);
  const char *lists = options_value(opts, SETTINGS_LIST), *picture = options_value(opts, PLOT);
  all->repeats = 5;
  MD_TRY(options_integer(opts, REPEAT, 1, 1000000, &all->repeats));
  if (picture) MD_TRY(plot_check(picture));
  MD_TRY(md_parse_list(orders ? orders : "none,row,morton,hilbert", "--order", &words->orders,
                       &words->n_orders));
  if (lists) MD_TRY(md_parse_list(lists, "--list", &words->lists, &words->n_lists));
  MD_TRY(config_create(&all->cfg));
  MD_TRY(settings_read(all->cfg, opts, 1u << SETTINGS_ORDER | 1u << SETTINGS_LIST));
  MD_REQUIRE(config_get(all->cfg)->steps > 0, MD_EINVAL,
             "run.steps is 0: a comparison needs at least 1 step");
  return make_variants(all, words);
}

static void release(comparison *all, variant_words *words)
{
  for (int k = 0; all->variants && k < all->n; k++)
    for (int p = 0; p < COMPARE_TIME_COUNT; p++)
      free(all->variants[k].seconds[p]);
  free(all->variants);
  config_destroy(all->cfg);
  free(words->orders);
  free(words->lists);
}

static md_status compare(comparison *all, const options *opts, variant_words *words)
{
  int format = OPTIONS_FORMAT_TABLE;
  MD_TRY(options_word(opts, FORMAT, options_format_words, OPTIONS_FORMAT_COUNT, &format));
  MD_TRY(prepare(all, opts, words));
  md_output out;
  MD_TRY(md_output_open(options_value(opts, OUTPUT), &out));
  const char *picture = options_value(opts, PLOT);
  md_status status = run_all(all, options_value(opts, QUIET));
  if (!status) compare_rank(all);
  if (!status && picture) status = compare_plot(all, picture); /* no rates from a run that fails */
  if (status) {
    md_output_discard(&out);
    return status;
  }
  compare_print(all, (options_format)format, opts, out.stream);
  return md_output_close(&out);
}

md_status cmd_compare(int argc, char **argv)
{
  option table[N_OPTIONS];
  settings_table(table);
  table[SETTINGS_ORDER].value = "LIST";
  table[SETTINGS_LIST].value = "LIST";
  table[REPEAT] = (option){"repeat", 0, "N", "runs of each variant, interleaved (5)"};
  table[FORMAT] = (option)OPTION_FORMAT;
  table[OUTPUT] = (option)OPTION_OUTPUT;
  table[PLOT] = (option)OPTION_PLOT;
  table[QUIET] = (option)OPTION_QUIET;
  options opts;
  comparison all = {0};
  variant_words words = {0};
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout, "minimd compare -i FILE --order LIST [--list LIST] [options]",
                 "The same run under each ordering: time per phase, spread, ranking, locality.",
                 table, N_OPTIONS);
  else if (!status)
    status = compare(&all, &opts, &words);
  release(&all, &words);
  options_free(&opts);
  return status;
}
