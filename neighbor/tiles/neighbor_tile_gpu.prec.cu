/* neighbor/tiles/neighbor_tile_gpu.prec.cu - lists by tiles: the kernel, and room for what it
 * writes.
 *
 * Room is guessed from the density, measured and grown; the kernel counts on where there is none,
 * and says so.  436 us for 2^20 atoms in single on an H100, once in 20 steps
 * (docs/decisions/63-lists-by-tiles-by-counting.md). */
#include "core/gpu/launch_gpu.h"
#include "core/gpu/readback_gpu.h"
#include "neighbor/tiles/tile_halo_gpu.h"

/* Room for halos beyond those of compact tiles. */
static const double HALO_MARGIN = 1.3;

enum {
  MOST_HALO = 4096,
  HALO_STEP = 32,
  FEW_TILES = 1024, /* of a liquid, all of which take one pass */
  /* Blocks that a multiprocessor holds, measured best: of many, and where more of them would not
   * make fewer rounds (decision 63). */
  BLOCKS = 3,
  FEW_BLOCKS = 2
};

static __device__ __forceinline__ void report(const tile_block *b, const tile_row *row)
{
  tile_result *result = b->job->result;
  const unsigned entries = __reduce_add_sync(MD_ALL_LANES, (unsigned)row->count);
  const int32_t most = __reduce_max_sync(MD_ALL_LANES, row->count);
  if (threadIdx.x % MD_WARP == 0) {
    atomicAdd(&result->entries, (unsigned long long)entries);
    if (most > *(volatile int32_t *)&result->row) atomicMax(&result->row, most);
  }
  if (threadIdx.x > 0) return;
  if (b->most > *(volatile int32_t *)&result->most) atomicMax(&result->most, b->most);
  if (b->pass > *(volatile int32_t *)&result->passes) atomicMax(&result->passes, b->pass);
}

/* What all tiles found, to where who reads the list looks for it. */
static __device__ __forceinline__ void close_build(const tile_job *job)
{
  if (!md_last_block(&job->totals->come) || threadIdx.x > 0) return;
  tile_result *result = job->result;
  const tile_result found = {__ldcg(&result->entries), __ldcg(&result->halos),
                             __ldcg(&result->groups),  __ldcg(&result->further),
                             __ldcg(&result->unfit),   __ldcg(&result->row),
                             __ldcg(&result->most),    __ldcg(&result->passes)};
  job->totals->found = found;
  *result = (tile_result){};
}

/* Bytes of shared memory: the store, then what tile_room says of entries. */
static size_t shared_bytes(int32_t capacity)
{
  return sizeof(tile_store) + (size_t)capacity * (sizeof(uint4) + sizeof(int32_t)) +
         (size_t)(TILE_BANKS * near_stride(capacity));
}

static __device__ __forceinline__ tile_room room_in(tile_store *store, int32_t capacity)
{
  const int warp = threadIdx.x / MD_WARP;
  uint4 *halo = (uint4 *)(store + 1);
  int32_t *index = (int32_t *)(halo + capacity);
  return (tile_room){halo,
                     index,
                     (uint8_t *)(index + capacity),
                     store->atom + warp * MD_WARP,
                     store->self + warp * MD_WARP,
                     store->queue[warp],
                     store->bits[warp]};
}

/* What rounding may do to a sum of the tests at most, see tile_tests_gpu.h; nothing is certain
 * where sums, which are (2 farthest)^2 / 2 at most, may overflow. */
static __device__ __forceinline__ float margin_of(const tile_block *b)
{
  float size_sq = 0; /* from the origin to the corners of the box around all rows */
  for (int d = 0; d < 3; d++)
    size_sq += (b->hi[d] - b->lo[d]) * (b->hi[d] - b->lo[d]) / 4;
  const float farthest = (sqrtf(size_sq) + (float)b->job->reach) * b->job->inv_r;
  return farthest < 175 ? 0x1p-19f * farthest * (farthest + 1) : INFINITY;
}

