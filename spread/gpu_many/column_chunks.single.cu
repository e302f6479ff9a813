/* spread/gpu_many/column_chunks.single.cu - the particles that reach each column of the mesh, in
 * chunks, for spreading of many vectors (spread_columns.single.cu).
 *
 * A warp looks at a plane of a column: at the particles of that plane in all pencils (pencil.h)
 * that hold cells from which the column is reached.  Once to count, again to write them, sorted by
 * row.
 *
 * Bytes: at order 6 twice 4.4 records a particle read, from the cache, and 2.1 written. */
#include "spread/gpu_many/column_chunks_gpu.h"

enum { BLOCK = 256, BLOCK_WARPS = BLOCK / MD_WARP };

/* The sorted particles. */
typedef struct {
  const pencil_particle *particle;
  const int32_t *start; /* first particle of each plane of a pencil */
  spread_pencils pencils;
  column_grid grid;
} sorted_view;

/* Along an axis: the first cell that reaches a column, the first pencil that holds such cells and
 * how many do. */
typedef struct {
  int32_t from, pencil, pencils;
} reach;

static __device__ __forceinline__ reach find_reach(int order, const sorted_view &view, int axis,
                                                   const column_place &at)
{
  const int32_t mesh = view.grid.mesh[axis + 1], cells = view.pencils.cells[axis];
  const int32_t n = view.pencils.n[axis], length = at.points[axis] + order - 1;
  const int32_t before = at.origin[axis] - (order - 1);
  reach to = {before < 0 ? before + mesh : before, 0, n};
  if (length + cells > mesh) return to;
  to.pencil = to.from / cells;
  to.pencils = ((to.from + length - 1) % mesh / cells - to.pencil + n) % n + 1;
  return to;
}

/* What a warp looks at.  Of the lane: the cell, counted from the first that reaches the column,
 * where its pencil begins, its first particle in the plane less those of lanes below, and how many
 * there are up to its last one. */
typedef struct {
  int32_t cell[2], begin, inclusive, total, points[2];
} plane_look;

/* Lane s looks after pencil s of those that hold such cells, never more than lanes: 5 by 6 at order
 * 10, 3 by 9 at order 6. */
static __device__ __forceinline__ plane_look look_at_plane(int order, const sorted_view &view,
                                                           const column_place &at, int32_t plane)
{
  const reach side[2] = {find_reach(order, view, 0, at), find_reach(order, view, 1, at)};
  const int32_t index[2] = {warp_lane() / side[1].pencils, warp_lane() % side[1].pencils};
  plane_look look = {};
  int32_t number[2];
  SPREAD_UNROLL
  for (int a = 0; a < 2; a++) {
    number[a] = (side[a].pencil + index[a]) % view.pencils.n[a];
    const int32_t cell = number[a] * view.pencils.cells[a] - side[a].from;
    look.cell[a] = cell < 0 ? cell + view.grid.mesh[a + 1] : cell;
    look.points[a] = at.points[a];
  }
  int32_t count = 0;
  if (index[0] < side[0].pencils) {
    const int64_t pencil = (int64_t)number[0] * view.pencils.n[1] + number[1];
    const int32_t *start = view.start + pencil * view.grid.mesh[0] + plane;
    look.begin = start[0];
    count = start[1] - start[0];
  }
  look.inclusive = inclusive_sum(count);
  look.begin -= look.inclusive - count;
  look.total = __shfl_sync(MD_ALL_LANES, look.inclusive, MD_WARP - 1);
  return look;
}

/* Warp: particle `number` of the plane, of each lane, as it is in a chunk; false: it does not reach
 * the column, or there is none. */
