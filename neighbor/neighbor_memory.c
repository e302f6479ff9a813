/* neighbor/neighbor_memory.c - what a list needs of memory, before it takes any. */
#include "neighbor/neighbor_impl.h"

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
static double tile_row(const neighbor_spec *spec, double density)
{
  const double halo = 4 * neighbor_tile_halo(spec, density) / NEIGHBOR_TILE_ROWS;
  return 2 * neighbor_tile_entries(spec, density) + halo + 2 + 4;
}

/* On the CPU: the lines that forces prefetch, as many as were counted in liquids, a sixteenth
 * spare, and where those of a slice begin. */
static double lines_row(const md_ctx *ctx, const neighbor_spec *spec)
{
  const bool compact = ordering_has(&spec->order, ORDERING_COMPACT);
  const double lines = spec->order.kind == ORDERING_RANDOM ? 9.5 : compact ? 2 : 3;
  const double narrow = md_coord_size(ctx->precision) == sizeof(float) ? 0.6 : 1;
  return 4 * lines * narrow * 17 / 16 + 1;
}

/* Bytes of a row of entries and of what is kept beside them.  On the GPU all rows have room for the
 * longest: of half lists a few rows have nearly all of their neighbours.  On the CPU they are
 * padded to whole vectors, and a sixteenth is spare. */
static double plain_row(const md_ctx *ctx, const neighbor_spec *spec, double density)
{
  const bool half = spec->kind == NEIGHBOR_HALF;
  const double near = 4.0 / 3 * acos(-1) * pow(spec->r_list, 3) * density;
  if (ctx->backend == MD_GPU) return 4 * (half ? 1.03 * near : 1.25 * near + 10) + 4;
  const double wide = md_state_size(ctx->precision) == sizeof(float) ? 1.13 : 1.09;
  return 4 * (half ? wide * near / 2 : 1.005 * near) * 17 / 16 + (half ? 20 : 12) + 1 +
         lines_row(ctx, spec);
}

double neighbor_memory(const md_ctx *ctx, const neighbor_spec *spec, double n, double ghosts,
                       const double edge[3])
{
  const double state = 4 * (double)md_state_size(ctx->precision), all = n + ghosts;
  double volume = 1, bins = 1, own = 1;
  for (int d = 0; d < 3; d++) {
    const double inner = fmax(1, floor(edge[d] / spec->bin_size)), side = edge[d] / inner;
    volume *= edge[d];
    own *= inner;
    bins *= inner + 2 * ceil(spec->r_list / side);
  }
  const bool gpu = ctx->backend == MD_GPU, tiles = spec->kind == NEIGHBOR_TILE && gpu;
  const double density = n / volume, held = md_buffer_grown(n, all);
  const double rows = n * (tiles ? tile_row(spec, density) : plain_row(ctx, spec, density));
  /* Sorting: the curve; spare positions, as large as those of atoms and ghosts, velocities, ids and
   * images. */
  const bool sorts = spec->order.kind != ORDERING_NONE;
  const double spare = sorts ? 4 * own + held * state + n * (state + 8 + 12) : 0;
  /* Searching: keys and places, candidates by bin. */
  const double keys = sorts ? held : all;
  const double search = 8 * keys + (tiles ? 2 : 4) * bins +
                        (gpu     ? all * state
                         : sorts ? 0
                                 : 12 * all);
  const double by_chunk = spec->kind == NEIGHBOR_HALF && !gpu ? 4 * ghosts : 0;
  return rows + spare + search + by_chunk + ordering_memory(ctx, keys, gpu ? own : bins);
}
