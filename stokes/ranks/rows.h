/* stokes/ranks/rows.h - the rows of a matrix that this rank has, and products in which all ranks
 * take part.
 *
 *     Y = R X,   rank k makes rows cut[k] ... cut[k + 1] - 1 of Y
 *
 * Rows are dealt out in their order, along the curve; a rank may have none.  Vectors have a rank's
 * rows in that order, so that sums over rows can be those of one rank, and behind them ghosts, the
 * rows of X that other ranks have and a product fetches:
 *
 *     X:  own | ghosts of rank 0 | ghosts of rank 1 | ...      Y:  own
 *
 * A product begins to receive ghosts, sends what others need, multiplies rows that need no ghosts,
 * the inner ones, while these travel, waits, and multiplies the others.  On CPUs these are groups
 * of rows between messages; by mailboxes of GPUs it is one kernel, which reads ghosts where they
 * come (stokes/matrix/halo.h); by other carriers of GPUs all rows wait.
 *
 * On CPUs a row is the same sum in the same order as in the whole matrix: the same bits for any
 * number of ranks.  How a GPU divides the sum of a row among threads depends on the length of the
 * other rows: the same for any number of ranks within rounding.  [Liu] section IV.D. */
#ifndef STOKES_RANKS_ROWS_H
#define STOKES_RANKS_ROWS_H

#include "comm/gpus.h"
#include "stokes/model/model.h"

MD_BEGIN_C

typedef struct stokes_rows stokes_rows;

/* Rows of a group. */
enum { STOKES_ROWS_TOGETHER = 64 };

/* This rank's rows of matrices with cut[ranks] rows, none yet.  cut [ranks + 1] is the same on all
 * ranks, and copied; on GPUs every rank has rows.  Between GPUs that no two ranks share rows of X
 * travel by mailboxes on one host, else by NCCL where all have it, and otherwise by MPI.  All ranks
 * together.  *out is NULL on failure; free with stokes_rows_destroy.
 * Errors, of all ranks: MD_EINVAL (a rank without rows on a GPU), MD_ENOMEM, MD_ECUDA. */
md_status stokes_rows_create(md_ctx *ctx, stokes_storage storage, const int64_t *cut,
                             stokes_rows **out);
void stokes_rows_destroy(stokes_rows *rows); /* NULL is allowed */

/* Own rows of a matrix that this rank has whole, always on a CPU, or of the one of these spheres,
 * which all ranks know; of `pairs` own rows are enough (stokes_matrix_assemble).  On a GPU rows of
 * all spheres that the list names are fetched.  vectors: how many columns most products will have.
 * Room for products is to be made anew.  All ranks together.
 * Errors, of all: those of stokes_matrix_assemble; MD_EINVAL (pairs taken to a GPU). */
md_status stokes_rows_take(stokes_rows *rows, const stokes_matrix *whole, int vectors);
md_status stokes_rows_assemble(stokes_rows *rows, const stokes_view *spheres,
                               const stokes_pair_view *pairs, const stokes_resistance *law,
                               int vectors);

typedef struct {
  int64_t n_all, n_most;            /* rows of all ranks, of the rank with most of them */
  int64_t n_own, n_inner, n_ghosts; /* n_inner: on a GPU none */
  int64_t n_sent;                   /* rows of X that go to others, once for each of them */
  const int64_t *row;  /* [n_own + n_ghosts]: numbers in the whole matrix, as X has them */
  stokes_share share;  /* its blocks, and what it fetches from how many ranks */
  const char *carrier; /* of rows of X: "mpi", "peer" or "nccl" */
} stokes_rows_view;
/* Valid until rows are taken or assembled again. */
stokes_rows_view stokes_rows_get(const stokes_rows *rows);
/* Its matrix: own rows, columns as X has them, not ascending.  Blocks on the host: errors:
 * MD_ENOMEM. */
const stokes_matrix *stokes_rows_matrix(const stokes_rows *rows);
md_status stokes_rows_blocks(const stokes_rows *rows, stokes_blocks *out);

/* Room for products with up to m columns.  All ranks together.  Errors, of all: MD_EINVAL (m),
 * MD_ENOMEM. */
md_status stokes_rows_reserve(stokes_rows *rows, int m);

/* Y = R X for m columns, x [3 (n_own + n_ghosts)][m] with room for ghosts, y [3 n_own][m].  All
 * ranks together.  What goes into messages, packing, starting and waiting, counts as
 * MD_PHASE_EXCHANGE of the context, unless a kernel does it beside products.  Deterministic for a
 * number of ranks.
 * Errors: MD_EINVAL (m: no room for it; of all), MD_ECUDA. */
md_status stokes_rows_multiply(stokes_rows *rows, int m, double *x, double *y);
/* Rows of `width` numbers of all ranks, v [n_all][width] on the backend, of which each rank has its
 * own in their places: all ranks get all.  All ranks together.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status stokes_rows_complete(stokes_rows *rows, double *v, int width);

/* How kernels of several GPUs add up sums where rows travel by mailboxes: ways to all others, on
 * the device, and slots with room for a few numbers of each rank; mail is NULL elsewhere.  Valid
 * until room for products is made anew. */
typedef struct {
  gpus_mail *mail;
  int n_ways;
  const md_way *ways;
} stokes_rows_sums;
stokes_rows_sums stokes_rows_sums_of(stokes_rows *rows);

/* The network that these rows of X travel by, measured.  All ranks together.
 * Errors, of all: MD_ENOMEM, MD_ECUDA. */
md_status stokes_rows_network(stokes_rows *rows, stokes_network *out);

MD_END_C
#endif
