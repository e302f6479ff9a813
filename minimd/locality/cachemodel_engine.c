/* minimd/locality/cachemodel_engine.c - `minimd cachemodel -i FILE --machine M`: the force kernel's
 * accesses, from the lists of a run, through the caches of a machine; one row an ordering, stream
 * and schedule.  [AK] section 6.2. */
#include "minimd/locality/cachemodel_engine.h"
#include "core/parse/parse.h"
#include "core/time/timer.h"
#include "minimd/locality/locality.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/settings.h"
#include "minimd/shell/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MACHINE = SETTINGS_COUNT,
  SCHEDULE,
  SKIP,
  STAY,
  REFILL,
  BRACKET,
  REGISTERS,
  ROWS,
  WARM,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

enum { FIGURES = 10, COLUMNS_MOST = FIGURES + 2 * MACHINE_LEVELS_MOST + 3 };

typedef struct {
  const options *opts;
  machine m;
  options_format format;
  hierarchy_options model; /* as asked for */
  table out;
  table_column columns[COLUMNS_MOST];
  char names[2 * MACHINE_LEVELS_MOST][48]; /* of columns */
  char **orders, **lists;                  /* lists NULL: what the configuration says */
  int n_orders, n_lists;
  FILE *bars; /* what the picture shows, a line an ordering, list and schedule */
  char *bars_text;
  size_t bars_size;
  int64_t rows; /* and the precision of the last one modelled, for the title */
  md_precision precision;
} request;

static const unsigned listed = 1u << SETTINGS_ORDER | 1u << SETTINGS_LIST;

static void make_table(option *known)
{
  settings_table(known);
  known[SETTINGS_ORDER].value = "LIST";
  known[SETTINGS_LIST].value = "LIST";
  known[SETTINGS_LIST].help = "full, half or full,half; when not given the run's own choice, and\n"
                              "full where that is tile, whose kernel cannot be traced";
  known[MACHINE] = (option){"machine", 0, "h200[:K]|host|FILE",
                            "whose caches: an H200 with K KB of shared memory set apart (32),\n"
                            "this machine's (host, the default), or described in FILE"};
  known[SCHEDULE] = (option){"schedule", 0, "round|lockstep|random|oldest",
                             "GPU: which resident warp has the next turn (round)"};
  known[SKIP] = (option){"skip", 0, "P", "GPU: percent of warps that round passes over (15)"};
  known[STAY] = (option){"stay", 0, "P",
                         "GPU: percent of turns after which round lets a warp go on that need\n"
                         "not wait for data (40)"};
  known[REFILL] = (option){"refill", 0, "dynamic|waves",
                           "GPU: the next block comes when one is done, or when all are (dynamic)"};
  known[BRACKET] = (option){"bracket", 0, NULL, "GPU: also the other schedules, lockstep in waves"};
  known[REGISTERS] = (option){"registers", 0, "N", "GPU: of a thread (as compiled for sm_90)"};
  known[ROWS] = (option){"rows", 0, "N", "only the first N rows of the list"};
  known[WARM] =
      (option){"warm", 0, NULL, "caches as the same kernel left them (a GPU's L1 starts empty)"};
  known[FORMAT] = (option)OPTION_FORMAT_OR("csv");
  known[OUTPUT] = (option)OPTION_OUTPUT;
  known[PLOT] = (option)OPTION_PLOT;
  known[QUIET] = (option)OPTION_QUIET;
}

