/* bench/cusparse.h - cuSPARSE as the peer of products on a GPU, loaded when it is first needed. */
#ifndef BENCH_CUSPARSE_H
#define BENCH_CUSPARSE_H

#include "core/time/stopwatch.h"
#include "stokes/matrix/matrix.h"

MD_BEGIN_C

typedef struct cusparse_peer cusparse_peer;

/* The same matrix as BSR and as CSR.  *out is NULL on failure; free with cusparse_peer_destroy.
 * Errors: MD_EINVAL (no cuSPARSE here), MD_ENOMEM (states the size), MD_ECAPACITY (more than
 * 2^31 - 1 elements), MD_ECUDA. */
md_status cusparse_peer_create(md_ctx *ctx, const stokes_matrix *matrix, cusparse_peer **out);
void cusparse_peer_destroy(cusparse_peer *peer); /* NULL is allowed */

typedef struct {
  const char *call; /* the fastest one, NULL: none could do it */
  double seconds;   /* median from a cold cache, its own preparation not counted */
  double error;     /* largest difference from y, relative to its largest element */
} cusparse_best;

/* Try all calls for y = A x with m columns; x, y [3 n_rows][m] on the device, y is the product. */
md_status cusparse_peer_measure(cusparse_peer *peer, int m, const double *x, const double *y,
                                cusparse_best *best);

MD_END_C
#endif