static __device__ __forceinline__ void build_tile(const tile_job *job)
{
  extern __shared__ __align__(16) unsigned char shared[];
  cudaGridDependencySynchronize();
  tile_store *store = (tile_store *)shared;
  const int warp = threadIdx.x / MD_WARP;
  const int64_t r = (int64_t)blockIdx.x * TILE_ROWS + threadIdx.x;
  const bool present = r < job->n;
  const int32_t place = (int32_t)min(r, (int64_t)job->n - 1);
  const int32_t i = job->rows ? job->rows[place] : place;
  const tile_room room = room_in(store, job->room.capacity);
  tile_block b = {job, store, &room};
  tile_row row = {};
  store->atom[threadIdx.x] = present ? i : ABSENT;
  store->self[threadIdx.x] = UINT16_MAX;
  b.inv_reach = (float)(1 / job->reach);
  make_boxes(&b, job->x[i], &row);
  row.margin = margin_of(&b);
  gather_halo(&b, &row);
  if (present) job->count[r] = row.count;
  report(&b, &row);
  for (int32_t p = b.pass; p < job->room.passes; p++) {
    const neighbor_piece none = {};
    if (threadIdx.x == 0) job->halos[(int64_t)blockIdx.x * job->room.passes + p] = none;
    if (threadIdx.x % MD_WARP == 0)
      job->groups[((int64_t)blockIdx.x * TILE_WARPS + warp) * job->room.passes + p] = none;
  }
  close_build(job);
}

typedef void tile_kernel(tile_job job);
#define TILE(name, blocks)                                                                         \
  static __global__ void __launch_bounds__(TILE_ROWS, blocks) name(const tile_job job)             \
  {                                                                                                \
    build_tile(&job);                                                                              \
  }
TILE(tile_many, BLOCKS)
TILE(tile_few, FEW_BLOCKS)

/* The kernel for so many tiles: where both take as many rounds, threads have more registers. */
static md_status pick_kernel(int64_t tiles, tile_kernel **out)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const int64_t many = (int64_t)BLOCKS * processors, few = (int64_t)FEW_BLOCKS * processors;
  *out = (tiles + many - 1) / many < (tiles + few - 1) / few ? tile_many : tile_few;
  return MD_OK;
}

/* Room for a halo of so many entries in one pass, or for as many as 16 bits can tell apart. */
static int32_t halo_room(double entries)
{
  const double least = GATHERED * TILE_ROWS, most = MOST_HALO - FAR_ENTRIES;
  const int32_t held = (int32_t)fmin(fmax(entries, least), most);
  return (held + HALO_STEP - 1) / HALO_STEP * HALO_STEP + FAR_ENTRIES;
}

/* Rooms of the first build, of atoms spread evenly and tiles hardly longer than wide.  Atoms begin
 * on a lattice, and a list that does not fit later costs a build: so of many tiles some are
 * expected to take two passes, as in a liquid. */
static void guess_rooms(neighbor_list *list, const md_atoms *atoms, int64_t count)
{
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= atoms->box.hi[d] - atoms->box.lo[d];
  const double density = (double)atoms->n_total / volume, all = (double)(atoms->n + atoms->n_ghost);
  const double halo = fmin(neighbor_tile_halo(&list->spec, density), all);
  const double entries = fmin(neighbor_tile_entries(&list->spec, density), all);
  list->rooms.capacity = halo_room(halo);
  list->rooms.passes = count > FEW_TILES ? 2 : 1;
  list->rooms.halo = (int64_t)((double)count * halo) + TILE_ROWS;
  list->rooms.list =
      (int64_t)((double)(count * TILE_WARPS) * entries / NEIGHBOR_TILE_GROUP) + TILE_ROWS;
}

/* A little more than was needed, since atoms move. */
static int64_t with_margin(unsigned long long needed)
{
  return (int64_t)(needed + needed / 32 + TILE_ROWS);
}

/* Grow what was too small; false: nothing was.  A few halos that are larger than most are left to
 * further passes, so that the others can be at work beside each other. */
static bool grow_rooms(neighbor_rooms *room, const tile_result *found, int64_t count)
{
  const int32_t capacity = halo_room(HALO_MARGIN * (double)found->halos / (double)count);
  const int64_t pieces = count * TILE_WARPS * room->passes + (int64_t)found->further;
  bool grown = false;
  if (found->passes > 1 && capacity > room->capacity) room->capacity = capacity, grown = true;
  if (found->passes > room->passes && !grown) room->passes = found->passes, grown = true;
  if ((int64_t)found->halos > room->halo) room->halo = with_margin(found->halos), grown = true;
  if ((int64_t)found->groups > room->list) room->list = with_margin(found->groups), grown = true;
  if (pieces > room->pieces) room->pieces = with_margin((uint64_t)pieces), grown = true;
  return grown;
}

