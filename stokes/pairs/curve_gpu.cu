/* stokes/pairs/curve_gpu.cu - the pair list of spheres that follow a curve, on the GPU: see
 * stokes/pairs/curve_gpu.h.
 *
 * A warp finds the rows of 32 spheres, as masks (curve_marks_gpu.h); warps of a second kernel sum
 * lengths (core/gpu/scan_gpu.h) and write eight rows each.  Masks take some 156 bytes a sphere in
 * memory, but no warp that finds rows waits for their place.  Least that 1e6 spheres with 87
 * neighbours must move: 64 bytes a sphere and 348 of its row, .41 GB or .13 ms on an H100; masks
 * add .31 GB.  An update takes 1.33 ms, of which the two kernels take .61 each: 360 and 270
 * instructions of a warp a row, 2.9 and 1.9 issued in a cycle. For a
 * fifth of the first's time a multiprocessor has no warp; a quarter of the second's waits is for
 * sums. */
#include "core/gpu/scan_gpu.h"
#include "stokes/pairs/curve_marks_gpu.h"
#include "stokes/pairs/pairs_impl.h"

/* LEAST: blocks of threads that a multiprocessor should have at least. */
enum { NODE_BLOCK = 256, FIND_BLOCK = 128, FIND_LEAST = 8, WRITE_BLOCK = 256, WRITE_LEAST = 4 };

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

/* Warp: the marks of `each` spheres that follow each other, or of one group of them after the
 * other. */
static __global__ void __launch_bounds__(FIND_BLOCK, FIND_LEAST)
    find_kernel(const __grid_constant__ curve_job job, int each, int room,
                const __grid_constant__ curve_marks marks)
{
  extern __shared__ float4 shared[];
  const curve_space space = curve_space_of(shared, room);
  const int64_t first = md_thread() / MD_WARP * each;
  const int rows = (int)max(min((int64_t)each, job.n - first), (int64_t)0);
  for (int at = 0, most = each; at < rows;) {
    const int some = min(most, rows - at);
    if (curve_mark(&job, first + at, some, room, &space, &marks)) {
      at += some;
    } else if (most > CURVE_GROUP) {
      most = CURVE_GROUP;
    } else {
      curve_count(&job, first + at, some, &marks);
      at += some;
    }
  }
}

/* Where rows go, as far as there is room. */
typedef struct {
  int64_t room, *start;
  int32_t *neighbor;
} rows_out;

