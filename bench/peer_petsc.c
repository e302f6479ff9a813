/* bench/peer_petsc.c - PETSc: blocks of 3 x 3 in compressed rows (BAIJ), dense matrices
 * column-major. */
#include "bench/peers.h"

#include <petscmat.h>
#include <stdlib.h>

typedef struct {
  Mat a, x, y; /* x and y: several vectors */
  Vec one, out;
  int64_t rows;
  int m;
} product;

static Mat make_matrix(const stokes_blocks *blocks)
{
  const PetscInt n = (PetscInt)blocks->n_rows;
  PetscInt *length = malloc((size_t)n * sizeof *length);
  Mat a = NULL;
  if (!length) return NULL;
  for (PetscInt i = 0; i < n; i++)
    length[i] = (PetscInt)(blocks->start[i + 1] - blocks->start[i]);
  PetscErrorCode failed = MatCreateSeqBAIJ(PETSC_COMM_SELF, 3, 3 * n, 3 * n, 0, length, &a);
  for (PetscInt i = 0; !failed && i < n; i++)
    for (int64_t k = blocks->start[i]; !failed && k < blocks->start[i + 1]; k++)
      failed = MatSetValuesBlocked(a, 1, &i, 1, &blocks->column[k], blocks->block + 9 * k,
                                   INSERT_VALUES);
  if (!failed) failed = MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  if (!failed) failed = MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  free(length);
  return failed ? NULL : a;
}

/* Row-major to column-major, or back. */
static PetscErrorCode turn(const product *p, Mat dense, double *rows, bool back)
{
  PetscScalar *columns;
  PetscCall(MatDenseGetArray(dense, &columns));
  for (int64_t i = 0; i < p->rows; i++)
    for (int c = 0; c < p->m; c++) {
      double *row = rows + i * p->m + c, *column = columns + c * p->rows + i;
      *(back ? row : column) = *(back ? column : row);
    }
  PetscCall(MatDenseRestoreArray(dense, &columns));
  return 0;
}

static PetscErrorCode make_vectors(product *p, const double *x, double *y)
{
  const PetscInt rows = (PetscInt)p->rows;
  if (p->m == 1) {
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, rows, x, &p->one));
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, rows, y, &p->out));
    return 0;
  }
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, rows, p->m, NULL, &p->x));
  PetscCall(turn(p, p->x, (double *)x, false));
  PetscCall(MatMatMult(p->a, p->x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &p->y));
  return 0;
}

static void *open_product(const stokes_blocks *blocks, int m, const double *x, double *y)
{
  PetscBool ready;
  if (PetscInitialized(&ready) || (!ready && PetscInitializeNoArguments())) return NULL;
  product *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->rows = 3 * blocks->n_rows;
  p->m = m;
  p->a = make_matrix(blocks);
  return p->a && !make_vectors(p, x, y) ? p : NULL;
}

static void multiply(void *state)
{
  product *p = state;
  if (p->m == 1)
    (void)MatMult(p->a, p->one, p->out);
  else
    (void)MatMatMult(p->a, p->x, MAT_REUSE_MATRIX, PETSC_DEFAULT, &p->y);
}

static void close_product(void *state, double *y)
{
  product *p = state;
  if (p->m > 1) (void)turn(p, p->y, y, true);
  (void)VecDestroy(&p->one);
  (void)VecDestroy(&p->out);
  (void)MatDestroy(&p->x);
  (void)MatDestroy(&p->y);
  (void)MatDestroy(&p->a);
  free(p);
}

const peer peer_petsc = {"petsc baij", open_product, multiply, close_product};
