/* stokes/ranks/rows.c - products with the rows of this rank; see rows.h. */
#include "core/time/timer.h"
#include "stokes/model/network_impl.h"
#include "stokes/ranks/rows_impl.h"
#include "stokes/team.h"

#include <stdlib.h>
#include <string.h>

static rows_pack_fn *const pack_on_gpu = MD_GPU(rows_gpu_pack);
static nccl_start_fn *const start_nccl = MD_GPU(nccl_gpu_start);
static nccl_close_fn *const close_nccl = MD_GPU(nccl_gpu_close);

void rows_clear(stokes_rows *rows)
{
  free(rows->row);
  free(rows->within.run);
  free(rows->edge.run);
  free(rows->sent);
  free(rows->from);
  free(rows->to);
  free(rows->in);
  free(rows->out);
  free(rows->packed);
  const stokes_rows kept = *rows;
  *rows = (stokes_rows){.ctx = kept.ctx,
                        .matrix = kept.matrix,
                        .cut = kept.cut,
                        .number = kept.number,
                        .inner = kept.inner,
                        .gpu = kept.gpu};
}

static void free_gpu(md_ctx *ctx, rows_gpu *gpu)
{
  md_buffer *const buffers[] = {&gpu->sent,        &gpu->needed, &gpu->before,   &gpu->ghost,
                                &gpu->scan_status, &gpu->start,  &gpu->neighbor, &gpu->x};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(ctx, buffers[k]);
  (gpu->nccl ? md_buffer_free : md_shared_free)(ctx, &gpu->out);
  md_shared_free(ctx, &gpu->in);
  if (close_nccl) close_nccl(gpu->nccl);
}

void stokes_rows_destroy(stokes_rows *rows)
{
  if (!rows) return;
  rows_clear(rows);
  stokes_matrix_destroy(rows->matrix);
  free_gpu(rows->ctx, &rows->gpu);
  free(rows->cut);
  free(rows->number);
  free(rows->inner);
  free(rows);
}

stokes_rows_view stokes_rows_get(const stokes_rows *rows)
{
  return rows->view;
}

const stokes_matrix *stokes_rows_matrix(const stokes_rows *rows)
{
  return rows->matrix;
}

md_status stokes_rows_blocks(const stokes_rows *rows, stokes_blocks *out)
{
  return stokes_matrix_get(rows->matrix, out);
}

/* On a GPU messages lie where they are read and written by what carries them. */
static md_status grow_gpu(stokes_rows *rows, size_t sent, size_t ghosts)
{
  rows_gpu *gpu = &rows->gpu;
  if (gpu->nccl) return md_buffer_reserve(rows->ctx, &gpu->out, sent, 0);
  MD_TRY(md_ctx_sync(rows->ctx));
  MD_TRY(md_shared_reserve(rows->ctx, &gpu->out, sent));
  MD_TRY(md_shared_reserve(rows->ctx, &gpu->in, ghosts));
  return world_reserve(rows->n_from + rows->n_to, (int64_t)(sent + ghosts));
}

static md_status grow(stokes_rows *rows, int m)
{
  const size_t bytes = rows_numbers(m) * sizeof(double);
  const size_t sent = (size_t)rows->view.n_sent * bytes;
  const size_t ghosts = (size_t)rows->view.n_ghosts * bytes;
  if (rows->ctx->backend == MD_GPU) return grow_gpu(rows, sent, ghosts);
  double *packed = realloc(rows->packed, sent + 1);
  MD_REQUIRE(packed, MD_ENOMEM, "out of memory for messages of %d vectors", m);
  rows->packed = packed;
  return world_reserve(rows->n_from + rows->n_to, (int64_t)(sent + ghosts));
}

md_status stokes_rows_reserve(stokes_rows *rows, int m)
{
  MD_TRY(world_agree(matrix_check_vectors(m)));
  if (m <= rows->columns) return MD_OK;
  MD_TRY(world_agree(grow(rows, m)));
  rows->columns = m;
  return MD_OK;
}

/* Messages from what is packed, rank by rank, to where ghosts go. */
static void address(stokes_rows *rows, int m, const double *packed, double *ghosts)
{
  const size_t numbers = rows_numbers(m), bytes = numbers * sizeof *ghosts;
  for (int k = 0; k < rows->n_from; k++) {
    const rows_peer *p = &rows->from[k];
    rows->in[k] =
        (world_message){p->rank, ghosts + numbers * (size_t)p->first, bytes * (size_t)p->n};
  }
  for (int k = 0; k < rows->n_to; k++) {
    const rows_peer *p = &rows->to[k];
    rows->out[k] = (world_message){p->rank, (double *)packed + numbers * (size_t)p->first,
                                   bytes * (size_t)p->n};
  }
}

/* Ghosts go to where they belong; what others need is packed, rank by rank. */
static void begin_exchange(stokes_rows *rows, int m, double *x)
{
  const size_t numbers = rows_numbers(m), bytes = numbers * sizeof *x;
#pragma omp parallel for schedule(static) num_threads(team_size(rows->ctx, rows->view.n_sent))
  for (int64_t k = 0; k < rows->view.n_sent; k++)
    memcpy(rows->packed + numbers * (size_t)k, x + numbers * (size_t)rows->sent[k], bytes);
  address(rows, m, rows->packed, x + numbers * (size_t)rows->view.n_own);
  world_start(rows->in, rows->n_from, rows->out, rows->n_to);
}

