/* minimd/stokes/cmd_stokes.c - `minimd stokes`: Stokesian dynamics with one or many right-hand
 * sides. */
#include "comm/world.h"
#include "core/output/output.h"
#include "core/time/timer.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/memory.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/progress.h"
#include "minimd/signals.h"
#include "minimd/run/same.h"
#include "minimd/stokes/stokes_checkpoint.h"
#include "minimd/stokes/stokes_ranks.h"
#include "minimd/stokes/stokes_report.h"
#include "minimd/shell/table.h"
#include "minimd/surroundings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const options *opts;
  int format;
  bool quiet;
  stokes_settings settings;
  stokes_checkpoint from;   /* path is NULL in a run from its beginning */
  stokes_packing packing;   /* spheres in the order in which they were given */
  const md_file_mark *keep; /* where a trajectory goes on; NULL: it begins anew */
  md_ctx *ctx;
  stokes_run *run;
  stokes_step *rows; /* [room], the first `done` filled in */
  int64_t done, room;
  int64_t early; /* half of the steps, at `halfway` [s] */
  double halfway;
  stokes_ranks_part *parts; /* of several ranks, after the last step */
  FILE *trajectory;
} request;

/* A packing that is given beside a checkpoint must be the one that the run began with. */
static md_status compare_spheres(const request *r, const char *input)
{
  const stokes_packing *given = &r->packing, *saved = &r->from.state.spheres;
  MD_REQUIRE(given->n == saved->n, MD_EINVAL,
             "'%s' has %" PRId64 " spheres, but '%s' has %" PRId64
             ": a restart takes its spheres from the checkpoint",
             input, given->n, r->from.path, saved->n);
  bool same = memcmp(given->box, saved->box, sizeof given->box) == 0;
  for (int64_t i = 0; same && i < saved->n; i++) {
    const int64_t place = r->from.state.place[i];
    same = place >= 0 && place < given->n && given->x[4 * place + 3] == saved->x[4 * i + 3];
  }
  MD_REQUIRE(same, MD_EINVAL,
             "the box or the radii of '%s' are not those of '%s': a restart takes its spheres from "
             "the checkpoint",
             input, r->from.path);
  return MD_OK;
}

static md_status read_spheres(request *r)
{
  const char *input = options_value(r->opts, STOKES_OPTION_INPUT);
  MD_REQUIRE(input || r->from.path, MD_EINVAL,
             "expected -i FILE with spheres, as `minimd pack` writes; see --help");
  if (!input) return stokes_packing_create(r->from.state.spheres.n, &r->packing);
  MD_TRY(stokes_packing_read(input, &r->packing));
  return r->from.path ? compare_spheres(r, input) : MD_OK;
}

/* Whether a run that goes on does so exactly, and with its trajectory. */
static md_status plan_restart(request *r, const stokes_settings *saved)
{
  const stokes_settings *now = &r->settings;
  const int64_t step = r->from.state.step;
  const char *differs;
  MD_REQUIRE(now->steps >= step, MD_EINVAL,
             "--steps %" PRId64 ": '%s' is at step %" PRId64 " already", now->steps, r->from.path,
             step);
  MD_TRY(stokes_settings_differ(saved, now, &differs));
  if (now->automatic) differs = stokes_option_table[STOKES_OPTION_RHS].name;
  if (now->trajectory && saved->trajectory && strcmp(now->trajectory, saved->trajectory) == 0)
    MD_TRY(md_file_plan(now->trajectory, &r->from.trajectory, &r->keep));
  if (!r->quiet)
    fprintf(stderr, "restart: %s at step %" PRId64 ", %s%s\n", r->from.path, step,
            differs ? "with another --" : "exactly", differs ? differs : "");
  return MD_OK;
}

