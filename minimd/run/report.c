/* minimd/run/report.c - see report.h.  One walk over the run for each format. */
#include "minimd/run/report_impl.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/shell/table.h"
#include "minimd/surroundings.h"

#include <inttypes.h>
#include <stdlib.h>

static double rate(const report *run)
{
  return run->wall_s > 0 ? (double)run->sim->atoms->n_total * (double)run->steps / run->wall_s : 0;
}

static double neighbors_per_atom(const report *run)
{
  const int64_t n = run->sim->atoms->n_total;
  return n > 0 ? (double)report_sum(run).entries / (double)n : 0;
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
          run->sim->choice.backend_reason, machine);
  if (ctx->backend == MD_CPU)
    fprintf(stream, ", %d thread%s%s, %s", ctx->threads, ctx->threads == 1 ? "" : "s",
            run->n_ranks > 0 ? " a rank" : "", md_isa_words[ctx->isa]);
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
          box->hi[2] - box->lo[2], report_sum(run).ghosts);
  machine_line(run, stream);
  report_ranks_begin(run, stream);
  fprintf(stream, "list       %s (%s), %.1f neighbours an atom within %g\n",
          neighbor_list_words[run->sim->choice.list], run->sim->choice.list_reason,
          neighbors_per_atom(run), sim->list_cutoff);
  if (run->skin.reason) fprintf(stream, "skin       %g (%s)\n", sim->spec->skin, run->skin.reason);
  if (sim->mesh) coulomb_line(sim, stream);
  if (sim->spec->eam)
    fprintf(stream, "potential  %s: embedded atoms, cutoff %g, mass %g, tables %s\n",
            sim->spec->potential, sim->spec->eam->cutoff, sim->mass,
            force_tables(sim->fc, sim->list));
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

static void beyond_note(const report *run, FILE *stream)
{
  const engine *sim = run->sim;
  const eam_potential *eam = sim->spec->eam;
  const int64_t beyond = eam ? report_sum(run).beyond : 0;
  if (beyond == 0) return;
  fprintf(stream,
          "densities beyond the table of %s, which ends at %g: %" PRId64
          " times; F went on linearly\n",
          sim->spec->potential, (double)(eam->embed.n - 1) * eam->embed.step, beyond);
}

static void phases_text(const report *run, FILE *stream)
{
  double known = 0;
  fprintf(stream, "\n%-12s %12s %8s\n", "phase", "seconds", "share");
  for (int k = 0; k < MD_PHASE_COUNT; k++) {
    if ((k == MD_PHASE_COULOMB && !run->sim->mesh) || k == MD_PHASE_EXCHANGE) continue;
    known += run->phase_s[k];
    fprintf(stream, "%-12s %12.4f %7.1f%%\n", md_phase_words[k], run->phase_s[k],
            run->wall_s > 0 ? 100 * run->phase_s[k] / run->wall_s : 0.0);
  }
  const double other = run->wall_s > known ? run->wall_s - known : 0;
  fprintf(stream, "%-12s %12.4f %7.1f%%\n", "other", other,
          run->wall_s > 0 ? 100 * other / run->wall_s : 0.0);
}

