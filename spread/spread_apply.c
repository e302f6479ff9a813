/* spread/spread_apply.c - charges onto the mesh and mesh values back, part by part. */
#include "spread/pencil.h"

#include <string.h>

/* The job of a part: arrays begin at its first particle. */
static spread_job part_job(const spread_plan *plan, const spread_part *part, const spread_job *all)
{
  const size_t numbers = (size_t)part->first * (size_t)(all->by_particle ? all->vectors : 1);
  const size_t bytes = numbers * spread_real_size(plan);
  spread_job job = *all;
  if (job.q) job.q = (const char *)job.q + bytes;
  if (job.value) job.value = (char *)job.value + bytes;
  if (job.gradient) job.gradient = (char *)job.gradient + 3 * bytes;
  return job;
}

static void transpose_on_cpu(const md_ctx *ctx, int64_t rows, int64_t columns, size_t bytes,
                             const char *from, char *to)
{
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      memcpy(to + (size_t)(c * rows + r) * bytes, from + (size_t)(r * columns + c) * bytes, bytes);
}

/* to [columns][rows] = from [rows][columns], of so many bytes each. */
static md_status transpose(md_ctx *ctx, int64_t rows, int64_t columns, size_t bytes,
                           const void *from, void *to)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) return spread_gpu_transpose(ctx, rows, columns, bytes, from, to);
#endif
  transpose_on_cpu(ctx, rows, columns, bytes, from, to);
  return MD_OK;
}

/* Room for a part's numbers one vector after the other, so many bytes each. */
static md_status reserve_columns(spread_plan *plan, int which, int64_t n, size_t bytes)
{
  return md_buffer_reserve(plan->ctx, &plan->columns[which],
                           (size_t)n * (size_t)plan->vectors * bytes, 0);
}

md_status spread_use(spread_plan *plan, int32_t vectors)
{
  MD_REQUIRE(vectors >= 1 && vectors <= plan->spec.vectors, MD_EINVAL,
             "a plan for %d vectors takes 1 to %d of them at once, not %d", plan->spec.vectors,
             plan->spec.vectors, vectors);
  plan->vectors = vectors;
  return MD_OK;
}

/* A part's charges onto the mesh; those that lie by particle one vector after the other, unless the
 * kernels take them as they lie. */
static md_status spread_part_charges(spread_plan *plan, spread_part *part, spread_job job)
{
  const spread_kernels kernels = spread_method_kernels(plan->ctx, plan->method);
  const size_t bytes = spread_real_size(plan);
  const bool taken = plan->layout == SPREAD_PENCILS &&
                     spread_many_by_columns(plan, part->n, job.vectors) &&
                     spread_many_take_rows(plan, job.vectors, job.q);
  if (job.by_particle && !taken) {
    MD_TRY(reserve_columns(plan, 0, part->n, bytes));
    MD_TRY(transpose(plan->ctx, part->n, job.vectors, bytes, job.q, plan->columns[0].data));
    job.q = plan->columns[0].data;
    job.q_stride = part->n;
    job.by_particle = false;
  }
  return kernels.apply(plan, part, &job);
}

md_status spread_clear(spread_plan *plan, void *mesh)
{
  const size_t bytes = (size_t)plan->grid.points * spread_real_size(plan);
  if (spread_method_kernels(plan->ctx, plan->method).zeroes && plan->n_parts > 0) return MD_OK;
  return md_fill(plan->ctx, mesh, 0, (size_t)plan->vectors * bytes);
}

md_status spread_add_charges(spread_plan *plan, const void *q, void *mesh)
{
  const bool rows = plan->spec.by_particle && plan->vectors > 1;
  const spread_job all = {q, mesh, NULL, NULL, plan->vectors, plan->n, rows};
  for (int32_t k = 0; k < plan->n_parts; k++)
    MD_TRY(spread_part_charges(plan, &plan->part[k], part_job(plan, &plan->part[k], &all)));
  return MD_OK;
}

md_status spread_charges(spread_plan *plan, const void *q, void *mesh)
{
  MD_TRY(spread_clear(plan, mesh));
  return spread_add_charges(plan, q, mesh);
}

/* A part's values and gradients, likewise. */
static md_status interpolate_part(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const spread_kernels kernels = spread_method_kernels(plan->ctx, plan->method);
  const size_t bytes = spread_real_size(plan);
  const bool taken = plan->layout == SPREAD_PENCILS && !job->gradient &&
                     spread_many_by_stacks(plan, part->n, job->vectors) &&
                     spread_many_take_rows(plan, job->vectors, job->value);
  if (!job->by_particle || taken) return kernels.back(plan, part, job);
  void *const rows[2] = {job->value, job->gradient};
  for (int k = 0; k < 2; k++)
    if (rows[k]) MD_TRY(reserve_columns(plan, k, part->n, k ? 3 * bytes : bytes));
  spread_job by_vector = *job;
  by_vector.value = job->value ? plan->columns[0].data : NULL;
  by_vector.gradient = job->gradient ? plan->columns[1].data : NULL;
  by_vector.q_stride = part->n;
  by_vector.by_particle = false;
  MD_TRY(kernels.back(plan, part, &by_vector));
  for (int k = 0; k < 2; k++)
    if (rows[k])
      MD_TRY(transpose(plan->ctx, job->vectors, part->n, k ? 3 * bytes : bytes,
                       plan->columns[k].data, rows[k]));
  return MD_OK;
}

md_status spread_interpolate(spread_plan *plan, const void *mesh, void *value, void *gradient)
{
  const bool rows = plan->spec.by_particle && plan->vectors > 1;
  const spread_job all = {NULL, (void *)(uintptr_t)mesh, value, gradient, plan->vectors, plan->n,
                          rows};
  for (int32_t k = 0; k < plan->n_parts && (value || gradient); k++) {
    const spread_job job = part_job(plan, &plan->part[k], &all);
    MD_TRY(interpolate_part(plan, &plan->part[k], &job));
  }
  return MD_OK;
}
