/* stokes/matrix/gspmv.isa.c - Y = R X for two or more vectors.
 *
 *     Y_i = sum over blocks p of row i of A_p X_col(p),   A_p 3 x 3, X_j and Y_i 3 x m
 *
 * The columns are cut into panels of a few SIMD vectors that fit the registers; the last vector of
 * a row may be partly used.  A panel keeps its part of Y_i in registers over the whole row, so that
 * the arithmetic is nine multiply-adds a block and vector, and each element of A is one broadcast.
 * Every element of Y is one chain of additions in the order of the blocks, whatever the panels are.
 * The preprocessor writes one kernel for each storage and width of a panel.  Where a panel is wide,
 * a few rows stay in cache for all its panels.  [Liu] section IV.A. */
#include "stokes/matrix/matrix_impl.h"
#include "stokes/matrix/simd_vec.h"

/* Widest panel in vectors: by the number of registers. */
#if MD_ISA == 2
enum { WIDEST = 8 };
#elif MD_ISA == 1
enum { WIDEST = 4 };
#else
enum { WIDEST = 3 };
#endif

/* Rows that go through one panel before the next panel reads their blocks again from cache. */
enum { PANEL_ROWS = 16 };

/* Blocks between asking for a part of X and using it; doubles in a cache line. */
enum { AHEAD = 64, LINE = 8 };

/* The columns of a panel: `vectors` SIMD vectors, of which the last one is used in part, `part`
 * columns, if that is `masked`.  Both are constants where kernels are inlined: a number of vectors
 * that the compiler does not know would put the sums in memory. */
typedef struct {
  int vectors, part;
  bool masked;
} panel;

MD_INLINE vec load_x(const double *x, int v, const panel *w)
{
  const double *at = x + v * LANES;
  return vec_keep(w->masked && v == w->vectors - 1 ? vec_load_part(at, w->part) : vec_load(at));
}

/* sum += block * X for one block. */
MD_INLINE void multiply_block(const double *a, const double *x, int m, const panel *w,
                              vec sum[3][WIDEST])
{
#pragma GCC unroll 8
  for (int v = 0; v < w->vectors; v++) {
#pragma GCC unroll 3
    for (int col = 0; col < 3; col++) {
      const vec xv = load_x(x + col * m, v, w);
#pragma GCC unroll 3
      for (int row = 0; row < 3; row++)
        sum[row][v] += a[3 * row + col] * xv;
    }
  }
}

/* sum -= (slide I + squeeze e e^T) X for one pair. */
MD_INLINE void multiply_pair(const stokes_pair_entry *entry, const double *x, int m, const panel *w,
                             vec sum[3][WIDEST])
{
  const double e[3] = {entry->e[0], entry->e[1], entry->e[2]};
  const double slide = entry->slide, squeeze = -(double)entry->squeeze;
#pragma GCC unroll 8
  for (int v = 0; v < w->vectors; v++) {
    vec along = {0}, xv[3];
#pragma GCC unroll 3
    for (int d = 0; d < 3; d++) {
      xv[d] = load_x(x + d * m, v, w);
      along += e[d] * xv[d];
    }
    along *= squeeze;
#pragma GCC unroll 3
    for (int d = 0; d < 3; d++) {
      sum[d][v] -= slide * xv[d];
      sum[d][v] += e[d] * along;
    }
  }
}

MD_INLINE const double *x_of(const gspmv_job *job, int64_t column, int first)
{
  return job->x + 3 * job->m * column + first;
}

MD_INLINE int64_t column_of(const gspmv_job *job, int64_t p, stokes_storage storage)
{
  return storage == STOKES_PAIR ? ((const stokes_pair_entry *)job->block)[p].column
                                : job->column[p];
}

/* Ask for a block, and for the part of X that the block AHEAD places on needs: X is a gather. */
MD_INLINE void fetch_ahead(const gspmv_job *job, int64_t p, int64_t end, stokes_storage storage,
                           int first)
{
  matrix_ask_block(job->block, p, storage);
  if (p + AHEAD >= end) return;
  const double *x = x_of(job, column_of(job, p + AHEAD, storage), first);
  for (int k = 0; k < 3 * job->m; k += LINE)
    __builtin_prefetch(x + k);
}

