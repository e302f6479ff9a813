/* minimd/cmd_run.c - `minimd [run]`: settings from the command line, the loop over steps, the
 * report. */
#include "core/output.h"
#include "minimd/commands.h"
#include "minimd/locality.h"
#include "minimd/plot.h"
#include "minimd/progress.h"
#include "minimd/report.h"
#include "minimd/settings.h"
#include "minimd/system.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK = SETTINGS_COUNT, TRACE, FORMAT, OUTPUT, PLOT, QUIET, N_OPTIONS };

static void make_table(option *table)
{
  settings_table(table);
  table[CHECK] = (option){"check", 0, NULL, "print every setting with its origin, then stop"};
  table[TRACE] = (option){"trace", 0, "FILE",
                          "record what the last step's force kernel accesses in memory\n"
                          "(for `cachemodel --trace`)"};
  table[FORMAT] = (option)OPTION_FORMAT;
  table[OUTPUT] = (option)OPTION_OUTPUT;
  table[PLOT] = (option)OPTION_PLOT;
  table[QUIET] = (option)OPTION_QUIET;
}

static volatile sig_atomic_t stopped_by;

static void stop(int signal_number)
{
  stopped_by = signal_number;
}

int run_stopped_by(void)
{
  return (int)stopped_by;
}

static void print_settings_json(const config *cfg, FILE *stream)
{
  md_json json;
  md_json_begin(&json, stream);
  md_json_integer(&json, "schema", 1);
  config_json(cfg, &json);
  md_json_end(&json);
}

static void print_settings(const config *cfg, options_format format, FILE *stream)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  char value[CONFIG_TEXT_SIZE];
  if (format == OPTIONS_FORMAT_JSON) {
    print_settings_json(cfg, stream);
    return;
  }
  if (format == OPTIONS_FORMAT_CSV)
    fputs("key,value,origin\n", stream);
  else
    fprintf(stream, "input: %s\n", config_reading(cfg));
  for (int k = 0; k < n; k++) {
    const char *key = entries[k].key, *origin = config_origin(cfg, key);
    if (config_format_value(cfg, key, value, sizeof value)) continue;
    if (format == OPTIONS_FORMAT_CSV)
      fprintf(stream, strchr(value, ',') ? "%s,\"%s\",%s\n" : "%s,%s,%s\n", key, value, origin);
    else
      fprintf(stream, "%-22s %-24s %s\n", key, value, origin);
  }
}

/* Measure, print and remember one thermo line. */
static md_status thermo_line(report *run, options_format format, FILE *stream)
{
  if (run->n_thermo == run->thermo_room) {
    const int64_t room = run->thermo_room ? 2 * run->thermo_room : 64;
    engine_thermo *lines = realloc(run->thermo, (size_t)room * sizeof *lines);
    MD_REQUIRE(lines, MD_ENOMEM, "out of memory for %lld thermo lines", (long long)room);
    run->thermo = lines;
    run->thermo_room = room;
  }
  engine_thermo *line = &run->thermo[run->n_thermo];
  MD_TRY(engine_measure(run->sim, line));
  run->n_thermo++;
  md_phase_begin(run->sim->ctx, MD_PHASE_OUTPUT);
  report_thermo(line, format, stream);
  md_phase_end(run->sim->ctx, MD_PHASE_OUTPUT);
  return MD_OK;
}

static md_status run_steps(report *run, options_format format, FILE *stream, bool quiet)
{
  engine *sim = run->sim;
  const config_values *values = config_get(run->cfg);
  progress bar;
  progress_begin(&bar, values->steps, quiet);
  MD_TRY(thermo_line(run, format, stream));
  MD_TRY(md_ctx_sync(sim->ctx));
  md_timer_reset(sim->ctx);
  const double began = md_wall_seconds();
  md_status status = MD_OK;
  while (!status && sim->step < values->steps) {
    const int64_t next = sim->step + 1;
    const bool last = next == values->steps || stopped_by;
    const bool tally = last || (values->thermo > 0 && next % values->thermo == 0);
    status = engine_step(sim, tally);
    if (!status && tally) {
      progress_end(&bar);
      status = thermo_line(run, format, stream);
    }
    progress_update(&bar, sim->step);
    if (last) break;
  }
  if (!status) status = md_ctx_sync(sim->ctx);
  progress_end(&bar);
  run->steps = sim->step;
  run->wall_s = md_wall_seconds() - began;
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    run->phase_s[k] = md_phase_seconds(sim->ctx, (md_phase)k);
  return status;
}

/* trace, unless NULL, gets the accesses of the last step's forces. */
static md_status run_all(report *run, const options *opts, options_format format,
                         trace_writer *trace)
{
  const char *picture = options_value(opts, PLOT);
  if (picture) MD_TRY(plot_check(picture));
  const double began = md_wall_seconds();
  MD_TRY(engine_choose(config_get(run->cfg), &run->choice));
  MD_TRY(engine_create(run->cfg, &run->sim));
  MD_TRY(md_ctx_sync(run->sim->ctx));
  run->setup_s = md_wall_seconds() - began;
  md_output out;
  MD_TRY(md_output_open(options_value(opts, OUTPUT), &out));
  report_begin(run, format, out.stream);
  md_status status = run_steps(run, format, out.stream, options_value(opts, QUIET));
  if (!status && trace) {
    const list_input in = locality_input(run->sim);
    status = list_record(&in, trace);
  }
  if (status) {
    md_output_discard(&out);
    return status;
  }
  report_end(run, format, out.stream);
  MD_TRY(md_output_close(&out));
  return picture ? report_plot(run, picture) : MD_OK;
}

static md_status run_traced(report *run, const options *opts, options_format format)
{
  const char *path = options_value(opts, TRACE);
  trace_writer *trace = NULL;
  if (path) MD_TRY(trace_writer_open(path, &trace));
  const md_status status = run_all(run, opts, format, trace);
  if (!status && trace) return trace_writer_close(trace);
  trace_writer_discard(trace);
  return status;
}

static md_status settings_only(const config *cfg, const options *opts, options_format format)
{
  int64_t n;
  md_box box;
  MD_TRY(system_size(cfg, &n, &box)); /* a data file is part of the settings */
  md_output out;
  MD_TRY(md_output_open(options_value(opts, OUTPUT), &out));
  print_settings(cfg, format, out.stream);
  return md_output_close(&out);
}

md_status cmd_run(int argc, char **argv)
{
  option table[N_OPTIONS];
  make_table(table);
  options opts;
  config *cfg = NULL;
  report run = {0};
  int format = OPTIONS_FORMAT_TABLE;
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd [run] [-i FILE] [options]",
                 "Molecular dynamics of a Lennard-Jones fluid.", table, N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status)
    status = options_word(&opts, FORMAT, options_format_words, OPTIONS_FORMAT_COUNT, &format);
  if (!status) status = config_create(&cfg);
  if (!status) status = settings_read(cfg, &opts, 0);
  for (int k = 0; cfg && config_warning(cfg, k); k++)
    fprintf(stderr, "minimd: warning: %s\n", config_warning(cfg, k));
  if (!status) {
    run.cfg = cfg;
    if (options_value(&opts, CHECK)) {
      status = settings_only(cfg, &opts, (options_format)format);
    } else {
      signal(SIGINT, stop);
      signal(SIGTERM, stop);
      status = run_traced(&run, &opts, (options_format)format);
    }
  }
  free(run.thermo);
  engine_destroy(run.sim);
  config_destroy(cfg);
  options_free(&opts);
  return status;
}
