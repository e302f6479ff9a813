/* minimd/run/report.c - see report.h.  One walk over the run for each format. */
#include "minimd/run/report.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/surroundings.h"

#include <inttypes.h>

static double rate(const report *run)
{
  return run->wall_s > 0 ? (double)run->sim->atoms->n_total * (double)run->steps / run->wall_s : 0;
}

static double neighbors_per_atom(const report *run)
{
  const neighbor_view *view = neighbor_list_view(run->sim->list);
  return view->n_rows ? (double)view->n_entries / (double)view->n_rows : 0;
}

static double steady_bytes(const engine *sim)
{
  return sim->steady_steps ? (double)sim->steady_bytes / (double)sim->steady_steps : 0;
}

static void machine_line(const report *run, FILE *stream)
{
  const md_ctx *ctx = run->sim->ctx;
  char machine[256];
  provenance_machine(ctx->backend, machine, sizeof machine);
  fprintf(stream, "backend    %s (%s): %s", md_backend_words[ctx->backend],
          run->choice.backend_reason, machine);
  if (ctx->backend == MD_CPU)
    fprintf(stream, ", %d thread%s, %s", ctx->threads, ctx->threads == 1 ? "" : "s",
            md_isa_words[ctx->isa]);
  fprintf(stream, ", %s precision\n", md_precision_words[ctx->precision]);
}

static void coulomb_line(const engine *sim, FILE *stream)
{
  const pme_problem *p = &sim->charges;
  pme_report mesh;
  pme_describe(sim->mesh, &mesh);
  fprintf(stream,
          "coulomb    pme: alpha %.6g, cutoff %g, mesh %d x %d x %d, order %d, spread %s (%s)\n"
          "           expected force error %.2g in real space, %.2g on the mesh; tolerance %g\n",
          p->alpha, p->r_cut, p->mesh[0], p->mesh[1], p->mesh[2], p->order,
          spread_method_words[mesh.spread.method], mesh.spread.reason, pme_real_error(p),
          pme_mesh_error(p), sim->spec->tolerance);
}

void report_begin(const report *run, options_format format, FILE *stream)
{
  if (format == OPTIONS_FORMAT_CSV) fputs("step,temp,e_pair,e_total,pressure\n", stream);
  if (format != OPTIONS_FORMAT_TABLE) return;
  const engine *sim = run->sim;
  const md_box *box = &sim->atoms->box;
  const neighbor_grid *grid = neighbor_list_grid(sim->list);
  char curve[96];
  ordering_format(&sim->spec->curve, curve, sizeof curve);
  fprintf(stream, "input      %s\n", config_reading(run->cfg));
  if (run->restart)
    fprintf(stream, "restart    %s at step %" PRId64 ", %s%s\n", run->restart->path,
            run->restart->state.step,
            run->plan.differs ? "sorted and listed anew, for another " : "exactly",
            run->plan.differs ? run->plan.differs : "");
  fprintf(stream, "system     %" PRId64 " atoms in %g x %g x %g, %" PRId64 " ghosts\n",
          sim->atoms->n_total, box->hi[0] - box->lo[0], box->hi[1] - box->lo[1],
          box->hi[2] - box->lo[2], sim->atoms->n_ghost);
  machine_line(run, stream);
  fprintf(stream, "list       %s (%s), %.1f neighbours an atom within %g\n",
          neighbor_list_words[run->choice.list], run->choice.list_reason, neighbors_per_atom(run),
          sim->list_cutoff);
  if (run->skin.reason) fprintf(stream, "skin       %g (%s)\n", sim->spec->skin, run->skin.reason);
  if (sim->mesh) coulomb_line(sim, stream);
  fprintf(stream, "order      %s over %d x %d x %d bins, set-up %.2f s\n\n", curve,
          grid->n[0] - 2 * grid->margin[0], grid->n[1] - 2 * grid->margin[1],
          grid->n[2] - 2 * grid->margin[2], run->setup_s);
  fprintf(stream, "%10s %16s %16s %16s %16s\n", "step", "temp", "e_pair", "e_total", "pressure");
}

void report_thermo(const engine_thermo *line, options_format format, FILE *stream)
{
  if (format == OPTIONS_FORMAT_JSON) return;
  if (format == OPTIONS_FORMAT_CSV)
    fprintf(stream, "%lld,%.17g,%.17g,%.17g,%.17g\n", (long long)line->step, line->temperature,
            line->e_pair, line->e_total, line->pressure);
  else
    fprintf(stream, "%10lld %16.10f %16.10f %16.10f %16.10f\n", (long long)line->step,
            line->temperature, line->e_pair, line->e_total, line->pressure);
  fflush(stream);
}

