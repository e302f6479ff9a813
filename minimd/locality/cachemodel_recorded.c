/* minimd/locality/cachemodel_recorded.c - `minimd cachemodel --trace FILE`: misses of a recorded
 * trace, any program's: caches of given capacities or of a CPU, regions of memory, single lines. */
#include "core/parse/parse.h"
#include "minimd/locality/cachemodel_engine.h"
#include "minimd/locality/recorded.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/table.h"

#include <stdlib.h>
#include <string.h>

enum {
  TRACE,
  TRACE_FORMAT,
  INSTRUCTIONS,
  LINE_BYTES,
  CAPACITY,
  WAYS,
  POLICY,
  MACHINE,
  REGIONS,
  WORST,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static const option known[N_OPTIONS] = {
    {"trace", 0, "FILE|-",
     "a trace of `run --trace`, or what --trace-format says; -: standard input;\n"
     "may be compressed by gzip"},
    {"trace-format", 0, "auto|minimd|text|lackey|dinero|csv",
     "text: lines address,size,r|w, or R|W address [size], or what Pin's\n"
     "pinatrace and DynamoRIO's memtrace and view print; lackey: valgrind\n"
     "--tool=lackey --trace-mem=yes; csv: a header with address, size, op (auto)"},
    {"instructions", 0, NULL, "count fetches of instructions, too"},
    {"line-bytes", 0, "B", "bytes of a cache line (64)"},
    {"capacity", 0, "LIST|all", "lines in the cache, or bytes as 32KB; all: every capacity (LRU)"},
    {"ways", 0, "W", "lines in a set, which the address chooses (default: one set)"},
    {"policy", 0, "lru|fifo", "which line of a set is replaced (lru)"},
    {"machine", 0, "host|FILE",
     "the caches of this processor, or of a CPU described in FILE,\n"
     "instead of --capacity: a row for each level"},
    {"regions", 0, "LIST",
     "name=start-end,...: rows for each region of memory (end not included),\n"
     "for `other` addresses and for all"},
    {"worst", 0, "N", "instead: the N lines that missed most, in one cache or a machine's first"},
    OPTION_FORMAT_OR("csv"),
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

typedef struct {
  const options *opts;
  options_format format;
  recorded_spec spec;
  recorded_region *regions;
  cachemodel_level *caches;
  machine m;
  int64_t worst;
  recorded_result result;
} request;

static const char *part_name(const request *r, int part)
{
  const int n = r->spec.n_regions;
  return part < n ? r->regions[part].name : part == n && n > 0 ? "other" : "all";
}

static double rate(const miss_count *c)
{
  return c->accesses ? (double)c->misses / (double)c->accesses : 0;
}

static void print_row(const request *r, table *t, int part, int64_t cache)
{
  const miss_count *c = &r->result.counts[part * r->result.n_caches + cache];
  table_text(t, r->spec.path);
  if (r->spec.m) {
    table_text(t, r->m.name);
    table_integer(t, cache + 1);
    table_integer(t, r->m.level[cache].bytes);
  }
  table_integer(t, r->spec.line_bytes);
  if (!r->spec.m) table_integer(t, c->capacity);
  if (r->regions) table_text(t, part_name(r, part));
  table_integer(t, c->accesses);
  table_integer(t, c->misses);
  table_real(t, rate(c));
}

static void print_caches(const request *r, FILE *stream)
{
  static const table_column plain[] = {
      {"trace", -16, 0}, {"line_bytes", 10, 0}, {"capacity", 10, 0}};
  static const table_column levels[] = {{"trace", -16, 0},
                                        {"machine", -16, 0},
                                        {"level", 5, 0},
                                        {"bytes", 10, 0},
                                        {"line_bytes", 10, 0}};
  static const table_column region = {"region", -10, 0};
  static const table_column counts[] = {
      {"accesses", 14, 0}, {"misses", 14, 0}, {"miss_rate", 9, 6}};
  table_column columns[9];
  int n = r->spec.m ? 5 : 3;
  memcpy(columns, r->spec.m ? levels : plain, (size_t)n * sizeof *columns);
  if (r->regions) columns[n++] = region;
  memcpy(columns + n, counts, sizeof counts);
  table t;
  table_begin(&t, stream, r->format, "cachemodel", r->opts, columns, n + 3);
  for (int64_t k = 0; k < r->result.n_caches; k++)
    for (int part = 0; part < r->result.n_parts; part++)
      print_row(r, &t, part, k);
  table_end(&t);
}

static void print_worst(const request *r, FILE *stream)
{
  static const table_column columns[] = {
      {"trace", -16, 0},  {"line_bytes", 10, 0}, {"capacity", 10, 0},
      {"address", 18, 0}, {"region", -10, 0},    {"accesses", 14, 0},
      {"misses", 14, 0},  {"miss_rate", 9, 6},   {"share_of_misses", 9, 6}};
  const recorded_result *x = &r->result;
  const miss_count *all = &x->counts[(x->n_parts - 1) * x->n_caches];
  table t;
  table_begin(&t, stream, r->format, "cachemodel", r->opts, columns, 9);
  for (int64_t k = 0; k < x->n_lines && k < r->worst; k++) {
    const recorded_line *l = &x->lines[k];
    char address[24];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)l->address);
    table_text(&t, r->spec.path);
    table_integer(&t, r->spec.line_bytes);
    table_integer(&t, all->capacity);
    table_text(&t, address);
    table_text(&t, part_name(r, l->part));
    table_integer(&t, l->accesses);
    table_integer(&t, l->misses);
    table_real(&t, (double)l->misses / (double)l->accesses);
    table_real(&t, all->misses ? (double)l->misses / (double)all->misses : 0);
  }
  table_end(&t);
}