static __device__ __forceinline__ bool fetch(int order, const sorted_view &view,
                                             const plane_look &look, int32_t number,
                                             pencil_particle *to)
{
  int lane = 0;
  SPREAD_UNROLL
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    if (__shfl_sync(MD_ALL_LANES, look.inclusive, lane + step - 1) <= number) lane += step;
  const int32_t begin = __shfl_sync(MD_ALL_LANES, look.begin, lane);
  int32_t cell[2];
  SPREAD_UNROLL
  for (int a = 0; a < 2; a++)
    cell[a] = __shfl_sync(MD_ALL_LANES, look.cell[a], lane);
  if (number >= look.total) return false;
  *to = view.particle[begin + number];
  real f[3];
  uint32_t offset[2];
  pencil_unpack(to, f, &offset[0], &offset[1]);
  bool reaches = true;
  SPREAD_UNROLL
  for (int a = 0; a < 2; a++) {
    cell[a] += (int32_t)offset[a];
    if (cell[a] >= view.grid.mesh[a + 1]) cell[a] -= view.grid.mesh[a + 1];
    reaches = reaches && cell[a] < look.points[a] + order - 1;
  }
  put_cell({cell[0], cell[1]}, to);
  return reaches;
}

/* Numbers of particles and of chunks, in one. */
enum { CHUNKS_SHIFT = 34 };
#define PARTICLES_MASK (((int64_t)1 << CHUNKS_SHIFT) - 1)

/* Warp: how many particles reach a plane of a column, and in how many chunks. */
static __global__ void __launch_bounds__(BLOCK)
    count_kernel(sorted_view view, int order, int64_t n, int64_t *counts)
{
  const int64_t number = md_thread() / MD_WARP, planes = view.grid.mesh[0];
  if (number >= n) return;
  const column_place at = number_column(view.grid, number / planes);
  const plane_look look = look_at_plane(order, view, at, (int32_t)(number % planes));
  int64_t count = 0;
  for (int32_t first = 0; first < look.total; first += MD_WARP) {
    pencil_particle unused;
    const bool reaches = fetch(order, view, look, first + warp_lane(), &unused);
    count += __popc(__ballot_sync(MD_ALL_LANES, reaches));
  }
  const int64_t least = number % planes % CHUNK_EVERY == 0;
  const int64_t chunks = max((count + CHUNK - 1) / CHUNK, least);
  if (warp_lane() == 0) counts[number] = chunks << CHUNKS_SHIFT | count;
}

/* Warp: the first n listed particles become a chunk. */
static __device__ __forceinline__ void write_chunk(const pencil_particle *list, int32_t n,
                                                   int32_t rows[CHUNK_ROWS], column_chunk *chunk,
                                                   pencil_particle *particles, uint32_t *index)
{
  int32_t rank[(CHUNK + MD_WARP - 1) / MD_WARP];
  rows[warp_lane()] = 0;
  __syncwarp();
  SPREAD_UNROLL
  for (int k = 0; k < CHUNK; k += MD_WARP)
    if (k + warp_lane() < n)
      rank[k / MD_WARP] = atomicAdd(rows + cell_of(list[k + warp_lane()]).row, 1);
  __syncwarp();
  const int32_t count = rows[warp_lane()], inclusive = inclusive_sum(count);
  chunk->inclusive[warp_lane()] = (uint16_t)inclusive;
  __syncwarp();
  rows[warp_lane()] = inclusive - count;
  __syncwarp();
  SPREAD_UNROLL
  for (int k = 0; k < CHUNK; k += MD_WARP)
    if (k + warp_lane() < n) {
      const pencil_particle mine = list[k + warp_lane()];
      const int32_t to = rows[cell_of(mine).row] + rank[k / MD_WARP];
      particles[to] = mine;
      index[to] = mine.index;
    }
  __syncwarp();
}

/* Warp: what the last chunk of a plane has done. */
static __device__ __forceinline__ int32_t find_done(int order, const int64_t *before, int32_t left)
{
  const int lane = warp_lane();
  const bool any =
      lane > 0 && lane < left && before[lane] >> CHUNKS_SHIFT < before[lane + 1] >> CHUNKS_SHIFT;
  const unsigned all = __ballot_sync(MD_ALL_LANES, any);
  return all ? __ffs((int)all) - 1 : max(order, left);
}

/* Warp: write a plane's chunks where the numbers of those before say.  Each takes every so many-th
 * particle, so that all have particles of all rows, as their warps wait for each other.  One of
 * none, too, begins with a particle that is there. */
