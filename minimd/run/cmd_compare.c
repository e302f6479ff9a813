/* minimd/run/cmd_compare.c - `minimd compare`: the same run under each ordering and list. */
#include "comm/world.h"
#include "core/output/output.h"
#include "core/parse/parse.h"
#include "minimd/shell/commands.h"
#include "minimd/run/compare.h"
#include "minimd/run/same.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/settings.h"

#include <stdlib.h>
#include <string.h>

enum { REPEAT = SETTINGS_COUNT, FORMAT, OUTPUT, PLOT, QUIET, N_OPTIONS };

/* The command line's lists, which the variants' words point into. */
typedef struct {
  char **orders, **lists, **cuts;
  int n_orders, n_lists, n_cuts;
} variant_words;

/* Every order with every list and cut, each a valid configuration. */
static md_status make_variants(comparison *all, const options *opts, const variant_words *words)
{
  const int n_lists = words->lists ? words->n_lists : 1, n_cuts = words->cuts ? words->n_cuts : 1;
  all->n = words->n_orders * n_lists * n_cuts;
  all->repeats = compare_repeats(all->n, 1);
  MD_TRY(options_integer(opts, REPEAT, 1, 1000000, &all->repeats));
  all->variants = calloc((size_t)all->n, sizeof *all->variants);
  MD_REQUIRE(all->variants, MD_ENOMEM, "out of memory for %d variants", all->n);
  for (int k = 0; k < all->n; k++) {
    compare_variant *v = &all->variants[k];
    v->order = words->orders[k % words->n_orders];
    v->list = words->lists ? words->lists[k / words->n_orders % n_lists] : NULL;
    v->cut = words->cuts ? words->cuts[k / words->n_orders / n_lists] : NULL;
    MD_TRY(compare_set(all->cfg, v));
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
  const char *cuts = options_value(opts, SETTINGS_CUT);
  if (picture) MD_TRY(plot_check(picture));
  MD_TRY(md_parse_list(orders ? orders : "none,row,morton,hilbert", "--order", &words->orders,
                       &words->n_orders));
  if (lists) MD_TRY(md_parse_list(lists, "--list", &words->lists, &words->n_lists));
  if (cuts) MD_TRY(md_parse_list(cuts, "--cut", &words->cuts, &words->n_cuts));
  MD_TRY(config_create(&all->cfg));
  MD_TRY(settings_read(all->cfg, opts,
                       1u << SETTINGS_ORDER | 1u << SETTINGS_LIST | 1u << SETTINGS_CUT));
  MD_REQUIRE(config_get(all->cfg)->steps > 0, MD_EINVAL,
             "run.steps is 0: a comparison needs at least 1 step");
  return make_variants(all, opts, words);
}

/* All ranks compare the same. */
static md_status same_variants(const comparison *all)
{
  MD_TRY(ranks_same_program(all->cfg));
  MD_TRY(world_same("the number of repeats", &all->repeats, sizeof all->repeats));
  MD_TRY(world_same("the number of variants", &all->n, sizeof all->n));
  for (int k = 0; k < all->n; k++) {
    const compare_variant *v = &all->variants[k];
    const char *const words[] = {v->order, v->list ? v->list : "", v->cut ? v->cut : ""};
    for (int w = 0; w < 3; w++)
      MD_TRY(world_same("a variant", words[w], strlen(words[w])));
  }
  return MD_OK;
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
  free(words->cuts);
}

static md_status compare(comparison *all, const options *opts, variant_words *words)
{
  int format = OPTIONS_FORMAT_TABLE;
  const bool first = world_rank() == 0;
  md_output out;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  MD_TRY(world_agree(prepare(all, opts, words)));
  MD_TRY(same_variants(all));
  MD_TRY(world_agree(md_output_open(first ? options_value(opts, OUTPUT) : NULL, &out)));
  const char *picture = first ? options_value(opts, PLOT) : NULL;
  md_status status = compare_run(all, !first || options_value(opts, QUIET));
  if (!status) status = compare_rank(all);
  if (!status && picture) status = compare_plot(all, picture); /* no rates from a run that fails */
  if (!status) status = compare_print(all, (options_format)format, opts, out.stream);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  return md_output_close(&out);
}

md_status cmd_compare(int argc, char **argv)
{
  option table[N_OPTIONS];
  settings_table(table);
  table[SETTINGS_ORDER].value = "LIST";
  table[SETTINGS_LIST].value = "LIST";
  table[SETTINGS_CUT].value = "LIST";
  table[REPEAT] =
      (option){"repeat", 0, "N",
               "runs of each variant, in random order (enough to rank: 9 for 2, 12 for 4)"};
  table[FORMAT] = (option)OPTION_FORMAT;
  table[OUTPUT] = (option)OPTION_OUTPUT;
  table[PLOT] = (option)OPTION_PLOT;
  table[QUIET] = (option)OPTION_QUIET;
  options opts;
  comparison all = {0};
  variant_words words = {0};
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout, "minimd compare -i FILE --order LIST [--list LIST] [--cut LIST] [options]",
                 "The same run under each ordering: time per phase, spread, ranking, locality.",
                 table, N_OPTIONS);
  else if (!status)
    status = compare(&all, &opts, &words);
  release(&all, &words);
  options_free(&opts);
  return status;
}
