/* bench/peer_librsb.c - librsb: blocks of the matrix found recursively, dense matrices row-major.
 */
#include "bench/peers.h"

#include <rsb.h>
#include <stdlib.h>

typedef struct {
  struct rsb_mtx_t *a;
  int64_t rows;
  int m;
  const double *x;
  double *y;
} product;

static struct rsb_mtx_t *make_matrix(const stokes_blocks *blocks)
{
  const int64_t n = 9 * blocks->n_blocks;
  rsb_coo_idx_t *row = malloc((size_t)n * sizeof *row),
                *column = malloc((size_t)n * sizeof *column);
  double *value = malloc((size_t)n * sizeof *value);
  struct rsb_mtx_t *a = NULL;
  rsb_err_t failed = RSB_ERR_NO_ERROR;
  int64_t at = 0;
  if (row && column && value) {
    for (int64_t i = 0; i < 3 * blocks->n_rows; i++)
      for (int64_t k = blocks->start[i / 3]; k < blocks->start[i / 3 + 1]; k++)
        for (int col = 0; col < 3; col++, at++) {
          row[at] = (rsb_coo_idx_t)i;
          column[at] = 3 * blocks->column[k] + col;
          value[at] = blocks->block[9 * k + 3 * (i % 3) + col];
        }
    a = rsb_mtx_alloc_from_coo_const(value, row, column, (rsb_nnz_idx_t)n,
                                     RSB_NUMERICAL_TYPE_DOUBLE, 3 * (rsb_coo_idx_t)blocks->n_rows,
                                     3 * (rsb_coo_idx_t)blocks->n_rows, 1, 1,
                                     RSB_FLAG_WANT_BCSS_STORAGE | RSB_FLAG_SORTED_INPUT, &failed);
  }
  free(row);
  free(column);
  free(value);
  return failed == RSB_ERR_NO_ERROR ? a : NULL;
}

static void *open_product(const stokes_blocks *blocks, int m, const double *x, double *y)
{
  int one = 1;
  if (rsb_lib_init(RSB_NULL_INIT_OPTIONS) != RSB_ERR_NO_ERROR ||
      rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &one) != RSB_ERR_NO_ERROR)
    return NULL;
  product *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  *p = (product){make_matrix(blocks), 3 * blocks->n_rows, m, x, y};
  return p->a ? p : NULL;
}

static void multiply(void *state)
{
  const product *p = state;
  const double one = 1, zero = 0;
  if (p->m == 1)
    (void)rsb_spmv(RSB_TRANSPOSITION_N, &one, p->a, p->x, 1, &zero, p->y, 1);
  else
    (void)rsb_spmm(RSB_TRANSPOSITION_N, &one, p->a, p->m, RSB_FLAG_WANT_ROW_MAJOR_ORDER, p->x, p->m,
                   &zero, p->y, p->m);
}

static void close_product(void *state, double *y)
{
  product *p = state;
  (void)y;
  rsb_mtx_free(p->a);
  free(p);
  rsb_lib_exit(RSB_NULL_EXIT_OPTIONS);
}

const peer peer_librsb = {"librsb", open_product, multiply, close_product};
