/* spread/gpu_one/values_gpu.h - what a batch of particles of one plane reads from the window; for
 * interpolate_sweep.real.cu.
 *
 * A product of lines of the window with X of particles (pair_gpu.h) leaves a number for each of p
 * lines of 8 or 16 points, which the lanes multiply with Z and Y and add up.  Sixteen particles are
 * rows of a product whose columns are 8 lines, so that a lane has Z and Y of two of them; eight are
 * columns of one whose rows are 16 lines, so that none are made in vain.  A product is three of
 * halves, or one in double precision.  In single precision sixteen of four vectors, or of orders
 * from 7 on, need more registers than they save time.  Sixteen cost 2 shuffles for their values,
 * eight 3; twice the products, with the slopes of X, and 7 shuffles with gradients. */
#ifndef VALUES_GPU_H
#define VALUES_GPU_H

#include "spread/gpu_one/window_gpu.h"

#if MD_PREC == 2
#define REAL_TYPE "f64"
#define REAL_REGISTER(value) "d"(value)
#else
#define REAL_TYPE "f32"
#define REAL_REGISTER(value) "f"(value)
#endif

/* Results; NULL: not wanted.  Of one or VECTORS vectors, `stride` values and `points` apart. */
typedef struct {
  pencil_view view;
  const real *mesh;
  real *value, *gradient;
  int64_t stride, points;
  real scale[3]; /* from d / d fraction to d / d x */
  bool beyond;   /* more values than the cache holds */
} pencil_reader;

/* Values beyond the cache are written in no order, so that most sectors hold one of them when they
 * have to leave.  The cache is slow at reading then what is missing: they are asked for as soon as
 * it is known which will be written, and leave after all else. */
static __device__ __forceinline__ void ask_for_value(const pencil_reader &s, uint32_t index)
{
  if (s.beyond) asm volatile("prefetch.global.L2 [%0];" ::"l"(s.value + index));
}

static __device__ __forceinline__ void write_value(const pencil_reader &s, uint32_t index,
                                                   real value)
{
  uint64_t stay;
  if (!s.beyond) {
    s.value[index] = value;
    return;
  }
  asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(stay));
  asm volatile("st.global.L2::cache_hint." REAL_TYPE " [%0], %1, %2;" ::"l"(s.value + index),
               REAL_REGISTER(value), "l"(stay)
               : "memory");
}

/* Where a record's weights along the middle and the fastest axis are for the patch's first line and
 * column, and whose they are. */
typedef struct {
  int line, column;
  uint32_t index;
} record_place;

static __device__ __forceinline__ void store_place(const int p, uint32_t middle, uint32_t fast,
                                                   uint32_t index, real *record)
{
  const uint32_t two = (RECORD_Y(p) - middle) | (RECORD_X(p) - fast) << 16;
  *(uint2 *)(record + RECORD_AT(p)) = make_uint2(two, index);
}

static __device__ __forceinline__ record_place load_place(const int p, const real *record)
{
  const uint2 from = *(const uint2 *)(record + RECORD_AT(p));
  const record_place place = {(int)(from.x & 0xffff), (int)(from.x >> 16), from.y};
  return place;
}

/* The record of a staged particle, counted from that whose turn it is. */
static __device__ __forceinline__ const real *find_record(const staged &s, int k)
{
  return s.record + wrap_slot(s, s.head + k) * s.length;
}

/* Of eight staged particles, where the lane's weights are: X of one at its columns, Y at its lines
 * and Z of two others.  Beyond the last others stand in, whose results go nowhere. */
typedef struct {
  const real *x, *y[2], *z[2];
} lane_records;

static __device__ __forceinline__ lane_records find_records(const int p, const staged &s)
{
  const int row = warp_lane() / 4, member = warp_lane() % 4;
  const real *mine = find_record(s, row);
  lane_records found;
  found.x = mine + load_place(p, mine).column + member;
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    found.z[i] = find_record(s, 2 * member + i);
    found.y[i] = found.z[i] + load_place(p, found.z[i]).line + row;
  }
  return found;
}

/* The lane's sums over planes, of two particles at its lines. */
typedef real plane_sums[2][PATCH_LINES_MAX];

static __device__ __forceinline__ void add_planes(const int p, const int t,
                                                  const real z[2][SPREAD_ROW], const real column[4],
                                                  plane_sums sum)
{
  SPREAD_UNROLL
  for (int c = 0; c < 2; c++) {
    const int plane = (2 * t + c) / PATCH_LINES(p), line = (2 * t + c) % PATCH_LINES(p);
    SPREAD_UNROLL
    for (int i = 0; i < 2 && plane < p; i++)
      sum[i][line] += z[i][plane] * column[2 * c + i];
  }
}

