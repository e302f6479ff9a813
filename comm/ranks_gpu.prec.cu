/* comm/ranks_gpu.prec.cu - atoms that move house between ranks, packed and read on the GPU, and the
 * partition on the device (ranks_gpu.h). */
#include "comm/ranks_gpu.h"
#include "core/gpu/readback_gpu.h"

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

/* Targets of this rank itself first, the others in their order; place: where each comes to. */
static md_status send_targets(comm *cm, partition_target *target, int32_t *place, int32_t *to)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  const partition_halo *halo = &ranks->halo;
  const int64_t cells = (int64_t)halo->n[0] * halo->n[1] * halo->n[2], all = halo->first[cells];
  int32_t at = 0;
  for (int own = 1; own >= 0; own--) {
    for (int32_t t = 0; t < halo->n_targets; t++) {
      if ((halo->target[t].rank == world_rank()) != own) continue;
      target[at] = halo->target[t];
      place[t] = at++;
    }
    if (own) gpu->n_own_targets = at;
  }
  for (int64_t e = 0; e < all; e++)
    to[e] = place[halo->to[e]];
  MD_TRY(send(cm->ctx, &gpu->target, target, (size_t)at * sizeof *target));
  MD_TRY(send(cm->ctx, &gpu->to, to, (size_t)all * sizeof *to));
  return send(cm->ctx, &gpu->first, halo->first, (size_t)(cells + 1) * sizeof *halo->first);
}

/* The tables of a new cut to the device. */
md_status PREC(ranks_gpu_tables)(comm *cm)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  const partition_halo *halo = &ranks->halo;
  if (gpu->cuts == ranks->cuts) return MD_OK;
  if (!gpu->sorter) MD_TRY(ordering_sorter_create(cm->ctx, &gpu->sorter));
  const int64_t all = halo->first[(int64_t)halo->n[0] * halo->n[1] * halo->n[2]];
  partition_target *target = (partition_target *)calloc(halo->n_targets + 1, sizeof *target);
  int32_t *place = (int32_t *)calloc(halo->n_targets + 1, sizeof *place);
  int32_t *to = (int32_t *)calloc((size_t)all + 1, sizeof *to);
  md_status status = target && place && to ? send_targets(cm, target, place, to)
                                           : MD_FAIL(MD_ENOMEM, "out of memory for a partition");
  if (!status)
    status = send(cm->ctx, &gpu->owner, ranks->part->owner,
                  (size_t)ranks->part->cells * sizeof *ranks->part->owner);
  if (!status) status = md_ctx_sync(cm->ctx);
  if (!status) gpu->cuts = ranks->cuts;
  free(target);
  free(place);
  free(to);
  return status;
}

static size_t atom_bytes(const md_atoms *atoms)
{
  (void)atoms;
  return sizeof(traveller);
}

static __global__ void weigh_kernel(int64_t n, const partition p, const state4 *__restrict__ x,
                                    unsigned long long *weight)
{
  const int64_t i = md_thread();
  if (i < n) atomicAdd(&weight[cell_of(&p, x[i])], 1ull);
}

static md_status weigh(comm *cm, const md_atoms *atoms, int64_t *weight)
{
  const partition *p = cm->ranks->part;
  md_buffer *on_device = &cm->ranks->gpu.weight;
  const size_t bytes = (size_t)p->cells * sizeof *weight;
  MD_TRY(md_buffer_reserve(cm->ctx, on_device, bytes, 0));
  MD_TRY(md_fill(cm->ctx, on_device->data, 0, bytes));
  weigh_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, *p, (const state4 *)atoms->x.data, (unsigned long long *)on_device->data);
  MD_LAUNCHED();
  return md_read(cm->ctx, weight, on_device->data, bytes);
}

/* Thread: one atom, or the end of all.  Those that another rank owns are items, with it as key;
 * images of all others are counted. */
static __global__ void __launch_bounds__(BLOCK)
    leave_kernel(int64_t n, const partition p, const partition_halo halo, int32_t me,
                 const state4 *__restrict__ x, md_scan scan, int32_t *before, int32_t *item,
                 uint32_t *key, const item_counts counts)
{
  uint32_t *tally = open_tally(&counts);
  const int64_t i = md_thread();
  int32_t at[3];
  place_of(&p, x[min(i, n - 1)], at);
  const int32_t rank = p.owner[((int64_t)at[0] * p.n[1] + at[1]) * p.n[2] + at[2]];
  const bool leaves = i < n && rank != me;
  const int64_t k = md_scan_before(scan, leaves);
  if (i <= n) before[i] = (int32_t)k;
  if (leaves) {
    item[k] = (int32_t)i, key[k] = (uint32_t)rank;
    atomicAdd(&tally[rank], 1u);
  } else if (i < n) {
    tally_images(&counts, tally, &halo, at);
  }
  close_tally(&counts, tally);
}

