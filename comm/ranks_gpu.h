/* comm/ranks_gpu.h - what the kernels of several ranks share: cells, and items in the order of
 * their keys.
 *
 * Items, which are atoms that leave or images that somebody needs, are counted and listed in the
 * order of atoms by a scan, then sorted by their rank or target: the same order in every run.
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

/* Sort items by their keys < key_end; host start [key_end + 1]: where those of each begin. */
static inline md_status sort_items(comm *cm, int64_t items, int32_t key_end, int32_t *start)
{
  ranks_gpu *gpu = &cm->ranks->gpu;
  const size_t bytes = (size_t)(key_end + 1) * sizeof *start;
  memset(start, 0, bytes);
  if (items == 0) return MD_OK;
  MD_TRY(md_buffer_reserve(cm->ctx, &gpu->start, bytes, 0));
  MD_TRY(ordering_sort(gpu->sorter, items, (const uint32_t *)gpu->key.data, (uint32_t)key_end,
                       (int32_t *)gpu->place.data, (int32_t *)gpu->start.data));
  return md_read(cm->ctx, start, gpu->start.data, bytes);
}

static inline md_status items_found(comm *cm, int64_t n, int64_t *items)
{
  int32_t found;
  MD_TRY(md_read(cm->ctx, &found, (const int32_t *)cm->ranks->gpu.before.data + n, sizeof found));
  *items = found;
  return MD_OK;
}

#endif
