/* bench/peers.h - other libraries' products of a block matrix with m vectors, one thread. */
#ifndef PEERS_H
#define PEERS_H

#include "stokes/matrix/matrix.h"

MD_BEGIN_C

typedef struct {
  const char *name;
  /* The matrix as the library stores it; x [3 n_rows][m] row-major and room for y, both valid until
   * close.  NULL: the library fails. */
  void *(*open)(const stokes_blocks *blocks, int m, const double *x, double *y);
  void (*multiply)(void *state);
  /* Free; y gets the last product, row-major. */
  void (*close)(void *state, double *y);
} peer;

extern const peer peer_eigen, peer_petsc, peer_librsb;

MD_END_C
#endif
