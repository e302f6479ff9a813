/* stokes/matrix/spmv.isa.c - y = R x for one vector.
 *
 * The nine elements of a block lie in the lanes, multiplied by x_0 x_1 x_2 x_0 ... x_2; the three
 * rows are summed apart when a row of blocks ends, so that a block costs one multiply-add a vector
 * and no sum across lanes.  A pair takes four lanes: e and the squeezing resistance are one load,
 * and with x they give e . x after two swaps.  [Liu] section IV.A. */
#include "stokes/matrix/matrix_impl.h"
#include "stokes/matrix/simd_vec.h"

enum { AHEAD = 100 }; /* blocks between asking for a part of X and using it */

/* X is a gather, and three numbers may lie in two cache lines. */
MD_INLINE void fetch_ahead(const gspmv_job *job, int64_t p, int64_t end, stokes_storage storage)
{
  matrix_ask_block(job->block, p, storage);
  if (p + AHEAD >= end) return;
  const double *x =
      job->x + 3 * (int64_t)(storage == STOKES_PAIR
                                 ? ((const stokes_pair_entry *)job->block)[p + AHEAD].column
                                 : job->column[p + AHEAD]);
  __builtin_prefetch(x);
  __builtin_prefetch(x + 2);
}

MD_INLINE int64_t end_of(const gspmv_job *job)
{
  return job->ahead ? job->start[job->end_row] : 0;
}

/* The nine sums of a row of blocks: element k of the blocks times x_(k mod 3).  Vectors of 64 bytes
 * lose here: nearly each lies in two cache lines. */
#if MD_ISA >= 1
MD_INLINE void sum_blocks(const gspmv_job *job, int64_t i, stokes_storage storage, double sum[9])
{
  const __m256i three = _mm256_setr_epi64x(-1, -1, -1, 0);
  __m256d low = _mm256_setzero_pd(), high = low;
  double last = 0;
  const int64_t all = end_of(job);
  for (int64_t p = job->start[i]; p < job->start[i + 1]; p++) {
    fetch_ahead(job, p, all, storage);
    const double *x = job->x + 3 * (int64_t)job->column[p];
    const __m256d xs = _mm256_maskload_pd(x, three);
    const __m256d x_low = _mm256_permute4x64_pd(xs, 0x24);  /* 0 1 2 0 */
    const __m256d x_high = _mm256_permute4x64_pd(xs, 0x49); /* 1 2 0 1 */
    if (storage == STOKES_SINGLE) {
      const float *a = (const float *)job->block + 9 * p;
      low = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a)), x_low, low);
      high = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + 4)), x_high, high);
      last += a[8] * x[2];
    } else {
      const double *a = (const double *)job->block + 9 * p;
      low = _mm256_fmadd_pd(_mm256_loadu_pd(a), x_low, low);
      high = _mm256_fmadd_pd(_mm256_loadu_pd(a + 4), x_high, high);
      last += a[8] * x[2];
    }
  }
  _mm256_storeu_pd(sum, low);
  _mm256_storeu_pd(sum + 4, high);
  sum[8] = last;
}
#else
MD_INLINE void sum_blocks(const gspmv_job *job, int64_t i, stokes_storage storage, double sum[9])
{
  double part[9] = {0};
  const int64_t all = end_of(job);
  for (int64_t p = job->start[i]; p < job->start[i + 1]; p++) {
    fetch_ahead(job, p, all, storage);
    const double *x = job->x + 3 * (int64_t)job->column[p];
    for (int k = 0; k < 9; k++)
      part[k] += x[k % 3] * (storage == STOKES_SINGLE ? ((const float *)job->block)[9 * p + k]
                                                      : ((const double *)job->block)[9 * p + k]);
  }
  for (int k = 0; k < 9; k++)
    sum[k] = part[k];
}
#endif

#if MD_ISA >= 1
/* Sums of slide x and of squeeze e (e . x) in lanes 0..2 of one group of four. */
typedef struct {
  __m256d slid, squeezed;
} pair_sums;

MD_INLINE pair_sums add_pair(pair_sums sum, const stokes_pair_entry *entry, const double *x_all)
{
  const __m256i three = _mm256_setr_epi64x(-1, -1, -1, 0);
  const __m256d e = _mm256_cvtps_pd(_mm_loadu_ps(entry->e)); /* and squeeze in lane 3 */
  const __m256d x = _mm256_maskload_pd(x_all + 3 * (int64_t)entry->column, three);
  __m256d dot = _mm256_mul_pd(e, x);
  dot = _mm256_add_pd(dot, _mm256_permute_pd(dot, 5));
  dot = _mm256_add_pd(dot, _mm256_permute2f128_pd(dot, dot, 1));
  const __m256d along = _mm256_mul_pd(_mm256_permute4x64_pd(e, 0xff), dot);
  return (pair_sums){_mm256_fmadd_pd(_mm256_set1_pd(entry->slide), x, sum.slid),
                     _mm256_fmadd_pd(e, along, sum.squeezed)};
}
#endif

