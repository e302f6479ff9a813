/* spread/spread_impl.h - what a plan holds and what a backend provides to spread_method.c.
 *
 * A plan cuts its particles into parts of at most 2^30, so that indices within a part have 32 bits
 * while counts have 64.  A part keeps its particles located: the fraction of the cell along each
 * axis and one word that says which cell, in one of these layouts:
 *
 *   given    order of the positions; word is the number of the mesh point below the particle
 *   cells    GPU: sorted by that number
 *   tiles    CPU: sorted by tile, a block of cells; word holds the cell's offsets in the tile, 8
 *            bits each, fastest axis lowest
 *   pencils  GPU: sorted by pencil, a column of cells along the slowest axis, and plane; word holds
 *            the offsets along the fastest (4 bits) and the middle axis (4 bits)
 *
 * Sorted layouts remember where a particle came from. */
#ifndef SPREAD_IMPL_H
#define SPREAD_IMPL_H

#include "core/buffer.h"
#include "core/simd.h"
#include "ordering/ordering.h"
#include "spread/spread.h"

MD_BEGIN_C

typedef enum { SPREAD_GIVEN, SPREAD_CELLS, SPREAD_TILES, SPREAD_PENCILS } spread_layout;

/* The mesh in its box. */
typedef struct {
  double lo[3], inv_length[3];
  int32_t mesh[3];
  int32_t order;
  int64_t points;
} spread_grid;

/* CPU: tiles of cells.  Tile t of an axis covers cells first[t] .. first[t + 1); a particle in a
 * tile reaches no further than order - 1 cells beyond it.  A thread takes a block of tiles at a
 * time, one after the other.  Blocks of one colour reach no common point, so threads may work on
 * them at once; the order of colours and tiles fixes the order of all sums. */
typedef struct {
  int32_t n[3];                   /* tiles along each axis */
  int32_t *first[3], *of_cell[3]; /* [n + 1], [mesh] */
  int32_t n_colours;
  int32_t *colour_start; /* [n_colours + 1]: blocks by colour */
  int32_t *block_start;  /* [blocks + 1]: tiles by block */
  int32_t *by_block;     /* [tiles]: their numbers */
} spread_tiles;

/* Every order, for code that is compiled for each. */
#define SPREAD_ORDERS(X) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10)

enum { SPREAD_ROW = 16 };   /* mesh points along the fastest axis that a tile touches */
enum { SPREAD_AHEAD = 64 }; /* particles whose charges or results are prefetched */

/* GPU: pencils of cells along the slowest axis (pencil.h). */
typedef struct {
  int32_t cells[2]; /* cells of a pencil along the middle and fastest axis */
  int32_t n[2];     /* pencils along them */
} spread_pencils;

typedef enum {
  SPREAD_RECORD, /* located particles */
  SPREAD_ORDER,  /* int32 [n]: index of each in the given order; tiles and cells */
  SPREAD_START,  /* int32: first particle of each tile, cell or pencil plane, and the end */
  SPREAD_ROWS,   /* int64 [points + 1]: first entry of each matrix row (single), group (group) */
  SPREAD_COLUMN, /* int32: particle of each entry */
  SPREAD_VALUE,  /* real: weight of each entry */
  SPREAD_EXTRA,  /* pencils: uint32, key of every 32nd particle; gather: int32 [points], particle of
                  * each mesh point; hybrid: int64 [points + 1], first entry of each row in the list
                  */
  SPREAD_LIST,   /* gather: int32, the particles left over; hybrid: the list's rows */
  SPREAD_LIST_COLUMN,
  SPREAD_LIST_VALUE,
  SPREAD_SHARES, /* pencils: int32 [slices + 1] of each cut, first particle of each slice */
  SPREAD_CHUNKS, /* pencils, for many vectors: the chunks of each column, and their particles */
  SPREAD_CHUNKED,
  SPREAD_STACKS, /* the same: int32 [planes of stacks][pencils], first particle of each pencil in
                  * each plane of a stack, and the end; and particles by stack */
  SPREAD_STACKED,
  SPREAD_BUFFERS
} spread_buffer;

enum { SPREAD_CUTS = 6 }; /* into slices of equal work, at most */

