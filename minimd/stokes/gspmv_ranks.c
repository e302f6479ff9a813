/* minimd/stokes/gspmv_ranks.c - see gspmv_ranks.h. */
#include "minimd/stokes/gspmv_ranks.h"
#include "comm/world.h"
#include "core/time/timer.h"
#include "minimd/shell/median.h"
#include "minimd/shell/table.h"
#include "minimd/stokes/gspmv_vectors.h"
#include "stokes/ranks/rows.h"

#include <math.h>
#include <stdlib.h>

/* Products with m vectors. */
typedef struct {
  int m;
  double seconds;       /* of the slowest rank */
  double communication; /* which part of a product goes into messages: mean of the ranks */
  double error;
  double model, model_communication;
} product;

/* Rows of a rank; times of a rank in a product. */
typedef struct {
  stokes_share share;
  int64_t n_inner, n_sent;
} part;
typedef struct {
  double seconds, exchange;
} turn;

typedef struct {
  const gspmv_ranks *job;
  int64_t *cut; /* [ranks + 1] */
  stokes_rows *rows;
  int arranged; /* for so many vectors */
  stokes_rows_view view;
  stokes_blocks blocks; /* those of the rows */
  stokes_shape shape;   /* of the whole matrix */
  part *parts;          /* [ranks] */
  stokes_share *shares;
  turn *turns;
  double *seconds, *share; /* [repeat + 1] */
  stokes_machine machine;
  stokes_network network;
  product one, *row; /* [n_vectors] */
} session;

static md_status reserve(session *s)
{
  const size_t ranks = (size_t)world_count(), runs = (size_t)s->job->repeat + 1;
  s->cut = calloc(ranks + 1, sizeof *s->cut);
  s->parts = calloc(ranks, sizeof *s->parts);
  s->shares = calloc(ranks, sizeof *s->shares);
  s->turns = calloc(ranks, sizeof *s->turns);
  s->seconds = calloc(runs, sizeof *s->seconds);
  s->share = calloc(runs, sizeof *s->share);
  s->row = calloc((size_t)s->job->n_vectors, sizeof *s->row);
  MD_REQUIRE(s->cut && s->parts && s->shares && s->turns && s->seconds && s->share && s->row,
             MD_ENOMEM, "out of memory for products of %d ranks", world_count());
  return MD_OK;
}

static void release(session *s)
{
  stokes_rows_destroy(s->rows);
  stokes_blocks_free(&s->blocks);
  free(s->cut);
  free(s->parts);
  free(s->shares);
  free(s->turns);
  free(s->seconds);
  free(s->share);
  free(s->row);
}

/* Of the suspension, [n][width], on the host. */
static md_status read_host(const session *s, const void *from, int64_t n, size_t width, void **out)
{
  const size_t bytes = (size_t)n * width;
  *out = malloc(bytes);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for a packing");
  return md_read(s->job->ctx, *out, from, bytes);
}

/* From spheres: a rank assembles its own rows.  Ranks that multiply different matrices would wait
 * for each other for ever. */
static md_status cut_spheres(session *s)
{
  const suspension *from = s->job->suspension;
  const stokes_pair_view list = stokes_pairs_view(from->pairs);
  const size_t sphere = 4 * sizeof(double);
  void *x = NULL, *start = NULL;
  md_status status = read_host(s, from->view.x, list.n, sphere, &x);
  if (!status) status = read_host(s, list.start, list.n + 1, sizeof *list.start, &start);
  status = world_agree(status);
  if (!status) status = world_same("the packing", x, (size_t)list.n * sphere);
  if (!status) stokes_model_cut(&(stokes_weights){list.n, start, 1}, world_count(), s->cut);
  free(x);
  free(start);
  return status;
}

/* From a file: a rank has read all rows and keeps its own. */
static md_status cut_blocks(session *s)
{
  const stokes_blocks *b = s->job->blocks;
  const size_t n = (size_t)b->n_blocks;
  MD_TRY(world_same("the matrix", b->start, ((size_t)b->n_rows + 1) * sizeof *b->start));
  MD_TRY(world_same("the matrix", b->column, n * sizeof *b->column));
  MD_TRY(world_same("the matrix", b->block, 9 * n * sizeof *b->block));
  stokes_model_cut(&(stokes_weights){b->n_rows, b->start, 0}, world_count(), s->cut);
  return MD_OK;
}

static md_status take_blocks(session *s, int m)
{
  md_ctx host = *s->job->ctx;
  stokes_matrix *matrix;
  host.backend = MD_CPU;
  md_status status = stokes_matrix_create(&host, s->job->storage, &matrix);
  if (!status) status = stokes_matrix_set(matrix, s->job->blocks, 1);
  status = world_agree(status);
  if (!status) status = stokes_rows_take(s->rows, matrix, m);
  stokes_matrix_destroy(matrix);
  return status;
}

