/* force/tile_launch_gpu.h - forces by tiles: what a kernel gets, and its launch. */
#ifndef TILE_LAUNCH_GPU_H
#define TILE_LAUNCH_GPU_H

#include "core/gpu/launch_gpu.h"
#include "force/tile_step_gpu.h"

typedef void tile_kernel(tile_job job);

/* A halo in shared memory. */
static size_t halo_bytes(const tile_job *job, tile_mode mode)
{
  const size_t type = mode.charged && mode.types != TYPES_ALIKE ? sizeof(int32_t) : 0;
  return (size_t)job->tiles.most * (ENTRY + rest_bytes(mode) + type);
}

static tile_job open_tiles(const force *fc, const force_job *job, tile_mode mode)
{
  tile_job out = {};
  out.n = job->n;
  out.tiles = *job->list->tiles;
  out.rows = job->list->atom, out.shift = job->shift, out.first = job->first;
  out.places = (tile_places){(const coord4 *)job->coord, (const state4 *)job->x,
                             (state4 *)fc->x_new.data, (coord4 *)fc->coord_new.data};
  out.f = (real4 *)job->f;
  out.v = (state4 *)job->v;
  out.kick = (state)job->kick, out.drift = (state)job->drift;
  out.scale = job->coord_scale;
  out.scale_sq = (real)(job->coord_scale * job->coord_scale);
  for (int d = 0; d < 3; d++)
    out.edge[d] = job->edge[d];
  out.far = far_entry(job);
  out.lj = lj_round(&job->lj);
  out.unit = (real)(job->coord_scale * (has_unit(mode) ? job->lj.lj1 : 1));
  out.coulomb = coulomb_round(&job->coulomb);
  out.partial = (double *)fc->partial.data;
  out.types = open_types(job);
  out.table = (int32_t)((halo_bytes(&out, mode) + ENTRY - 1) / ENTRY * ENTRY);
  return out;
}

static md_status check_shared(const tile_job *job, size_t bytes)
{
  int device, most;
  MD_CUDA(cudaGetDevice(&device));
  MD_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  MD_REQUIRE(bytes <= (size_t)most, MD_EINVAL,
             "up to %d atoms around a tile and the constants of %d types take %zu bytes of shared "
             "memory, and the GPU has %d for a block: expected a full list",
             job->tiles.most, job->types.n, bytes, most);
  return MD_OK;
}

/* Charged tiles that are all at work at once have kernels of the mesh beside them, whose blocks
 * keep some multiprocessors from tiles: so each tile takes as much shared memory as leaves no
 * multiprocessor room for more than its share of them.  Changes *bytes and *carveout for such. */
static md_status spread_out(const tile_job *job, tile_mode mode, size_t *bytes, int *carveout)
{
  int device, processors, all;
  if (!mode.charged || mode.pass != EAM_NONE) return MD_OK;
  MD_TRY(md_multiprocessors(&processors));
  const unsigned share =
      (md_blocks(job->n, ROWS) + (unsigned)processors - 1) / (unsigned)processors;
  if (share > CHARGED_BLOCKS) return MD_OK;
  MD_CUDA(cudaGetDevice(&device));
  MD_CUDA(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  const size_t room = (size_t)all / (share + 1);
  if (*bytes < room) *bytes = room;
  *carveout = cudaSharedmemCarveoutMaxShared;
  return MD_OK;
}

/* Before launches of a kernel; *shared gets the bytes of shared memory it needs.  Both passes of
 * embedded atoms take as much of the L1 for it: a multiprocessor that divides it anew waits until
 * the pass before has left. */
static md_status prepare(const force *fc, const tile_job *job, tile_kernel *kernel, tile_mode mode,
                         size_t *shared)
{
  int carveout =
      mode.pass == EAM_NONE ? cudaSharedmemCarveoutDefault : cudaSharedmemCarveoutMaxShared;
  *shared = job->near.end > 0 ? (size_t)job->near.end : halo_bytes(job, mode);
  if (mode.types == TYPES_MANY) {
    *shared = (size_t)job->table + table_bytes(&job->types);
    MD_TRY(check_shared(job, *shared));
  }
  MD_TRY(spread_out(job, mode, shared, &carveout));
  MD_TRY(set_carveout(fc, (const void *)kernel, carveout));
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)*shared));
  return MD_OK;
}

/* early: the kernel may start, and ask for its lists, while the one before it, early too, ends. */
static md_status launch(const force *fc, tile_job *job, tile_kernel *kernel, size_t shared,
                        bool early)
{
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config =
      md_launch_config(fc->ctx, dim3(md_blocks(job->n, ROWS)), ROWS, early, &overlap);
  config.dynamicSmemBytes = shared;
  void *arguments[] = {job};
  MD_CUDA(cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
  return MD_OK;
}

#endif
