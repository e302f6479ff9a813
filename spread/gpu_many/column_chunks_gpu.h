/* spread/gpu_many/column_chunks_gpu.h - columns of the mesh, and the particles that reach them in
 * chunks: for column_chunks.single.cu, which lists them, and spread_columns.single.cu, which adds
 * them to the mesh, in single precision.
 *
 * A column is 8 x 16 lines of mesh points along the slowest axis.  A particle reaches it if its
 * cell is at most p - 1 before the column's first point, along both other axes, or within: cells
 * are counted from the first one that does.  A chunk holds particles of one plane of a column, by
 * row.  Those of the planes of a column follow each other, and so do columns. */
#ifndef COLUMNS_GPU_H
#define COLUMNS_GPU_H

#include "spread/gpu/pair_gpu.h"

/* Particles of a chunk, at most; rows that reach a column, at most.  Every so many planes there is
 * a chunk, if of no particles, since planes without any have to be written too, which is shared as
 * chunks are. */
enum { CHUNK = 192, CHUNK_ROWS = MD_WARP, CHUNK_EVERY = 8 };

/* origin: the column's first point along the middle and the fastest axis; done: how many planes
 * from its own on nothing more comes to, up to that of the next chunk; beyond the mesh if the
 * column ends, where at least as many as a particle reaches; inclusive[r]: so many particles are of
 * rows 0 .. r. */
typedef struct __attribute__((aligned(16))) {
  int64_t first;
  int32_t origin[2], plane, count, done;
  uint16_t inclusive[CHUNK_ROWS];
} column_chunk;

/* The mesh in columns: how many there are along the middle and the fastest axis. */
typedef struct {
  int32_t mesh[3], n[2];
} column_grid;

MD_INLINE column_grid columns_of(const spread_grid *grid)
{
  column_grid columns = {{grid->mesh[0], grid->mesh[1], grid->mesh[2]}, {}};
  columns_cut(grid, columns.n);
  return columns;
}

/* A column's first point and how many it has, along the middle and the fastest axis. */
typedef struct {
  int32_t origin[2], points[2];
} column_place;

static __device__ __forceinline__ column_place find_column(const column_grid &grid,
                                                           const int32_t origin[2])
{
  const column_place at = {{origin[0], origin[1]},
                           {min((int)COLUMN_HEIGHT, grid.mesh[1] - origin[0]),
                            min((int)COLUMN_WIDTH, grid.mesh[2] - origin[1])}};
  return at;
}

static __device__ __forceinline__ column_place number_column(const column_grid &grid,
                                                             int64_t column)
{
  const int32_t origin[2] = {(int32_t)(column / grid.n[1]) * COLUMN_HEIGHT,
                             (int32_t)(column % grid.n[1]) * COLUMN_WIDTH};
  return find_column(grid, origin);
}

/* In a chunk a particle's cell, counted from the first that reaches the column, is in place of its
 * offsets in the pencil. */
typedef struct {
  int32_t row, column;
} column_cell;

static __device__ __forceinline__ void put_cell(const column_cell &cell, pencil_particle *to)
{
  to->packed[0] = (to->packed[0] & ~0xffu) | (uint32_t)cell.row;
  to->packed[1] = (to->packed[1] & ~0xffu) | (uint32_t)cell.column;
}
static __device__ __forceinline__ column_cell cell_of(const pencil_particle &of)
{
  return {(int32_t)(of.packed[0] & 0xff), (int32_t)(of.packed[1] & 0xff)};
}

/* SPREAD_CHUNKED: the particles, and behind them their indices alone. */
#define CHUNKED_BYTES (sizeof(pencil_particle) + sizeof(uint32_t))
MD_INLINE uint32_t *chunk_index(const spread_part *part)
{
  return (uint32_t *)((pencil_particle *)part->buffer[SPREAD_CHUNKED].data + part->chunked);
}

#endif