/* Columns that depend on the number of levels. */
static void begin_table(request *r, FILE *stream)
{
  static const table_column first[] = {{"order", -16, 0},
                                       {"list", 4, 0},
                                       {"precision", 9, 0},
                                       {"machine", 8, 0},
                                       {"schedule", 8, 0},
                                       {"caches", 6, 0},
                                       {"stream", 6, 0},
                                       {"requests_per_atom", 8, 4},
                                       {"lines_per_request", 8, 4},
                                       {"sectors_per_request", 8, 4}};
  int n = FIGURES;
  memcpy(r->columns, first, sizeof first);
  for (int k = 0; k < r->m.n_levels; k++) {
    char *hit = r->names[2 * k], *bytes = r->names[2 * k + 1];
    snprintf(hit, sizeof r->names[0], "l%d_hit", k + 1);
    r->columns[n++] = (table_column){hit, 7, 4};
    if (k == 0) continue;
    snprintf(bytes, sizeof r->names[0], "l%d_l%d_bytes_per_atom", k, k + 1);
    r->columns[n++] = (table_column){bytes, 8, 3};
  }
  r->columns[n++] = (table_column){"memory_read_bytes_per_atom", 8, 3};
  r->columns[n++] = (table_column){"memory_written_bytes_per_atom", 8, 3};
  table_begin(&r->out, stream, r->format, "cachemodel", r->opts, r->columns, n);
}

static double ratio(double of, double all)
{
  return all > 0 ? of / all : 0;
}

static void print_row(request *r, const char *order, const locality_run *run, const char *schedule,
                      const char *stream, const hierarchy_counts *c, int64_t rows)
{
  table *t = &r->out;
  const double n = (double)rows, sector = r->m.level[0].sector;
  table_text(t, order);
  table_text(t, neighbor_list_words[run->kind]);
  table_text(t, md_precision_words[run->sim->ctx->precision]);
  table_text(t, r->m.name);
  table_text(t, schedule);
  table_text(t, options_value(r->opts, WARM) ? "warm" : "cold");
  table_text(t, stream);
  table_real(t, (double)c->requests / n);
  table_real(t, ratio((double)c->lines, (double)c->requests));
  table_real(t, ratio((double)c->sectors, (double)c->requests));
  for (int k = 0; k < r->m.n_levels; k++) {
    table_real(t, ratio((double)c->level[k].hits, (double)c->level[k].sectors));
    if (k > 0) table_real(t, sector * (double)c->level[k].sectors / n);
  }
  table_real(t, sector * (double)c->memory_read / n);
  table_real(t, sector * (double)c->memory_written / n);
}

/* All streams together: hit rate of each level, bytes read from each but the first. */
static void note_bars(request *r, const char *order, const locality_run *run, const char *schedule,
                      const hierarchy_counts *all, int64_t rows)
{
  const double bytes = r->m.level[0].sector / (double)rows;
  const bool several = options_value(r->opts, BRACKET);
  r->rows = rows;
  r->precision = run->sim->ctx->precision;
  fprintf(r->bars, "\"%s %s%s%s\"", order, neighbor_list_words[run->kind], several ? " " : "",
          several ? schedule : "");
  for (int k = 0; k < r->m.n_levels; k++)
    fprintf(r->bars, " %.6f", ratio((double)all->level[k].hits, (double)all->level[k].sectors));
  for (int k = 1; k < r->m.n_levels; k++)
    fprintf(r->bars, " %.6f", bytes * (double)all->level[k].sectors);
  fprintf(r->bars, " %.6f\n", bytes * (double)all->memory_read);
}

static md_status draw(request *r, const char *path)
{
  plot picture;
  const int levels = r->m.n_levels;
  fflush(r->bars);
  MD_TRY(plot_open(path, 1000, 420, &picture));
  FILE *gnuplot = picture.stream;
  fprintf(gnuplot, "$bars << END\n%sEND\nset multiplot layout 1,2", r->bars_text);
  plot_title(&picture, "force kernel, %" PRId64 " rows, %s precision, in the caches of %s (%s)",
             r->rows, md_precision_words[r->precision], r->m.name,
             options_value(r->opts, WARM) ? "warm" : "cold");
  fputs("set style data histograms\nset style fill solid 0.7\nset grid y\n"
        "set xtics rotate by -30 noenhanced\nset yrange [0:1]\n"
        "set ytics 0,0.2,1\nset ylabel 'hit rate, all streams'\nplot",
        gnuplot);
  for (int k = 0; k < levels; k++)
    fprintf(gnuplot, "%s $bars using %d:xtic(1) title 'level %d'", k ? "," : "", k + 2, k + 1);
  fputs("\nset yrange [0:*]\nset ytics auto\nset ylabel 'bytes an atom'\nplot", gnuplot);
  for (int k = 1; k < levels; k++)
    fprintf(gnuplot, " $bars using %d:xtic(1) title 'asked of level %d',", levels + k + 1, k + 1);
  fprintf(gnuplot, " $bars using %d:xtic(1) title 'read from memory'\nunset multiplot\n",
          2 * levels + 1);
  return plot_close(&picture);
}

