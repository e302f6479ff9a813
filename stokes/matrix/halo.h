/* stokes/matrix/halo.h - rows of X that other GPUs have, stored into mailboxes (comm/gpus.h) and
 * read there by the kernels of a product. */
#ifndef STOKES_HALO_H
#define STOKES_HALO_H

#include "core/mail.h"

/* What a GPU stores into the mailboxes of others in a round.  The threads that store are in groups,
 * as many for each way. */
typedef struct {
  int n_ways;
  unsigned groups;     /* of a way */
  int numbers;         /* doubles of a row */
  const md_way *ways;  /* [n_ways], on the device */
  const int32_t *sent; /* row `first` + k of a way is row sent[first + k] of `from`; NULL: itself */
  const double *from;
  md_round round;
  uint32_t *come; /* [n_ways], 0 between kernels */
  volatile md_late *late;
} halo_put;

/* The halo of a product: X [3 n_own][m] lies before it, ghosts in this GPU's mailbox.  Rows that
 * need none come first, the others wait for them. */
typedef struct {
  halo_put put;
  int64_t most;         /* rows for another rank */
  int64_t n_own;        /* rows of X before the ghosts */
  const double *ghosts; /* [n][3][m] */
} gspmv_halo;

#endif
