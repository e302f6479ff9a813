/* spread/gpu_guo/spread_peer.cu - cuSPARSE multiplies with the matrix of single: what the products
 * of this room are measured against.
 *
 * The library is loaded when it is first asked for, as cuFFT is (fft_gpu.h).  Rows begin at 32-bit
 * indices for it; values and columns are the plan's own.  Charges are brought into the order of
 * cells in every call, as in product.real.cu. */
#include <cusparse.h>

#include "core/gpu/cuda.h"
#include "core/library.h"
#include "spread/spread_impl.h"

#define WORD_(version) #version
#define WORD(version) WORD_(version)
static const char NAME[] = "libcusparse.so." WORD(CUSPARSE_VER_MAJOR);

#define CALLS(X)                                                                                   \
  X(create, cusparseCreate)                                                                        \
  X(set_stream, cusparseSetStream)                                                                 \
  X(create_matrix, cusparseCreateCsr)                                                              \
  X(create_vector, cusparseCreateDnVec)                                                            \
  X(buffer_size, cusparseSpMV_bufferSize)                                                          \
  X(multiply, cusparseSpMV)                                                                        \
  X(destroy_matrix, cusparseDestroySpMat)                                                          \
  X(destroy_vector, cusparseDestroyDnVec)                                                          \
  X(destroy, cusparseDestroy)

typedef struct {
#define POINTER(name, function) decltype(&function) name;
  CALLS(POINTER)
#undef POINTER
} sparse_library;

struct spread_peer {
  spread_plan *plan;
  const sparse_library *cusparse;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t from, to;
  cudaDataType type;
  md_buffer rows, sorted, work;
};

static md_status library_open(const sparse_library **out)
{
  static sparse_library library;
  static bool opened = false;
#define SYMBOL(name, function) #function,
#define PLACE(name, function) (void **)&library.name,
  static const char *const names[] = {CALLS(SYMBOL)};
  void **const places[] = {CALLS(PLACE)};
#undef SYMBOL
#undef PLACE
  if (!opened)
    MD_TRY(md_library_open(NAME, "no cuSPARSE to compare with", sizeof names / sizeof *names, names,
                           places));
  opened = true;
  *out = &library;
  return MD_OK;
}

static md_status check(cusparseStatus_t result, const char *call)
{
  if (result == CUSPARSE_STATUS_SUCCESS) return MD_OK;
  return MD_FAIL(result == CUSPARSE_STATUS_ALLOC_FAILED ? MD_ENOMEM : MD_ECUDA,
                 "%s: cuSPARSE error %d", call, (int)result);
}

static __global__ void narrow_kernel(int64_t n, const int64_t *__restrict__ from, int32_t *to)
{
  if (md_thread() < n) to[md_thread()] = (int32_t)from[md_thread()];
}

/* alpha = 1, beta = 0 in either precision. */
static const double DOUBLES[] = {1, 0};
static const float FLOATS[] = {1, 0};
static const void *factor(const spread_peer *peer, int k)
{
  return peer->type == CUDA_R_64F ? (const void *)&DOUBLES[k] : (const void *)&FLOATS[k];
}

static md_status describe(spread_peer *peer, void *mesh)
{
  spread_plan *plan = peer->plan;
  const sparse_library *lib = peer->cusparse;
  const int64_t points = plan->grid.points, entries = spread_entries(plan, plan->n);
  md_buffer *buffer = plan->part[0].buffer;
  size_t bytes = 0;
  MD_TRY(check(lib->create(&peer->handle), "cusparseCreate"));
  MD_TRY(
      check(lib->set_stream(peer->handle, (cudaStream_t)plan->ctx->stream), "cusparseSetStream"));
  MD_TRY(check(lib->create_matrix(&peer->matrix, points, plan->n, entries, peer->rows.data,
                                  buffer[SPREAD_COLUMN].data, buffer[SPREAD_VALUE].data,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                  peer->type),
               "cusparseCreateCsr"));
  MD_TRY(check(lib->create_vector(&peer->from, plan->n, peer->sorted.data, peer->type),
               "cusparseCreateDnVec"));
  MD_TRY(check(lib->create_vector(&peer->to, points, mesh, peer->type), "cusparseCreateDnVec"));
  MD_TRY(check(lib->buffer_size(peer->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, factor(peer, 0),
                                peer->matrix, peer->from, factor(peer, 1), peer->to, peer->type,
                                CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
               "cusparseSpMV_bufferSize"));
  return md_buffer_reserve(plan->ctx, &peer->work, bytes + 1, 0);
}

md_status spread_gpu_peer_create(spread_plan *plan, void *mesh, spread_peer **out)
{
  enum { BLOCK = 256 };
  md_ctx *ctx = plan->ctx;
  const int64_t rows = plan->grid.points + 1;
  const sparse_library *library;
  MD_TRY(library_open(&library));
  spread_peer *peer = (spread_peer *)calloc(1, sizeof *peer);
  MD_REQUIRE(peer, MD_ENOMEM, "out of memory for a peer");
  peer->plan = plan;
  peer->cusparse = library;
  peer->type = ctx->precision == MD_DOUBLE ? CUDA_R_64F : CUDA_R_32F;
  md_status status = md_buffer_reserve(ctx, &peer->rows, (size_t)rows * sizeof(int32_t), 0);
  if (!status)
    status = md_buffer_reserve(ctx, &peer->sorted, (size_t)plan->n * spread_real_size(plan), 0);
  if (!status) {
    narrow_kernel<<<md_blocks(rows, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
        rows, (const int64_t *)plan->part[0].buffer[SPREAD_ROWS].data, (int32_t *)peer->rows.data);
    status = describe(peer, mesh);
  }
  if (status)
    spread_gpu_peer_destroy(peer);
  else
    *out = peer;
  return status;
}

md_status spread_gpu_peer_charges(spread_peer *peer, const void *q)
{
  spread_plan *plan = peer->plan;
  MD_TRY(ordering_permute(plan->ctx, plan->n,
                          (const int32_t *)plan->part[0].buffer[SPREAD_ORDER].data,
                          spread_real_size(plan), q, peer->sorted.data));
  return check(peer->cusparse->multiply(peer->handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                        factor(peer, 0), peer->matrix, peer->from, factor(peer, 1),
                                        peer->to, peer->type, CUSPARSE_SPMV_ALG_DEFAULT,
                                        peer->work.data),
               "cusparseSpMV");
}

void spread_gpu_peer_destroy(spread_peer *peer)
{
  const sparse_library *lib = peer->cusparse;
  md_ctx *ctx = peer->plan->ctx;
  if (peer->matrix) lib->destroy_matrix(peer->matrix);
  if (peer->from) lib->destroy_vector(peer->from);
  if (peer->to) lib->destroy_vector(peer->to);
  if (peer->handle) lib->destroy(peer->handle);
  md_buffer_free(ctx, &peer->rows);
  md_buffer_free(ctx, &peer->sorted);
  md_buffer_free(ctx, &peer->work);
  free(peer);
}