static md_status count_leavers(comm *cm, const md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  const unsigned blocks = md_blocks(atoms->n + 1, BLOCK);
  md_scan scan;
  item_counts counts;
  MD_TRY(PREC(ranks_gpu_tables)(cm));
  MD_TRY(open_items(cm, atoms->n, atoms->n));
  MD_TRY(open_counts(cm, &counts));
  MD_TRY(md_scan_open(cm->ctx, &gpu->scan_status, &gpu->round, blocks, &scan));
  leave_kernel<<<blocks, BLOCK, near_bytes(&counts), (cudaStream_t)cm->ctx->stream>>>(
      atoms->n, part_of(ranks), halo_of(ranks), world_rank(), (const state4 *)atoms->x.data, scan,
      (int32_t *)gpu->before.data, (int32_t *)gpu->item.data, (uint32_t *)gpu->key.data, counts);
  MD_LAUNCHED();
  uint32_t *found = (uint32_t *)malloc((size_t)world_count() * sizeof *found);
  MD_REQUIRE(found, MD_ENOMEM, "out of memory for %d ranks", world_count());
  const size_t bytes = (size_t)world_count() * sizeof *found;
  const md_status status = md_read(cm->ctx, found, counts.all, bytes);
  for (int r = 0; r < world_count() && !status; r++)
    ranks->to[r] = found[r];
  free(found);
  gpu->counted = !status;
  return status;
}

/* Where those that leave go: a message to all, or mailboxes. */
typedef struct {
  traveller *out; /* or NULL */
  int32_t n_ways;
  const md_way *ways;
  md_round round;
} departure;

/* Thread: one that leaves, in the order of ranks; place NULL: that of items. */
static __global__ void pack_kernel(int64_t leavers, const houses a,
                                   const int32_t *__restrict__ item,
                                   const int32_t *__restrict__ place, const departure by)
{
  const int64_t k = md_thread();
  if (k >= leavers) return;
  traveller *to = by.out + k;
  if (!by.out) {
    const md_image at = sent_to(by.n_ways, by.ways, k);
    to = (traveller *)by.ways[at.way].half[by.round % 2] + at.to;
  }
  *to = leave_house(&a, item[place ? place[k] : k]);
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
  const unsigned blocks = md_blocks(leavers, BLOCK);
  const cudaStream_t stream = (cudaStream_t)cm->ctx->stream;
  const ranks_peer *peer = &ranks->peer;
  const departure by = {ranks->mailed ? NULL : (traveller *)ranks->out.data, peer->n_ways,
                        (const md_way *)peer->ways.data, peer->round};
  bool one = false; /* rank that all go to */
  for (int r = 0; r < world_count(); r++)
    one = one || ranks->to[r] == leavers;
  if (!one) MD_TRY(sort_items(cm, leavers, world_count()));
  pack_kernel<<<blocks, BLOCK, 0, stream>>>(leavers, a, (const int32_t *)gpu->item.data,
                                            one ? NULL : (const int32_t *)gpu->place.data, by);
  close_up_kernel<<<blocks, BLOCK, 0, stream>>>(atoms->n, atoms->n - leavers, a,
                                                (const int32_t *)gpu->before.data,
                                                (const int32_t *)gpu->item.data);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one that arrives, whose images are counted where those of others are: keys > 0. */
static __global__ void arrive_kernel(int64_t n, int64_t arrivals, const houses a,
                                     const traveller *__restrict__ in, const partition p,
                                     const partition_halo halo, const item_counts counts)
{
  uint32_t *tally = open_tally(&counts);
  const int64_t k = md_thread();
  if (k < arrivals) {
    const traveller t = in[k];
    int32_t at[3];
    enter_house(&a, n + k, &t);
    place_of(&p, t.x, at);
    if (counts.keys > 0) tally_images(&counts, tally, &halo, at);
  }
  close_tally(&counts, tally);
}

static md_status take_arrivals(comm *cm, md_atoms *atoms, int64_t arrivals, const void *from)
{
  const comm_ranks *ranks = cm->ranks;
  item_counts counts = {};
  MD_TRY(PREC(ranks_gpu_tables)(cm));
  if (ranks->gpu.counted) counts = counts_of(ranks);
  arrive_kernel<<<md_blocks(arrivals, BLOCK), BLOCK, near_bytes(&counts),
                  (cudaStream_t)cm->ctx->stream>>>(atoms->n, arrivals, houses_of(atoms),
                                                   (const traveller *)from, part_of(ranks),
                                                   halo_of(ranks), counts);
  MD_LAUNCHED();
  return MD_OK;
}

/* The counts of images start on their way, before atoms are sorted. */
static md_status expect_images(comm *cm)
{
  ranks_gpu *gpu = &cm->ranks->gpu;
  const item_counts counts = counts_of(cm->ranks);
  const size_t bytes = (size_t)(counts.keys - counts.ranks) * sizeof(uint32_t);
  if (!gpu->counted || bytes == 0) return MD_OK;
  if (bytes > gpu->readback_bytes) {
    md_readback_close(gpu->readback);
    gpu->readback = NULL;
    gpu->readback_bytes = bytes;
  }
  MD_TRY(md_readback_open(&gpu->readback, gpu->readback_bytes));
  return md_readback_queue(cm->ctx, gpu->readback, counts.all + counts.ranks, bytes);
}

const ranks_backend *PREC(ranks_on_gpu)(void)
{
  static const ranks_backend backend = {
      atom_bytes,
      weigh,
      count_leavers,
      pack_leavers,
      take_arrivals,
      expect_images,
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
