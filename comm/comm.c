/* comm/comm.c - checks arguments and picks the kernels of the exchange with neighbours. */
#include "comm/comm_impl.h"
#include "comm/world.h"

#include <math.h>
#include <stdlib.h>

static comm_migrate_fn *const cpu_migrate[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_migrate);
static comm_borders_fn *const cpu_borders[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_borders);
static comm_forward_fn *const cpu_forward[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_forward);
static comm_migrate_fn *const gpu_migrate[MD_PRECISION_COUNT] = PREC_TABLE(comm_gpu_migrate);
static comm_borders_fn *const gpu_borders[MD_PRECISION_COUNT] = PREC_TABLE(comm_gpu_borders);
static comm_forward_fn *const gpu_forward[MD_PRECISION_COUNT] = PREC_TABLE(comm_gpu_forward);
static comm_move_fn *const cpu_move[MD_PRECISION_COUNT][MD_ISA_COUNT] = SIMD_TABLE(comm_cpu_move);
static comm_move_fn *const gpu_move[MD_PRECISION_COUNT] = PREC_TABLE(comm_gpu_move);
static comm_close_fn *const gpu_close[MD_PRECISION_COUNT] = PREC_TABLE(comm_gpu_close);

md_status comm_create(md_ctx *ctx, comm **out)
{
  *out = calloc(1, sizeof **out);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for the exchange of atoms");
  (*out)->ctx = ctx;
  return world_count() == 1 ? MD_OK : ranks_create(ctx, &(*out)->ranks);
}

void comm_destroy(comm *cm)
{
  if (!cm) return;
  if (gpu_close[cm->ctx->precision]) gpu_close[cm->ctx->precision](cm);
  ranks_destroy(cm);
  md_buffer_free(cm->ctx, &cm->found);
  md_buffer_free(cm->ctx, &cm->moves);
  md_buffer_free(cm->ctx, &cm->count);
  md_buffer_free(cm->ctx, &cm->scan_status);
  free(cm);
}

static md_status migrate(comm *cm, md_atoms *atoms, const comm_reach *early)
{
  atoms->n_ghost = 0;
  atoms->r_ghost = 0;
  cm->early = false;
  cm->moved_sq = 0;
  md_status status = MD_OK;
  /* Several ranks wrap on a GPU where they look for atoms that leave. */
  if (atoms->n > 0 && !(cm->ranks && cm->ctx->backend == MD_GPU))
    status = SIMD_PICK(cm->ctx, cpu_migrate, gpu_migrate)(cm, atoms, early);
  return cm->ranks ? ranks_migrate(cm, atoms, early, status) : status;
}

md_status comm_migrate(comm *cm, md_atoms *atoms)
{
  return migrate(cm, atoms, NULL);
}

/* Images of an atom that ghosts which reach so far may need. */
static md_status find_reach(const md_atoms *atoms, double r_ghost, comm_reach *out)
{
  MD_REQUIRE(r_ghost > 0 && isfinite(r_ghost), MD_EINVAL, "ghosts must reach > 0 far, not %g",
             r_ghost);
  out->r_ghost = r_ghost;
  for (int d = 0; d < 3; d++) {
    const double edge = atoms->frame.hi[d] - atoms->frame.lo[d];
    MD_REQUIRE(edge >= r_ghost / MD_SHIFT_MAX, MD_EINVAL,
               "the box is %g long along %c: at least %g is needed for a reach of %g", edge,
               'x' + d, r_ghost / MD_SHIFT_MAX, r_ghost);
    out->images[d] = (int)ceil(r_ghost / edge);
  }
  return MD_OK;
}

md_status comm_migrate_early(comm *cm, md_atoms *atoms, double r_ghost, double back)
{
  comm_reach reach;
  MD_TRY(find_reach(atoms, r_ghost, &reach));
  reach.back = atoms->n_built == atoms->n ? back : -1;
  return migrate(cm, atoms, &reach);
}

/* On one rank. */
static md_status name_ghosts(md_atoms *atoms)
{
  const md_ctx *ctx = atoms->ctx;
  if (!ctx->deterministic || ctx->backend == MD_GPU) return MD_OK;
  MD_TRY(md_buffer_reserve(atoms->ctx, &atoms->ghost_id, (size_t)atoms->n_ghost * 8, 0));
  const int64_t *id = atoms->id.data;
  const int32_t *home = atoms->home.data;
  int64_t *ghost_id = atoms->ghost_id.data;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t g = 0; g < atoms->n_ghost; g++)
    ghost_id[g] = id[home[g]];
  return MD_OK;
}

