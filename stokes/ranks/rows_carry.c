/* stokes/ranks/rows_carry.c - rows of vectors between GPUs.
 *
 * On one host, where GPUs see each other's memory, a kernel stores rows into mailboxes, raises
 * flags and waits for those of the others (comm/gpus.h): all ranks in every round, whether they
 * have rows for each other or not, so that no rank is a round ahead.  Else a kernel packs rows,
 * which go by NCCL on the stream or, where ranks share a GPU or there is no NCCL, by MPI from
 * memory of the host. */
#include "stokes/model/network_impl.h"
#include "stokes/ranks/rows_impl.h"

#include <stdlib.h>

static rows_pack_fn *const pack = MD_GPU(rows_gpu_pack);
static rows_mail_fn *const exchange = MD_GPU(rows_gpu_mail);
static mail_open_fn *const open_mail = MD_GPU(mail_gpu_open);
static mail_close_fn *const close_mail = MD_GPU(mail_gpu_close);
static nccl_open_fn *const open_nccl = MD_GPU(nccl_gpu_open);
static nccl_start_fn *const start_nccl = MD_GPU(nccl_gpu_start);
static nccl_close_fn *const close_nccl = MD_GPU(nccl_gpu_close);

md_status rows_carry_open(stokes_rows *rows)
{
  rows_gpu *gpu = &rows->gpu;
  int sharers, on_host, unused;
  bool failed;
  MD_TRY(gpus_sharers(&sharers));
  world_share(&on_host, &unused);
  double most[2] = {sharers, -on_host};
  world_most(most, 2);
  if (most[0] > 1) return MD_OK;
  if (-most[1] == world_count()) {
    MD_TRY(world_agree(open_mail(rows->ctx, &gpu->mail, 0, &failed)));
    gpu->mailed = !failed;
  }
  if (gpu->mailed || !open_nccl(&gpu->nccl)) return MD_OK;
  gpu->nccl = NULL;
  return world_agree(MD_OK); /* that failure is none any more */
}

void rows_carry_free(stokes_rows *rows)
{
  md_ctx *ctx = rows->ctx;
  rows_gpu *gpu = &rows->gpu;
  md_buffer *const buffers[] = {&gpu->sent, &gpu->needed,      &gpu->before, &gpu->ghost,
                                &gpu->ways, &gpu->scan_status, &gpu->start,  &gpu->neighbor,
                                &gpu->x,    &gpu->come,        &gpu->inner};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(ctx, buffers[k]);
  (gpu->nccl ? md_buffer_free : md_shared_free)(ctx, &gpu->out);
  md_shared_free(ctx, &gpu->in);
  if (close_nccl) close_nccl(gpu->nccl);
  if (close_mail) close_mail(ctx, &gpu->mail);
}

const char *rows_carrier(const stokes_rows *rows)
{
  return rows->gpu.mailed ? "peer" : rows->gpu.nccl ? "nccl" : "mpi";
}

/* Ways to all others: of rows that they need, then of all own rows.  at: where those of this rank
 * begin among the ghosts of each. */
static md_status write_ways(stokes_rows *rows, const int64_t *at)
{
  rows_gpu *gpu = &rows->gpu;
  const int ranks = world_count(), me = world_rank();
  md_way *way = calloc(2 * (size_t)ranks, sizeof *way);
  MD_REQUIRE(way, MD_ENOMEM, "out of memory for ways to %d ranks", ranks);
  const rows_peer *to = rows->to, *end = to + rows->n_to;
  int n = 0;
  gpu->most = 0;
  for (int r = 0; r < ranks; r++) {
    if (r == me) continue;
    const bool sends = to < end && to->rank == r;
    way[n] = gpus_mail_way(&gpu->mail, r, at[r], sends ? to->first : 0, sends ? to->n : 0);
    if (way[n].count > gpu->most) gpu->most = way[n].count;
    way[ranks - 1 + n++] = gpus_mail_way(&gpu->mail, r, rows->cut[me], 0, rows->view.n_own);
    to += sends;
  }
  const size_t bytes = 2 * (size_t)n * sizeof *way;
  md_status status = md_buffer_reserve(rows->ctx, &gpu->ways, bytes + 1, 0);
  if (!status) status = md_write(rows->ctx, gpu->ways.data, way, bytes);
  if (!status) status = md_ctx_sync(rows->ctx);
  free(way);
  return status;
}

/* A counter for each way, zero between kernels. */
static md_status reserve_counters(stokes_rows *rows)
{
  const size_t bytes = (size_t)world_count() * sizeof(uint32_t);
  if (rows->gpu.come.data) return MD_OK;
  MD_TRY(md_buffer_reserve(rows->ctx, &rows->gpu.come, bytes, 0));
  return md_fill(rows->ctx, rows->gpu.come.data, 0, bytes);
}

