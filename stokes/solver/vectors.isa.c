/* stokes/solver/vectors.isa.c - vectors of solvers on the CPU.
 *
 * Rows are cut into parts, at most VECTOR_MOST_PARTS of them, and parts into tiles of TILE_ROWS
 * block rows.  A part belongs to one thread; a tile stays in its cache through all that an
 * operation does with it.  Sums of parts are added in order, on several ranks after one message of
 * each to all. */
#include "comm/world.h"
#include "core/time/timer.h"
#include "stokes/solver/cg_scalars.h"
#include "stokes/solver/jacobi.h"
#include "stokes/team.h"
#include "stokes/solver/small_columns_isa.h"
#include "stokes/solver/vectors_impl.h"

#include <string.h>

enum { TILE_ROWS = VECTOR_TILE, MOST = STOKES_VECTORS };

/* Its first block row, block rows and scalar rows; no rows: beyond the end of its part. */
typedef struct {
  int64_t first;
  int rows, n;
} tile;

static int64_t part_rows(const vector_space *s)
{
  return vector_part_rows(s->shared.n_all ? s->shared.n_all : s->n_rows);
}

static int64_t part_count(const vector_space *s)
{
  return (s->n_rows + part_rows(s) - 1) / part_rows(s);
}

/* The tile of part p that begins at block row `first`. */
MD_INLINE tile tile_at(const vector_space *s, int64_t p, int64_t first)
{
  const int64_t part = (p + 1) * part_rows(s), end = part < s->n_rows ? part : s->n_rows;
  const int64_t left = end - first;
  const int rows = left < TILE_ROWS ? (int)left : TILE_ROWS;
  return (tile){first, rows, 3 * rows};
}

#define FOR_PARTS(s, p)                                                                            \
  _Pragma("omp parallel for schedule(static) num_threads(team_size((s)->ctx, (s)->n_rows))") for ( \
      int64_t p = 0; p < part_count(s); p++)
#define FOR_TILES(s, p, t)                                                                         \
  for (tile t = tile_at(s, p, (p)*part_rows(s)); t.rows > 0; t = tile_at(s, p, t.first + t.rows))

/* Sums of so many parts are sent: those of the rank with most of them. */
static int64_t parts_sent(const vector_space *s)
{
  return (s->shared.n_most + part_rows(s) - 1) / part_rows(s);
}

/* Room for `width` sums of every part, zero, and behind them for those of all ranks. */
static md_status reserve_sums(vector_space *s, int width, double **sums)
{
  const int64_t own = s->shared.n_all ? parts_sent(s) : part_count(s);
  const size_t bytes = (size_t)own * (size_t)width * sizeof(double);
  const size_t all = s->shared.n_all ? bytes * ((size_t)world_count() + 1) : bytes;
  MD_TRY(md_buffer_reserve(s->ctx, &s->partial, all, 0));
  *sums = s->partial.data;
  memset(*sums, 0, bytes);
  return MD_OK;
}

/* Adding the zeros of parts that a rank does not have changes no bit of a sum. */
static void add_sums(vector_space *s, int width, double *out)
{
  const double *sums = s->partial.data;
  int64_t parts = part_count(s);
  if (s->shared.n_all) {
    const double began = md_wall_seconds();
    double *all = (double *)s->partial.data + parts_sent(s) * width;
    world_gather(sums, (size_t)(parts_sent(s) * width) * sizeof *sums, all);
    sums = all;
    parts = parts_sent(s) * world_count();
    s->shared.sums++;
    s->shared.seconds += md_wall_seconds() - began;
  }
  memset(out, 0, (size_t)width * sizeof *out);
  for (int64_t p = 0; p < parts; p++)
    for (int k = 0; k < width; k++)
      out[k] += sums[p * width + k];
}

static md_status factor(vector_space *s, double *inverse, int64_t *bad, double *largest)
{
  int64_t count = 0;
  double most = 0;
#pragma omp parallel for schedule(static) num_threads(team_size(s->ctx, s->n_rows))                \
    reduction(+ : count) reduction(max : most)
  for (int64_t i = 0; i < s->n_rows; i++) {
    double l[6], spare[6];
    const double value = jacobi_largest(s->diagonal + 6 * i);
    count += !jacobi_factor(s->diagonal + 6 * i, l, inverse ? inverse + 6 * i : spare);
    most = most > value ? most : value;
  }
  *bad = count;
  *largest = most;
  return MD_OK;
}

static md_status normals(vector_space *s, int m, uint64_t seed, normal_use use, uint64_t step,
                         const int32_t *id, double *v)
{
#pragma omp parallel for schedule(static) num_threads(team_size(s->ctx, s->n_rows))
  for (int64_t i = 0; i < s->n_rows; i++)
    for (int c = 0; c < m; c++) {
      double z[3];
      normal_three(seed, use, id ? (uint64_t)id[i] : (uint64_t)i, step + (uint64_t)c, z);
      for (int d = 0; d < 3; d++)
        v[(3 * i + d) * m + c] = z[d];
    }
  return MD_OK;
}

