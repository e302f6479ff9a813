/* stokes/pairs/curve_gpu.cu - the pair list of spheres that follow a curve, on the GPU: see
 * stokes/pairs/curve_gpu.h.
 *
 * Rows learn their place from those before them in the pass that finds them (core/gpu/scan_gpu.h).
 * Least that 1e6 spheres with 87 neighbours must move: 64 bytes a sphere and 348 of its row, .41 GB
 * or .13 ms on an H100.  An update takes 1.95 ms.  It is bound by instructions, some 1000 of a
 * warp a row, and by waits for places: a warp tests 40 times 32 spheres against the box around its
 * eight, and 300 that are left against each. */
#include "core/gpu/scan_gpu.h"
#include "stokes/pairs/curve_gpu.h"
#include "stokes/pairs/pairs_impl.h"

enum { BLOCK = 128, NODE_BLOCK = 256 };

/* Thread: one sphere, shrunk; warp: the box around its 32. */
static __global__ void __launch_bounds__(NODE_BLOCK)
    shrink_kernel(const __grid_constant__ curve_job job, uint4 *own, curve_node *node)
{
  const int64_t i = md_thread(), leaf = i / MD_WARP;
  if (leaf * MD_WARP >= job.n) return;
  const uint4 s = shrunk_sphere(job.box, job.x + 4 * min(i, job.n - 1));
  if (i < job.n) own[i] = s;
  const float none[3] = {0, 0, 0};
  const curve_node all = curve_around(job.law.unit, s, none);
  if (i % MD_WARP == 0) node[leaf] = all;
}

/* Warp: the box around 32 boxes. */
static __global__ void __launch_bounds__(NODE_BLOCK)
    parents_kernel(int n, const curve_node *__restrict__ node,
                   const __grid_constant__ curve_job job, int n_parents, curve_node *parent)
{
  const int k = (int)md_thread();
  if (k / MD_WARP >= n_parents) return;
  const curve_node own = node[min(k, n - 1)];
  const float half[3] = {own.half.x, own.half.y, own.half.z};
  const curve_node all = curve_around(job.law.unit, own.middle, half);
  if (k % MD_WARP == 0) parent[k / MD_WARP] = all;
}

/* Where rows go, as far as there is room. */
typedef struct {
  int64_t room, *start;
  int32_t *neighbor;
} rows_out;

/* Warp: `each` spheres that follow each other.  Few registers: warps
 * wait for memory, and for those of their block. */
static __global__ void __launch_bounds__(BLOCK, 8)
    rows_kernel(const __grid_constant__ curve_job job, int each, int room, md_scan scan,
                const __grid_constant__ rows_out out)
{
  extern __shared__ float4 shared[];
  const curve_space space = curve_space_of(shared, room);
  const int64_t first = md_thread() / MD_WARP * each;
  const int lane = threadIdx.x % MD_WARP;
  const int rows = (int)max(min((int64_t)each, job.n - first), (int64_t)0);
  int count = 0, chunks = 0;
  const bool held = rows > 0 && curve_rows(&job, first, rows, room, &space, &count, &chunks);
  for (int s = 0; !held && s < rows; s++) {
    const int length = curve_row(&job, first + s, NULL);
    if (lane == s) count = length;
  }
  if (lane >= rows) count = 0;
  const int64_t place = md_scan_before(scan, (uint32_t)count);
  if (first == 0 && lane == 0) out.start[0] = 0;
  if (lane < rows) out.start[first + lane + 1] = place + count;
  if (__shfl_sync(MD_ALL_LANES, place + count, MD_WARP - 1) > out.room) return;
  if (held) curve_write(&space, count, chunks, out.neighbor + __shfl_sync(MD_ALL_LANES, place, 0));
  for (int s = 0; !held && s < rows; s++)
    curve_row(&job, first + s, out.neighbor + __shfl_sync(MD_ALL_LANES, place, s));
}

static cudaStream_t stream_of(const stokes_pairs *pairs)
{
  return (cudaStream_t)pairs->ctx->stream;
}

/* Nodes of a level, and of those below it. */
static int64_t nodes_of(int64_t n, int level)
{
  const int64_t spheres = (int64_t)MD_WARP << 5 * level;
  return (n + spheres - 1) / spheres;
}

