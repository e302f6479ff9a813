/* neighbor/gpu/build.prec.cu - lists as slices of 32 rows, one warp a slice (walk_gpu.h), or where
 * slices are few several, each with a part of what lies around.
 *
 * Rows are atoms in memory order, so the atoms of a slice lie close together when they are sorted
 * along a curve; both kinds of stencil give the same list, `sphere` visits fewer bins for it.  Rows
 * are written once, with room for `slots` entries guessed from the density or known from the last
 * build; a deeper row is counted to its end, and the list is built again with more room.  Entries
 * wait in shared memory until the warp writes whole lines: as scattered stores of 4 bytes they
 * would take 1 ms for a million atoms (and do, where rows are too deep for shared memory).
 *
 * Floor, per atom: 4 bytes for each of some 108 slots written, 0.1 ms for 2^20 atoms on an H200,
 * and 11,500 instructions a warp, 0.36 ms.  Measured: 0.50 ms in single, 0.68 in double (shared
 * memory 80 % busy), once in 20 steps. */
#include "core/gpu/readback_gpu.h"
#include "neighbor/gpu/walk_gpu.h"

enum {
  BLOCK = 256,
  SLOT_STEP = 4,
  MOST_SHARED = 96 << 10, /* bytes of a slice's rows; of a block that shares a slice: */
  MOST_SHARED_BY_PARTS = 220 << 10,
  MOST_PARTS = BLOCK / MD_WARP,
  BUSY_WARPS = 8 /* on a multiprocessor */
};

/* Atoms and ghosts in the order of bins, and what tells them from each other. */
typedef struct {
  int64_t n, all;
  const int32_t *place, *bin_start;
  const uint32_t *key;
  const int64_t *id, *ghost_id;
  const int32_t *home, *shift;
  bool by_id; /* those of one bin by id, images of one atom by shift */
} gather_names;

static __device__ __forceinline__ int64_t id_of(const gather_names *a, int32_t j)
{
  if (j < a->n) return a->id[j];
  const int32_t home = a->home[j - a->n];
  return home < 0 ? a->ghost_id[j - a->n] : a->id[home];
}

static __device__ __forceinline__ int32_t shift_of(const gather_names *a, int32_t j)
{
  return j < a->n ? 0 : a->shift[j - a->n];
}

/* Where atom j of a bin belongs in it: behind those of lower ids, each counted. */
static __device__ int64_t place_by_id(const gather_names *a, int32_t j)
{
  const uint32_t bin = a->key[j];
  const int64_t id = id_of(a, j);
  const int32_t shift = shift_of(a, j);
  int64_t to = a->bin_start[bin];
  for (int32_t k = a->bin_start[bin]; k < a->bin_start[bin + 1]; k++) {
    const int32_t other = a->place[k];
    const int64_t id_k = id_of(a, other);
    to += id_k < id || (id_k == id && shift_of(a, other) < shift);
  }
  return to;
}

/* Thread: one of them.  positive: ghosts of no positive shift are absent. */
static __global__ void gather_kernel(const gather_names a, bool positive,
                                     const state4 *__restrict__ x, state4 *__restrict__ sorted)
{
  const int64_t k = md_thread();
  if (k >= a.all) return;
  const int32_t j = a.place[k];
  const bool absent = positive && shift_of(&a, j) <= 0 && j >= a.n;
  sorted[a.by_id ? place_by_id(&a, j) : k] = candidate(x[j], absent ? ABSENT : j);
}

/* Totals of the list and where the slice begins. */
static __device__ __forceinline__ void close_slice(const build_job *job, int64_t slice,
                                                   unsigned entries, int32_t most)
{
  const int64_t size = (int64_t)job->slots * MD_WARP;
  job->start[slice] = slice * size;
  if ((slice + 1) * MD_WARP >= job->n) job->start[slice + 1] = (slice + 1) * size;
  atomicAdd(&job->result->entries, (unsigned long long)entries);
  atomicMax(&job->result->most, most);
}

/* Shared memory of a warp: its candidates, and its rows unless they are deep. */
static __host__ __device__ __forceinline__ size_t warp_bytes(int32_t slots, bool deep)
{
  const size_t rows = ((size_t)slots + UNROLL) * MD_WARP * sizeof(int32_t);
  return (STAGE + UNROLL) * sizeof(state4) + (deep ? 0 : rows);
}

/* Entries of the lane's row in all warps of the block; *before: in those before this one.  counts:
 * shared memory, one for each thread of several warps. */
static __device__ __forceinline__ int32_t count_all(int32_t *counts, int32_t mine, int32_t *before)
{
  const int lane = threadIdx.x % MD_WARP, warp = threadIdx.x / MD_WARP;
  int32_t all = 0;
  *before = 0;
  if (blockDim.x == MD_WARP) return mine;
  counts[threadIdx.x] = mine;
  __syncthreads();
  for (int w = 0; w < (int)blockDim.x / MD_WARP; w++) {
    if (w == warp) *before = all;
    all += counts[w * MD_WARP + lane];
  }
  return all;
}

