/* stokes/matrix/matrix_impl.h - the inside of a matrix, and what a backend provides to matrix.c. */
#ifndef STOKES_MATRIX_IMPL_H
#define STOKES_MATRIX_IMPL_H

#include "stokes/matrix/halo.h"
#include "stokes/matrix/lubrication.h"
#include "stokes/matrix/matrix.h"
#include "core/simd.h"

MD_BEGIN_C

/* A pair as `pair` stores it: the block is -(slide I + squeeze e e^T). */
typedef struct {
  float e[3], squeeze, slide; /* squeeze is X' - Y', slide is Y' */
  int32_t column;
} stokes_pair_entry;

/* Blocks of a GPU matrix for several vectors: slices of `width` lanes, each lane a row or a part of
 * a long one; the blocks of a slice lie lane by lane, one of each lane after the other ("step"), in
 * planes of 8 or 16 bytes.  Rows are sorted by length within windows, so that lanes of a slice are
 * about equally long. */
typedef struct {
  int width; /* lanes of a slice; 0: rows lie one after the other */
  int64_t n_slices, n_steps, n_windows;
  md_buffer first;  /* int64 [n_slices + 1]: first step of each slice */
  md_buffer lane;   /* matrix_lane [n_slices][width] */
  md_buffer place;  /* int32 [n_rows]: lane of a row, or of its first part; or chunks of rows */
  md_buffer window; /* int64 [3][n_windows + 1]: slices, steps and rows before each window; sums */
} matrix_slices;

typedef struct {
  int32_t row;         /* -1: unused */
  int32_t parts_count; /* parts of the row (1, 2 or 4), and 8 times the blocks of this lane */
} matrix_lane;

/* One way to make a product, or a range of its columns: by which kernel, in how many panels, and
 * how many columns that can be.  What the numbers mean is the backend's. */
typedef struct {
  int kernel, panels, columns;
} gspmv_part;

/* Columns first ... first + count - 1 of products with m. */
typedef struct {
  int m, first, count;
  gspmv_part part;
} gspmv_range;

/* How products with m columns are put together (stokes/matrix/compose.c), with a matrix of this
 * layout and about this size. */
typedef struct {
  int m, width;
  int64_t n_rows, n_stored;
  double seconds; /* of a product; 0: not known yet */
  int n;
  gspmv_part *part; /* [n], ranges of columns one after the other */
} gspmv_plan;

typedef struct {
  int n, room;
  gspmv_plan *plan; /* [room] */
} gspmv_plans;

struct stokes_matrix {
  md_ctx *ctx;
  stokes_storage storage;
  bool resistance;          /* assembled from spheres */
  int64_t n_rows, n_blocks; /* n_blocks counts the diagonal */
  int64_t n_stored;         /* entries: n_blocks, or the pairs alone */
  md_buffer start;          /* int64 [n_rows + 1] */
  md_buffer column;         /* int32 [n_stored]; not for pair */
  md_buffer block;          /* double [n_stored][9], float [n_stored][9], stokes_pair_entry */
  md_buffer diagonal;       /* double [n_rows][6] */
  matrix_slices slices;     /* GPU only */
  md_buffer scan_status;    /* GPU only: the scan's (core/gpu/scan_gpu.h) */
  uint32_t round;
  md_buffer moved;         /* GPU only: uint32, the last round whose spheres were not the list's */
  const char *inner;       /* GPU only: [n_rows], 0: the row needs ghosts; NULL: there are none */
  md_buffer order, calm;   /* GPU only, with ghosts (stokes/matrix/inner_first_gpu.h) */
  void *readback;          /* GPU only: of how many entries there are (core/gpu/readback_gpu.h) */
  void *aside, *aside_end; /* GPU only: a stream beside the context's, the event at its end */
  gspmv_plans *plans;      /* what was measured, kept while the matrix changes */
};