static md_status model_once(request *r, const char *order, const locality_run *run,
                            const hierarchy_options *model)
{
  hierarchy_result cold, warm;
  const bool again = options_value(r->opts, WARM) != NULL;
  const double began = md_wall_seconds();
  MD_TRY(locality_model(run, &r->m, model, &cold, again ? &warm : NULL));
  const hierarchy_result *result = again ? &warm : &cold;
  if (!options_value(r->opts, QUIET)) {
    fprintf(stderr, "%s, %s lists: %lld rows modelled in %.1f s", order,
            neighbor_list_words[run->kind], (long long)result->rows, md_wall_seconds() - began);
    if (r->m.kind == MACHINE_GPU)
      fprintf(stderr, "; blocks of %d, %d registers, %d warps resident", result->block_size,
              result->registers, result->resident_warps);
    fputc('\n', stderr);
  }
  const char *schedule =
      r->m.kind == MACHINE_GPU ? hierarchy_schedule_words[model->schedule] : "rows";
  for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
    const hierarchy_counts *c = &result->stream[s];
    const bool always = s != TRACE_OTHER && s != TRACE_NF;
    if (always || c->requests > 0)
      print_row(r, order, run, schedule, trace_stream_words[s], c, result->rows);
  }
  for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
    char name[32];
    snprintf(name, sizeof name, "%s:density", trace_stream_words[s]);
    if (result->density[s].requests > 0)
      print_row(r, order, run, schedule, name, &result->density[s], result->rows);
  }
  const hierarchy_counts total = hierarchy_total(result);
  print_row(r, order, run, schedule, "all", &total, result->rows);
  note_bars(r, order, run, schedule, &total, result->rows);
  return MD_OK;
}

static md_status model_order(request *r, const char *order, const char *list)
{
  locality_run run;
  MD_TRY(locality_open(r->opts, listed, order, list, r->m.kind, false, &run));
  md_status status = model_once(r, order, &run, &r->model);
  const bool bracket = r->m.kind == MACHINE_GPU && options_value(r->opts, BRACKET);
  for (int s = 0; !status && bracket && s < HIERARCHY_SCHEDULE_COUNT; s++) {
    hierarchy_options other = r->model;
    other.schedule = (hierarchy_schedule)s;
    other.refill = s == HIERARCHY_LOCKSTEP ? HIERARCHY_WAVES : HIERARCHY_DYNAMIC;
    if (other.schedule != r->model.schedule) status = model_once(r, order, &run, &other);
  }
  locality_close(&run);
  return status ? MD_FAIL(status, "%s: %s", order, md_message()) : MD_OK;
}

typedef md_status variant_fn(request *r, const char *order, const char *list);

static md_status check_order(request *r, const char *order, const char *list)
{
  return locality_check(r->opts, listed, order, list, r->m.kind);
}

