/* force/force_tile_gpu.cu - forces from lists by tiles (neighbor/neighbor.h): one block a tile, one
 * thread a row.
 *
 * The block loads the tile's halo once, coalesced as far as the atoms' order allows, and keeps it in
 * shared memory relative to the tile's origin (tile_entry_gpu.h); each thread then follows 16-bit
 * offsets into it, 8 in one load, and sums the force on its atom: no two threads write one address.
 *
 * The fused kernel goes on to v += kick f twice and x += drift v, for the atom and its images.  Other
 * blocks still read the old positions, so it writes the new ones elsewhere.
 *
 * Per atom at density 0.8442 and r_list 2.8 (75 entries, 82 slots), single: 165 bytes of list, 26 of
 * halo indices, 80 of positions and velocities, 0.07 ms for 2^20 atoms on an H200; 82 loads of 16
 * bytes from shared memory, 0.04 ms without conflicts; 2,300 instructions a warp, 0.07 ms.  Measured,
 * with the time step: 0.100 ms in single, 0.116 in mixed, 0.166 in double, where 52 % more cycles of
 * shared memory go to conflicts of those entries that found no slot of their bank. */
#include "core/verlet_gpu.h"
#include "force/tile_entry_gpu.h"
#include "force/totals_gpu.h"

enum {
  ROWS = NEIGHBOR_TILE_ROWS,
  WARPS = ROWS / MD_WARP,
  CHUNK = NEIGHBOR_TILE_CHUNK,
  BANKS = sizeof(real) == 8 ? NEIGHBOR_TILE_BANKS_WIDE : NEIGHBOR_TILE_BANKS,
  LOADS = 4,
  /* Measured best, for each precision: blocks that a multiprocessor holds, and chunks of the list that
   * are asked for early; one alone is first brought to the L2. */
  FUSED_BLOCKS = MD_PREC == 2 ? 3 : 5,
  AHEAD = MD_PREC == 0 ? 1 : 2
};

/* What a kernel reads and writes. */
typedef struct {
  int64_t n;
  neighbor_tiles tiles;
  const int32_t *rows, *shift, *first;
  const coord4 *coord;
  const state4 *x;
  real4 *f;
  state4 *v, *x_new;
  coord4 *coord_new;
  state kick, drift;
  double scale, edge[3]; /* length of a step of coord; of the box */
  real scale_sq, far;
  lj_reals lj;
  coulomb_reals coulomb;
  double *partial;
} tile_job;

/* How an instance of the kernel works: linear force shift, totals, charges, integration. */
typedef struct {
  bool shifted, tally, charged, fused;
} tile_mode;

/* Forces are in units of coord's steps until the end. */
typedef struct {
  tile_entry at;
  real fx, fy, fz;
  double energy, virial;
} tile_row;

/* The reciprocal to an ulp or two: the list's tests are no better. */
static __device__ __forceinline__ real quick_inverse(real a)
{
#if MD_PREC == 2
  return inverse(a);
#else
  real y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
#endif
}

static __device__ __forceinline__ void add_pair(const tile_job *job, tile_row *row,
                                                tile_entry other, tile_mode mode)
{
  const real dx = coord_difference(row->at.x, other.x), dy = coord_difference(row->at.y, other.y),
             dz = coord_difference(row->at.z, other.z);
  real r_sq = dx * dx + dy * dy + dz * dz;
  if (MD_PREC == 1) r_sq *= job->scale_sq;
  const real inv_sq = quick_inverse(r_sq);
  const bool inside = r_sq < job->lj.r_cut_sq;
  const real f = lj_f_over_r_inv(r_sq, inv_sq, &job->lj, mode.shifted);
  if (inside) {
    row->fx += dx * f, row->fy += dy * f, row->fz += dz * f;
    if (mode.tally) {
      row->energy += (double)lj_energy_inv(r_sq, inv_sq, &job->lj, mode.shifted);
      row->virial += (double)r_sq * (double)f;
    }
  }
  if (mode.charged && r_sq < job->coulomb.r_cut_sq) {
    real u;
    const real qq = row->at.q * other.q;
    const real g = qq * coulomb_f_over_r_inv(r_sq, inv_sq, &job->coulomb, &u);
    row->fx += dx * g, row->fy += dy * g, row->fz += dz * g;
    if (mode.tally) row->energy += (double)(qq * u), row->virial += (double)r_sq * (double)g;
  }
}

/* One pass's halo to shared memory, and behind it the far entries. */
static __device__ __forceinline__ void load_halo(const tile_job *job, unsigned char *room,
                                                 const int32_t *halo, int32_t m, coord4 origin,
                                                 tile_mode mode)
{
  const int32_t t = (int32_t)threadIdx.x;
  int32_t j[LOADS];
#pragma unroll
  for (int u = 0; u < LOADS; u++)
    j[u] = t + u * ROWS < m ? __ldcs(halo + t + u * ROWS) : 0;
  for (int32_t k = t; k < m; k += LOADS * ROWS) {
    coord4 c[LOADS];
    real q[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; u++)
      c[u] = job->coord[j[u]], q[u] = mode.charged ? (real)job->x[j[u]].w : 0;
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      const int32_t next = k + (LOADS + u) * ROWS;
      j[u] = next < m ? __ldcs(halo + next) : 0;
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++)
      if (k + u * ROWS < m)
        store_entry(room, job->tiles.most, k + u * ROWS, entry_at(c[u], origin, q[u]),
                    mode.charged);
  }
  if (t < BANKS)
    store_entry(room, job->tiles.most, (m + BANKS - 1) / BANKS * BANKS + t,
                far_entry(origin, job->far), mode.charged);
}

