/* force/eam/eam_tile_gpu.prec.cu - embedded atoms from lists by tiles, as force_tile_gpu.prec.cu: a
 * pass for densities, in which halos have no F' yet, and one for forces. */
#include "force/eam/eam_launch_gpu.h"
#include "force/tile_launch_gpu.h"

/* Steps of squeezed positions to a cutoff, at least: pairs are then off by less than words are. */
static const double SQUEEZED_LEAST = 0x1p34;
enum {
  COARSE_BITS = 42, /* of squeezed positions, for densities and for forces */
  FINE_BITS = 47,
  SQUEEZED_TILES = 16 /* of a multiprocessor, at least */
};

#define EMBEDDED_(name, blocks, pass, tally, fused, packed, squeezed)                              \
  static __global__ void __launch_bounds__(ROWS, blocks) name(const tile_job job)                  \
  {                                                                                                \
    const bool charged = pass == EAM_FORCES;                                                       \
    tile_rows(&job, (tile_mode){LJ_PLAIN, tally, charged, fused, pass, TYPES_ALIKE, false, packed, \
                                squeezed, false});                                                 \
  }
#define EMBEDDED(name, blocks, pass, tally, fused, packed)                                         \
  EMBEDDED_(name, blocks, pass, tally, fused, packed, false)
EMBEDDED(tile_densities, DENSITY_BLOCKS, EAM_DENSITIES, false, false, false)
EMBEDDED(tile_densities_tally, 2, EAM_DENSITIES, true, false, false)
EMBEDDED(tile_embedded, EMBEDDED_BLOCKS, EAM_FORCES, false, false, false)
EMBEDDED(tile_embedded_tally, 2, EAM_FORCES, true, false, false)
EMBEDDED(tile_embedded_fused, EMBEDDED_BLOCKS, EAM_FORCES, false, true, false)
EMBEDDED(packed_densities, PACKED_DENSITY_BLOCKS, EAM_DENSITIES, false, false, true)
EMBEDDED(packed_densities_tally, 2, EAM_DENSITIES, true, false, true)
#if MD_PREC == 2
EMBEDDED_(squeezed_densities, PACKED_DENSITY_BLOCKS, EAM_DENSITIES, false, false, true, true)
EMBEDDED_(squeezed_densities_tally, 2, EAM_DENSITIES, true, false, true, true)
EMBEDDED_(squeezed_embedded, PACKED_EMBEDDED_BLOCKS, EAM_FORCES, false, false, true, true)
EMBEDDED_(squeezed_embedded_tally, 2, EAM_FORCES, true, false, true, true)
EMBEDDED_(squeezed_embedded_fused, PACKED_EMBEDDED_BLOCKS, EAM_FORCES, false, true, true, true)
#endif
EMBEDDED(packed_embedded, PACKED_EMBEDDED_BLOCKS, EAM_FORCES, false, false, true)
EMBEDDED(packed_embedded_tally, 2, EAM_FORCES, true, false, true)
EMBEDDED(packed_embedded_fused, PACKED_EMBEDDED_BLOCKS, EAM_FORCES, false, true, true)

/* Of densities, of forces: alone, with sums, with the time step. */
enum { ALONE, TALLY, FUSED, PASS_KERNELS };
typedef tile_kernel *pass_kernels[2][PASS_KERNELS];
static const pass_kernels knot_kernels = {
    {tile_densities, tile_densities_tally, tile_densities},
    {tile_embedded, tile_embedded_tally, tile_embedded_fused}};
static const pass_kernels packed_kernels = {
    {packed_densities, packed_densities_tally, packed_densities},
    {packed_embedded, packed_embedded_tally, packed_embedded_fused}};

#if MD_PREC == 2
static const pass_kernels squeezed_kernels = {
    {squeezed_densities, squeezed_densities_tally, squeezed_densities},
    {squeezed_embedded, squeezed_embedded_tally, squeezed_embedded_fused}};
#else
static const pass_kernels squeezed_kernels = {};
#endif

typedef struct {
  tile_job job;
  tile_kernel *kernel;
  size_t shared;
} tile_pass;