static md_status read_request(request *r)
{
  const char *picture = options_value(r->opts, STOKES_OPTION_PLOT);
  const char *restart = options_value(r->opts, STOKES_OPTION_RESTART);
  r->settings = stokes_settings_defaults();
  r->quiet = options_value(r->opts, STOKES_OPTION_QUIET) || world_rank() > 0;
  MD_TRY(options_read_format(r->opts, STOKES_OPTION_FORMAT, &r->format));
  if (restart) {
    MD_TRY(stokes_checkpoint_read(restart, &r->from));
    MD_TRY(stokes_settings_read_words(r->from.words, &r->settings));
  }
  const stokes_settings saved = r->settings;
  MD_TRY(stokes_settings_read(r->opts, &r->settings));
  MD_TRY(stokes_settings_agree(r->opts, &r->settings));
  MD_TRY(stokes_ranks_check(r->opts, &r->settings));
  if (r->settings.root_implied && !r->quiet)
    fputs("--guess series: Brownian forces by --root chebyshev\n", stderr);
  MD_TRY(md_file_claim(r->settings.trajectory, MD_FILE_OUTPUT, "--trajectory"));
  MD_TRY(md_file_claim(r->settings.checkpoint, MD_FILE_CHECKPOINT, "--checkpoint"));
  if (picture) MD_TRY(plot_check(picture));
  MD_TRY(read_spheres(r));
  return restart ? plan_restart(r, &saved) : MD_OK;
}

/* What the model needs: this machine's B and F, and the counts of a first step. */
typedef struct {
  stokes_machine machine;
  stokes_counts counts;
  stokes_shape shape;
} model_input;

static md_status measure_model(request *r, model_input *out)
{
  MD_TRY(stokes_machine_measure(r->ctx, r->settings.spec.storage, &out->machine));
  return stokes_run_probe(r->run, &out->counts, &out->shape);
}

/* "m_s = 13" */
static void print_turn(const model_input *in)
{
  const int turn = stokes_model_switch(&in->machine, &in->shape, 0);
  if (turn > 0)
    fprintf(stderr, "m_s = %d", turn);
  else
    fputs("m_s = never", stderr);
}

static void print_choice(const model_input *in, int m)
{
  fprintf(stderr, "auto: B = %.3g GB/s, F = %.3g Gflop/s, N = %g, N1 = %g, N2 = %g, C = %g, ",
          1e-9 * in->machine.bandwidth, 1e-9 * in->machine.flops, in->counts.unguessed,
          in->counts.first, in->counts.second, in->counts.order);
  print_turn(in);
  fprintf(stderr, ": m = %d, %.3g of the original's time\n", m,
          stokes_model_step(&in->machine, &in->shape, &in->counts, m, 0) /
              stokes_model_step(&in->machine, &in->shape, &in->counts, 1, 0));
}

static md_status choose_vectors(request *r)
{
  model_input in;
  stokes_run_spec *spec = &r->settings.spec;
  const int64_t left = r->settings.steps - r->from.state.step;
  const int most = left < 1 ? 1 : left < STOKES_VECTORS ? (int)left : STOKES_VECTORS;
  int width[STOKES_VECTORS], n;
  MD_TRY(measure_model(r, &in));
  MD_TRY(stokes_run_widths(r->run, most, width, &n));
  spec->vectors = stokes_model_best(&in.machine, &in.shape, &in.counts, width, n, 0);
  if (!r->quiet) print_choice(&in, spec->vectors);
  return stokes_run_set_vectors(r->run, spec->vectors);
}

/* Fig. 7's predicted times. */
static md_status print_model(request *r, FILE *stream)
{
  static const table_column columns[] = {
      {"rhs", 4, 0}, {"bound_by", 12, 0}, {"time_product", 12, -6}, {"time_step", 12, -6}};
  model_input in;
  table t;
  MD_TRY(measure_model(r, &in));
  const int turn = stokes_model_switch(&in.machine, &in.shape, 0);
  table_begin(&t, stream, (options_format)r->format, "stokes", r->opts, columns, 4);
  for (int m = 1; m <= STOKES_VECTORS; m++) {
    table_integer(&t, m);
    table_text(&t, turn > 0 && m >= turn ? "arithmetic" : "bandwidth");
    table_real(&t, stokes_model_time(&in.machine, &in.shape, m, 0));
    table_real(&t, stokes_model_step(&in.machine, &in.shape, &in.counts, m, 0));
  }
  table_end(&t);
  return MD_OK;
}

