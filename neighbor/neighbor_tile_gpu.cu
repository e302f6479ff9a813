/* neighbor/neighbor_tile_gpu.cu - lists by tiles: the kernel, and room for what it writes.
 *
 * Room is guessed from the density, measured and grown; the kernel counts on where there is none.
 * 15,700 instructions a warp, two thirds of them the 556 tests an atom: 0.83 ms for 2^20 atoms in
 * single on an H200, once in 20 steps. */
#include "neighbor/tile_halo_gpu.h"

/* Room for halos beyond those of compact tiles. */
static const double HALO_MARGIN = 1.3;

enum { MOST_HALO = 4096, CHUNKS_STEP = 2, HALO_STEP = 32 };

static __device__ __forceinline__ void report(const tile_block *b, const tile_row *row)
{
  tile_result *result = b->job->result;
  const unsigned entries = __reduce_add_sync(MD_ALL_LANES, (unsigned)row->count);
  const int32_t most = __reduce_max_sync(MD_ALL_LANES, row->count);
  if (threadIdx.x % MD_WARP == 0) {
    atomicAdd(&result->entries, (unsigned long long)entries);
    if (most > *(volatile int32_t *)&result->row) atomicMax(&result->row, most);
    if (row->cursor > *(volatile int32_t *)&result->chunks) atomicMax(&result->chunks, row->cursor);
  }
  if (threadIdx.x > 0) return;
  atomicAdd(&result->halos, (unsigned long long)b->total);
  if (b->most > *(volatile int32_t *)&result->most) atomicMax(&result->most, b->most);
  if (b->pass > *(volatile int32_t *)&result->passes) atomicMax(&result->passes, b->pass);
}

static __global__ void __launch_bounds__(TILE_ROWS, 2) tile_kernel(const tile_job job)
{
  extern __shared__ __align__(16) float4 shared[];
  tile_store *store = (tile_store *)(shared + job.capacity);
  const int warp = threadIdx.x / MD_WARP;
  const int64_t r = (int64_t)blockIdx.x * TILE_ROWS + threadIdx.x;
  const bool present = r < job.n;
  const int32_t place = (int32_t)min(r, (int64_t)job.n - 1);
  const int32_t i = job.rows ? job.rows[place] : place;
  const tile_room room = {shared, store->queue[warp], (char *)store->slots, (char *)store->waiting};
  tile_block b = {&job, store, shared};
  tile_row row = {};
  row.waiting = 2 * (int32_t)threadIdx.x;
  row.at = candidate(job.x[i], i);
  clear_slots(&row);
  make_boxes(&b, &row);
  if (threadIdx.x == 0) {
    coord4 origin = {};
    origin.x = coord_from(b.origin.x, job.inv_scale);
    origin.y = coord_from(b.origin.y, job.inv_scale);
    origin.z = coord_from(b.origin.z, job.inv_scale);
    job.origin[blockIdx.x] = origin;
  }
  const float size = fmaxf(fabsf(row.x), fmaxf(fabsf(row.y), fabsf(row.z)));
  const float r_sq = (float)job.r_sq, margin = 0x1p-19f * (r_sq + sqrtf(r_sq) * size);
  row.inner = r_sq - margin, row.outer = present ? r_sq + margin : -1;
  gather_halo(&b, &room, &row);
  if (present) job.count[r] = row.count;
  report(&b, &row);
  for (int32_t p = b.pass; p < job.passes; p++) {
    if (threadIdx.x == 0) job.halo_count[(int64_t)blockIdx.x * job.passes + p] = 0;
    if (threadIdx.x % MD_WARP == 0)
      job.chunk_count[((int64_t)blockIdx.x * TILE_WARPS + warp) * job.passes + p] = 0;
  }
}

/* Room for a halo of so many entries in one pass, or for as many as 16 bits can tell apart. */
static int32_t halo_room(double entries)
{
  const double least = TILE_ROWS, most = MOST_HALO - FAR_ENTRIES;
  const int32_t held = (int32_t)fmin(fmax(entries, least), most);
  return (held + HALO_STEP - 1) / HALO_STEP * HALO_STEP + FAR_ENTRIES;
}

/* Rooms of the first build: atoms spread evenly, tiles hardly longer than wide. */
static void guess_rooms(neighbor_list *list, const md_atoms *atoms)
{
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= atoms->owned.hi[d] - atoms->owned.lo[d];
  const double density = (double)atoms->n / volume, r = list->spec.r_list, pi = 3.14159265358979;
  const double edge = cbrt(TILE_ROWS / density), ball = 4.0 / 3 * pi * r * r * r;
  const double halo = density * (edge * edge * (edge + 6 * r) + 3 * pi * edge * r * r + ball);
  const double all = (double)(atoms->n + atoms->n_ghost);
  list->tiles.rows = TILE_ROWS;
  list->tiles.capacity = halo_room(fmin(HALO_MARGIN * halo, all));
  list->tiles.passes = 1;
  list->tiles.chunks =
      (int32_t)fmin(fmin(1.25 * density * ball, all) / TILE_CHUNK + 4, INT32_MAX / TILE_CHUNK);
}

