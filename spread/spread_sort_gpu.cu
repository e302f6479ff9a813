/* spread/spread_sort_gpu.cu - locating particles on the GPU, and sorting them by cell or pencil.
 *
 * A counting sort: every particle counts itself under its key and remembers how many came before
 * it, running sums turn counts into first places, and records go straight to theirs.  The order
 * within a key is that of the atomics, so deterministic plans take a stable radix sort (ordering/)
 * for it.  Bytes a particle: positions read three times, rank written and read, record written. */
#include "core/cuda.h"
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

/* Thread: one particle. */
static __global__ void check_kernel(int64_t n, const state *__restrict__ x, int64_t stride,
                                    spread_grid grid, unsigned long long *bad)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  bool good = true;
  for (int a = 0; a < 3; a++)
    good = good && spread_locatable(&grid, a, (double)x[i * stride + a]);
  if (!good) atomicMin(bad, (unsigned long long)i);
}

/* Where particles go: the mesh, and its pencils if they are sorted by pencil. */
typedef struct {
  spread_grid grid;
  spread_pencils pencils;
  bool by_pencil;
  uint32_t *block_key; /* of every 32nd particle in a pencil */
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
  const int64_t i = md_thread();
  if (i >= n) return;
  const uint32_t mine = key_of(s, locate(s.grid, x + i * stride));
  const int32_t before = atomicAdd(count + mine, 1);
  if (rank) rank[i] = before;
  if (key) key[i] = mine;
}

/* What the layout remembers of particle `from` at a place. */
static __device__ __forceinline__ void write_record(const sorting &s, const place &at, int32_t to,
                                                    int32_t from, void *records)
{
  if (s.by_pencil) {
    if (to % MD_WARP == 0) s.block_key[to / MD_WARP] = key_of(s, at);
    ((pencil_particle *)records)[to] =
        pencil_pack(at.f, (uint32_t)(at.cell[1] % s.pencils.cells[0]),
                    (uint32_t)(at.cell[2] % s.pencils.cells[1]), (uint32_t)from);
    return;
  }
  spread_particle particle;
  for (int a = 0; a < 3; a++)
    particle.f[a] = (real)at.f[a];
  particle.word = point_of(s.grid, at);
  ((spread_particle *)records)[to] = particle;
}

/* Thread: one particle, to the place that its key and rank say. */
static __global__ void scatter_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                      sorting s, const int32_t *__restrict__ start,
                                      const int32_t *__restrict__ rank, int32_t *__restrict__ order,
                                      void *records)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const place at = locate(s.grid, x + i * stride);
  const int32_t to = start[key_of(s, at)] + rank[i];
  write_record(s, at, to, (int32_t)i, records);
  if (order) order[to] = (int32_t)i;
}

/* Thread: one place; order NULL: the given one. */
static __global__ void record_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                     sorting s, const int32_t *__restrict__ order, void *records)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const int32_t from = order ? order[i] : (int32_t)i;
  write_record(s, locate(s.grid, x + from * stride), (int32_t)i, from, records);
}

md_status PREC(spread_gpu_check)(spread_plan *plan, int64_t n, const void *positions,
                                 int64_t stride, int64_t *bad)
{
  md_ctx *ctx = plan->ctx;
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[0], sizeof(uint64_t), 0));
  unsigned long long *lowest = (unsigned long long *)plan->scratch[0].data, found = 0;
  MD_TRY(md_fill(ctx, lowest, 0xff, sizeof *lowest));
  check_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      n, (const state *)positions, stride, plan->grid, lowest);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, &found, lowest, sizeof found));
  *bad = found < (unsigned long long)n ? (int64_t)found : n;
  return MD_OK;
}

/* Count under every key, then running sums: SPREAD_START.  Ranks go to scratch[0], keys to
 * scratch[1], whichever is wanted. */
static md_status count_keys(spread_plan *plan, spread_part *part, const state *x, int64_t stride,
                            const sorting &s, bool keys_wanted)
{
  md_ctx *ctx = plan->ctx;
  const int32_t n = part->n;
  const int64_t keys = s.by_pencil ? pencils_keys(&s.grid, &s.pencils) : s.grid.points;
  md_buffer *start = &part->buffer[SPREAD_START], *scratch = &plan->scratch[keys_wanted];
  const size_t bytes = (size_t)(keys + 1) * sizeof(int32_t);
  MD_TRY(md_buffer_reserve(ctx, start, bytes, 0));
  MD_TRY(md_buffer_reserve(ctx, scratch, (size_t)n * sizeof(int32_t), 0));
  MD_TRY(md_fill(ctx, start->data, 0, bytes));
  count_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      n, x, stride, s, (int32_t *)start->data, keys_wanted ? NULL : (int32_t *)scratch->data,
      keys_wanted ? (uint32_t *)scratch->data : NULL);
  MD_LAUNCHED();
  return spread_gpu_scan_int32(ctx, &plan->scratch[2], (int32_t *)start->data, keys + 1);
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
  MD_TRY(count_keys(plan, part, x, stride, s, stable));
  if (ordered)
    MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ORDER], (size_t)n * sizeof(int32_t), 0));
  int32_t *order = ordered ? (int32_t *)buffer[SPREAD_ORDER].data : NULL;
  void *records = buffer[SPREAD_RECORD].data;
  if (stable) {
    const int64_t keys = s.by_pencil ? pencils_keys(&s.grid, &s.pencils) : s.grid.points;
    MD_TRY(ordering_sort(plan->sorter, n, (const uint32_t *)plan->scratch[1].data, (uint32_t)keys,
                         order, NULL));
    record_kernel<<<blocks, BLOCK, 0, stream>>>(n, x, stride, s, order, records);
  } else {
    scatter_kernel<<<blocks, BLOCK, 0, stream>>>(
        n, x, stride, s, (const int32_t *)buffer[SPREAD_START].data,
        (const int32_t *)plan->scratch[0].data, order, records);
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
  sorting s = {plan->grid, plan->pencils, plan->layout == SPREAD_PENCILS, NULL};
  md_buffer *record = &part->buffer[SPREAD_RECORD];
  const size_t item = s.by_pencil ? sizeof(pencil_particle) : sizeof(spread_particle);
  MD_TRY(md_buffer_reserve(ctx, record, (size_t)n * item, 0));
  if (s.by_pencil) {
    md_buffer *key = &part->buffer[SPREAD_EXTRA];
    MD_TRY(md_buffer_reserve(ctx, key, (size_t)(n / MD_WARP + 1) * sizeof(uint32_t), 0));
    s.block_key = (uint32_t *)key->data;
  }
  if (plan->layout != SPREAD_GIVEN) return sort_records(plan, part, x, stride, s);
  record_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(n, x, stride, s, NULL,
                                                                              record->data);
  MD_LAUNCHED();
  return MD_OK;
}
