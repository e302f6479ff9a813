/* stokes/matrix/halo_gpu.h - storing rows of X into mailboxes of other GPUs, and waiting for
 * theirs.
 *
 * A group is a block of threads or a warp.  A number is read, and goes through the link: 16 bytes
 * at a time where rows are so aligned, a few of them on their way at once. */
#ifndef STOKES_HALO_GPU_H
#define STOKES_HALO_GPU_H

#include "core/gpu/flags_gpu.h"
#include "stokes/matrix/matrix_impl.h"

/* PUT_EACH: units of a thread at a time. */
enum { PUT_EACH = 8 };

/* Unit k of what goes one way is unit `at` of item `item`. */
typedef struct {
  int64_t item;
  unsigned at;
} halo_place;

static __device__ __forceinline__ double2 halo_load(const halo_put *put, bool wide, unsigned units,
                                                    const halo_place *p)
{
  const int64_t row = put->sent ? put->sent[p->item] : p->item, at = row * units + p->at;
  return wide ? ((const double2 *)put->from)[at] : make_double2(put->from[at], 0);
}

/* Thread `first` of `step` that store what goes one way.  wide: a constant, 16 bytes are a unit. */
static __device__ __forceinline__ void halo_copy(const halo_put *put, const md_way *way, bool wide,
                                                 unsigned first, unsigned step)
{
  const unsigned units = (unsigned)put->numbers / (wide ? 2 : 1);
  const int64_t n = way->count * units;
  char *to = way->slot[put->round % MD_SLOTS] + way->at * put->numbers * sizeof(double);
  const unsigned rows = step / units, more = step % units;
  halo_place p = {way->first + first / units, first % units};
  for (int64_t k = first; k < n; k += (int64_t)PUT_EACH * step) {
    double2 held[PUT_EACH];
#pragma unroll
    for (int e = 0; e < PUT_EACH; e++) {
      if (k + (int64_t)e * step < n) held[e] = halo_load(put, wide, units, &p);
      p.item += rows;
      p.at += more;
      if (p.at < units) continue;
      p.item++;
      p.at -= units;
    }
#pragma unroll
    for (int e = 0; e < PUT_EACH; e++) {
      const int64_t at = k + (int64_t)e * step;
      if (at >= n) break;
      if (wide)
        ((double2 *)to)[at] = held[e];
      else
        ((double *)to)[at] = held[e].x;
    }
  }
}

/* Whether rows are so aligned. */
static __device__ __forceinline__ bool halo_is_wide(const halo_put *put)
{
  return put->numbers % 2 == 0 && (size_t)put->from % sizeof(double2) == 0;
}

/* Group number `group` of `size` threads, a constant, of which this is `own`: its part of what goes
 * one way; the last group of a way raises the flag. */
static __device__ __forceinline__ void halo_store(const halo_put *put, bool wide, unsigned group,
                                                  unsigned own, unsigned size)
{
  const unsigned w = group / put->groups;
  if (w >= (unsigned)put->n_ways) return;
  const md_way *way = &put->ways[w];
  const unsigned first = group % put->groups * size + own, step = put->groups * size;
  if (wide)
    halo_copy(put, way, true, first, step);
  else
    halo_copy(put, way, false, first, step);
  if (size == MD_WARP)
    __syncwarp();
  else
    __syncthreads();
  if (own == 0) close_way(&put->come[w], put->groups, way->flag, put->round);
}

/* What the kernel of a product knows of its halo.  The first `putters` blocks store what others
 * need; row k of X, from n_own on, lies where ghosts would have it. */
typedef struct {
  halo_put put;
  unsigned putters;
  const int32_t *calm; /* parts of the rows that need no ghosts, which come first */
  int32_t n_own;
  const double *ghosts;
} halo_job;

/* Of a range of columns that begins with `first` of m; the first one brings all mail. */
static inline halo_job halo_job_of(const stokes_matrix *matrix, const gspmv_halo *halo, int m,
                                   int first, unsigned groups, unsigned putters)
{
  halo_job job = {halo->put, first == 0 ? putters : 0, (const int32_t *)matrix->calm.data,
                  (int32_t)halo->n_own, halo->ghosts + first - 3 * m * halo->n_own};
  job.put.groups = groups;
  return job;
}

/* Where a block of threads is with the ghosts that it needs: a word of shared memory. */
enum { HALO_UNSEEN, HALO_SOUGHT, HALO_THERE };

/* Warp: ghosts are there afterwards.  The first one of a block looks at the flags, the others at
 * what it finds: looking empties the L1. */
static __device__ __forceinline__ void halo_await(const halo_put *put, int *seen)
{
  if (threadIdx.x % MD_WARP == 0) {
    if (atomicCAS(seen, HALO_UNSEEN, HALO_SOUGHT) == HALO_UNSEEN) {
      for (int w = 0; w < put->n_ways; w++)
        wait_flag(put->ways, w, put->round, put->late);
      __threadfence_block();
      atomicExch(seen, HALO_THERE);
    } else {
      while (atomicAdd(seen, 0) != HALO_THERE)
        __nanosleep(100);
      __threadfence_block();
    }
  }
  __syncwarp();
}

#endif
