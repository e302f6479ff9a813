/* stokes/ranks/rows.c - products with the rows of this rank; see rows.h. */
#include "core/time/timer.h"
#include "stokes/ranks/rows_impl.h"
#include "stokes/team.h"

#include <stdlib.h>
#include <string.h>

void rows_clear(stokes_rows *rows)
{
  free(rows->row);
  free(rows->within.run);
  free(rows->edge.run);
  free(rows->sent);
  free(rows->from);
  free(rows->to);
  free(rows->in);
  free(rows->out);
  free(rows->packed);
  const stokes_rows kept = *rows;
  *rows = (stokes_rows){.ctx = kept.ctx,
                        .matrix = kept.matrix,
                        .cut = kept.cut,
                        .number = kept.number,
                        .inner = kept.inner};
}

void stokes_rows_destroy(stokes_rows *rows)
{
  if (!rows) return;
  rows_clear(rows);
  stokes_matrix_destroy(rows->matrix);
  free(rows->cut);
  free(rows->number);
  free(rows->inner);
  free(rows);
}

stokes_rows_view stokes_rows_get(const stokes_rows *rows)
{
  return rows->view;
}

const stokes_matrix *stokes_rows_matrix(const stokes_rows *rows)
{
  return rows->matrix;
}

md_status stokes_rows_blocks(const stokes_rows *rows, stokes_blocks *out)
{
  return stokes_matrix_get(rows->matrix, out);
}

/* Doubles of one row of blocks of a vector. */
static size_t row_numbers(int m)
{
  return 3 * (size_t)m;
}

static md_status grow(stokes_rows *rows, int m)
{
  const int64_t moved = rows->view.n_sent + rows->view.n_ghosts;
  const size_t bytes = row_numbers(m) * sizeof(double);
  double *packed = realloc(rows->packed, (size_t)rows->view.n_sent * bytes + 1);
  MD_REQUIRE(packed, MD_ENOMEM, "out of memory for messages of %d vectors", m);
  rows->packed = packed;
  return world_reserve(rows->n_from + rows->n_to, moved * (int64_t)bytes);
}

md_status stokes_rows_reserve(stokes_rows *rows, int m)
{
  MD_TRY(world_agree(matrix_check_vectors(m)));
  if (m <= rows->columns) return MD_OK;
  MD_TRY(world_agree(grow(rows, m)));
  rows->columns = m;
  return MD_OK;
}

/* Ghosts go to where they belong; what others need is packed, rank by rank. */
static void begin_exchange(stokes_rows *rows, int m, double *x)
{
  const size_t numbers = row_numbers(m), bytes = numbers * sizeof *x;
  double *ghosts = x + numbers * (size_t)rows->view.n_own;
#pragma omp parallel for schedule(static) num_threads(team_size(rows->ctx, rows->view.n_sent))
  for (int64_t k = 0; k < rows->view.n_sent; k++)
    memcpy(rows->packed + numbers * (size_t)k, x + numbers * (size_t)rows->sent[k], bytes);
  for (int k = 0; k < rows->n_from; k++) {
    const rows_peer *p = &rows->from[k];
    rows->in[k] =
        (world_message){p->rank, ghosts + numbers * (size_t)p->first, bytes * (size_t)p->n};
  }
  for (int k = 0; k < rows->n_to; k++) {
    const rows_peer *p = &rows->to[k];
    rows->out[k] =
        (world_message){p->rank, rows->packed + numbers * (size_t)p->first, bytes * (size_t)p->n};
  }
  world_start(rows->in, rows->n_from, rows->out, rows->n_to);
}

md_status stokes_rows_multiply(stokes_rows *rows, int m, double *x, double *y, double *exchange)
{
  const rows_runs *within = &rows->within, *edge = &rows->edge;
  MD_REQUIRE(m >= 1 && m <= rows->columns, MD_EINVAL,
             "there is room for products with 1 to %d vectors, not %d", rows->columns, m);
  const double began = md_wall_seconds();
  begin_exchange(rows, m, x);
  const double started = md_wall_seconds();
  md_status status = matrix_multiply_runs(rows->matrix, within->run, within->n, m, x, y);
  const double inner = md_wall_seconds();
  world_wait();
  if (exchange) *exchange += started - began + md_wall_seconds() - inner;
  if (!status) status = matrix_multiply_runs(rows->matrix, edge->run, edge->n, m, x, y);
  return status;
}
