/* engine/memory.c - what a run needs of memory, before it takes any. */
#include "comm/world.h"
#include "core/sizes.h"
#include "engine/engine_impl.h"

#include <math.h>

/* Charges, gradients and located particles; mesh and spectrum where they are known already. */
static double charges_memory(const md_ctx *ctx, const engine_spec *spec, double n, double all)
{
  if (spec->coulomb != ENGINE_COULOMB_PME) return 0;
  const double real_size = (double)md_real_size(ctx->precision);
  const double points = (double)spec->mesh[0] * spec->mesh[1] * spec->mesh[2];
  return all * real_size + n * (4 * real_size + 40) + 2.1 * points * real_size;
}

/* F', and on the CPU densities, and which entries of the list are near. */
static double eam_memory(const md_ctx *ctx, const engine_spec *spec, double n, double all,
                         double entries)
{
  if (!spec->eam) return 0;
  const double real_size = (double)md_real_size(ctx->precision);
  return all * real_size + (ctx->backend == MD_CPU ? n * (real_size + 4.4 * entries) : 0);
}

int64_t engine_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list, int64_t n,
                      double volume)
{
  const neighbor_spec rows = engine_list_spec(spec, list);
  const double edge = cbrt(volume), density = n > 0 ? (double)n / volume : 0;
  const double frames =
      ctx->precision == MD_DOUBLE ? 1 : ceil(edge / (ENGINE_FRAME_REACHES * rows.r_list));
  const double shell = pow(edge + 2 * frames * rows.r_list, 3) - volume;
  const double ghosts = density * shell;
  const double state = 4.0 * (double)md_state_size(ctx->precision);
  const double coord = ctx->precision == MD_MIXED ? 16 : 0;
  const double pull = 4.0 * (double)md_real_size(ctx->precision);
  const double all = (double)n + ghosts;
  /* Room for positions grows by half when the first ghosts come. */
  const double positions = 1.5 * all * (state + coord);
  const double twice = list == NEIGHBOR_TILE ? positions : 0; /* those to come */
  /* Positions once more, as they were at the list build. */
  const double atoms = positions + (double)n * (2 * state + pull + 8 + 12 + 4) + 1.5 * ghosts * 8;
  const double charges = charges_memory(ctx, spec, (double)n, all);
  const double eam = eam_memory(ctx, spec, (double)n, all, density * 4.19 * pow(rows.r_list, 3));
  const double unfolded = frames > 1 ? all * state : 0; /* positions in one space of all frames */
  return md_size_add(md_size_of(1.05 * (atoms + twice + charges + eam + unfolded)),
                     neighbor_memory(ctx, &rows, md_size_of(all), density));
}

/* Memory that a run may take on the context's backend [B]. */
static md_status memory_available(const md_ctx *ctx, int64_t *bytes)
{
  if (ctx->backend == MD_GPU) {
    md_gpu_info info;
    MD_TRY(md_gpu_describe(&info));
    *bytes = info.memory_free;
    return MD_OK;
  }
  *bytes = md_memory_free();
  return MD_OK;
}

/* What each rank needs of its host for a system of n atoms.  There the initial state of the atoms
 * that it begins with, of a file all, lies beside the engine's arrays: x and v in double. */
static double rank_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list, int64_t n,
                          double volume)
{
  const int ranks = world_count();
  const double host = ctx->backend == MD_CPU ? 48 : 0;
  return (double)engine_memory(ctx, spec, list, (n + ranks - 1) / ranks, volume / ranks) +
         host * (double)n / (spec->read ? 1 : ranks);
}

md_status engine_check_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list,
                              int64_t n, const md_box *box, int sharers)
{
  int64_t available;
  MD_TRY(memory_available(ctx, &available));
  available /= sharers;
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= box->hi[d] - box->lo[d];
  const double needed = rank_memory(ctx, spec, list, n, volume);
  if (needed <= (double)available) return MD_OK;
  int64_t fits = 0, too_many = n;
  while (too_many - fits > 1) {
    const int64_t mid = fits + (too_many - fits) / 2;
    const double at_mid = volume * ((double)mid / (double)n);
    if (rank_memory(ctx, spec, list, mid, at_mid) <= (double)available)
      fits = mid;
    else
      too_many = mid;
  }
  return MD_FAIL(MD_ENOMEM,
                 "%lld atoms need %.2f GB of %s memory and %.2f GB are free; at most %lld atoms "
                 "(--cells %lld of fcc) fit with a %s list in %s precision",
                 (long long)n, needed / 1e9, ctx->backend == MD_GPU ? "device" : "host",
                 (double)available / 1e9, (long long)fits, (long long)cbrt((double)fits / 4),
                 neighbor_list_words[list], md_precision_words[ctx->precision]);
}
