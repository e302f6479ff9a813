/* spread/gpu_guo/product.real.cu - spreading as a sparse matrix-vector product on the GPU: single,
 * group and hybrid ([Guo] section 3).
 *
 * Charges are brought into the order by cell first, once a vector.  An entry costs its 4 + real
 * bytes, read once, and a charge that is mostly in cache; the matrix of 1e6 particles of order 6 in
 * single precision has 1.7 GB, and that is the limit of all three.
 *
 * single  1 to 16 lanes a row, a "compute unit"; they add up by shuffles or in shared memory.
 * group   one thread a row; rows of a group lie side by side, so a warp reads whole lines.
 * hybrid  one thread a row for the regular part; the list by warps, 32 entries at a time: a
 *         segmented scan, then one RED for each row that occurs.  Deterministic plans sum the list
 *         by rows instead. */
#include "spread/gpu_guo/matrix_gpu.h"

enum { BLOCK = 128, LIST_STEPS = 8 };

/* `lanes` threads: one row of a compressed matrix; lanes is a power of two <= 16. */
static __global__ void rows_kernel(int64_t points, int lanes, bool shared,
                                   const int64_t *__restrict__ rows,
                                   const int32_t *__restrict__ column,
                                   const real *__restrict__ value, const real *__restrict__ q,
                                   real *__restrict__ mesh)
{
  __shared__ real part[BLOCK];
  const int64_t m = md_thread() / lanes;
  const int lane = threadIdx.x % lanes;
  real sum = 0;
  if (m < points)
    for (int64_t e = rows[m] + lane, end = rows[m + 1]; e < end; e += lanes)
      sum += __ldcs(value + e) * q[__ldcs(column + e)];
  if (shared) {
    part[threadIdx.x] = sum;
    for (int step = lanes / 2; step > 0; step /= 2) {
      __syncwarp();
      if (lane < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    sum = part[threadIdx.x];
  } else {
    for (int step = lanes / 2; step > 0; step /= 2)
      sum += __shfl_down_sync(MD_ALL_LANES, sum, step, lanes);
  }
  if (lane == 0 && m < points && rows[m] < rows[m + 1]) mesh[m] += sum;
}

/* Thread: one row; its entries lie `apart` slots from each other. */
static __device__ __forceinline__ void add_row(const matrix &a, int64_t m, int64_t slot,
                                               int64_t apart, int64_t count,
                                               const real *__restrict__ q, real *__restrict__ mesh)
{
  real sum = 0;
  for (int64_t e = 0; e < count; e++, slot += apart)
    sum += __ldcs(a.value + slot) * q[__ldcs(a.column + slot)];
  if (count) mesh[m] += sum;
}

static __global__ void group_kernel(matrix a, const real *__restrict__ q, real *__restrict__ mesh)
{
  const int64_t m = md_thread();
  if (m >= a.points) return;
  add_row(a, m, a.group[m / a.group_rows] + m % a.group_rows, a.group_rows,
          a.rows[m + 1] - a.rows[m], q, mesh);
}

static __global__ void regular_kernel(matrix a, const real *__restrict__ q, real *__restrict__ mesh)
{
  const int64_t m = md_thread();
  if (m >= a.points) return;
  add_row(a, m, m, a.points, min(a.rows[m + 1] - a.rows[m], a.width), q, mesh);
}

/* Warp: 32 LIST_STEPS entries of the list. */
static __global__ void list_kernel(matrix a, int64_t entries, const real *__restrict__ q,
                                   real *__restrict__ mesh)
{
  const int lane = threadIdx.x % MD_WARP;
  int64_t e = md_thread() / MD_WARP * MD_WARP * LIST_STEPS + lane;
  for (int step = 0; step < LIST_STEPS; step++, e += MD_WARP) {
    const bool inside = e < entries;
    const uint32_t row = inside ? (uint32_t)a.list_row[e] : UINT32_MAX;
    real sum = inside ? a.list_value[e] * q[a.list_column[e]] : (real)0;
    for (int back = 1; back < MD_WARP; back *= 2) {
      const real before = __shfl_up_sync(MD_ALL_LANES, sum, back);
      const uint32_t row_before = __shfl_up_sync(MD_ALL_LANES, row, back);
      if (lane >= back && row_before == row) sum += before;
    }
    const uint32_t row_after = __shfl_down_sync(MD_ALL_LANES, row, 1);
    if (inside && (lane == MD_WARP - 1 || row_after != row)) atomicAdd(mesh + row, sum);
  }
}

/* The charges of one vector in the order by cell; in scratch[0]. */
static md_status sort_charges(spread_plan *plan, const spread_part *part, const spread_job *job,
                              int32_t vector, const real **sorted)
{
  md_ctx *ctx = plan->ctx;
  const real *q = (const real *)job->q + vector * job->q_stride;
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[0], (size_t)part->n * sizeof(real), 0));
  *sorted = (const real *)plan->scratch[0].data;
  return ordering_permute(ctx, part->n, (const int32_t *)part->buffer[SPREAD_ORDER].data,
                          sizeof(real), q, plan->scratch[0].data);
}

static md_status add_rows(const spread_plan *plan, int lanes, const int64_t *rows,
                          const int32_t *column, const real *value, const real *q, real *mesh)
{
  const int64_t points = plan->grid.points;
  rows_kernel<<<md_blocks(points * lanes, BLOCK), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(
      points, lanes, plan->spec.tuning.shared_sum, rows, column, value, q, mesh);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(spread_gpu_single)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const matrix a = matrix_of(plan, part);
  const int lanes = spread_compute_unit(plan);
  for (int32_t v = 0; v < job->vectors; v++) {
    const real *q;
    MD_TRY(sort_charges(plan, part, job, v, &q));
    MD_TRY(add_rows(plan, lanes, a.rows, a.column, a.value, q, (real *)job->mesh + v * a.points));
  }
  return MD_OK;
}

md_status PREC(spread_gpu_group)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const matrix a = matrix_of(plan, part);
  for (int32_t v = 0; v < job->vectors; v++) {
    const real *q;
    MD_TRY(sort_charges(plan, part, job, v, &q));
    group_kernel<<<md_blocks(a.points, BLOCK), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(
        a, q, (real *)job->mesh + v * a.points);
    MD_LAUNCHED();
  }
  return MD_OK;
}

md_status PREC(spread_gpu_hybrid)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const cudaStream_t stream = (cudaStream_t)plan->ctx->stream;
  const matrix a = matrix_of(plan, part);
  for (int32_t v = 0; v < job->vectors; v++) {
    const real *q;
    real *mesh = (real *)job->mesh + v * a.points;
    MD_TRY(sort_charges(plan, part, job, v, &q));
    regular_kernel<<<md_blocks(a.points, BLOCK), BLOCK, 0, stream>>>(a, q, mesh);
    MD_LAUNCHED();
    if (part->spilled == 0) continue;
    if (plan->ctx->deterministic) {
      MD_TRY(add_rows(plan, 16, a.list, a.list_column, a.list_value, q, mesh));
      continue;
    }
    const int64_t warps = (part->spilled + MD_WARP * LIST_STEPS - 1) / (MD_WARP * LIST_STEPS);
    list_kernel<<<md_blocks(warps * MD_WARP, BLOCK), BLOCK, 0, stream>>>(a, part->spilled, q, mesh);
    MD_LAUNCHED();
  }
  return MD_OK;
}
