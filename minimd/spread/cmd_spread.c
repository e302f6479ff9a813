/* minimd/spread/cmd_spread.c - `minimd spread`: charges onto a mesh by one method or by all, timed
 * and compared ([Guo] section 4).  R spreadings of one configuration cost build_s + R spread_s. */
#include "core/output/output.h"
#include "core/parse/parse.h"
#include "core/hardware/processors.h"
#include "minimd/shell/bandwidth.h"
#include "minimd/shell/commands.h"
#include "minimd/locality/grids.h"
#include "minimd/shell/plot.h"
#include "minimd/spread/spread_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  PARTICLES,
  MESH,
  ORDER,
  METHOD,
  VECTORS,
  REPEAT,
  BACKEND,
  DEVICE,
  PRECISION,
  DISTRIBUTION,
  BOX,
  CHECK,
  SEED,
  THREADS,
  DETERMINISTIC,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static const option option_table[N_OPTIONS] = {
    {"particles", 0, "N", "particles to make; the file's when --distribution names one"},
    {"mesh", 0, "K[,K2,K3]", "mesh points along each axis, at least the order"},
    {"order", 0, "P", "order of the B-splines, 2..10 (6)"},
    {"method", 0, "particle|single|tiled|coloured|gather|group|hybrid|auto|all",
     "particle, single, tiled; coloured (CPU); gather, group, hybrid (GPU);\n"
     "auto (default) chooses and says why; all: every one the backend has"},
    {"vectors", 0, "V", "charges a particle has, spread onto V meshes at once (1)"},
    {"repeat", 0, "R", "spreadings of one configuration, timed and weighed by auto (10)"},
    OPTION_BACKEND("auto|cpu|gpu", "auto"),
    OPTION_DEVICE,
    {"precision", 0, "single|mixed|double", "number types (double)"},
    {"distribution", 0, "WORD|FILE",
     "uniform, lattice, clustered, or a file: x y z and, if given,\nV charges a line (uniform)"},
    {"box", 0, "L[,L2,L3]", "box edges (one mesh spacing is 1)"},
    {"check", 0, NULL, "compare with a direct sum in double precision"},
    OPTION_SEED("random positions and charges"),
    OPTION_THREADS,
    {"deterministic", 0, NULL, "bit-identical reruns on the same machine"},
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

typedef struct {
  const options *opts;
  options_format format;
  int method; /* SPREAD_METHOD_COUNT: all */
  int distribution;
  const char *file; /* NULL: made by distribution */
  int64_t n, repeats;
  uint64_t seed;
  bool check;
  md_ctx_spec where;
  spread_spec spec;
} request;

static md_status read_box(request *r)
{
  double edge[3];
  const char *text = options_value(r->opts, BOX);
  int n = 0;
  for (int a = 0; a < 3; a++)
    edge[a] = r->spec.mesh[a];
  if (text) {
    char **items;
    MD_TRY(options_blame(r->opts, BOX, md_parse_list(text, "box edges", &items, &n)));
    md_status status =
        n == 1 || n == 3 ? MD_OK : MD_FAIL(MD_EINVAL, "expected L or L,L2,L3, not '%.60s'", text);
    for (int a = 0; a < n && !status; a++)
      status = md_parse_double(items[a], &edge[a]);
    free(items);
    MD_TRY(options_blame(r->opts, BOX, status));
  }
  for (int a = 0; a < 3; a++) {
    r->spec.hi[a] = edge[n == 1 ? 0 : a];
    MD_REQUIRE(r->spec.hi[a] > 0, MD_EINVAL, "--box: an edge must be > 0, not %g", r->spec.hi[a]);
  }
  return MD_OK;
}

static md_status read_particles(request *r)
{
  const char *text = options_value(r->opts, DISTRIBUTION);
  if (text) {
    const int known = md_word_index(text, spread_distribution_words, SPREAD_CASE_COUNT);
    const char *near = md_nearest(text, spread_distribution_words, SPREAD_CASE_COUNT);
    if (known >= 0)
      r->distribution = known;
    else
      r->file = text;
    MD_REQUIRE(known >= 0 || !near || access(text, F_OK) == 0, MD_EINVAL,
               "--distribution: '%.60s' is neither a word nor a file; did you mean '%s'?", text,
               near);
  }
  MD_REQUIRE(r->file || options_value(r->opts, PARTICLES), MD_EINVAL,
             "--particles is missing: expected how many, or a file in --distribution");
  r->n = -1;
  return options_integer(r->opts, PARTICLES, 0, INT64_C(1) << 50, &r->n);
}

static md_status read_where(request *r)
{
  static const char *const backends[] = {"auto", "cpu", "gpu"};
  int backend = 0, precision = MD_DOUBLE;
  int64_t threads = 0;
  MD_TRY(options_word(r->opts, BACKEND, backends, 3, &backend));
  MD_TRY(options_word(r->opts, PRECISION, md_precision_words, MD_PRECISION_COUNT, &precision));
  MD_TRY(options_read_threads(r->opts, THREADS, &threads));
  MD_TRY(options_device(r->opts, DEVICE, backend != 1));
  const bool gpu = backend == 2 || (backend == 0 && md_gpu_available());
  r->where = (md_ctx_spec){gpu ? MD_GPU : MD_CPU, (md_precision)precision, (int)threads,
                           options_value(r->opts, DETERMINISTIC) != NULL};
  return MD_OK;
}

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  const char *words[SPREAD_METHOD_COUNT + 1];
  int format = OPTIONS_FORMAT_TABLE;
  int64_t order = 6, vectors = 1;
  memcpy(words, spread_method_words, sizeof spread_method_words);
  words[SPREAD_METHOD_COUNT] = "all";
  r->method = SPREAD_AUTO;
  r->repeats = 10;
  r->seed = 1;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  r->format = (options_format)format;
  MD_TRY(grid_size_read(opts, MESH, r->spec.mesh));
  MD_TRY(options_integer(opts, ORDER, SPREAD_ORDER_MIN, SPREAD_ORDER_MAX, &order));
  MD_TRY(options_word(opts, METHOD, words, SPREAD_METHOD_COUNT + 1, &r->method));
  MD_TRY(options_integer(opts, VECTORS, 1, INT32_MAX, &vectors));
  MD_TRY(options_integer(opts, REPEAT, 1, INT32_MAX, &r->repeats));
  MD_TRY(options_read_seed(opts, SEED, &r->seed));
  r->spec.order = (int32_t)order;
  r->spec.vectors = (int32_t)vectors;
  r->spec.repeats = (int32_t)r->repeats;
  r->check = options_value(opts, CHECK) != NULL;
  MD_TRY(read_particles(r));
  MD_TRY(read_box(r));
  const char *picture = options_value(opts, PLOT);
  if (picture) MD_TRY(plot_check(picture));
  MD_TRY(read_where(r));
  r->spec.method = r->method == SPREAD_METHOD_COUNT ? SPREAD_AUTO : (spread_method)r->method;
  return spread_check(&r->spec, r->where.backend, r->where.deterministic);
}