/* Rows laid out for products with m vectors, of which a GPU makes a difference. */
static md_status arrange(session *s, int m)
{
  const suspension *from = s->job->suspension;
  if (s->arranged == m || (s->arranged > 0 && s->job->ctx->backend == MD_CPU)) return MD_OK;
  s->arranged = m;
  if (!from) return take_blocks(s, m);
  const stokes_pair_view list = stokes_pairs_view(from->pairs);
  return stokes_rows_assemble(s->rows, &from->view, &list, &from->law, m);
}

static md_status cut(session *s)
{
  MD_TRY(s->job->suspension ? cut_spheres(s) : cut_blocks(s));
  MD_TRY(stokes_rows_create(s->job->ctx, s->job->storage, s->cut, &s->rows));
  MD_TRY(arrange(s, 1));
  MD_TRY(world_agree(stokes_rows_blocks(s->rows, &s->blocks)));
  s->view = stokes_rows_get(s->rows);
  const part mine = {s->view.share, s->view.n_inner, s->view.n_sent};
  world_gather(&mine, sizeof mine, s->parts);
  for (int r = 0; r < world_count(); r++) {
    s->shares[r] = s->parts[r].share;
    s->shape.n_rows += s->shares[r].shape.n_rows;
    s->shape.n_blocks += s->shares[r].shape.n_blocks;
  }
  return MD_OK;
}

/* What each rank has of this machine while all are at work, and how fast messages are. */
static md_status measure_machine(session *s)
{
  const stokes_network asked = s->job->network;
  double unused = 0;
  world_most(&unused, 1); /* all begin at once */
  MD_TRY(world_agree(stokes_machine_measure(s->job->ctx, s->job->storage, &s->machine)));
  double least[2] = {-s->machine.bandwidth, -s->machine.flops};
  world_most(least, 2);
  s->machine = (stokes_machine){-least[0], -least[1]};
  MD_TRY(stokes_rows_network(s->rows, &s->network));
  if (!isnan(asked.latency)) s->network.latency = asked.latency;
  if (!isnan(asked.bandwidth)) s->network.bandwidth = asked.bandwidth;
  return MD_OK;
}

/* Median times; the first product is not counted. */
static md_status time_products(session *s, int m, double *x, double *y, product *out)
{
  const int ranks = world_count();
  for (int k = 0; k <= s->job->repeat; k++) {
    md_ctx *ctx = s->job->ctx;
    const double before = md_phase_seconds(ctx, MD_PHASE_EXCHANGE);
    double unused = 0;
    world_most(&unused, 1); /* all begin at once */
    const double began = md_wall_seconds();
    MD_TRY(stokes_rows_multiply(s->rows, m, x, y));
    MD_TRY(md_ctx_sync(ctx));
    turn mine = {md_wall_seconds() - began, 0};
    mine.exchange = md_phase_seconds(ctx, MD_PHASE_EXCHANGE) - before;
    world_gather(&mine, sizeof mine, s->turns);
    s->seconds[k] = s->share[k] = 0;
    for (int r = 0; r < ranks; r++) {
      s->seconds[k] = fmax(s->seconds[k], s->turns[r].seconds);
      s->share[k] += s->turns[r].exchange / s->turns[r].seconds / ranks;
    }
  }
  out->seconds = median_of(s->seconds + 1, s->job->repeat);
  out->communication = median_of(s->share + 1, s->job->repeat);
  return MD_OK;
}

static md_status measure(session *s, product *out)
{
  const int m = out->m;
  md_ctx *ctx = s->job->ctx;
  md_buffer x = {0}, y = {0};
  MD_TRY(arrange(s, m));
  MD_TRY(stokes_rows_reserve(s->rows, m));
  s->view = stokes_rows_get(s->rows);
  const size_t row = 3 * (size_t)m * sizeof(double), own = (size_t)s->view.n_own * row;
  double *host = malloc(own + 1);
  md_status status = host ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %d vectors", m);
  if (!status) status = md_buffer_reserve(ctx, &x, own + (size_t)s->view.n_ghosts * row + 1, 0);
  if (!status) status = md_buffer_reserve(ctx, &y, own + 1, 0);
  if (!status) gspmv_fill(host, s->view.n_own, s->view.row, m, m);
  if (!status) status = md_write(ctx, x.data, host, own);
  status = world_agree(status);
  if (!status) status = time_products(s, m, x.data, y.data, out);
  if (!status) status = world_agree(md_read(ctx, host, y.data, own));
  if (!status) {
    const gspmv_difference mine =
        gspmv_compare(&s->blocks, s->view.row, gspmv_stride(s->shape.n_rows), host, m, m);
    double most[2] = {isnan(mine.most) ? INFINITY : mine.most, mine.scale};
    world_most(most, 2);
    out->error = gspmv_error((gspmv_difference){most[0], most[1]});
    out->model = stokes_model_nodes(&s->machine, &s->network, s->shares, world_count(), m,
                                    &out->model_communication);
  }
  md_buffer_free(ctx, &x);
  md_buffer_free(ctx, &y);
  free(host);
  return status;
}

