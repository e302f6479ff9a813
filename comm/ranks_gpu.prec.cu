/* comm/ranks_gpu.prec.cu - atoms that move house between ranks, packed and read on the GPU, and the
 * partition on the device (ranks_gpu.h). */
#include "comm/ranks_gpu.h"

#include <stdlib.h>

enum { BLOCK = 256 };

/* An atom that moves house. */
typedef struct {
  state4 x, v;
  int64_t id;
  int32_t image[3], zero;
} traveller;

/* The arrays of atoms. */
typedef struct {
  state4 *x, *v;
  int64_t *id;
  int32_t *image;
} houses;

static houses houses_of(const md_atoms *atoms)
{
  return (houses){(state4 *)atoms->x.data, (state4 *)atoms->v.data, (int64_t *)atoms->id.data,
                  (int32_t *)atoms->image.data};
}

static __device__ __forceinline__ traveller leave_house(const houses *a, int64_t i)
{
  const int32_t *image = a->image + 3 * i;
  return (traveller){a->x[i], a->v[i], a->id[i], {image[0], image[1], image[2]}, 0};
}

static __device__ __forceinline__ void enter_house(const houses *a, int64_t i, const traveller *t)
{
  a->x[i] = t->x, a->v[i] = t->v, a->id[i] = t->id;
  for (int d = 0; d < 3; d++)
    a->image[3 * i + d] = t->image[d];
}

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

/* Where in the list these targets are: one of the last that were added, or added now. */
static int32_t add_targets(table_maker *t, int32_t recent[], int64_t *added, const int32_t *to,
                           int32_t count)
{
  int32_t *now = t->list + t->used;
  now[0] = count;
  for (int32_t e = 0; e < count; e++)
    now[1 + e] = t->place[to[e]];
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
md_status PREC(ranks_gpu_tables)(comm *cm)
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

static size_t atom_bytes(const md_atoms *atoms)
{
  (void)atoms;
  return sizeof(traveller);
}

static __global__ void weigh_kernel(int64_t n, const partition p, const houses a,
                                    unsigned long long *weight)
{
  const int64_t i = md_thread();
  if (i < n) atomicAdd(&weight[cell_of(&p, a.x[i], a.image + 3 * i)], 1ull);
}

static md_status weigh(comm *cm, const md_atoms *atoms, int64_t *weight)
{
  const partition *p = cm->ranks->part;
  md_buffer *on_device = &cm->ranks->gpu.weight;
  const size_t bytes = (size_t)p->cells * sizeof *weight;
  MD_TRY(md_buffer_reserve(cm->ctx, on_device, bytes, 0));
  MD_TRY(md_fill(cm->ctx, on_device->data, 0, bytes));
  weigh_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, *p, houses_of(atoms), (unsigned long long *)on_device->data);
  MD_LAUNCHED();
  return md_read(cm->ctx, weight, on_device->data, bytes);
}

/* Thread: one of each row, or the end of all.  Those that another rank owns are items, with it as
 * key; images of all others are counted. */
static __global__ void __launch_bounds__(BLOCK)
    leave_kernel(int64_t n, const partition p, const image_table table, const houses a,
                 md_scan scan, int rows, int32_t *before, int32_t *item, uint32_t *key,
                 const item_counts counts, const count_post post)
{
  uint32_t *tally = open_tally(&counts);
  const int64_t first = md_scan_first(rows);
  int32_t head[MD_SCAN_ROWS] = {};
  uint32_t leaves[MD_SCAN_ROWS];
  int64_t at[MD_SCAN_ROWS];
#pragma unroll
  for (int u = 0; u < MD_SCAN_ROWS; u++) {
    const int64_t i = first + u * MD_WARP;
    head[u] = u < rows && i < n ? head_at(&table, &p, a.x[i], a.image + 3 * i) : 0;
    leaves[u] = head[u] < 0;
  }
  md_scan_before_each(scan, rows, leaves, at);
#pragma unroll
  for (int u = 0; u < MD_SCAN_ROWS; u++) {
    const int64_t i = first + u * MD_WARP;
    if (u < rows && i <= n) before[i] = (int32_t)at[u];
    if (head[u] < 0) {
      const int32_t rank = p.owner[cell_of(&p, a.x[i], a.image + 3 * i)];
      item[at[u]] = (int32_t)i, key[at[u]] = (uint32_t)rank;
      atomicAdd(&tally[rank], 1u);
    } else {
      tally_images(&counts, tally, &table, head[u]);
    }
  }
  close_tally(&counts, tally);
  post_counts(&counts, &post);
}

static md_status count_leavers(comm *cm, const md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  const uint32_t *found = NULL;
  md_scan scan;
  int rows;
  item_counts counts;
  count_post post;
  MD_TRY(PREC(ranks_gpu_tables)(cm));
  MD_TRY(open_items(cm, atoms->n, atoms->n));
  MD_TRY(open_counts(cm, &counts));
  MD_TRY(open_post(cm, 0, world_count(), &post));
  MD_TRY(md_scan_rows(atoms->n, BLOCK, &rows));
  const unsigned blocks = md_blocks(atoms->n + 1, BLOCK * rows);
  MD_TRY(md_scan_open(cm->ctx, &gpu->scan_status, &gpu->round, blocks, &scan));
  leave_kernel<<<blocks, BLOCK, near_bytes(&counts), (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, part_of(ranks), table_of(ranks), houses_of(atoms), scan, rows,
      (int32_t *)gpu->before.data, (int32_t *)gpu->item.data, (uint32_t *)gpu->key.data, counts,
      post);
  MD_LAUNCHED();
  MD_TRY(await_counts(cm, &found));
  for (int r = 0; r < world_count(); r++)
    ranks->to[r] = found[r];
  gpu->counted = true;
  return MD_OK;
}

