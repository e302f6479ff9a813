/* spread/gpu/sort.prec.cu - locating particles on the GPU, and sorting them by cell or pencil.
 *
 * A counting sort: every particle counts itself under its key and remembers how many came before
 * it, running sums turn counts into first places, and records go straight to theirs: three kernels
 * and, for few particles, mostly their launches.  The order within a key is that of the atomics, so
 * deterministic plans take a stable radix sort (ordering/) for it.  Bytes a particle: positions
 * read twice, rank written and read, record written.
 *
 * Where nothing has to grow, positions are checked while they are counted, and what is sorted goes
 * beside what the plan holds until all are known to be good.  Those in the given order are checked
 * by a kernel before the one that writes, and the host waits once for both. */
#include "core/gpu/launch_gpu.h"
#include "spread/pencil.h"

enum { BLOCK = 256 };

/* Where a particle lies. */
typedef struct {
  int32_t cell[3];
  double f[3];
} place;

static __device__ __forceinline__ place locate(const spread_grid &grid, const state *x)
{
  place to;
  for (int a = 0; a < 3; a++)
    to.cell[a] = spread_locate(&grid, a, (double)x[a], &to.f[a]);
  return to;
}

static __device__ __forceinline__ uint32_t point_of(const spread_grid &grid, const place &at)
{
  return ((uint32_t)at.cell[0] * (uint32_t)grid.mesh[1] + (uint32_t)at.cell[1]) *
             (uint32_t)grid.mesh[2] +
         (uint32_t)at.cell[2];
}

/* Where positions that have no place are reported: the lowest number, after that of
 * the call where calls do not wait; `here` for kernels that look, NULL: all are known to be good,
 * and `host` for the host, which reads nothing else. */
typedef struct {
  unsigned long long *here, *host;
  unsigned long long call;
  bool keep; /* leave what was sorted before if there are any; else they stand in the first cell */
} position_check;

static __device__ __forceinline__ void
check_position(const spread_grid &grid, const position_check &w, const state *x, int64_t i)
{
  bool good = true;
  for (int a = 0; a < 3; a++)
    good = good && spread_locatable(&grid, a, (double)x[a]);
  if (good) return;
  atomicMin(w.here, w.call << 32 | (unsigned long long)i);
  atomicMin(w.host, w.call << 32 | (unsigned long long)i);
}

static __device__ __forceinline__ bool keeps_old(const position_check &w)
{
  return w.keep && *w.here != SPREAD_NONE_BAD;
}

/* Thread: one particle. */
static __global__ void check_kernel(int64_t n, const state *__restrict__ x, int64_t stride,
                                    spread_grid grid, position_check w)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = md_thread();
  if (i < n) check_position(grid, w, x + i * stride, i);
}

/* Where particles go: the mesh, and its pencils if they are sorted by pencil. */
typedef struct {
  spread_grid grid;
  spread_pencils pencils;
  bool by_pencil;
  uint32_t *block_key; /* of every 32nd particle in a pencil */
  position_check check;
} sorting;

static __device__ __forceinline__ uint32_t key_of(const sorting &s, const place &at)
{
  if (!s.by_pencil) return point_of(s.grid, at);
  const int32_t pencil =
      at.cell[1] / s.pencils.cells[0] * s.pencils.n[1] + at.cell[2] / s.pencils.cells[1];
  return (uint32_t)pencil * (uint32_t)s.grid.mesh[0] + (uint32_t)at.cell[0];
}

/* Thread: one particle.  count[key] becomes their number; key and rank, the number of particles
 * that counted themselves before, are written if wanted. */
static __global__ void count_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                    sorting s, int32_t *__restrict__ count,
                                    int32_t *__restrict__ rank, uint32_t *__restrict__ key)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = md_thread();
  if (i >= n) return;
  if (s.check.here) check_position(s.grid, s.check, x + i * stride, i);
  const uint32_t mine = key_of(s, locate(s.grid, x + i * stride));
  const int32_t before = atomicAdd(count + mine, 1);
  if (rank) rank[i] = before;
  if (key) key[i] = mine;
}

/* What the layout remembers of particle `from`. */
static __device__ __forceinline__ pencil_particle pencil_record(const sorting &s, const place &at,
                                                                int32_t from)
{
  return pencil_pack(at.f, (uint32_t)(at.cell[1] % s.pencils.cells[0]),
                     (uint32_t)(at.cell[2] % s.pencils.cells[1]), (uint32_t)from);
}

