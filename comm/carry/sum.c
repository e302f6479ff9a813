/* comm/carry/sum.c - arrays of all ranks added up where they lie, so that no host waits: GPUs of
 * one host store into mailboxes of their own for that, others send messages by NCCL; else the hosts
 * add up.
 *
 * As in world_add each rank adds up a part, in double and in the order of ranks, and sends it to
 * all: the bits are those of world_add.  Mailboxes and communicators are for sums alone, which may
 * be under way beside other messages. */
#include "comm/carry/sum_gpu.h"
#include "comm/ranks_impl.h"

#include <stdio.h>

static mail_open_fn *const open_mail = MD_GPU(mail_gpu_open);
static mail_close_fn *const close_mail = MD_GPU(mail_gpu_close);
static nccl_open_fn *const open_nccl = MD_GPU(nccl_gpu_open);
static nccl_start_fn *const start_nccl = MD_GPU(nccl_gpu_start);
static nccl_close_fn *const close_nccl = MD_GPU(nccl_gpu_close);
static sum_parts_fn *const sum_parts = MD_GPU(sum_gpu_parts);
static sum_mailed_fn *const sum_mailed = MD_GPU(sum_gpu_mailed);

static int64_t part_of_rank(int64_t count, int r)
{
  return world_part(count, r + 1) - world_part(count, r);
}

/* Mailboxes with slots that hold a part of every rank. */
static md_status open_boxes(comm *cm, int64_t count)
{
  ranks_sum *sum = &cm->ranks->sum;
  md_way ways[PEER_RANKS];
  int n = 0;
  bool failed;
  int64_t most = 0;
  for (int r = 0; r < world_count(); r++)
    if (part_of_rank(count, r) > most) most = part_of_rank(count, r);
  sum->stride = (most + WORLD_ALIGNED - 1) / WORLD_ALIGNED * WORLD_ALIGNED;
  const size_t bytes =
      (size_t)world_count() * (size_t)sum->stride * md_real_size(cm->ctx->precision);
  MD_TRY(world_agree(open_mail(cm->ctx, &sum->mail, bytes, &failed)));
  if (failed) return MD_OK;
  for (int r = 0; r < world_count(); r++)
    if (r != world_rank()) ways[n++] = gpus_mail_way(&sum->mail, r, 0, 0, 0);
  md_status status = md_buffer_reserve(cm->ctx, &sum->ways, sizeof ways, 0);
  if (!status) status = md_buffer_reserve(cm->ctx, &sum->come, sizeof(uint32_t), 0);
  if (!status) status = md_write(cm->ctx, sum->ways.data, ways, (size_t)n * sizeof *ways);
  if (!status) status = md_fill(cm->ctx, sum->come.data, 0, sizeof(uint32_t));
  sum->count = count;
  return world_agree(status);
}

/* How arrays are added up, of the ways there are. */
static md_status choose(comm *cm, int64_t count)
{
  const comm_ranks *ranks = cm->ranks;
  ranks_sum *sum = &cm->ranks->sum;
  if (ranks->carrier == COMM_PEER) MD_TRY(open_boxes(cm, count));
  if (ranks->carrier == COMM_MPI || sum->count > 0) return MD_OK;
  if (!open_nccl(&sum->nccl)) return MD_OK;
  sum->nccl = NULL;
  return world_agree(MD_OK); /* that failure is none any more */
}

md_status comm_add_open(comm *cm, int64_t count)
{
  comm_ranks *ranks = cm->ranks;
  if (!ranks || ranks->sum.how[0]) return MD_OK;
  ranks_sum *sum = &ranks->sum;
  const bool gpu = cm->ctx->backend == MD_GPU;
  if (gpu) MD_TRY(choose(cm, count));
  const char *why = ranks->carrier == COMM_MPI ? ranks->carrier_reason : "NCCL cannot be used";
  if (sum->count > 0)
    snprintf(sum->how, sizeof sum->how, "in memory of the GPUs");
  else if (sum->nccl)
    snprintf(sum->how, sizeof sum->how, "on the GPUs, by NCCL");
  else
    snprintf(sum->how, sizeof sum->how, "by the hosts (%s)", gpu ? why : "atoms are on CPUs");
  return MD_OK;
}

bool comm_adds_queued(const comm *cm)
{
  return !cm->ranks || cm->ranks->sum.count > 0 || cm->ranks->sum.nccl;
}

