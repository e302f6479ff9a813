/* comm/ranks_cut.c - the partition that several ranks agree on, and where atoms are in it. */
#include "comm/ranks_impl.h"

#include <stdlib.h>

/* The box is cut again when the most loaded rank has so many times more than the mean as it had
 * after the last cut. */
static const double UNEVEN = 1.1;

static ranks_backend_fn *const on_gpu[MD_PRECISION_COUNT] = PREC_TABLE(ranks_on_gpu);
static nccl_close_fn *const close_nccl = MD_GPU(nccl_gpu_close);

md_status ranks_create(md_ctx *ctx, comm_ranks **out)
{
  const size_t count = (size_t)world_count();
  comm_ranks *ranks = *out = calloc(1, sizeof *ranks);
  MD_REQUIRE(ranks, MD_ENOMEM, "out of memory for %d ranks", world_count());
  ranks->on = ctx->backend == MD_GPU ? on_gpu[ctx->precision]() : &ranks_on_cpu;
  /* Numbers of atoms change a little, and to grow a buffer takes longer than some steps. */
  ctx->leaves_room = ctx->backend == MD_GPU;
  ranks->order.kind = ORDERING_GILBERT;
  ranks->to = calloc(10 * count, sizeof *ranks->to);
  ranks->word = calloc(count, sizeof *ranks->word);
  ranks->messages = calloc(2 * count, sizeof *ranks->messages);
  ranks->all_told = calloc((count + 1) * (count + TOLD_TO), sizeof *ranks->all_told);
  MD_REQUIRE(ranks->to && ranks->word && ranks->messages && ranks->all_told, MD_ENOMEM,
             "out of memory for %d ranks", world_count());
  ranks->from = ranks->to + count;
  ranks->to_first = ranks->from + count;
  ranks->from_first = ranks->to_first + count;
  ranks->told = ranks->from_first + count;
  ranks->heard = ranks->told + 3 * count;
  return MD_OK;
}

void ranks_destroy(comm *cm)
{
  comm_ranks *ranks = cm->ranks;
  md_ctx *ctx = cm->ctx;
  if (!ranks) return;
  peer_destroy(cm);
  ranks_gpu *gpu = &ranks->gpu;
  md_buffer *buffers[] = {&ranks->cell,      &ranks->index, &gpu->owner, &gpu->head,  &gpu->list,
                          &gpu->target,      &gpu->before,  &gpu->item,  &gpu->key,   &gpu->place,
                          &gpu->scan_status, &gpu->weight,  &gpu->count, &gpu->image, &gpu->share,
                          &gpu->come,        &gpu->wrap};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(ctx, buffers[k]);
  relay_destroy(cm);
  sum_destroy(cm);
  if (close_nccl) close_nccl(ranks->nccl);
  void (*const free_message)(md_ctx *, md_buffer *) =
      ranks->carrier == COMM_NCCL ? md_buffer_free : md_shared_free;
  free_message(ctx, &ranks->out);
  free_message(ctx, &ranks->in);
  md_shared_free(ctx, &gpu->board);
  md_shared_free(ctx, &gpu->told);
  ordering_sorter_destroy(gpu->sorter);
  partition_halo_free(&ranks->halo);
  partition_destroy(ranks->part);
  free(ranks->taken);
  free(ranks->messages);
  free(ranks->word);
  free(ranks->all_told);
  free(ranks->to);
  free(ranks);
}

void comm_cut(comm *cm, partition_cut cut, const ordering *order)
{
  if (!cm->ranks) return;
  cm->ranks->asked = cut;
  cm->ranks->order = *order;
}

partition_cut comm_cut_made(const comm *cm, int64_t *times)
{
  *times = cm->ranks ? cm->ranks->cuts : 0;
  return cm->ranks ? cm->ranks->made : PARTITION_AUTO;
}

