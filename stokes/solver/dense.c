/* stokes/solver/dense.c - see dense.h; and direct solutions of small suspensions.
 *
 * A matrix of 3 n rows is factored once, A = L L^T.  L z is a Brownian force; systems with A or a
 * matrix near it are solved by iterative refinement, x += (L L^T)^-1 (b - A x).  [Liu] section
 * II.C. */
#include "stokes/solver/dense.h"
#include "core/hardware/processors.h"
#include "stokes/solver/solver_impl.h"

#include <cblas.h>
#include <errno.h>
#include <inttypes.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* OpenBLAS's, whose header need not be the one above. */
void openblas_set_num_threads(int threads);

/* Before OpenBLAS starts a thread for each processor in every program that holds it: only factors
 * of large matrices gain from more than one.  What the user sets stays. */
__attribute__((constructor(101))) static void begin_alone(void)
{
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
}

/* OpenBLAS asks for a buffer for each thread in a loop without end: so one is asked for before, and
 * taken by a first factor.  128 MB on x86-64; a smaller one elsewhere. */
enum { BLAS_BUFFER = 129 << 20 };
static md_status begin_blas(int threads)
{
  static int begun;
  if (threads <= begun) return MD_OK;
  const size_t bytes = (size_t)(threads - begun) * BLAS_BUFFER;
  void *room =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MD_REQUIRE(room != MAP_FAILED, MD_ENOMEM,
             "OpenBLAS needs %.0f MB to address with %d threads: %s (limit: ulimit -v)",
             (double)bytes / 1e6, threads, strerror(errno));
  munmap(room, bytes);
  MD_TRY(md_threads_check(threads - 1));
  double one = 1;
  (void)LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', 1, &one, 1);
  begun = threads;
  return MD_OK;
}

bool stokes_dense_available(void)
{
  return true;
}

md_status dense_factor(int m, const double *g, double drop, double *s, double *t, int *rank,
                       double *worst)
{
  double u[STOKES_VECTORS * STOKES_VECTORS], scale[STOKES_VECTORS] = {0}; /* u: column-major */
  lapack_int pivot[STOKES_VECTORS], found = 0;
  MD_TRY(begin_blas(1));
  memset(s, 0, (size_t)(m * m) * sizeof *s);
  memset(t, 0, (size_t)(m * m) * sizeof *t);
  *worst = 1;
  for (int k = 0; k < m; k++) {
    if (g[k * m + k] < 0) *worst = -1;
    scale[k] = g[k * m + k] > 0 ? 1 / sqrt(g[k * m + k]) : 0;
  }
  for (int k = 0; k < m * m; k++)
    u[k] = g[k] * scale[k / m] * scale[k % m];
  if (LAPACKE_dpstrf(LAPACK_COL_MAJOR, 'U', m, u, m, pivot, &found, drop) < 0) found = 0;
  *rank = (int)found;
  if (found == 0) return MD_OK;
  const double last = u[(found - 1) * m + found - 1];
  if (*worst > 0) *worst = last * last;
  for (int k = 0; k < found; k++)
    for (int j = k; j < m; j++) {
      const int column = pivot[j] - 1;
      if (scale[column] > 0) s[k * m + column] = u[j * m + k] / scale[column];
    }
  LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'U', 'N', found, u, m);
  for (int j = 0; j < found; j++)
    for (int k = j; k < found; k++)
      t[(pivot[j] - 1) * m + k] = u[k * m + j] * scale[pivot[j] - 1];
  return MD_OK;
}

md_status dense_multiply(int m, const double *a, const double *b, bool transposed, double *c)
{
  MD_TRY(begin_blas(1));
  cblas_dgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, m, m, m, 1, a, m,
              b, m, 0, c, m);
  return MD_OK;
}

md_status dense_tridiagonal(int n, double *d, double *e, double *v)
{
  MD_TRY(begin_blas(1));
  MD_REQUIRE(LAPACKE_dstev(LAPACK_COL_MAJOR, 'V', n, d, e, v, n) == 0, MD_ENUMERIC,
             "the eigenvalues of a tridiagonal matrix of %d rows did not converge", n);
  return MD_OK;
}

struct stokes_dense {
  md_ctx *ctx;
  lapack_int rows;
  double *lower, *work; /* [rows][rows], column-major; [rows] */
};

