/* spread/gpu_guo/matrix_gpu.h - S as a sparse matrix on the GPU: a row for each mesh point, an
 * entry for each particle near it.  Columns are places in the order by cell, so that neighbouring
 * rows read neighbouring charges.
 *
 *   single  rows one after another (CSR): entry e of row m at rows[m] + e
 *   group   g rows side by side, as long as the longest: group[m / g] + e g + m % g
 *   hybrid  the first `width` entries of every row at e points + m; the others, ordered by row, in
 * a list of (row, column, value) where row m begins at list[m] */
#ifndef MATRIX_GPU_H
#define MATRIX_GPU_H

#include "spread/gpu_guo/cells_gpu.h"

typedef struct {
  const int64_t *rows;  /* [points + 1] */
  const int64_t *group; /* NULL, or [groups + 1] */
  const int64_t *list;  /* NULL, or [points + 1] */
  int32_t group_rows;
  int64_t width, points;
  int32_t *column, *list_row, *list_column;
  real *value, *list_value;
} matrix;

/* The matrix of a part; parts of it may not be built yet. */
MD_INLINE matrix matrix_of(const spread_plan *plan, const spread_part *part)
{
  const md_buffer *buffer = part->buffer;
  const int64_t *extra = (const int64_t *)buffer[SPREAD_EXTRA].data;
  const matrix m = {(const int64_t *)buffer[SPREAD_ROWS].data,
                    plan->method == SPREAD_GROUP ? extra : NULL,
                    plan->method == SPREAD_HYBRID ? extra : NULL,
                    plan->spec.tuning.group ? plan->spec.tuning.group : 64,
                    part->width,
                    plan->grid.points,
                    (int32_t *)buffer[SPREAD_COLUMN].data,
                    (int32_t *)buffer[SPREAD_LIST].data,
                    (int32_t *)buffer[SPREAD_LIST_COLUMN].data,
                    (real *)buffer[SPREAD_VALUE].data,
                    (real *)buffer[SPREAD_LIST_VALUE].data};
  return m;
}

#endif