static md_status make_particles(const request *r, spread_case *out)
{
  const md_precision precision = r->where.precision;
  const uint64_t seed = r->seed;
  const int threads = r->where.threads > 0 ? r->where.threads : md_processors();
  MD_TRY(md_threads_start(threads));
  if (!r->file)
    return spread_case_make(&r->spec, precision, threads, (spread_distribution)r->distribution,
                            r->n, seed, out);
  MD_TRY(spread_case_read(&r->spec, precision, threads, r->file, seed, out));
  if (r->n < 0 || r->n == out->n) return MD_OK;
  const int64_t found = out->n;
  spread_case_free(out);
  return MD_FAIL(MD_EINVAL, "--particles %" PRId64 ": '%s' has %" PRId64, r->n, r->file, found);
}

/* An error that no rounding explains. */
static md_status check_error(const request *r, const spread_timing *timing)
{
  const double most = r->where.precision == MD_DOUBLE ? 1e-10 : 1e-3;
  MD_REQUIRE(isnan(timing->error) ? !r->check : timing->error <= most, MD_ENUMERIC,
             "method %s differs from the direct sum by %.3g, more than %g",
             spread_method_words[timing->report.method], timing->error, most);
  return MD_OK;
}

/* Every method of --method all that fits the memory, or the one asked for. */
static md_status run_methods(const request *r, spread_bench *bench, spread_table *all)
{
  const bool every = r->method == SPREAD_METHOD_COUNT;
  for (int m = every ? 1 : r->method; m < (every ? SPREAD_METHOD_COUNT : r->method + 1); m++) {
    spread_timing *timing = &all->timing[all->n];
    if (every &&
        (!spread_method_on((spread_method)m, r->where.backend) ||
         (r->where.deterministic && !spread_method_ordered((spread_method)m, r->where.backend))))
      continue;
    const md_status status = spread_bench_run(bench, (spread_method)m, r->repeats, false, timing);
    if (every && status == MD_ENOMEM) {
      fprintf(stderr, "minimd: %s left out: %s\n", spread_method_words[m], md_message());
      continue;
    }
    MD_TRY(status);
    MD_TRY(check_error(r, timing));
    all->n++;
  }
  MD_REQUIRE(all->n > 0, MD_ENOMEM, "no method fits the memory");
  return MD_OK;
}

