/* force/force.c - checks arguments, makes the constants of the pair formula, picks the kernels. */
#define MD_PREC 2 /* force_pair is the formula in double */
#include "force/force_impl.h"

#include <math.h>
#include <stdlib.h>

#define WORD(name, word) word,
const char *const force_shift_words[FORCE_SHIFT_COUNT] = {FORCE_SHIFTS(WORD)};
#undef WORD

static force_fn *const cpu[NEIGHBOR_LIST_COUNT][MD_PRECISION_COUNT][MD_ISA_COUNT] = {
    [NEIGHBOR_FULL] = SIMD_TABLE(force_cpu_full), [NEIGHBOR_HALF] = SIMD_TABLE(force_cpu_half)};
static force_fn *const cpu_eam[NEIGHBOR_LIST_COUNT][MD_PRECISION_COUNT][MD_ISA_COUNT] = {
    [NEIGHBOR_FULL] = SIMD_TABLE(eam_cpu_full), [NEIGHBOR_HALF] = SIMD_TABLE(eam_cpu_half)};
static force_fn *const gpu[NEIGHBOR_LIST_COUNT][MD_PRECISION_COUNT] = {
    [NEIGHBOR_FULL] = PREC_TABLE(force_gpu_full),
    [NEIGHBOR_HALF] = PREC_TABLE(force_gpu_half),
    [NEIGHBOR_TILE] = PREC_TABLE(force_gpu_tile)};
static force_fn *const gpu_advance[MD_PRECISION_COUNT] = PREC_TABLE(force_gpu_tile_advance);
static force_fn *const gpu_eam[NEIGHBOR_LIST_COUNT][MD_PRECISION_COUNT] = {
    [NEIGHBOR_FULL] = PREC_TABLE(eam_gpu_full), [NEIGHBOR_TILE] = PREC_TABLE(eam_gpu_tile)};
static force_fn *const gpu_eam_advance[MD_PRECISION_COUNT] = PREC_TABLE(eam_gpu_tile_advance);

lj_constants force_constants(const force_lj *pair, const force_spec *spec)
{
  const double s6 = pow(pair->sigma, 6), eps = pair->epsilon;
  lj_constants c = {.r_cut_sq = pair->r_cut * pair->r_cut,
                    .lj1 = 48 * eps * s6 * s6,
                    .lj2 = 24 * eps * s6,
                    .lj3 = 4 * eps * s6 * s6,
                    .lj4 = 4 * eps * s6};
  const lj_reals plain = lj_round(&c);
  if (spec->shift != FORCE_SHIFT_NONE) c.u_shift = lj_energy(c.r_cut_sq, &plain, LJ_PLAIN);
  if (spec->shift == FORCE_SHIFT_FORCE) {
    c.f_shift = -pair->r_cut * lj_f_over_r(c.r_cut_sq, &plain, LJ_PLAIN);
    c.u_shift -= pair->r_cut * c.f_shift;
  }
  return c;
}

/* Whether floats hold what pair kernels make of these, also in units of lj1 or times the length of
 * a step of fixed-point coordinates. */
static bool floats_hold(const force_lj *pair, const lj_constants *lj)
{
  return pair->sigma >= 0x1p-7 && pair->sigma <= 0x1p7 && fmin(lj->lj1, lj->lj2) >= 1e-27 &&
         fmax(lj->lj1, lj->lj2) <= 1e27;
}

static md_status check_pair(const md_ctx *ctx, const force_spec *spec, const force_lj *pair)
{
  MD_REQUIRE(pair->epsilon > 0 && isfinite(pair->epsilon), MD_EINVAL,
             "epsilon must be > 0 and finite, not %g", pair->epsilon);
  MD_REQUIRE(pair->sigma > 0 && isfinite(pair->sigma), MD_EINVAL,
             "sigma must be > 0 and finite, not %g", pair->sigma);
  MD_REQUIRE(pair->r_cut > 0 && isfinite(pair->r_cut), MD_EINVAL,
             "the cutoff must be > 0 and finite, not %g", pair->r_cut);
  const lj_constants lj = force_constants(pair, spec);
  MD_REQUIRE(
      ctx->precision == MD_DOUBLE || floats_hold(pair, &lj), MD_EINVAL,
      "epsilon of %g and sigma of %g are beyond what single and mixed precision hold: choose "
      "units in which sigma is between 1/128 and 128, and 48 epsilon sigma^12 and 24 epsilon "
      "sigma^6 between 1e-27 and 1e27, or double precision",
      pair->epsilon, pair->sigma);
  return MD_OK;
}

