/* spread/spread_positions.c - positions into parts. */
#include "spread/pencil.h"
#include "core/sizes.h"
#include "core/time/timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static spread_check_fn *const cpu_checks[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(spread_cpu_check);
static spread_sort_fn *const cpu_sorts[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(spread_cpu_sort);
static spread_check_fn *const gpu_checks[] = PREC_TABLE(spread_gpu_check);
static spread_sort_fn *const gpu_sorts[] = PREC_TABLE(spread_gpu_sort);

static md_status deferred_bad(spread_plan *plan, int64_t *bad)
{
#ifdef MD_HAVE_CUDA
  if (plan->ctx->backend == MD_GPU) return spread_gpu_deferred_bad(plan, bad);
#endif
  (void)plan;
  (void)bad;
  return MD_OK;
}

/* Bytes that building for n particles asks for at least. */
static double bytes_needed(const spread_plan *plan, spread_method method, int64_t n)
{
  const double real_size = (double)spread_real_size(plan), particles = (double)n;
  const double record = real_size == 8 ? 32 : 16, points = (double)plan->grid.points;
  /* A CPU keeps records in the given order beside the sorted ones. */
  const bool both = plan->ctx->backend == MD_CPU &&
                    spread_method_kernels(plan->ctx, method).layout == SPREAD_TILES;
  double bytes = particles * record * (both ? 2 : 1);
  if (method == SPREAD_SINGLE || method == SPREAD_GROUP || method == SPREAD_HYBRID)
    bytes += (double)spread_entries(plan, n) * (real_size + 4) + (points + 1) * 8;
  if (method == SPREAD_GATHER) bytes += points * 4;
  const bool fills = method == SPREAD_TILED && spread_many_by_columns(plan, n, plan->spec.vectors);
  const bool reads = method == SPREAD_TILED && spread_many_by_stacks(plan, n, plan->spec.vectors);
  bytes += (fills + reads) * particles * record;
  if (fills || reads) bytes += particles * FILL_VECTORS(plan->grid.order) * real_size;
  return bytes;
}

/* Asks the device only for more than there was before, as asking takes longer than many a sort:
 * what spreadings will need is not held before the first of them. */
static md_status check_memory(spread_plan *plan, spread_method method, int64_t n)
{
  const bool gpu = plan->ctx->backend == MD_GPU;
  const double needed = bytes_needed(plan, method, n);
  md_gpu_info info;
  spread_report held;
  spread_describe(plan, &held);
  if (method == plan->method && needed <= fmax(plan->room, (double)held.bytes)) return MD_OK;
  double free_bytes = (double)md_memory_free();
  if (gpu) {
    MD_TRY(md_gpu_describe(&info));
    free_bytes = (double)(info.memory_free + held.bytes);
  }
  MD_REQUIRE(
      needed <= free_bytes, MD_ENOMEM,
      "method %s needs %.1f GB for %lld particles of order %d, but %.1f GB of %s memory are free",
      spread_method_words[method], needed / 1e9, (long long)n, plan->grid.order, free_bytes / 1e9,
      gpu ? "device" : "host");
  plan->room = needed;
  return MD_OK;
}

/* What was sorted last becomes the part's. */
static void adopt(spread_plan *plan, spread_part *part)
{
  md_buffer_swap(&part->buffer[SPREAD_START], &plan->counter.start);
}

/* What follows from positions is to be made anew where it is needed. */
static void forget_cuts(spread_part *part)
{
  part->cut = part->listed = part->stacked = false;
}

static md_status build_part(spread_plan *plan, spread_part *part, const void *x, int64_t stride)
{
  const md_ctx *ctx = plan->ctx;
  const spread_kernels kernels = spread_method_kernels(ctx, plan->method);
  part->overflow = part->width = part->spilled = 0;
  forget_cuts(part);
  MD_TRY(SIMD_PICK(ctx, cpu_sorts, gpu_sorts)(plan, part, x, stride));
  if (kernels.cut) MD_TRY(kernels.cut(plan, part));
  if (ctx->backend == MD_GPU && plan->counter.check_mode != SPREAD_CHECK_SORTING) adopt(plan, part);
  return kernels.build ? kernels.build(plan, part) : MD_OK;
}

static md_status build_parts(spread_plan *plan, int64_t n, const void *x, int64_t stride)
{
  const int64_t most = plan->spec.tuning.part ? plan->spec.tuning.part : SPREAD_PART_MAX;
  const int64_t n_parts = (n + most - 1) / most;
  MD_REQUIRE(n_parts <= INT32_MAX, MD_ECAPACITY, "%lld particles make too many parts of %lld",
             (long long)n, (long long)most);
  if (n_parts != plan->n_parts) {
    spread_drop_parts(plan);
    plan->part = calloc((size_t)n_parts + 1, sizeof *plan->part);
    MD_REQUIRE(plan->part, MD_ENOMEM, "out of memory for %lld parts", (long long)n_parts);
    plan->n_parts = (int32_t)n_parts;
  }
  const size_t state_size = plan->ctx->precision == MD_SINGLE ? sizeof(float) : sizeof(double);
  for (int32_t k = 0; k < plan->n_parts; k++) {
    spread_part *part = &plan->part[k];
    part->first = k * most;
    part->n = (int32_t)(n - part->first < most ? n - part->first : most);
    const char *from = (const char *)x + (size_t)(part->first * stride) * state_size;
    MD_TRY(build_part(plan, part, from, stride));
  }
  return plan->counter.check_mode == SPREAD_CHECK_DEFERRED ? MD_OK : md_ctx_sync(plan->ctx);
}

enum { NONE = -1 };

static md_status refuse_bad(int64_t bad)
{
  MD_REQUIRE(bad == NONE, MD_EINVAL,
             "the position of particle %lld is not a number, infinite or more than 2^50 boxes away",
             (long long)bad);
  return MD_OK;
}

static md_status check_positions(spread_plan *plan, int64_t n, const void *x, int64_t stride)
{
  const md_ctx *ctx = plan->ctx;
  int64_t bad = NONE;
  if (n > 0 && ctx->backend == MD_GPU) MD_TRY(gpu_checks[ctx->precision](plan, n, x, stride, &bad));
  if (n > 0 && ctx->backend == MD_CPU) {
    MD_TRY(cpu_checks[ctx->precision][ctx->isa](plan, n, x, stride, &bad));
    if (bad == n) bad = NONE;
  }
  return refuse_bad(bad);
}

md_status spread_check_deferred(spread_plan *plan)
{
  int64_t bad = NONE;
  MD_TRY(deferred_bad(plan, &bad));
  return refuse_bad(bad);
}

/* Whether positions can be checked while they are sorted: nothing has to grow, and nothing is built
 * besides. */
static spread_check_mode check_mode_for(const spread_plan *plan, spread_method method, int64_t n,
                                        bool wait)
{
  const bool steady = plan->ctx->backend == MD_GPU &&
                      !spread_method_kernels(plan->ctx, method).build && method == plan->method &&
                      plan->n_parts == 1 && n == plan->n;
  if (!steady) return SPREAD_CHECK_BEFORE;
  return wait ? SPREAD_CHECK_SORTING : SPREAD_CHECK_DEFERRED;
}

static md_status set_positions(spread_plan *plan, int64_t n, const void *x, int64_t stride,
                               bool wait)
{
  const double began = md_wall_seconds();
  MD_REQUIRE(n >= 0 && n < (int64_t)1 << 50, MD_EINVAL, "%lld is no number of particles",
             (long long)n);
  MD_REQUIRE(stride >= 3, MD_EINVAL, "the stride of positions must be >= 3, not %lld",
             (long long)stride);
  spread_choice choice = {plan->spec.method, plan->seen, "asked for"};
  if (choice.method == SPREAD_AUTO) MD_TRY(spread_choose(plan, n, x, stride, &choice));
  const spread_method method = choice.method;
  spread_counter *counter = &plan->counter;
  MD_TRY(check_memory(plan, method, n));
  const spread_check_mode check_mode = check_mode_for(plan, method, n, wait);
  if (counter->check_mode == SPREAD_CHECK_DEFERRED && check_mode != SPREAD_CHECK_DEFERRED)
    MD_TRY(md_ctx_sync(plan->ctx));
  MD_TRY(spread_check_deferred(plan)); /* of earlier calls */
  counter->check_mode = check_mode;
  counter->call += check_mode == SPREAD_CHECK_DEFERRED;
  if (check_mode == SPREAD_CHECK_BEFORE) MD_TRY(check_positions(plan, n, x, stride));
  memcpy(plan->reason, choice.reason, sizeof choice.reason);
  if (method != plan->method) spread_drop_parts(plan);
  plan->method = method;
  plan->layout = spread_method_kernels(plan->ctx, method).layout;
  if (plan->layout == SPREAD_PENCILS) pencils_cut(&plan->grid, &plan->pencils);
  if (plan->layout == SPREAD_GIVEN && plan->spec.tuning.sorted && plan->ctx->backend == MD_GPU)
    plan->layout = SPREAD_CELLS;
  const md_status status = build_parts(plan, n, x, stride);
  if (status) {
    spread_drop_parts(plan);
    return status;
  }
  if (check_mode == SPREAD_CHECK_SORTING) {
    const md_status checked = spread_check_deferred(plan);
    if (checked) forget_cuts(plan->part); /* those of the refused positions */
    MD_TRY(checked);
    adopt(plan, plan->part);
  }
  plan->n = n;
  plan->seen = choice.seen;
  plan->build_s = md_wall_seconds() - began;
  return MD_OK;
}

md_status spread_set_positions(spread_plan *plan, int64_t n, const void *x, int64_t stride)
{
  return set_positions(plan, n, x, stride, true);
}

md_status spread_queue_positions(spread_plan *plan, int64_t n, const void *x, int64_t stride)
{
  return set_positions(plan, n, x, stride, false);
}