#if MD_ISA == 2
/* Two pairs at a time, one in each half of a vector; returns the first pair that is left. */
MD_INLINE int64_t add_pairs(const gspmv_job *job, int64_t p, int64_t end, pair_sums *sum)
{
  const __m256i slides = _mm256_setr_epi32(4, 4, 4, 4, 12, 12, 12, 12);
  __m512d slid = _mm512_setzero_pd(), squeezed = slid;
  const int64_t all = end_of(job);
  for (; p + 2 <= end; p += 2) {
    fetch_ahead(job, p, all, STOKES_PAIR);
    fetch_ahead(job, p + 1, all, STOKES_PAIR);
    const stokes_pair_entry *entry = (const stokes_pair_entry *)job->block + p;
    const __m256 first = _mm256_loadu_ps(entry[0].e), second = _mm256_loadu_ps(entry[1].e);
    const __m512d e = _mm512_cvtps_pd(_mm256_permute2f128_ps(first, second, 0x20));
    const __m512d slide = _mm512_cvtps_pd(_mm256_permutex2var_ps(first, slides, second));
    const double *xa = job->x + 3 * (int64_t)entry[0].column;
    const double *xb = job->x + 3 * (int64_t)entry[1].column;
    const __m512d x = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_maskz_loadu_pd(7, xa)),
                                         _mm256_maskz_loadu_pd(7, xb), 1);
    __m512d dot = _mm512_mul_pd(e, x);
    dot = _mm512_add_pd(dot, _mm512_permute_pd(dot, 0x55));
    dot = _mm512_add_pd(dot, _mm512_permutex_pd(dot, 0x4e));
    const __m512d along = _mm512_mul_pd(_mm512_permutex_pd(e, 0xff), dot);
    slid = _mm512_fmadd_pd(slide, x, slid);
    squeezed = _mm512_fmadd_pd(e, along, squeezed);
  }
  sum->slid = _mm256_add_pd(_mm512_castpd512_pd256(slid), _mm512_extractf64x4_pd(slid, 1));
  sum->squeezed =
      _mm256_add_pd(_mm512_castpd512_pd256(squeezed), _mm512_extractf64x4_pd(squeezed, 1));
  return p;
}
#endif

/* What the pairs of row i resist, to be taken off the diagonal's part. */
MD_INLINE void sum_pairs(const gspmv_job *job, int64_t i, double out[4])
{
  const stokes_pair_entry *entry = (const stokes_pair_entry *)job->block;
  int64_t p = job->start[i];
  const int64_t end = job->start[i + 1];
#if MD_ISA >= 1
  pair_sums sum = {_mm256_setzero_pd(), _mm256_setzero_pd()};
#if MD_ISA == 2
  p = add_pairs(job, p, end, &sum);
#endif
  for (; p < end; p++)
    sum = add_pair(sum, entry + p, job->x);
  _mm256_storeu_pd(out, _mm256_add_pd(sum.slid, sum.squeezed));
#else
  double sum[3] = {0};
  for (; p < end; p++) {
    const double *x = job->x + 3 * (int64_t)entry[p].column;
    const float *e = entry[p].e;
    const double along = entry[p].squeeze * (e[0] * x[0] + e[1] * x[1] + e[2] * x[2]);
    for (int d = 0; d < 3; d++)
      sum[d] += entry[p].slide * x[d] + e[d] * along;
  }
  for (int d = 0; d < 3; d++)
    out[d] = sum[d];
#endif
}

MD_INLINE void multiply_task(const gspmv_job *job, stokes_storage storage, int64_t lo, int64_t hi)
{
  for (int64_t i = lo; i < hi; i++) {
    double *y = job->y + 3 * i;
    if (storage == STOKES_PAIR) {
      const double *d = job->diagonal + 6 * i, *x = job->x + 3 * i;
      double sum[4];
      sum_pairs(job, i, sum);
      y[0] = d[0] * x[0] + d[1] * x[1] + d[2] * x[2] - sum[0];
      y[1] = d[1] * x[0] + d[3] * x[1] + d[4] * x[2] - sum[1];
      y[2] = d[2] * x[0] + d[4] * x[1] + d[5] * x[2] - sum[2];
    } else {
      double sum[9];
      sum_blocks(job, i, storage, sum);
      for (int row = 0; row < 3; row++)
        y[row] = sum[3 * row] + sum[3 * row + 1] + sum[3 * row + 2];
    }
  }
}

void ISA(gspmv_cpu_one)(const gspmv_job *job, stokes_storage storage)
{
  const int64_t tasks = gspmv_tasks(job);
#pragma omp parallel for schedule(dynamic) num_threads(job->threads)
  for (int64_t k = 0; k < tasks; k++) {
    const int64_t lo = gspmv_task(job, k).first, hi = gspmv_task(job, k).end;
    if (storage == STOKES_PAIR)
      multiply_task(job, STOKES_PAIR, lo, hi);
    else if (storage == STOKES_SINGLE)
      multiply_task(job, STOKES_SINGLE, lo, hi);
    else
      multiply_task(job, STOKES_BCRS, lo, hi);
  }
}