md_status force_create(md_ctx *ctx, const force_spec *spec, force **out)
{
  *out = NULL;
  const force_lj alike = {spec->epsilon, spec->sigma, spec->r_cut};
  const bool typed = spec->n_types > 1;
  MD_REQUIRE(spec->n_types >= 0 && spec->n_types <= MD_TYPES, MD_EINVAL,
             "%d types of atoms: expected at most %d", spec->n_types, MD_TYPES);
  for (int32_t k = 0; k < (typed ? spec->n_types * spec->n_types : 1); k++)
    MD_TRY(check_pair(ctx, spec, typed ? &spec->pairs[k] : &alike));
  MD_REQUIRE(spec->block_size == 0 ||
                 (spec->block_size % 32 == 0 && spec->block_size >= 32 && spec->block_size <= 1024),
             MD_EINVAL, "the block size must be 0 or a multiple of 32 up to 1024, not %d",
             spec->block_size);
  MD_REQUIRE(spec->carveout >= 0 && spec->carveout <= 100, MD_EINVAL,
             "the carve-out must be 0 or a percentage up to 100, not %d", spec->carveout);
  force *fc = calloc(1, sizeof *fc);
  MD_REQUIRE(fc, MD_ENOMEM, "out of memory for the forces");
  fc->ctx = ctx;
  fc->spec = *spec;
  fc->lj = force_constants(typed ? spec->pairs : &alike, spec);
  const md_status status = typed ? force_types_create(fc, spec) : MD_OK;
  if (status)
    force_destroy(fc);
  else
    *out = fc;
  return status;
}

md_status force_set_coulomb(force *fc, double alpha, double r_cut)
{
  MD_REQUIRE(alpha > 0 && isfinite(alpha), MD_EINVAL, "alpha must be > 0 and finite, not %g",
             alpha);
  MD_REQUIRE(r_cut > 0 && isfinite(r_cut), MD_EINVAL,
             "the cutoff of charges must be > 0 and finite, not %g", r_cut);
  fc->coulomb = (coulomb_constants){r_cut * r_cut, alpha};
  return MD_OK;
}

void force_destroy(force *fc)
{
  if (!fc) return;
  force_types_free(fc);
  md_buffer_free(fc->ctx, &fc->partial);
  md_buffer_free(fc->ctx, &fc->exact);
  md_buffer_free(fc->ctx, &fc->fixed);
  md_buffer_free(fc->ctx, &fc->packed);
  md_buffer_free(fc->ctx, &fc->charge);
  md_buffer_free(fc->ctx, &fc->density_knots);
  md_buffer_free(fc->ctx, &fc->force_knots);
  md_buffer_free(fc->ctx, &fc->embed_knots);
  md_buffer_free(fc->ctx, &fc->beyond_now);
  md_buffer_free(fc->ctx, &fc->near);
  md_buffer_free(fc->ctx, &fc->near_count);
  md_buffer_free(fc->ctx, &fc->tile_words);
  md_buffer_free(fc->ctx, &fc->squeezed);
  md_buffer_free(fc->ctx, &fc->close);
  md_buffer_free(fc->ctx, &fc->density);
  md_buffer_free(fc->ctx, &fc->slope);
  md_buffer_free(fc->ctx, &fc->x_new);
  md_buffer_free(fc->ctx, &fc->coord_new);
  md_buffer_free(fc->ctx, &fc->order);
  md_buffer_free(fc->ctx, &fc->tiles_near[0]);
  md_buffer_free(fc->ctx, &fc->tiles_near[1]);
  md_buffer_free(fc->ctx, &fc->tiles_done);
  free(fc);
}

/* A list of these atoms that reaches as far as the cutoffs. */
static md_status check_list(const force *fc, const md_atoms *atoms, const neighbor_view *view)
{
  MD_REQUIRE(view->n_rows == atoms->n && view->n_ghost == atoms->n_ghost, MD_EINVAL,
             "the list is of %lld atoms and %lld ghosts, not of these %lld and %lld",
             (long long)view->n_rows, (long long)view->n_ghost, (long long)atoms->n,
             (long long)atoms->n_ghost);
  const double r_cut = fmax(fc->spec.r_cut, sqrt(fc->coulomb.r_cut_sq) * (1 - 1e-15));
  MD_REQUIRE(atoms->n == 0 || view->r_list >= r_cut, MD_EINVAL,
             "the list reaches %g and the cutoff is %g: the list must reach as far", view->r_list,
             r_cut);
  MD_REQUIRE(!fc->eam || fc->ctx->backend == MD_CPU || view->kind != NEIGHBOR_HALF, MD_EINVAL,
             "half lists of embedded atoms are for the CPU: on the GPU both passes would add to "
             "other atoms atomically; expected full or tile");
  return MD_OK;
}

