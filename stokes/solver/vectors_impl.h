/* stokes/solver/vectors_impl.h - what solvers do with vectors, on either backend.
 *
 * Vectors are those of matrix.h: 3 n_rows rows of m columns, row-major.  A space may have a
 * block-Jacobi preconditioner M = L L^T, 3 x 3 blocks on the diagonal; without one M = I.
 * Sums are taken over fixed parts in a fixed order: the same for any number of threads.
 *
 * Several ranks may share vectors (stokes/ranks/rows.h).  On CPUs a rank has whole parts of the
 * vectors of all; sums of parts are gathered and added in their order by every rank: the same bits
 * for any number of ranks.  On GPUs sums of ranks are, the same bits for one number of ranks. */
#ifndef STOKES_VECTORS_IMPL_H
#define STOKES_VECTORS_IMPL_H

#include "stokes/ranks/rows.h"
#include "stokes/normal.h"
#include "core/simd.h"

MD_BEGIN_C

/* How vectors are shared: this rank has n_rows, as stokes_rows_view says. */
typedef struct {
  int64_t n_all, n_most;   /* rows of all ranks, of the one with most; 0: nobody shares them */
  int64_t n_ghosts;        /* rows behind those that are multiplied */
  int64_t sums;            /* how often sums were gathered */
  double seconds;          /* that gathering them took */
  stokes_rows_sums device; /* GPU: sums that stay there */
} vector_sharing;

typedef struct {
  md_ctx *ctx;
  int64_t n_rows;         /* block rows */
  const double *diagonal; /* [n_rows][6]: M as xx xy xz yy yz zz */
  const double *jacobi;   /* [n_rows][6]: M^-1 where it is kept, else M; NULL: M = I */
  md_buffer partial;      /* sums of parts */
  md_buffer small;        /* GPU: small matrices on their way */
  vector_sharing shared;  /* by ranks */
} vector_space;

/* Rows of a part: at most VECTOR_MOST_PARTS of them, each of whole tiles. */
enum { VECTOR_TILE = 64, VECTOR_MOST_PARTS = 128 };
static inline int64_t vector_part_rows(int64_t n_rows)
{
  const int64_t tiles = (n_rows + VECTOR_TILE - 1) / VECTOR_TILE;
  return (tiles + VECTOR_MOST_PARTS - 1) / VECTOR_MOST_PARTS * VECTOR_TILE;
}

/* Scalars of one run of conjugate gradients, where the vectors are.  Once the residual is small
 * enough, `done` is set and further steps change nothing: so that a host may look now and then. */
typedef struct {
  double bb, rr; /* b.b, r.r */
  double alpha;  /* how far x goes along p; 0: it need not any more */
  double beta;   /* how much of p the next p keeps */
  double limit;  /* of r.r */
  int64_t steps;
  int64_t done; /* 1: converged, 2: p.A p is not > 0 */
} cg_state;

typedef struct {
  const double *b, *q;   /* right-hand side; A p, and A x at the start */
  double *x, *r, *z, *p; /* z = M^-1 r where that is kept, r itself where M = I */
  double *u;             /* M^-1 q where that is kept */
  cg_state *state;
} cg_vectors;

/* Vectors of one run of block conjugate gradients; all m columns wide. */
typedef struct {
  double *x, *p, *q, *z; /* z is q itself without a preconditioner */
  const double *w;       /* A p */
} block_vectors;

typedef struct {
  /* M^-1, and M^-1 r and M^-1 q of conjugate gradients, are kept: else they are worked out where
   * they are used, in less memory. */
  bool keeps;
  /* M^-1 from the diagonal blocks, where it is kept and inverse is not NULL; *bad: how many are not
   * positive definite; *largest: their largest eigenvalue. */
  md_status (*factor)(vector_space *s, double *inverse, int64_t *bad, double *largest);
  /* v = standard normal numbers of sphere id[i] (i where id is NULL), column c at step + c. */
  md_status (*normals)(vector_space *s, int m, uint64_t seed, normal_use use, uint64_t step,
                       const int32_t *id, double *v);
  /* y = a x + b y, one pair of factors for each column. */
  md_status (*columns)(vector_space *s, int m, const double *a, const double *x, const double *b,
                       double *y);
  /* out[c] = x_c . y_c, on the host. */
  md_status (*dots)(vector_space *s, int m, const double *x, const double *y, double *out);
  /* y = L x;  y = M^-1 x.  Only with a preconditioner. */
  md_status (*lower)(vector_space *s, int m, const double *x, double *y);
  md_status (*solve)(vector_space *s, int m, const double *x, double *y);

  /* r = b - q, z = M^-1 r, p = z; limit = tolerance^2 b.b */
  md_status (*cg_begin)(vector_space *s, const cg_vectors *v, double tolerance);
  /* alpha and beta (cg_scalars.h);  x += alpha p;  r -= alpha q;  z = M^-1 r;  p = z + beta p */
  md_status (*cg_step)(vector_space *s, const cg_vectors *v);

  /* g = x^T y, which is symmetric but for rounding, m x m row-major on the host. */
  md_status (*gram)(vector_space *s, int m, const double *x, const double *y, double *g);
  /* x += p step;  q -= w back;  z = M^-1 q;  g = q^T z */
  md_status (*block_update)(vector_space *s, int m, const block_vectors *v, const double *step,
                            const double *back, double *g);
  /* q = q t;  z = z t;  p = z + p turn, but for turn NULL */
  md_status (*block_turn)(vector_space *s, int m, const block_vectors *v, const double *t,
                          const double *turn);

  /* next = a w + b now + c next;  y += d next;  u = M^-1 next (only with a preconditioner) */
  md_status (*chebyshev)(vector_space *s, int m, const double factor[4], const double *w,
                         const double *now, double *next, double *y, double *u);

  /* Column `column` of v [.][m] to single. */
  md_status (*take)(vector_space *s, int m, int column, const double *v, double *single);
  /* out = {|x - y|^2, |x|^2} where y is column `column` of v [.][m]; on the host. */
  md_status (*apart)(vector_space *s, int m, int column, const double *v, const double *x,
                     double out[2]);
  /* to_i = from_i + scale / sqrt(a_i) v_i: spheres [n][4] moved, radii copied; to may be from. */
  md_status (*move)(vector_space *s, double scale, const double *from, const double *v, double *to);

  /* y = a x rounded to float;  y = x in double.  Where matrices have series in single precision. */
  md_status (*narrow)(vector_space *s, int m, double a, const double *x, float *y);
  md_status (*widen)(vector_space *s, int m, const float *x, double *y);
} vector_backend;

/* Sums of this rank become those of all, added in the order of ranks.  Errors: MD_ENOMEM. */
md_status vectors_add_ranks(vector_space *s, int width, double *sums);

extern const vector_backend vectors_cpu_portable, vectors_cpu_avx2, vectors_cpu_avx512, vectors_gpu;
const vector_backend *vectors_of(const md_ctx *ctx);

MD_END_C
#endif
