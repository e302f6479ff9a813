/* minimd/run/cmd_run.c - `minimd [run]`: settings from the command line, the loop over steps, the
 * report. */
#include "comm/world.h"
#include "core/output/output.h"
#include "core/output/quote.h"
#include "minimd/shell/commands.h"
#include "minimd/locality/locality.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/progress.h"
#include "minimd/run/report.h"
#include "minimd/run/same.h"
#include "minimd/run/saves.h"
#include "minimd/shell/settings.h"
#include "minimd/signals.h"
#include "engine/system/system.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Options of a run alone that set a key of the configuration. */
#define SAVED(X)                                                                                   \
  X(DUMP, "dump", "FILE", "trajectory: .xyz (extended XYZ), .lammpstrj or .dcd", "output.dump")    \
  X(DUMP_EVERY, "dump-every", "N", "steps between frames; 0: first and last only",                 \
    "output.dump_every")                                                                           \
  X(CHECKPOINT, "checkpoint", "FILE",                                                              \
    "state to restart from, written at the end; the one before stays as\nFILE.prev",               \
    "output.checkpoint")                                                                           \
  X(CHECKPOINT_EVERY, "checkpoint-every", "N", "steps between checkpoints; 0: at the end only",    \
    "output.checkpoint_every")
enum {
  FIRST_SAVED = SETTINGS_COUNT - 1,
#define MD_ENUM_(name, word, value, help, key) name,
  SAVED(MD_ENUM_)
#undef MD_ENUM_
      RESTART,
  CHECK,
  TRACE,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static void make_table(option *table)
{
  settings_table(table);
#define ROW(name, word, value, help, key) table[name] = (option){word, 0, value, help};
  SAVED(ROW)
#undef ROW
  table[RESTART] = (option){"restart", 0, "FILE",
                            "go on from a checkpoint, with its configuration; --steps is the step\n"
                            "to reach, counted from the first start"};
  table[CHECK] = (option){"check", 0, NULL, "print every setting with its origin, then stop"};
  table[TRACE] = (option){"trace", 0, "FILE",
                          "record what the last step's force kernel accesses in memory\n"
                          "(for `cachemodel --trace`)"};
  table[FORMAT] = (option)OPTION_FORMAT;
  table[OUTPUT] = (option)OPTION_OUTPUT;
  table[PLOT] = (option)OPTION_PLOT;
  table[QUIET] = (option)OPTION_QUIET;
}

static void print_settings_json(const config *cfg, FILE *stream)
{
  md_json json;
  md_json_begin(&json, stream);
  md_json_integer(&json, "schema", OPTIONS_JSON_SCHEMA);
  config_json(cfg, &json);
  md_json_end(&json);
}

static void print_settings(const config *cfg, options_format format, FILE *stream)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  static char value[CONFIG_TEXT_SIZE]; /* too much for a small stack */
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
    if (format == OPTIONS_FORMAT_CSV) {
      fprintf(stream, "%s,", key);
      md_quote_csv(stream, value);
      fputc(',', stream);
      md_quote_csv(stream, origin);
      fputc('\n', stream);
    } else {
      fprintf(stream, "%-22s %-24s %s\n", key, value, origin);
    }
  }
}