typedef struct {
  int64_t first; /* in the plan's arrays */
  int32_t n;
  int64_t overflow, width, spilled; /* as in spread_report */
  int32_t slices[SPREAD_CUTS];      /* of each cut in SPREAD_SHARES, and of those wanted; 0: none */
  bool cut;                         /* SPREAD_SHARES are those of the positions */
  int64_t chunks, chunked;          /* in SPREAD_CHUNKS and SPREAD_CHUNKED */
  bool listed, stacked;             /* they are those of the positions; so are SPREAD_STACKS */
  bool found;                       /* and so is what the plan's scratch says of fixed point */
  md_buffer buffer[SPREAD_BUFFERS];
} spread_part;

enum { SPREAD_SCRATCH = 6, SPREAD_PART_MAX = 1 << 30 };

/* GPU: what becomes of positions that have no place while they are sorted. */
typedef enum {
  SPREAD_CHECK_BEFORE,  /* there are none */
  SPREAD_CHECK_SORTING, /* the part keeps the records that it has */
  SPREAD_CHECK_DEFERRED /* they stand in the first cell */
} spread_check_mode;

/* GPU: what a plan's counting sorts share. */
typedef struct {
  md_buffer count;       /* int32 [keys and more], zero between calls */
  md_buffer start;       /* int32 [keys and more]: as SPREAD_START, of the positions sorted last */
  md_buffer scan_status; /* the scan's (core/gpu/scan_gpu.h) */
  uint32_t round;
  spread_check_mode check_mode;
  md_buffer bad; /* on the device and on the host: the lowest bad position of the first */
  volatile uint64_t *deferred_bad; /* call that had one, call << 32 | index, or SPREAD_NONE_BAD */
  uint32_t call;                   /* that were not waited for */
} spread_counter;
#define SPREAD_NONE_BAD UINT64_MAX

/* GPU: how particles lie, as far as it decides on the method. */
typedef struct {
  int64_t n;      /* particles looked at; 0: none */
  double planes;  /* of pencils, that they reach */
  double sectors; /* of 32 bytes that they touch of one mesh line, neighbours together */
  double boxed;   /* of them are in groups whose boxes have room, */
  double points;  /* and these have so many points */
} spread_survey;

/* A method, and why. */
enum { SPREAD_REASON = 256 };
typedef struct {
  spread_method method;
  spread_survey seen;
  char reason[SPREAD_REASON];
} spread_choice;

struct spread_plan {
  md_ctx *ctx;
  spread_spec spec;
  spread_grid grid;
  spread_method method; /* in use */
  spread_layout layout;
  char reason[SPREAD_REASON];
  spread_survey seen; /* of the positions that auto looked at last */
  spread_tiles tiles;
  spread_pencils pencils;
  ordering_sorter *sorter;
  int64_t n;
  spread_part *part;
  int32_t n_parts;
  double build_s, room;    /* of setting positions: seconds, and bytes that were free for it */
  int32_t multiprocessors; /* GPU */
  int64_t l2_bytes;
  spread_counter counter;
  uint64_t turn;                     /* of deterministic spreadings (fixed_gpu.h) */
  md_buffer scratch[SPREAD_SCRATCH]; /* of one call; contents do not last */
  md_buffer columns[2];              /* of one call: what lies by particle, one vector after the
                                      * other: charges or values, and gradients */
  int32_t vectors;                   /* of a call, at most spec.vectors */
};

/* One call of spread_charges or spread_interpolate; pointers on the backend. */
typedef struct {
  const void *q;  /* real [vectors][q_stride] */
  void *mesh;     /* real [vectors][points] */
  void *value;    /* real [vectors][q_stride], or NULL */
  void *gradient; /* real [vectors][q_stride][3], or NULL */
  int32_t vectors;
  int64_t q_stride;
  bool by_particle; /* only where spread_many_take_rows: q, value are real [particle][vectors] */
} spread_job;

/* Lowest index of a position that is not finite or too far away, or n. */
typedef md_status spread_check_fn(spread_plan *plan, int64_t n, const void *x, int64_t stride,
                                  int64_t *bad);
/* Locate the particles of a part, in the plan's layout; x is that of its first. */
typedef md_status spread_sort_fn(spread_plan *plan, spread_part *part, const void *x,
                                 int64_t stride);
/* How particles lie. */
typedef md_status spread_survey_fn(spread_plan *plan, int64_t n, const void *x, int64_t stride,
                                   spread_survey *seen);
/* Build what the method needs besides. */
typedef md_status spread_build_fn(spread_plan *plan, spread_part *part);
/* mesh += S q, or value, gradient = S^T mesh, for one part. */
typedef md_status spread_apply_fn(spread_plan *plan, spread_part *part, const spread_job *job);

