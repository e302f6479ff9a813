/* stokes/slices/slice_columns_gpu.h - the columns of X and Y that one thread of a team has.
 *
 * A team shares a row of the matrix; each of its threads has PER columns of the three rows of X and
 * Y that belong to it, 16 bytes at a time, or one by one.  Counts and kinds are constants where
 * these are inlined. */
#ifndef STOKES_SLICE_COLUMNS_GPU_H
#define STOKES_SLICE_COLUMNS_GPU_H

#include "core/gpu/cuda.h"

/* WIDE: numbers in 16 bytes. */
#if MD_PREC == 0
enum { MOST_PER = 4, WIDE = 4 };
typedef float4 wide_real;
#else
enum { MOST_PER = 4, WIDE = 2 };
typedef double2 wide_real;
#endif

static __device__ __forceinline__ void unpack_wide(wide_real from, real *to)
{
  to[0] = from.x, to[1] = from.y;
#if MD_PREC == 0
  to[2] = from.z, to[3] = from.w;
#endif
}

static __device__ __forceinline__ wide_real pack_wide(const real *from)
{
#if MD_PREC == 0
  return make_float4(from[0], from[1], from[2], from[3]);
#else
  return make_double2(from[0], from[1]);
#endif
}

/* Columns of X and Y that a thread has, inside a row: PER of them, in groups of WIDE that lie team
 * groups apart, or one by one.  Those beyond the last column repeat an earlier one and are not
 * stored. */
typedef struct {
  int at[MOST_PER];
  bool used[MOST_PER];
} slice_columns;

/* come: it came while the kernel was at work, so that it is not read as what stays as it is. */
static __device__ __forceinline__ void load_columns(const slice_columns *c, int per, bool wide,
                                                    bool come, const real *row, real *to)
{
#pragma unroll
  for (int v = 0; v < per; v++) {
    if (!wide)
      to[v] = come ? row[c->at[v]] : __ldg(row + c->at[v]);
    else if (v % WIDE == 0) {
      const wide_real *from = (const wide_real *)(row + c->at[v]);
      unpack_wide(come ? *from : __ldg(from), to + v);
    }
  }
}

static __device__ __forceinline__ void store_columns(const slice_columns *c, int per, bool wide,
                                                     real *row, const real *from)
{
#pragma unroll
  for (int v = 0; v < per; v++) {
    if (!c->used[v]) continue;
    if (!wide)
      __stcs(row + c->at[v], from[v]);
    else if (v % WIDE == 0)
      __stcs((wide_real *)(row + c->at[v]), pack_wide(from + v));
  }
}

/* X of one block, for my columns. */
static __device__ __forceinline__ void load_x(const slice_columns *c, int per, bool wide, bool come,
                                              int m, const real *x, int32_t column,
                                              real (*to)[MOST_PER])
{
  const real *row = x + (int64_t)column * (3 * m);
#pragma unroll
  for (int d = 0; d < 3; d++)
    load_columns(c, per, wide, come, row + d * m, to[d]);
}

/* My columns of a panel that has m left. */
static __device__ __forceinline__ void find_columns(int team, int per, bool wide, int m,
                                                    slice_columns *c)
{
  const int own = threadIdx.x % team;
#pragma unroll
  for (int v = 0; v < per; v++) {
    const int at = wide ? (own + v / WIDE * team) * WIDE + v % WIDE : own + v * team;
    c->used[v] = at < m;
    c->at[v] = at < m ? at : wide ? v % WIDE : 0;
  }
}

#endif
