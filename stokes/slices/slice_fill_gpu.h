/* stokes/slices/slice_fill_gpu.h - how warps fill slices with the blocks of a pair list.
 *
 * A warp has eight lanes of slices (stokes/matrix/matrix_impl.h), each a row or a part of one, and
 * takes four entries of each at a time: as rows of a slice are about equally long, what the warp
 * stores in one go lies together, 64 or 128 bytes of a plane.  One entry after the other of a row
 * would fill half a sector of 32 bytes here and there, which memory then reads and writes more than
 * once. */
#ifndef STOKES_SLICE_FILL_GPU_H
#define STOKES_SLICE_FILL_GPU_H

#include "stokes/matrix/assemble_gpu.h"

enum { SLICE_FILL_LANES = 8, SLICE_FILL_GROUP = 4 };

/* The lane of a slice that four threads fill. */
typedef struct {
  int64_t row;  /* -1: unused */
  int64_t base; /* its list */
  int length;
  int parts, part;  /* of the row in lanes, and which one this is */
  int lane, first;  /* of eight: this, and that of the row's first part */
  unsigned threads; /* those with entries of the row */
  slice_address at;
} slice_row;

static __device__ __forceinline__ slice_row slice_row_open(const list_job *job,
                                                           const slice_layout *l, int64_t n_lanes)
{
  slice_row r = {};
  const int64_t own = md_thread() / SLICE_FILL_GROUP;
  const matrix_lane lane = own < n_lanes ? l->lane[own] : (matrix_lane){-1, 1};
  r.row = lane.row;
  r.parts = lane.parts_count & 7;
  r.lane = threadIdx.x % MD_WARP / SLICE_FILL_GROUP;
  r.part = r.lane & (r.parts - 1); /* rows of several lanes begin at a multiple of that */
  r.first = r.lane - r.part;
  r.threads = ((1ull << r.parts * SLICE_FILL_GROUP) - 1) << r.first * SLICE_FILL_GROUP;
  if (r.row < 0) return r;
  r.base = job->start[r.row];
  r.length = (int)(job->start[r.row + 1] - r.base);
  const int64_t words = 2 * (int64_t)slice_units(l->storage) * l->width, at = own - r.part;
  r.at = (slice_address){l->first[at / l->width] * words + 2 * (at % l->width), words, r.parts, 2,
                         2 * l->width};
  return r;
}

static __device__ __forceinline__ bool slice_row_has(const slice_row *r, int entry)
{
  return entry >= 0 && entry < r->length;
}

/* The sphere of an entry, 0 where it is none of the row's; to be asked for two rounds ahead. */
static __device__ __forceinline__ int32_t slice_row_neighbor(const list_job *job,
                                                             const slice_row *r, int entry)
{
  return slice_row_has(r, entry) ? __ldg(job->neighbor + r->base + entry) : 0;
}

/* Rounds until all lanes of the warp have gone through `count` entries. */
static __device__ __forceinline__ int slice_row_rounds(const slice_row *r, int count)
{
  const int step = r->parts * SLICE_FILL_GROUP;
  return (int)__reduce_max_sync(MD_ALL_LANES, (unsigned)((max(count, 0) + step - 1) / step));
}

/* Block `place` of a row, two words at a time: a pair's, or one of nine elements. */
static __device__ __forceinline__ void slice_put_pair(const slice_layout *l,
                                                      const slice_address *at, int place,
                                                      const stokes_pair_entry *p)
{
  float2 *to = (float2 *)l->block + slice_word(at, place, 0) / 2;
  to[0] = make_float2(p->e[0], p->e[1]);
  to[l->width] = make_float2(p->e[2], p->squeeze);
  to[2 * l->width] = make_float2(p->slide, __int_as_float(p->column));
}

static __device__ __forceinline__ void slice_put_nine(const slice_layout *l, int storage,
                                                      const slice_address *at, int place,
                                                      int32_t column, const double *b)
{
  const int64_t unit = slice_word(at, place, 0) / 2;
  if (storage == STOKES_SINGLE) {
    float2 *to = (float2 *)l->block + unit;
    for (int u = 0; u < 4; u++)
      to[u * l->width] = make_float2((float)b[2 * u], (float)b[2 * u + 1]);
    to[4 * l->width] = make_float2((float)b[8], __int_as_float(column));
  } else {
    double2 *to = (double2 *)l->block + unit;
    for (int u = 0; u < 4; u++)
      to[u * l->width] = make_double2(b[2 * u], b[2 * u + 1]);
    to[4 * l->width] = make_double2(b[8], __longlong_as_double(column));
  }
}

#endif
