/* minimd/locality/cmd_cachemodel.c - `minimd cachemodel`: misses of a stencil sweep ([AK] Alg. 1,
 * Figs. 10-13), for given capacities, for all, or for several levels.  One thread an ordering. */
#include "cachemodel/cachemodel.h"
#include "core/parse/parse.h"
#include "core/hardware/processors.h"
#include "minimd/locality/cachemodel_engine.h"
#include "minimd/shell/commands.h"
#include "minimd/locality/grids.h"
#include "minimd/locality/miss_plot.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/progress.h"
#include "minimd/shell/table.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ORDER,
  SIZE,
  STENCIL,
  HALF,
  LINE,
  CAPACITY,
  WAYS,
  POLICY,
  LEVELS,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static const option option_table[N_OPTIONS] = {
    {"order", 0, "LIST", "orderings, separated by commas"},
    {"size", 0, "M[,N,P]", "cells along each axis"},
    {"stencil", 0, "S", "block:G or sphere:G"},
    {"half", 0, NULL, "visit one of each pair of opposite cells, and the centre"},
    {"line", 0, "B", "cells in a cache line"},
    {"capacity", 0, "LIST|all", "lines in the cache; all: every capacity in one pass (LRU)"},
    {"ways", 0, "W", "lines in a set; divides every capacity (default: one set)"},
    {"policy", 0, "lru|fifo", "which line of a set is replaced (lru)"},
    {"levels", 0, "SPEC",
     "several levels instead of --capacity, nearest first:\n"
     "[inclusive:|exclusive:]LINES[/WAYS][/POLICY],...\n"
     "as exclusive:64/8,1024/16/fifo; one row a level, whose\n"
     "accesses are the misses of the level before"},
    OPTION_FORMAT_OR("csv"),
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

enum { BATCH = 16384 };

/* What one thread does: the sweep of one ordering through every cache asked for. */
typedef struct {
  cachemodel_sweep sweep;
  miss_count *rows; /* [n_rows] */
  int64_t n_rows;
  md_status status;
  char *message; /* of a failure; messages belong to a thread */
} job;

typedef struct {
  const options *opts;
  options_format format;
  grid_orders orders;
  cachemodel_sweep sweep; /* of every ordering */
  cachemodel_level *levels;
  int n_levels;
  bool hierarchy; /* the levels are one cache; else each is a cache of its own */
  bool every;     /* all capacities */
  cachemodel_inclusion inclusion;
  job *jobs; /* [orders.n] */
  int64_t done;
  progress bar;
} request;

static bool fully_lru(const cachemodel_level *l)
{
  return l->policy == CACHEMODEL_LRU && (l->ways == 0 || l->ways == l->capacity);
}

/* One pass of stack distances serves any number of fully associative LRU caches. */
static bool wants_stack(const request *r)
{
  bool all = !r->hierarchy && r->n_levels > 1;
  for (int l = 0; all && l < r->n_levels; l++)
    all = fully_lru(&r->levels[l]);
  return r->every || all;
}

static void advance(request *r, int64_t accesses)
{
  int64_t done;
#pragma omp atomic capture
  done = r->done += accesses;
  if (omp_get_thread_num() == 0) progress_update(&r->bar, done);
}

static md_status make_rows(job *j, int64_t n)
{
  j->rows = calloc((size_t)n, sizeof *j->rows);
  MD_REQUIRE(j->rows, MD_ENOMEM, "out of memory for %" PRId64 " capacities", n);
  j->n_rows = n;
  return MD_OK;
}

static md_status stack_rows(const request *r, job *j, const cachemodel_stack *stack)
{
  const int64_t most = cachemodel_stack_distinct(stack); /* beyond, misses stay what they are */
  int64_t *misses = malloc((size_t)most * sizeof *misses);
  MD_REQUIRE(misses, MD_ENOMEM, "out of memory for %" PRId64 " capacities", most);
  cachemodel_stack_misses(stack, most, misses);
  const md_status status = make_rows(j, r->every ? most : r->n_levels);
  for (int64_t k = 0; !status && k < j->n_rows; k++) {
    const int64_t c = r->every ? k + 1 : r->levels[k].capacity;
    j->rows[k] =
        (miss_count){c, cachemodel_stack_accesses(stack), misses[(c < most ? c : most) - 1]};
  }
  free(misses);
  return status;
}

static md_status run_stack(request *r, job *j, cachemodel_trace *trace)
{
  cachemodel_stack *stack;
  MD_TRY(cachemodel_stack_create(md_isa_detect(), &stack));
  uint32_t line[BATCH];
  md_status status = MD_OK;
  for (int64_t n; !status && (n = cachemodel_trace_next(trace, BATCH, line)) > 0;) {
    status = cachemodel_stack_feed(stack, n, line);
    advance(r, n);
  }
  if (!status) status = stack_rows(r, j, stack);
  cachemodel_stack_destroy(stack);
  return status;
}

static md_status feed_caches(request *r, cachemodel_trace *trace, int n_caches,
                             cachemodel_cache **caches)
{
  uint32_t line[BATCH];
  for (int64_t n; (n = cachemodel_trace_next(trace, BATCH, line)) > 0;) {
    for (int c = 0; c < n_caches; c++)
      MD_TRY(cachemodel_cache_feed(caches[c], n, line));
    advance(r, n);
  }
  return MD_OK;
}

static md_status run_caches(request *r, job *j, cachemodel_trace *trace)
{
  const int n_caches = r->hierarchy ? 1 : r->n_levels, depth = r->hierarchy ? r->n_levels : 1;
  cachemodel_cache **caches = calloc((size_t)n_caches, sizeof *caches);
  MD_REQUIRE(caches, MD_ENOMEM, "out of memory for %d caches", n_caches);
  md_status status = make_rows(j, r->n_levels);
  for (int c = 0; !status && c < n_caches; c++)
    status =
        cachemodel_cache_create(md_isa_detect(), depth, &r->levels[c], r->inclusion, &caches[c]);
  if (!status) status = feed_caches(r, trace, n_caches, caches);
  for (int l = 0; !status && l < r->n_levels; l++) {
    j->rows[l].capacity = r->levels[l].capacity;
    cachemodel_cache_counts(caches[l / depth], l % depth, &j->rows[l].accesses, &j->rows[l].misses);
  }
  for (int c = 0; c < n_caches; c++)
    cachemodel_cache_destroy(caches[c]);
  free(caches);
  return status;
}

static md_status run_job(request *r, job *j)
{
  cachemodel_trace *trace;
  MD_TRY(cachemodel_trace_create(&j->sweep, &trace));
  const md_status status = wants_stack(r) ? run_stack(r, j, trace) : run_caches(r, j, trace);
  cachemodel_trace_destroy(trace);
  return status;
}

static md_status run_jobs(request *r)
{
  MD_TRY(md_threads_start(md_processors()));
  const int64_t accesses = cachemodel_sweep_accesses(&r->sweep);
  progress_begin(&r->bar, accesses * r->orders.n, options_value(r->opts, QUIET));
#pragma omp parallel for schedule(dynamic, 1) num_threads(md_processors())
  for (int k = 0; k < r->orders.n; k++) {
    job *j = &r->jobs[k];
    j->status = run_job(r, j);
    if (j->status) j->message = strdup(md_message());
  }
  progress_end(&r->bar);
  for (int k = 0; k < r->orders.n; k++) {
    const job *j = &r->jobs[k];
    MD_REQUIRE(!j->status, j->status, "ordering %s: %s", r->orders.words[k],
               j->message ? j->message : "out of memory");
  }
  return MD_OK;
}

static void print_rows(const request *r, FILE *stream)
{
  static const table_column columns[] = {
      {"order", -24, 0},   {"size", -6, 0},   {"stencil", -10, 0},
      {"half", 4, 0},      {"line", 6, 0},    {"capacity", 10, 0},
      {"accesses", 12, 0}, {"misses", 12, 0}, {"miss_rate", 9, 6}};
  char size[64], stencil[32];
  const int32_t *n = r->sweep.n;
  const bool cube = n[0] == n[1] && n[1] == n[2];
  snprintf(size, sizeof size, cube ? "%d" : "%dx%dx%d", n[0], n[1], n[2]);
  ordering_stencil_format(&r->sweep.stencil, stencil);
  table t;
  table_begin(&t, stream, r->format, "cachemodel", r->opts, columns, 9);
  for (int o = 0; o < r->orders.n; o++)
    for (int64_t k = 0; k < r->jobs[o].n_rows; k++) {
      const miss_count *w = &r->jobs[o].rows[k];
      table_text(&t, r->orders.words[o]);
      table_text(&t, size);
      table_text(&t, stencil);
      table_integer(&t, r->sweep.half);
      table_integer(&t, r->sweep.line);
      table_integer(&t, w->capacity);
      table_integer(&t, w->accesses);
      table_integer(&t, w->misses);
      table_real(&t, w->accesses ? (double)w->misses / (double)w->accesses : 0);
    }
  table_end(&t);
}

static md_status draw(const request *r, const char *path)
{
  miss_curve *curves = calloc((size_t)r->orders.n, sizeof *curves);
  MD_REQUIRE(curves, MD_ENOMEM, "out of memory for a picture of %d orderings", r->orders.n);
  for (int o = 0; o < r->orders.n; o++)
    curves[o] = (miss_curve){r->orders.words[o], r->jobs[o].rows, r->jobs[o].n_rows};
  char title[160], stencil[32];
  ordering_stencil_format(&r->sweep.stencil, stencil);
  snprintf(title, sizeof title, "%s%s over %d x %d x %d cells, %" PRId64 " cells in a line",
           r->sweep.half ? "half of " : "", stencil, r->sweep.n[0], r->sweep.n[1], r->sweep.n[2],
           r->sweep.line);
  const md_status status = miss_plot(path, title, r->orders.n, curves);
  free(curves);
  return status;
}

/* --capacity LIST: a cache for each. */
static md_status read_capacities(request *r, const cachemodel_level *usual)
{
  char **words;
  MD_TRY(md_parse_list(options_value(r->opts, CAPACITY), "capacities", &words, &r->n_levels));
  r->levels = calloc((size_t)r->n_levels, sizeof *r->levels);
  md_status status = r->levels ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for capacities");
  for (int l = 0; !status && l < r->n_levels; l++) {
    r->levels[l] = *usual;
    status = md_parse_int64(words[l], 1, INT64_MAX, &r->levels[l].capacity);
    if (!status && usual->ways && r->levels[l].capacity % usual->ways)
      status = MD_FAIL(MD_EINVAL, "%" PRId64 " ways do not divide a capacity of %s lines",
                       usual->ways, words[l]);
  }
  free(words);
  return status;
}

static md_status read_caches(request *r)
{
  const options *opts = r->opts;
  cachemodel_level usual = {0, 0, CACHEMODEL_LRU};
  int policy = CACHEMODEL_LRU;
  MD_TRY(options_integer(opts, WAYS, 1, INT64_MAX, &usual.ways));
  MD_TRY(options_word(opts, POLICY, cachemodel_policy_words, CACHEMODEL_POLICY_COUNT, &policy));
  usual.policy = (cachemodel_policy)policy;
  const char *capacity = options_value(opts, CAPACITY), *levels = options_value(opts, LEVELS);
  MD_REQUIRE(!capacity != !levels, MD_EINVAL,
             "expected either --capacity LIST|all or --levels SPEC");
  r->hierarchy = levels != NULL;
  if (levels)
    return options_blame(
        opts, LEVELS,
        cachemodel_levels_parse(levels, &usual, &r->levels, &r->n_levels, &r->inclusion));
  r->every = strcmp(capacity, "all") == 0;
  if (!r->every) return options_blame(opts, CAPACITY, read_capacities(r, &usual));
  MD_REQUIRE(!usual.ways && usual.policy == CACHEMODEL_LRU, MD_EINVAL,
             "--capacity all is for LRU without --ways: other caches have no stack of lines");
  return MD_OK;
}

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  int format = OPTIONS_FORMAT_CSV;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  r->format = (options_format)format;
  if (options_value(opts, PLOT)) MD_TRY(plot_check(options_value(opts, PLOT)));
  MD_TRY(grid_orders_read(opts, ORDER, &r->orders));
  MD_TRY(grid_size_read(opts, SIZE, r->sweep.n));
  MD_TRY(grid_stencil_read(opts, STENCIL, &r->sweep.stencil));
  r->sweep.half = options_value(opts, HALF) != NULL;
  MD_TRY(grid_require(opts, LINE, "expected the number of cells in a cache line"));
  MD_TRY(options_integer(opts, LINE, 1, INT64_MAX, &r->sweep.line));
  MD_TRY(read_caches(r));
  const int threads = md_processors();
  r->jobs = calloc((size_t)r->orders.n, sizeof *r->jobs);
  MD_REQUIRE(r->jobs, MD_ENOMEM, "out of memory for %d orderings", r->orders.n);
  for (int o = 0; o < r->orders.n; o++) {
    r->jobs[o].sweep = r->sweep;
    r->jobs[o].sweep.order = r->orders.orders[o];
    MD_TRY(
        cachemodel_sweep_check(&r->jobs[o].sweep, threads < r->orders.n ? threads : r->orders.n));
  }
  return MD_OK;
}

