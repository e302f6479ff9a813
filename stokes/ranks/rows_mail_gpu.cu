/* stokes/ranks/rows_mail_gpu.cu - rows of vectors to mailboxes of neighbouring GPUs and from the
 * own one (comm/gpus.h): one kernel.
 *
 * Its first blocks store what others need (stokes/matrix/halo_gpu.h).  The others wait for the
 * flags of all and read what came.  Blocks begin in their order, and those that store wait for
 * nobody.  A number that is sent is read, goes through the link, is read from the mailbox and
 * written: 8 bytes each. */
#include "stokes/matrix/halo_gpu.h"
#include "stokes/ranks/rows_impl.h"

/* Of a way, and of what came, at most; numbers of a thread. */
enum { BLOCK = 256, MOST_BLOCKS = 128, EACH = 4 };

typedef struct {
  rows_mail rows;
  unsigned get; /* blocks of what came */
  const double *mail;
} mail_job;

static __device__ __forceinline__ void get_rows(const mail_job *job, unsigned block)
{
  const rows_mail *rows = &job->rows;
  const int64_t numbers = rows->put.numbers, n = rows->n * numbers,
                step = (int64_t)job->get * BLOCK;
  const int64_t skip = rows->skip * numbers, end = skip + rows->n_skipped * numbers;
  for (int64_t k = (int64_t)block * BLOCK + threadIdx.x; k < n; k += step)
    if (k < skip || k >= end) rows->to[k] = job->mail[k];
}

static __global__ void __launch_bounds__(BLOCK) mail_kernel(const __grid_constant__ mail_job job)
{
  const halo_put *put = &job.rows.put;
  const unsigned puts = put->groups * (unsigned)put->n_ways;
  if (blockIdx.x < puts) {
    halo_store(put, halo_is_wide(put), blockIdx.x, threadIdx.x, BLOCK);
    return;
  }
  wait_flags(put->n_ways, put->ways, put->round, put->late);
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
  mail_job job = {*round, blocks_for(round->n * round->put.numbers),
                  (const double *)gpus_mail_slot(mail, mail->round)};
  job.rows.put.groups = blocks_for(round->most * round->put.numbers);
  const unsigned blocks = job.rows.put.groups * (unsigned)round->put.n_ways + job.get;
  mail_kernel<<<blocks, BLOCK, 0, (cudaStream_t)rows->ctx->stream>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}
