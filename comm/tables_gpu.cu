/* comm/tables_gpu.cu - the partition of several ranks on the device: who owns a cell, and where
 * images of a cell's atoms go (ranks_gpu.h). */
#include "comm/ranks_impl.h"
#include "core/gpu/cuda.h"

#include <stdlib.h>
#include <string.h>

static md_status send(md_ctx *ctx, md_buffer *buffer, const void *from, size_t bytes)
{
  MD_TRY(md_buffer_reserve(ctx, buffer, bytes, 0));
  return md_write(ctx, buffer->data, from, bytes);
}

enum { RECENT = 8 };

/* Tables of the targets on their way to the device. */
typedef struct {
  partition_target *target;
  int32_t *place; /* of a target among those: this rank itself first */
  int32_t *head, *list;
  int64_t used; /* of list */
} table_maker;

/* Where in the list these targets are, this rank itself first: one of the last that were added, or
 * added now. */
static int32_t add_targets(table_maker *t, int32_t recent[], int64_t *added, const int32_t *to,
                           int32_t count)
{
  int32_t *now = t->list + t->used;
  now[0] = count;
  for (int32_t e = 0; e < count; e++) {
    int32_t at = e + 1;
    for (; at > 1 && now[at - 1] > t->place[to[e]]; at--)
      now[at] = now[at - 1];
    now[at] = t->place[to[e]];
  }
  const size_t bytes = (size_t)(count + 1) * sizeof *now;
  for (int k = 0; k < RECENT && k < *added; k++)
    if (t->list[recent[k]] == count && memcmp(t->list + recent[k], now, bytes) == 0)
      return recent[k];
  const int32_t at = recent[(*added)++ % RECENT] = (int32_t)t->used;
  t->used += count + 1;
  return at;
}

/* Heads of all cells of the box around this rank's own. */
static void make_heads(const comm_ranks *ranks, table_maker *t)
{
  const partition_halo *halo = &ranks->halo;
  const partition *p = ranks->part;
  int32_t recent[RECENT];
  int64_t c = 0, added = 0;
  t->list[0] = 0, t->used = 1;
  for (int32_t i = 0; i < halo->n[0]; i++)
    for (int32_t j = 0; j < halo->n[1]; j++)
      for (int32_t k = 0; k < halo->n[2]; k++, c++) {
        const int64_t cell =
            (((int64_t)i + halo->lo[0]) * p->n[1] + j + halo->lo[1]) * p->n[2] + k + halo->lo[2];
        const int32_t count = (int32_t)(halo->first[c + 1] - halo->first[c]);
        const bool own = p->owner[cell] == world_rank();
        t->head[c] = !own ? -1
                     : count == 0
                         ? 0
                         : add_targets(t, recent, &added, halo->to + halo->first[c], count);
      }
}

/* Targets of this rank itself first, the others in their order. */
static void place_targets(comm_ranks *ranks, table_maker *t)
{
  const partition_halo *halo = &ranks->halo;
  int32_t at = 0;
  for (int own = 1; own >= 0; own--) {
    for (int32_t k = 0; k < halo->n_targets; k++) {
      if ((halo->target[k].rank == world_rank()) != own) continue;
      t->target[at] = halo->target[k];
      t->place[k] = at++;
    }
    if (own) ranks->gpu.n_own_targets = at;
  }
}

static md_status send_tables(comm *cm, table_maker *t, int64_t cells)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  place_targets(ranks, t);
  make_heads(ranks, t);
  MD_REQUIRE(t->used < INT32_MAX, MD_ECAPACITY, "%lld images of cells for other ranks",
             (long long)t->used);
  MD_TRY(send(cm->ctx, &gpu->target, t->target,
              (size_t)(ranks->halo.n_targets + 1) * sizeof *t->target));
  MD_TRY(send(cm->ctx, &gpu->list, t->list, (size_t)t->used * sizeof *t->list));
  MD_TRY(send(cm->ctx, &gpu->head, t->head, (size_t)(cells + 1) * sizeof *t->head));
  MD_TRY(send(cm->ctx, &gpu->owner, ranks->part->owner,
              (size_t)ranks->part->cells * sizeof *ranks->part->owner));
  return md_ctx_sync(cm->ctx);
}

/* The tables of a new cut to the device. */
md_status ranks_gpu_tables(comm *cm)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  const partition_halo *halo = &ranks->halo;
  if (gpu->cuts == ranks->cuts) return MD_OK;
  if (!gpu->sorter) MD_TRY(ordering_sorter_create(cm->ctx, &gpu->sorter));
  const int64_t cells = (int64_t)halo->n[0] * halo->n[1] * halo->n[2], all = halo->first[cells];
  const size_t targets = (size_t)halo->n_targets + 1;
  table_maker t = {};
  t.target = (partition_target *)calloc(targets, sizeof *t.target);
  t.place = (int32_t *)calloc(targets, sizeof *t.place);
  t.head = (int32_t *)calloc((size_t)cells + 1, sizeof *t.head);
  t.list = (int32_t *)calloc((size_t)(all + cells) + 2 + targets, sizeof *t.list);
  const md_status status = t.target && t.place && t.head && t.list
                               ? send_tables(cm, &t, cells)
                               : MD_FAIL(MD_ENOMEM, "out of memory for a partition");
  if (!status) gpu->cuts = ranks->cuts;
  free(t.target);
  free(t.place);
  free(t.head);
  free(t.list);
  return status;
}
