/* comm/comm_gpu.prec.cu - periodic wrap and ghosts, one thread per owned atom or ghost.
 *
 * Ghosts are counted per atom, the counts summed up and ghosts made in one kernel: ghosts of one
 * atom lie together, in the order of atoms, the same in every run.  Bytes: the wrap reads a
 * position and writes what crossed; where displacements are measured it reads two more states;
 * borders read it and write it once more and 4 bytes an atom; a ghost is refreshed by 8 bytes of
 * home and shift, a gathered position and a written one: 175,000 ghosts of 2^20 atoms in 0.004 ms
 * on an H200, hardly more than a launch. */
#include "comm/borders_gpu.h"
#include "comm/comm_impl.h"
#include "comm/wrap_gpu.h"
#include "core/gpu/launch_gpu.h"
#include "core/gpu/readback_gpu.h"
#include "core/gpu/scan_gpu.h"
#include "core/gpu/signal_gpu.h"

#include <string.h>

enum {
  BLOCK = 256,
  RESIDENT = 6, /* blocks of migration that a multiprocessor holds */
};

typedef struct {
  wrap_result wrap;
  unsigned long long ghosts; /* images in the shell */
} migrate_result;

/* On the device; but for what was found, zero between kernels. */
typedef struct {
  migrate_result now, found; /* found: by the last migration */
  uint32_t come;             /* blocks */
} migrate_totals;

/* A block's images to the total. */
static __device__ __forceinline__ void add_images(int images, unsigned long long *total)
{
  __shared__ int part[BLOCK / MD_WARP];
  const int lane = threadIdx.x % MD_WARP, warp = threadIdx.x / MD_WARP;
  images = __reduce_add_sync(MD_ALL_LANES, images);
  if (lane == 0) part[warp] = images;
  __syncthreads();
  if (warp > 0) return;
  images = __reduce_add_sync(MD_ALL_LANES, lane < BLOCK / MD_WARP ? part[lane] : 0);
  if (lane == 0 && images > 0) atomicAdd(total, (unsigned long long)images);
}

/* Blocks whose threads stride over atoms: with one for each 256 of them, who comes last at the end
 * takes most of the time. */
static md_status stride_blocks(int64_t n, unsigned *blocks)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  *blocks = min(md_blocks(n, BLOCK), (unsigned)(RESIDENT * processors));
  return MD_OK;
}

/* Wrap, and count the images of what was wrapped. */
static __global__ void __launch_bounds__(BLOCK, RESIDENT)
    migrate_kernel(int64_t n, axes box, shell s, state4 *x, int32_t *image, const int64_t *id,
                   const origin from, migrate_totals *totals)
{
  cudaGridDependencySynchronize();
  migrate_result *result = &totals->now;
  unsigned long long moved = 0;
  int images = 0;
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * BLOCK) {
    state4 xi = x[i];
    if (from.built) moved = max(moved, move_bits(&from, i, xi));
    if (wrap_atom(&box, i, &xi, x, image, id, &result->wrap)) images += images_of(&s, xi);
  }
  add_images(images, &result->ghosts);
  if (from.built) add_move(moved, &result->wrap.moved);
  if (md_last_block(&totals->come) && threadIdx.x == 0) {
    const wrap_result *wrap = &result->wrap;
    totals->found =
        (migrate_result){{__ldcg(&wrap->lost), __ldcg(&wrap->not_id), __ldcg(&wrap->moved)},
                         __ldcg(&result->ghosts)};
    *result = (migrate_result){};
  }
}

/* Room for what migration finds. */
static md_status open_found(comm *cm)
{
  MD_TRY(md_readback_open(&cm->readback, sizeof(migrate_result)));
  if (cm->found.data) return MD_OK;
  MD_TRY(md_buffer_reserve(cm->ctx, &cm->found, sizeof(migrate_totals), 0));
  return md_fill(cm->ctx, cm->found.data, 0, sizeof(migrate_totals));
}

/* What it found, when it has come to the host. */
static md_status wait_found(comm *cm, int64_t *ghosts)
{
  const void *bytes;
  MD_TRY(md_readback_wait(cm->readback, &bytes));
  const migrate_result *found = (const migrate_result *)bytes;
  *ghosts = (int64_t)found->ghosts;
  return check_wrap(&found->wrap, &cm->moved_sq);
}

void PREC(comm_gpu_close)(comm *cm)
{
  md_readback_close(cm->readback);
  md_signal_close(cm->signal);
}