static md_status write_frame(request *r)
{
  MD_TRY(stokes_run_read(r->run, &r->packing));
  stokes_packing_print(&r->packing, r->trajectory);
  MD_REQUIRE(fflush(r->trajectory) == 0 && !ferror(r->trajectory), MD_EIO, "cannot write '%s': %s",
             r->settings.trajectory, strerror(errno));
  return MD_OK;
}

static md_status save_checkpoint(request *r)
{
  const stokes_settings *settings = &r->settings;
  md_file_mark mark = {-1, 0};
  md_status status = MD_OK;
  if (r->trajectory) status = md_file_take_mark(r->trajectory, settings->trajectory, 0, &mark);
  MD_TRY(world_agree(status));
  return stokes_ranks_agree(stokes_checkpoint_write(settings->checkpoint, settings, r->run, &mark));
}

/* What is due after step number `done`; the trajectory first, so that a checkpoint knows its
 * length.  Rank 0 writes. */
static md_status save(request *r, int64_t done, bool last, bool asked)
{
  const stokes_settings *settings = &r->settings;
  const int64_t every = settings->checkpoint_every;
  if (settings->trajectory && done % settings->trajectory_every == 0 && r->done > 0)
    MD_TRY(world_agree(r->trajectory ? write_frame(r) : MD_OK));
  const bool due = asked || last || (every > 0 && done % every == 0);
  return settings->checkpoint && due ? save_checkpoint(r) : MD_OK;
}

static md_status step(request *r)
{
  if (r->done == r->room) {
    const int64_t room = r->room ? 2 * r->room : 64;
    stokes_step *rows = realloc(r->rows, (size_t)room * sizeof *rows);
    MD_REQUIRE(rows, MD_ENOMEM, "out of memory for %" PRId64 " steps", room);
    r->rows = rows;
    r->room = room;
  }
  MD_TRY(stokes_ranks_agree(stokes_run_step(r->run, &r->rows[r->done])));
  r->done++;
  return MD_OK;
}

static md_status walk(request *r)
{
  const int64_t first = r->from.state.step, end = r->settings.steps;
  progress bar;
  r->early = (end - first) / 2;
  progress_begin(&bar, end - first, r->quiet);
  signals_stop_gently();
  bool last = first == end;
  md_status status = last ? save(r, first, true, false) : MD_OK;
  while (!status && !last) {
    status = step(r);
    if (status) break;
    if (r->done == r->early) r->halfway = md_wall_seconds();
    const bool asked = stokes_ranks_signals(r->settings.checkpoint);
    last = first + r->done == end || signals_stopped_by();
    status = save(r, first + r->done, last, asked);
    progress_update(&bar, r->done);
  }
  progress_end(&bar);
  return status;
}

static stokes_report report_of(const request *r)
{
  return (stokes_report){r->opts, r->format, &r->settings, r->rows, r->done, r->parts};
}

static md_status open_files(request *r)
{
  if (world_rank() > 0) return MD_OK;
  if (r->settings.checkpoint) MD_TRY(md_output_hold(r->settings.checkpoint));
  const char *path = r->settings.trajectory;
  if (!path) return MD_OK;
  return r->keep ? md_file_continue(path, 0, r->keep, &r->trajectory)
                 : md_file_begin(path, &r->trajectory);
}