static eam_near eam_near_of(const force *fc, size_t halo, eam_pass pass)
{
  enum { PIECE = 16 }; /* of a copy */
  const bool packed = eam_is_packed(fc);
  const int64_t all = packed ? fc->packing.end : eam_words(fc, fc->eam);
  eam_near near;
  near.first = packed ? fc->packing.first : (int32_t)(all < EAM_NEAR ? 0 : all - EAM_NEAR);
  near.count = (int32_t)all - near.first;
  if (packed && MD_PREC != 2) {
    near.first = 0;
    near.count = eam_pack_words(&fc->packing, pass == EAM_FORCES ? EAM_OF_PAIR : EAM_OF_DENSITY);
  }
  near.at = (int32_t)((halo + PIECE - 1) / PIECE * PIECE);
  const int32_t bytes = near.count * eam_word_bytes(packed) * eam_tables_of(pass, packed);
  near.end = near.at + (bytes + PIECE - 1) / PIECE * PIECE;
  return near;
}

/* r^2 from which on pairs have words there. */
static real eam_near_sq(const force *fc, eam_near near)
{
  const double edge = near.first + 1, packed = edge / fc->packing.per;
  const double knot = near.first == 0 ? 0 : edge * fc->eam->density.step;
#if MD_PREC == 2
  return eam_is_packed(fc) ? packed * packed : knot * knot;
#else
  if (!eam_is_packed(fc)) return (real)(knot * knot);
  const float per = (float)fc->packing.per;
  float least = eam_as_float((uint32_t)fc->packing.first) / per;
  for (int k = 0; k < 8; k++)
    least = nextafterf(least, 0);
  while (eam_bits_of(least * per) < fc->packing.first)
    least = nextafterf(least, INFINITY);
  return least;
#endif
}

/* For positions as far as ghosts are: numbers of so many bits, and others once as far away. */
static tile_numbers squeeze_of(const force_job *job, int bits)
{
  double longest = 0;
  for (int d = 0; d < 3; d++)
    longest = fmax(longest, job->edge[d] + 4 * job->list->r_list);
  tile_numbers s = {exp2(bits) / longest, {}};
  for (int d = 0; d < 3; d++)
    s.base[d] = 0x1p52 + round(exp2(bits - 1) - job->middle[d] * s.per);
  return s;
}

/* Positions squeezed, before the first pass of a job. */
static __global__ void squeeze_all(const tile_job job, int64_t n)
{
  const int64_t j = md_thread();
  if (j >= n) return;
  const coord4 at = job.places.coord[j];
  job.squeezed.of[j] = squeeze(&job.squeezed, (double)at.x, (double)at.y, (double)at.z);
}

/* Where they lie, if rounding is not seen: in double, in frames that are not too long; and where
 * multiprocessors have many tiles: 32,000 atoms took longer.  Not in deterministic runs, since that
 * depends on the GPU and on how many ranks there are. */
static md_status open_squeezed(force *fc, const force_job *job, tile_squeezed *out)
{
  const size_t all = (size_t)(job->n + job->n_ghost);
  *out = (tile_squeezed){squeeze_of(job, COARSE_BITS), squeeze_of(job, FINE_BITS), NULL, {}};
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const bool many =
      md_blocks(job->n, ROWS) >= SQUEEZED_TILES * (unsigned)processors && !fc->ctx->deterministic;
  const bool fits = fc->eam->cutoff * out->coarse.per >= SQUEEZED_LEAST;
  if (MD_PREC == 2 && eam_is_packed(fc) && fits && many) {
    MD_TRY(md_buffer_reserve(fc->ctx, &fc->squeezed, all * sizeof(uint4), 0));
    out->of = (uint4 *)fc->squeezed.data;
    out->beside.near = (uint4 *)fc->packed.data;
    out->beside.rest = (double *)(out->beside.near + all);
  }
  return MD_OK;
}

/* Lengths in the units of squeezed positions. */
static void scale_lengths(tile_job *job, double per)
{
  eam_grid *grid = &job->eam.grid;
  grid->r_cut_sq *= (real)(per * per), grid->near_sq *= (real)(per * per);
  grid->packed /= (real)per;
  job->unit /= (real)per;
  job->scale_sq = (real)(1 / (per * per));
}

static md_status squeeze_first(const force *fc, const force_job *job, const tile_job *first)
{
  enum { BLOCK = 256 };
  const int64_t n = job->n + job->n_ghost;
  if (!first->squeezed.of) return MD_OK;
  squeeze_all<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)fc->ctx->stream>>>(*first, n);
  MD_LAUNCHED();
  return MD_OK;
}