static void danger_note(const engine *sim, FILE *stream)
{
  const engine_lists *lists = &sim->lists;
  if (lists->dangerous == 0) return;
  fprintf(stream,
          "dangerous builds %" PRId64 " of %" PRId64
          " (largest displacement %.4g, half the skin %.4g, at step %" PRId64
          "): forces may have missed pairs; --rebuild check misses none\n",
          lists->dangerous, lists->ended, lists->moved, 0.5 * sim->spec->skin, lists->moved_at);
}

static void table_end(const report *run, FILE *stream)
{
  const engine *sim = run->sim;
  double known = 0;
  fprintf(stream, "\n%-12s %12s %8s\n", "phase", "seconds", "share");
  for (int k = 0; k < MD_PHASE_COUNT; k++) {
    if (k == MD_PHASE_COULOMB && !sim->mesh) continue;
    known += run->phase_s[k];
    fprintf(stream, "%-12s %12.4f %7.1f%%\n", md_phase_words[k], run->phase_s[k],
            run->wall_s > 0 ? 100 * run->phase_s[k] / run->wall_s : 0.0);
  }
  const double other = run->wall_s > known ? run->wall_s - known : 0;
  fprintf(stream, "%-12s %12.4f %7.1f%%\n", "other", other,
          run->wall_s > 0 ? 100 * other / run->wall_s : 0.0);
  fprintf(stream, "%-12s %12.4f\n\n", "total", run->wall_s);
  fprintf(stream, "%" PRId64 " steps, %" PRId64 " rebuilds, %" PRId64 " sorts, memory %.1f MB\n",
          run->steps, sim->rebuilds, sim->sorts, (double)sim->ctx->bytes_allocated / 1e6);
  danger_note(sim, stream);
  waiting_note(&run->waiting, stream);
  fprintf(stream, "copied between host and device per steady step: %.6g bytes\n",
          steady_bytes(sim));
  if (run->steps > 0)
    fprintf(stream, "performance: %.3f M atom-steps/s, %.3f ns per atom and step\n",
            rate(run) / 1e6, 1e9 / rate(run));
}

static void json_thermo(const report *run, md_json *json)
{
  md_json_open(json, "thermo", '[');
  for (int64_t k = 0; k < run->n_thermo; k++) {
    const engine_thermo *line = &run->thermo[k];
    md_json_open(json, NULL, '{');
    md_json_integer(json, "step", line->step);
    md_json_number(json, "temp", line->temperature);
    md_json_number(json, "e_pair", line->e_pair);
    md_json_number(json, "e_total", line->e_total);
    md_json_number(json, "pressure", line->pressure);
    md_json_close(json, '}');
  }
  md_json_close(json, ']');
}

static void json_counts(const report *run, md_json *json)
{
  const engine *sim = run->sim;
  md_json_open(json, "counts", '{');
  md_json_integer(json, "atoms", sim->atoms->n_total);
  md_json_integer(json, "ghosts", sim->atoms->n_ghost);
  md_json_integer(json, "steps", run->steps);
  md_json_integer(json, "rebuilds", sim->rebuilds);
  md_json_integer(json, "dangerous_builds", sim->lists.dangerous);
  md_json_number(json, "largest_displacement", sim->lists.moved);
  md_json_integer(json, "largest_displacement_step", sim->lists.moved_at);
  md_json_integer(json, "sorts", sim->sorts);
  md_json_number(json, "neighbors_per_atom", neighbors_per_atom(run));
  md_json_integer(json, "bytes_allocated", sim->ctx->bytes_allocated);
  md_json_number(json, "bytes_copied_per_steady_step", steady_bytes(sim));
  md_json_close(json, '}');
}

static void json_coulomb(const engine *sim, md_json *json)
{
  const pme_problem *p = &sim->charges;
  pme_report mesh;
  pme_describe(sim->mesh, &mesh);
  md_json_open(json, "coulomb", '{');
  md_json_number(json, "alpha", p->alpha);
  md_json_number(json, "cutoff", p->r_cut);
  md_json_open(json, "mesh", '[');
  for (int d = 0; d < 3; d++)
    md_json_integer(json, NULL, p->mesh[d]);
  md_json_close(json, ']');
  md_json_integer(json, "order", p->order);
  md_json_string(json, "spread", spread_method_words[mesh.spread.method]);
  md_json_string(json, "spread_reason", mesh.spread.reason);
  md_json_number(json, "real_error", pme_real_error(p));
  md_json_number(json, "mesh_error", pme_mesh_error(p));
  md_json_number(json, "net_charge", sim->net_charge);
  md_json_close(json, '}');
}

