/* stokes/ranks/rows_mail_gpu.cu - rows of vectors to mailboxes of neighbouring GPUs and from the
 * own one (comm/gpus.h): one kernel.
 *
 * Its first blocks store what others need; the last one of a way raises the flag.  The others wait
 * for the flags of all and read what came.  Blocks begin in their order, and those that store wait
 * for nobody.  A number that is sent is read, goes through the link, is read from the mailbox and
 * written: 8 bytes each. */
#include "core/gpu/flags_gpu.h"
#include "stokes/ranks/rows_impl.h"

/* Of a way, and of what came, at most; numbers of a thread. */
enum { BLOCK = 256, MOST_BLOCKS = 128, EACH = 4 };

typedef struct {
  rows_mail rows;
  int n_ways;
  unsigned put, get; /* blocks of a way; of what came */
  md_round round;
  uint32_t *come;
  const double *mail;
  volatile md_late *late;
} mail_job;

static __device__ __forceinline__ void put_rows(const mail_job *job, unsigned w, unsigned block)
{
  const rows_mail *rows = &job->rows;
  const md_way way = rows->ways[w];
  const unsigned numbers = (unsigned)rows->numbers;
  double *to = (double *)way.slot[job->round % MD_SLOTS] + way.at * numbers;
  const int64_t n = way.count * numbers, step = (int64_t)job->put * BLOCK;
  for (int64_t k = (int64_t)block * BLOCK + threadIdx.x; k < n; k += step) {
    const int64_t item = way.first + k / numbers;
    const int64_t row = rows->sent ? rows->sent[item] : item;
    to[k] = rows->from[row * numbers + k % numbers];
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence_system(); /* for all of the block */
  if (atomicAdd(&job->come[w], 1u) < job->put - 1) return;
  job->come[w] = 0;
  raise_flag(way.flag, job->round);
}

static __device__ __forceinline__ void get_rows(const mail_job *job, unsigned block)
{
  const rows_mail *rows = &job->rows;
  const int64_t numbers = rows->numbers, n = rows->n * numbers, step = (int64_t)job->get * BLOCK;
  const int64_t skip = rows->skip * numbers, end = skip + rows->n_skipped * numbers;
  for (int64_t k = (int64_t)block * BLOCK + threadIdx.x; k < n; k += step)
    if (k < skip || k >= end) rows->to[k] = job->mail[k];
}

static __global__ void __launch_bounds__(BLOCK) mail_kernel(const __grid_constant__ mail_job job)
{
  const unsigned puts = job.put * (unsigned)job.n_ways;
  if (blockIdx.x < puts) {
    put_rows(&job, blockIdx.x / job.put, blockIdx.x % job.put);
    return;
  }
  wait_flags(job.n_ways, job.rows.ways, job.round, job.late);
  __syncthreads();
  get_rows(&job, blockIdx.x - puts);
}

static unsigned blocks_for(int64_t numbers)
{
  const unsigned wanted = md_blocks(numbers + 1, BLOCK * EACH);
  return wanted < MOST_BLOCKS ? wanted : (unsigned)MOST_BLOCKS;
}

md_status rows_gpu_mail(stokes_rows *rows, const rows_mail *round)
{
  const gpus_mail *mail = &rows->gpu.mail;
  const mail_job job = {*round,
                        world_count() - 1,
                        blocks_for(round->most * round->numbers),
                        blocks_for(round->n * round->numbers),
                        mail->round,
                        (uint32_t *)rows->gpu.come.data,
                        (const double *)gpus_mail_slot(mail, mail->round),
                        (volatile md_late *)mail->late.data};
  const unsigned blocks = job.put * (unsigned)job.n_ways + job.get;
  mail_kernel<<<blocks, BLOCK, 0, (cudaStream_t)rows->ctx->stream>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}
