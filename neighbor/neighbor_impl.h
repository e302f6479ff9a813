/* neighbor/neighbor_impl.h - what a backend provides to neighbor.c. */
#ifndef NEIGHBOR_IMPL_H
#define NEIGHBOR_IMPL_H

#include "core/simd.h"
#include "neighbor/neighbor.h"

MD_BEGIN_C

/* Entries of place that may be read, but mean nothing, past its end. */
enum { NEIGHBOR_SLACK = 16 };

/* Room for lists by tiles. */
typedef struct {
  int32_t capacity, passes; /* entries of a pass, in shared memory; passes of a tile */
  int64_t halo, list;       /* entries of all halos, groups of all warps */
  int64_t pieces;           /* of groups */
  int32_t most;             /* entries of a pass, where forces keep it; 0 before the first build */
} neighbor_rooms;

struct neighbor_list {
  md_ctx *ctx;
  neighbor_spec spec;
  neighbor_grid grid, near; /* bins of the order; those that neighbours are looked for in */
  neighbor_view view;
  ordering_sorter *sorter;
  /* Where atoms and ghosts are for bins and distances: their x, or one space of all frames
   * (`unfolded`); the range of all owned atoms there, and of this rank's; how far distances reach
   * there.  Lists by tiles of a rank in one frame need no other space; rows of other lists would
   * not be the same on any number of ranks, since positions are rounded there. */
  const void *x; /* state4 [n + n_ghost] */
  bool unfolds;  /* x is `unfolded` */
  md_buffer unfolded;
  md_box span, part;
  double r_near;
  int32_t n_stencil;
  md_buffer stencil;        /* int32 [n_stencil][3]: bin offsets, centre first, innermost axis k */
  md_buffer curve;          /* uint32 [owned bins]: ordering_index of the grid without margin */
  int32_t curve_n[3];       /* the grid curve was made for */
  ordering curve_is;        /* and the ordering */
  md_buffer key, place;     /* uint32, int32 [n + n_ghost]: bin of an atom; atoms by bin */
  md_buffer bin_start;      /* int32 [bins + 1] into place */
  ordering_counter counter; /* GPU: of the keys at hand */
  md_buffer spare[4];       /* for permuting atoms */
  /* behind view */
  md_buffer nbr, start, count, atom, shared, chunk, ghost, ghost_start, line, line_start;
  md_buffer result; /* small totals */
  int32_t slots;    /* room per row at the last build, where a backend guesses first */
  /* CPU, see bin_tiles.h: rows int32 [n], the atoms by tiles; row_of int32 [n], its inverse, for
   * half lists.  GPU: work state4 [n + n_ghost], candidates by bin; positions alone for lists by
   * tiles. */
  md_buffer rows, row_of, tile, work;
  /* GPU lists by tiles: what lies behind view.tiles, and its rooms; rows as on the CPU. */
  neighbor_tiles tiles;
  neighbor_rooms rooms;
  md_buffer halo, halos, groups, totals;
  /* GPU: the atoms of a list that is not settled; how its result comes to the host
   * (core/gpu/readback_gpu.h). */
  const md_atoms *early;
  void *readback;
  bool in_order; /* atoms lie along the curve since the last sort */
};

/* A row of a liquid at this density takes about so many entries of a list by tiles, those that fill
 * it up counted; a little more than was measured. */
double neighbor_tile_entries(const neighbor_spec *spec, double density);

/* Set x, span and r_near for these atoms, grid and near, and the stencil when grid is not that of
 * the last time.  Errors: MD_ECAPACITY, MD_ENOMEM, MD_ECUDA. */
md_status neighbor_set_grids(neighbor_list *list, const md_atoms *atoms);

/* The first three of that, frames gap[d] apart. */
md_status neighbor_set_positions(neighbor_list *list, const md_atoms *atoms, const double gap[3]);

/* r_near and what rounding of coordinates may add. */
double neighbor_reach(const neighbor_list *list);

/* key[i] = bin of atom i for i < count: its row-major number in the whole grid (curve NULL), or
 * curve[row-major number in the owned grid].  Atoms outside are clamped to the outermost bin.  Keys
 * are counted where list->counter says so. */
typedef md_status neighbor_keys_fn(neighbor_list *list, const md_atoms *atoms, int64_t count,
                                   const uint32_t *curve);
/* Fill the view from bin_start and place.  On entry view has kind, newton, n_rows, n_ghost and
 * r_list; everything else is zero.  Only called with n_rows > 0. */
typedef md_status neighbor_build_fn(neighbor_list *list, const md_atoms *atoms);
typedef md_status neighbor_settle_fn(neighbor_list *list, bool *again);
typedef void neighbor_close_fn(neighbor_list *list);
typedef md_status neighbor_unfold_fn(const md_atoms *atoms, const md_frames_offset *offset,
                                     void *to);
/* Atoms and ghosts to work, in the order of place, each with its index. */
typedef md_status neighbor_gather_fn(neighbor_list *list, const md_atoms *atoms);
SIMD_DECLARE(neighbor_keys_fn, neighbor_cpu_keys);
SIMD_DECLARE(neighbor_build_fn, neighbor_cpu_build);
SIMD_DECLARE(neighbor_unfold_fn, neighbor_cpu_unfold);
PREC_DECLARE(neighbor_keys_fn, neighbor_gpu_keys);
/* Lists to be settled. */
PREC_DECLARE(neighbor_build_fn, neighbor_gpu_build);
PREC_DECLARE(neighbor_build_fn, neighbor_gpu_tiles);
PREC_DECLARE(neighbor_settle_fn, neighbor_gpu_settle_rows);
PREC_DECLARE(neighbor_settle_fn, neighbor_gpu_settle_tiles);
PREC_DECLARE(neighbor_close_fn, neighbor_gpu_close);
PREC_DECLARE(neighbor_gather_fn, neighbor_gpu_gather);
PREC_DECLARE(neighbor_unfold_fn, neighbor_gpu_unfold);

MD_END_C
#endif
