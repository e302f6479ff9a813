/* bench/cusparse.cu - every call of cuSPARSE that multiplies a matrix of 3 x 3 blocks by m vectors.
 *
 * One vector: SpMV of BSR and CSR.  Several, row-major: SpMM of BSR and CSR, and the older bsrmm,
 * whose result is column-major. */
#define DISABLE_CUSPARSE_DEPRECATED /* bsrmm is fast */
#include <cusparse.h>
#include <math.h>
#include <stdlib.h>

#include "bench/cusparse.h"
#include "core/gpu/cuda.h"
#include "core/library.h"
#include "minimd/shell/median.h"

#define CALLS(X)                                                                                   \
  X(Create)                                                                                        \
  X(Destroy)                                                                                       \
  X(SetStream)                                                                                     \
  X(CreateBsr)                                                                                     \
  X(CreateCsr)                                                                                     \
  X(DestroySpMat)                                                                                  \
  X(CreateMatDescr)                                                                                \
  X(DestroyMatDescr)                                                                               \
  X(CreateDnVec)                                                                                   \
  X(DestroyDnVec)                                                                                  \
  X(CreateDnMat)                                                                                   \
  X(DestroyDnMat)                                                                                  \
  X(SpMV_bufferSize)                                                                               \
  X(SpMV_preprocess)                                                                               \
  X(SpMV)                                                                                          \
  X(SpMM_bufferSize)                                                                               \
  X(SpMM_preprocess)                                                                               \
  X(SpMM)                                                                                          \
  X(Dbsrmm)
#define POINTER(name) decltype(&cusparse##name) name;
static struct {
  CALLS(POINTER)
} library;

static md_status open_library(void)
{
#define WORD_(version) #version
#define WORD(version) WORD_(version)
  static const char name[] = "libcusparse.so." WORD(CUSPARSE_VER_MAJOR);
  static bool opened = false;
#define NAME(name) "cusparse" #name,
#define PLACE(name) (void **)&library.name,
  static const char *const names[] = {CALLS(NAME)};
  static void **const places[] = {CALLS(PLACE)};
  if (!opened)
    MD_TRY(md_library_open(name, "no cuSPARSE to compare with", sizeof names / sizeof *names, names,
                           places));
  opened = true;
  return MD_OK;
}

enum { BLOCK = 256, REPEATS = 7 };

struct cusparse_peer {
  md_ctx *ctx;
  cusparseHandle_t handle;
  int64_t n_rows, n_blocks;
  md_buffer start, column, block;         /* BSR */
  md_buffer csr_start, csr_column, value; /* CSR */
  md_buffer result, work, worst;
  cusparseSpMatDescr_t bsr, csr;
  cusparseMatDescr_t general;
  md_stopwatch watch;
};

static md_status check(cusparseStatus_t status, const char *call)
{
  if (status == CUSPARSE_STATUS_SUCCESS) return MD_OK;
  return MD_FAIL(MD_ECUDA, "%s: cuSPARSE error %d", call, (int)status);
}
#define SPARSE(name, ...) MD_TRY(check(library.name(__VA_ARGS__), "cusparse" #name))

/* Thread: one block row; its blocks as three rows of single elements. */
static __global__ void expand_kernel(int64_t n_rows, const int32_t *start, const int32_t *column,
                                     const double *block, int32_t *csr_start, int32_t *csr_column,
                                     double *value)
{
  const int64_t i = md_thread();
  if (i > n_rows) return;
  if (i == n_rows) {
    csr_start[3 * i] = 9 * start[i];
    return;
  }
  const int32_t begin = start[i], length = start[i + 1] - begin;
  for (int row = 0; row < 3; row++) {
    const int64_t at = 9 * (int64_t)begin + 3 * (int64_t)length * row;
    csr_start[3 * i + row] = (int32_t)at;
    for (int k = 0; k < 3 * length; k++) {
      csr_column[at + k] = 3 * column[begin + k / 3] + k % 3;
      value[at + k] = block[9 * (int64_t)(begin + k / 3) + 3 * row + k % 3];
    }
  }
}

