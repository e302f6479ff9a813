/* stokes/step/pair_force_gpu.cu - Brownian forces by pairs on the GPU.
 *
 * A team of threads goes through the list of one sphere for one column; both spheres of a pair draw
 * its numbers, so that nothing is stored and no atomics are needed.  A thread first looks for its
 * next pair that is near enough, so that the lanes of a warp draw together: a draw is two Philox
 * words and two logarithms in double precision, some 600 operations, against 36 bytes gathered for
 * an entry.  Reads 4 + 32 bytes an entry and 32 a sphere, writes 24 a sphere and column. */
#include "core/gpu/cuda.h"
#include "stokes/step/pair_force_impl.h"

enum {
  BLOCK = 256,
  TEAM = 4,
  BLOCKS = 3 /* of a multiprocessor: with two of them forces take a sixth longer */
};

static __global__ void __launch_bounds__(BLOCK, BLOCKS)
    force_kernel(const __grid_constant__ pair_force_job job)
{
  const int64_t at = md_thread() / TEAM, i = job.first + at / job.m;
  const int lane = threadIdx.x % TEAM, c = (int)(at % job.m);
  const bool mine = i < job.end;
  const uint64_t step = job.noise.step + (uint64_t)c;
  const double *x = job.spheres.x;
  double sum[3] = {0, 0, 0};
  if (mine && lane == 0)
    normal_three(job.noise.seed, NORMAL_BROWNIAN, (uint64_t)job.noise.id[i], step, sum);
  int64_t k = mine ? job.pairs.start[i] + lane : 0;
  const int64_t end = mine ? job.pairs.start[i + 1] : 0;
  for (;;) {
    assemble_place p;
    int64_t j = -1;
    for (; k < end && j < 0; k += TEAM) {
      const int64_t other = job.pairs.neighbor[k];
      p = assemble_between(job.spheres.box, x + 4 * i, x + 4 * other);
      if (assemble_near(&p, job.range.gap_cut)) j = other;
    }
    if (!__any_sync(MD_ALL_LANES, j >= 0)) break;
    if (j >= 0) {
      const pair_force_root root = pair_force_root_of(&job, &p, i, j);
      double z[3], part[3];
      normal_three(job.noise.seed, NORMAL_PAIR, root.index, step, z);
      pair_force_times(&root, z, part);
      for (int d = 0; d < 3; d++)
        sum[d] += root.weight * part[d];
    }
    __syncwarp();
  }
  for (int far = TEAM / 2; far > 0; far /= 2)
    for (int d = 0; d < 3; d++)
      sum[d] += __shfl_xor_sync(MD_ALL_LANES, sum[d], far);
  if (!mine || lane > 0) return;
  for (int d = 0; d < 3; d++)
    job.f[(3 * (i - job.first) + d) * job.m + c] = sum[d];
}

md_status pair_force_gpu(md_ctx *ctx, const pair_force_job *job)
{
  const int64_t rows = job->end - job->first;
  force_kernel<<<md_blocks(rows * job->m * TEAM, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      *job);
  MD_LAUNCHED();
  return MD_OK;
}
