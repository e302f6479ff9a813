/* minimd/stokes/cmd_gspmv.c - `minimd gspmv`: products of a block matrix with many vectors,
 * measured beside the model ([Liu] section IV, Figs. 1 and 2). */
#include "comm/world.h"
#include "core/output/output.h"
#include "core/parse/parse.h"
#include "minimd/shell/bandwidth.h"
#include "minimd/shell/commands.h"
#include "minimd/run/same.h"
#include "minimd/stokes/gspmv_model.h"
#include "minimd/stokes/gspmv_ranks.h"
#include "minimd/stokes/gspmv_report.h"
#include "minimd/stokes/gspmv_vectors.h"
#include "minimd/shell/memory.h"
#include "minimd/shell/plot.h"
#include "minimd/stokes/suspension.h"
#include "stokes/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MATRIX,
  VECTORS,
  BACKEND,
  DEVICE,
  PRECISION,
  STORAGE,
  ROWS,
  REPEAT,
  SEED,
  THREADS,
  WRITE,
  MAP,
  NODES,
  LATENCY,
  NETWORK,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static const option option_table[N_OPTIONS] = {
    {"matrix", 0, "mat1|mat2|mat3|FILE",
     "resistance matrix like one of [Liu] Table I, or a MatrixMarket file (.mtx)"},
    {"vectors", 0, "LIST", "how many vectors at once, separated by commas (1,2,4,8,16,32)"},
    OPTION_BACKEND("cpu|gpu", "cpu"),
    OPTION_DEVICE,
    {"precision", 0, "single|double", "of the stored blocks; arithmetic is double (double)"},
    {"storage", 0, "bcrs|single|pair", "how blocks are stored (by --precision)"},
    {"rows", 0, "N", "spheres of mat1, mat2, mat3 (300000, 395000, 395000)"},
    {"repeat", 0, "N", "products timed for each row, at least; the median counts (5)"},
    OPTION_SEED("the packing"),
    OPTION_THREADS,
    {"write", 0, "FILE", "write the matrix as MatrixMarket"},
    {"map", 0, NULL,
     "instead: how many vectors take twice the time of one, by blocks per row\nand B / F (Fig. 1)"},
    {"nodes", 0, "LIST",
     "instead: how long products would take where so many nodes like this machine share\nthe "
     "matrix, "
     "from the model (Table III, Figs. 3 and 4)"},
    {"latency", 0, "X", "of a message between nodes [us] (1.5; several ranks: measured)"},
    {"network", 0, "X", "bandwidth into a node [GB/s] (3.54; several ranks: measured)"},
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

typedef struct {
  const options *opts;
  int format, backend, storage;
  int64_t rows, repeat, threads;
  uint64_t seed;
  gspmv_row *results; /* [n] */
  int n, n_nodes;
  int *vectors, *nodes; /* [n], [n_nodes]; n_nodes 0: measure */
  stokes_network network;
  md_ctx *ctx;
  stokes_matrix *matrix;
  suspension suspension; /* from which the matrix is assembled, unless it comes from a file */
  stokes_blocks blocks;  /* the same matrix on the host */
  stokes_machine machine;
} request;

/* The numbers of an option, up to `most`. */
static md_status read_list(const request *r, int which, const char *usual, int most, int **out,
                           int *n)
{
  const char *text = options_value(r->opts, which);
  char **words;
  MD_TRY(options_blame(r->opts, which,
                       md_parse_list(text ? text : usual, option_table[which].name, &words, n)));
  *out = calloc((size_t)*n, sizeof **out);
  md_status status = *out ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for a list");
  for (int k = 0; !status && k < *n; k++) {
    int64_t number = 0;
    status = options_blame(r->opts, which, md_parse_int64(words[k], 1, most, &number));
    (*out)[k] = (int)number;
  }
  free(words);
  return status;
}

static md_status read_lists(request *r)
{
  enum { MOST_NODES = 1 << 20 };
  MD_TRY(read_list(r, VECTORS, "1,2,4,8,16,32", STOKES_COLUMNS, &r->vectors, &r->n));
  r->results = calloc((size_t)r->n, sizeof *r->results);
  MD_REQUIRE(r->results, MD_ENOMEM, "out of memory for %d results", r->n);
  for (int k = 0; k < r->n; k++)
    r->results[k].m = r->vectors[k];
  const bool alone = world_count() == 1;
  double microseconds = alone ? 1.5 : NAN, gigabytes = alone ? 3.54 : NAN;
  MD_TRY(options_number(r->opts, LATENCY, 0, 1e6, &microseconds));
  MD_TRY(options_number(r->opts, NETWORK, 1e-6, 1e6, &gigabytes));
  r->network = (stokes_network){1e-6 * microseconds, 1e9 * gigabytes};
  if (!options_value(r->opts, NODES)) return MD_OK;
  return read_list(r, NODES, "1", MOST_NODES, &r->nodes, &r->n_nodes);
}

/* Several ranks multiply a matrix, and do nothing else. */
static md_status check_ranks(const request *r)
{
  static const int alone[] = {MAP, NODES, WRITE, PLOT};
  if (world_count() == 1) return MD_OK;
  for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
    MD_REQUIRE(!options_value(r->opts, alone[k]), MD_EINVAL, "--%s on %d ranks: expected one rank",
               option_table[alone[k]].name, world_count());
  return MD_OK;
}

static bool quiet(const request *r)
{
  return options_value(r->opts, QUIET) || world_rank() > 0;
}

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  static const char *const precision_words[] = {"single", "double"};
  int precision = 1;
  MD_TRY(options_read_format(opts, FORMAT, &r->format));
  MD_TRY(options_word(opts, BACKEND, md_backend_words, MD_BACKEND_COUNT, &r->backend));
  MD_TRY(check_ranks(r));
  MD_TRY(options_device(opts, DEVICE, r->backend == MD_GPU));
  MD_TRY(options_word(opts, PRECISION, precision_words, 2, &precision));
  r->storage = precision ? STOKES_BCRS : STOKES_SINGLE;
  MD_TRY(options_word(opts, STORAGE, stokes_storage_words, STOKES_STORAGE_COUNT, &r->storage));
  MD_TRY(options_integer(opts, ROWS, 1, INT32_MAX / 9, &r->rows));
  MD_TRY(options_integer(opts, REPEAT, 1, 1000000, &r->repeat));
  MD_TRY(options_read_threads(opts, THREADS, &r->threads));
  MD_TRY(options_read_seed(opts, SEED, &r->seed));
  if (options_value(opts, PLOT)) MD_TRY(plot_check(options_value(opts, PLOT)));
  MD_TRY(options_writes(opts, WRITE));
  if (options_value(opts, MAP)) return MD_OK;
  MD_REQUIRE(options_value(opts, MATRIX), MD_EINVAL,
             "expected --matrix mat1|mat2|mat3|FILE.mtx, or --map; see --help");
  return read_lists(r);
}