/* Grow what was too small; false: nothing was.  A few halos that are larger than most are left to
 * further passes, so that the others can be at work beside each other. */
static bool grow_rooms(neighbor_tiles *tiles, const tile_result *found, int64_t count)
{
  const int32_t room = halo_room(HALO_MARGIN * (double)found->halos / (double)count);
  bool grown = false;
  if (found->passes > 1 && room > tiles->capacity) tiles->capacity = room, grown = true;
  if (found->passes > tiles->passes && !grown) tiles->passes = found->passes, grown = true;
  if (found->chunks > tiles->chunks)
    tiles->chunks = found->chunks + found->chunks / 16 + CHUNKS_STEP, grown = true;
  return grown;
}

static md_status run_tiles(neighbor_list *list, tile_job *job, int64_t count, tile_result *found)
{
  md_ctx *ctx = list->ctx;
  neighbor_tiles *tiles = &list->tiles;
  const size_t passes = (size_t)count * (size_t)tiles->passes;
  const size_t list_bytes =
      (size_t)count * TILE_WARPS * (size_t)tiles->chunks * MD_WARP * sizeof(uint4);
  MD_TRY(md_buffer_reserve(ctx, &list->nbr, list_bytes, 0));
  MD_TRY(
      md_buffer_reserve(ctx, &list->halo, passes * (size_t)tiles->capacity * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->halo_count, passes * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->chunk_count, passes * TILE_WARPS * sizeof(int32_t), 0));
  job->capacity = tiles->capacity, job->passes = tiles->passes, job->chunks = tiles->chunks;
  job->list = (uint4 *)list->nbr.data;
  job->halo = (int32_t *)list->halo.data;
  job->halo_count = (int32_t *)list->halo_count.data;
  job->chunk_count = (int32_t *)list->chunk_count.data;
  MD_TRY(md_fill(ctx, job->result, 0, sizeof *job->result));
  const size_t shared = (size_t)tiles->capacity * sizeof(float4) + sizeof(tile_store);
  MD_CUDA(
      cudaFuncSetAttribute(tile_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  tile_kernel<<<(unsigned)count, TILE_ROWS, shared, (cudaStream_t)ctx->stream>>>(*job);
  MD_LAUNCHED();
  return md_read(ctx, found, job->result, sizeof *found);
}

static md_status open_tiles(neighbor_list *list, const md_atoms *atoms, int64_t count,
                            tile_job *job)
{
  md_ctx *ctx = list->ctx;
  MD_TRY(md_buffer_reserve(ctx, &list->origin, (size_t)count * sizeof(coord4), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->count, (size_t)atoms->n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->result, sizeof *job->result, 0));
  const double r_list = list->spec.r_list;
  *job = (tile_job){};
  job->grid = bins_of(&list->grid, true);
  job->n = (int32_t)atoms->n;
  job->r_sq = r_list * r_list;
  job->reach = (state)neighbor_reach(list, atoms);
  job->inv_scale = 1 / atoms->coord_scale;
  job->rows = list->view.atom;
  job->x = (const state4 *)atoms->x.data;
  job->sorted = (const state4 *)list->work.data;
  job->bin_start = (const int32_t *)list->bin_start.data;
  job->count = (int32_t *)list->count.data;
  job->origin = (coord4 *)list->origin.data;
  job->result = (tile_result *)list->result.data;
  return MD_OK;
}

md_status PREC(neighbor_gpu_tiles)(neighbor_list *list, const md_atoms *atoms)
{
  const int64_t count = (atoms->n + TILE_ROWS - 1) / TILE_ROWS;
  tile_job job;
  tile_result found;
  MD_TRY(PREC(neighbor_gpu_gather)(list, atoms));
  MD_TRY(open_tiles(list, atoms, count, &job));
  if (list->tiles.capacity == 0) guess_rooms(list, atoms);
  do
    MD_TRY(run_tiles(list, &job, count, &found));
  while (grow_rooms(&list->tiles, &found, count));
  neighbor_tiles *tiles = &list->tiles;
  tiles->most = found.most + 2 * TILE_BANKS;
  tiles->origin = job.origin;
  tiles->halo = job.halo;
  tiles->halo_count = job.halo_count;
  tiles->chunk_count = job.chunk_count;
  tiles->list = job.list;
  list->view.width = MD_WARP;
  list->view.count = job.count;
  list->view.n_entries = (int64_t)found.entries;
  list->view.max_count = found.row;
  list->view.tiles = tiles;
  return MD_OK;
}