/* Warp: the rows of a group. */
static __global__ void __launch_bounds__(WRITE_BLOCK, WRITE_LEAST)
    write_kernel(const __grid_constant__ curve_job job, const __grid_constant__ curve_marks marks,
                 md_scan scan, const __grid_constant__ rows_out out)
{
  __shared__ curve_mark_at space[WRITE_BLOCK];
  const int64_t first = md_thread() / MD_WARP * CURVE_GROUP;
  const int lane = threadIdx.x % MD_WARP;
  const int rows = (int)max(min((int64_t)CURVE_GROUP, job.n - first), (int64_t)0);
  const int count = lane < rows ? marks.count[first + lane] : 0;
  const int64_t place = md_scan_before(scan, (uint32_t)count);
  if (first == 0 && lane == 0) out.start[0] = 0;
  if (lane < rows) out.start[first + lane + 1] = place + count;
  if (rows == 0 || __shfl_sync(MD_ALL_LANES, place + count, MD_WARP - 1) > out.room) return;
  const curve_group group = marks.group[first / CURVE_GROUP];
  const int64_t from = __shfl_sync(MD_ALL_LANES, place, 0);
  if (group.first >= 0)
    curve_write(marks.chunk, &group, (int)(place - from), space + threadIdx.x / MD_WARP * MD_WARP,
                out.neighbor + from);
  for (int s = 0; group.first < 0 && s < rows; s++)
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

static int64_t groups_of(int64_t n)
{
  return (n + CURVE_GROUP - 1) / CURVE_GROUP;
}

/* In *space: chunks of marks, the shrunk spheres, the nodes of each level, groups, lengths. */
static md_status job_of(stokes_pairs *pairs, const stokes_view *spheres, curve_job *job,
                        curve_marks *marks)
{
  const search_grid *grid = &pairs->grid;
  const int64_t n = spheres->n;
  int64_t nodes = 0;
  for (int k = 0; k < CURVE_LEVELS; k++)
    nodes += nodes_of(n, k);
  /* a little more than the last time */
  marks->room = pairs->chunks + pairs->chunks / 64;
  const size_t bytes = (size_t)marks->room * sizeof(curve_chunk) + (size_t)n * sizeof(uint4) +
                       (size_t)nodes * sizeof(curve_node) +
                       (size_t)groups_of(n) * sizeof(curve_group) + (size_t)n * sizeof(int32_t);
  MD_TRY(md_buffer_reserve(pairs->ctx, pairs->space, bytes, 0));
  *job = (curve_job){};
  job->n = n;
  job->x = spheres->x;
  marks->chunk = (curve_chunk *)pairs->space->data;
  job->own = (const uint4 *)(marks->chunk + marks->room);
  const curve_node *node = (const curve_node *)(job->own + n);
  for (int k = 0; k < CURVE_LEVELS; k++) {
    job->node[k] = node;
    job->count[k] = (int)nodes_of(n, k);
    node += job->count[k];
  }
  marks->group = (curve_group *)node;
  marks->count = (int32_t *)(marks->group + groups_of(n));
  marks->used = (unsigned long long *)pairs->start.data + n + 1;
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

/* Longer rows are found by cells: a warp would have no room for the spheres near its own. */
enum { LONGEST = 256, LEAST = 16384 };

bool pairs_curve_may(const stokes_pairs *pairs, int64_t n)
{
  bool inside = true;
  for (int d = 0; d < 3; d++)
    inside = inside && pairs->reach < 65000 * pairs->grid.box[d];
  return inside && n >= LEAST && 8 * pairs->jumps < (double)n && pairs->n_entries < LONGEST * n;
}

/* Marks, as far as there is room for them. */
static md_status find_rows(stokes_pairs *pairs, const curve_job *job, const curve_marks *marks)
{
  enum { RESIDENT = 16, MOST_ROOM = 1536 }; /* warps of a multiprocessor; spheres of a warp */
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const bool many = job->n >= (int64_t)processors * RESIDENT * MD_WARP;
  const int each = many ? (int)MD_WARP : (int)CURVE_GROUP;
  const int64_t warps = (job->n + each - 1) / each;
  /* half as many again as a warp found the last time */
  const int64_t near = 3 * MD_WARP * (pairs->chunks / warps) / 2 + 128;
  const bool known = pairs->chunks > 0 && near < MOST_ROOM;
  const int room = known ? (int)near / MD_WARP * MD_WARP : (int)MOST_ROOM;
  const size_t shared = (size_t)curve_bytes(room) * (FIND_BLOCK / MD_WARP);
  MD_TRY(md_fill(pairs->ctx, marks->used, 0, sizeof *marks->used));
  find_kernel<<<md_blocks(warps * MD_WARP, FIND_BLOCK), FIND_BLOCK, shared, stream_of(pairs)>>>(
      *job, each, room, *marks);
  MD_LAUNCHED();
  return MD_OK;
}

/* Rows, as far as there is room for them; how many entries there are, and chunks. */
static md_status write_rows(stokes_pairs *pairs, const curve_job *job, const curve_marks *marks,
                            int64_t room)
{
  const unsigned blocks = md_blocks(groups_of(job->n) * MD_WARP, WRITE_BLOCK);
  int64_t ends[2];
  md_scan scan;
  MD_TRY(md_scan_open(pairs->ctx, &pairs->scan_status, &pairs->round, blocks, &scan));
  const rows_out out = {room, (int64_t *)pairs->start.data, (int32_t *)pairs->neighbor.data};
  write_kernel<<<blocks, WRITE_BLOCK, 0, stream_of(pairs)>>>(*job, *marks, scan, out);
  MD_LAUNCHED();
  MD_TRY(md_read(pairs->ctx, ends, out.start + job->n, sizeof ends));
  pairs->n_entries = ends[0];
  pairs->chunks = ends[1];
  return MD_OK;
}

md_status pairs_curve_rows(stokes_pairs *pairs, const stokes_view *spheres)
{
  const size_t n = (size_t)spheres->n;
  MD_TRY(md_buffer_reserve(pairs->ctx, &pairs->start, (n + 2) * sizeof(int64_t), 0));
  for (;;) {
    const int64_t room = (int64_t)(pairs->neighbor.bytes / sizeof(int32_t));
    curve_job job;
    curve_marks marks;
    MD_TRY(job_of(pairs, spheres, &job, &marks));
    MD_TRY(make_nodes(pairs, &job));
    MD_TRY(find_rows(pairs, &job, &marks));
    MD_TRY(write_rows(pairs, &job, &marks, room));
    if (pairs->n_entries <= room) return MD_OK;
    MD_TRY(pairs_gpu_make_room(pairs));
  }
}