/* In *space: the shrunk spheres, and the nodes of each level. */
static md_status job_of(stokes_pairs *pairs, const stokes_view *spheres, curve_job *job)
{
  const search_grid *grid = &pairs->grid;
  const int64_t n = spheres->n;
  int64_t nodes = 0;
  for (int k = 0; k < CURVE_LEVELS; k++)
    nodes += nodes_of(n, k);
  const size_t bytes = (size_t)n * sizeof(uint4) + (size_t)nodes * sizeof(curve_node);
  MD_TRY(md_buffer_reserve(pairs->ctx, pairs->space, bytes, 0));
  *job = (curve_job){};
  job->n = n;
  job->x = spheres->x;
  job->own = (const uint4 *)pairs->space->data;
  const curve_node *node = (const curve_node *)(job->own + n);
  for (int k = 0; k < CURVE_LEVELS; k++) {
    job->node[k] = node;
    job->count[k] = (int)nodes_of(n, k);
    node += job->count[k];
  }
  job->law = shrunk_law_of(grid->box, grid->scale, grid->skin);
  job->largest = (float)(grid->classes[grid->n_classes - 1].radius * (1 + 1e-6));
  for (int d = 0; d < 3; d++)
    job->box[d] = grid->box[d];
  job->scale = grid->scale;
  job->skin = grid->skin;
  return MD_OK;
}

static md_status make_nodes(stokes_pairs *pairs, const curve_job *job)
{
  shrink_kernel<<<md_blocks(job->n, NODE_BLOCK), NODE_BLOCK, 0, stream_of(pairs)>>>(
      *job, (uint4 *)job->own, (curve_node *)job->node[0]);
  MD_LAUNCHED();
  for (int k = 1; k < CURVE_LEVELS; k++) {
    const unsigned blocks = md_blocks((int64_t)job->count[k] * MD_WARP, NODE_BLOCK);
    parents_kernel<<<blocks, NODE_BLOCK, 0, stream_of(pairs)>>>(
        job->count[k - 1], job->node[k - 1], *job, job->count[k], (curve_node *)job->node[k]);
    MD_LAUNCHED();
  }
  return MD_OK;
}

/* Longer rows are found by cells: a warp would have no room for the spheres near eight. */
enum { LONGEST = 256, LEAST = 16384 };

bool pairs_curve_may(const stokes_pairs *pairs, int64_t n)
{
  bool inside = true;
  for (int d = 0; d < 3; d++)
    inside = inside && pairs->reach < 65000 * pairs->grid.box[d];
  return inside && n >= LEAST && 8 * pairs->jumps < (double)n && pairs->n_entries < LONGEST * n;
}

/* Rows, as far as there is room for them. */
static md_status find_rows(stokes_pairs *pairs, const curve_job *job, int64_t room)
{
  enum { RESIDENT = 32, MOST_ROOM = 1536 }; /* warps of a multiprocessor; spheres of a warp */
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const int64_t fill = job->n / ((int64_t)processors * RESIDENT);
  const int each = fill < 1 ? 1 : fill < CURVE_ROWS ? (int)fill : CURVE_ROWS;
  /* near eight are as many, or fewer, unless their density varies much */
  const int64_t near = pairs->n_entries > 0 ? 5 * (pairs->n_entries / job->n) + 224 : 1024;
  const int own = near < MOST_ROOM ? (int)near / MD_WARP * MD_WARP : (int)MOST_ROOM;
  const int64_t warps = (job->n + each - 1) / each;
  const unsigned blocks = md_blocks(warps * MD_WARP, BLOCK);
  const size_t shared = (size_t)curve_bytes(own) * (BLOCK / MD_WARP);
  md_scan scan;
  MD_TRY(md_scan_open(pairs->ctx, &pairs->scan_status, &pairs->round, blocks, &scan));
  const rows_out out = {room, (int64_t *)pairs->start.data, (int32_t *)pairs->neighbor.data};
  rows_kernel<<<blocks, BLOCK, shared, stream_of(pairs)>>>(*job, each, own, scan, out);
  MD_LAUNCHED();
  return md_read(pairs->ctx, &pairs->n_entries, out.start + job->n, sizeof pairs->n_entries);
}

md_status pairs_curve_rows(stokes_pairs *pairs, const stokes_view *spheres)
{
  curve_job job;
  MD_TRY(job_of(pairs, spheres, &job));
  MD_TRY(make_nodes(pairs, &job));
  for (;;) {
    const int64_t room = (int64_t)(pairs->neighbor.bytes / sizeof(int32_t));
    MD_TRY(find_rows(pairs, &job, room));
    if (pairs->n_entries <= room) return MD_OK;
    MD_TRY(pairs_gpu_make_room(pairs));
  }
}
