/* force/force_types.c - atoms of several types: mixing rules, a table of constants for each two
 * types, and the types of atoms and ghosts as kernels read them, a byte each.
 *
 * An atom carries its type beside its velocity (md_atoms.v), where it is sorted and migrates;
 * ghosts have no velocity, and a pair wants bytes that lie close: the array is made once a list. */
#include "force/force_impl.h"

#include <math.h>
#include <stdlib.h>

static force_take_fn *const gpu_take[MD_PRECISION_COUNT] = PREC_TABLE(force_gpu_take_types);
static force_take_fn *const gpu_filled[MD_PRECISION_COUNT] = PREC_TABLE(force_gpu_take_filled);

#define WORD(name, word) word,
const char *const force_mix_words[FORCE_MIX_COUNT] = {FORCE_MIXES(WORD)};
#undef WORD

force_lj force_lj_mix(force_mix mix, const force_lj *i, const force_lj *j)
{
  const bool geometric = mix == FORCE_MIX_GEOMETRIC;
  return (force_lj){
      .epsilon = sqrt(i->epsilon * j->epsilon),
      .sigma = geometric ? sqrt(i->sigma * j->sigma) : (i->sigma + j->sigma) / 2,
      .r_cut = geometric ? sqrt(i->r_cut * j->r_cut) : (i->r_cut + j->r_cut) / 2,
  };
}

/* Numbers as reals of the context's precision, on its backend; four more may be read than there are
 * numbers, since kernels load vectors. */
static md_status put_reals(md_ctx *ctx, md_buffer *to, const double *from, size_t n)
{
  const size_t size = md_real_size(ctx->precision);
  MD_TRY(md_buffer_reserve(ctx, to, (n + 4) * size, 0));
  void *host = malloc(n * size);
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for the constants of pairs");
  for (size_t k = 0; k < n; k++)
    if (size == sizeof(float))
      ((float *)host)[k] = (float)from[k];
    else
      ((double *)host)[k] = from[k];
  md_status status = md_write(ctx, to->data, host, n * size);
  if (!status) status = md_ctx_sync(ctx);
  free(host);
  return status;
}

/* The longest cutoff of all pairs, and the epsilon and sigma of those with the largest unit of
 * force, in which fixed-point sums count. */
static void take_largest(const force_lj *pair, force_spec *most)
{
  most->r_cut = fmax(most->r_cut, pair->r_cut);
  if (pair->epsilon / pair->sigma <= most->epsilon / most->sigma) return;
  most->epsilon = pair->epsilon, most->sigma = pair->sigma;
}

md_status force_types_create(force *fc, const force_spec *spec)
{
  force_types *types = &fc->types;
  const size_t pairs = (size_t)spec->n_types * (size_t)spec->n_types;
  double *pull = malloc(pairs * 4 * sizeof *pull), *energy = malloc(pairs * 4 * sizeof *energy);
  types->n = spec->n_types;
  types->pair = malloc(pairs * sizeof *types->pair);
  md_status status = pull && energy && types->pair
                         ? MD_OK
                         : MD_FAIL(MD_ENOMEM, "out of memory for the constants of pairs");
  fc->spec.pairs = NULL; /* the caller's */
  fc->spec.epsilon = spec->pairs->epsilon, fc->spec.sigma = spec->pairs->sigma;
  fc->spec.r_cut = spec->pairs->r_cut;
  for (size_t k = 0; k < pairs && !status; k++) {
    const lj_constants c = types->pair[k] = force_constants(&spec->pairs[k], spec);
    const double of_pull[4] = {c.r_cut_sq, c.lj1, c.lj2, c.f_shift};
    const double of_energy[4] = {c.lj3, c.lj4, c.u_shift, 0};
    for (int d = 0; d < 4; d++)
      pull[4 * k + (size_t)d] = of_pull[d], energy[4 * k + (size_t)d] = of_energy[d];
    take_largest(&spec->pairs[k], &fc->spec);
  }
  if (!status) status = put_reals(fc->ctx, &types->force, pull, pairs * 4);
  if (!status) status = put_reals(fc->ctx, &types->energy, energy, pairs * 4);
  free(pull);
  free(energy);
  return status;
}

void force_types_free(force *fc)
{
  force_types *types = &fc->types;
  free(types->pair);
  md_buffer_free(fc->ctx, &types->force);
  md_buffer_free(fc->ctx, &types->energy);
  md_buffer_free(fc->ctx, &types->type);
  md_buffer_free(fc->ctx, &types->values);
}

static uint8_t type_of(const void *v, int64_t i, size_t size)
{
  return (uint8_t)(size == sizeof(float) ? ((const float *)v)[4 * i + 3]
                                         : ((const double *)v)[4 * i + 3]);
}

/* Types of the ghosts that are images of other processes' atoms, which travel as reals. */
static md_status fill_types(const force *fc, const md_atoms *atoms, uint8_t *type)
{
  const int64_t all = atoms->n + atoms->n_ghost;
  const bool single = md_real_size(fc->ctx->precision) == sizeof(float);
  const int32_t *home = atoms->home.data;
  float *narrow = fc->types.values.data;
  double *wide = fc->types.values.data;
  for (int64_t i = 0; i < atoms->n; i++)
    if (single)
      narrow[i] = type[i];
    else
      wide[i] = type[i];
  MD_TRY(fc->fill(fc->fill_arg, fc->types.values.data));
  for (int64_t g = atoms->n; g < all; g++)
    if (home[g - atoms->n] < 0) type[g] = (uint8_t)(single ? narrow[g] : wide[g]);
  return MD_OK;
}

static md_status cpu_take(const force *fc, const md_atoms *atoms, uint8_t *type)
{
  const int64_t n = atoms->n, n_ghost = atoms->n_ghost;
  const int32_t *home = atoms->home.data;
  const size_t size = md_state_size(fc->ctx->precision);
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads)
  for (int64_t i = 0; i < n; i++)
    type[i] = type_of(atoms->v.data, i, size);
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads)
  for (int64_t g = 0; g < n_ghost; g++)
    if (home[g] >= 0) type[n + g] = type[home[g]];
  return fc->fill ? fill_types(fc, atoms, type) : MD_OK;
}

static md_status gpu_take_all(const force *fc, const md_atoms *atoms, uint8_t *type)
{
  const int precision = fc->ctx->precision;
  void *values = fc->fill ? fc->types.values.data : NULL;
  MD_TRY(gpu_take[precision](atoms, type, values));
  if (!fc->fill) return MD_OK;
  MD_TRY(fc->fill(fc->fill_arg, values));
  return gpu_filled[precision](atoms, type, values);
}

md_status force_reserve_types(force *fc, const md_atoms *atoms)
{
  force_types *types = &fc->types;
  if (!types->n) return MD_OK;
  MD_REQUIRE(atoms->n_types == types->n, MD_EINVAL, "atoms of %d types, and forces of %d",
             atoms->n_types, types->n);
  const size_t all = (size_t)(atoms->n + atoms->n_ghost);
  MD_TRY(md_buffer_reserve(fc->ctx, &types->type, all, 0));
  if (!fc->fill) return MD_OK;
  return md_buffer_reserve(fc->ctx, &types->values, all * md_real_size(fc->ctx->precision), 0);
}

md_status force_take_types(force *fc, const md_atoms *atoms)
{
  if (!fc->types.n) return MD_OK;
  MD_TRY(force_reserve_types(fc, atoms));
  uint8_t *type = fc->types.type.data;
  return fc->ctx->backend == MD_GPU ? gpu_take_all(fc, atoms, type) : cpu_take(fc, atoms, type);
}
