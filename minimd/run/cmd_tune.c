/* minimd/run/cmd_tune.c - `minimd tune`: the fastest settings for a system on this machine, what
 * each choice was worth, and a configuration to run. */
#include "core/parse/parse.h"
#include "minimd/run/tune.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/settings.h"
#include "minimd/shell/table.h"

#include <math.h>
#include <stdlib.h>

enum { FOR = SETTINGS_COUNT, OVER, ALLOWED, EXHAUSTIVE, TRIALS, FORMAT, OUTPUT, QUIET, N_OPTIONS };

/* Precision is no word of --over: --error asks for it. */
static md_status read_over(const options *opts, bool over[TUNE_DIMENSION_COUNT])
{
  const char *text = options_value(opts, OVER);
  char **words;
  int n, d;
  for (int k = 0; k < TUNE_DIMENSION_COUNT; k++)
    over[k] = k == TUNE_PRECISION ? options_value(opts, ALLOWED) != NULL : !text;
  if (!text) return MD_OK;
  MD_TRY(md_parse_list(text, "--over", &words, &n));
  md_status status = MD_OK;
  for (int k = 0; !status && k < n; k++) {
    status = options_blame(opts, OVER,
                           md_parse_word(words[k], tune_dimension_words, TUNE_PRECISION, &d));
    if (!status) over[d] = true;
  }
  free(words);
  return status;
}

static const char *verdict(const tune_choice *c)
{
  return tune_is_faster(c) ? "faster" : c->worth.high < 1 ? "slower" : "not told apart";
}

static void print_errors(const tuning *t, FILE *stream)
{
  if (!isnan(t->precision_error[0]))
    fprintf(stream,
            "precision: relative rms error of forces, against double at the same positions: single "
            "%.2g, mixed %.2g\n",
            t->precision_error[MD_SINGLE], t->precision_error[MD_MIXED]);
  if (!isnan(t->pme_error))
    fprintf(stream,
            "pme ORDER:CUTOFF:ALPHA:MESH: estimated rms force error at most %.3g, as given\n",
            t->pme_error);
}

/* The choices that the configuration has. */
static void print_kept(const tuning *t, FILE *stream)
{
  int kept = 0;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    if (strcmp(t->kept[d], t->from[d]) != 0)
      fprintf(stream, "%s %s %s", kept++ ? "," : "kept:", tune_dimension_words[d], t->kept[d]);
  if (kept > 0)
    fputs(" (told to be faster; the configuration of -o has these)\n", stream);
  else
    fputs("kept: the settings as given (no choice was told to be faster)\n", stream);
}

static void print_lines(const void *report, FILE *stream)
{
  const tuning *t = report;
  const double unit = 1e9 / (double)t->atoms;
  fprintf(stream, "\n%s", t->n_choices ? "fastest:" : "the settings as given are the fastest:");
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    if (t->best[d][0]) fprintf(stream, " %s %s,", tune_dimension_words[d], t->best[d]);
  fprintf(stream, " %.4g ns an atom and step (95 %% interval %.4g to %.4g), %lld runs\n",
          unit * t->step_s.median, unit * t->step_s.low, unit * t->step_s.high, (long long)t->runs);
  if (t->n_choices) print_kept(t, stream);
  print_errors(t, stream);
  fprintf(stream, "why: %s\n     %s\n", t->model, t->counters);
}

static void write_point(md_json *json, const char *key, const tune_point at)
{
  md_json_open(json, key, '{');
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    if (at[d][0]) md_json_string(json, tune_dimension_words[d], at[d]);
  md_json_close(json, '}');
}

static void write_members(const void *report, md_json *json)
{
  const tuning *t = report;
  const double unit = 1e9 / (double)t->atoms;
  write_point(json, "as_given", t->from);
  write_point(json, "fastest", t->best);
  write_point(json, "kept", t->kept);
  md_json_number(json, "ns_per_atom_step", unit * t->step_s.median);
  md_json_number(json, "ns_per_atom_step_low", unit * t->step_s.low);
  md_json_number(json, "ns_per_atom_step_high", unit * t->step_s.high);
  md_json_integer(json, "runs", t->runs);
  md_json_open(json, "precision_error", '{');
  for (int p = 0; p < MD_PRECISION_COUNT; p++)
    md_json_number(json, md_precision_words[p], t->precision_error[p]);
  md_json_close(json, '}');
  md_json_number(json, "pme_error", t->pme_error);
  md_json_string(json, "model", t->model);
  md_json_string(json, "counters", t->counters);
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
  const table_notes notes = {print_lines, write_members};
  table_end_with(&out, &notes, t, options_value(opts, QUIET));
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

static md_status read_request(const options *opts, tune_request *out)
{
  double minutes = 2;
  MD_TRY(options_number(opts, FOR, 0.001, 10000, &minutes));
  MD_TRY(options_number(opts, ALLOWED, 0, 1, &out->error));
  out->opts = opts;
  out->seconds = 60 * minutes;
  out->named = options_value(opts, OVER);
  out->exhaustive = options_value(opts, EXHAUSTIVE);
  out->quiet = options_value(opts, QUIET);
  return read_over(opts, out->over);
}

/* The search, its runs written down where a file is wanted. */
static md_status run(tune_request *request, const char *trials, tuning *result)
{
  md_output out;
  if (!trials) return tune(request, result);
  MD_TRY(md_output_open(trials, &out));
  request->trials = out.stream;
  const md_status status = tune(request, result);
  if (!status) return md_output_close(&out);
  md_output_discard(&out);
  return status;
}

static md_status answer(const options *opts)
{
  int format = OPTIONS_FORMAT_TABLE;
  tune_request request = {.opts = opts};
  tuning result;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  MD_TRY(options_writes(opts, TRIALS));
  MD_TRY(read_request(opts, &request));
  MD_TRY(run(&request, options_value(opts, TRIALS), &result));
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
                         "of order,list,bin-size,sort-every,skin,block-size,threads,pme (all);\n"
                         "skin: with lists built when an atom moved half of it;\n"
                         "pme: order, cutoff, alpha and mesh, at no more than the estimated force\n"
                         "error of the settings as given"};
  known[ALLOWED] = (option){"error", 0, "E",
                            "also tune the precision, where it is not more wrong than E: the\n"
                            "relative rms difference of forces from double precision, measured"};
  known[EXHAUSTIVE] = (option){"exhaustive", 0, NULL, "try every combination: long"};
  known[TRIALS] = (option){"trials", 0, "FILE", "write every run of the search as CSV"};
  known[FORMAT] = (option)OPTION_FORMAT;
  known[OUTPUT] = (option){"output", 'o', "FILE",
                           "write the configuration (libconfig): as given, with the choices that\n"
                           "were told to be faster"};
  known[QUIET] = (option)OPTION_QUIET;
  options opts;
  md_status status = options_parse(known, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(
        stdout, "minimd tune -i FILE [--for X] [--over LIST] [--error E] [-o tuned.cfg]",
        "The fastest settings for this system on this machine: a row for each choice that\n"
        "differs from the settings as given, and what it is worth: the time without it over\n"
        "the time with it, and a 95 % interval.",
        known, N_OPTIONS);
  else if (!status)
    status = answer(&opts);
  options_free(&opts);
  return status;
}