md_status PREC(comm_gpu_migrate)(comm *cm, md_atoms *atoms, const comm_reach *early)
{
  static const comm_reach nowhere = {0, -1, {}};
  md_ctx *ctx = cm->ctx;
  if (atoms->n == 0) return MD_OK;
  MD_TRY(open_found(cm));
  const comm_reach *reach = early ? early : &nowhere;
  migrate_totals *totals = (migrate_totals *)cm->found.data;
  int64_t ghosts;
  const origin from = origin_of(atoms, reach->back);
  unsigned blocks;
  MD_TRY(stride_blocks(atoms->n, &blocks));
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config = md_launch_config(ctx, dim3(blocks), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, migrate_kernel, atoms->n, axes_of(&atoms->frame),
                             shell_of(atoms, reach->r_ghost, reach->images),
                             (state4 *)atoms->x.data, (int32_t *)atoms->image.data,
                             (const int64_t *)atoms->id.data, from, totals));
  MD_TRY(md_readback_queue(ctx, cm->readback, &totals->found, sizeof totals->found));
  cm->r_ghost = reach->r_ghost;
  cm->early = early != NULL;
  return cm->early ? MD_OK : wait_found(cm, &ghosts);
}

/* Thread: one atom; the number of all images. */
static __global__ void count_kernel(int64_t n, const shell s, const state4 *__restrict__ x,
                                    unsigned long long *total)
{
  const int64_t i = md_thread();
  add_images(i < n ? images_of(&s, x[i]) : 0, total);
}

/* Thread: one atom of each row, or the end of all; x: of atoms, which it only reads. */
static __global__ void __launch_bounds__(BLOCK)
    border_kernel(int64_t n, const shell s, md_scan scan, int rows, const state4 *x,
                  const borders to)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t begin = md_scan_first(rows);
  state4 xi[MD_SCAN_ROWS];
  uint32_t images[MD_SCAN_ROWS], before[MD_SCAN_ROWS];
#pragma unroll
  for (int k = 0; k < MD_SCAN_ROWS; k++)
    if (k < rows && begin + k * MD_WARP < n) xi[k] = x[begin + k * MD_WARP];
#pragma unroll
  for (int k = 0; k < MD_SCAN_ROWS; k++) {
    const int64_t i = begin + k * MD_WARP;
    images[k] = 0;
    if (k >= rows || i >= n) continue;
    put_atom(&to, i, xi[k]);
    images[k] = (uint32_t)images_of(&s, xi[k]);
  }
  const int64_t first = md_scan_before_each(scan, rows, images, before);
#pragma unroll
  for (int k = 0; k < MD_SCAN_ROWS; k++) {
    const int64_t i = begin + k * MD_WARP;
    if (k >= rows || i > n) return;
    to.first[i] = (int32_t)(first + before[k]);
    if (images[k] > 0) put_ghosts(&s, &to, n, i, x[i], first + before[k]);
  }
}

/* The number of ghosts, which the host may know since migration. */
static md_status find_total(comm *cm, const md_atoms *atoms, const shell *s, int64_t *total)
{
  md_ctx *ctx = cm->ctx;
  if (!cm->early) {
    MD_TRY(md_buffer_reserve(ctx, &cm->count, sizeof(unsigned long long), 0));
    unsigned long long *sum = (unsigned long long *)cm->count.data;
    MD_TRY(md_fill(ctx, sum, 0, sizeof *sum));
    count_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
        atoms->n, *s, (const state4 *)atoms->x.data, sum);
    MD_LAUNCHED();
    return md_read(ctx, total, sum, sizeof *total);
  }
  cm->early = false;
  MD_REQUIRE(cm->r_ghost == atoms->r_ghost, MD_EINVAL,
             "ghosts reach %g, not the %g that migration was given", atoms->r_ghost, cm->r_ghost);
  return wait_found(cm, total);
}