static md_status upload(cusparse_peer *peer, const stokes_blocks *b)
{
  md_ctx *ctx = peer->ctx;
  const size_t rows = (size_t)b->n_rows, n = (size_t)b->n_blocks;
  MD_REQUIRE(9 * b->n_blocks <= INT32_MAX, MD_ECAPACITY, "%lld blocks are too many for cuSPARSE",
             (long long)b->n_blocks);
  int32_t *start = (int32_t *)malloc((rows + 1) * sizeof *start);
  MD_REQUIRE(start, MD_ENOMEM, "out of memory for %zu rows", rows);
  for (size_t i = 0; i <= rows; i++)
    start[i] = (int32_t)b->start[i];
  md_status status = md_buffer_reserve(ctx, &peer->start, (rows + 1) * sizeof *start, 0);
  if (!status) status = md_write(ctx, peer->start.data, start, (rows + 1) * sizeof *start);
  if (!status) status = md_ctx_sync(ctx);
  free(start);
  MD_TRY(status);
  MD_TRY(md_buffer_reserve(ctx, &peer->column, n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &peer->block, 9 * n * sizeof(double), 0));
  MD_TRY(md_write(ctx, peer->column.data, b->column, n * sizeof(int32_t)));
  MD_TRY(md_write(ctx, peer->block.data, b->block, 9 * n * sizeof(double)));
  MD_TRY(md_buffer_reserve(ctx, &peer->csr_start, (3 * rows + 1) * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &peer->csr_column, 9 * n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &peer->value, 9 * n * sizeof(double), 0));
  expand_kernel<<<md_blocks(b->n_rows + 1, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      b->n_rows, (const int32_t *)peer->start.data, (const int32_t *)peer->column.data,
      (const double *)peer->block.data, (int32_t *)peer->csr_start.data,
      (int32_t *)peer->csr_column.data, (double *)peer->value.data);
  MD_LAUNCHED();
  return md_ctx_sync(ctx);
}