/* The block, a slice. */
static __device__ __forceinline__ void build_slice(const build_job *job, build_mode mode)
{
  extern __shared__ __align__(32) unsigned char room[];
  const int lane = threadIdx.x % MD_WARP, warp = threadIdx.x / MD_WARP;
  const int parts = (int)blockDim.x / MD_WARP;
  const size_t own = warp_bytes(job->slots, mode.deep);
  const int64_t slice = blockIdx.x;
  const int rows = (int)min(job->n - slice * MD_WARP, (int64_t)MD_WARP);
  int32_t *list = job->nbr + slice * job->slots * MD_WARP + lane, before;
  state4 *stage = (state4 *)(room + warp * own);
  build_row row = {};
  row.to = mode.deep ? list : (int32_t *)(stage + STAGE + UNROLL) + lane;
  row.i = (int32_t)(slice * MD_WARP + min(lane, rows - 1));
  row.x = job->x[row.i];
  walk(job, MD_ALL_LANES >> (MD_WARP - rows), stage, &row, mode);
  const int32_t mine = row.at / MD_WARP + row.lost;
  const int32_t count = count_all((int32_t *)(room + parts * own), mine, &before);
  const bool last = warp == parts - 1;
  const int32_t first = mode.deep ? count : __reduce_min_sync(MD_ALL_LANES, before);
  const int32_t end = __reduce_max_sync(MD_ALL_LANES, before + mine);
  for (int32_t k = first; k < (last ? job->slots : min(end, job->slots)); k++)
    if (k >= before && k < before + mine)
      list[(int64_t)k * MD_WARP] = row.to[(k - before) * MD_WARP];
    else if (last && k >= count)
      list[(int64_t)k * MD_WARP] = row.i;
  if (warp > 0) return;
  if (lane < rows) job->count[row.i] = count;
  const int32_t most = __reduce_max_sync(MD_ALL_LANES, count);
  const unsigned entries = __reduce_add_sync(MD_ALL_LANES, (unsigned)count);
  if (lane == 0) close_slice(job, slice, entries, most);
}

typedef void build_kernel(build_job job);
#define BUILD(name, half, deep)                                                                    \
  static __global__ void __launch_bounds__(BLOCK, 1) name(const build_job job)                     \
  {                                                                                                \
    build_slice(&job, (build_mode){half, deep});                                                   \
  }
BUILD(full_kernel, false, false)
BUILD(full_deep_kernel, false, true)
BUILD(half_kernel, true, false)
BUILD(half_deep_kernel, true, true)
static build_kernel *const kernels[2][2] = {{full_kernel, full_deep_kernel},
                                            {half_kernel, half_deep_kernel}};

/* A row of a liquid at this density holds about so many entries, and hardly a fourth more. */
static int32_t guess_slots(const neighbor_list *list, const md_atoms *atoms)
{
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= atoms->box.hi[d] - atoms->box.lo[d];
  const double r = list->spec.r_list;
  const double full = 4.0 / 3.0 * 3.14159265358979 * r * r * r * (double)atoms->n_total / volume;
  const double row = 1.25 * (list->spec.kind == NEIGHBOR_HALF ? full / 2 : full) + 8;
  const double all = (double)(atoms->n + atoms->n_ghost);
  return (int32_t)fmin(row, all) / SLOT_STEP * SLOT_STEP + SLOT_STEP;
}

/* Warps that share a slice: as many as are at work at once, and have room. */
static md_status choose_parts(int64_t slices, size_t of_warp, bool deep, int32_t *parts)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  *parts = 1;
  while (!deep && *parts < MOST_PARTS && 2 * *parts * slices <= (int64_t)BUSY_WARPS * processors &&
         2 * (size_t)*parts * of_warp <= MOST_SHARED_BY_PARTS)
    *parts *= 2;
  return MD_OK;
}