/* Mailboxes with room for ghosts of so many bytes, for all rows of a few numbers, and for sums. */
static md_status reserve_mail(stokes_rows *rows, size_t ghosts)
{
  enum { NUMBERS = 4 };
  gpus_mail *mail = &rows->gpu.mail;
  const size_t all = (size_t)rows->view.n_all * NUMBERS * sizeof(double);
  const size_t wanted = ghosts > all ? ghosts : all;
  double short_of = wanted > mail->room;
  bool failed = false;
  world_most(&short_of, 1);
  if (short_of > 0) {
    md_status status =
        open_mail(rows->ctx, mail, wanted > mail->room ? wanted : mail->room, &failed);
    if (!status && failed)
      status = MD_FAIL(MD_ECUDA, "memory of a neighbouring GPU: %s", md_message());
    MD_TRY(world_agree(status));
  }
  int64_t *first = calloc(2 * (size_t)world_count(), sizeof *first), *at = first + world_count();
  md_status status = first
                         ? reserve_counters(rows)
                         : MD_FAIL(MD_ENOMEM, "out of memory for ways to %d ranks", world_count());
  status = world_agree(status);
  if (!status) {
    for (int k = 0; k < rows->n_from; k++)
      first[rows->from[k].rank] = rows->from[k].first;
    world_trade(first, at, 1);
    status = world_agree(write_ways(rows, at));
  }
  free(first);
  return status;
}

static md_status reserve_messages(stokes_rows *rows, size_t sent, size_t ghosts)
{
  rows_gpu *gpu = &rows->gpu;
  if (gpu->nccl) return md_buffer_reserve(rows->ctx, &gpu->out, sent, 0);
  MD_TRY(md_ctx_sync(rows->ctx));
  MD_TRY(md_shared_reserve(rows->ctx, &gpu->out, sent));
  MD_TRY(md_shared_reserve(rows->ctx, &gpu->in, ghosts));
  return world_reserve(rows->n_from + rows->n_to, (int64_t)(sent + ghosts));
}

md_status rows_carry_reserve(stokes_rows *rows, int m)
{
  const size_t bytes = rows_numbers(m) * sizeof(double);
  const size_t sent = (size_t)rows->view.n_sent * bytes;
  const size_t ghosts = (size_t)rows->view.n_ghosts * bytes;
  if (rows->gpu.mailed) return reserve_mail(rows, ghosts);
  return world_agree(reserve_messages(rows, sent, ghosts));
}

/* Rows of `numbers` doubles that go these ways in the round that has begun. */
static halo_put put_of(const stokes_rows *rows, const md_way *ways, int numbers,
                       const int32_t *sent, const double *from)
{
  const rows_gpu *gpu = &rows->gpu;
  return (halo_put){.n_ways = world_count() - 1,
                    .numbers = numbers,
                    .ways = ways,
                    .sent = sent,
                    .from = from,
                    .round = gpu->mail.round,
                    .come = gpu->come.data,
                    .late = gpu->mail.late.data};
}

bool rows_carry_overlaps(const stokes_rows *rows, int m)
{
  return rows->gpu.mailed && matrix_takes_halo(rows->matrix, m);
}

md_status rows_carry_multiply(stokes_rows *rows, int m, const double *x, double *y)
{
  rows_gpu *gpu = &rows->gpu;
  MD_TRY(gpus_mail_begin(&gpu->mail, 1));
  const gspmv_halo halo = {put_of(rows, gpu->ways.data, (int)rows_numbers(m), gpu->sent.data, x),
                           gpu->most, rows->view.n_own,
                           (const void *)gpus_mail_slot(&gpu->mail, gpu->mail.round)};
  return matrix_multiply_halo(rows->matrix, m, x, y, &halo);
}

md_status rows_carry_ghosts(stokes_rows *rows, int m, double *x)
{
  rows_gpu *gpu = &rows->gpu;
  const stokes_rows_view *v = &rows->view;
  double *ghosts = x + rows_numbers(m) * (size_t)v->n_own;
  if (gpu->mailed) {
    MD_TRY(gpus_mail_begin(&gpu->mail, 1));
    const rows_mail round = {put_of(rows, gpu->ways.data, (int)rows_numbers(m), gpu->sent.data, x),
                             gpu->most,
                             ghosts,
                             v->n_ghosts,
                             v->n_ghosts,
                             0};
    return exchange(rows, &round);
  }
  MD_TRY(pack(rows, m, x));
  rows_address(rows, m, gpu->out.data, gpu->nccl ? ghosts : gpu->in.data);
  if (gpu->nccl)
    return start_nccl(rows->ctx, gpu->nccl, rows->in, rows->n_from, rows->out, rows->n_to);
  MD_TRY(md_ctx_sync(rows->ctx)); /* also what reads the last message */
  world_start(rows->in, rows->n_from, rows->out, rows->n_to);
  world_wait();
  return md_write(rows->ctx, ghosts, gpu->in.data,
                  rows_numbers(m) * (size_t)v->n_ghosts * sizeof *x);
}