/* The blocks of row i, added to sum. */
MD_INLINE void multiply_row(const gspmv_job *job, int64_t i, int first, stokes_storage storage,
                            const panel *w, vec sum[3][WIDEST])
{
  const int m = job->m;
  if (storage == STOKES_PAIR) {
    const double *d = job->diagonal + 6 * i;
    const double full[9] = {d[0], d[1], d[2], d[1], d[3], d[4], d[2], d[4], d[5]};
    multiply_block(full, x_of(job, i, first), m, w, sum);
  }
  const int64_t end = job->ahead ? job->start[job->end_row] : 0;
  for (int64_t p = job->start[i]; p < job->start[i + 1]; p++) {
    fetch_ahead(job, p, end, storage, first);
    if (storage == STOKES_PAIR) {
      const stokes_pair_entry *entry = (const stokes_pair_entry *)job->block + p;
      multiply_pair(entry, x_of(job, entry->column, first), m, w, sum);
    } else if (storage == STOKES_SINGLE) {
      double wide[9];
      for (int k = 0; k < 9; k++)
        wide[k] = ((const float *)job->block)[9 * p + k];
      multiply_block(wide, x_of(job, job->column[p], first), m, w, sum);
    } else {
      multiply_block((const double *)job->block + 9 * p, x_of(job, job->column[p], first), m, w,
                     sum);
    }
  }
}

/* Rows lo..hi, columns first.. of Y; storage and panel are constants where this is inlined. */
MD_INLINE void multiply_rows(const gspmv_job *job, int64_t lo, int64_t hi, int first,
                             stokes_storage storage, panel w)
{
  for (int64_t i = lo; i < hi; i++) {
    vec sum[3][WIDEST] = {0};
    multiply_row(job, i, first, storage, &w, sum);
#pragma GCC unroll 3
    for (int row = 0; row < 3; row++) {
      double *y = job->y + (3 * i + row) * job->m + first;
#pragma GCC unroll 8
      for (int v = 0; v < w.vectors; v++) {
        if (w.masked && v == w.vectors - 1)
          vec_store_part(y + v * LANES, sum[row][v], w.part);
        else
          vec_store(y + v * LANES, sum[row][v]);
      }
    }
  }
}

typedef void panel_fn(const gspmv_job *job, int64_t lo, int64_t hi, int first, int part);

#define PANEL(storage, n)                                                                          \
  static void storage##_##n(const gspmv_job *job, int64_t lo, int64_t hi, int first, int part)     \
  {                                                                                                \
    (void)part;                                                                                    \
    multiply_rows(job, lo, hi, first, STOKES_##storage, (panel){n, 0, false});                     \
  }                                                                                                \
  static void storage##_##n##_part(const gspmv_job *job, int64_t lo, int64_t hi, int first,        \
                                   int part)                                                       \
  {                                                                                                \
    multiply_rows(job, lo, hi, first, STOKES_##storage, (panel){n, part, true});                   \
  }
#define ENTRY(storage, n) {storage##_##n##_part, storage##_##n},
#if MD_ISA == 2
#define PANELS(X, s) X(s, 1) X(s, 2) X(s, 3) X(s, 4) X(s, 5) X(s, 6) X(s, 7) X(s, 8)
#elif MD_ISA == 1
#define PANELS(X, s) X(s, 1) X(s, 2) X(s, 3) X(s, 4)
#else
#define PANELS(X, s) X(s, 1) X(s, 2) X(s, 3)
#endif
#define KERNELS(name, word) PANELS(PANEL, name)
#define TABLE(name, word) {PANELS(ENTRY, name)},
STOKES_STORAGES(KERNELS)

/* By storage, vectors in the panel less one, and whether the last one is whole. */
static panel_fn *const panels[STOKES_STORAGE_COUNT][WIDEST][2] = {STOKES_STORAGES(TABLE)};

static int vectors_of_columns(int m)
{
  return (m + LANES - 1) / LANES;
}

/* SIMD vectors of a panel, where so many panels are about equally wide. */
static int panel_width(int vectors, int count)
{
  return (vectors + count - 1) / count;
}

/* As few panels as there can be: with one more a product takes 5 to 20 % longer, also where the
 * widest leave no register for anything else. */
int ISA(gspmv_cpu_ways)(int m, gspmv_part way[GSPMV_WAYS])
{
  way[0] = (gspmv_part){0, (vectors_of_columns(m) + WIDEST - 1) / WIDEST, m};
  return 1;
}

static void multiply_task(const gspmv_job *job, stokes_storage storage, int64_t lo, int64_t hi)
{
  const int vectors = vectors_of_columns(job->m), wide = panel_width(vectors, job->panels);
  const int64_t rows = job->panels > 1 ? PANEL_ROWS : hi - lo;
  for (int64_t i = lo; i < hi; i += rows)
    for (int v = 0; v < vectors; v += wide) {
      const int n = vectors - v < wide ? vectors - v : wide;
      const int part = v + n == vectors ? job->m % LANES : 0;
      panels[storage][n - 1][part == 0](job, i, i + rows < hi ? i + rows : hi, v * LANES, part);
    }
}

void ISA(gspmv_cpu_many)(const gspmv_job *job, stokes_storage storage)
{
  const int64_t tasks = gspmv_tasks(job);
#pragma omp parallel for schedule(dynamic) num_threads(job->threads)
  for (int64_t k = 0; k < tasks; k++) {
    const matrix_run rows = gspmv_task(job, k);
    multiply_task(job, storage, rows.first, rows.end);
  }
}
