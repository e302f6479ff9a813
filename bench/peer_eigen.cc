/* bench/peer_eigen.cc - Eigen: compressed rows of scalars, dense matrices row-major. */
#include "bench/peers.h"

#include <Eigen/Sparse>

namespace
{

typedef Eigen::SparseMatrix<double, Eigen::RowMajor, int> sparse;
typedef Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> dense;

struct product {
  sparse a;
  int64_t rows;
  int m;
  const double *x;
  double *y;
};

void *open(const stokes_blocks *blocks, int m, const double *x, double *y)
{
  const int64_t rows = 3 * blocks->n_rows;
  product *p = new product{sparse(rows, rows), rows, m, x, y};
  p->a.resizeNonZeros(9 * blocks->n_blocks);
  int *start = p->a.outerIndexPtr(), *column = p->a.innerIndexPtr();
  double *value = p->a.valuePtr();
  int64_t at = 0;
  for (int64_t i = 0; i < rows; i++) {
    start[i] = (int)at;
    for (int64_t k = blocks->start[i / 3]; k < blocks->start[i / 3 + 1]; k++)
      for (int col = 0; col < 3; col++, at++) {
        column[at] = 3 * blocks->column[k] + col;
        value[at] = blocks->block[9 * k + 3 * (i % 3) + col];
      }
  }
  start[rows] = (int)at;
  return p;
}

void multiply(void *state)
{
  product *p = (product *)state;
  if (p->m == 1)
    Eigen::Map<Eigen::VectorXd>(p->y, p->rows).noalias() =
        p->a * Eigen::Map<const Eigen::VectorXd>(p->x, p->rows);
  else
    Eigen::Map<dense>(p->y, p->rows, p->m).noalias() =
        p->a * Eigen::Map<const dense>(p->x, p->rows, p->m);
}

void close(void *state, double *)
{
  delete (product *)state;
}

} // namespace

extern const peer peer_eigen = {"eigen", open, multiply, close};
