/* examples/products.c - a matrix of 3 x 3 blocks times four vectors, with libminimd. */
#include <math.h>
#include <stdio.h>
#include <stokes/matrix/matrix.h>

enum { ROWS = 100, BLOCKS = 3 * ROWS - 2, VECTORS = 4 };

/* Two on the diagonal, minus one beside it: a chain of springs in three dimensions. */
static void fill(stokes_blocks *chain)
{
  int64_t k = 0;
  for (int32_t i = 0; i < ROWS; i++) {
    chain->start[i] = k;
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < ROWS; j++, k++) {
      chain->column[k] = j;
      for (int a = 0; a < 9; a++)
        chain->block[9 * k + a] = a % 4 == 0 ? (i == j ? 2 : -1) : 0;
    }
  }
  chain->start[ROWS] = k;
}

static md_status multiply(const double *x, double *y)
{
  static int64_t start[ROWS + 1];
  static int32_t column[BLOCKS];
  static double block[BLOCKS * 9];
  stokes_blocks chain = {ROWS, BLOCKS, start, column, block};
  const md_ctx_spec where = {.backend = MD_CPU, .precision = MD_DOUBLE};
  md_ctx *ctx;
  stokes_matrix *matrix = NULL;
  fill(&chain);
  MD_TRY(md_ctx_create(&where, &ctx));
  md_status status = stokes_matrix_create(ctx, STOKES_BCRS, &matrix);
  if (!status) status = stokes_matrix_set(matrix, &chain, VECTORS);
  if (!status) status = stokes_matrix_multiply(matrix, VECTORS, x, y);
  stokes_matrix_destroy(matrix);
  md_ctx_destroy(ctx);
  return status;
}

int main(void)
{
  static double x[3 * ROWS * VECTORS], y[3 * ROWS * VECTORS];
  for (int i = 0; i < 3 * ROWS; i++)
    for (int c = 0; c < VECTORS; c++)
      x[i * VECTORS + c] = pow(i / 3, c); /* bends of a chain: 0 for c < 2, -2 for c = 2 */
  if (multiply(x, y)) {
    fprintf(stderr, "%s\n", md_message());
    return 1;
  }
  const double *middle = &y[150 * VECTORS];
  printf("minimd %s: %g %g %g %g\n", md_version(), middle[0], middle[1], middle[2], middle[3]);
  return fabs(middle[2] + 2) > 1e-9 || fabs(middle[3] + 6 * 50) > 1e-9;
}