/* Room for a tile's largest pass, where forces keep it; grows by a little more than was needed, or
 * to all there may be where tiles take several passes, since those fill it. */
static void grow_most(neighbor_rooms *room, const tile_result *found)
{
  const int32_t most = found->most + 2 * TILE_BANKS;
  const int32_t grown = (most + most / 32 + HALO_STEP) / HALO_STEP * HALO_STEP;
  if (most > room->most) room->most = grown < room->capacity ? grown : room->capacity;
  if (room->passes > 1) room->most = room->capacity;
}

/* Room of just this size: these are the largest buffers of a run. */
static md_status make_room_for(md_ctx *ctx, md_buffer *buffer, size_t bytes)
{
  if (bytes > buffer->bytes) md_buffer_free(ctx, buffer);
  return md_buffer_reserve(ctx, buffer, bytes, 0);
}

static md_status run_tiles(neighbor_list *list, tile_job *job, int64_t count)
{
  md_ctx *ctx = list->ctx;
  neighbor_rooms *room = &list->rooms;
  job->n_first = count * TILE_WARPS * room->passes;
  if (room->pieces < job->n_first) room->pieces = job->n_first;
  MD_REQUIRE(room->pieces < INT32_MAX, MD_ECAPACITY,
             "a list by tiles in %lld pieces: at most %d are possible", (long long)room->pieces,
             INT32_MAX - 1);
  const size_t halos = (size_t)(count * room->passes);
  MD_TRY(make_room_for(ctx, &list->nbr, (size_t)room->list * MD_WARP * sizeof(uint4)));
  MD_TRY(make_room_for(ctx, &list->halo, (size_t)room->halo * sizeof(int32_t)));
  MD_TRY(md_buffer_reserve(ctx, &list->halos, halos * sizeof(neighbor_piece), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->groups, (size_t)room->pieces * sizeof(neighbor_piece), 0));
  job->room = *room;
  job->list = (uint4 *)list->nbr.data;
  job->halo = (int32_t *)list->halo.data;
  job->halos = (neighbor_piece *)list->halos.data;
  job->groups = (neighbor_piece *)list->groups.data;
  const size_t shared = shared_bytes(room->capacity);
  tile_kernel *kernel;
  MD_TRY(pick_kernel(count, &kernel));
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config =
      md_launch_config(ctx, dim3((unsigned)count), TILE_ROWS, true, &overlap);
  config.dynamicSmemBytes = shared;
  MD_CUDA(cudaLaunchKernelEx(&config, kernel, *job));
  return MD_OK;
}

static __global__ void invert_kernel(int32_t n, const int32_t *__restrict__ rows,
                                     int32_t *__restrict__ row_of)
{
  const int64_t r = md_thread();
  if (r < n) row_of[rows[r]] = (int32_t)r;
}

/* Where the rows' atoms are rows, unless rows are atoms. */
static md_status find_rows(neighbor_list *list, const md_atoms *atoms)
{
  if (!list->view.atom) return MD_OK;
  MD_TRY(md_buffer_reserve(list->ctx, &list->row_of, (size_t)atoms->n * sizeof(int32_t), 0));
  invert_kernel<<<md_blocks(atoms->n, TILE_ROWS), TILE_ROWS, 0, (cudaStream_t)list->ctx->stream>>>(
      (int32_t)atoms->n, list->view.atom, (int32_t *)list->row_of.data);
  MD_LAUNCHED();
  return MD_OK;
}

/* Room for what builds find. */
static md_status open_found(neighbor_list *list)
{
  MD_TRY(md_readback_open(&list->readback, sizeof(tile_result)));
  if (list->totals.data) return MD_OK;
  MD_TRY(md_buffer_reserve(list->ctx, &list->totals, sizeof(tile_totals), 0));
  return md_fill(list->ctx, list->totals.data, 0, sizeof(tile_totals));
}