static md_status multiply_cpu(stokes_rows *rows, int m, double *x, double *y)
{
  const rows_runs *within = &rows->within, *edge = &rows->edge;
  md_phase_begin(rows->ctx, MD_PHASE_EXCHANGE);
  begin_exchange(rows, m, x);
  md_phase_end(rows->ctx, MD_PHASE_EXCHANGE);
  md_status status = matrix_multiply_runs(rows->matrix, within->run, within->n, m, x, y);
  md_phase_begin(rows->ctx, MD_PHASE_EXCHANGE);
  world_wait();
  md_phase_end(rows->ctx, MD_PHASE_EXCHANGE);
  if (!status) status = matrix_multiply_runs(rows->matrix, edge->run, edge->n, m, x, y);
  return status;
}

static md_status exchange_gpu(stokes_rows *rows, int m, double *x)
{
  const rows_gpu *gpu = &rows->gpu;
  const stokes_rows_view *v = &rows->view;
  double *ghosts = x + rows_numbers(m) * (size_t)v->n_own;
  MD_TRY(pack_on_gpu(rows, m, x));
  address(rows, m, gpu->out.data, gpu->nccl ? ghosts : gpu->in.data);
  if (gpu->nccl)
    return start_nccl(rows->ctx, gpu->nccl, rows->in, rows->n_from, rows->out, rows->n_to);
  MD_TRY(md_ctx_sync(rows->ctx)); /* also what reads the last message */
  world_start(rows->in, rows->n_from, rows->out, rows->n_to);
  world_wait();
  return md_write(rows->ctx, ghosts, gpu->in.data,
                  rows_numbers(m) * (size_t)v->n_ghosts * sizeof *x);
}

static md_status multiply_gpu(stokes_rows *rows, int m, double *x, double *y)
{
  md_phase_begin(rows->ctx, MD_PHASE_EXCHANGE);
  md_status status = exchange_gpu(rows, m, x);
  md_phase_end(rows->ctx, MD_PHASE_EXCHANGE);
  MD_TRY(status);
  md_phase_begin(rows->ctx, MD_PHASE_FORCE); /* a GPU's phase lasts until the next one */
  status = stokes_matrix_multiply(rows->matrix, m, x, y);
  md_phase_end(rows->ctx, MD_PHASE_FORCE);
  return status;
}

md_status stokes_rows_multiply(stokes_rows *rows, int m, double *x, double *y)
{
  MD_REQUIRE(m >= 1 && m <= rows->columns, MD_EINVAL,
             "there is room for products with 1 to %d vectors, not %d", rows->columns, m);
  return (rows->ctx->backend == MD_GPU ? multiply_gpu : multiply_cpu)(rows, m, x, y);
}

/* Each rank's rows to each other one. */
static md_status complete_by_nccl(stokes_rows *rows, char *v, size_t bytes)
{
  const int ranks = world_count(), me = world_rank();
  const int64_t *cut = rows->cut;
  world_message *in = calloc(2 * (size_t)ranks, sizeof *in), *out = in + ranks;
  MD_REQUIRE(in, MD_ENOMEM, "out of memory for messages of %d ranks", ranks);
  int n = 0;
  for (int r = 0; r < ranks; r++) {
    if (r == me) continue;
    in[n] = (world_message){r, v + (size_t)cut[r] * bytes, (size_t)(cut[r + 1] - cut[r]) * bytes};
    out[n++] = (world_message){r, v + (size_t)cut[me] * bytes, (size_t)rows->view.n_own * bytes};
  }
  const md_status status = start_nccl(rows->ctx, rows->gpu.nccl, in, n, out, n);
  free(in);
  return status;
}

static md_status complete_by_host(stokes_rows *rows, char *v, size_t bytes)
{
  const size_t own = (size_t)rows->cut[world_rank()] * bytes;
  const size_t all = (size_t)rows->cut[world_count()] * bytes;
  char *host = malloc(all + 1);
  md_status status = world_agree(
      host ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %zu bytes of all ranks", all));
  if (!status) status = md_read(rows->ctx, host + own, v + own, (size_t)rows->view.n_own * bytes);
  if (!status) status = world_complete(host, rows->cut, bytes);
  if (!status) status = md_write(rows->ctx, v, host, all);
  if (!status) status = md_ctx_sync(rows->ctx);
  free(host);
  return status;
}

md_status stokes_rows_complete(stokes_rows *rows, double *v, int width)
{
  const size_t bytes = (size_t)width * sizeof *v;
  if (rows->ctx->backend == MD_CPU) return world_complete(v, rows->cut, bytes);
  return (rows->gpu.nccl ? complete_by_nccl : complete_by_host)(rows, (char *)v, bytes);
}

static md_status pass_by_nccl(void *by, const world_message *in, const world_message *out)
{
  stokes_rows *rows = by;
  MD_TRY(start_nccl(rows->ctx, rows->gpu.nccl, in, 1, out, 1));
  return md_ctx_sync(rows->ctx);
}

md_status stokes_rows_network(stokes_rows *rows, stokes_network *out)
{
  md_buffer data = {0};
  if (!rows->gpu.nccl) return stokes_network_measure(out);
  md_status status = md_buffer_reserve(rows->ctx, &data, 2 * NETWORK_LARGE, 0);
  if (!status) status = md_fill(rows->ctx, data.data, 0, 2 * NETWORK_LARGE);
  status = world_agree(status);
  if (!status) status = network_time(pass_by_nccl, rows, data.data, out);
  md_buffer_free(rows->ctx, &data);
  return status;
}