static __device__ __forceinline__ real add_lines(const int p, const real *y,
                                                 const real sum[PATCH_LINES_MAX])
{
  real out = 0;
  SPREAD_UNROLL
  for (int i = 0; i < PATCH_LINES(p); i++)
    out += y[8 * i] * sum[i];
  return out;
}

/* Of two numbers, one's sum with that of the lane `step` away, which keeps the other. */
static __device__ __forceinline__ real share(int step, real first, real second)
{
  const bool upper = warp_lane() & step;
  return (upper ? second : first) + __shfl_xor_sync(MD_ALL_LANES, upper ? first : second, step);
}

/* Each lane's sum with that of the lane `step` away. */
static __device__ __forceinline__ real both(int step, real value)
{
  return value + __shfl_xor_sync(MD_ALL_LANES, value, step);
}

/* Warp: values of up to eight particles of one plane, of one or several vectors. */
static __device__ __forceinline__ void read_few(const int p, const int vectors,
                                                const pencil_reader &s, const staged &particles,
                                                int32_t count, const window *planes)
{
  const int lane = warp_lane();
  const int set = (vectors > 1 ? lane / 8 % 2 : 0) + (vectors == 4 ? lane / 4 % 2 * 2 : 0);
  const int which = 2 * (lane % 4) + lane / 16;
  const lane_records from = find_records(p, particles);
  line_pairs x;
  real z[2][SPREAD_ROW], value[MOST_VECTORS];
  plane_sums sum[MOST_VECTORS] = {};
  load_columns(from.x, x);
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++)
    load_reals(p, from.z[i], z[i]);
  SPREAD_UNROLL
  for (int t = 0; t < WINDOW_LINES(p) / 2; t++)
    SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    real column[4];
    sum_columns(t, x, planes[v], column);
    add_planes(p, t, z, column, sum[v]);
  }
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    value[v] = share(16, add_lines(p, from.y[0], sum[v][0]), add_lines(p, from.y[1], sum[v][1])) *
               scale_up(planes[v].scale);
  const uint32_t to = load_place(p, find_record(particles, which)).index;
  real out = vectors == 1 ? both(8, value[0]) : share(8, value[0], value[1]);
  out = vectors == 4 ? share(4, out, share(8, value[2], value[3])) : both(4, out);
  const bool last = vectors == 4 || !(lane & (vectors == 2 ? 4 : 12));
  if (vectors == 1 && which < count && last) write_value(s, to, out);
  if (vectors > 1 && which < count && last) s.value[to + set * s.stride] = out;
}

/* Sums of sixteen particles before lanes add them up, and whose value a lane writes then.  In
 * double precision that waits until products of the next sixteen are on their way, which no
 * instruction of the warp overtakes; in single precision it costs registers in vain. */
typedef struct {
  real sum[2];
  uint32_t to;
} unwritten;
static const uint32_t NOBODY = UINT32_MAX;
#define WRITES_LATE(vectors) (MD_PREC == 2 && (vectors) == 1)

static __device__ __forceinline__ void write_sums(const pencil_reader &s, const unwritten &last)
{
  const real out = both(2, share(1, last.sum[0], last.sum[1]));
  if (last.to != NOBODY) write_value(s, last.to, out);
}

/* What a particle has at two lines of every eight. */
static __device__ __forceinline__ void load_lines(const int p, const real *from, real *to)
{
  SPREAD_UNROLL
  for (int j = 0; j < 2 * PATCH_LINES(p); j++)
    to[j] = from[j / 2 * 8 + j % 2];
}

/* Warp: values of up to sixteen particles of one plane, rows of products whose columns are the
 * lines of a plane: Z and Y of two particles a lane serve sixteen, not eight. */
