/* spread/gpu_one/sweep_gpu.h - a warp's sweep over its slice of the particles; for
 * spread_sweep.real.cu.
 *
 * Particles are staged in shared memory, 32 at a time, then taken in batches of one plane; planes
 * that no particle can reach any more are given away (flushed) and the others move up. */
#ifndef SWEEP_GPU_H
#define SWEEP_GPU_H

#include "spread/gpu_one/fixed_gpu.h"
#include "spread/gpu/pair_gpu.h"

enum { WARPS = MD_PREC == 2 ? 2 : 4, BLOCK = WARPS * MD_WARP };
/* Particles of one plane after which the ring is emptied, as products round sums toward zero. */
enum { MOST_TOGETHER = 512 };
/* Particles staged at once, and the record of none that follows theirs. */
enum { SLOTS = MD_WARP + BATCH, RECORDS = SLOTS + 1 };

/* Vectors that a warp sums at once, and at most. */
#define VECTORS(p) SWEEP_VECTORS(p, (int)sizeof(real))
enum { MOST_VECTORS = MD_PREC == 2 ? 2 : 4 };

/* What a sweep reads and writes: charges q of one or VECTORS vectors, and their meshes, or one
 * vector's sums in fixed point.  (With four words more, sweeps of four vectors take 3 % longer.) */
typedef struct {
  pencil_view view;
  const real *q;
  int64_t q_stride, points;
  real *mesh; /* in fixed point: 64 bits a point */
  fixed_facts *facts;
  bool dense;      /* about a particle a plane of a pencil, or more */
  uint32_t blocks; /* of a group of vectors */
} sweep;

/* [vector][tile][plane][of the lane]; loops over constants keep it in registers. */
typedef real ring[MOST_VECTORS][PENCIL_TILES_MAX][SPREAD_ORDER_MAX][4];

/* What a lane fetched ahead: the particle it stages next with its charges, and the one after it. */
typedef struct {
  pencil_particle now, later;
  real q[MOST_VECTORS];
} fetched;

static __device__ __forceinline__ void fetch_charges(const int vectors, const sweep &s,
                                                     fetched *ahead)
{
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    ahead->q[v] = s.q[ahead->now.index + v * s.q_stride];
}

/* i: the lane's particle, or beyond the end.  It is not needed again. */
static __device__ __forceinline__ pencil_particle fetch(const sweep &s, int32_t i)
{
  const int4 *from = (const int4 *)(s.view.particle + min(i, s.view.n - 1));
  pencil_particle to;
  SPREAD_UNROLL
  for (size_t k = 0; k < sizeof to / sizeof *from; k++)
    ((int4 *)&to)[k] = __ldcs(from + k);
  return to;
}

/* Lane: its particle's record; one vector's charge goes into X, more follow it. */
static __device__ __forceinline__ void stage_particle(const int p, const int vectors,
                                                      const fetched &ahead, const int32_t *exponent,
                                                      real *record)
{
  const real scale = bspline_inverse_factorial(p - 1);
  real f[3], w[3][SPREAD_ORDER_MAX], q[MOST_VECTORS];
  uint32_t middle, fast;
  pencil_unpack(&ahead.now, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    bspline_polynomials(p, f[a], w[a]);
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    q[v] = ahead.q[v] * scale_down(exponent[v]);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    w[1][k] *= scale * scale * WEIGHT_SCALE;
    w[2][k] *= vectors == 1 ? q[0] * scale : scale;
  }
  store_weights(p, w, record);
  store_offsets(p, middle, fast, record);
  if (vectors > 1) store_reals(vectors, q, record + RECORD_MORE(p));
}

/* The largest sum of the lane. */
static __device__ __forceinline__ real largest_sum(const int p,
                                                   const real (*tiles)[SPREAD_ORDER_MAX][4])
{
  real most = 0;
  SPREAD_UNROLL
  for (int t = 0; t < PENCIL_PATCHES(p); t++)
    SPREAD_UNROLL
  for (int i = 0; i < 4 * p; i++)
    most = max(most, abs(tiles[t][i / 4][i % 4]));
  return most;
}

/* Warp: whether the charges to be staged may have the scale of those before. */
static __device__ __forceinline__ bool keeps_scale(const int vectors, const fetched &ahead,
                                                   const int32_t *exponent)
{
  bool keeps = true;
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    const int32_t to = max(largest_exponent(ahead.q[v]), (int32_t)LEAST_EXPONENT);
    keeps = keeps && to <= exponent[v] && to >= exponent[v] - SCALE_SLACK;
  }
  return keeps;
}

