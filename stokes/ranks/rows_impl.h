/* stokes/ranks/rows_impl.h - what making and multiplying rows of a rank share. */
#ifndef STOKES_ROWS_IMPL_H
#define STOKES_ROWS_IMPL_H

#include "stokes/matrix/matrix_impl.h"
#include "stokes/ranks/rows.h"

/* Rows that go to a rank or come from it: places first ... first + n - 1 of what is sent, or of the
 * ghosts. */
typedef struct {
  int rank;
  int64_t first, n;
} rows_peer;

/* Rows that are multiplied together. */
typedef struct {
  matrix_run *run;
  int64_t n;
} rows_runs;

/* On a GPU: rows as it knows them.  Messages lie in memory of the host that it shares; by NCCL and
 * by mailboxes rows of X come in their places. */
typedef struct {
  bool mailed; /* by mailboxes */
  gpus_mail mail;
  md_buffer ways;    /* md_way [2][ranks - 1]: for ghosts, for all rows */
  md_buffer come;    /* uint32 [ranks], 0 between kernels */
  int64_t most;      /* rows for another rank */
  void *nccl;        /* ncclComm_t, or NULL */
  md_buffer sent;    /* int32 [n_sent] */
  md_buffer inner;   /* char [n_own]: the row needs no ghosts; with mailboxes */
  md_buffer out, in; /* [3 n_sent][columns], [3 n_ghosts][columns] */
  /* Of all rows: marks of those that are needed, 0 between lists; how many are before a row. */
  md_buffer needed, before;
  md_buffer scan_status;
  uint32_t round;
  md_buffer ghost;              /* int32 [n_ghosts] */
  md_buffer start, neighbor, x; /* the list of own rows and its spheres, numbered as rows of X */
} rows_gpu;

struct stokes_rows {
  md_ctx *ctx;
  stokes_matrix *matrix; /* own rows; columns are those of X */
  int64_t *cut;          /* [ranks + 1] */
  stokes_rows_view view;
  int32_t *number; /* [n_all]: place of a ghost in X, or a mark */
  char *inner;     /* [n_own]: the row, then its group, needs no ghosts */
  int64_t *row;    /* [n_own + n_ghosts] */
  rows_runs within, edge;
  int32_t *sent; /* [n_sent]: own rows, rank by rank */
  rows_peer *from, *to;
  int n_from, n_to;
  world_message *in, *out; /* [n_from], [n_to] */
  int columns;             /* room for so many */
  double *packed;          /* [3 n_sent][columns], on the CPU */
  rows_gpu gpu;
};

/* All but the matrix, the cut, marks, and what a GPU has. */
void rows_clear(stokes_rows *rows);

/* On GPUs: how rows travel, room for that, ghosts of x, rows of all ranks (rows.h).  All ranks
 * together.  Errors: of all but those of CUDA. */
md_status rows_carry_open(stokes_rows *rows);
void rows_carry_free(stokes_rows *rows);
md_status rows_carry_reserve(stokes_rows *rows, int m);
md_status rows_carry_ghosts(stokes_rows *rows, int m, double *x);
/* By mailboxes: whether products fetch ghosts themselves; such a product. */
bool rows_carry_overlaps(const stokes_rows *rows, int m);
md_status rows_carry_multiply(stokes_rows *rows, int m, const double *x, double *y);
md_status rows_carry_all(stokes_rows *rows, double *v, int width);
const char *rows_carrier(const stokes_rows *rows);

/* Messages from what is packed, rank by rank, to where ghosts go. */
void rows_address(stokes_rows *rows, int m, const double *packed, double *ghosts);

/* Numbers of one row of a vector. */
static inline size_t rows_numbers(int m)
{
  return 3 * (size_t)m;
}

MD_BEGIN_C

/* Ghosts of own rows of the list: n_ghosts and, on the host, ghost [n_ghosts] by rising number,
 * which the caller frees; the list and its spheres with the numbers of X. */
typedef md_status rows_find_fn(stokes_rows *rows, const stokes_view *spheres,
                               const stokes_pair_view *pairs, int32_t **ghost,
                               stokes_view *own_spheres, stokes_pair_view *own_pairs);
/* Queue: rows of x that others need go to gpu.out. */
typedef md_status rows_pack_fn(stokes_rows *rows, int m, const double *x);
/* A round of mailboxes, which all ranks take part in. */
typedef struct {
  halo_put put;
  int64_t most;               /* rows for a rank */
  double *to;                 /* [n][numbers]: what came, */
  int64_t n, skip, n_skipped; /* but for rows skip ... skip + n_skipped - 1 */
} rows_mail;
typedef md_status rows_mail_fn(stokes_rows *rows, const rows_mail *round); /* queue */
rows_find_fn rows_gpu_find;
rows_pack_fn rows_gpu_pack;
rows_mail_fn rows_gpu_mail;

MD_END_C

#endif