/* What assembly reads. */
typedef struct {
  const stokes_view *spheres;
  const stokes_pair_view *pairs;
  lubrication_range range;
  double inv_far;
  int64_t first; /* sphere of the matrix's first row; 0 on a GPU */
} assemble_job;

/* Some rows, one after the other. */
typedef struct {
  int64_t first, end;
} matrix_run;

/* Most rows that a thread multiplies at once. */
enum { GSPMV_TASK_ROWS = 256 };

/* Everything a product reads and writes. */
typedef struct {
  int64_t end_row;       /* of the matrix */
  const matrix_run *run; /* [n_runs] of Y, at most GSPMV_TASK_ROWS rows each; NULL: all rows */
  int64_t n_runs;
  const int64_t *start;
  const int32_t *column;
  const void *block;
  const double *diagonal;
  int threads;
  bool ahead; /* X does not fit a core's own cache */
  int m, panels;
  const double *x;
  double *y;
} gspmv_job;

/* Rows that a thread takes at once, and how often that is. */
static inline int64_t gspmv_tasks(const gspmv_job *job)
{
  return job->run ? job->n_runs : (job->end_row + GSPMV_TASK_ROWS - 1) / GSPMV_TASK_ROWS;
}

static inline matrix_run gspmv_task(const gspmv_job *job, int64_t k)
{
  if (job->run) return job->run[k];
  const int64_t first = k * GSPMV_TASK_ROWS, end = first + GSPMV_TASK_ROWS;
  return (matrix_run){first, end < job->end_row ? end : job->end_row};
}

typedef md_status matrix_assemble_fn(stokes_matrix *matrix, const assemble_job *job, int vectors);
typedef md_status matrix_set_fn(stokes_matrix *matrix, const stokes_blocks *blocks, int vectors);
typedef md_status matrix_get_fn(const stokes_matrix *matrix, stokes_blocks *out);
/* All ways to make products with m columns, or some of them; every one gives the same digits.  The
 * first makes them all, and serves where nothing can be measured.  Returns how many there are. */
enum { GSPMV_WAYS = 64 };
typedef int matrix_ways_fn(const stokes_matrix *matrix, int m, gspmv_part way[GSPMV_WAYS]);
/* x, y: the vectors from their first column on.  halo: NULL, or on a GPU where ghosts of X are;
 * what others need of X goes to them with the first range. */
typedef md_status matrix_multiply_fn(const stokes_matrix *matrix, const gspmv_range *range,
                                     const double *x, double *y, const gspmv_halo *halo);
/* Some rows of a product with m columns. */
typedef md_status matrix_multiply_runs_fn(const stokes_matrix *matrix, const matrix_run *run,
                                          int64_t n_runs, const gspmv_range *range, const double *x,
                                          double *y);
typedef md_status matrix_take_fn(stokes_matrix *matrix, const stokes_matrix *from, int64_t first);
typedef md_status matrix_series_fn(const stokes_matrix *matrix, const gspmv_range *range,
                                   const double factor[5], const double *now, double *next,
                                   double *total);
typedef md_status matrix_series_single_fn(const stokes_matrix *matrix, int m,
                                          const double factor[5], const float *now, float *next,
                                          float *total);
typedef struct {
  matrix_assemble_fn *assemble;
  matrix_set_fn *set;
  matrix_get_fn *get;
  matrix_ways_fn *ways;
  matrix_multiply_fn *multiply;
  matrix_multiply_runs_fn *multiply_runs; /* NULL: a matrix is made and multiplied whole */
  matrix_take_fn *take;                   /* NULL likewise */
  matrix_series_fn *series;               /* NULL: it would gain nothing */
  matrix_series_single_fn *series_single; /* for slices only; NULL likewise */
  void (*release)(stokes_matrix *matrix); /* what is no buffer; NULL: nothing */
} matrix_backend;
extern const matrix_backend matrix_cpu, matrix_gpu;
const matrix_backend *matrix_backend_of(const stokes_matrix *matrix);
/* Errors: MD_EINVAL (not in 1..STOKES_COLUMNS). */
md_status matrix_check_vectors(int vectors);