/* Warp: the scale for the charges to be staged, if they are larger than those before or much
 * smaller; sums follow, and must not overflow. */
static __device__ __forceinline__ void
fit_scale(const int p, const int vectors, const fetched &ahead, int32_t *exponent, ring planes)
{
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    const int32_t from = exponent[v];
    int32_t to = max(largest_exponent(ahead.q[v]), (int32_t)LEAST_EXPONENT);
    if (to <= from && to >= from - SCALE_SLACK) continue;
    if (to < from) to = least_scale(from, to, largest_exponent(largest_sum(p, planes[v])));
    const real factor = rescale(from, to);
    exponent[v] = to;
    SPREAD_UNROLL
    for (int t = 0; t < PENCIL_PATCHES(p); t++)
      SPREAD_UNROLL
    for (int i = 0; i < 4 * p; i++)
      planes[v][t][i / 4][i % 4] *= factor;
  }
}

/* Warp: particles of one plane, up to eight for each pair of terms.  The lane looks at two of
 * eight, each at its points. */
static __device__ __forceinline__ void add_batch(const int p, const int vectors, const int pairs,
                                                 const staged &particles, int32_t count,
                                                 ring planes)
{
  const int member = warp_lane() % 4, row = warp_lane() / 4, line = row / 2 + row % 2 * 4;
  real z[2 * PAIRS][SPREAD_ROW], y[2 * PAIRS][PENCIL_TILES_MAX], x[2 * PAIRS][2];
  real charge[2 * PAIRS][QUAD * QUADS(MOST_VECTORS)];
  pair a[MOST_VECTORS][PAIRS][2];
  SPREAD_UNROLL
  for (int j = 0; j < 2 * pairs; j++) {
    const int k = member + 4 * j;
    const int slot = k < count ? wrap_slot(particles, particles.head + k) : SLOTS;
    const real *record = particles.record + slot * particles.length;
    const int2 offset = load_offsets(p, record);
    const real *y_from = record + offset.x + line, *x_from = record + offset.y + row;
    load_reals(p, record, z[j]);
    if (vectors > 1) load_reals(vectors, record + RECORD_MORE(p), charge[j]);
    SPREAD_UNROLL
    for (int t = 0; t < PENCIL_PATCHES(p); t++)
      y[j][t] = y_from[8 * t];
    SPREAD_UNROLL
    for (int c = 0; c < 2; c++)
      x[j][c] = x_from[8 * c];
  }
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    SPREAD_UNROLL
  for (int i = 0; i < 2 * pairs; i++) {
    const int j = i / 2 * 2, c = i % 2;
    a[v][i / 2][c] = vectors > 1 ? pair_of(x[j][c] * charge[j][v], x[j + 1][c] * charge[j + 1][v])
                                 : pair_of(x[j][c], x[j + 1][c]);
  }
  SPREAD_UNROLL
  for (int t = 0; t < PENCIL_PATCHES(p); t++)
    SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    pair b[PAIRS];
    SPREAD_UNROLL
    for (int j = 0; j < pairs; j++)
      b[j] = pair_of(y[2 * j][t] * z[2 * j][k], y[2 * j + 1][t] * z[2 * j + 1][k]);
    SPREAD_UNROLL
    for (int v = 0; v < vectors; v++)
      add_pairs(pairs, a[v], b, planes[v][t][k]);
  }
}

/* Where a slice stands in a pencil. */
typedef struct {
  walk at;
  tile_points points;
  real *mesh; /* the plane, in that of the first vector */
} place;

/* Of a sweep in fixed point: 2^s, the least exponent of charges that it is enough for, and the last
 * plane that such charges reach, which may not be known yet. */
typedef struct {
  real scale;
  int32_t enough, coarse;
} fixing;
enum { NOT_YET = INT32_MAX };

static __device__ __forceinline__ fixing begin_fixing(const fixed_facts *facts)
{
  const int32_t shift = find_shift(facts);
  const fixing begun = {(real)exact_power(shift), DIGITS - shift + BIAS, -1};
  return begun;
}