/* Lay the matrix out for products with m vectors. */
static md_status arrange(request *r, int m)
{
  if (r->suspension.pairs) return suspension_assemble(&r->suspension, m, r->matrix);
  return stokes_matrix_set(r->matrix, &r->blocks, m);
}

/* Vectors may be stored in as many columns as the next multiple of this. */
enum { MORE_COLUMNS = 16 };

/* The suspension, or the blocks of a file. */
static md_status open_matrix(request *r)
{
  const char *name = options_value(r->opts, MATRIX);
  int widest = 1;
  for (int k = 0; k < r->n; k++)
    widest = r->results[k].m > widest ? r->results[k].m : widest;
  if (widest > 1) widest = (widest + MORE_COLUMNS - 1) / MORE_COLUMNS * MORE_COLUMNS;
  for (int k = 0; k < SUSPENSION_MATRICES; k++) {
    const suspension_matrix *matrix = &suspension_matrices[k];
    if (strcmp(name, matrix->name) != 0) continue;
    const suspension_spec spec = {r->rows ? r->rows : matrix->rows, matrix->occupancy, r->seed,
                                  quiet(r)};
    const stokes_resistance law = {1, matrix->gap_cut, 1e-3};
    return suspension_open(r->ctx, &spec, &law, widest, &r->suspension);
  }
  const char *dot = strrchr(name, '.');
  MD_REQUIRE(dot && strcmp(dot, ".mtx") == 0, MD_EINVAL,
             "--matrix '%s': expected mat1, mat2, mat3 or a MatrixMarket file (.mtx)", name);
  MD_TRY(stokes_blocks_read(name, &r->blocks));
  return memory_announce(
      "products with this matrix",
      76.0 * (double)r->blocks.n_blocks + 96.0 * (widest + 1) * (double)r->blocks.n_rows, quiet(r));
}