static md_status open_tiles(neighbor_list *list, const md_atoms *atoms, int64_t count,
                            tile_job *job)
{
  md_ctx *ctx = list->ctx;
  MD_TRY(md_buffer_reserve(ctx, &list->count, (size_t)atoms->n * sizeof(int32_t), 0));
  MD_TRY(open_found(list));
  *job = (tile_job){};
  job->grid = bins_of(&list->near, true);
  job->n = (int32_t)atoms->n;
  job->r_sq = list->r_near * list->r_near;
  job->inv_r = (float)(1 / list->r_near);
  job->reach = (state)neighbor_reach(list);
  job->rows = list->view.atom;
  job->row_of = list->view.atom ? (const int32_t *)list->row_of.data : NULL;
  job->x = (const state4 *)list->x;
  job->sorted = (const state4 *)list->work.data;
  job->sorted_index = (const int32_t *)list->place.data;
  job->bin_start = (const int32_t *)list->bin_start.data;
  job->count = (int32_t *)list->count.data;
  job->totals = (tile_totals *)list->totals.data;
  job->result = &job->totals->now;
  return MD_OK;
}

void PREC(neighbor_gpu_close)(neighbor_list *list)
{
  md_readback_close(list->readback);
}

/* The list as force kernels read it, but for its totals. */
static void show_tiles(neighbor_list *list, const tile_job *job)
{
  list->tiles = (neighbor_tiles){};
  list->tiles.rows = TILE_ROWS;
  list->tiles.passes = list->rooms.passes;
  list->tiles.most = list->rooms.most;
  list->tiles.halo = job->halo;
  list->tiles.halos = job->halos;
  list->tiles.groups = job->groups;
  list->tiles.list = job->list;
  list->tiles.unfit = &job->totals->found.unfit;
  list->view.width = MD_WARP;
  list->view.count = job->count;
  list->view.tiles = &list->tiles;
}

static int64_t tiles_of(const md_atoms *atoms)
{
  return (atoms->n + TILE_ROWS - 1) / TILE_ROWS;
}

static md_status queue_tiles(neighbor_list *list, const md_atoms *atoms)
{
  tile_job job;
  MD_TRY(open_tiles(list, atoms, tiles_of(atoms), &job));
  MD_TRY(run_tiles(list, &job, tiles_of(atoms)));
  show_tiles(list, &job);
  return md_readback_queue(list->ctx, list->readback, &job.totals->found, sizeof job.totals->found);
}

md_status PREC(neighbor_gpu_tiles)(neighbor_list *list, const md_atoms *atoms)
{
  MD_TRY(find_rows(list, atoms));
  if (list->rooms.capacity == 0) guess_rooms(list, atoms, tiles_of(atoms));
  MD_TRY(queue_tiles(list, atoms));
  list->early = atoms;
  return MD_OK;
}

md_status PREC(neighbor_gpu_settle_tiles)(neighbor_list *list, bool *again)
{
  const md_atoms *atoms = list->early;
  const tile_result *found;
  for (;;) {
    const void *bytes;
    MD_TRY(md_readback_wait(list->readback, &bytes));
    found = (const tile_result *)bytes;
    const bool grown = grow_rooms(&list->rooms, found, tiles_of(atoms));
    grow_most(&list->rooms, found);
    if (found->unfit && again) *again = true;
    /* A list in use profits the next time.  One that is not is built again with the room that later
     * ones have: a halo in fewer passes is summed in another order, and a restart, whose first list
     * was a later one of the run, would differ in the last bits. */
    if (!grown || (again && !found->unfit)) break;
    MD_TRY(queue_tiles(list, atoms));
  }
  neighbor_tiles *tiles = &list->tiles;
  if (tiles->most < found->most + 2 * TILE_BANKS) tiles->most = list->rooms.most;
  tiles->unfit = NULL;
  tiles->n_halo = (int64_t)found->halos;
  tiles->n_list = (int64_t)found->groups;
  tiles->n_pieces = tiles_of(atoms) * TILE_WARPS * tiles->passes + (int64_t)found->further;
  list->view.n_entries = (int64_t)found->entries;
  list->view.max_count = found->row;
  return MD_OK;
}
