/* stokes/matrix/assemble_gpu.h - how the warps of assembly go through pair lists. */
#ifndef STOKES_ASSEMBLE_GPU_H
#define STOKES_ASSEMBLE_GPU_H

#include "stokes/matrix/gspmv_gpu.h"

/* Rows of a list of pairs, and the spheres that it names, of which the first have the rows. */
typedef struct {
  int64_t n;
  double box[3];
  const double *x;
  const int64_t *start;
  const int32_t *neighbor;
  lubrication_range range;
  double inv_far;
  const uint32_t *moved; /* not NULL, and *moved is not `round`: every entry of the list resists */
  uint32_t round;
} list_job;

enum { TERMS = 6 }; /* of a symmetric block */

static __device__ __forceinline__ bool all_are_near(const list_job *job)
{
  return job->moved && *job->moved != job->round;
}

MD_BEGIN_C

/* The blocks of all rows and the diagonal [n][6], where the layout says: in plain rows, nothing
 * where there are more than `room` blocks; in slices. */
md_status assemble_gpu_fill_rows_single(stokes_matrix *matrix, const list_job *list, int64_t room);
md_status assemble_gpu_fill_rows_double(stokes_matrix *matrix, const list_job *list, int64_t room);
md_status assemble_gpu_fill_slices_single(stokes_matrix *matrix, const list_job *list);
md_status assemble_gpu_fill_slices_double(stokes_matrix *matrix, const list_job *list);

MD_END_C

/* A warp goes through the lists of as many rows as it has lanes, which lie one after the other, and
 * takes as many entries at a time.  Lane r keeps the account of row r; its own entry may belong to
 * any of them. */
typedef struct {
  int64_t row, base; /* first row; first entry */
  int begin, end;    /* the list of my row, from base */
  int total, lane;
} warp_rows;

static __device__ __forceinline__ warp_rows rows_of_warp(const list_job *job)
{
  warp_rows w;
  w.lane = threadIdx.x % MD_WARP;
  w.row = md_thread() / MD_WARP * MD_WARP;
  if (w.row > job->n) w.row = job->n;
  w.base = job->start[w.row];
  const int64_t mine = min(w.row + w.lane, job->n);
  w.begin = (int)(job->start[mine] - w.base);
  w.end = (int)(job->start[min(mine + 1, job->n)] - w.base);
  w.total = __shfl_sync(MD_ALL_LANES, w.end, MD_WARP - 1);
  return w;
}

/* My neighbour of the entries from k on, 0 beyond the end; to be asked for a round ahead. */
static __device__ __forceinline__ int32_t neighbor_of(const list_job *job, const warp_rows *w,
                                                      int k)
{
  return k + w->lane < w->total ? __ldcs(job->neighbor + w->base + k + w->lane) : 0;
}

/* Which lanes hold entries of my row, of the entries from k on. */
static __device__ __forceinline__ unsigned row_lanes(const warp_rows *w, int k)
{
  const int low = min(max(w->begin - k, 0), MD_WARP), high = min(max(w->end - k, 0), MD_WARP);
  return (unsigned)((1ull << high) - (1ull << low));
}

/* The row of entry k: how many rows end before it. */
static __device__ __forceinline__ int row_of(const warp_rows *w, int k)
{
  int row = 0;
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    if (__shfl_sync(MD_ALL_LANES, w->end, row + step - 1) <= k) row += step;
  return row;
}

static __device__ __forceinline__ void load_sphere(const list_job *job, int64_t i, double *to)
{
  const double2 *from = (const double2 *)(job->x + 4 * i);
  const double2 low = __ldg(from), high = __ldg(from + 1);
  to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
}

#endif