static force_job make_job(const force *fc, const md_atoms *atoms, const neighbor_view *view)
{
  force_job job = {.fc = fc,
                   .ctx = fc->ctx,
                   .coord = md_atoms_coord(atoms),
                   .x = atoms->x.data,
                   .f = atoms->f.data,
                   .v = atoms->v.data,
                   .home = atoms->home.data,
                   .shift = atoms->shift.data,
                   .first = atoms->first.data,
                   .n = atoms->n,
                   .n_ghost = atoms->n_ghost,
                   .coord_scale = atoms->coord_scale,
                   .list = view,
                   .lj = fc->lj,
                   .types = fc->types.n ? &fc->types : NULL,
                   .coulomb = fc->coulomb};
  const md_box *frame = &atoms->frame;
  for (int d = 0; d < 3; d++) {
    job.edge[d] = frame->hi[d] - frame->lo[d];
    job.middle[d] = frame->lo[d] + job.edge[d] / 2;
  }
  return job;
}

static bool is_exact(const md_ctx *ctx, const neighbor_view *view)
{
  return ctx->deterministic && view->kind == NEIGHBOR_FULL;
}

void force_share(force *fc, force_fill_fn *fill, void *arg)
{
  fc->fill = fill;
  fc->fill_arg = arg;
}

/* A process without atoms takes part where others exchange values of ghosts. */
static md_status compute_nothing(force *fc, const md_atoms *atoms)
{
  if (!fc->eam || !fc->fill) return MD_OK;
  const size_t bytes = (size_t)atoms->n_ghost * md_real_size(fc->ctx->precision);
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->slope, bytes, 0));
  return fc->fill(fc->fill_arg, fc->slope.data);
}

md_status force_compute(force *fc, md_atoms *atoms, const neighbor_list *list, force_tally *tally)
{
  const neighbor_view *view = neighbor_list_view(list);
  MD_TRY(check_list(fc, atoms, view));
  if (tally) *tally = (force_tally){.is_exact = is_exact(fc->ctx, view)};
  if (atoms->n == 0) return compute_nothing(fc, atoms);
  force_job job = make_job(fc, atoms, view);
  job.tally = tally;
  if (fc->eam) return SIMD_PICK(fc->ctx, cpu_eam[view->kind], gpu_eam[view->kind])(fc, &job);
  return SIMD_PICK(fc->ctx, cpu[view->kind], gpu[view->kind])(fc, &job);
}

bool force_advances(const force *fc, const neighbor_list *list)
{
  return neighbor_list_view(list)->kind == NEIGHBOR_TILE && fc->coulomb.r_cut_sq == 0 &&
         !(fc->eam && fc->fill);
}

md_status force_advance(force *fc, md_atoms *atoms, neighbor_list *list, double kick, double drift,
                        int32_t steps, const md_mail *mail)
{
  const neighbor_view *view = neighbor_list_view(list);
  const bool fixed = fc->ctx->precision == MD_MIXED;
  MD_REQUIRE(
      force_advances(fc, list), MD_EINVAL,
      "only a list by tiles, without charges or embedded atoms of several ranks, moves atoms along "
      "with the forces");
  MD_REQUIRE(!mail || !(fc->eam || fc->types.n), MD_EINVAL,
             "embedded atoms and atoms of several types do not send their ghosts themselves");
  MD_TRY(check_list(fc, atoms, view));
  if (atoms->n == 0 || steps < 1) return MD_OK;
  MD_TRY(md_buffer_match(fc->ctx, &fc->x_new, &atoms->x));
  if (fixed) MD_TRY(md_buffer_match(fc->ctx, &fc->coord_new, &atoms->fixed));
  force_job job = make_job(fc, atoms, view);
  job.kick = kick, job.drift = drift, job.steps = steps, job.mail = mail;
  force_fn *const kernel = (fc->eam ? gpu_eam_advance : gpu_advance)[fc->ctx->precision];
  /* What has been told to carry messages waits for kernels: only those of a list that fits. */
  const bool once = mail && mail->carry;
  bool again;
  if (!once) MD_TRY(kernel(fc, &job));
  MD_TRY(neighbor_settle(list, &again));
  if (once || again) MD_TRY(kernel(fc, &job));
  if (steps % 2 == 0) return MD_OK;
  md_buffer_swap(&atoms->x, &fc->x_new);
  if (fixed) md_buffer_swap(&atoms->fixed, &fc->coord_new);
  return MD_OK;
}

void force_pair(const force_spec *spec, double r, double *energy, double *force_over_r)
{
  const lj_constants c =
      force_constants(&(force_lj){spec->epsilon, spec->sigma, spec->r_cut}, spec);
  const lj_reals reals = lj_round(&c);
  const double r_sq = r * r;
  const bool inside = r_sq < c.r_cut_sq;
  const lj_form form = lj_form_of(&c);
  *energy = inside ? lj_energy(r_sq, &reals, form) : 0;
  *force_over_r = inside ? lj_f_over_r(r_sq, &reals, form) : 0;
}
