/* minimd/displacement_gpu.cu - the largest displacement, one thread an atom.
 *
 * Bytes per atom: x, held and, unless back is 0, v are read: 32 or 48 in single, 64 or 96 in mixed
 * and double precision; holding positions reads and writes 16 or 32.  One atomic a warp at most,
 * and one a block. */
#include "core/sender_gpu.h"
#include "core/verlet_gpu.h"
#include "minimd/displacement_impl.h"

enum { BLOCK = 256 };

/* Squares as the integers that their bits are: these are in the order of the numbers, NaN last, so
 * that a NaN is never lost. */
typedef struct {
  unsigned long long now, found; /* now: 0 between kernels; found: by the last one */
  uint32_t come;                 /* blocks */
} displacement_totals;

static __global__ void __launch_bounds__(BLOCK)
    measure_kernel(int64_t n, double back, const state4 *__restrict__ x,
                   const state4 *__restrict__ v, const state4 *__restrict__ held,
                   displacement_totals *totals)
{
  const int64_t i = md_thread();
  unsigned long long bits = 0;
  if (i < n) {
    const state4 xi = x[i], hi = held[i];
    double dx = (double)xi.x - hi.x, dy = (double)xi.y - hi.y, dz = (double)xi.z - hi.z;
    if (back != 0) {
      const state4 vi = v[i];
      dx -= back * vi.x, dy -= back * vi.y, dz -= back * vi.z;
    }
    bits = (unsigned long long)__double_as_longlong(fabs(dx * dx + dy * dy + dz * dz));
  }
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    bits = max(bits, __shfl_xor_sync(MD_ALL_LANES, bits, step));
  if (threadIdx.x % MD_WARP == 0 && bits > __ldcg(&totals->now)) atomicMax(&totals->now, bits);
  if (md_last_block(&totals->come) && threadIdx.x == 0) {
    totals->found = __ldcg(&totals->now);
    totals->now = 0;
  }
}

md_status PREC(displacement_gpu_measure)(displacement *d, const md_atoms *atoms, double back)
{
  md_ctx *ctx = d->ctx;
  MD_TRY(md_sender_open(&d->sender, sizeof(double)));
  if (!d->found.data) {
    MD_TRY(md_buffer_reserve(ctx, &d->found, sizeof(displacement_totals), 0));
    MD_TRY(md_fill(ctx, d->found.data, 0, sizeof(displacement_totals)));
  }
  displacement_totals *totals = (displacement_totals *)d->found.data;
  measure_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      atoms->n, back, (const state4 *)atoms->x.data, (const state4 *)atoms->v.data,
      (const state4 *)d->held.data, totals);
  MD_LAUNCHED();
  MD_TRY(md_send(ctx, d->sender, &totals->found, sizeof totals->found));
  d->sent = true;
  return MD_OK;
}

md_status PREC(displacement_gpu_receive)(displacement *d)
{
  const void *letter = NULL;
  MD_TRY(md_receive(d->sender, &letter));
  d->moved_sq = *(const double *)letter;
  return MD_OK;
}

void PREC(displacement_gpu_close)(displacement *d)
{
  md_sender_close(d->sender);
}