static md_status create(cusparse_peer *peer, const stokes_matrix *matrix)
{
  stokes_blocks blocks;
  MD_TRY(open_library());
  MD_TRY(md_stopwatch_create(peer->ctx, &peer->watch));
  SPARSE(Create, &peer->handle);
  SPARSE(SetStream, peer->handle, (cudaStream_t)peer->ctx->stream);
  SPARSE(CreateMatDescr, &peer->general);
  MD_TRY(stokes_matrix_get(matrix, &blocks));
  peer->n_rows = blocks.n_rows;
  peer->n_blocks = blocks.n_blocks;
  const md_status status = upload(peer, &blocks);
  stokes_blocks_free(&blocks);
  MD_TRY(status);
  SPARSE(CreateBsr, &peer->bsr, peer->n_rows, peer->n_rows, peer->n_blocks, 3, 3, peer->start.data,
         peer->column.data, peer->block.data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F, CUSPARSE_ORDER_ROW);
  SPARSE(CreateCsr, &peer->csr, 3 * peer->n_rows, 3 * peer->n_rows, 9 * peer->n_blocks,
         peer->csr_start.data, peer->csr_column.data, peer->value.data, CUSPARSE_INDEX_32I,
         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  return MD_OK;
}

md_status cusparse_peer_create(md_ctx *ctx, const stokes_matrix *matrix, cusparse_peer **out)
{
  *out = NULL;
  cusparse_peer *peer = (cusparse_peer *)calloc(1, sizeof *peer);
  MD_REQUIRE(peer, MD_ENOMEM, "out of memory for a peer");
  peer->ctx = ctx;
  const md_status status = create(peer, matrix);
  if (status) {
    cusparse_peer_destroy(peer);
    return status;
  }
  *out = peer;
  return MD_OK;
}

void cusparse_peer_destroy(cusparse_peer *peer)
{
  if (!peer) return;
  if (peer->bsr) library.DestroySpMat(peer->bsr);
  if (peer->csr) library.DestroySpMat(peer->csr);
  if (peer->general) library.DestroyMatDescr(peer->general);
  if (peer->handle) library.Destroy(peer->handle);
  md_buffer *buffers[] = {&peer->start,     &peer->column,     &peer->block,
                          &peer->csr_start, &peer->csr_column, &peer->value,
                          &peer->result,    &peer->work,       &peer->worst};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(peer->ctx, buffers[k]);
  md_stopwatch_destroy(&peer->watch);
  free(peer);
}

/* One way to multiply. */
typedef enum { SPMV, SPMM, BSRMM } call_kind;
typedef struct {
  const char *name;
  call_kind kind;
  bool blocks;
  int algorithm;
} call;
static const call calls[] = {
    {"cuSPARSE SpMV BSR", SPMV, true, CUSPARSE_SPMV_BSR_ALG1},
    {"cuSPARSE SpMV CSR 1", SPMV, false, CUSPARSE_SPMV_CSR_ALG1},
    {"cuSPARSE SpMV CSR 2", SPMV, false, CUSPARSE_SPMV_CSR_ALG2},
    {"cuSPARSE SpMM BSR", SPMM, true, CUSPARSE_SPMM_BSR_ALG1},
    {"cuSPARSE SpMM CSR 2", SPMM, false, CUSPARSE_SPMM_CSR_ALG2},
    {"cuSPARSE SpMM CSR 3", SPMM, false, CUSPARSE_SPMM_CSR_ALG3},
    {"cuSPARSE bsrmm", BSRMM, true, 0},
};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* A product ready to be done again and again. */
typedef struct {
  const call *how;
  int m;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t xv, yv;
  cusparseDnMatDescr_t xm, ym;
} product;
static const double one = 1, none = 0;
static const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

static md_status multiply(cusparse_peer *peer, const product *p, const double *x)
{
  const int n = (int)peer->n_rows;
  void *work = peer->work.data;
  switch (p->how->kind) {
  case SPMV:
    SPARSE(SpMV, peer->handle, plain, &one, p->matrix, p->xv, &none, p->yv, CUDA_R_64F,
           (cusparseSpMVAlg_t)p->how->algorithm, work);
    break;
  case SPMM:
    SPARSE(SpMM, peer->handle, plain, plain, &one, p->matrix, p->xm, &none, p->ym, CUDA_R_64F,
           (cusparseSpMMAlg_t)p->how->algorithm, work);
    break;
  case BSRMM:
    SPARSE(Dbsrmm, peer->handle, CUSPARSE_DIRECTION_ROW, plain, CUSPARSE_OPERATION_TRANSPOSE, n,
           p->m, n, (int)peer->n_blocks, &one, peer->general, (const double *)peer->block.data,
           (const int *)peer->start.data, (const int *)peer->column.data, 3, x, p->m, &none,
           (double *)peer->result.data, 3 * n);
    break;
  }
  return MD_OK;
}

static md_status prepare(cusparse_peer *peer, product *p, const double *x)
{
  const int64_t n = 3 * peer->n_rows;
  double *y = (double *)peer->result.data;
  size_t bytes = 0;
  p->matrix = p->how->blocks ? peer->bsr : peer->csr;
  if (p->how->kind == SPMV) {
    const cusparseSpMVAlg_t algorithm = (cusparseSpMVAlg_t)p->how->algorithm;
    SPARSE(CreateDnVec, &p->xv, n, (void *)x, CUDA_R_64F);
    SPARSE(CreateDnVec, &p->yv, n, y, CUDA_R_64F);
    SPARSE(SpMV_bufferSize, peer->handle, plain, &one, p->matrix, p->xv, &none, p->yv, CUDA_R_64F,
           algorithm, &bytes);
    MD_TRY(md_buffer_reserve(peer->ctx, &peer->work, bytes + 1, 0));
    SPARSE(SpMV_preprocess, peer->handle, plain, &one, p->matrix, p->xv, &none, p->yv, CUDA_R_64F,
           algorithm, peer->work.data);
  } else if (p->how->kind == SPMM) {
    const cusparseSpMMAlg_t algorithm = (cusparseSpMMAlg_t)p->how->algorithm;
    SPARSE(CreateDnMat, &p->xm, n, p->m, p->m, (void *)x, CUDA_R_64F, CUSPARSE_ORDER_ROW);
    SPARSE(CreateDnMat, &p->ym, n, p->m, p->m, y, CUDA_R_64F, CUSPARSE_ORDER_ROW);
    SPARSE(SpMM_bufferSize, peer->handle, plain, plain, &one, p->matrix, p->xm, &none, p->ym,
           CUDA_R_64F, algorithm, &bytes);
    MD_TRY(md_buffer_reserve(peer->ctx, &peer->work, bytes + 1, 0));
    SPARSE(SpMM_preprocess, peer->handle, plain, plain, &one, p->matrix, p->xm, &none, p->ym,
           CUDA_R_64F, algorithm, peer->work.data);
  }
  return MD_OK;
}

static void release(product *p)
{
  if (p->xv) library.DestroyDnVec(p->xv);
  if (p->yv) library.DestroyDnVec(p->yv);
  if (p->xm) library.DestroyDnMat(p->xm);
  if (p->ym) library.DestroyDnMat(p->ym);
}

/* Largest element of y, and largest difference from it; bits of doubles that are not negative order
 * as they do. */
static __global__ void compare_kernel(int64_t rows, int m, bool turned, const double *y,
                                      const double *other, unsigned long long *worst)
{
  const int64_t k = md_thread();
  if (k >= rows * m) return;
  const double value = y[k], apart = fabs(value - other[turned ? k % m * rows + k / m : k]);
  atomicMax(&worst[0], (unsigned long long)__double_as_longlong(fabs(value)));
  atomicMax(&worst[1], (unsigned long long)__double_as_longlong(apart));
}

static md_status compare(cusparse_peer *peer, const product *p, const double *y, double *error)
{
  const int64_t rows = 3 * peer->n_rows;
  double worst[2];
  MD_TRY(md_buffer_reserve(peer->ctx, &peer->worst, sizeof worst, 0));
  MD_TRY(md_fill(peer->ctx, peer->worst.data, 0, sizeof worst));
  compare_kernel<<<md_blocks(rows * p->m, BLOCK), BLOCK, 0, (cudaStream_t)peer->ctx->stream>>>(
      rows, p->m, p->how->kind == BSRMM, y, (const double *)peer->result.data,
      (unsigned long long *)peer->worst.data);
  MD_LAUNCHED();
  MD_TRY(md_read(peer->ctx, worst, peer->worst.data, sizeof worst));
  *error = worst[1] / worst[0];
  return MD_OK;
}

static md_status time_call(cusparse_peer *peer, product *p, const double *x, const double *y,
                           cusparse_best *out)
{
  double seconds[REPEATS + 1];
  MD_TRY(prepare(peer, p, x));
  for (int k = 0; k <= REPEATS; k++) {
    MD_TRY(md_stopwatch_start(&peer->watch, true));
    MD_TRY(multiply(peer, p, x));
    MD_TRY(md_stopwatch_stop(&peer->watch, &seconds[k]));
  }
  out->call = p->how->name;
  out->seconds = median_of(seconds + 1, REPEATS);
  return compare(peer, p, y, &out->error);
}

md_status cusparse_peer_measure(cusparse_peer *peer, int m, const double *x, const double *y,
                                cusparse_best *best)
{
  const size_t bytes = (size_t)peer->n_rows * 3 * (size_t)m * sizeof(double);
  MD_TRY(md_buffer_reserve(peer->ctx, &peer->result, bytes, 0));
  *best = (cusparse_best){NULL, INFINITY, 0};
  for (int k = 0; k < N_CALLS; k++) {
    if ((calls[k].kind == SPMV) != (m == 1)) continue;
    product p = {};
    p.how = &calls[k];
    p.m = m;
    cusparse_best trial;
    const md_status status = time_call(peer, &p, x, y, &trial);
    release(&p);
    MD_TRY(status);
    if (trial.seconds < best->seconds) *best = trial;
  }
  return MD_OK;
}
