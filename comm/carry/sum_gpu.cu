/* comm/carry/sum_gpu.cu - arrays of reals added up over ranks (sum.c).
 *
 * By mailboxes three kernels: parts to their owners; sums of the own part to all; sums of others
 * home.  Bytes of n reals and P ranks, each way between GPUs: 2 n (P - 1) / P, stored 16 at a time;
 * in the own memory about 3 n read and 2 n written.  Kernels that wait have a block on each
 * multiprocessor, so that others find room beside them. */
#include "comm/carry/sum_gpu.h"
#include "comm/world.h"
#include "core/gpu/flags_gpu.h"

enum { BLOCK = 512, WORD = 16 /* bytes */ };

/* Reals of a word. */
template <typename R> struct alignas(WORD) word {
  R of[WORD / sizeof(R)];
};

/* Thread, of a block for each multiprocessor: where it begins, and how far it goes. */
static __device__ __forceinline__ int64_t all_threads(void)
{
  return (int64_t)gridDim.x * BLOCK;
}

/* All threads: n reals from one aligned place to another. */
template <typename R>
static __device__ __forceinline__ void copy_reals(int64_t n, const R *from, R *to)
{
  enum { MANY = WORD / sizeof(R) };
  for (int64_t k = md_thread(); k < n / MANY; k += all_threads())
    ((word<R> *)to)[k] = ((const word<R> *)from)[k];
  const int64_t rest = n / MANY * MANY + md_thread();
  if (rest < n) to[rest] = from[rest];
}

/* Block: what others stored in that round may be read. */
static __device__ __forceinline__ void await_others(const sum_mail *job, md_round round)
{
  wait_flags(job->ranks - 1, job->ways, round, job->late);
  __syncthreads();
}

template <typename R>
static __device__ __forceinline__ R *slot_of(const md_way *way, md_round round)
{
  return (R *)way->slot[round % MD_SLOTS];
}

/* Each part to its owner. */
template <typename R>
static __global__ void __launch_bounds__(BLOCK)
    send_kernel(const __grid_constant__ sum_mail job, const R *reals)
{
  for (int w = 0; w < job.ranks - 1; w++) {
    const md_way *way = &job.ways[w];
    const int64_t begin = job.begin[way->rank];
    copy_reals(job.begin[way->rank + 1] - begin, reals + begin,
               slot_of<R>(way, job.round) + job.me * job.stride);
  }
  close_round(job.come, gridDim.x, job.ranks - 1, job.ways, job.round);
}

/* Real k of the own part, over ranks; theirs: of the others, `stride` apart. */
template <typename R>
static __device__ __forceinline__ R sum_of(int ranks, int me, const R *theirs, int64_t stride,
                                           const R *mine, int64_t k)
{
  double sum = 0;
  for (int r = 0; r < ranks; r++)
    sum += (double)(r == me ? mine[k] : theirs[r * stride + k]);
  return (R)sum;
}

/* The own part, added up, to its place here and in all mailboxes. */
template <typename R>
static __global__ void __launch_bounds__(BLOCK)
    add_kernel(const __grid_constant__ sum_mail job, R *reals)
{
  enum { MANY = WORD / sizeof(R) };
  await_others(&job, job.round);
  const int64_t begin = job.begin[job.me], n = job.begin[job.me + 1] - begin;
  R *mine = reals + begin;
  const R *theirs = (const R *)job.slot[0];
  for (int64_t k = md_thread(); k < n / MANY; k += all_threads()) {
    word<R> sum;
#pragma unroll
    for (int u = 0; u < MANY; u++)
      sum.of[u] = sum_of(job.ranks, job.me, theirs, job.stride, mine, k * MANY + u);
    ((word<R> *)mine)[k] = sum;
    for (int w = 0; w < job.ranks - 1; w++)
      ((word<R> *)(slot_of<R>(&job.ways[w], job.round + 1) + begin))[k] = sum;
  }
  const int64_t rest = n / MANY * MANY + md_thread();
  if (rest < n) {
    mine[rest] = sum_of(job.ranks, job.me, theirs, job.stride, mine, rest);
    for (int w = 0; w < job.ranks - 1; w++)
      slot_of<R>(&job.ways[w], job.round + 1)[begin + rest] = mine[rest];
  }
  close_round(job.come, gridDim.x, job.ranks - 1, job.ways, job.round + 1);
}

/* What others added up to its place. */
template <typename R>
static __global__ void __launch_bounds__(BLOCK)
    take_kernel(const __grid_constant__ sum_mail job, R *reals)
{
  await_others(&job, job.round + 1);
  for (int r = 0; r < job.ranks; r++) {
    const int64_t begin = job.begin[r];
    if (r != job.me)
      copy_reals(job.begin[r + 1] - begin, (const R *)job.slot[1] + begin, reals + begin);
  }
}

template <typename R> static md_status add_mailed(md_ctx *ctx, const sum_mail *job, R *reals)
{
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  int blocks;
  MD_TRY(md_multiprocessors(&blocks));
  send_kernel<R><<<(unsigned)blocks, BLOCK, 0, stream>>>(*job, reals);
  MD_LAUNCHED();
  add_kernel<R><<<(unsigned)blocks, BLOCK, 0, stream>>>(*job, reals);
  MD_LAUNCHED();
  take_kernel<R><<<(unsigned)blocks, BLOCK, 0, stream>>>(*job, reals);
  MD_LAUNCHED();
  return MD_OK;
}

md_status sum_gpu_mailed(md_ctx *ctx, const sum_mail *job, size_t size, void *reals)
{
  return size == sizeof(float) ? add_mailed(ctx, job, (float *)reals)
                               : add_mailed(ctx, job, (double *)reals);
}

/* Thread: one real. */
template <typename R>
static __global__ void __launch_bounds__(BLOCK)
    parts_kernel(int ranks, int me, int64_t part, const R *__restrict__ all, R *__restrict__ mine)
{
  const int64_t k = md_thread();
  if (k < part) mine[k] = sum_of(ranks, me, all, part, mine, k);
}

template <typename R>
static md_status add_parts(md_ctx *ctx, const void *all, int64_t part, void *mine)
{
  parts_kernel<<<md_blocks(part, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      world_count(), world_rank(), part, (const R *)all, (R *)mine);
  MD_LAUNCHED();
  return MD_OK;
}

md_status sum_gpu_parts(md_ctx *ctx, const void *all, int64_t part, size_t size, void *mine)
{
  if (part == 0) return MD_OK;
  return size == sizeof(float) ? add_parts<float>(ctx, all, part, mine)
                               : add_parts<double>(ctx, all, part, mine);
}