static md_status columns(vector_space *s, int m, const double *a, const double *x, const double *b,
                         double *y)
{
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    const double *from = x + 3 * m * t.first;
    double *to = y + 3 * m * t.first;
    if (m == 1)
      for (int k = 0; k < t.n; k++)
        to[k] = a[0] * from[k] + b[0] * to[k];
    else
      for (int r = 0; r < t.n; r++)
        for (int c = 0; c < m; c++)
          to[r * m + c] = a[c] * from[r * m + c] + b[c] * to[r * m + c];
  }
  return MD_OK;
}

/* Eight chains of additions, in one order. */
MD_INLINE double dot(int n, const double *x, const double *y)
{
  double sum[8] = {0};
  int k = 0;
  for (; k + 8 <= n; k += 8)
    for (int j = 0; j < 8; j++)
      sum[j] += x[k + j] * y[k + j];
  for (; k < n; k++)
    sum[k % 8] += x[k] * y[k];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static md_status dots(vector_space *s, int m, const double *x, const double *y, double *out)
{
  double *sums;
  MD_TRY(reserve_sums(s, m, &sums));
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    const double *u = x + 3 * m * t.first, *v = y + 3 * m * t.first;
    double *sum = sums + p * m;
    if (m == 1)
      sum[0] += dot(t.n, u, v);
    else
      for (int r = 0; r < t.n; r++)
        for (int c = 0; c < m; c++)
          sum[c] += u[r * m + c] * v[r * m + c];
  }
  add_sums(s, m, out);
  return MD_OK;
}

/* y = M^-1 x or L x on one tile. */
MD_INLINE void solve_part(const double *inverse, const tile *t, int m, const double *x, double *y)
{
  for (int i = 0; i < t->rows; i++)
    for (int c = 0; c < m; c++)
      jacobi_solve(inverse + 6 * (t->first + i), m, x + 3 * i * m + c, y + 3 * i * m + c);
}

static md_status solve(vector_space *s, int m, const double *x, double *y)
{
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    solve_part(s->jacobi, &t, m, x + 3 * m * t.first, y + 3 * m * t.first);
  }
  return MD_OK;
}

static md_status lower(vector_space *s, int m, const double *x, double *y)
{
#pragma omp parallel for schedule(static) num_threads(team_size(s->ctx, s->n_rows))
  for (int64_t i = 0; i < s->n_rows; i++) {
    double l[6], unused[6];
    jacobi_factor(s->diagonal + 6 * i, l, unused);
    for (int c = 0; c < m; c++)
      jacobi_lower(l, m, x + 3 * i * m + c, y + 3 * i * m + c);
  }
  return MD_OK;
}

static md_status cg_begin(vector_space *s, const cg_vectors *v, double tolerance)
{
  enum { BB, RR, WIDTH };
  double *sums, total[WIDTH];
  MD_TRY(reserve_sums(s, WIDTH, &sums));
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    const int64_t at = 3 * t.first;
    for (int k = 0; k < t.n; k++)
      v->r[at + k] = v->b[at + k] - v->q[at + k];
    if (s->jacobi) solve_part(s->jacobi, &t, 1, v->r + at, v->z + at);
    memcpy(v->p + at, v->z + at, (size_t)t.n * sizeof(double));
    sums[p * WIDTH + BB] += dot(t.n, v->b + at, v->b + at);
    sums[p * WIDTH + RR] += dot(t.n, v->r + at, v->r + at);
  }
  add_sums(s, WIDTH, total);
  const double limit = tolerance * tolerance * total[BB];
  *v->state =
      (cg_state){.bb = total[BB], .rr = total[RR], .limit = limit, .done = total[RR] <= limit};
  return MD_OK;
}

/* u = M^-1 q and the sums of cg_scalars.h over one tile. */
MD_INLINE void cg_tile_sums(const vector_space *s, const cg_vectors *v, const tile *t, double *sum)
{
  const int64_t at = 3 * t->first;
  const double *r = v->r + at, *q = v->q + at;
  sum[CG_RR] += dot(t->n, r, r);
  sum[CG_RQ] += dot(t->n, r, q);
  sum[CG_QQ] += dot(t->n, q, q);
  if (!s->jacobi) return;
  double *u = v->u + at;
  solve_part(s->jacobi, t, 1, q, u);
  sum[CG_RZ] += dot(t->n, r, v->z + at);
  sum[CG_RU] += dot(t->n, r, u);
  sum[CG_QU] += dot(t->n, q, u);
}

