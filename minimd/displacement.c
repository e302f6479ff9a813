/* minimd/displacement.c - checks arguments and picks the kernels. */
#include "minimd/displacement_impl.h"

#include <math.h>
#include <stdlib.h>

static displacement_measure_fn *const cpu_measure[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(displacement_cpu_measure);
static displacement_measure_fn *const gpu_measure[MD_PRECISION_COUNT] =
    PREC_TABLE(displacement_gpu_measure);
static displacement_receive_fn *const gpu_receive[MD_PRECISION_COUNT] =
    PREC_TABLE(displacement_gpu_receive);
static displacement_close_fn *const gpu_close[MD_PRECISION_COUNT] =
    PREC_TABLE(displacement_gpu_close);

md_status displacement_create(md_ctx *ctx, displacement **out)
{
  *out = calloc(1, sizeof **out);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for displacements");
  (*out)->ctx = ctx;
  return MD_OK;
}

void displacement_destroy(displacement *d)
{
  if (!d) return;
  if (gpu_close[d->ctx->precision]) gpu_close[d->ctx->precision](d);
  md_buffer_free(d->ctx, &d->held);
  md_buffer_free(d->ctx, &d->found);
  free(d);
}

md_status displacement_hold(displacement *d, const md_atoms *atoms)
{
  const size_t bytes = (size_t)atoms->n * 4 * md_state_size(d->ctx->precision);
  d->n = 0;
  MD_TRY(md_buffer_reserve(d->ctx, &d->held, bytes, 0));
  if (atoms->n > 0) MD_TRY(md_copy(d->ctx, d->held.data, atoms->x.data, bytes));
  d->n = atoms->n;
  return MD_OK;
}

static md_status check_held(const displacement *d, const md_atoms *atoms)
{
  MD_REQUIRE(d->n == atoms->n, MD_EINVAL, "positions are held for %lld atoms, not for these %lld",
             (long long)d->n, (long long)atoms->n);
  return MD_OK;
}

md_status displacement_held(const displacement *d, const md_atoms *atoms, double *x)
{
  MD_TRY(check_held(d, atoms));
  return md_atoms_read(atoms, d->held.data, x);
}

md_status displacement_measure(displacement *d, const md_atoms *atoms, double back)
{
  MD_TRY(check_held(d, atoms));
  d->moved_sq = 0;
  d->sent = false;
  if (atoms->n == 0) return MD_OK;
  return SIMD_PICK(d->ctx, cpu_measure, gpu_measure)(d, atoms, back);
}

md_status displacement_read(displacement *d, double *moved_sq)
{
  if (d->sent) MD_TRY(gpu_receive[d->ctx->precision](d));
  d->sent = false;
  *moved_sq = isnan(d->moved_sq) ? INFINITY : d->moved_sq;
  return MD_OK;
}