const char *comm_adds_how(const comm *cm)
{
  return cm->ranks ? cm->ranks->sum.how : "";
}

void sum_destroy(comm *cm)
{
  ranks_sum *sum = &cm->ranks->sum;
  if (close_mail) close_mail(cm->ctx, &sum->mail);
  if (close_nccl) close_nccl(sum->nccl);
  md_buffer_free(cm->ctx, &sum->ways);
  md_buffer_free(cm->ctx, &sum->come);
  md_buffer_free(cm->ctx, &sum->parts);
  md_shared_free(cm->ctx, &sum->host);
}

static md_status add_by_peers(comm *cm, void *reals, int64_t count, size_t size)
{
  ranks_sum *sum = &cm->ranks->sum;
  MD_REQUIRE(count == sum->count, MD_EINVAL, "sums of %lld reals: expected %lld", (long long)count,
             (long long)sum->count);
  MD_TRY(gpus_mail_begin(&sum->mail, 2));
  sum_mail job = {.ranks = world_count(),
                  .me = world_rank(),
                  .stride = sum->stride,
                  .round = sum->mail.round - 1,
                  .ways = sum->ways.data,
                  .come = sum->come.data,
                  .late = sum->mail.late.data};
  for (int r = 0; r <= world_count(); r++)
    job.begin[r] = world_part(count, r);
  for (int k = 0; k < 2; k++)
    job.slot[k] = gpus_mail_slot(&sum->mail, job.round + (md_round)k);
  return sum_mailed(cm->ctx, &job, size, reals);
}

/* A message of, or to, each other rank that has a part of its own. */
static int list_parts(comm_ranks *ranks, char *reals, int64_t count, size_t size)
{
  int n = 0;
  for (int r = 0; r < world_count(); r++) {
    const size_t begin = (size_t)world_part(count, r), part = (size_t)part_of_rank(count, r);
    if (r != world_rank() && part > 0)
      ranks->messages[n++] = (world_message){r, reals + begin * size, part * size};
  }
  return n;
}

/* A message to, or of, each other rank: `bytes`, of which each lies so far behind the last. */
static int list_others(comm_ranks *ranks, char *data, size_t bytes, size_t step)
{
  int n = 0;
  for (int r = 0; r < world_count() && bytes > 0; r++)
    if (r != world_rank())
      ranks->messages[world_count() + n++] = (world_message){r, data + (size_t)r * step, bytes};
  return n;
}

static md_status add_by_nccl(comm *cm, void *reals, int64_t count, size_t size)
{
  comm_ranks *ranks = cm->ranks;
  ranks_sum *sum = &ranks->sum;
  const int64_t part = part_of_rank(count, world_rank());
  const size_t bytes = (size_t)part * size;
  char *mine = (char *)reals + (size_t)world_part(count, world_rank()) * size;
  const world_message *theirs = ranks->messages, *own = theirs + world_count();
  MD_TRY(md_buffer_reserve(cm->ctx, &sum->parts, (size_t)world_count() * bytes, 0));
  const int to = list_parts(ranks, reals, count, size);
  const int from = list_others(ranks, sum->parts.data, bytes, bytes);
  MD_TRY(start_nccl(cm->ctx, sum->nccl, own, from, theirs, to));
  MD_TRY(sum_parts(cm->ctx, sum->parts.data, part, size, mine));
  list_others(ranks, mine, bytes, 0);
  return start_nccl(cm->ctx, sum->nccl, theirs, to, own, from);
}

static md_status add_by_host(comm *cm, void *reals, int64_t count, size_t size)
{
  md_buffer *host = &cm->ranks->sum.host;
  const size_t bytes = (size_t)count * size;
  MD_TRY(md_shared_reserve(cm->ctx, host, bytes));
  MD_TRY(md_read(cm->ctx, host->data, reals, bytes));
  MD_TRY(world_add(host->data, count, size));
  return md_write(cm->ctx, reals, host->data, bytes);
}

md_status comm_add(comm *cm, void *reals, int64_t count)
{
  const size_t size = md_real_size(cm->ctx->precision);
  if (!cm->ranks) return MD_OK;
  if (cm->ctx->backend == MD_CPU) return world_add(reals, count, size);
  if (cm->ranks->sum.count > 0) return add_by_peers(cm, reals, count, size);
  return (cm->ranks->sum.nccl ? add_by_nccl : add_by_host)(cm, reals, count, size);
}