/* Measure, print and remember one thermo line. */
static md_status thermo_line(report *run, options_format format, FILE *stream)
{
  if (run->n_thermo == run->thermo_room) {
    const int64_t room = run->thermo_room ? 2 * run->thermo_room : 64;
    engine_thermo *lines = realloc(run->thermo, (size_t)room * sizeof *lines);
    if (lines) run->thermo = lines;
    MD_TRY(world_agree(
        lines ? MD_OK
              : MD_FAIL(MD_ENOMEM, "out of memory for %lld thermo lines", (long long)room)));
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

/* Steps from here on at which nothing is due, at most as many as a GPU has queued before signals
 * are looked at; none on the CPU, which ends the step that a signal comes in. */
enum { QUEUED = 32 };
static int64_t quiet_steps(const report *run, const saves *to, int64_t end)
{
  const int32_t every = config_get(run->cfg)->every, thermo = config_output(run->cfg)->thermo;
  const int64_t at = run->sim->step;
  int64_t k = 0;
  const int64_t most = run->sim->ctx->backend == MD_CPU ? 0 : every < QUEUED ? every : QUEUED;
  while (k < most && at + k + 1 < end && !(thermo > 0 && (at + k + 1) % thermo == 0) &&
         !saves_due(to, at + k + 1, false, false))
    k++;
  return k;
}

typedef struct {
  bool save, stop;
} orders;

/* Signals come to ranks at different times: what one was told by now, all are.  One that comes
 * later counts at the next step, else ranks would stop after different steps. */
static orders hear(const report *run)
{
  const int stopped_by = signals_stopped_by();
  orders heard = {signals_save_asked(config_output(run->cfg)->checkpoint), stopped_by > 0};
  if (world_count() == 1) return heard;
  md_phase_begin(run->sim->ctx, MD_PHASE_EXCHANGE);
  double told[2] = {heard.save, stopped_by};
  world_most(told, 2);
  md_phase_end(run->sim->ctx, MD_PHASE_EXCHANGE);
  if (told[1] > 0) signals_stop_as((int)told[1]);
  return (orders){told[0] > 0, told[1] > 0};
}

/* One step, with the thermo line, frame and checkpoint that are due. */
static md_status run_step(report *run, saves *to, bool last, bool asked, options_format format,
                          FILE *stream, progress *bar)
{
  engine *sim = run->sim;
  const int64_t next = sim->step + 1;
  const int32_t every = config_output(run->cfg)->thermo;
  const bool line = last || (every > 0 && next % every == 0);
  MD_TRY(engine_step(sim, line || saves_due(to, next, last, asked)));
  if (line) {
    progress_end(bar);
    MD_TRY(thermo_line(run, format, stream));
  }
  return saves_step(to, last, asked);
}

static md_status run_steps(report *run, saves *to, options_format format, FILE *stream, bool quiet)
{
  engine *sim = run->sim;
  const int64_t first = sim->step, end = config_get(run->cfg)->steps;
  progress bar;
  signals_stop_gently();
  progress_begin(&bar, end - first, quiet);
  MD_TRY(thermo_line(run, format, stream));
  MD_TRY(md_ctx_sync(sim->ctx));
  md_timer_reset(sim->ctx);
  const md_waiting before = md_waiting_since(&(md_waiting){0, 0});
  const double began = md_wall_seconds();
  md_status status = MD_OK;
  bool last = sim->step == end;
  while (!status && !last) {
    const orders heard = hear(run);
    const int64_t unseen = heard.save || heard.stop ? 0 : quiet_steps(run, to, end);
    last = unseen == 0 && (sim->step + 1 == end || heard.stop);
    status = unseen > 0 ? engine_steps_early(sim, unseen)
                        : run_step(run, to, last, heard.save, format, stream, &bar);
    progress_update(&bar, sim->step - first);
  }
  if (!status) status = md_ctx_sync(sim->ctx);
  progress_end(&bar);
  run->steps = sim->step - first;
  run->wall_s = md_wall_seconds() - began;
  run->waiting = md_waiting_since(&before);
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    run->phase_s[k] = md_phase_seconds(sim->ctx, (md_phase)k);
  return status;
}

static md_status run_saved(report *run, options_format format, FILE *stream, bool quiet)
{
  saves to;
  MD_TRY(saves_open(run->cfg, run->sim, run->restart ? &run->plan : NULL, &to));
  const md_status status = run_steps(run, &to, format, stream, quiet);
  if (!status) return saves_close(&to);
  (void)saves_close(&to); /* the first failure is the one to tell */
  return status;
}

/* The accesses of the last step's forces; the file is complete after it. */
static md_status record_step(const engine *sim, trace_writer **trace)
{
  const list_input in = locality_input(sim);
  MD_TRY(list_record(&in, *trace));
  trace_writer *whole = *trace;
  *trace = NULL;
  return trace_writer_close(whole);
}

/* *trace: NULL for none.  The report ends only when everything else is written: a run that fails
 * prints no rate. */
static md_status run_all(report *run, const options *opts, options_format format,
                         trace_writer **trace)
{
  const char *picture = options_value(opts, PLOT);
  if (picture) MD_TRY(plot_check(picture));
  const double began = md_wall_seconds();
  if (run->restart)
    MD_TRY(
        engine_restore(config_get(run->cfg), &run->restart->state, !run->plan.differs, &run->sim));
  else
    MD_TRY(engine_create(config_get(run->cfg), &run->sim));
  MD_TRY(md_ctx_sync(run->sim->ctx));
  run->setup_s = md_wall_seconds() - began;
  if (run->sim->net_charge != 0)
    fprintf(stderr,
            "minimd: warning: the charges sum to %g: a uniform background neutralises them\n",
            run->sim->net_charge);
  MD_TRY(report_gather(run));
  md_output out;
  const bool first = world_rank() == 0;
  MD_TRY(world_agree(md_output_open(first ? options_value(opts, OUTPUT) : NULL, &out)));
  report_begin(run, format, out.stream);
  md_status status = run_saved(run, format, out.stream, !first || options_value(opts, QUIET));
  if (!status && *trace) status = record_step(run->sim, trace);
  if (!status) status = report_gather(run);
  if (!status && format == OPTIONS_FORMAT_JSON) status = report_hash(run);
  if (!status && picture && first) status = report_plot(run, picture);
  if (!status) status = world_agree(status);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  report_end(run, format, out.stream);
  return md_output_close(&out);
}

static md_status run_traced(report *run, const options *opts, options_format format)
{
  const char *path = options_value(opts, TRACE);
  trace_writer *trace = NULL;
  MD_REQUIRE(!path || world_count() == 1, MD_EINVAL, "--trace on %d ranks: expected one rank",
             world_count());
  if (path) MD_TRY(trace_writer_open(path, &trace));
  const md_status status = run_all(run, opts, format, &trace);
  trace_writer_discard(trace);
  return status;
}

static md_status settings_only(const report *run, const options *opts, options_format format)
{
  int64_t n;
  md_box box;
  if (!run->restart)
    MD_TRY(system_size(config_get(run->cfg), &n, &box)); /* a data file is a setting too */
  md_output out;
  MD_TRY(md_output_open(options_value(opts, OUTPUT), &out));
  print_settings(run->cfg, format, out.stream);
  return md_output_close(&out);
}

/* Checkpoint, input file, --set, named options: what comes later counts. */
static md_status read_settings(config *cfg, const options *opts, report *run, checkpoint *from)
{
  static const char *const keys[] = {
#define KEY(name, word, value, help, key) key,
      SAVED(KEY)
#undef KEY
  };
  const char *path = options_value(opts, RESTART);
  if (path) {
    MD_TRY(checkpoint_read(path, from));
    MD_TRY(restart_configure(from, cfg));
    run->restart = from;
  }
  MD_TRY(settings_read(cfg, opts, 0));
  for (int k = FIRST_SAVED + 1; k < RESTART; k++) {
    const char *value = options_value(opts, k);
    char origin[32];
    snprintf(origin, sizeof origin, "--%s", opts->table[k].name);
    if (value) MD_TRY(config_set(cfg, keys[k - FIRST_SAVED - 1], value, origin));
  }
  const config_outputs *output = config_output(cfg);
  if (output->dump && dump_check(output->dump))
    return MD_FAIL(MD_EINVAL, "%s: %s", config_origin(cfg, "output.dump"), md_message());
  MD_TRY(md_file_claim(output->dump, MD_FILE_OUTPUT, "output.dump"));
  MD_TRY(md_file_claim(output->checkpoint, MD_FILE_CHECKPOINT, "output.checkpoint"));
  MD_TRY(options_writes(opts, TRACE));
  engine_choice unused;
  if (options_value(opts, TRACE)) MD_TRY(locality_choose(cfg, &unused)); /* a list with a trace */
  return path ? restart_compare(from, cfg, &run->plan) : MD_OK;
}

/* Kelvins where the unit is epsilon / k_B: legal, and hardly ever meant. */
static void hint_temperature(const engine_spec *spec)
{
  enum { HOT = 50 };
  const double epsilon = engine_most(spec).epsilon;
  if (spec->units != ENGINE_UNITS_LJ || spec->temperature < HOT * epsilon) return;
  fprintf(stderr,
          "minimd: warning: system.temperature = %g is %g epsilon / k_B: temperatures are in units "
          "of energy / k_B; for kelvins give T k_B / epsilon (argon at 300 K: 300 / 119.8 = 2.5)\n",
          spec->temperature, spec->temperature / epsilon);
}

static md_status run(const options *opts, options_format format, config *cfg, report *run)
{
  checkpoint from = {0};
  run->cfg = cfg;
  md_status status = world_agree(read_settings(cfg, opts, run, &from));
  if (!status) status = ranks_same_program(cfg);
  if (!status) status = world_same("the output format", &format, sizeof format);
  for (int k = 0; config_warning(cfg, k) && world_rank() == 0; k++)
    fprintf(stderr, "minimd: warning: %s\n", config_warning(cfg, k));
  if (!status && world_rank() == 0) hint_temperature(config_get(cfg));
  if (!status && options_value(opts, CHECK)) {
    status = settings_only(run, opts, format);
  } else if (!status) {
    signals_save_when_asked();
    if (config_get(cfg)->skin < 0) status = skin_choose(cfg, &run->skin);
    if (!status) status = run_traced(run, opts, format);
  }
  skin_free(&run->skin);
  free(run->thermo);
  free(run->ranks);
  engine_destroy(run->sim);
  checkpoint_free(&from);
  run->restart = NULL;
  return status;
}

md_status cmd_run(int argc, char **argv)
{
  option table[N_OPTIONS];
  make_table(table);
  options opts;
  config *cfg = NULL;
  report whole = {0};
  int format = OPTIONS_FORMAT_TABLE;
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd [run] [-i FILE] [options]",
                 "Molecular dynamics of a Lennard-Jones fluid.", table, N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status) status = options_read_format(&opts, FORMAT, &format);
  if (!status) status = config_create(&cfg);
  if (!status) status = run(&opts, (options_format)format, cfg, &whole);
  config_destroy(cfg);
  options_free(&opts);
  return status;
}
