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

/* Counts of so many keys, zero. */
static inline md_status open_counts(comm *cm, int32_t keys, uint32_t **count)
{
  md_buffer *on_device = &cm->ranks->gpu.count;
  const size_t bytes = (size_t)keys * sizeof **count;
  MD_TRY(md_buffer_reserve(cm->ctx, on_device, bytes, 0));
  *count = (uint32_t *)on_device->data;
  return md_fill(cm->ctx, *count, 0, bytes);
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
