/* comm/ranks_gpu.h - what the kernels of several ranks share: cells, and items in the order of
 * their keys.
 *
 * Items, which are atoms that leave or images that somebody needs, are counted and listed in the
 * order of atoms by a scan, then sorted by their rank or target: the same order in every run.  The
 * host reads the counts of all keys once and waits for nothing else.
 * Messages lie in pinned memory of the host, which kernels write and read themselves, a word a
 * thread, so that a transaction of the bus is whole. */
#ifndef RANKS_GPU_H
#define RANKS_GPU_H

#include "comm/ranks_impl.h"
#include "core/gpu/cuda.h"
#include "core/gpu/scan_gpu.h"

#include <string.h>

/* The tables of a new cut to the device. */
md_status PREC(ranks_gpu_tables)(comm *cm);
md_status PREC(ranks_gpu_count_images)(comm *cm, const md_atoms *atoms);
md_status PREC(ranks_gpu_name_images)(comm *cm, md_atoms *atoms);
md_status PREC(ranks_gpu_take_names)(comm *cm, md_atoms *atoms, const void *from);
md_status PREC(ranks_gpu_pack)(comm *cm, const md_atoms *atoms);
md_status PREC(ranks_gpu_images)(comm *cm, md_atoms *atoms);
md_status PREC(ranks_gpu_unpack)(comm *cm, md_atoms *atoms, const void *from);
md_status PREC(ranks_gpu_exchange)(comm *cm, md_atoms *atoms);
md_status PREC(ranks_gpu_pack_reals)(comm *cm, const void *values);
md_status PREC(ranks_gpu_unpack_reals)(comm *cm, const md_atoms *atoms, void *values);

static __device__ __forceinline__ int64_t cell_of(const partition *p, state4 x)
{
  const double at[3] = {x.x, x.y, x.z};
  return partition_cell(p, at);
}

/* The partition, and what other ranks need of this one, with arrays on the device. */
static inline partition part_of(const comm_ranks *ranks)
{
  partition p = *ranks->part;
  p.owner = (int32_t *)ranks->gpu.owner.data;
  return p;
}

static inline partition_halo halo_of(const comm_ranks *ranks)
{
  partition_halo halo = ranks->halo;
  halo.first = (int64_t *)ranks->gpu.first.data;
  halo.to = (int32_t *)ranks->gpu.to.data;
  halo.target = (partition_target *)ranks->gpu.target.data;
  return halo;
}

/* Room for the scan over n atoms, and for so many items. */
static inline md_status open_items(comm *cm, int64_t n, int64_t items)
{
  ranks_gpu *gpu = &cm->ranks->gpu;
  MD_TRY(md_buffer_reserve(cm->ctx, &gpu->before, (size_t)(n + 1) * sizeof(int32_t), 0));
  md_buffer *const each[] = {&gpu->item, &gpu->key, &gpu->place};
  for (int k = 0; k < 3; k++)
    MD_TRY(md_buffer_reserve(cm->ctx, each[k], (size_t)items * sizeof(int32_t), 0));
  return MD_OK;
}

/* How many atoms leave for each rank, then images that each target gets. */
typedef struct {
  int32_t keys, ranks; /* in all; the first are ranks */
  uint32_t *all;
} item_counts;

enum { NEAR_COUNTS = 4096 }; /* that a block keeps in shared memory */

static inline size_t near_bytes(const item_counts *counts)
{
  return counts->keys <= NEAR_COUNTS ? (size_t)counts->keys * sizeof(uint32_t) : 0;
}

static inline item_counts counts_of(const comm_ranks *ranks)
{
  return (item_counts){world_count() + ranks->halo.n_targets, world_count(),
                       (uint32_t *)ranks->gpu.count.data};
}

/* All zero. */
static inline md_status open_counts(comm *cm, item_counts *out)
{
  md_buffer *on_device = &cm->ranks->gpu.count;
  const size_t bytes = (size_t)(world_count() + cm->ranks->halo.n_targets) * sizeof(uint32_t);
  MD_TRY(md_buffer_reserve(cm->ctx, on_device, bytes, 0));
  *out = counts_of(cm->ranks);
  return md_fill(cm->ctx, out->all, 0, bytes);
}

/* Block: where it counts; close_tally then adds that up.  Every thread must come along. */
static __device__ __forceinline__ uint32_t *open_tally(const item_counts *counts)
{
  extern __shared__ uint32_t near_counts[];
  if (counts->keys > NEAR_COUNTS) return counts->all;
  for (int32_t k = (int32_t)threadIdx.x; k < counts->keys; k += (int32_t)blockDim.x)
    near_counts[k] = 0;
  __syncthreads();
  return near_counts;
}

static __device__ __forceinline__ void close_tally(const item_counts *counts, uint32_t *tally)
{
  if (tally == counts->all) return;
  __syncthreads();
  for (int32_t k = (int32_t)threadIdx.x; k < counts->keys; k += (int32_t)blockDim.x)
    if (tally[k] > 0) atomicAdd(&counts->all[k], tally[k]);
}

/* Images of an atom in a cell of its own rank: first[0] .., as many as are returned. */
static __device__ __forceinline__ int32_t images_at(const partition_halo *halo, const int32_t at[3],
                                                    const int32_t **first)
{
  const int64_t c = partition_halo_place(halo, at), begin = halo->first[c];
  *first = halo->to + begin;
  return (int32_t)(halo->first[c + 1] - begin);
}

static __device__ __forceinline__ void place_of(const partition *p, state4 x, int32_t at[3])
{
  const double from[3] = {x.x, x.y, x.z};
  partition_place(p, from, at);
}

static __device__ __forceinline__ void tally_images(const item_counts *counts, uint32_t *tally,
                                                    const partition_halo *halo, const int32_t at[3])
{
  const int32_t *first, images = images_at(halo, at, &first);
  for (int32_t e = 0; e < images; e++)
    atomicAdd(&tally[counts->ranks + first[e]], 1u);
}

/* Queue: items by their keys < key_end. */
static inline md_status sort_items(comm *cm, int64_t items, int32_t key_end)
{
  const ranks_gpu *gpu = &cm->ranks->gpu;
  if (items == 0) return MD_OK;
  return ordering_sort(gpu->sorter, items, (const uint32_t *)gpu->key.data, (uint32_t)key_end,
                       (int32_t *)gpu->place.data, NULL);
}

/* Item k of those that are sent by mailboxes: which way it goes, and where to. */
static __device__ __forceinline__ md_image sent_to(int32_t n_ways, const md_way *ways, int64_t k)
{
  int32_t w = 0;
  while (w + 1 < n_ways && k >= ways[w + 1].first)
    w++;
  return (md_image){(int32_t)(ways[w].at + (k - ways[w].first)), w, 0, 0};
}

#endif