/* Each rank's rows to each other one. */
static md_status all_by_nccl(stokes_rows *rows, char *v, size_t bytes)
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

static md_status all_by_host(stokes_rows *rows, char *v, size_t bytes)
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

md_status rows_carry_all(stokes_rows *rows, double *v, int width)
{
  rows_gpu *gpu = &rows->gpu;
  const size_t bytes = (size_t)width * sizeof *v;
  double small = (size_t)rows->view.n_all * bytes > gpu->mail.room; /* for it */
  if (gpu->mailed) world_most(&small, 1);
  if (gpu->mailed && small == 0) {
    const stokes_rows_view *w = &rows->view;
    const int64_t first = rows->cut[world_rank()];
    const md_way *ways = (const md_way *)gpu->ways.data + world_count() - 1;
    MD_TRY(gpus_mail_begin(&gpu->mail, 1));
    const rows_mail round = {
        put_of(rows, ways, width, NULL, v + first * width), w->n_own, v, w->n_all, first, w->n_own};
    return exchange(rows, &round);
  }
  return (gpu->nccl ? all_by_nccl : all_by_host)(rows, (char *)v, bytes);
}

stokes_rows_sums stokes_rows_sums_of(stokes_rows *rows)
{
  rows_gpu *gpu = &rows->gpu;
  return (stokes_rows_sums){gpu->mailed ? &gpu->mail : NULL, world_count() - 1, gpu->ways.data};
}

/* A ring of ranks by mailboxes: ways for the two sizes of messages. */
typedef struct {
  stokes_rows *rows;
  const md_way *small, *large;
} mail_ring;

static md_status pass_by_mail(void *by, const world_message *in, const world_message *out)
{
  const mail_ring *ring = by;
  const bool large = in->bytes == NETWORK_LARGE;
  const int64_t n = (int64_t)(in->bytes / sizeof(double));
  MD_TRY(gpus_mail_begin(&ring->rows->gpu.mail, 1));
  const rows_mail round = {
      put_of(ring->rows, large ? ring->large : ring->small, 1, NULL, out->data),
      n,
      in->data,
      n,
      n,
      0};
  MD_TRY(exchange(ring->rows, &round));
  return md_ctx_sync(ring->rows->ctx);
}

/* Ways to all others, of which the next rank gets n numbers. */
static void ring_ways(const gpus_mail *mail, int64_t n, md_way *way)
{
  const int next = (world_rank() + 1) % world_count();
  for (int r = 0; r < world_count(); r++)
    if (r != world_rank()) *way++ = gpus_mail_way(mail, r, 0, 0, r == next ? n : 0);
}

static md_status time_mail(stokes_rows *rows, void *data, stokes_network *out)
{
  const size_t others = (size_t)world_count() - 1, bytes = 2 * others * sizeof(md_way);
  md_buffer ways = {0};
  MD_TRY(reserve_mail(rows, NETWORK_LARGE));
  md_way *way = calloc(2 * others, sizeof *way);
  md_status status = way ? md_buffer_reserve(rows->ctx, &ways, bytes, 0)
                         : MD_FAIL(MD_ENOMEM, "out of memory for ways to %zu ranks", others);
  if (!status) {
    ring_ways(&rows->gpu.mail, 1, way);
    ring_ways(&rows->gpu.mail, NETWORK_LARGE / (int64_t)sizeof(double), way + others);
    status = md_write(rows->ctx, ways.data, way, bytes);
  }
  status = world_agree(status);
  mail_ring ring = {rows, ways.data, (const md_way *)ways.data + others};
  if (!status) status = network_time(pass_by_mail, &ring, data, out);
  md_buffer_free(rows->ctx, &ways);
  free(way);
  return status;
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
  if (!rows->gpu.nccl && !rows->gpu.mailed) return stokes_network_measure(out);
  md_status status = md_buffer_reserve(rows->ctx, &data, 2 * NETWORK_LARGE, 0);
  if (!status) status = md_fill(rows->ctx, data.data, 0, 2 * NETWORK_LARGE);
  status = world_agree(status);
  if (!status && rows->gpu.mailed) status = time_mail(rows, data.data, out);
  if (!status && rows->gpu.nccl) status = network_time(pass_by_nccl, rows, data.data, out);
  md_buffer_free(rows->ctx, &data);
  return status;
}