/* Thread: one that leaves, in the order of ranks; place NULL: that of items.  To a message, `out`,
 * or mailboxes, whose flags are raised then. */
static __global__ void pack_kernel(int64_t leavers, const houses a,
                                   const int32_t *__restrict__ item,
                                   const int32_t *__restrict__ place, traveller *out,
                                   const mail_round by)
{
  const int64_t k = md_thread();
  if (k < leavers) {
    traveller *to = out + k;
    if (by.on) {
      const md_image at = sent_to(by.n_ways, by.ways, k);
      to = (traveller *)by.ways[at.way].slot[by.round % MD_SLOTS] + at.to;
    }
    *to = leave_house(&a, item[place ? place[k] : k]);
  }
  if (by.on) close_round(by.come, gridDim.x, by.n_ways, by.ways, by.round, true);
}

/* Thread: one of the last places.  An atom that stays there moves to the place of one that left:
 * as many are free before `kept` as atoms lie behind. */
static __global__ void close_up_kernel(int64_t n, int64_t kept, const houses a,
                                       const int32_t *__restrict__ before,
                                       const int32_t *__restrict__ item)
{
  const int64_t i = kept + md_thread();
  if (i >= n || before[i + 1] > before[i]) return;
  const traveller t = leave_house(&a, i);
  enter_house(&a, item[i - kept - (before[i] - before[kept])], &t);
}

static md_status pack_leavers(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const ranks_gpu *gpu = &ranks->gpu;
  const houses a = houses_of(atoms);
  const int64_t leavers = ranks->n_out;
  const unsigned blocks = md_blocks(leavers + 1, BLOCK);
  const cudaStream_t stream = (cudaStream_t)cm->ctx->stream;
  bool one = false; /* rank that all go to */
  for (int r = 0; r < world_count(); r++)
    one = one || ranks->to[r] == leavers;
  if (!one)
    MD_TRY(ordering_sort(gpu->sorter, leavers, (const uint32_t *)gpu->key.data,
                         (uint32_t)world_count(), (int32_t *)gpu->place.data, NULL));
  pack_kernel<<<blocks, BLOCK, 0, stream>>>(
      leavers, a, (const int32_t *)gpu->item.data, one ? NULL : (const int32_t *)gpu->place.data,
      (traveller *)ranks->out.data, round_of(ranks, ranks->mailed));
  if (leavers > 0)
    close_up_kernel<<<blocks, BLOCK, 0, stream>>>(atoms->n, atoms->n - leavers, a,
                                                  (const int32_t *)gpu->before.data,
                                                  (const int32_t *)gpu->item.data);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one that arrives, whose images are counted where those of others are: keys > 0. */
static __global__ void arrive_kernel(int64_t n, int64_t arrivals, const houses a,
                                     const traveller *in, const partition p,
                                     const image_table table, const mail_round by,
                                     const item_counts counts, const count_post post)
{
  uint32_t *tally = open_tally(&counts);
  const int64_t k = md_thread();
  await_round(&by);
  if (k < arrivals) {
    const traveller t = in[k];
    enter_house(&a, n + k, &t);
    if (counts.keys > 0) tally_images(&counts, tally, &table, head_at(&table, &p, t.x, t.image));
  }
  close_tally(&counts, tally);
  if (counts.keys > 0) post_counts(&counts, &post);
}

static md_status take_arrivals(comm *cm, md_atoms *atoms, int64_t arrivals, const void *from)
{
  const comm_ranks *ranks = cm->ranks;
  item_counts counts = {};
  count_post post = {};
  MD_TRY(PREC(ranks_gpu_tables)(cm));
  if (ranks->gpu.counted) {
    counts = counts_of(ranks);
    MD_TRY(open_post(cm, counts.ranks, counts.keys, &post));
  }
  arrive_kernel<<<md_blocks(arrivals + 1, BLOCK), BLOCK, near_bytes(&counts),
                  (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, arrivals, houses_of(atoms), (const traveller *)from, part_of(ranks),
      table_of(ranks), round_of(ranks, ranks->mailed), counts, post);
  MD_LAUNCHED();
  return MD_OK;
}

const ranks_backend *PREC(ranks_on_gpu)(void)
{
  static const ranks_backend backend = {
      atom_bytes,
      PREC(ranks_gpu_name_bytes),
      weigh,
      count_leavers,
      pack_leavers,
      take_arrivals,
      PREC(ranks_gpu_count_images),
      PREC(ranks_gpu_name_images),
      PREC(ranks_gpu_take_names),
      PREC(ranks_gpu_pack),
      PREC(ranks_gpu_images),
      PREC(ranks_gpu_unpack),
      PREC(ranks_gpu_exchange),
      PREC(ranks_gpu_pack_reals),
      PREC(ranks_gpu_unpack_reals),
  };
  return &backend;
}
