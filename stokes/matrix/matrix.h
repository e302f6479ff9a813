/* stokes/matrix/matrix.h - the resistance matrix of a suspension, and any matrix of 3 x 3 blocks.
 *
 *     R = mu_F D + R_lub,   R' = D^-1/2 R D^-1/2 / mu_F = I + D^-1/2 R_lub D^-1/2 / mu_F
 *
 * with D = diag(a_i) and mu_F = 6 pi eta c.  The matrix here is R', which has no units, is
 * symmetric, and whose smallest eigenvalue is 1.  Rows are those of the spheres: the better they
 * are sorted along a curve, the more of the vectors stays in cache.  [Liu] sections II and IV.
 *
 * Storage:
 *   bcrs    one 3 x 3 block of doubles and its column for every pair and for the diagonal, 76 B
 *   single  the same in float, 40 B; arithmetic in double
 *   pair    direction and two resistances of a pair in float and its column, 24 B, and the diagonal
 *           blocks in double, made from the rounded pairs so that R' stays symmetric and positive
 *
 * Vectors are row-major: element (i, c) of n = 3 n_rows rows and m columns is v[i m + c]. */
#ifndef STOKES_MATRIX_H
#define STOKES_MATRIX_H

#include "stokes/pairs/pairs.h"

MD_BEGIN_C

#define STOKES_STORAGES(X) X(BCRS, "bcrs") X(SINGLE, "single") X(PAIR, "pair")
#define MD_ENUM_(name, word) STOKES_##name,
typedef enum { STOKES_STORAGES(MD_ENUM_) STOKES_STORAGE_COUNT } stokes_storage;
#undef MD_ENUM_
extern const char *const stokes_storage_words[STOKES_STORAGE_COUNT];

/* Most columns of vectors that solvers work on, and of one product. */
enum { STOKES_VECTORS = 64, STOKES_COLUMNS = 1 << 20 };

typedef struct stokes_matrix stokes_matrix;

/* An empty matrix.  *out is NULL on failure; free with stokes_matrix_destroy.  Errors: MD_ENOMEM.
 */
md_status stokes_matrix_create(md_ctx *ctx, stokes_storage storage, stokes_matrix **out);
void stokes_matrix_destroy(stokes_matrix *matrix); /* NULL is allowed */

/* Which pairs resist, and how much all resist alone. */
typedef struct {
  double far_field; /* c > 0: mu_F = 6 pi eta c */
  double gap_cut;   /* pairs with a gap below this, > 0 */
  double gap_min;   /* 0 < gap_min < gap_cut: smaller gaps count as this */
} stokes_resistance;

/* R' of these spheres.  pairs must hold every pair with r < (1 + gap_cut / 2) (a_i + a_j); others
 * are left out.  vectors: how many columns most products with it will have (a hint for the layout).
 * Deterministic.  Errors: MD_EINVAL (a parameter out of range), MD_ENOMEM (states the size). */
md_status stokes_matrix_assemble(stokes_matrix *matrix, const stokes_view *spheres,
                                 const stokes_pair_view *pairs, const stokes_resistance *law,
                                 int vectors);

/* Blocks on the host, rows one after the other. */
typedef struct {
  int64_t n_rows, n_blocks;
  int64_t *start;  /* [n_rows + 1] */
  int32_t *column; /* [n_blocks], ascending in a row */
  double *block;   /* [n_blocks][9], row-major */
} stokes_blocks;
void stokes_blocks_free(stokes_blocks *blocks); /* an empty one is allowed */

/* Take over any blocks (bcrs and single), or copy the matrix out (all; pair gives the blocks that
 * its numbers stand for).  Errors: MD_EINVAL (pair storage), MD_ENOMEM. */
md_status stokes_matrix_set(stokes_matrix *matrix, const stokes_blocks *blocks, int vectors);
md_status stokes_matrix_get(const stokes_matrix *matrix, stokes_blocks *out);

/* Y = R' X for m columns, 1 <= m <= STOKES_COLUMNS; x and y [3 n_rows][m] on the backend, not the
 * same memory.  Each row is summed in one order: deterministic for any number of threads, and a
 * column is the same whatever the others are, but for m = 1, which has kernels of its own.
 *
 * There may be several kernels, and several ways to make ranges of columns one after the other.
 * The first product with m columns measures them: the least time of a few products each.  As all
 * give the same digits, what is measured changes nothing but the time. Errors: MD_EINVAL (m out of
 * range), MD_ENOMEM, MD_ECUDA. */
md_status stokes_matrix_multiply(const stokes_matrix *matrix, int m, const double *x, double *y);

/* Seconds of such a product, the least of a few, measured where they are not known yet; words: how
 * it is made, such as "32 + 4" (ranges of columns) or "2 x 32" (panels of one range), or NULL.
 * Errors: MD_EINVAL, MD_ENOMEM, MD_ECUDA. */
md_status stokes_matrix_time(const stokes_matrix *matrix, int m, double *seconds, char *words,
                             size_t size);

/* In how many columns, m or more, m vectors are best stored, so that a product takes the least
 * time: kernels like some numbers of columns better than smaller ones.  Each call measures all
 * choices in turn; the least times of all calls count.  Errors: likewise. */
md_status stokes_matrix_columns(const stokes_matrix *matrix, int m, int *columns);

/* A step of a series in one pass over the vectors, on backends that have it (the GPU): next = f[0]
 * R' now + f[1] now + f[2] next,  total += f[3] next + f[4] now, where total may be NULL for
 * nothing; all [3 n_rows][m], no two the same memory. Errors: MD_EINVAL (m out of range, no such
 * steps), MD_ECUDA. */
bool stokes_matrix_has_series(const stokes_matrix *matrix);
md_status stokes_matrix_series(const stokes_matrix *matrix, int m, const double factor[5],
                               const double *now, double *next, double *total);
/* The same with vectors of floats and sums in float, on backends that have it, for matrices that
 * were laid out for several vectors. */
bool stokes_matrix_has_series_single(const stokes_matrix *matrix);
md_status stokes_matrix_series_single(const stokes_matrix *matrix, int m, const double factor[5],
                                      const float *now, float *next, float *total);

/* Assembled from spheres: no eigenvalue is below 1, and A <= 2 blockdiag(A). */
bool stokes_matrix_is_resistance(const stokes_matrix *matrix);

/* Diagonal blocks [n_rows][6] (xx xy xz yy yz zz) on the backend. */
const double *stokes_matrix_diagonal(const stokes_matrix *matrix);

typedef struct {
  int64_t n_rows, n_blocks; /* diagonal blocks included */
  int64_t bytes;            /* allocated */
  double product_bytes;     /* read by one product besides the vectors */
} stokes_shape;
/* Sizes of the matrix, memory it holds, what a product reads. */
stokes_shape stokes_matrix_shape(const stokes_matrix *matrix);

/* MatrixMarket `coordinate real general|symmetric`, read as 3 x 3 blocks.  Errors: MD_EIO,
 * MD_EINVAL (file, line; not square, not a multiple of three rows, truncated, an index out of
 * range), MD_ENOMEM. */
md_status stokes_blocks_read(const char *path, stokes_blocks *out);
md_status stokes_blocks_write(const stokes_blocks *blocks, const char *path);

MD_END_C
#endif