/* Room for a list of this many slots a row, and the kernel that fills it. */
static md_status run_build(neighbor_list *list, build_job *job)
{
  md_ctx *ctx = list->ctx;
  MD_REQUIRE(list->slots < INT32_MAX / MD_WARP - UNROLL, MD_ECAPACITY,
             "an atom has %d neighbours or more: at most %d are possible", list->slots,
             INT32_MAX / MD_WARP - UNROLL - 1);
  const int64_t slices = ((int64_t)job->n + MD_WARP - 1) / MD_WARP;
  const size_t bytes = (size_t)slices * (size_t)list->slots * MD_WARP * sizeof(int32_t);
  MD_TRY(md_buffer_reserve(ctx, &list->nbr, bytes, 0));
  job->nbr = (int32_t *)list->nbr.data;
  job->slots = list->slots;
  MD_TRY(md_fill(ctx, job->result, 0, sizeof *job->result));
  const bool deep = ((size_t)job->slots + UNROLL) * MD_WARP * sizeof(int32_t) > MOST_SHARED;
  const size_t of_warp = warp_bytes(job->slots, deep);
  int32_t parts;
  MD_TRY(choose_parts(slices, of_warp, deep, &parts));
  const size_t counts = parts > 1 ? (size_t)parts * MD_WARP * sizeof(int32_t) : 0;
  const size_t shared = (size_t)parts * of_warp + counts;
  build_kernel *const kernel = kernels[list->spec.kind == NEIGHBOR_HALF][deep];
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(unsigned)slices, parts * MD_WARP, shared, (cudaStream_t)ctx->stream>>>(*job);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(neighbor_gpu_gather)(neighbor_list *list, const md_atoms *atoms)
{
  const int64_t all = atoms->n + atoms->n_ghost;
  const bool full = list->spec.kind == NEIGHBOR_FULL;
  const gather_names names = {atoms->n,
                              all,
                              (const int32_t *)list->place.data,
                              (const int32_t *)list->bin_start.data,
                              (const uint32_t *)list->key.data,
                              (const int64_t *)atoms->id.data,
                              (const int64_t *)atoms->ghost_id.data,
                              (const int32_t *)atoms->home.data,
                              (const int32_t *)atoms->shift.data,
                              full && list->ctx->deterministic};
  MD_TRY(md_buffer_reserve(list->ctx, &list->work, (size_t)all * sizeof(state4), 0));
  gather_kernel<<<md_blocks(all, BLOCK), BLOCK, 0, (cudaStream_t)list->ctx->stream>>>(
      names, list->spec.kind == NEIGHBOR_HALF && list->spec.newton, (const state4 *)list->x,
      (state4 *)list->work.data);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status open_job(neighbor_list *list, const md_atoms *atoms, build_job *job)
{
  md_ctx *ctx = list->ctx;
  const size_t slices = (size_t)(atoms->n + MD_WARP - 1) / MD_WARP;
  MD_TRY(md_buffer_reserve(ctx, &list->start, (slices + 1) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->count, (size_t)atoms->n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->result, sizeof *job->result, 0));
  *job = (build_job){};
  job->grid = bins_of(&list->grid, true);
  job->n = (int32_t)atoms->n;
  job->r_sq = (state)(list->r_near * list->r_near);
  job->reach = (state)neighbor_reach(list);
  job->sphere = list->spec.stencil == NEIGHBOR_SPHERE;
  job->x = (const state4 *)list->x;
  job->sorted = (const state4 *)list->work.data;
  job->bin_start = (const int32_t *)list->bin_start.data;
  job->count = (int32_t *)list->count.data;
  job->start = (int64_t *)list->start.data;
  job->result = (build_result *)list->result.data;
  return MD_OK;
}

/* A list, what it found on its way to the host. */
static md_status queue_build(neighbor_list *list, const md_atoms *atoms)
{
  build_job job;
  MD_TRY(open_job(list, atoms, &job));
  MD_TRY(md_readback_open(&list->readback, sizeof *job.result));
  MD_TRY(run_build(list, &job));
  list->view.width = MD_WARP;
  list->view.start = job.start;
  list->view.nbr = job.nbr;
  list->view.count = job.count;
  return md_readback_queue(list->ctx, list->readback, job.result, sizeof *job.result);
}

md_status PREC(neighbor_gpu_build)(neighbor_list *list, const md_atoms *atoms)
{
  MD_TRY(PREC(neighbor_gpu_gather)(list, atoms));
  if (list->slots == 0) list->slots = guess_slots(list, atoms);
  MD_TRY(queue_build(list, atoms));
  list->early = atoms;
  return MD_OK;
}

md_status PREC(neighbor_gpu_settle_rows)(neighbor_list *list, bool *again)
{
  const void *found = NULL;
  MD_TRY(md_readback_wait(list->readback, &found));
  const int32_t most = ((const build_result *)found)->most;
  if (most > list->slots) {
    const int64_t slots = (int64_t)most + most / 16 + 2 * SLOT_STEP;
    list->slots = (int32_t)(slots < INT32_MAX ? slots : INT32_MAX) / SLOT_STEP * SLOT_STEP;
    if (again) *again = true;
    MD_TRY(queue_build(list, list->early));
    MD_TRY(md_readback_wait(list->readback, &found));
  }
  list->view.n_entries = (int64_t)((const build_result *)found)->entries;
  list->view.max_count = ((const build_result *)found)->most;
  return MD_OK;
}