/* All steps with both files open, so that one that cannot be written is known at once. */
static md_status walk_and_print(request *r, md_output *out)
{
  MD_TRY(world_agree(open_files(r)));
  const md_waiting before = md_waiting_since(&(md_waiting){0, 0});
  const double began = md_wall_seconds();
  const md_status status = walk(r);
  const double ended = md_wall_seconds();
  const double late = r->early > 0 && r->done > r->early ? ended - r->halfway : 0;
  const stokes_seconds seconds = {ended - began, late, r->done - r->early};
  const md_waiting waiting = md_waiting_since(&before);
  const bool closed = !r->trajectory || fclose(r->trajectory) == 0;
  if (status) return status;
  MD_REQUIRE(closed, MD_EIO, "cannot write '%s': %s", r->settings.trajectory, strerror(errno));
  if (r->done > 0) MD_TRY(stokes_ranks_gather(r->run, &r->parts));
  const stokes_report report = report_of(r);
  if (!r->quiet && r->done > 0) stokes_report_summary(&report, &seconds, &waiting);
  if (r->parts && !r->quiet && world_rank() == 0) stokes_ranks_summary(r->parts, r->done);
  stokes_report_print(&report, out->stream);
  return MD_OK;
}

/* The run, from its beginning or from the checkpoint. */
static md_status prepare(request *r)
{
  const stokes_settings *settings = &r->settings;
  const stokes_packing *spheres = r->from.path ? &r->from.state.spheres : &r->packing;
  const int threads = world_threads((int)settings->threads);
  const md_ctx_spec spec = {(md_backend)settings->backend, MD_DOUBLE, threads, true};
  const double bytes =
      stokes_ranks_bytes(&settings->spec, spheres->n, stokes_packing_occupancy(spheres));
  MD_TRY(world_agree(memory_announce("the run", bytes, r->quiet)));
  MD_TRY(world_agree(md_ctx_create(&spec, &r->ctx)));
  world_work();
  if (world_count() > 1) signals_stop_gently(); /* who fails alone tells, not whom it ends */
  if (r->from.path)
    MD_TRY(stokes_run_restore(r->ctx, &settings->spec, &r->from.state, &r->run));
  else
    MD_TRY(stokes_run_create(r->ctx, &settings->spec, &r->packing, &r->run));
  return settings->automatic && settings->spec.algorithm == STOKES_MRHS ? choose_vectors(r) : MD_OK;
}

/* What all ranks have read is the same. */
static md_status compare_ranks(const request *r)
{
  MD_TRY(ranks_same_command(r->opts));
  return stokes_ranks_same(&r->packing, r->from.path ? &r->from.state : NULL);
}

static md_status work(request *r)
{
  const bool writes = world_rank() == 0, model = options_value(r->opts, STOKES_OPTION_MODEL);
  md_output out;
  MD_TRY(stokes_ranks_agree(prepare(r)));
  MD_TRY(world_agree(
      md_output_open(writes ? options_value(r->opts, STOKES_OPTION_OUTPUT) : NULL, &out)));
  const md_status status = model ? print_model(r, out.stream) : walk_and_print(r, &out);
  if (!status) return md_output_close(&out);
  md_output_discard(&out);
  return status;
}

static md_status answer(request *r)
{
  const char *picture = options_value(r->opts, STOKES_OPTION_PLOT);
  MD_TRY(world_agree(read_request(r)));
  MD_TRY(compare_ranks(r));
  signals_save_when_asked();
  MD_TRY(work(r));
  const bool drawn = picture && world_rank() == 0 && !options_value(r->opts, STOKES_OPTION_MODEL);
  const stokes_report report = report_of(r);
  return drawn ? stokes_report_draw(&report, picture) : MD_OK;
}

md_status cmd_stokes(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(stokes_option_table, STOKES_OPTION_COUNT, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout,
                 "minimd stokes -i FILE [--algorithm original|mrhs] [--rhs M|auto] [options]",
                 "Brownian motion of spheres with lubrication: iterations and times of every step.",
                 stokes_option_table, STOKES_OPTION_COUNT);
  else if (!status)
    status = answer(&r);
  stokes_run_destroy(r.run);
  if (r.ctx) md_ctx_destroy(r.ctx);
  stokes_packing_free(&r.packing);
  stokes_checkpoint_free(&r.from);
  free(r.rows);
  free(r.parts);
  options_free(&opts);
  return status;
}