static md_status draw(const request *r, const char *path)
{
  const recorded_result *x = &r->result;
  miss_curve *curves = calloc((size_t)x->n_parts, sizeof *curves);
  MD_REQUIRE(curves, MD_ENOMEM, "out of memory for a picture of %d regions", x->n_parts);
  for (int part = 0; part < x->n_parts; part++)
    curves[part] = (miss_curve){x->n_parts > 1 ? part_name(r, part) : "all accesses",
                                &x->counts[part * x->n_caches], x->n_caches};
  char title[400];
  snprintf(title, sizeof title, "%.200s, %lld accesses, lines of %lld bytes%s%s%s", r->spec.path,
           (long long)x->counts[(x->n_parts - 1) * x->n_caches].accesses,
           (long long)r->spec.line_bytes,
           r->spec.m          ? ", "
           : r->spec.n_caches ? ""
                              : ", LRU",
           r->spec.m ? r->m.name : "", r->spec.n_caches && r->caches[0].ways ? ", in sets" : "");
  const md_status status = miss_plot(path, title, x->n_parts, curves);
  free(curves);
  return status;
}

static md_status read_capacities(request *r, const cachemodel_level *usual)
{
  char **words;
  int n;
  MD_TRY(md_parse_list(options_value(r->opts, CAPACITY), "capacities", &words, &n));
  r->caches = calloc((size_t)n, sizeof *r->caches);
  md_status status = r->caches ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for capacities");
  for (int k = 0; !status && k < n; k++) {
    r->caches[k] = *usual;
    status = recorded_capacity(words[k], r->spec.line_bytes, &r->caches[k].capacity);
    if (!status && usual->ways && r->caches[k].capacity % usual->ways)
      status = MD_FAIL(MD_EINVAL, "%lld ways do not divide the %lld lines of '%.60s'",
                       (long long)usual->ways, (long long)r->caches[k].capacity, words[k]);
  }
  free(words);
  r->spec.caches = r->caches;
  r->spec.n_caches = n;
  return status;
}

