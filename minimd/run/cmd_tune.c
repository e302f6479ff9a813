/* minimd/run/cmd_tune.c - `minimd tune`: the fastest settings for a system on this machine, what
 * each choice was worth, and a configuration to run. */
#include "core/parse/parse.h"
#include "minimd/run/tune.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/settings.h"
#include "minimd/shell/table.h"

#include <stdlib.h>

enum { FOR = SETTINGS_COUNT, OVER, FORMAT, OUTPUT, QUIET, N_OPTIONS };

static md_status read_over(const options *opts, bool over[TUNE_DIMENSION_COUNT])
{
  const char *text = options_value(opts, OVER);
  char **words;
  int n, d;
  for (int k = 0; k < TUNE_DIMENSION_COUNT; k++)
    over[k] = !text;
  if (!text) return MD_OK;
  MD_TRY(md_parse_list(text, "--over", &words, &n));
  md_status status = MD_OK;
  for (int k = 0; !status && k < n; k++) {
    status = options_blame(opts, OVER,
                           md_parse_word(words[k], tune_dimension_words, TUNE_DIMENSION_COUNT, &d));
    if (!status) over[d] = true;
  }
  free(words);
  return status;
}

static const char *verdict(const tune_choice *c)
{
  return tune_is_faster(c) ? "faster" : c->worth.high < 1 ? "slower" : "not told apart";
}

static void print(const tuning *t, const options *opts, options_format format, FILE *stream)
{
  static const table_column columns[] = {{"choice", -10, 0},       {"value", -10, 0},
                                         {"instead_of", -10, 0},   {"worth", 7, 4},
                                         {"worth_low", 7, 4},      {"worth_high", 7, 4},
                                         {"verdict", -14, 0},      {"l1_hit", 6, 4},
                                         {"l1_hit_instead", 6, 4}, {"ns_per_atom_step", 8, 4},
                                         {"atoms", 8, 0},          {"repeats", 3, 0}};
  table out;
  table_begin(&out, stream, format, "tune", opts, columns, 12);
  for (int k = 0; k < t->n_choices; k++) {
    const tune_choice *c = &t->choices[k];
    const bool all = c->dimension == TUNE_DIMENSION_COUNT;
    table_text(&out, all ? "all" : tune_dimension_words[c->dimension]);
    table_text(&out, all ? "tuned" : t->best[c->dimension]);
    table_text(&out, all ? "as given" : t->from[c->dimension]);
    table_real(&out, c->worth.median);
    table_real(&out, c->worth.low);
    table_real(&out, c->worth.high);
    table_text(&out, verdict(c));
    table_real(&out, c->l1_hit[0]);
    table_real(&out, c->l1_hit[1]);
    table_real(&out, 1e9 * t->step_s.median / (double)t->atoms);
    table_integer(&out, t->atoms);
    table_integer(&out, t->repeats);
  }
  table_end(&out);
  if (format != OPTIONS_FORMAT_TABLE) return;
  fprintf(stream, "%s%.4g ns an atom and step (95 %% interval %.4g to %.4g), %lld runs\n",
          t->n_choices ? "\nfastest: " : "the settings as given are the fastest found: ",
          1e9 * t->step_s.median / (double)t->atoms, 1e9 * t->step_s.low / (double)t->atoms,
          1e9 * t->step_s.high / (double)t->atoms, (long long)t->runs);
}

static md_status write_config(const options *opts, const tuning *t)
{
  config *cfg;
  md_output out;
  if (!options_value(opts, OUTPUT)) return MD_OK;
  MD_TRY(tune_configure(opts, t->kept, t->check, &cfg));
  md_status status = md_output_open(options_value(opts, OUTPUT), &out);
  if (!status) {
    config_write(cfg, out.stream);
    status = md_output_close(&out);
  }
  config_destroy(cfg);
  return status;
}

static md_status answer(const options *opts)
{
  bool over[TUNE_DIMENSION_COUNT];
  int format = OPTIONS_FORMAT_TABLE;
  double minutes = 2;
  tuning result;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  MD_TRY(options_number(opts, FOR, 0.001, 10000, &minutes));
  MD_TRY(read_over(opts, over));
  MD_TRY(tune(opts, over, 60 * minutes, options_value(opts, QUIET), &result));
  MD_TRY(write_config(opts, &result));
  print(&result, opts, (options_format)format, stdout);
  return MD_OK;
}

md_status cmd_tune(int argc, char **argv)
{
  option known[N_OPTIONS];
  settings_table(known);
  known[FOR] = (option){"for", 0, "X", "minutes to spend (2)"};
  known[OVER] = (option){"over", 0, "LIST",
                         "of order,list,bin-size,sort-every,skin,block-size,threads (all);\n"
                         "skin: with lists built when an atom moved half of it"};
  known[FORMAT] = (option)OPTION_FORMAT;
  known[OUTPUT] = (option){"output", 'o', "FILE",
                           "write the configuration (libconfig): as given, with the choices that\n"
                           "were told to be faster"};
  known[QUIET] = (option)OPTION_QUIET;
  options opts;
  md_status status = options_parse(known, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(
        stdout, "minimd tune -i FILE [--for X] [--over LIST] [-o tuned.cfg]",
        "The fastest settings for this system on this machine: a row for each choice that\n"
        "differs from the settings as given, and what it is worth: the time without it over\n"
        "the time with it, and a 95 % interval.",
        known, N_OPTIONS);
  else if (!status)
    status = answer(&opts);
  options_free(&opts);
  return status;
}