/* Ask for the warp's list before it is needed: it streams through once, from device memory. */
static __device__ __forceinline__ void expect_list(const uint4 *list, int32_t chunks)
{
  enum { LINE = 128 };
  const char *from = (const char *)list;
  for (int32_t at = (int32_t)(threadIdx.x % MD_WARP) * LINE;
       at < chunks * MD_WARP * (int32_t)sizeof(uint4); at += MD_WARP * LINE)
    asm volatile("prefetch.global.L2 [%0];" : : "l"(from + at));
}

/* Loaded when it is asked for, not when it is needed. */
static __device__ __forceinline__ uint4 load_chunk(const uint4 *at)
{
  uint4 c;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
               : "l"(at)
               : "memory");
  return c;
}

static __device__ __forceinline__ void add_chunk(const tile_job *job, const unsigned char *room,
                                                 uint4 chunk, tile_row *row, tile_mode mode)
{
  const unsigned char *rest = room + (size_t)job->tiles.most * ENTRY;
  const uint32_t word[CHUNK / 2] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (int u = 0; u < CHUNK / 2; u++) {
    const tile_entry a = load_entry(room, rest, word[u] & 0xffff, mode.charged);
    const tile_entry b = load_entry(room, rest, word[u] >> 16, mode.charged);
    add_pair(job, row, a, mode);
    add_pair(job, row, b, mode);
  }
}

/* A warp's chunks of one pass, AHEAD of them on their way from memory all the time. */
static __device__ __forceinline__ void add_chunks(const tile_job *job, const unsigned char *room,
                                                  const uint4 *list, int32_t chunks, tile_row *row,
                                                  tile_mode mode)
{
  const int32_t last = max(chunks - 1, 0);
  uint4 next[AHEAD];
#pragma unroll
  for (int a = 0; a < AHEAD; a++)
    next[a] = load_chunk(list + min(a, last) * MD_WARP);
  for (int32_t c = 0; c < chunks; c += AHEAD)
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
      const uint4 now = next[a];
      next[a] = load_chunk(list + min(c + a + AHEAD, last) * MD_WARP);
      if (c + a < chunks) add_chunk(job, room, now, row, mode);
    }
}

/* An atom's images after it moved to x. */
static __device__ __forceinline__ void move_ghosts(const tile_job *job, int32_t i, state4 x)
{
  for (int32_t g = job->first[i]; g < job->first[i + 1]; g++) {
    int s[3];
    md_shift_unpack(job->shift[g], s);
    state4 image = x;
    image.x = image_at(x.x, s[0], job->edge[0]);
    image.y = image_at(x.y, s[1], job->edge[1]);
    image.z = image_at(x.z, s[2], job->edge[2]);
    job->x_new[job->n + g] = image;
    if (MD_PREC == 1) job->coord_new[job->n + g] = verlet_coord(image, 1 / job->scale);
  }
}

/* The row's force into f, or into its velocity and position. */
static __device__ __forceinline__ void close_row(const tile_job *job, int32_t i,
                                                 const tile_row *row, tile_mode mode)
{
  const real scale = MD_PREC == 1 ? (real)job->scale : 1;
  real4 f = {};
  f.x = row->fx * scale, f.y = row->fy * scale, f.z = row->fz * scale;
  if (!mode.fused) {
    job->f[i] = f;
    return;
  }
  state4 v = job->v[i], x = job->x[i];
  verlet_kick(&v, f, job->kick, 2);
  job->v[i] = v;
  verlet_drift(&x, v, job->drift);
  job->x_new[i] = x;
  if (MD_PREC == 1) job->coord_new[i] = verlet_coord(x, 1 / job->scale);
  move_ghosts(job, i, x);
}

