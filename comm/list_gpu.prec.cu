/* comm/list_gpu.prec.cu - images of atoms that somebody needs, listed on the GPU after a sort
 * (ranks_gpu.h; what becomes of them: ghosts_gpu.prec.cu).
 *
 * One kernel lists them in the order of atoms, and does what else a rebuild does to each atom; one
 * counts how many each block of them has for each target.  Bytes: 16 to 32 read of an atom and as
 * many written; an image is 8 of item and key, which is read again. */
#include "comm/ranks_gpu.h"

enum { BLOCK = 256 };

/* Where atoms begin that are built from here. */
typedef struct {
  double inv_scale;
  state4 *built;
  coord4 *fixed; /* or NULL */
} builder;

/* Images of each target among those of a block, [blocks][targets], and of a group of blocks. */
typedef struct {
  int32_t targets;
  int32_t *block, *group;
  int64_t group_counts; /* of all groups */
} shares;

/* Thread: one of each row, or the end of all: what they are built from.  Their images are items, in
 * the order of atoms, with their targets as keys.  Counts of groups become zero. */
static __global__ void __launch_bounds__(BLOCK)
    list_kernel(int64_t n, const partition p, const image_table table, const state4 *x,
                const int32_t *image, md_scan scan, int rows, int32_t *before, int32_t *item,
                uint32_t *key, const builder b, const shares s)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t begin = md_scan_first(rows);
  for (int64_t k = md_thread(); k < s.group_counts; k += (int64_t)gridDim.x * BLOCK)
    s.group[k] = 0;
  int32_t head[MD_SCAN_ROWS];
  uint32_t images[MD_SCAN_ROWS];
  uint32_t at[MD_SCAN_ROWS];
#pragma unroll
  for (int u = 0; u < MD_SCAN_ROWS; u++) {
    const int64_t i = begin + u * MD_WARP;
    head[u] = 0, images[u] = 0;
    if (u >= rows || i >= n) continue;
    const state4 xi = x[i];
    b.built[i] = xi;
    if (b.fixed) b.fixed[i] = verlet_coord(xi, b.inv_scale);
    head[u] = max(head_at(&table, &p, xi, image + 3 * i), 0);
    images[u] = (uint32_t)table.list[head[u]];
  }
  const int64_t of_warp = md_scan_before_each(scan, rows, images, at);
#pragma unroll
  for (int u = 0; u < MD_SCAN_ROWS; u++) {
    const int64_t i = begin + u * MD_WARP;
    int64_t k = of_warp + at[u];
    if (u < rows && i <= n) before[i] = (int32_t)k;
    if (head[u] == 0) continue;
    const int32_t *to = table.list + head[u];
    for (int32_t e = 1; e <= to[0]; e++, k++)
      item[k] = (int32_t)i, key[k] = (uint32_t)to[e];
  }
}

/* Thread: one atom; images of all are counted, where migration did not. */
static __global__ void __launch_bounds__(BLOCK)
    count_kernel(int64_t n, const partition p, const image_table table, const state4 *x,
                 const int32_t *image, const item_counts counts, const count_post post)
{
  uint32_t *tally = open_tally(&counts);
  const int64_t i = md_thread();
  if (i < n) tally_images(&counts, tally, &table, head_at(&table, &p, x[i], image + 3 * i));
  close_tally(&counts, tally);
  post_counts(&counts, &post);
}

static md_status count_again(comm *cm, const md_atoms *atoms)
{
  const comm_ranks *ranks = cm->ranks;
  item_counts counts;
  count_post post;
  uint32_t *spare;
  MD_TRY(open_counts(cm, &counts, &spare));
  const size_t bytes = (size_t)counts.keys * sizeof *spare;
  MD_TRY(md_fill(cm->ctx, spare, 0, bytes));
  MD_TRY(md_fill(cm->ctx, counts.all, 0, bytes));
  MD_TRY(open_post(cm, counts.ranks, counts.keys, &post));
  count_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, near_bytes(&counts),
                 (cudaStream_t)cm->ctx->stream>>>(atoms->n, part_of(ranks), table_of(ranks),
                                                  (const state4 *)atoms->x.data,
                                                  (const int32_t *)atoms->image.data, counts, post);
  MD_LAUNCHED();
  return MD_OK;
}