static __device__ __forceinline__ void read_many(const int p, const int vectors,
                                                 const pencil_reader &s, const staged &particles,
                                                 int32_t count, const window *planes,
                                                 unwritten *late)
{
  const int row = warp_lane() / 4, member = warp_lane() % 4, lines = PATCH_LINES(p);
  const real *line_from[2];
  pair x[LINE_PAIRS][2];
  real z[2][SPREAD_ROW], y[2][2 * PATCH_LINES_MAX], value[MOST_VECTORS];
  SPREAD_UNROLL
  for (int c = 0; c < 2; c++) {
    const real *record = find_record(particles, row + 8 * c);
    const record_place place = load_place(p, record);
    const real *column = record + place.column + member;
    line_from[c] = record + place.line + 2 * member;
    load_reals(p, record, z[c]);
    SPREAD_UNROLL
    for (int j = 0; j < LINE_PAIRS; j++)
      x[j][c] = pair_of(column[8 * j], column[8 * j + 4]);
    if (!WRITES_LATE(vectors)) load_lines(p, line_from[c], y[c]);
  }
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    real sum[2][2 * PATCH_LINES_MAX] = {}, mine[2] = {};
    SPREAD_UNROLL
    for (int k = 0; k < p * lines; k++) {
      real line[4] = {};
      add_pairs(LINE_PAIRS, x, planes[v].line[k], line);
      if (WRITES_LATE(vectors) && k == min(2, p * lines - 1)) write_sums(s, *late);
      SPREAD_UNROLL
      for (int j = 0; j < 4; j++)
        sum[j / 2][k % lines * 2 + j % 2] += z[j / 2][k / lines] * line[j];
    }
    SPREAD_UNROLL
    for (int c = 0; c < 2; c++)
      if (WRITES_LATE(vectors)) load_lines(p, line_from[c], y[c]);
    SPREAD_UNROLL
    for (int j = 0; j < 4 * lines; j++)
      mine[j % 2] += y[j % 2][j / 2] * sum[j % 2][j / 2];
    if (WRITES_LATE(vectors))
      late->sum[0] = mine[0], late->sum[1] = mine[1];
    else
      value[v] = share(1, mine[0], mine[1]) * scale_up(planes[v].scale);
  }
  const int which = row + 8 * (member % 2), upper = member / 2;
  const uint32_t to = load_place(p, find_record(particles, which)).index;
  if (WRITES_LATE(vectors)) {
    late->to = which < count && !upper ? to : NOBODY;
  } else if (vectors == 1) {
    const real out = both(2, value[0]);
    if (which < count && !upper) write_value(s, to, out);
  }
  SPREAD_UNROLL
  for (int v = 0; v + 1 < vectors; v += 2) {
    const real out = share(2, value[v], value[v + 1]);
    if (which < count) s.value[to + (v + upper) * s.stride] = out;
  }
}

/* Warp: values and gradients of up to eight particles.  Each lane ends with one particle's value or
 * one component of its gradient. */
static __device__ __forceinline__ void read_slopes(const int p, const pencil_reader &s,
                                                   const staged &particles, int32_t count,
                                                   const window &planes)
{
  const int skip = particles.slots * particles.length, row = warp_lane() / 4;
  const int which = 2 * (warp_lane() % 4) + row / 4;
  const lane_records from = find_records(p, particles);
  line_pairs x, dx;
  real z[2][SPREAD_ROW], dz[2][SPREAD_ROW];
  plane_sums sum = {}, slow = {}, fast = {};
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    load_reals(p, from.z[i], z[i]);
    load_reals(p, from.z[i] + skip, dz[i]);
  }
  load_columns(from.x, x);
  load_columns(from.x + skip, dx);
  SPREAD_UNROLL
  for (int t = 0; t < WINDOW_LINES(p) / 2; t++) {
    real column[4];
    sum_columns(t, x, planes, column);
    add_planes(p, t, z, column, sum);
    add_planes(p, t, dz, column, slow);
    sum_columns(t, dx, planes, column);
    add_planes(p, t, z, column, fast);
  }
  real all[4][2];
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    all[0][i] = add_lines(p, from.y[i], sum[i]);
    all[1][i] = add_lines(p, from.y[i], slow[i]);
    all[2][i] = add_lines(p, from.y[i] + skip, sum[i]);
    all[3][i] = add_lines(p, from.y[i], fast[i]);
  }
  SPREAD_UNROLL
  for (int a = 0; a < 4; a++)
    all[a][0] = share(16, all[a][0], all[a][1]);
  const int64_t to = load_place(p, find_record(particles, which)).index;
  const real out = share(4, share(8, all[0][0], all[2][0]), share(8, all[1][0], all[3][0])) *
                   scale_up(planes.scale);
  if (which >= count) return;
  const int axis = row % 4 - 1; /* -1: the value */
  if (axis >= 0)
    s.gradient[3 * to + axis] = (axis == 0   ? s.scale[0]
                                 : axis == 1 ? s.scale[1]
                                             : s.scale[2]) *
                                out;
  else if (s.value)
    s.value[to] = out;
}

#endif
