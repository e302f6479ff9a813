/* engine/choose.c - what the settings leave to the program: backend and list. */
#include "comm/gpus.h"
#include "engine/engine_impl.h"

#include <stdio.h>

/* Whether each build of lists sorts: by default, or in steps that come to the same. */
static bool sorts_each_build(const engine_spec *spec)
{
  return spec->sort_every < 0 || spec->sort_every == 1 ||
         (spec->every > 0 && spec->sort_every == spec->every);
}

/* Charged atoms from which on tiles measured fastest at cutoffs of 3 to 5, and the halo of each of
 * two tiles that a multiprocessor of a Hopper GPU has room for [B]
 * (docs/decisions/47-charges-fill-a-gpu.md). */
static const int64_t CHARGED_TILES = 32768;
static const double CHARGED_HALO = 113 * 1024;

/* Whether a multiprocessor has room for two tiles of charged atoms. */
static bool two_tiles_fit(const engine_spec *spec, int64_t n, const md_box *box)
{
  if (!box) return true;
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= box->hi[d] - box->lo[d];
  const neighbor_spec rows = engine_list_spec(spec, NEIGHBOR_TILE);
  const double entry = spec->precision == MD_DOUBLE ? 32 : 16; /* as in force/tile_entry_gpu.h */
  return entry * neighbor_tile_halo(&rows, (double)n / volume) <= CHARGED_HALO;
}

/* Pairs of embedded atoms cost more than it costs to add to both atoms; but a deterministic run has
 * the bits of full lists, and on several ranks half lists, and tiles of charged atoms, were not
 * measured.  Tiles need rows that are near each other, and move atoms along with the forces unless
 * charges have a part in them. */
static void choose_list(const engine_spec *spec, int64_t n, const md_box *box, engine_choice *out)
{
  const bool cpu = out->backend == MD_CPU, alone = world_count() == 1;
  const bool charged = spec->coulomb != ENGINE_COULOMB_NONE;
  out->list = NEIGHBOR_FULL;
  if (cpu && spec->pair == ENGINE_PAIR_EAM && alone && !spec->deterministic)
    out->list = NEIGHBOR_HALF,
    out->list_reason = "half lists of embedded atoms, each pair once, measured fastest";
  else if (cpu)
    out->list_reason = "full lists need no atomics and measured fastest";
  else if (spec->deterministic && (charged || !alone))
    out->list_reason =
        "the same bits on any number of ranks, which faster lists by tiles do not give";
  else if (charged && n < CHARGED_TILES)
    out->list_reason = "fastest with few charges, whose forces come apart";
  else if (charged && !alone)
    out->list_reason = "lists by tiles of charges were measured on one GPU only";
  else if (charged && !two_tiles_fit(spec, n, box))
    out->list_reason = "fastest with charges whose cutoff reaches so many others";
  else if (!ordering_has(&spec->curve, ORDERING_COMPACT))
    out->list_reason = "lists by tiles are faster only along a compact curve, such as hilbert";
  else if (!sorts_each_build(spec))
    out->list_reason = "lists by tiles are faster only where each build sorts, not by this "
                       "order.sort_every (--sort-every)";
  else
    out->list = NEIGHBOR_TILE, out->list_reason = "lists by tiles measured fastest on the GPU";
}

md_status engine_choose(const engine_spec *spec, int64_t n, const md_box *box, engine_choice *out)
{
  if (spec->backend != ENGINE_BACKEND_CPU) MD_TRY(gpus_choose(spec->index));
  if (spec->backend == ENGINE_BACKEND_AUTO && spec->pair == ENGINE_PAIR_EAM &&
      spec->list == NEIGHBOR_HALF) {
    out->backend = MD_CPU;
    snprintf(out->backend_reason, sizeof out->backend_reason,
             "embedded atoms in half lists are computed on the CPU only");
  } else if (spec->backend == ENGINE_BACKEND_AUTO && engine_pair_kinds(spec) > 1 &&
             world_count() > 1) {
    out->backend = MD_CPU;
    snprintf(out->backend_reason, sizeof out->backend_reason,
             "pairs of species that differ are computed on several ranks on the CPU only");
  } else if (spec->backend == ENGINE_BACKEND_AUTO) {
    const bool gpu = md_gpu_available();
    out->backend = gpu ? MD_GPU : MD_CPU;
    snprintf(out->backend_reason, sizeof out->backend_reason, "%s",
             gpu ? "a CUDA device was found" : md_message());
  } else {
    out->backend = spec->backend == ENGINE_BACKEND_GPU ? MD_GPU : MD_CPU;
    snprintf(out->backend_reason, sizeof out->backend_reason, "as asked");
  }
  if (spec->list == NEIGHBOR_TILE && out->backend == MD_CPU) {
    out->list = NEIGHBOR_FULL;
    out->list_reason = "on the CPU full lists are built by tiles and read by vectors of rows";
  } else if (spec->list < 0) {
    choose_list(spec, n, box, out);
  } else {
    out->list = (neighbor_kind)spec->list;
    out->list_reason = "as asked";
  }
  return MD_OK;
}