comm_load comm_describe(const comm *cm, const md_atoms *atoms)
{
  comm_load load = {.atoms = atoms->n, .ghosts = atoms->n_ghost, .own_images = atoms->n_ghost};
  const comm_ranks *ranks = cm->ranks;
  if (!ranks) return load;
  load.own_images = ranks->n_own;
  for (int r = 0; r < world_count(); r++)
    load.neighbors += ranks->to[r] > 0 || ranks->from[r] > 0;
  const int64_t all = ranks->n_out + ranks->n_in, states = ranks->carrier == COMM_MPI ? 3 : 4;
  load.bytes = states * (int64_t)md_state_size(atoms->ctx->precision) * all;
  return load;
}

/* Atoms of every cell of the box, over all ranks. */
static md_status weigh_cells(comm *cm, const md_atoms *atoms, int64_t **out)
{
  const int64_t cells = cm->ranks->part->cells;
  int64_t *weight = *out = calloc((size_t)cells, sizeof *weight);
  md_status status =
      weight ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %lld cells", (long long)cells);
  if (!status && atoms->n > 0) status = cm->ranks->on->weigh(cm, atoms, weight);
  MD_TRY(world_agree(status));
  world_sum(weight, cells);
  return MD_OK;
}

/* Cut in one way; *cost: atoms and ghosts of the rank that has most of them. */
static md_status cut_by(comm *cm, partition_cut cut, const int64_t *weight, double *cost)
{
  comm_ranks *ranks = cm->ranks;
  partition_halo_free(&ranks->halo);
  md_status status = partition_make(ranks->part, cm->ctx, cut, &ranks->order, weight);
  if (!status) status = partition_halo_make(ranks->part, world_rank(), ranks->reach, &ranks->halo);
  MD_TRY(world_agree(status));
  const partition_load load = partition_weigh(ranks->part, world_rank(), &ranks->halo, weight);
  *cost = (double)(load.atoms + load.images);
  world_most(cost, 1);
  ranks->made = cut;
  return MD_OK;
}

static md_status cut_box(comm *cm, md_atoms *atoms, const int64_t *weight)
{
  comm_ranks *ranks = cm->ranks;
  double curve, cost;
  if (ranks->asked == PARTITION_AUTO) {
    MD_TRY(cut_by(cm, PARTITION_CURVE, weight, &curve));
    MD_TRY(cut_by(cm, PARTITION_BRICKS, weight, &cost));
    if (curve <= cost) MD_TRY(cut_by(cm, PARTITION_CURVE, weight, &cost));
  } else {
    MD_TRY(cut_by(cm, ranks->asked, weight, &cost));
  }
  const partition *p = ranks->part;
  for (int d = 0; d < 3; d++) {
    const double lo = atoms->box.lo[d], side = p->side[d];
    const int32_t first = ranks->halo.lo[d], n = ranks->halo.n[d];
    atoms->part.lo[d] = lo + first * side;
    atoms->part.hi[d] = lo + (first + n) * side;
    atoms->part_frames[0][d] = first / p->in_frame[d];
    atoms->part_frames[1][d] = n > 0 ? (first + n - 1) / p->in_frame[d] : 0;
  }
  ranks->cuts++;
  return MD_OK;
}

md_status ranks_settle(comm *cm, md_atoms *atoms, double r_ghost)
{
  comm_ranks *ranks = cm->ranks;
  const bool first = !ranks->part;
  MD_REQUIRE(!first || r_ghost > 0, MD_EINVAL, "the box is not cut yet for %d ranks",
             world_count());
  if (!first && ranks->uneven <= UNEVEN * ranks->was_uneven) return MD_OK;
  if (first) {
    ranks->reach = r_ghost;
    MD_TRY(world_agree(
        partition_create(&atoms->frame, atoms->frames, r_ghost, world_count(), &ranks->part)));
  }
  int64_t *weight = NULL;
  md_status status = weigh_cells(cm, atoms, &weight);
  if (!status) status = cut_box(cm, atoms, weight);
  free(weight);
  ranks->was_uneven = 0;
  return status;
}