static void end_text(const report *run, FILE *stream)
{
  const engine *sim = run->sim;
  if (run->n_ranks > 0)
    report_ranks_phases(run, stream);
  else
    phases_text(run, stream);
  fprintf(stream, "%-12s %12.4f\n\n", "total", run->wall_s);
  fprintf(stream, "%" PRId64 " steps, %" PRId64 " rebuilds, %" PRId64 " sorts, memory %.1f MB\n",
          run->steps, sim->rebuilds, sim->sorts, (double)report_sum(run).memory / 1e6);
  danger_note(sim, stream);
  beyond_note(run, stream);
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
  md_json_integer(json, "ghosts", report_sum(run).ghosts);
  md_json_integer(json, "steps", run->steps);
  md_json_integer(json, "rebuilds", sim->rebuilds);
  md_json_integer(json, "dangerous_builds", sim->lists.dangerous);
  md_json_number(json, "largest_displacement", sim->lists.moved);
  md_json_integer(json, "largest_displacement_step", sim->lists.moved_at);
  md_json_integer(json, "sorts", sim->sorts);
  if (sim->spec->eam) md_json_integer(json, "densities_beyond_table", report_sum(run).beyond);
  md_json_number(json, "neighbors_per_atom", neighbors_per_atom(run));
  md_json_integer(json, "bytes_allocated", report_sum(run).memory);
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
  md_json_string(&json, "backend", md_backend_words[run->sim->choice.backend]);
  md_json_string(&json, "backend_reason", run->sim->choice.backend_reason);
  md_json_string(&json, "list", neighbor_list_words[run->sim->choice.list]);
  md_json_string(&json, "list_reason", run->sim->choice.list_reason);
  if (run->skin.reason) {
    md_json_number(&json, "skin", run->sim->spec->skin);
    md_json_string(&json, "skin_reason", run->skin.reason);
  }
  const char *tables = force_tables(run->sim->fc, run->sim->list);
  if (tables) md_json_string(&json, "tables", tables);
  md_json_close(&json, '}');
  if (run->sim->mesh) json_coulomb(run->sim, &json);
  json_thermo(run, &json);
  md_json_open(&json, "timing", '{');
  md_json_number(&json, "setup", run->setup_s);
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    md_json_number(&json, md_phase_words[k], report_phase(run, k));
  md_json_number(&json, "total", run->wall_s);
  md_json_close(&json, '}');
  json_counts(run, &json);
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, run->state_hash);
  md_json_string(&json, "state_hash", hash);
  report_ranks_json(run, &json);
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
  if (format == OPTIONS_FORMAT_TABLE) end_text(run, stream);
  if (format == OPTIONS_FORMAT_JSON) json_end(run, stream);
}

/* The thermo lines, for a page. */
static void keep_page(const report *run)
{
  char *rows = NULL;
  size_t size;
  FILE *page = open_memstream(&rows, &size);
  if (!page) return;
  fputs("<tr><th>step</th><th>temp</th><th>e_pair</th><th>e_total</th><th>pressure</th></tr>\n",
        page);
  for (int64_t k = 0; k < run->n_thermo; k++) {
    const engine_thermo *t = &run->thermo[k];
    const double values[] = {t->temperature, t->e_pair, t->e_total, t->pressure};
    fprintf(page, "<tr><td class=n>%" PRId64 "</td>", t->step);
    for (int v = 0; v < 4; v++)
      fprintf(page, "<td class=n>%.10g</td>", values[v]);
    fputs("</tr>\n", page);
  }
  fclose(page);
  table_keep_page(rows);
  free(rows);
}

md_status report_plot(const report *run, const char *path)
{
  plot picture;
  char machine_name[128], order[64];
  ordering_format(&run->sim->spec->curve, order, sizeof order);
  provenance_machine(run->sim->choice.backend, machine_name, sizeof machine_name);
  if (plot_is_page(path)) keep_page(run);
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
  fputs("END\nset multiplot layout 1,2", out);
  plot_title(&picture,
             "%" PRId64 " atoms, %s list, %s order, %s precision on %s: %.2f M atom-steps/s",
             run->sim->atoms->n_total, neighbor_list_words[run->sim->choice.list], order,
             md_precision_words[run->sim->ctx->precision], machine_name, rate(run) / 1e6);
  fputs("set xlabel 'step'\nset ylabel 'temperature / (energy / k_B)'\n"
        "set y2label 'pair energy per atom / energy'\nset y2tics\nset border 11\n"
        "plot $thermo using 1:2 with lines title 'temperature',"
        " $thermo using 1:3 axes x1y2 with lines title 'pair energy'\n"
        "unset y2tics\nunset y2label\nunset key\nset border 3\n"
        "set xlabel ''\nset xtics rotate by -30\n"
        "set ylabel 'ns per atom and step'\nset yrange [0:*]\n"
        "set boxwidth 0.7\nplot $phases using 2:xtic(1) with boxes lt 1\nunset multiplot\n",
        out);
  return plot_close(&picture);
}