static md_status read_caches(request *r)
{
  const options *opts = r->opts;
  cachemodel_level usual = {0, 0, CACHEMODEL_LRU};
  int policy = CACHEMODEL_LRU;
  const char *list = options_value(opts, CAPACITY), *name = options_value(opts, MACHINE);
  r->spec.line_bytes = 64;
  MD_TRY(options_integer(opts, LINE_BYTES, 1, INT64_MAX, &r->spec.line_bytes));
  MD_TRY(options_integer(opts, WAYS, 1, INT64_MAX, &usual.ways));
  MD_TRY(options_word(opts, POLICY, cachemodel_policy_words, CACHEMODEL_POLICY_COUNT, &policy));
  usual.policy = (cachemodel_policy)policy;
  MD_REQUIRE(!list != !name, MD_EINVAL,
             "expected either --capacity LIST|all or --machine host|FILE");
  if (name) {
    MD_REQUIRE(!options_value(opts, LINE_BYTES) && !usual.ways && !options_value(opts, POLICY),
               MD_EINVAL, "--machine says what --line-bytes, --ways and --policy would");
    MD_TRY(options_blame(opts, MACHINE, machine_find(name, &r->m)));
    r->spec.m = &r->m;
    r->spec.line_bytes = r->m.level[0].line;
    return MD_OK;
  }
  r->spec.every = strcmp(list, "all") == 0;
  if (!r->spec.every) return options_blame(opts, CAPACITY, read_capacities(r, &usual));
  MD_REQUIRE(!usual.ways && policy == CACHEMODEL_LRU, MD_EINVAL,
             "--capacity all is for LRU without --ways: other caches have no stack of lines");
  return MD_OK;
}

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  int format = OPTIONS_FORMAT_CSV, kind = TRACE_FORMAT_AUTO;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  r->format = (options_format)format;
  if (options_value(opts, PLOT)) MD_TRY(plot_check(options_value(opts, PLOT)));
  r->spec.path = options_value(opts, TRACE);
  MD_REQUIRE(r->spec.path, MD_EINVAL, "expected --trace FILE");
  MD_TRY(options_word(opts, TRACE_FORMAT, trace_format_words, TRACE_FORMAT_COUNT, &kind));
  r->spec.how = (trace_how){(trace_format)kind, options_value(opts, INSTRUCTIONS) != NULL};
  MD_TRY(read_caches(r));
  const char *regions = options_value(opts, REGIONS);
  if (regions)
    MD_TRY(options_blame(opts, REGIONS,
                         recorded_regions_read(regions, &r->regions, &r->spec.n_regions)));
  r->spec.regions = r->regions;
  MD_TRY(options_integer(opts, WORST, 1, INT64_MAX, &r->worst));
  r->spec.by_line = r->worst > 0;
  MD_REQUIRE(!r->worst || r->spec.m || r->spec.n_caches == 1, MD_EINVAL,
             "--worst: expected --machine, or one capacity");
  return MD_OK;
}

static md_status answer(request *r)
{
  md_output out;
  MD_TRY(read_request(r));
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  const md_status status = recorded_study(&r->spec, &r->result);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  if (!options_value(r->opts, QUIET) && r->spec.how.format == TRACE_FORMAT_AUTO)
    fprintf(stderr, "%s: read as %s\n", r->spec.path, trace_format_words[r->result.format]);
  if (r->worst)
    print_worst(r, out.stream);
  else
    print_caches(r, out.stream);
  MD_TRY(md_output_close(&out));
  return options_value(r->opts, PLOT) ? draw(r, options_value(r->opts, PLOT)) : MD_OK;
}

md_status cachemodel_recorded(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(known, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout, "minimd cachemodel --trace FILE --capacity LIST|all | --machine M",
                 "Misses of a recorded trace in caches of given capacities, or in those of a CPU.\n"
                 "An access that spans several lines counts once for each.",
                 known, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  recorded_regions_free(r.regions, r.spec.n_regions);
  recorded_free(&r.result);
  free(r.caches);
  options_free(&opts);
  return status;
}