/* Warp: at the plane, before the particles that were fetched are staged. */
static __device__ __forceinline__ void find_largest(const int p, const fetched &ahead,
                                                    int32_t plane, fixing *fix)
{
  const int32_t largest = __reduce_max_sync(MD_ALL_LANES, exponent_field(ahead.q[0]));
  if (largest >= fix->enough)
    fix->coarse = NOT_YET;
  else if (fix->coarse == NOT_YET)
    fix->coarse = plane + p - 1;
}

/* Point i of the lane. */
#define POINT_LINE(i) ((i) / 4 * 2 + (i) % 2)
#define POINT_COLUMN(i) ((i) % 4 / 2)

/* Where particles are dense few sums are zero, and asking costs more than adding them. */
static __device__ __forceinline__ void
add_points(const int p, bool dense, const tile_points &points, const real *sum, real *add)
{
  if (dense) {
    SPREAD_UNROLL
    for (int i = 0; i < 4 * PENCIL_PATCHES(p); i++)
      atomicAdd(add + points.at[POINT_LINE(i)][POINT_COLUMN(i)], sum[i]);
    return;
  }
  SPREAD_UNROLL
  for (int i = 0; i < 4 * PENCIL_PATCHES(p); i++)
    if (sum[i] != 0) atomicAdd(add + points.at[POINT_LINE(i)][POINT_COLUMN(i)], sum[i]);
}

/* Add integers to the plane that begins at point `plane`, and what they leave if `fine`. */
static __device__ __forceinline__ void add_integers(const int p, const sweep &s,
                                                    const tile_points &points, const real *sum,
                                                    int64_t plane, real scale, bool fine)
{
  unsigned long long *to = (unsigned long long *)s.mesh + plane;
  SPREAD_UNROLL
  for (int i = 0; i < 4 * PENCIL_PATCHES(p); i++)
    if (s.dense || sum[i] != 0)
      atomicAdd(to + points.at[POINT_LINE(i)][POINT_COLUMN(i)],
                (unsigned long long)nearest_integer(sum[i] * scale));
  if (!fine) return;
  to = s.facts->rest + plane;
  if (warp_lane() == 0) s.facts->rests = s.facts->turn;
  SPREAD_UNROLL
  for (int i = 0; i < 4 * PENCIL_PATCHES(p); i++) {
    const real all = sum[i] * scale;
    const double left = ((double)all - (double)nearest_integer(all)) * exact_power(REST);
    if (left != 0)
      atomicAdd(to + points.at[POINT_LINE(i)][POINT_COLUMN(i)],
                (unsigned long long)__double2ll_rn(left));
  }
}

/* Give the first plane away and move the others up. */
static __device__ __forceinline__ void flush_plane(const int p, const int vectors, const bool fixed,
                                                   const sweep &s, const place &here,
                                                   const int32_t *exponent, const fixing &fix,
                                                   ring planes)
{
  real *add = here.mesh;
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++, add += s.points) {
    real sum[4 * PENCIL_TILES_MAX];
    SPREAD_UNROLL
    for (int i = 0; i < 4 * PENCIL_PATCHES(p); i++) {
      real(*tile)[4] = planes[v][i / 4];
      sum[i] = tile[0][i % 4] * scale_up(exponent[v]);
      SPREAD_UNROLL
      for (int k = 1; k < p; k++)
        tile[k - 1][i % 4] = tile[k][i % 4];
      tile[p - 1][i % 4] = 0;
    }
    if (fixed)
      add_integers(p, s, here.points, sum, here.mesh - s.mesh, fix.scale,
                   here.at.plane > fix.coarse);
    else
      add_points(p, s.dense, here.points, sum, add);
  }
}

/* The plane in the first vector's mesh. */
static __device__ __forceinline__ real *find_plane(const sweep &s, int32_t z)
{
  const int32_t *mesh = s.view.mesh;
  return s.mesh + (int64_t)(z < mesh[0] ? z : z - mesh[0]) * mesh[1] * mesh[2];
}

/* Of particles from i up to `last`, those of the present plane, the first one that is not its turn:
 * of very many the plane takes some, and the ring is emptied before the others. */
static __device__ __forceinline__ int32_t turn_end(int32_t i, int32_t last, bool *cut)
{
  if (*cut) return i;
  const int32_t stop = min(last, i + MOST_TOGETHER);
  *cut = stop < last;
  return stop;
}

