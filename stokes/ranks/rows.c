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
                        .inner = kept.inner,
                        .gpu = kept.gpu};
}

void stokes_rows_destroy(stokes_rows *rows)
{
  if (!rows) return;
  rows_clear(rows);
  stokes_matrix_destroy(rows->matrix);
  rows_carry_free(rows);
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

static md_status grow(stokes_rows *rows, int m)
{
  const size_t bytes = rows_numbers(m) * sizeof(double);
  const size_t sent = (size_t)rows->view.n_sent * bytes;
  const size_t ghosts = (size_t)rows->view.n_ghosts * bytes;
  double *packed = realloc(rows->packed, sent + 1);
  MD_REQUIRE(packed, MD_ENOMEM, "out of memory for messages of %d vectors", m);
  rows->packed = packed;
  return world_reserve(rows->n_from + rows->n_to, (int64_t)(sent + ghosts));
}

md_status stokes_rows_reserve(stokes_rows *rows, int m)
{
  MD_TRY(world_agree(matrix_check_vectors(m)));
  if (m <= rows->columns) return MD_OK;
  if (rows->ctx->backend == MD_GPU)
    MD_TRY(rows_carry_reserve(rows, m));
  else
    MD_TRY(world_agree(grow(rows, m)));
  rows->columns = m;
  return MD_OK;
}

void rows_address(stokes_rows *rows, int m, const double *packed, double *ghosts)
{
  const size_t numbers = rows_numbers(m), bytes = numbers * sizeof *ghosts;
  for (int k = 0; k < rows->n_from; k++) {
    const rows_peer *p = &rows->from[k];
    rows->in[k] =
        (world_message){p->rank, ghosts + numbers * (size_t)p->first, bytes * (size_t)p->n};
  }
  for (int k = 0; k < rows->n_to; k++) {
    const rows_peer *p = &rows->to[k];
    rows->out[k] = (world_message){p->rank, (double *)packed + numbers * (size_t)p->first,
                                   bytes * (size_t)p->n};
  }
}

/* Ghosts go to where they belong; what others need is packed, rank by rank. */
static void begin_exchange(stokes_rows *rows, int m, double *x)
{
  const size_t numbers = rows_numbers(m), bytes = numbers * sizeof *x;
#pragma omp parallel for schedule(static) num_threads(team_size(rows->ctx, rows->view.n_sent))
  for (int64_t k = 0; k < rows->view.n_sent; k++)
    memcpy(rows->packed + numbers * (size_t)k, x + numbers * (size_t)rows->sent[k], bytes);
  rows_address(rows, m, rows->packed, x + numbers * (size_t)rows->view.n_own);
  world_start(rows->in, rows->n_from, rows->out, rows->n_to);
}

static md_status multiply_cpu(stokes_rows *rows, int m, double *x, double *y)
{
  const rows_runs *within = &rows->within, *edge = &rows->edge;
  md_phase_begin(rows->ctx, MD_PHASE_EXCHANGE);
  begin_exchange(rows, m, x);
  md_phase_end(rows->ctx, MD_PHASE_EXCHANGE);
  md_status status = matrix_multiply_runs(rows->matrix, within->run, within->n, m, x, y);
  md_phase_begin(rows->ctx, MD_PHASE_EXCHANGE);
  world_wait();
  md_phase_end(rows->ctx, MD_PHASE_EXCHANGE);
  if (!status) status = matrix_multiply_runs(rows->matrix, edge->run, edge->n, m, x, y);
  return status;
}

static md_status multiply_gpu(stokes_rows *rows, int m, double *x, double *y)
{
  const bool at_once = rows_carry_overlaps(rows, m);
  if (!at_once) {
    md_phase_begin(rows->ctx, MD_PHASE_EXCHANGE);
    const md_status status = rows_carry_ghosts(rows, m, x);
    md_phase_end(rows->ctx, MD_PHASE_EXCHANGE);
    MD_TRY(status);
  }
  md_phase_begin(rows->ctx, MD_PHASE_FORCE); /* a GPU's phase lasts until the next one */
  const md_status status =
      at_once ? rows_carry_multiply(rows, m, x, y) : stokes_matrix_multiply(rows->matrix, m, x, y);
  md_phase_end(rows->ctx, MD_PHASE_FORCE);
  return status;
}

md_status stokes_rows_multiply(stokes_rows *rows, int m, double *x, double *y)
{
  MD_REQUIRE(m >= 1 && m <= rows->columns, MD_EINVAL,
             "there is room for products with 1 to %d vectors, not %d", rows->columns, m);
  return (rows->ctx->backend == MD_GPU ? multiply_gpu : multiply_cpu)(rows, m, x, y);
}

md_status stokes_rows_complete(stokes_rows *rows, double *v, int width)
{
  if (rows->ctx->backend == MD_GPU) return rows_carry_all(rows, v, width);
  return world_complete(v, rows->cut, (size_t)width * sizeof *v);
}
