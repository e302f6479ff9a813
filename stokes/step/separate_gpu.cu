/* stokes/step/separate_gpu.cu - overlapping spheres are moved apart where they are.
 *
 * Every sphere adds up its steps away from all that it overlaps, at the positions before the sweep;
 * then all of them move at once and mark their neighbours for the next sweep.  A pair alone is
 * apart after one sweep.  Each sphere sums its own list in one order: the same result in every run.
 * The first sweep reads the list, 4 + 32 bytes an entry; the others a mark a sphere. */
#include "core/gpu/cuda.h"
#include "stokes/step/separate_impl.h"

enum { BLOCK = 256, TEAM = 8 };

typedef unsigned long long counter;

/* Where things lie in the scratch buffer. */
typedef struct {
  counter *count;       /* [SEPARATE_SWEEPS + 1]: pairs that overlapped in a sweep */
  double *step;         /* [n][3] */
  char *marked, *moved; /* [n]: look at it; it goes a step */
} separate_space;

/* Team: the list of one sphere. */
static __global__ void look_kernel(const __grid_constant__ separation s,
                                   const __grid_constant__ separate_space space, int sweep)
{
  const int64_t i = md_thread() / TEAM;
  const int lane = threadIdx.x % TEAM;
  const bool mine = i < s.pairs.n && (sweep == 0 || space.marked[i]);
  if (!__any_sync(MD_ALL_LANES, mine)) return;
  double sum[3] = {0, 0, 0};
  int found = 0, pairs = 0;
  for (int64_t k = mine ? s.pairs.start[i] + lane : 0; mine && k < s.pairs.start[i + 1];
       k += TEAM) {
    const int64_t j = s.pairs.neighbor[k];
    if (!separate_overlap(&s, i, j)) continue;
    double step[3];
    separate_step(&s, i, j, step);
    for (int d = 0; d < 3; d++)
      sum[d] += step[d];
    found++;
    pairs += j > i;
  }
  __syncwarp();
  for (int far = TEAM / 2; far > 0; far /= 2) {
    for (int d = 0; d < 3; d++)
      sum[d] += __shfl_xor_sync(MD_ALL_LANES, sum[d], far);
    found += __shfl_xor_sync(MD_ALL_LANES, found, far);
    pairs += __shfl_xor_sync(MD_ALL_LANES, pairs, far);
  }
  if (!mine || lane > 0) return;
  space.marked[i] = 0;
  space.moved[i] = found > 0;
  if (found == 0) return;
  for (int d = 0; d < 3; d++)
    space.step[3 * i + d] = sum[d];
  if (pairs > 0) atomicAdd(&space.count[sweep], (counter)pairs);
}

/* One thread a sphere. */
static __global__ void move_kernel(separation s, separate_space space)
{
  const int64_t i = md_thread();
  if (i >= s.pairs.n || !space.moved[i]) return;
  space.moved[i] = 0;
  for (int d = 0; d < 3; d++)
    s.x[4 * i + d] += space.step[3 * i + d];
  space.marked[i] = 1;
  for (int64_t k = s.pairs.start[i]; k < s.pairs.start[i + 1]; k++)
    space.marked[s.pairs.neighbor[k]] = 1;
}

static md_status reserve(md_ctx *ctx, int64_t n, md_buffer *scratch, separate_space *space)
{
  const size_t counts = (SEPARATE_SWEEPS + 1) * sizeof(counter), steps = n * 3 * sizeof(double);
  MD_TRY(md_buffer_reserve(ctx, scratch, counts + steps + 2 * n, 0));
  space->count = (counter *)scratch->data;
  space->step = (double *)((char *)scratch->data + counts);
  space->marked = (char *)scratch->data + counts + steps;
  space->moved = space->marked + n;
  return md_fill(ctx, space->count, 0, counts);
}

md_status separate_gpu(md_ctx *ctx, const separation *s, md_buffer *scratch, int64_t *overlaps,
                       int64_t *left)
{
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int64_t n = s->pairs.n;
  separate_space space;
  MD_TRY(reserve(ctx, n, scratch, &space));
  for (int sweep = 0; sweep <= SEPARATE_SWEEPS; sweep++) {
    look_kernel<<<md_blocks(n * TEAM, BLOCK), BLOCK, 0, stream>>>(*s, space, sweep);
    MD_LAUNCHED();
    MD_TRY(md_read(ctx, left, space.count + sweep, sizeof *left));
    if (sweep == 0) *overlaps = *left;
    if (*left == 0) break;
    move_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream>>>(*s, space);
    MD_LAUNCHED();
  }
  return MD_OK;
}