/* Kernels that see no positions have no mixed version of their own: that of single serves. */
#define SPREAD_DECLARE(type, name)                                                                 \
  SIMD_DECLARE_(type, name##_single);                                                              \
  SIMD_DECLARE_(type, name##_double)
#define SPREAD_TABLE(name)                                                                         \
  {                                                                                                \
    SIMD_ROW(name##_single), SIMD_ROW(name##_single), SIMD_ROW(name##_double)                      \
  }
#define SPREAD_GPU_DECLARE(type, name) type name##_single, name##_double
#define SPREAD_GPU_TABLE(name)                                                                     \
  {                                                                                                \
    MD_GPU(name##_single), MD_GPU(name##_single), MD_GPU(name##_double)                            \
  }

SIMD_DECLARE(spread_check_fn, spread_cpu_check);
SIMD_DECLARE(spread_sort_fn, spread_cpu_sort);
SPREAD_DECLARE(spread_apply_fn, spread_cpu_particle);
SPREAD_DECLARE(spread_apply_fn, spread_cpu_coloured);
SPREAD_DECLARE(spread_apply_fn, spread_cpu_tiled);
SPREAD_DECLARE(spread_build_fn, spread_cpu_matrix);
SPREAD_DECLARE(spread_apply_fn, spread_cpu_single);
SPREAD_DECLARE(spread_apply_fn, spread_cpu_direct_interpolate);
SPREAD_DECLARE(spread_apply_fn, spread_cpu_tiled_interpolate);

PREC_DECLARE(spread_check_fn, spread_gpu_check);
PREC_DECLARE(spread_survey_fn, spread_gpu_survey);
PREC_DECLARE(spread_sort_fn, spread_gpu_sort);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_particle);
SPREAD_GPU_DECLARE(spread_build_fn, spread_gpu_slots);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_gather);
SPREAD_GPU_DECLARE(spread_build_fn, spread_gpu_matrix);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_single);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_group);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_hybrid);
SPREAD_GPU_DECLARE(spread_build_fn, spread_gpu_cut);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_tiled);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_particle_interpolate);
SPREAD_GPU_DECLARE(spread_apply_fn, spread_gpu_tiled_interpolate);

/* What spread_peer_create and its kin do for plans that have been checked. */
md_status spread_gpu_peer_create(spread_plan *plan, void *mesh, spread_peer **out);
md_status spread_gpu_peer_charges(spread_peer *peer, const void *q);
void spread_gpu_peer_destroy(spread_peer *peer);

/* particle: the points of the boxes in which blocks sum groups of particles that follow each other
 * (gpu_one/boxes.single.cu), of n in all; 0 where they do not.  And that. */
enum { SPREAD_BOX_GROUP = 64 };
int32_t spread_box_room(const spread_plan *plan, int64_t n);
md_status spread_gpu_boxes(spread_plan *plan, spread_part *part, const spread_job *job);
/* Single precision, many vectors: those of a job for which spread_many_by_columns, as many as can
 * be taken together, again and again, *done of them. */
md_status spread_gpu_many_spread(spread_plan *plan, spread_part *part, const spread_job *job,
                                 int32_t *done);
/* The same of interpolation, of values alone, for which spread_many_by_stacks. */
md_status spread_gpu_many_interpolate(spread_plan *plan, spread_part *part, const spread_job *job,
                                      int32_t *done);
/* Sort a part's particles, whose planes begin as in `start`, by stack (gpu_many/), for that. */
md_status spread_gpu_sort_stacks(spread_plan *plan, spread_part *part, const md_buffer *start);
/* List a part's particles, whose planes begin as in `start`, by column of the mesh, for that. */
md_status spread_gpu_list_columns(spread_plan *plan, spread_part *part, const md_buffer *start);

/* data[k] = data[0] + ... + data[k - 1] for k < n, in place on the GPU. */
md_status spread_gpu_scan(md_ctx *ctx, md_buffer *scratch, int64_t *data, int64_t n);

/* to [columns][rows] = from [rows][columns], of so many bytes each, a multiple of 4. */
md_status spread_gpu_transpose(md_ctx *ctx, int64_t rows, int64_t columns, size_t bytes,
                               const void *from, void *to);

/* Room in the counter for so many keys; and its `start` from its counts, which become zero. */
md_status spread_gpu_reserve_keys(spread_plan *plan, int64_t keys);
md_status spread_gpu_sum_keys(spread_plan *plan, int64_t keys);