/* cuSPARSE beside hybrid; its absence is no error. */
static md_status run_peer(const request *r, spread_bench *bench, spread_table *all)
{
  const bool asked = r->method == SPREAD_HYBRID || r->method == SPREAD_METHOD_COUNT;
  all->peered = asked && r->where.backend == MD_GPU;
  if (!all->peered) return MD_OK;
  if (spread_bench_peer(bench, r->repeats, &all->peer) == MD_OK) return check_error(r, &all->peer);
  snprintf(all->missing, sizeof all->missing, "%s", md_message());
  return MD_OK;
}

static md_status measure(request *r, md_ctx *ctx, const spread_case *particles, spread_table *all)
{
  spread_bench bench;
  *all = (spread_table){.opts = r->opts, .spec = &r->spec, .ctx = ctx, .particles = particles->n};
  all->chosen = r->method == SPREAD_AUTO;
  MD_TRY(spread_bench_open(ctx, &r->spec, particles, r->check, &bench));
  md_status status = run_methods(r, &bench, all);
  if (!status) status = run_peer(r, &bench, all);
  if (!status) status = bandwidth_measure(ctx, &all->bandwidth);
  spread_bench_close(&bench);
  return status;
}

static md_status print(const request *r, const spread_table *all)
{
  md_output out;
  const char *picture = options_value(r->opts, PLOT);
  if (picture) MD_TRY(spread_table_plot(all, picture)); /* no rates from a run that fails */
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  spread_table_print(all, r->format, out.stream);
  return md_output_close(&out);
}

static md_status answer(request *r)
{
  md_ctx *ctx;
  spread_case particles;
  spread_table all;
  MD_TRY(read_request(r));
  MD_TRY(make_particles(r, &particles));
  md_status status = md_ctx_create(&r->where, &ctx);
  if (!status) status = measure(r, ctx, &particles, &all);
  spread_case_free(&particles);
  if (!status) status = print(r, &all);
  md_ctx_destroy(ctx);
  return status;
}

md_status cmd_spread(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(option_table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout,
                 "minimd spread --particles N --mesh K[,K2,K3] [options]\n"
                 "       minimd spread --distribution FILE --mesh K[,K2,K3] [options]",
                 "Charges of particles onto a mesh with B-splines: how long each method takes to\n"
                 "prepare and to spread, and how well it agrees with a direct sum.",
                 option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  options_free(&opts);
  return status;
}
