/* stokes/slice_columns_gpu.h - the columns of X and Y that one thread of a team has.
 *
 * A team shares a row of the matrix; each of its threads has PER columns of the three rows of X and
 * Y that belong to it, in pairs 2 team apart, 16 bytes at a time, or one by one.  Counts and kinds
 * are constants where these are inlined. */
#ifndef STOKES_SLICE_COLUMNS_GPU_H
#define STOKES_SLICE_COLUMNS_GPU_H

#include "core/cuda.h"

enum { MOST_PER = 4 };

/* Columns of X and Y that a thread has, inside a row: PER of them, in pairs 2 team apart or one by
 * one.  Those beyond the last column repeat an earlier one and are not stored. */
typedef struct {
  int at[MOST_PER];
  bool used[MOST_PER];
} slice_columns;

static __device__ __forceinline__ void load_columns(const slice_columns *c, int per, bool pairs,
                                                    const double *row, double *to)
{
#pragma unroll
  for (int v = 0; v < per; v++) {
    if (!pairs) {
      to[v] = __ldg(row + c->at[v]);
    } else if (v % 2 == 0) {
      const double2 two = __ldg((const double2 *)(row + c->at[v]));
      to[v] = two.x, to[v + 1] = two.y;
    }
  }
}

static __device__ __forceinline__ void store_columns(const slice_columns *c, int per, bool pairs,
                                                     double *row, const double *from)
{
#pragma unroll
  for (int v = 0; v < per; v++) {
    if (!c->used[v]) continue;
    if (!pairs)
      __stcs(row + c->at[v], from[v]);
    else if (v % 2 == 0)
      __stcs((double2 *)(row + c->at[v]), make_double2(from[v], from[v + 1]));
  }
}

/* X of one block, for my columns. */
static __device__ __forceinline__ void load_x(const slice_columns *c, int per, bool pairs, int m,
                                              const double *x, int32_t column,
                                              double (*to)[MOST_PER])
{
  const double *row = x + (int64_t)column * (3 * m);
#pragma unroll
  for (int d = 0; d < 3; d++)
    load_columns(c, per, pairs, row + d * m, to[d]);
}

/* My columns of a panel that has m left. */
static __device__ __forceinline__ void find_columns(int team, int per, bool pairs, int m,
                                                    slice_columns *c)
{
  const int own = threadIdx.x % team;
#pragma unroll
  for (int v = 0; v < per; v++) {
    const int at = pairs ? 2 * own + v / 2 * 2 * team + v % 2 : own + v * team;
    c->used[v] = at < m;
    c->at[v] = at < m ? at : pairs ? v % 2 : 0;
  }
}

#endif