/* Ghosts with F' that others told. */
static __global__ void place_ghosts(const tile_job job, int64_t n_ghost)
{
  const int64_t g = md_thread(), j = job.n + g;
  if (g < n_ghost)
    put_placed(&job, (int32_t)j, job.places.coord[j], job.eam.slopes[j], job.squeezed.of != NULL);
}

/* Between the passes, where other processes take part. */
static md_status share_slopes(const force *fc, const force_job *job, const tile_job *tiles)
{
  enum { BLOCK = 256 };
  MD_TRY(eam_share(fc, job));
  if (!fc->fill || job->n_ghost == 0) return MD_OK;
  place_ghosts<<<md_blocks(job->n_ghost, BLOCK), BLOCK, 0, (cudaStream_t)fc->ctx->stream>>>(
      *tiles, job->n_ghost);
  MD_LAUNCHED();
  return MD_OK;
}

/* Tables, and room for coordinates with F' beside them. */
static md_status open_embedded(force *fc, const force_job *job, eam_tables *eam)
{
  const size_t bytes = (size_t)(job->n + job->n_ghost) * sizeof(coord4);
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->packed, bytes, 0));
  return eam_open(fc, job, md_blocks(job->n, ROWS), eam);
}

static md_status open_pass(force *fc, const force_job *job, const eam_tables *eam, eam_pass which,
                           int kernel, tile_pass *out)
{
  tile_squeezed squeezed;
  MD_TRY(open_squeezed(fc, job, &squeezed));
  const bool packed = eam_is_packed(fc), forces = which == EAM_FORCES, short_ = squeezed.of != NULL;
  const tile_mode mode = {LJ_PLAIN, false,  forces, false, which, TYPES_ALIKE,
                          false,    packed, short_, false, false};
  out->job = open_tiles(fc, job, mode);
  out->job.squeezed = squeezed;
  out->job.unit = (real)job->coord_scale;
  out->job.eam = *eam;
  out->job.placed = (coord4 *)fc->packed.data;
  out->job.near = eam_near_of(fc, halo_bytes(&out->job, mode), which);
  out->job.eam.grid.near_sq = eam_near_sq(fc, out->job.near);
  out->kernel = (short_   ? squeezed_kernels
                 : packed ? packed_kernels
                          : knot_kernels)[forces][kernel];
  if (short_) scale_lengths(&out->job, (forces ? squeezed.fine : squeezed.coarse).per);
  return prepare(fc, &out->job, out->kernel, mode, &out->shared);
}

md_status PREC(eam_gpu_tile)(force *fc, const force_job *job)
{
  const int64_t blocks = md_blocks(job->n, ROWS);
  const bool tally = job->tally != NULL;
  eam_tables eam;
  tile_pass first, second;
  MD_TRY(open_embedded(fc, job, &eam));
  MD_TRY(open_pass(fc, job, &eam, EAM_DENSITIES, tally ? TALLY : ALONE, &first));
  MD_TRY(open_pass(fc, job, &eam, EAM_FORCES, tally ? TALLY : ALONE, &second));
  if (tally) second.job.partial += 2 * blocks;
  MD_TRY(squeeze_first(fc, job, &first.job));
  MD_TRY(launch(fc, &first.job, first.kernel, first.shared, false));
  MD_TRY(share_slopes(fc, job, &first.job));
  MD_TRY(launch(fc, &second.job, second.kernel, second.shared, false));
  return tally ? eam_read(fc, job, blocks, 0.5) : MD_OK;
}

md_status PREC(eam_gpu_tile_advance)(force *fc, const force_job *job)
{
  eam_tables eam;
  tile_pass first, second;
  MD_TRY(open_embedded(fc, job, &eam));
  MD_TRY(open_pass(fc, job, &eam, EAM_DENSITIES, FUSED, &first));
  MD_TRY(open_pass(fc, job, &eam, EAM_FORCES, FUSED, &second));
  MD_TRY(squeeze_first(fc, job, &first.job));
  for (int32_t s = 0; s < job->steps; s++) {
    MD_TRY(launch(fc, &first.job, first.kernel, first.shared, s > 0 || !first.job.tiles.unfit));
    MD_TRY(launch(fc, &second.job, second.kernel, second.shared, true));
    first.job.places = second.job.places = next_places(&second.job.places);
  }
  return MD_OK;
}