/* Rows first ... first + n - 1 of `from`, of the same backend and storage, or of what
 * stokes_matrix_assemble would make; columns keep their numbers, of which there may be more than
 * rows.  On a GPU rows are assembled from the first on, of a list that need not have more.
 * Errors: MD_EINVAL (rows taken on a GPU), MD_ENOMEM, MD_ECUDA. */
md_status matrix_take(stokes_matrix *matrix, const stokes_matrix *from, int64_t first, int64_t n);
md_status matrix_assemble_rows(stokes_matrix *matrix, const stokes_view *spheres,
                               const stokes_pair_view *pairs, const stokes_resistance *law,
                               int64_t first, int64_t n, int vectors);
/* Some rows of a product, with the digits of the whole one; takes no memory.
 * Errors: MD_EINVAL (m out of range; on a GPU). */
md_status matrix_multiply_runs(const stokes_matrix *matrix, const matrix_run *run, int64_t n_runs,
                               int m, const double *x, double *y);

/* On a GPU, of a matrix that was made with `inner`: whether products with m columns exchange ghosts
 * themselves; such a product, a round of mailboxes in which all ranks take part.
 * Errors: those of stokes_matrix_multiply. */
bool matrix_takes_halo(const stokes_matrix *matrix, int m);
md_status matrix_multiply_halo(const stokes_matrix *matrix, int m, const double *x, double *y,
                               const gspmv_halo *halo);

/* The composition of least time for m columns, of n ways that take so many seconds each; the first
 * one makes them all.  Sets the plan's n and part, which the caller frees.  Errors: MD_ENOMEM. */
md_status gspmv_compose(int m, const gspmv_part *way, const double *seconds, int n,
                        gspmv_plan *plan);

/* Size of one stored entry without its column. */
static inline size_t matrix_entry_bytes(stokes_storage storage)
{
  static const size_t bytes[STOKES_STORAGE_COUNT] = {9 * sizeof(double), 9 * sizeof(float),
                                                     sizeof(stokes_pair_entry)};
  return bytes[storage];
}

/* Bytes between asking for a block and using it.  Blocks are a stream, but one that a processor
 * alone follows at four fifths of the speed with one vector, and at half of it with several, whose
 * rows of X come between. */
enum { MATRIX_STREAM = 4096 };

static inline void matrix_ask_block(const void *block, int64_t p, stokes_storage storage)
{
  __builtin_prefetch((const char *)block + matrix_entry_bytes(storage) * (size_t)p + MATRIX_STREAM);
}

/* Column of entry p, on the host. */
static inline int32_t *matrix_column(const stokes_matrix *matrix, int64_t p)
{
  return matrix->storage == STOKES_PAIR ? &((stokes_pair_entry *)matrix->block.data)[p].column
                                        : (int32_t *)matrix->column.data + p;
}

/* Kernels may read this far beyond the last block. */
enum { MATRIX_PADDING = 64 };

/* Room for blocks or slices, a little more than asked for: their number varies by less from step to
 * step, and half as much again, as buffers usually grow, would be too much here.  Contents are
 * lost. */
static inline md_status matrix_reserve(md_ctx *ctx, md_buffer *buffer, size_t bytes)
{
  if (bytes <= buffer->bytes) return MD_OK;
  md_buffer_free(ctx, buffer);
  return md_buffer_reserve(ctx, buffer, bytes + bytes / 128, 0);
}

/* The products of one instruction set: one vector, and several. */
typedef void gspmv_fn(const gspmv_job *job, stokes_storage storage);
SIMD_DECLARE_(gspmv_fn, gspmv_cpu_one);
SIMD_DECLARE_(gspmv_fn, gspmv_cpu_many);
typedef int gspmv_ways_fn(int m, gspmv_part way[GSPMV_WAYS]);
SIMD_DECLARE_(gspmv_ways_fn, gspmv_cpu_ways);

MD_END_C
#endif