static __device__ __forceinline__ spread_particle point_record(const sorting &s, const place &at)
{
  spread_particle particle;
  for (int a = 0; a < 3; a++)
    particle.f[a] = (real)at.f[a];
  particle.word = point_of(s.grid, at);
  return particle;
}

/* Warp: a record from every lane, to < 0: none.  Neighbouring lanes write one record, so that no
 * sector of memory is written in parts. */
enum { RECORD_PARTS = sizeof(pencil_particle) / sizeof(int4) };
static __device__ __forceinline__ void write_records(const void *mine, int32_t to, int4 *records)
{
  __shared__ int4 staged[BLOCK * RECORD_PARTS];
  const int lane = threadIdx.x % MD_WARP;
  int4 *of_warp = staged + (threadIdx.x - lane) * RECORD_PARTS;
  for (int k = 0; k < RECORD_PARTS; k++)
    of_warp[lane * RECORD_PARTS + k] = ((const int4 *)mine)[k];
  __syncwarp();
  for (int k = 0; k < RECORD_PARTS; k++) {
    const int at = k * MD_WARP + lane;
    const int32_t place = __shfl_sync(MD_ALL_LANES, to, at / RECORD_PARTS);
    if (place >= 0) records[(int64_t)place * RECORD_PARTS + at % RECORD_PARTS] = of_warp[at];
  }
}

/* Warp: what the layout remembers of particle `from` at a place; to < 0: of none. */
static __device__ __forceinline__ void write_record(const sorting &s, const place &at, int32_t to,
                                                    int32_t from, void *records)
{
  if (s.by_pencil) {
    const pencil_particle particle = pencil_record(s, at, from);
    if (to >= 0 && to % MD_WARP == 0) s.block_key[to / MD_WARP] = key_of(s, at);
    if (RECORD_PARTS > 1)
      write_records(&particle, to, (int4 *)records);
    else if (to >= 0)
      ((pencil_particle *)records)[to] = particle;
  } else if (to >= 0) {
    ((spread_particle *)records)[to] = point_record(s, at);
  }
}

/* Thread: one particle, to the place that its key and rank say. */
static __global__ void scatter_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                      sorting s, const int32_t *start, const int32_t *rank,
                                      int32_t *order, void *records)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = md_thread() < n ? md_thread() : n - 1;
  const place at = locate(s.grid, x + i * stride);
  cudaGridDependencySynchronize();
  if (keeps_old(s.check)) return;
  const int32_t to = md_thread() < n ? start[key_of(s, at)] + rank[i] : -1;
  write_record(s, at, to, (int32_t)i, records);
  if (order && to >= 0) order[to] = (int32_t)i;
}

/* Thread: one place; order NULL: the given one, in which positions that are not kept if there are
 * bad ones are looked at here. */
static __global__ void record_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                     sorting s, const int32_t *__restrict__ order, void *records)
{
  const int64_t i = md_thread() < n ? md_thread() : n - 1;
  const int32_t from = order ? order[i] : (int32_t)i, to = md_thread() < n ? (int32_t)i : -1;
  const place at = locate(s.grid, x + from * stride);
  cudaGridDependencySynchronize();
  if (keeps_old(s.check)) return;
  if (s.check.here && !s.check.keep && !order) check_position(s.grid, s.check, x + i * stride, i);
  write_record(s, at, to, from, records);
}

static position_check check_of(const spread_plan *plan)
{
  const spread_counter *c = &plan->counter;
  const position_check w = {
      c->check_mode == SPREAD_CHECK_BEFORE ? NULL : (unsigned long long *)c->bad.data,
      (unsigned long long *)c->deferred_bad, c->check_mode == SPREAD_CHECK_DEFERRED ? c->call : 0u,
      c->check_mode == SPREAD_CHECK_SORTING};
  return w;
}

md_status PREC(spread_gpu_check)(spread_plan *plan, int64_t n, const void *positions,
                                 int64_t stride, int64_t *bad)
{
  md_ctx *ctx = plan->ctx;
  position_check w = check_of(plan);
  w.here = (unsigned long long *)plan->counter.bad.data;
  check_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      n, (const state *)positions, stride, plan->grid, w);
  MD_LAUNCHED();
  MD_TRY(md_ctx_sync(ctx));
  return spread_gpu_deferred_bad(plan, bad);
}

