/* minimd/locality/cachemodel_recorded.c - `minimd cachemodel --trace FILE`: misses of a recorded
 * trace in fully associative LRU caches, all capacities in one pass over the file. */
#include "cachemodel/cachemodel.h"
#include "cachemodel/trace/trace_file.h"
#include "core/parse/parse.h"
#include "minimd/locality/cachemodel_engine.h"
#include "minimd/locality/miss_plot.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/table.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE, LINE_BYTES, CAPACITY, FORMAT, OUTPUT, PLOT, N_OPTIONS };
enum { RUNS = 1024, BATCH = 65536 };

static const option known[N_OPTIONS] = {
    {"trace", 0, "FILE", "binary (`run --trace`) or text lines address,size,r|w"},
    {"line-bytes", 0, "B", "bytes of a cache line (64)"},
    {"capacity", 0, "LIST|all", "lines in the cache"},
    OPTION_FORMAT_OR("csv"),
    OPTION_OUTPUT,
    OPTION_PLOT,
};

typedef struct {
  const options *opts;
  options_format format;
  int64_t line_bytes;
  bool every;
  int64_t *capacities; /* [n] */
  miss_count *rows;    /* [n], or one for every capacity */
  int64_t n;
} request;

static md_status feed_run(trace_lines *lines, const trace_run *run, cachemodel_stack *stack)
{
  uint32_t line[BATCH];
  int64_t from = 0, n = 1;
  while (n > 0) {
    MD_TRY(trace_lines_of(lines, run, &from, BATCH, line, &n));
    MD_TRY(cachemodel_stack_feed(stack, n, line));
  }
  return MD_OK;
}

static md_status feed(const request *r, trace_reader *reader, cachemodel_stack *stack)
{
  trace_run runs[RUNS];
  trace_lines *lines;
  int64_t n = 1;
  MD_TRY(trace_lines_create(r->line_bytes, &lines));
  md_status status = MD_OK;
  while (!status && n > 0) {
    status = trace_read(reader, RUNS, runs, &n);
    for (int64_t k = 0; !status && k < n; k++)
      status = feed_run(lines, &runs[k], stack);
  }
  trace_lines_destroy(lines);
  return status;
}

static md_status count_misses(request *r, const cachemodel_stack *stack)
{
  const int64_t accesses = cachemodel_stack_accesses(stack);
  const int64_t distinct = cachemodel_stack_distinct(stack), most = distinct > 0 ? distinct : 1;
  if (r->every) r->n = distinct;
  int64_t *misses = calloc((size_t)most, sizeof *misses);
  r->rows = calloc((size_t)(r->n ? r->n : 1), sizeof *r->rows);
  md_status status = MD_OK;
  if (!misses || !r->rows)
    status = MD_FAIL(MD_ENOMEM, "out of memory for %lld capacities", (long long)most);
  else
    cachemodel_stack_misses(stack, distinct, misses);
  for (int64_t k = 0; !status && k < r->n; k++) {
    const int64_t c = r->every ? k + 1 : r->capacities[k];
    r->rows[k] = (miss_count){c, accesses, misses[(c < most ? c : most) - 1]};
  }
  free(misses);
  return status;
}

static void print(const request *r, FILE *stream)
{
  static const table_column columns[] = {{"trace", -16, 0},   {"line_bytes", 10, 0},
                                         {"capacity", 10, 0}, {"accesses", 14, 0},
                                         {"misses", 14, 0},   {"miss_rate", 9, 6}};
  table t;
  table_begin(&t, stream, r->format, "cachemodel", r->opts, columns, 6);
  for (int64_t k = 0; k < r->n; k++) {
    const miss_count *w = &r->rows[k];
    table_text(&t, options_value(r->opts, TRACE));
    table_integer(&t, r->line_bytes);
    table_integer(&t, w->capacity);
    table_integer(&t, w->accesses);
    table_integer(&t, w->misses);
    table_real(&t, w->accesses ? (double)w->misses / (double)w->accesses : 0);
  }
  table_end(&t);
}

static md_status run(request *r)
{
  trace_reader *reader;
  cachemodel_stack *stack = NULL;
  MD_TRY(trace_reader_open(options_value(r->opts, TRACE), &reader));
  md_status status = cachemodel_stack_create(md_isa_detect(), &stack);
  if (!status) status = feed(r, reader, stack);
  if (!status) status = count_misses(r, stack);
  cachemodel_stack_destroy(stack);
  trace_reader_close(reader);
  return status;
}

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  const char *list = options_value(opts, CAPACITY), *picture = options_value(opts, PLOT);
  int format = OPTIONS_FORMAT_CSV;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  r->format = (options_format)format;
  if (picture) MD_TRY(plot_check(picture));
  r->line_bytes = 64;
  MD_TRY(options_integer(opts, LINE_BYTES, 1, INT64_MAX, &r->line_bytes));
  MD_REQUIRE(options_value(opts, TRACE) && list, MD_EINVAL,
             "expected --trace FILE and --capacity LIST|all");
  r->every = strcmp(list, "all") == 0;
  if (r->every) return MD_OK;
  char **words;
  int n;
  MD_TRY(md_parse_list(list, "--capacity", &words, &n));
  r->n = n;
  r->capacities = calloc((size_t)n, sizeof *r->capacities);
  md_status status = r->capacities ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for capacities");
  for (int k = 0; !status && k < n; k++)
    status =
        options_blame(opts, CAPACITY, md_parse_int64(words[k], 1, INT64_MAX, &r->capacities[k]));
  free(words);
  return status;
}

static md_status answer(request *r)
{
  md_output out;
  MD_TRY(read_request(r));
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  const md_status status = run(r);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  print(r, out.stream);
  MD_TRY(md_output_close(&out));
  const miss_curve curve = {options_value(r->opts, TRACE), r->rows, r->n};
  return options_value(r->opts, PLOT) ? miss_plot(options_value(r->opts, PLOT), 1, &curve) : MD_OK;
}

md_status cachemodel_recorded(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(known, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout, "minimd cachemodel --trace FILE --line-bytes B --capacity LIST|all",
                 "Misses of a recorded trace in fully associative LRU caches.  An access that\n"
                 "spans several lines counts once for each.",
                 known, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  free(r.capacities);
  free(r.rows);
  options_free(&opts);
  return status;
}