static md_status answer(request *r)
{
  MD_TRY(read_request(r));
  md_output out;
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  const md_status status = run_jobs(r);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  print_rows(r, out.stream);
  MD_TRY(md_output_close(&out));
  const char *picture = options_value(r->opts, PLOT);
  return picture ? draw(r, picture) : MD_OK;
}

static void release(request *r)
{
  for (int o = 0; r->jobs && o < r->orders.n; o++) {
    free(r->jobs[o].rows);
    free(r->jobs[o].message);
  }
  free(r->jobs);
  free(r->levels);
  grid_orders_free(&r->orders);
}

/* True if one of the arguments is the option --name or its letter. */
static bool mentions(int argc, char **argv, const char *name, char letter)
{
  const size_t length = strlen(name);
  for (int a = 1; a < argc; a++) {
    const char *arg = argv[a];
    const bool named = strncmp(arg, name, length) == 0;
    if (named && (arg[length] == '\0' || arg[length] == '=')) return true;
    if (letter && arg[0] == '-' && arg[1] == letter) return true;
  }
  return false;
}

md_status cmd_cachemodel(int argc, char **argv)
{
  if (mentions(argc, argv, "--trace", 0)) return cachemodel_recorded(argc, argv);
  if (mentions(argc, argv, "--machine", 0) || mentions(argc, argv, "--input", 'i'))
    return cachemodel_engine(argc, argv);
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(option_table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout,
                 "minimd cachemodel --order LIST --size M --stencil S [--half] --line B\n"
                 "                  --capacity LIST|all [options]",
                 "How often a stencil sweep over the cells of a grid misses in a cache, by the\n"
                 "order of the cells in memory.  Lines and capacities count cells and lines.\n\n"
                 "minimd cachemodel -i FILE --machine M   the force kernel of a run on a machine\n"
                 "minimd cachemodel --trace FILE          a recorded trace\n"
                 "have options of their own: add --help.",
                 option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  release(&r);
  options_free(&opts);
  return status;
}