/* Each ordering with each list. */
static md_status for_all(request *r, variant_fn *act)
{
  for (int l = 0; l < (r->lists ? r->n_lists : 1); l++)
    for (int o = 0; o < r->n_orders; o++)
      MD_TRY(act(r, r->orders[o], r->lists ? r->lists[l] : NULL));
  return MD_OK;
}

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  const char *name = options_value(opts, MACHINE);
  int format = OPTIONS_FORMAT_CSV, schedule = HIERARCHY_ROUND, refill = HIERARCHY_DYNAMIC;
  int64_t registers = 0;
  MD_TRY(options_blame(opts, MACHINE, machine_find(name ? name : "host", &r->m)));
  MD_TRY(options_read_format(opts, FORMAT, &format));
  MD_TRY(
      options_word(opts, SCHEDULE, hierarchy_schedule_words, HIERARCHY_SCHEDULE_COUNT, &schedule));
  MD_TRY(options_word(opts, REFILL, hierarchy_refill_words, HIERARCHY_REFILL_COUNT, &refill));
  MD_TRY(options_integer(opts, REGISTERS, 1, 255, &registers));
  r->model = hierarchy_default();
  int64_t skip = r->model.skip, stay = r->model.stay;
  MD_TRY(options_integer(opts, SKIP, 0, 99, &skip));
  MD_TRY(options_integer(opts, STAY, 0, 99, &stay));
  MD_TRY(options_integer(opts, ROWS, 1, INT64_MAX, &r->model.rows));
  for (int k = SCHEDULE; k <= REGISTERS && r->m.kind == MACHINE_CPU; k++)
    MD_REQUIRE(!options_value(opts, k), MD_EINVAL, "--%s is for GPUs; %s is a cpu",
               opts->table[k].name, r->m.name);
  r->format = (options_format)format;
  r->model.schedule = (hierarchy_schedule)schedule;
  r->model.refill = (hierarchy_refill)refill;
  r->model.skip = (int32_t)skip;
  r->model.stay = (int32_t)stay;
  r->model.registers = (int32_t)registers;
  return MD_OK;
}

static md_status read_lists(request *r)
{
  const char *order = options_value(r->opts, SETTINGS_ORDER);
  const char *list = options_value(r->opts, SETTINGS_LIST);
  MD_TRY(md_parse_list(order ? order : "hilbert", "--order", &r->orders, &r->n_orders));
  if (list) MD_TRY(md_parse_list(list, "--list", &r->lists, &r->n_lists));
  return for_all(r, check_order);
}

static md_status answer(request *r)
{
  const char *picture = options_value(r->opts, PLOT);
  md_output out;
  MD_TRY(read_request(r));
  MD_TRY(read_lists(r));
  if (picture) MD_TRY(plot_check(picture));
  r->bars = open_memstream(&r->bars_text, &r->bars_size);
  MD_REQUIRE(r->bars, MD_ENOMEM, "out of memory for a picture");
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  begin_table(r, out.stream);
  const md_status status = for_all(r, model_order);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  table_end(&r->out);
  MD_TRY(md_output_close(&out));
  return picture ? draw(r, picture) : MD_OK;
}

md_status cachemodel_engine(int argc, char **argv)
{
  option known[N_OPTIONS];
  make_table(known);
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(known, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(
        stdout, "minimd cachemodel -i FILE [--order LIST] --machine M [options]",
        "The force kernel's accesses through a machine's caches at step --steps of a run:\n"
        "requests, sectors, hit rates, bytes per atom and stream.  Atoms and lists are the\n"
        "run's own at that step, the lists as its last rebuild left them.  On a CPU one\n"
        "core takes all rows in turn, and arrays start where a run has them within their\n"
        "pages.  A GPU's kernel has the GPU's own list where the run is on one, else the\n"
        "same rows made from the CPU's full list.  Reads of charges are left out.\n\n"
        "AC own coordinates, NI neighbour indices, NC neighbour coordinates, NT types,\n"
        "FUI forces on neighbours, FUO own forces, NF F' of embedded neighbours; of these\n"
        "NAME:density in the first of their passes.  Other: on a GPU constants of pairs of\n"
        "several types.  Other tables are left out.",
        known, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  if (r.bars) fclose(r.bars);
  free(r.bars_text);
  free(r.orders);
  free(r.lists);
  options_free(&opts);
  return status;
}