/* Keys of the layout. */
static int64_t keys_of(const sorting &s)
{
  return s.by_pencil ? pencils_keys(&s.grid, &s.pencils) : s.grid.points;
}

/* Count under every key, then running sums: the counter's `start`.  Ranks go to scratch[0], keys to
 * scratch[1], whichever is wanted. */
static md_status count_keys(spread_plan *plan, const spread_part *part, const state *x,
                            int64_t stride, const sorting &s, bool keys_wanted)
{
  md_ctx *ctx = plan->ctx;
  const int32_t n = part->n;
  md_buffer *scratch = &plan->scratch[keys_wanted];
  MD_TRY(md_buffer_reserve(ctx, scratch, (size_t)n * sizeof(int32_t), 0));
  MD_TRY(spread_gpu_reserve_keys(plan, keys_of(s)));
  count_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      n, x, stride, s, (int32_t *)plan->counter.count.data,
      keys_wanted ? NULL : (int32_t *)scratch->data,
      keys_wanted ? (uint32_t *)scratch->data : NULL);
  MD_LAUNCHED();
  return spread_gpu_sum_keys(plan, keys_of(s));
}

static md_status sort_records(spread_plan *plan, spread_part *part, const state *x, int64_t stride,
                              const sorting &s)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int32_t n = part->n;
  const unsigned blocks = md_blocks(n, BLOCK);
  md_buffer *buffer = part->buffer;
  const bool stable = ctx->deterministic, ordered = stable || !s.by_pencil;
  if (ordered)
    MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ORDER], (size_t)n * sizeof(int32_t), 0));
  MD_TRY(count_keys(plan, part, x, stride, s, stable));
  int32_t *order = ordered ? (int32_t *)buffer[SPREAD_ORDER].data : NULL;
  void *records = buffer[SPREAD_RECORD].data;
  if (stable) {
    MD_TRY(ordering_sort(plan->sorter, n, (const uint32_t *)plan->scratch[1].data,
                         (uint32_t)keys_of(s), order, NULL));
    record_kernel<<<blocks, BLOCK, 0, stream>>>(n, x, stride, s, order, records);
  } else {
    cudaLaunchAttribute overlap;
    const cudaLaunchConfig_t config = md_launch_config(ctx, dim3(blocks), BLOCK, true, &overlap);
    MD_CUDA(cudaLaunchKernelEx(&config, scatter_kernel, n, x, stride, s,
                               (const int32_t *)plan->counter.start.data,
                               (const int32_t *)plan->scratch[0].data, order, records));
  }
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(spread_gpu_sort)(spread_plan *plan, spread_part *part, const void *positions,
                                int64_t stride)
{
  md_ctx *ctx = plan->ctx;
  const state *x = (const state *)positions;
  const int32_t n = part->n;
  sorting s = {plan->grid, plan->pencils, plan->layout == SPREAD_PENCILS, NULL, check_of(plan)};
  md_buffer *record = &part->buffer[SPREAD_RECORD];
  const size_t item = s.by_pencil ? sizeof(pencil_particle) : sizeof(spread_particle);
  MD_TRY(md_buffer_reserve(ctx, record, (size_t)n * item, 0));
  if (s.by_pencil) {
    md_buffer *key = &part->buffer[SPREAD_EXTRA];
    MD_TRY(md_buffer_reserve(ctx, key, (size_t)(n / MD_WARP + 1) * sizeof(uint32_t), 0));
    s.block_key = (uint32_t *)key->data;
  }
  if (plan->layout != SPREAD_GIVEN) return sort_records(plan, part, x, stride, s);
  const unsigned blocks = md_blocks(n, BLOCK);
  const bool keep = s.check.keep;
  if (keep) {
    check_kernel<<<blocks, BLOCK, 0, (cudaStream_t)ctx->stream>>>(n, x, stride, s.grid, s.check);
    MD_LAUNCHED();
  }
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config = md_launch_config(ctx, dim3(blocks), BLOCK, keep, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, record_kernel, n, x, stride, s, (const int32_t *)NULL,
                             record->data));
  return MD_OK;
}