/* Warp: stage the next particles, up to the end of a slice. */
static __device__ __forceinline__ void stage_more(const int p, const int vectors, const sweep &s,
                                                  int32_t end, fetched *ahead,
                                                  const int32_t *exponent, staged *particles)
{
  const int slot = wrap_slot(*particles, particles->tail + warp_lane());
  __syncwarp();
  stage_particle(p, vectors, *ahead, exponent, particles->record + slot * particles->length);
  ahead->now = ahead->later;
  fetch_charges(vectors, s, ahead);
  ahead->later = fetch(s, particles->end + 2 * MD_WARP + warp_lane());
  particles->tail = wrap_slot(*particles, particles->tail + MD_WARP);
  particles->end = min(particles->end + MD_WARP, end);
  cudaGridDependencySynchronize(); /* the kernel before is done, the mesh zero */
  __syncwarp();
}

/* Warp: particle i and those after it, up to `stop`, all of one plane: as many as a batch takes. */
static __device__ __forceinline__ int32_t add_next(const int p, const int vectors, int32_t i,
                                                   int32_t stop, staged *particles, ring planes)
{
  const int32_t count = min(min(stop, particles->end) - i, BATCH);
  if (PAIRS > 1 && count > 8)
    add_batch(p, vectors, PAIRS, *particles, count, planes);
  else
    add_batch(p, vectors, 1, *particles, count, planes);
  particles->head = wrap_slot(*particles, particles->head + count);
  return i + count;
}

/* Warp: one slice of the particles, with as many vectors. */
static __device__ __forceinline__ void sweep_slice(const int p, const int vectors, const bool fixed,
                                                   sweep &s, real *records)
{
  if (fixed)
    cudaTriggerProgrammaticLaunchCompletion(); /* the next kernel's blocks may wait meanwhile */
  const int length = RECORD_LENGTH(p, vectors > 1 ? vectors : 0), lane = warp_lane();
  const uint32_t group = blockIdx.x / s.blocks;
  const int32_t slice = (int32_t)(blockIdx.x % s.blocks * WARPS + threadIdx.x / MD_WARP);
  if (slice >= s.view.slices) return;
  int32_t i = s.view.begin[slice];
  const int32_t end = s.view.begin[slice + 1];
  s.q += (int64_t)group * vectors * s.q_stride;
  s.mesh += (int64_t)group * vectors * s.points;
  const int64_t layer = (int64_t)s.view.mesh[1] * s.view.mesh[2];
  ring planes = {};
  staged particles = {records, SLOTS, length, 0, 0, i};
  int32_t exponent[MOST_VECTORS]; /* of what the planes are sums of */
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    exponent[v] = LEAST_EXPONENT;
  place here = {walk_begin()};
  fetched ahead = {fetch(s, i + lane), fetch(s, i + MD_WARP + lane)};
  fetch_charges(vectors, s, &ahead);
  clear_records(records, RECORDS * length);
  fixing fix = {};
  if (fixed) {
    cudaGridDependencySynchronize();
    fix = begin_fixing(s.facts);
  }
  while (i < end) {
    const int32_t pencil = here.at.pencil;
    walk_to(s.view, i, &here.at);
    if (fixed && here.at.pencil != pencil && fix.coarse != NOT_YET) fix.coarse = -1;
    here.points = find_points(p, s.view, here.at);
    here.mesh = find_plane(s, here.at.plane);
    bool cut = false;
    int32_t stop = turn_end(i, plane_end(s.view, here.at.plane, end, &here.at), &cut);
    int32_t later = cut ? i : plane_end(s.view, here.at.plane + 1, end, &here.at);
    for (int left = p; left > 0;) { /* planes that particles have reached */
      while (i < stop) {
        if (particles.end < min(stop, i + BATCH)) {
          const bool keeps = keeps_scale(vectors, ahead, exponent), none = particles.end == i;
          if (none && !keeps) fit_scale(p, vectors, ahead, exponent, planes);
          if (fixed && (none || keeps)) find_largest(p, ahead, here.at.plane, &fix);
          if (none || keeps) stage_more(p, vectors, s, end, &ahead, exponent, &particles);
        }
        i = add_next(p, vectors, i, stop, &particles, planes);
        left = p;
      }
      flush_plane(p, vectors, fixed, s, here, exponent, fix, planes);
      left--;
      here.at.plane++;
      here.mesh = here.at.plane == s.view.mesh[0] ? s.mesh : here.mesh + layer;
      stop = turn_end(i, later, &cut);
      if (!cut && left > 0) later = plane_end(s.view, here.at.plane + 1, end, &here.at);
    }
  }
}

#endif