static md_status make_matrix(request *r)
{
  MD_TRY(stokes_matrix_create(r->ctx, (stokes_storage)r->storage, &r->matrix));
  MD_TRY(arrange(r, 1));
  return r->suspension.pairs ? stokes_matrix_get(r->matrix, &r->blocks) : MD_OK;
}

static md_status measure(request *r, gspmv_row *row)
{
  double seconds;
  MD_TRY(arrange(r, row->m));
  MD_TRY(stokes_matrix_columns(r->matrix, row->m, &row->columns));
  MD_TRY(stokes_matrix_time(r->matrix, row->columns, &seconds, row->parts, sizeof row->parts));
  const stokes_shape shape = stokes_matrix_shape(r->matrix);
  const size_t rows = (size_t)shape.n_rows * 3, numbers = rows * (size_t)row->columns,
               bytes = numbers * sizeof(double);
  md_buffer x = {0}, y = {0};
  double *host = malloc(2 * bytes + 1);
  md_status status = host ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %d vectors", row->m);
  if (!status) gspmv_fill(host, shape.n_rows, NULL, row->m, row->columns);
  if (!status) status = md_buffer_reserve(r->ctx, &x, bytes, 0);
  if (!status) status = md_buffer_reserve(r->ctx, &y, bytes, 0);
  if (!status) status = md_write(r->ctx, x.data, host, bytes);
  if (!status)
    status =
        gspmv_time(r->ctx, r->matrix, (int)r->repeat, row->columns, x.data, y.data, &row->seconds);
  if (!status) status = md_read(r->ctx, host + numbers, y.data, bytes);
  if (!status)
    row->error = gspmv_error(gspmv_compare(&r->blocks, NULL, gspmv_stride(shape.n_rows),
                                           host + numbers, row->m, row->columns));
  row->bytes = stokes_model_bytes(&shape, row->m, 0);
  row->model = stokes_model_relative(&r->machine, &shape, row->m, 0);
  free(host);
  md_buffer_free(r->ctx, &x);
  md_buffer_free(r->ctx, &y);
  return status;
}

/* Relative times need one vector, too. */
static md_status measure_all(request *r, double *one)
{
  gspmv_row alone = {.m = 1};
  MD_TRY(stokes_machine_measure(r->ctx, (stokes_storage)r->storage, &r->machine));
  MD_TRY(measure(r, &alone));
  *one = alone.seconds;
  for (int k = 0; k < r->n; k++) {
    if (r->results[k].m == 1)
      r->results[k] = alone;
    else
      MD_TRY(measure(r, &r->results[k]));
  }
  if (options_value(r->opts, QUIET)) return MD_OK;
  const stokes_shape shape = stokes_matrix_shape(r->matrix);
  const int turn = stokes_model_switch(&r->machine, &shape, 0);
  fprintf(stderr, "B = %.3g GB/s, F = %.3g Gflop/s; arithmetic ", 1e-9 * r->machine.bandwidth,
          1e-9 * r->machine.flops);
  if (turn > 0)
    fprintf(stderr, "bounds from m_s = %d vectors on\n", turn);
  else
    fputs("never bounds: memory does for any number of vectors\n", stderr);
  return MD_OK;
}

/* Rows and notes, and a picture before them: no rates from a run that fails. */
static md_status show(const request *r, double one, FILE *stream)
{
  const char *picture = options_value(r->opts, PLOT);
  const gspmv_table all = {r->opts,
                           (options_format)r->format,
                           options_value(r->opts, QUIET) != NULL,
                           options_value(r->opts, MATRIX),
                           (md_backend)r->backend,
                           stokes_matrix_shape(r->matrix),
                           r->machine,
                           cache_bytes(r->ctx),
                           r->results,
                           r->n,
                           one};
  if (picture) MD_TRY(gspmv_table_plot(&all, picture));
  gspmv_table_print(&all, stream);
  return MD_OK;
}