static __device__ __forceinline__ void tile_rows(const tile_job *job, tile_mode mode)
{
  extern __shared__ __align__(16) unsigned char room[];
  const neighbor_tiles *tiles = &job->tiles;
  const int64_t tile = blockIdx.x, r = tile * ROWS + threadIdx.x;
  const int64_t warp = tile * WARPS + threadIdx.x / MD_WARP;
  const int32_t row_at = (int32_t)min(r, job->n - 1);
  const int32_t i = job->rows ? job->rows[row_at] : row_at;
  const coord4 origin = ((const coord4 *)tiles->origin)[tile];
  const uint4 *list = (const uint4 *)tiles->list + warp * tiles->chunks * MD_WARP;
  tile_row row = {};
  if (AHEAD == 1) expect_list(list, tiles->chunk_count[warp * tiles->passes]);
  list += threadIdx.x % MD_WARP;
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  row.at = entry_at(job->coord[i], origin, mode.charged ? (real)job->x[i].w : 0);
  for (int32_t p = 0; p < tiles->passes; p++) {
    const int64_t pass = tile * tiles->passes + p;
    const int32_t m = tiles->halo_count[pass];
    const int32_t chunks = tiles->chunk_count[warp * tiles->passes + p];
    if (p > 0 && m == 0) break;
    if (p > 0) __syncthreads();
    load_halo(job, room, tiles->halo + pass * tiles->capacity, m, origin, mode);
    __syncthreads();
    add_chunks(job, room, list, chunks, &row, mode);
    list += (int64_t)chunks * MD_WARP;
  }
  if (r < job->n) close_row(job, i, &row, mode);
  if (mode.tally)
    close_tally(job->partial, r < job->n ? row.energy : 0, r < job->n ? row.virial : 0);
}

typedef void tile_kernel(tile_job job);
#define TILE(name, blocks, shifted, tally, charged, fused)                                         \
  static __global__ void __launch_bounds__(ROWS, blocks) name(const tile_job job)                  \
  {                                                                                                \
    tile_rows(&job, (tile_mode){shifted, tally, charged, fused});                                  \
  }
TILE(tile_plain, FUSED_BLOCKS, false, false, false, false)
TILE(tile_tally, 2, false, true, false, false)
TILE(tile_shifted, 4, true, false, false, false)
TILE(tile_shifted_tally, 2, true, true, false, false)
TILE(tile_charged, 2, false, false, true, false)
TILE(tile_charged_tally, 2, false, true, true, false)
TILE(tile_charged_shifted, 2, true, false, true, false)
TILE(tile_charged_shifted_tally, 2, true, true, true, false)
TILE(tile_fused, FUSED_BLOCKS, false, false, false, true)
TILE(tile_shifted_fused, 4, true, false, false, true)
static tile_kernel *const kernels[2][2][2] = {
    {{tile_plain, tile_tally}, {tile_shifted, tile_shifted_tally}},
    {{tile_charged, tile_charged_tally}, {tile_charged_shifted, tile_charged_shifted_tally}}};
static tile_kernel *const fused_kernels[2] = {tile_fused, tile_shifted_fused};

static tile_job open_tiles(const force *fc, const force_job *job)
{
  tile_job out = {};
  out.n = job->n;
  out.tiles = *job->list->tiles;
  out.rows = job->list->atom, out.shift = job->shift, out.first = job->first;
  out.coord = (const coord4 *)job->coord;
  out.x = (const state4 *)job->x;
  out.f = (real4 *)job->f;
  out.v = (state4 *)job->v;
  out.x_new = (state4 *)fc->x_new.data;
  out.coord_new = (coord4 *)fc->coord_new.data;
  out.kick = (state)job->kick, out.drift = (state)job->drift;
  out.scale = job->coord_scale;
  out.scale_sq = (real)(job->coord_scale * job->coord_scale);
  for (int d = 0; d < 3; d++)
    out.edge[d] = job->edge[d];
  out.far = (real)(0x1p20 * job->list->r_list);
  out.lj = lj_round(&job->lj);
  out.coulomb = coulomb_round(&job->coulomb);
  out.partial = (double *)fc->partial.data;
  return out;
}

/* fused: the kernel may start, and ask for its lists, while the one before it, fused too, ends. */
static md_status launch(const force *fc, tile_job *job, tile_kernel *kernel, bool charged,
                        bool fused)
{
  const size_t shared = (size_t)job->tiles.most * entry_bytes(charged);
  MD_TRY(set_carveout(fc, (const void *)kernel));
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(md_blocks(job->n, ROWS));
  config.blockDim = dim3(ROWS);
  config.dynamicSmemBytes = shared;
  config.stream = (cudaStream_t)fc->ctx->stream;
  config.attrs = &early;
  config.numAttrs = fused ? 1 : 0;
  void *arguments[] = {job};
  MD_CUDA(cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
  return MD_OK;
}

md_status PREC(force_gpu_tile)(force *fc, const force_job *job)
{
  const int64_t blocks = md_blocks(job->n, ROWS);
  const bool charged = job->coulomb.r_cut_sq > 0, shifted = job->lj.f_shift != 0;
  if (job->tally)
    MD_TRY(md_buffer_reserve(fc->ctx, &fc->partial, 2 * ((size_t)blocks + 1) * sizeof(double), 0));
  tile_job tiles = open_tiles(fc, job);
  MD_TRY(launch(fc, &tiles, kernels[charged][shifted][job->tally != NULL], charged, false));
  return job->tally ? read_tally(fc, job, blocks, 0.5) : MD_OK; /* each pair was seen twice */
}

md_status PREC(force_gpu_tile_advance)(force *fc, const force_job *job)
{
  tile_job tiles = open_tiles(fc, job);
  return launch(fc, &tiles, fused_kernels[job->lj.f_shift != 0], false, true);
}