md_status comm_borders_after(comm *cm, md_atoms *atoms, double r_ghost, md_status before)
{
  comm_reach reach;
  double widest = 0;
  MD_TRY(find_reach(atoms, r_ghost, &reach));
  for (int d = 0; d < 3; d++)
    widest = fmax(widest, atoms->frame.hi[d] - atoms->frame.lo[d]);
  atoms->n_ghost = 0;
  atoms->r_ghost = r_ghost;
  /* Of the 2^32 steps, a margin of r_ghost on either side is for atoms that drift. */
  atoms->coord_scale = cm->ctx->precision == MD_MIXED ? (widest + 4 * r_ghost) * 0x1p-32 : 1;
  atoms->n_built = 0;
  if (atoms->n == 0 && !cm->ranks) return before;
  const size_t built = (size_t)atoms->n * 4 * md_state_size(cm->ctx->precision);
  md_status status = before;
  if (!status) status = md_buffer_reserve(cm->ctx, &atoms->x_at_build, built, 0);
  if (cm->ranks)
    status = ranks_borders(cm, atoms, r_ghost, status);
  else if (!status)
    status = SIMD_PICK(cm->ctx, cpu_borders, gpu_borders)(cm, atoms, reach.images);
  if (!status && !cm->ranks) status = name_ghosts(atoms);
  if (status)
    atoms->n_ghost = 0, atoms->r_ghost = 0;
  else
    atoms->n_built = atoms->n;
  return status;
}

md_status comm_borders(comm *cm, md_atoms *atoms, double r_ghost)
{
  return comm_borders_after(cm, atoms, r_ghost, MD_OK);
}

double comm_moved_sq(const comm *cm)
{
  return isnan(cm->moved_sq) ? INFINITY : cm->moved_sq;
}

md_status comm_max_move_early(comm *cm, const md_atoms *atoms)
{
  if (cm->ctx->backend == MD_CPU || atoms->n == 0 || atoms->n != atoms->n_built) return MD_OK;
  return gpu_move[cm->ctx->precision](cm, atoms, NULL);
}

md_status comm_max_move_sq(comm *cm, const md_atoms *atoms, double *moved_sq)
{
  *moved_sq = 0;
  md_status status = MD_OK;
  if (atoms->n != atoms->n_built)
    status = MD_FAIL(MD_EINVAL, "ghosts were made of %lld atoms, not of these %lld",
                     (long long)atoms->n_built, (long long)atoms->n);
  else if (atoms->n > 0)
    status = SIMD_PICK(cm->ctx, cpu_move, gpu_move)(cm, atoms, moved_sq);
  MD_TRY(status);
  if (isnan(*moved_sq)) *moved_sq = INFINITY;
  world_most(moved_sq, 1);
  return MD_OK;
}

md_status comm_forward(comm *cm, md_atoms *atoms)
{
  if (cm->ranks) return ranks_forward(cm, atoms);
  if (atoms->n_ghost == 0) return MD_OK;
  return SIMD_PICK(cm->ctx, cpu_forward, gpu_forward)(cm, atoms);
}

bool comm_sends_inside(const comm *cm)
{
  if (!cm->ranks) return true;
  const comm_carrier carrier = comm_carried(cm, &(const char *){NULL});
  return carrier == COMM_PEER || carrier == COMM_NCCL;
}

md_status comm_send_inside(comm *cm, const md_atoms *atoms, int32_t steps, md_mail *out)
{
  *out = (md_mail){.steps = steps};
  return cm->ranks ? ranks_send_inside(cm, atoms, steps, out) : MD_OK;
}

md_status comm_sum(comm *cm, double *values, int count)
{
  if (!cm->ranks) return MD_OK;
  double *all = malloc((size_t)world_count() * (size_t)count * sizeof *all);
  MD_REQUIRE(all, MD_ENOMEM, "out of memory for sums of %d ranks", world_count());
  world_gather(values, (size_t)count * sizeof *all, all);
  for (int k = 0; k < count; k++)
    values[k] = 0;
  for (int r = 0; r < world_count(); r++)
    for (int k = 0; k < count; k++)
      values[k] += all[r * count + k];
  free(all);
  return MD_OK;
}
