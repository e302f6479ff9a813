/* engine/memory.c - what a run needs of memory, before it takes any. */
#include "comm/world.h"
#include "core/mail.h"
#include "core/sizes.h"
#include "engine/engine_impl.h"

#include <math.h>

/* Atoms and ghosts of a run. */
typedef struct {
  double n, ghosts, all;
  double held;    /* positions there is room for, once the first ghosts have come */
  double entries; /* of a full list, an atom */
  bool cut;       /* into frames */
} crowd;

/* Of n atoms in a box with these edges, evenly dense. */
static crowd crowd_of(const md_ctx *ctx, const neighbor_spec *rows, double n, const double edge[3])
{
  double volume = 1, whole = 1;
  bool cut = false;
  for (int d = 0; d < 3; d++) {
    const double longest = ENGINE_FRAME_REACHES * rows->r_list;
    const double frames = ctx->precision == MD_DOUBLE ? 1 : ceil(edge[d] / longest);
    volume *= edge[d];
    whole *= edge[d] + 2 * frames * rows->r_list;
    cut = cut || frames > 1;
  }
  const double ghosts = n > 0 ? n * (whole / volume - 1) : 0;
  const double sphere = 4.0 / 3 * acos(-1) * pow(rows->r_list, 3);
  return (crowd){n, ghosts, n + ghosts, md_buffer_grown(n, n + ghosts), n / volume * sphere, cut};
}

/* Positions, velocities, forces, ids and images; where atoms were at the last build. */
static double atoms_memory(const md_ctx *ctx, const crowd *c)
{
  const double state = 4 * (double)md_state_size(ctx->precision);
  const double pull = 4 * (double)md_real_size(ctx->precision);
  const double pulled = ctx->backend == MD_CPU ? c->all : c->n; /* there ghosts, too */
  const double fixed = ctx->precision == MD_MIXED ? 16 : 0;
  const double first = ctx->backend == MD_GPU ? 4 : 0;
  return c->held * (state + fixed) + pulled * pull + c->n * (2 * state + 8 + 12 + first) +
         8 * c->ghosts + (c->cut ? c->all * state : 0);
}

/* What forces from this list keep of positions. */
static double force_memory(const md_ctx *ctx, const crowd *c, neighbor_kind list)
{
  if (ctx->backend == MD_CPU) return 0;
  const double state = 4 * (double)md_state_size(ctx->precision);
  const double fixed = ctx->precision == MD_MIXED ? 16 : 0;
  const double tiles = c->n / NEIGHBOR_TILE_ROWS;
  const double waits = tiles <= FORCE_WAITING_TILES ? tiles * tiles / 4 : 0; /* two bits a pair */
  if (list == NEIGHBOR_TILE) return c->held * (state + fixed) + waits;       /* positions to come */
  const double exact = list == NEIGHBOR_HALF && ctx->deterministic ? 32 * c->n : 0;
  return exact + (ctx->precision == MD_DOUBLE ? 24 * c->all : 0);
}

/* Charges, gradients and located particles; mesh and spectrum where they are known already. */
static double charges_memory(const md_ctx *ctx, const engine_spec *spec, const crowd *c)
{
  if (spec->coulomb != ENGINE_COULOMB_PME) return 0;
  const double real_size = (double)md_real_size(ctx->precision);
  const double points = (double)spec->mesh[0] * spec->mesh[1] * spec->mesh[2];
  const bool gpu = ctx->backend == MD_GPU; /* charges are read beside positions: */
  const bool beside = gpu ? ctx->precision == MD_SINGLE : ctx->precision != MD_MIXED;
  const double given = gpu ? 0 : 4 * real_size; /* located, before they are sorted */
  /* Mailboxes; or modes that go to other ranks and come. */
  const double added = world_count() == 1 ? 0 : gpu ? MD_SLOTS : 2.0 / world_count();
  return (beside ? 0 : c->all * real_size) + c->n * (4 * real_size + given + 40) +
         (2.1 + added) * points * real_size;
}

/* F'; on a GPU which rows have close pairs, and for tiles coordinates with F' beside them and in
 * double squeezed ones; on the CPU coordinates with F' beside them, densities, and which entries of
 * the list are near: slices of half lists are less even. */
static double eam_memory(const md_ctx *ctx, const engine_spec *spec, const crowd *c,
                         neighbor_kind list)
{
  if (!spec->eam) return 0;
  const double real_size = (double)md_real_size(ctx->precision);
  const double slots = (list == NEIGHBOR_HALF ? 2.5 : 4.4) * c->entries;
  const double beside = 4 * (double)md_coord_size(ctx->precision);
  const double squeezed = ctx->precision == MD_DOUBLE ? 16 : 0;
  const double tiled = list == NEIGHBOR_TILE ? beside + squeezed : 0;
  if (ctx->backend == MD_GPU) return c->all * (real_size + tiled) + c->n;
  return c->all * (2 * real_size + beside) + c->n * slots;
}

int64_t engine_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list, double n,
                      const double edge[3])
{
  const neighbor_spec rows = engine_list_spec(spec, list);
  const crowd c = crowd_of(ctx, &rows, n, edge);
  const double types = engine_pair_kinds(spec) > 1 ? c.all : 0;
  return md_size_of(atoms_memory(ctx, &c) + force_memory(ctx, &c, list) +
                    charges_memory(ctx, spec, &c) + eam_memory(ctx, spec, &c, list) + types +
                    neighbor_memory(ctx, &rows, c.n, c.ghosts, edge));
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
 * that it begins with lies beside the engine's arrays: x and v in double. */
static double rank_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list, double n,
                          const double edge[3])
{
  const double ranks = world_count(), host = ctx->backend == MD_CPU ? 48 : 0;
  double part[3];
  for (int d = 0; d < 3; d++)
    part[d] = edge[d] / cbrt(ranks);
  return (double)engine_memory(ctx, spec, list, ceil(n / ranks), part) + host * n / ranks;
}

/* The same for a box as dense with `to` atoms in place of `from`. */
static double memory_of_more(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list,
                             int64_t from, int64_t to, const double edge[3])
{
  double longer[3];
  for (int d = 0; d < 3; d++)
    longer[d] = edge[d] * cbrt((double)to / (double)from);
  return rank_memory(ctx, spec, list, (double)to, longer);
}

md_status engine_check_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list,
                              int64_t n, const md_box *box, int sharers)
{
  int64_t available;
  MD_TRY(memory_available(ctx, &available));
  available /= sharers;
  double edge[3];
  for (int d = 0; d < 3; d++)
    edge[d] = box->hi[d] - box->lo[d];
  const double needed = rank_memory(ctx, spec, list, (double)n, edge);
  if (needed <= (double)available) return MD_OK;
  int64_t fits = 0, too_many = n;
  while (too_many - fits > 1) {
    const int64_t mid = fits + (too_many - fits) / 2;
    if (memory_of_more(ctx, spec, list, n, mid, edge) <= (double)available)
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