static void json_end(const report *run, FILE *stream)
{
  md_json json;
  md_json_begin(&json, stream);
  md_json_integer(&json, "schema", OPTIONS_JSON_SCHEMA);
  md_json_string(&json, "input", config_reading(run->cfg));
  if (run->restart) {
    md_json_open(&json, "restart", '{');
    md_json_string(&json, "file", run->restart->path);
    md_json_integer(&json, "step", run->restart->state.step);
    md_json_bool(&json, "exact", !run->plan.differs);
    md_json_close(&json, '}');
  }
  md_json_open(&json, "config", '{');
  config_json(run->cfg, &json);
  md_json_close(&json, '}');
  provenance_json(&json, run->sim->ctx);
  md_json_open(&json, "choice", '{');
  md_json_string(&json, "backend", md_backend_words[run->choice.backend]);
  md_json_string(&json, "backend_reason", run->choice.backend_reason);
  md_json_string(&json, "list", neighbor_list_words[run->choice.list]);
  md_json_string(&json, "list_reason", run->choice.list_reason);
  if (run->skin.reason) {
    md_json_number(&json, "skin", run->sim->spec->skin);
    md_json_string(&json, "skin_reason", run->skin.reason);
  }
  md_json_close(&json, '}');
  if (run->sim->mesh) json_coulomb(run->sim, &json);
  json_thermo(run, &json);
  md_json_open(&json, "timing", '{');
  md_json_number(&json, "setup", run->setup_s);
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    md_json_number(&json, md_phase_words[k], run->phase_s[k]);
  md_json_number(&json, "total", run->wall_s);
  md_json_close(&json, '}');
  json_counts(run, &json);
  md_json_open(&json, "threads", '{');
  md_json_number(&json, "ran_s", run->waiting.ran_s);
  md_json_number(&json, "waited_s", run->waiting.waited_s);
  md_json_close(&json, '}');
  if (run->steps > 0) {
    md_json_open(&json, "performance", '{');
    md_json_number(&json, "atom_steps_per_s", rate(run));
    md_json_number(&json, "ns_per_atom_step", 1e9 / rate(run));
    md_json_close(&json, '}');
  }
  md_json_end(&json);
}

void report_end(const report *run, options_format format, FILE *stream)
{
  if (format == OPTIONS_FORMAT_TABLE) table_end(run, stream);
  if (format == OPTIONS_FORMAT_JSON) json_end(run, stream);
}

md_status report_plot(const report *run, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 960, 420, &picture));
  FILE *out = picture.stream;
  fputs("$thermo << END\n", out);
  for (int64_t k = 0; k < run->n_thermo; k++)
    fprintf(out, "%" PRId64 " %.10g %.10g\n", run->thermo[k].step, run->thermo[k].temperature,
            run->thermo[k].e_pair);
  fputs("END\n$phases << END\n", out);
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    if (run->phase_s[k] > 0)
      fprintf(out, "%s %.6g\n", md_phase_words[k],
              1e9 * run->phase_s[k] / ((double)run->sim->atoms->n_total * (double)run->steps));
  fprintf(out,
          "END\nset multiplot layout 1,2\nset grid\n"
          "set title '%" PRId64 " atoms, %s, %s list, %s'\n"
          "set xlabel 'step'\nset ylabel 'temperature'\nset ytics nomirror\n"
          "set y2label 'pair energy per atom'\nset y2tics\nset key center right\n"
          "plot $thermo using 1:2 with lines lw 2 title 'temperature',"
          " $thermo using 1:3 axes x1y2 with lines lw 2 title 'pair energy'\n"
          "unset y2tics\nunset y2label\nunset key\n"
          "set title '%.2f M atom-steps/s'\nset xlabel ''\nset xtics rotate by -30\n"
          "set ylabel 'ns per atom and step'\nset yrange [0:*]\nset style fill solid 0.7\n"
          "set boxwidth 0.7\nplot $phases using 2:xtic(1) with boxes lc 2\nunset multiplot\n",
          run->sim->atoms->n_total, md_backend_words[run->choice.backend],
          neighbor_list_words[run->choice.list], md_precision_words[run->sim->ctx->precision],
          rate(run) / 1e6);
  return plot_close(&picture);
}