static void print_rows(const session *s, table *t)
{
  int64_t remote = 0;
  int messages = 0;
  for (int r = 0; r < world_count(); r++) {
    remote = s->shares[r].remote > remote ? s->shares[r].remote : remote;
    messages = s->shares[r].messages > messages ? s->shares[r].messages : messages;
  }
  for (int k = 0; k < s->job->n_vectors; k++) {
    const product *row = &s->row[k];
    table_text(t, s->job->matrix);
    table_integer(t, world_count());
    table_integer(t, s->shape.n_rows);
    table_integer(t, s->shape.n_blocks);
    table_integer(t, row->m);
    table_real(t, row->seconds);
    table_real(t, 18e-9 * row->m * (double)s->shape.n_blocks / row->seconds);
    table_real(t, row->communication);
    table_real(t, row->seconds / s->one.seconds);
    table_integer(t, remote);
    table_integer(t, messages);
    table_integer(t, 24 * remote * row->m);
    table_real(t, row->model);
    table_real(t, row->model_communication);
    table_real(t, row->model / s->one.model);
    table_real(t, row->error);
  }
}

static void print_notes(const void *report, FILE *stream)
{
  const session *s = report;
  fprintf(
      stream,
      "the model has B = %.3g GB/s, F = %.3g Gflop/s a rank, messages by %s of %.3g us and %.3g "
      "GB/s\n",
      1e-9 * s->machine.bandwidth, 1e-9 * s->machine.flops, s->view.carrier,
      1e6 * s->network.latency, 1e-9 * s->network.bandwidth);
  for (int r = 0; r < world_count(); r++) {
    const part *p = &s->parts[r];
    fprintf(
        stream,
        "rank %d: %lld rows (%lld inner), %lld blocks; fetches %lld rows from %d of the others, "
        "sends %lld\n",
        r, (long long)p->share.shape.n_rows, (long long)p->n_inner,
        (long long)p->share.shape.n_blocks, (long long)p->share.remote, p->share.messages,
        (long long)p->n_sent);
  }
}

static void print_json_notes(const void *report, md_json *json)
{
  const session *s = report;
  md_json_open(json, "machine", '{');
  md_json_number(json, "bandwidth", s->machine.bandwidth);
  md_json_number(json, "flops", s->machine.flops);
  md_json_number(json, "latency", s->network.latency);
  md_json_number(json, "network", s->network.bandwidth);
  md_json_string(json, "carrier", s->view.carrier);
  md_json_close(json, '}');
  md_json_open(json, "ranks", '[');
  for (int r = 0; r < world_count(); r++) {
    const part *p = &s->parts[r];
    md_json_open(json, NULL, '{');
    md_json_integer(json, "rank", r);
    md_json_integer(json, "rows", p->share.shape.n_rows);
    md_json_integer(json, "inner", p->n_inner);
    md_json_integer(json, "blocks", p->share.shape.n_blocks);
    md_json_integer(json, "ghosts", p->share.remote);
    md_json_integer(json, "neighbours", p->share.messages);
    md_json_integer(json, "sent", p->n_sent);
    md_json_close(json, '}');
  }
  md_json_close(json, ']');
}

static void print(const session *s, FILE *stream)
{
  static const table_column columns[] = {{"matrix", -8, 0},
                                         {"ranks", 5, 0},
                                         {"block_rows", 10, 0},
                                         {"blocks", 10, 0},
                                         {"vectors", 7, 0},
                                         {"time_s", 12, 9},
                                         {"gflop_per_s", 9, 3},
                                         {"communication", 9, 4},
                                         {"relative_time", 9, 4},
                                         {"remote_rows", 11, 0},
                                         {"messages", 8, 0},
                                         {"fetched_bytes", 10, 0},
                                         {"model_time_s", 12, 9},
                                         {"model_communication", 9, 4},
                                         {"model_relative_time", 9, 4},
                                         {"error", 12, 18}};
  table t;
  table_begin(&t, stream, s->job->format, "gspmv", s->job->opts, columns,
              sizeof columns / sizeof *columns);
  print_rows(s, &t);
  static const table_notes notes = {print_notes, print_json_notes};
  table_end_with(&t, &notes, s, s->job->quiet);
}

md_status gspmv_ranks_answer(const gspmv_ranks *job, FILE *stream)
{
  session s = {.job = job, .one = {.m = 1}};
  md_status status = world_agree(reserve(&s));
  if (!status) status = cut(&s);
  if (!status) status = measure_machine(&s);
  if (!status) status = measure(&s, &s.one);
  for (int k = 0; !status && k < job->n_vectors; k++) {
    s.row[k].m = job->vectors[k];
    if (job->vectors[k] == 1)
      s.row[k] = s.one;
    else
      status = measure(&s, &s.row[k]);
  }
  if (!status && world_rank() == 0) print(&s, stream);
  release(&s);
  return status;
}