static __global__ void __launch_bounds__(BLOCK)
    list_kernel(sorted_view view, int order, int64_t n, const int64_t *before, column_chunk *chunk,
                pencil_particle *particles, uint32_t *index)
{
  __shared__ pencil_particle lists[BLOCK_WARPS][CHUNK + MD_WARP];
  __shared__ int32_t rows[BLOCK_WARPS][CHUNK_ROWS];
  const int64_t number = md_thread() / MD_WARP, planes = view.grid.mesh[0];
  if (number >= n) return;
  const column_place at = number_column(view.grid, number / planes);
  const int32_t plane = (int32_t)(number % planes);
  const plane_look look = look_at_plane(order, view, at, plane);
  pencil_particle *list = lists[threadIdx.x / MD_WARP];
  const int32_t done = find_done(order, before + number, view.grid.mesh[0] - plane);
  const int64_t all_particles = before[n] & PARTICLES_MASK;
  int64_t first = before[number] & PARTICLES_MASK;
  int64_t next = before[number] >> CHUNKS_SHIFT;
  const int64_t end = before[number + 1] >> CHUNKS_SHIFT;
  const int32_t stride = max((int32_t)(end - next), 1), each = look.total / stride + 1;
  for (int32_t seen = 0, listed = 0; next < end;) {
    pencil_particle mine;
    const int32_t turn = seen + warp_lane();
    const int32_t mixed = turn < each * stride ? turn % each * stride + turn / each : look.total;
    const bool reaches = fetch(order, view, look, mixed, &mine);
    const unsigned all = __ballot_sync(MD_ALL_LANES, reaches);
    if (reaches) list[listed + __popc(all & ((1u << warp_lane()) - 1))] = mine;
    listed += __popc(all);
    seen += MD_WARP;
    __syncwarp();
    while (next < end && (listed >= CHUNK || seen >= each * stride)) {
      const int32_t count = min(listed, (int32_t)CHUNK);
      if (warp_lane() == 0) {
        chunk[next].first = min(first, all_particles - 1);
        chunk[next].origin[0] = at.origin[0];
        chunk[next].origin[1] = at.origin[1];
        chunk[next].plane = plane;
        chunk[next].count = count;
        chunk[next].done = next + 1 < end ? 0 : done;
      }
      write_chunk(list, count, rows[threadIdx.x / MD_WARP], chunk + next, particles + first,
                  index + first);
      first += count;
      next++;
      listed -= count;
      if (warp_lane() < listed) list[warp_lane()] = list[count + warp_lane()];
      __syncwarp();
    }
  }
}

md_status spread_gpu_list_columns(spread_plan *plan, spread_part *part, const md_buffer *start)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  sorted_view view = {(const pencil_particle *)part->buffer[SPREAD_RECORD].data,
                      (const int32_t *)start->data, plan->pencils, columns_of(&plan->grid)};
  const int64_t n = (int64_t)view.grid.n[0] * view.grid.n[1] * view.grid.mesh[0];
  const int order = plan->grid.order;
  md_buffer *chunk = &part->buffer[SPREAD_CHUNKS], *particle = &part->buffer[SPREAD_CHUNKED];
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[4], (size_t)(n + 1) * sizeof(int64_t), 0));
  int64_t *counts = (int64_t *)plan->scratch[4].data, all;
  MD_TRY(md_fill(ctx, counts + n, 0, sizeof *counts));
  count_kernel<<<md_blocks(n * MD_WARP, BLOCK), BLOCK, 0, stream>>>(view, order, n, counts);
  MD_LAUNCHED();
  MD_TRY(spread_gpu_scan(ctx, &plan->scratch[3], counts, n + 1));
  MD_CUDA(cudaMemcpyAsync(&all, counts + n, sizeof all, cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  part->chunks = all >> CHUNKS_SHIFT;
  part->chunked = all & PARTICLES_MASK;
  MD_TRY(md_buffer_reserve(ctx, chunk, (size_t)part->chunks * sizeof(column_chunk), 0));
  MD_TRY(md_buffer_reserve(ctx, particle, (size_t)part->chunked * CHUNKED_BYTES, 0));
  list_kernel<<<md_blocks(n * MD_WARP, BLOCK), BLOCK, 0, stream>>>(
      view, order, n, counts, (column_chunk *)chunk->data, (pencil_particle *)particle->data,
      chunk_index(part));
  MD_LAUNCHED();
  part->listed = true;
  return MD_OK;
}