void stokes_dense_destroy(stokes_dense *dense)
{
  if (!dense) return;
  free(dense->lower);
  free(dense->work);
  free(dense);
}

static md_status reserve(stokes_dense *dense)
{
  const size_t rows = (size_t)dense->rows;
  dense->lower = calloc(rows * rows, sizeof *dense->lower);
  dense->work = malloc(rows * sizeof *dense->work);
  MD_REQUIRE(dense->lower && dense->work, MD_ENOMEM,
             "a dense matrix of %zu rows needs %.3g GB of memory", rows,
             (double)rows * (double)rows * 8e-9);
  return MD_OK;
}

static md_status factor(stokes_dense *dense, const stokes_matrix *matrix)
{
  const size_t rows = (size_t)dense->rows;
  stokes_blocks blocks;
  MD_TRY(stokes_matrix_get(matrix, &blocks));
  for (size_t i = 0; i < (size_t)blocks.n_rows; i++)
    for (int64_t p = blocks.start[i]; p < blocks.start[i + 1]; p++)
      for (size_t k = 0; k < 9; k++)
        dense->lower[(3 * (size_t)blocks.column[p] + k % 3) * rows + 3 * i + k / 3] =
            blocks.block[9 * p + (int64_t)k];
  stokes_blocks_free(&blocks);
  const int threads = dense->ctx->deterministic ? 1 : dense->ctx->threads;
  MD_TRY(begin_blas(threads));
  openblas_set_num_threads(threads);
  const lapack_int failed =
      LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', dense->rows, dense->lower, dense->rows);
  openblas_set_num_threads(1);
  MD_REQUIRE(failed == 0, MD_ENUMERIC,
             "the matrix is not positive definite: it has no Cholesky factor");
  return MD_OK;
}

md_status stokes_dense_factor(md_ctx *ctx, const stokes_matrix *matrix, stokes_dense **out)
{
  const int64_t rows = stokes_matrix_shape(matrix).n_rows;
  *out = NULL;
  MD_REQUIRE(rows <= STOKES_DENSE_ROWS, MD_EINVAL,
             "dense Cholesky is for at most %d spheres, not %" PRId64, STOKES_DENSE_ROWS, rows);
  stokes_dense *dense = calloc(1, sizeof *dense);
  MD_REQUIRE(dense, MD_ENOMEM, "out of memory for a dense matrix");
  dense->ctx = ctx;
  dense->rows = (lapack_int)(3 * rows);
  md_status status = reserve(dense);
  if (!status) status = factor(dense, matrix);
  if (status) {
    stokes_dense_destroy(dense);
    return status;
  }
  *out = dense;
  return MD_OK;
}

md_status stokes_dense_root(const stokes_dense *dense, int m, const double *z, double *f)
{
  const size_t bytes = (size_t)dense->rows * (size_t)m * sizeof *f;
  double *work = malloc(bytes);
  MD_REQUIRE(work, MD_ENOMEM, "out of memory for %d vectors", m);
  md_status status = md_read(dense->ctx, work, z, bytes);
  for (int c = 0; !status && c < m; c++)
    cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, dense->rows, dense->lower,
                dense->rows, work + c, m);
  if (!status) status = md_write(dense->ctx, f, work, bytes);
  free(work);
  return status;
}

md_status stokes_dense_solve(const stokes_dense *dense, stokes_solver *solver, const double *b,
                             double *x, double tolerance, int most, stokes_outcome *out)
{
  const size_t bytes = (size_t)dense->rows * sizeof *dense->work;
  const double one = 1;
  double *change;
  MD_TRY(solver_vector(solver, 1, 1, &change));
  for (out->iterations = 0;; out->iterations++) {
    double *r;
    MD_TRY(solver_residual(solver, 1, b, x, &r, &out->residual));
    if (out->residual <= tolerance || out->iterations == most) break;
    MD_TRY(md_read(dense->ctx, dense->work, r, bytes));
    LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', dense->rows, 1, dense->lower, dense->rows, dense->work,
                   dense->rows);
    MD_TRY(md_write(dense->ctx, change, dense->work, bytes));
    MD_TRY(solver->ops->columns(&solver->space, 1, &one, change, &one, x));
  }
  MD_REQUIRE(out->residual <= tolerance, MD_ENUMERIC,
             "iterative refinement reached a residual of %.3g in %d iterations, not %.3g",
             out->residual, most, tolerance);
  return MD_OK;
}