/* Block: SHARE_ITEMS of them; how many each target has, also to those of its group. */
static __global__ void __launch_bounds__(SHARE_ITEMS)
    share_kernel(int64_t items, const uint32_t *key, const shares s)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  __shared__ int32_t count[SHARE_KEYS];
  const int64_t k = md_thread();
  const int32_t mine = k < items ? (int32_t)key[k] : -1;
  int32_t *block = s.block + (int64_t)blockIdx.x * s.targets + threadIdx.x;
  int32_t *group = s.group + (int64_t)(blockIdx.x / SHARE_GROUP) * s.targets + threadIdx.x;
  for (int32_t t = 0; t < s.targets; t += SHARE_KEYS) {
    const int32_t end = min(s.targets - t, (int32_t)SHARE_KEYS);
    if ((int32_t)threadIdx.x < end) count[threadIdx.x] = 0;
    __syncthreads();
    if (mine >= t && mine < t + end) atomicAdd(&count[mine - t], 1);
    __syncthreads();
    if ((int32_t)threadIdx.x < end) {
      const int32_t found = count[threadIdx.x];
      block[t] = found;
      if (found > 0) atomicAdd(&group[t], found);
    }
    __syncthreads();
  }
}

/* Images that move with atoms on one rank: none. */
static md_status open_first(md_atoms *atoms)
{
  const size_t bytes = (size_t)(atoms->n + 1) * sizeof(int32_t);
  if (bytes <= atoms->first.bytes) return MD_OK;
  MD_TRY(md_buffer_reserve(atoms->ctx, &atoms->first, bytes, 0));
  return md_fill(atoms->ctx, atoms->first.data, 0, atoms->first.bytes);
}

/* For atoms of this rank alone: along axes where it has one frame their images are not read. */
static void stay_in_frames(const md_atoms *atoms, partition *p, image_table *table)
{
  for (int d = 0; d < 3; d++) {
    const int32_t frame = atoms->part_frames[0][d];
    if (frame != atoms->part_frames[1][d]) continue;
    table->lo[d] -= frame * p->in_frame[d], p->frames[d] = 1;
  }
}

static md_status list_images(comm *cm, md_atoms *atoms, int64_t items)
{
  comm_ranks *ranks = cm->ranks;
  ranks_gpu *gpu = &ranks->gpu;
  const unsigned sharers = md_blocks(items, SHARE_ITEMS), groups = share_groups(sharers);
  const int64_t targets = ranks->halo.n_targets;
  md_scan scan;
  int rows;
  MD_TRY(md_scan_rows(atoms->n, BLOCK, &rows));
  const unsigned blocks = md_blocks(atoms->n + 1, BLOCK * rows);
  MD_TRY(open_items(cm, items));
  MD_TRY(md_buffer_reserve(cm->ctx, &gpu->before, (size_t)(atoms->n + 1) * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(cm->ctx, &ranks->index, (size_t)items * sizeof(int32_t), 0));
  MD_TRY(open_first(atoms));
  MD_TRY(md_buffer_reserve(cm->ctx, &gpu->share,
                           (size_t)((sharers + groups) * targets) * sizeof(int32_t), 0));
  MD_TRY(md_scan_open(cm->ctx, &gpu->scan_status, &gpu->round, blocks, &scan));
  const builder b = {1 / atoms->coord_scale, (state4 *)atoms->x_at_build.data, fixed_of(atoms)};
  int32_t *share = (int32_t *)gpu->share.data;
  const shares s = {(int32_t)targets, share, share + sharers * targets, groups * targets};
  partition part = part_of(ranks);
  image_table table = table_of(ranks);
  stay_in_frames(atoms, &part, &table);
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = md_launch_config(cm->ctx, dim3(blocks), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, list_kernel, atoms->n, part, table,
                             (const state4 *)atoms->x.data, (const int32_t *)atoms->image.data,
                             scan, rows, (int32_t *)gpu->before.data, (int32_t *)gpu->item.data,
                             (uint32_t *)gpu->key.data, b, s));
  if (items == 0) return MD_OK;
  config.gridDim = dim3(sharers), config.blockDim = dim3(SHARE_ITEMS);
  MD_CUDA(cudaLaunchKernelEx(&config, share_kernel, items, (const uint32_t *)gpu->key.data, s));
  return MD_OK;
}

/* The host has known how many there are since migration, and waits for no sort. */
md_status PREC(ranks_gpu_count_images)(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const partition_halo *halo = &ranks->halo;
  const count_board *board = NULL;
  int64_t items = 0;
  MD_TRY(ranks_gpu_tables(cm));
  if (!ranks->gpu.counted) MD_TRY(count_again(cm, atoms));
  ranks->gpu.counted = false;
  MD_TRY(await_counts(cm, &board));
  const uint32_t *count = board->count + world_count();
  for (int32_t t = 0; t < ranks->gpu.n_own_targets; t++)
    ranks->n_own += count[t];
  int32_t at = ranks->gpu.n_own_targets;
  for (int32_t t = 0; t < halo->n_targets; t++) {
    items += count[t];
    if (halo->target[t].rank == world_rank()) continue;
    ranks->to[halo->target[t].rank] += count[at++];
  }
  return list_images(cm, atoms, items);
}