/* Where nodes like this machine share the matrix. */
static md_status answer_nodes(request *r, FILE *stream)
{
  MD_TRY(stokes_machine_measure(r->ctx, (stokes_storage)r->storage, &r->machine));
  if (!options_value(r->opts, QUIET))
    fprintf(stderr, "B = %.3g GB/s, F = %.3g Gflop/s\n", 1e-9 * r->machine.bandwidth,
            1e-9 * r->machine.flops);
  const gspmv_nodes job = {r->opts,
                           (options_format)r->format,
                           options_value(r->opts, MATRIX),
                           &r->blocks,
                           stokes_matrix_shape(r->matrix).product_bytes,
                           r->nodes,
                           r->vectors,
                           r->n_nodes,
                           r->n,
                           r->machine,
                           r->network};
  return gspmv_nodes_answer(&job, stream, options_value(r->opts, PLOT));
}

/* Several ranks, which multiply the matrix together. */
static md_status answer_ranks(request *r, FILE *stream)
{
  const gspmv_ranks job = {r->opts,
                           (options_format)r->format,
                           options_value(r->opts, QUIET) != NULL,
                           options_value(r->opts, MATRIX),
                           r->ctx,
                           r->suspension.pairs ? &r->suspension : NULL,
                           &r->blocks,
                           r->vectors,
                           r->n,
                           (int)r->repeat,
                           (stokes_storage)r->storage,
                           r->network};
  return gspmv_ranks_answer(&job, stream);
}

/* One rank, on its machine. */
static md_status answer_alone(request *r, FILE *stream)
{
  const char *file = options_value(r->opts, WRITE);
  double one = 0;
  MD_TRY(make_matrix(r));
  if (file) MD_TRY(stokes_blocks_write(&r->blocks, file));
  if (r->n_nodes > 0) return answer_nodes(r, stream);
  MD_TRY(measure_all(r, &one));
  return show(r, one, stream);
}

static md_status answer_matrix(request *r)
{
  const char *results = world_rank() == 0 ? options_value(r->opts, OUTPUT) : NULL;
  md_output out;
  MD_TRY(world_agree(md_output_open(results, &out)));
  md_status status = world_agree(open_matrix(r));
  if (!status) status = (world_count() > 1 ? answer_ranks : answer_alone)(r, out.stream);
  if (!status) return md_output_close(&out);
  md_output_discard(&out);
  return status;
}

static md_status answer_map(const request *r)
{
  md_output out;
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  const md_status status = gspmv_map_answer(r->opts, (options_format)r->format, out.stream,
                                            options_value(r->opts, PLOT));
  if (!status) return md_output_close(&out);
  md_output_discard(&out);
  return status;
}

static md_status answer(request *r)
{
  MD_TRY(world_agree(read_request(r)));
  MD_TRY(ranks_same_command(r->opts));
  if (options_value(r->opts, MAP)) return answer_map(r);
  const int threads = world_threads((int)r->threads);
  const md_ctx_spec spec = {(md_backend)r->backend, MD_DOUBLE, threads, false};
  MD_TRY(world_agree(md_ctx_create(&spec, &r->ctx)));
  return answer_matrix(r);
}

md_status cmd_gspmv(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts, .backend = MD_CPU, .repeat = 5, .seed = 1};
  md_status status = options_parse(option_table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout,
                 "minimd gspmv --matrix mat1|mat2|mat3|FILE.mtx [--vectors LIST] [options]\n"
                 "       minimd gspmv --matrix mat1|mat2|mat3|FILE.mtx --nodes LIST [options]\n"
                 "       minimd gspmv --map [options]",
                 "Products of a 3 x 3 block matrix with many vectors: times beside the model's.",
                 option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  stokes_blocks_free(&r.blocks);
  stokes_matrix_destroy(r.matrix);
  suspension_close(&r.suspension);
  if (r.ctx) md_ctx_destroy(r.ctx);
  free(r.results);
  free(r.vectors);
  free(r.nodes);
  options_free(&opts);
  return status;
}
