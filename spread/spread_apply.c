/* spread/spread_apply.c - charges onto the mesh and mesh values back, part by part. */
#include "spread/spread_impl.h"

/* The job of a part: arrays begin at its first particle. */
static spread_job part_job(const spread_plan *plan, const spread_part *part, const spread_job *all)
{
  const size_t real_size = spread_real_size(plan), first = (size_t)part->first;
  spread_job job = *all;
  if (job.q) job.q = (const char *)job.q + first * real_size;
  if (job.value) job.value = (char *)job.value + first * real_size;
  if (job.gradient) job.gradient = (char *)job.gradient + 3 * first * real_size;
  return job;
}

md_status spread_use(spread_plan *plan, int32_t vectors)
{
  MD_REQUIRE(vectors >= 1 && vectors <= plan->spec.vectors, MD_EINVAL,
             "a plan for %d vectors takes 1 to %d of them at once, not %d", plan->spec.vectors,
             plan->spec.vectors, vectors);
  plan->vectors = vectors;
  return MD_OK;
}

md_status spread_charges(spread_plan *plan, const void *q, void *mesh)
{
  const spread_kernels kernels = spread_method_kernels(plan->ctx, plan->method);
  const size_t bytes = (size_t)plan->grid.points * spread_real_size(plan);
  const spread_job all = {q, mesh, NULL, NULL, plan->vectors, plan->n};
  if (!kernels.zeroes || plan->n_parts == 0)
    MD_TRY(md_fill(plan->ctx, mesh, 0, (size_t)all.vectors * bytes));
  for (int32_t k = 0; k < plan->n_parts; k++) {
    const spread_job job = part_job(plan, &plan->part[k], &all);
    MD_TRY(kernels.apply(plan, &plan->part[k], &job));
  }
  return MD_OK;
}

md_status spread_interpolate(spread_plan *plan, const void *mesh, void *value, void *gradient)
{
  const spread_kernels kernels = spread_method_kernels(plan->ctx, plan->method);
  const spread_job all = {NULL, (void *)(uintptr_t)mesh, value, gradient, plan->vectors, plan->n};
  for (int32_t k = 0; k < plan->n_parts && (value || gradient); k++) {
    const spread_job job = part_job(plan, &plan->part[k], &all);
    MD_TRY(kernels.back(plan, &plan->part[k], &job));
  }
  return MD_OK;
}