/* Make and free what reports bad positions; *bad, unchanged if there were none since the last time
 * it was deferred_bad. */
md_status spread_gpu_defer_checks(spread_plan *plan);
void spread_gpu_free_deferred(spread_plan *plan);
md_status spread_gpu_deferred_bad(spread_plan *plan, int64_t *bad);

/* As spread_set_positions, but where nothing has to grow or to be built the GPU is not waited for:
 * a position that has no place counts as the first cell, and spread_check_deferred says so once the
 * GPU has seen it, with the same error. */
md_status spread_queue_positions(spread_plan *plan, int64_t n, const void *x, int64_t stride);
md_status spread_check_deferred(spread_plan *plan);

/* The two halves of spread_charges: meshes of zeros, unless the method overwrites them; charges. */
md_status spread_clear(spread_plan *plan, void *mesh);
md_status spread_add_charges(spread_plan *plan, const void *q, void *mesh);

/* What a method does on the context's backend.  A kernel is NULL where it has nothing to do; all of
 * auto's are. */
typedef struct {
  spread_layout layout;
  spread_build_fn *build;
  spread_build_fn *cut; /* from what was sorted last, whether the part takes it over or not */
  spread_apply_fn *apply, *back;
  bool zeroes; /* the first part overwrites the mesh */
} spread_kernels;
spread_kernels spread_method_kernels(const md_ctx *ctx, spread_method method);

/* Forget what was built: no particles. */
void spread_drop_parts(spread_plan *plan);

/* Cut the mesh into tiles.  Errors: MD_ENOMEM. */
md_status spread_tiles_create(const spread_grid *grid, spread_tiles *tiles);
void spread_tiles_destroy(spread_tiles *tiles);

/* What auto takes for n particles, the method in use for as many as before.  choice->seen is what
 * was seen last, and what is seen now where that decides and there are a tenth more or fewer, which
 * waits for the GPU. */
md_status spread_choose(spread_plan *plan, int64_t n, const void *x, int64_t stride,
                        spread_choice *choice);

/* Lanes that sum a matrix row (single). */
int32_t spread_compute_unit(const spread_plan *plan);

/* Bytes of real in a plan's precision. */
MD_INLINE size_t spread_real_size(const spread_plan *plan)
{
  return plan->ctx->precision == MD_DOUBLE ? sizeof(double) : sizeof(float);
}

MD_INLINE int64_t spread_entries(const spread_plan *plan, int64_t n)
{
  return n * plan->grid.order * plan->grid.order * plan->grid.order;
}

/* The cell of coordinate x along an axis, wrapped into the box, and the fraction of it.  A position
 * one rounding below the upper face may become the lower face: weights are continuous.  One that
 * has no place gets the first cell. */
MD_INLINE int32_t spread_locate(const spread_grid *grid, int axis, double x, double *fraction)
{
  double t = (x - grid->lo[axis]) * grid->inv_length[axis];
  t -= __builtin_floor(t);
  const double u = t * grid->mesh[axis];
  const bool inside = u < grid->mesh[axis];
  const int32_t cell = inside ? (int32_t)u : 0;
  *fraction = inside ? u - cell : 0;
  return cell;
}

/* False for positions that have no place in the box. */
MD_INLINE bool spread_locatable(const spread_grid *grid, int axis, double x)
{
  const double t = (x - grid->lo[axis]) * grid->inv_length[axis];
  return t > -0x1p50 && t < 0x1p50;
}

/* From d / d fraction to d / d x. */
MD_INLINE double spread_slope_scale(const spread_grid *grid, int axis)
{
  return grid->mesh[axis] * grid->inv_length[axis];
}

/* First cell of a tile along each axis. */
MD_INLINE void spread_tile_origin(const spread_tiles *tiles, int32_t tile, int32_t origin[3])
{
  const int32_t *n = tiles->n;
  origin[0] = tiles->first[0][tile / (n[1] * n[2])];
  origin[1] = tiles->first[1][tile / n[2] % n[1]];
  origin[2] = tiles->first[2][tile % n[2]];
}

MD_INLINE int32_t spread_wrap(int32_t k, int32_t n)
{
  return k < n ? k : k % n;
}

#ifdef MD_PREC
/* A located particle. */
typedef struct __attribute__((aligned(16))) {
  real f[3];
  uint32_t word;
} spread_particle;
#endif

MD_END_C
#endif
