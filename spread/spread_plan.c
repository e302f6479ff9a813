/* spread/spread_plan.c - making, describing and freeing plans. */
#include "spread/spread_impl.h"

#include <stdlib.h>
#include <string.h>

#define COUNTER_BUFFERS(plan)                                                                      \
  {                                                                                                \
    &(plan)->counter.count, &(plan)->counter.start, &(plan)->counter.scan_status,                  \
        &(plan)->counter.bad                                                                       \
  }

/* Bad positions on the GPU: see spread_gpu_defer_checks and its kin. */
static md_status begin_deferred(spread_plan *plan)
{
#ifdef MD_HAVE_CUDA
  return spread_gpu_defer_checks(plan);
#else
  (void)plan;
  return MD_OK;
#endif
}

static void end_deferred(spread_plan *plan)
{
#ifdef MD_HAVE_CUDA
  spread_gpu_free_deferred(plan);
#else
  (void)plan;
#endif
}

md_status spread_create(md_ctx *ctx, const spread_spec *spec, spread_plan **out)
{
  *out = NULL;
  MD_TRY(spread_check(spec, ctx->backend, ctx->deterministic));
  spread_plan *plan = calloc(1, sizeof *plan);
  MD_REQUIRE(plan, MD_ENOMEM, "out of memory for the plan");
  plan->ctx = ctx;
  plan->spec = *spec;
  plan->vectors = spec->vectors;
  plan->method = spec->method;
  spread_grid *grid = &plan->grid;
  grid->order = spec->order;
  grid->points = 1;
  for (int a = 0; a < 3; a++) {
    grid->lo[a] = spec->lo[a];
    grid->inv_length[a] = 1 / (spec->hi[a] - spec->lo[a]);
    grid->mesh[a] = spec->mesh[a];
    grid->points *= spec->mesh[a];
  }
  md_status status = ordering_sorter_create(ctx, &plan->sorter);
  if (!status && ctx->backend == MD_GPU) {
    md_gpu_info gpu;
    status = md_gpu_describe(&gpu);
    plan->multiprocessors = gpu.multiprocessors;
    plan->l2_bytes = gpu.l2_bytes;
    if (!status) status = begin_deferred(plan);
  } else if (!status) {
    status = spread_tiles_create(grid, &plan->tiles);
  }
  if (status) {
    spread_destroy(plan);
    return status;
  }
  *out = plan;
  return MD_OK;
}

void spread_drop_parts(spread_plan *plan)
{
  for (int32_t k = 0; k < plan->n_parts; k++)
    for (int b = 0; b < SPREAD_BUFFERS; b++)
      md_buffer_free(plan->ctx, &plan->part[k].buffer[b]);
  free(plan->part);
  plan->part = NULL;
  plan->n_parts = 0;
  plan->n = 0;
}

void spread_destroy(spread_plan *plan)
{
  if (!plan) return;
  spread_drop_parts(plan);
  for (int k = 0; k < SPREAD_SCRATCH; k++)
    md_buffer_free(plan->ctx, &plan->scratch[k]);
  for (int k = 0; k < 2; k++)
    md_buffer_free(plan->ctx, &plan->columns[k]);
  md_buffer *counter[] = COUNTER_BUFFERS(plan);
  for (size_t k = 0; k < sizeof counter / sizeof *counter; k++)
    md_buffer_free(plan->ctx, counter[k]);
  end_deferred(plan);
  spread_tiles_destroy(&plan->tiles);
  ordering_sorter_destroy(plan->sorter);
  free(plan);
}

void spread_describe(const spread_plan *plan, spread_report *out)
{
  const int64_t real_size = (int64_t)spread_real_size(plan);
  const int64_t state_size = plan->ctx->precision == MD_SINGLE ? 4 : 8;
  memset(out, 0, sizeof *out);
  out->method = plan->method;
  out->reason = plan->reason;
  out->particles = plan->n;
  out->per_point = (double)spread_entries(plan, plan->n) / (double)plan->grid.points;
  out->build_s = plan->build_s;
  out->compute_unit = spread_compute_unit(plan);
  out->floor_bytes = plan->n * (3 * state_size + plan->spec.vectors * real_size) +
                     plan->spec.vectors * plan->grid.points * real_size;
  for (int k = 0; k < SPREAD_SCRATCH; k++)
    out->bytes += (int64_t)plan->scratch[k].bytes;
  out->bytes += (int64_t)(plan->columns[0].bytes + plan->columns[1].bytes);
  const md_buffer *counter[] = COUNTER_BUFFERS(plan);
  for (size_t k = 0; k < sizeof counter / sizeof *counter; k++)
    out->bytes += (int64_t)counter[k]->bytes;
  for (int32_t k = 0; k < plan->n_parts; k++) {
    const spread_part *part = &plan->part[k];
    for (int b = 0; b < SPREAD_BUFFERS; b++)
      out->bytes += (int64_t)part->buffer[b].bytes;
    out->overflow += part->overflow;
    out->width = part->width;
    out->spilled += part->spilled;
  }
}