static md_status cg_step(vector_space *s, const cg_vectors *v)
{
  cg_state *state = v->state;
  double total[CG_SUMS], *sums;
  const int width = s->jacobi ? CG_SUMS : CG_PLAIN;
  if (state->done) return MD_OK;
  MD_TRY(reserve_sums(s, width, &sums));
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    cg_tile_sums(s, v, &t, sums + p * width);
  }
  add_sums(s, width, total);
  cg_advance(state, s->jacobi != NULL, total);
  const double alpha = state->alpha, beta = state->beta;
  if (alpha == 0) return MD_OK;
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    const int64_t at = 3 * t.first;
    for (int k = 0; k < t.n; k++) {
      v->x[at + k] += alpha * v->p[at + k];
      v->r[at + k] -= alpha * v->q[at + k];
    }
    for (int k = 0; k < t.n && s->jacobi; k++)
      v->z[at + k] -= alpha * v->u[at + k];
    for (int k = 0; k < t.n; k++)
      v->p[at + k] = v->z[at + k] + beta * v->p[at + k];
  }
  return MD_OK;
}

/* Sums of tile_gram, of all parts. */
static void add_grams(vector_space *s, int m, double *g)
{
  add_sums(s, m * m, g);
  for (int a = 0; a < m; a++)
    for (int b = 0; b < a; b++)
      g[a * m + b] = g[b * m + a];
}

static md_status gram(vector_space *s, int m, const double *x, const double *y, double *g)
{
  double *sums;
  MD_TRY(reserve_sums(s, m * m, &sums));
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    tile_gram(t.n, m, x + 3 * m * t.first, y + 3 * m * t.first, sums + p * m * m);
  }
  add_grams(s, m, g);
  return MD_OK;
}

static md_status block_update(vector_space *s, int m, const block_vectors *v, const double *step,
                              const double *back, double *g)
{
  double *sums;
  MD_TRY(reserve_sums(s, m * m, &sums));
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    const int64_t at = 3 * m * t.first;
    tile_combine(t.n, m, 1, v->p + at, step, true, v->x + at);
    tile_combine(t.n, m, -1, v->w + at, back, true, v->q + at);
    if (s->jacobi) solve_part(s->jacobi, &t, m, v->q + at, v->z + at);
    tile_gram(t.n, m, v->q + at, v->z + at, sums + p * m * m);
  }
  add_grams(s, m, g);
  return MD_OK;
}

static md_status block_turn(vector_space *s, int m, const block_vectors *v, const double *t,
                            const double *turn)
{
  FOR_PARTS(s, p)
  FOR_TILES(s, p, r)
  {
    const int64_t at = 3 * m * r.first;
    const size_t bytes = (size_t)(r.n * m) * sizeof(double);
    double work[3 * TILE_ROWS * MOST];
    tile_combine(r.n, m, 1, v->q + at, t, false, work);
    memcpy(v->q + at, work, bytes);
    if (s->jacobi) {
      tile_combine(r.n, m, 1, v->z + at, t, false, work);
      memcpy(v->z + at, work, bytes);
    }
    if (!turn) continue;
    tile_combine(r.n, m, 1, v->p + at, turn, true, work); /* work is the new z */
    memcpy(v->p + at, work, bytes);
  }
  return MD_OK;
}

static md_status chebyshev(vector_space *s, int m, const double factor[4], const double *w,
                           const double *now, double *next, double *y, double *u)
{
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    const int64_t at = 3 * m * t.first;
    for (int k = 0; k < t.n * m; k++) {
      const double value =
          factor[0] * w[at + k] + factor[1] * now[at + k] + factor[2] * next[at + k];
      next[at + k] = value;
      y[at + k] += factor[3] * value;
    }
    if (s->jacobi) solve_part(s->jacobi, &t, m, next + at, u + at);
  }
  return MD_OK;
}

static md_status take(vector_space *s, int m, int column, const double *v, double *single)
{
#pragma omp parallel for schedule(static) num_threads(team_size(s->ctx, s->n_rows))
  for (int64_t r = 0; r < 3 * s->n_rows; r++)
    single[r] = v[r * m + column];
  return MD_OK;
}

static md_status apart(vector_space *s, int m, int column, const double *v, const double *x,
                       double out[2])
{
  double *sums;
  MD_TRY(reserve_sums(s, 2, &sums));
  FOR_PARTS(s, p)
  FOR_TILES(s, p, t)
  {
    const double *from = x + 3 * t.first, *other = v + 3 * m * t.first + column;
    for (int k = 0; k < t.n; k++) {
      const double rest = from[k] - other[k * m];
      sums[2 * p] += rest * rest;
      sums[2 * p + 1] += from[k] * from[k];
    }
  }
  add_sums(s, 2, out);
  return MD_OK;
}

static md_status move(vector_space *s, double scale, const double *from, const double *v,
                      double *to)
{
#pragma omp parallel for schedule(static) num_threads(team_size(s->ctx, s->n_rows))
  for (int64_t i = 0; i < s->n_rows; i++) {
    const double factor_i = scale / sqrt(from[4 * i + 3]);
    for (int d = 0; d < 3; d++)
      to[4 * i + d] = from[4 * i + d] + factor_i * v[3 * i + d];
    to[4 * i + 3] = from[4 * i + 3];
  }
  return MD_OK;
}

const vector_backend ISA(vectors_cpu) = {
    true, factor,       normals,    columns,   dots, lower, solve, cg_begin, cg_step,
    gram, block_update, block_turn, chebyshev, take, apart, move,  NULL,     NULL};