md_status PREC(comm_gpu_borders)(comm *cm, md_atoms *atoms, const int images[3])
{
  if (atoms->n == 0) return MD_OK;
  md_ctx *ctx = cm->ctx;
  const shell s = shell_of(atoms, atoms->r_ghost, images);
  int rows;
  MD_TRY(md_scan_rows(atoms->n, BLOCK, &rows));
  const unsigned blocks = md_blocks(atoms->n + 1, rows * BLOCK);
  int64_t total = 0;
  md_scan scan;
  MD_TRY(find_total(cm, atoms, &s, &total));
  MD_TRY(md_atoms_reserve(atoms, atoms->n, total));
  MD_TRY(md_buffer_reserve(ctx, &atoms->first, (size_t)(atoms->n + 1) * sizeof(int32_t), 0));
  MD_TRY(md_scan_open(ctx, &cm->scan_status, &cm->round, blocks, &scan));
  const state4 *x = (const state4 *)atoms->x.data;
  const borders to = {(int32_t *)atoms->first.data,
                      (state4 *)atoms->x.data + atoms->n,
                      (state4 *)atoms->x_at_build.data,
                      MD_PREC == 1 ? (coord4 *)atoms->fixed.data : NULL,
                      (int32_t *)atoms->home.data,
                      (int32_t *)atoms->shift.data,
                      1 / atoms->coord_scale};
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config = md_launch_config(ctx, dim3(blocks), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, border_kernel, atoms->n, s, scan, rows, x, to));
  atoms->n_ghost = total;
  return MD_OK;
}

/* Zero between kernels. */
typedef struct {
  unsigned long long most;
  uint32_t come; /* blocks */
} move_totals;

static __global__ void __launch_bounds__(BLOCK)
    move_kernel(int64_t n, const origin from, const state4 *__restrict__ x, move_totals *totals,
                md_signal *to, unsigned long long round)
{
  unsigned long long moved = 0;
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * BLOCK)
    moved = max(moved, move_bits(&from, i, x[i]));
  add_move(moved, &totals->most);
  if (!md_last_block(&totals->come) || threadIdx.x > 0) return;
  md_signal_send(to, __ldcg(&totals->most), round);
  totals->most = 0;
}

static md_status queue_move(comm *cm, const md_atoms *atoms)
{
  md_ctx *ctx = cm->ctx;
  const origin from = {(const state4 *)atoms->x_at_build.data, NULL, 0};
  MD_TRY(md_signal_open(&cm->signal));
  if (!cm->moves.data) {
    MD_TRY(md_buffer_reserve(ctx, &cm->moves, sizeof(move_totals), 0));
    MD_TRY(md_fill(ctx, cm->moves.data, 0, sizeof(move_totals)));
  }
  unsigned blocks;
  MD_TRY(stride_blocks(atoms->n, &blocks));
  move_kernel<<<blocks, BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      atoms->n, from, (const state4 *)atoms->x.data, (move_totals *)cm->moves.data,
      (md_signal *)cm->signal, ++cm->move_round);
  MD_LAUNCHED();
  cm->moving = true;
  return MD_OK;
}

md_status PREC(comm_gpu_move)(comm *cm, const md_atoms *atoms, double *moved_sq)
{
  if (!cm->moving) MD_TRY(queue_move(cm, atoms));
  if (!moved_sq) return MD_OK;
  cm->moving = false;
  unsigned long long bits;
  MD_TRY(md_signal_wait(cm->ctx, cm->signal, cm->move_round, &bits));
  memcpy(moved_sq, &bits, sizeof bits);
  return MD_OK;
}

static __global__ void forward_kernel(int64_t n, int64_t n_ghost, const axes box, double inv_scale,
                                      const int32_t *__restrict__ home,
                                      const int32_t *__restrict__ shift, state4 *x, coord4 *fixed)
{
  const int64_t g = md_thread();
  if (g >= n_ghost) return;
  int s[3];
  md_shift_unpack(shift[g], s);
  const state4 xg = shifted(&box, x[home[g]], s);
  x[n + g] = xg;
  if (fixed) fixed[n + g] = verlet_coord(xg, inv_scale);
}

md_status PREC(comm_gpu_images)(md_atoms *atoms, int64_t n_own)
{
  if (n_own == 0) return MD_OK;
  forward_kernel<<<md_blocks(n_own, BLOCK), BLOCK, 0, (cudaStream_t)atoms->ctx->stream>>>(
      atoms->n, n_own, axes_of(&atoms->frame), 1 / atoms->coord_scale,
      (const int32_t *)atoms->home.data, (const int32_t *)atoms->shift.data,
      (state4 *)atoms->x.data, MD_PREC == 1 ? (coord4 *)atoms->fixed.data : NULL);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(comm_gpu_forward)(comm *cm, md_atoms *atoms)
{
  (void)cm;
  return PREC(comm_gpu_images)(atoms, atoms->n_ghost);
}
