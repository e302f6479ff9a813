/* neighbor/neighbor_memory.c - what a list needs of memory, before it takes any. */
#include "neighbor/neighbor_impl.h"
#include "core/sizes.h"

#include <math.h>

double neighbor_tile_entries(const neighbor_spec *spec, double density)
{
  const double near = 4.0 / 3 * acos(-1) * pow(spec->r_list, 3) * density;
  return 1.08 * near + 4;
}

double neighbor_tile_halo(const neighbor_spec *spec, double density)
{
  const double pi = acos(-1), r = spec->r_list;
  const double edge = density > 0 ? cbrt(NEIGHBOR_TILE_ROWS / density) : 0;
  const double cube =
      edge * edge * (edge + 6 * r) + 3 * pi * edge * r * r + 4.0 / 3 * pi * r * r * r;
  return 1.25 * density * cube;
}

/* Bytes of a row of tiles: list, its part of the halo and of pieces, and its length. */
static double tile_memory(const neighbor_spec *spec, double density)
{
  const double piece = sizeof(neighbor_piece);
  return 2 * neighbor_tile_entries(spec, density) + piece / 32 +
         (4 * neighbor_tile_halo(spec, density) + piece) / NEIGHBOR_TILE_ROWS + 4;
}

int64_t neighbor_memory(const md_ctx *ctx, const neighbor_spec *spec, int64_t n, double density)
{
  const double atoms = (double)n, pi = acos(-1);
  const double edge = density > 0 ? cbrt(atoms / density) : 0;
  const double all = density > 0 ? density * pow(edge + 2 * spec->r_list, 3) : atoms;
  const double side = edge > 0 ? fmin(spec->bin_size, edge) : spec->bin_size;
  const double bins = pow((edge + 2 * spec->r_list) / side + 2, 3);
  const double stencil = 12 * pow(2 * ceil(spec->r_list / side) + 1, 3);
  const double near = 4.0 / 3 * pi * pow(spec->r_list, 3) * density;
  /* Rows are padded to whole vectors or to the longest row of a slice. */
  const double entries = spec->kind == NEIGHBOR_HALF ? near / 2 + 8 : near * 1.1 + 2;
  const bool tiles = spec->kind == NEIGHBOR_TILE && ctx->backend == MD_GPU;
  const double rows =
      atoms * (tiles ? tile_memory(spec, density) : 4 * 1.1 * entries + 8 + 4 + 4 + 4 + 4);
  /* Spare atom data, as large as positions are after they grew; keys and places; on the GPU what
   * sorts them, and candidates by bin. */
  const double state = 4 * (double)md_state_size(ctx->precision);
  const double gpu = ctx->backend == MD_GPU ? all * (state + 8) + bins * 8 : 0;
  const double sort = atoms * (2.5 * state + 20) + all * 8 + bins * 8 + gpu;
  return md_size_of(1.02 * (rows + sort + stencil));
}
