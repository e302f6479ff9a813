/* minimd/stokes/gspmv_ranks.h - products of `minimd gspmv` in which several ranks take part. */
#ifndef GSPMV_RANKS_H
#define GSPMV_RANKS_H

#include "minimd/shell/options.h"
#include "minimd/stokes/suspension.h"
#include "stokes/model/model.h"

typedef struct {
  const options *opts;
  options_format format;
  bool quiet;
  const char *matrix; /* its name */
  md_ctx *ctx;
  const suspension *suspension; /* from which the matrix is assembled, or */
  const stokes_blocks *blocks;  /* the whole matrix */
  const int *vectors;           /* [n_vectors] */
  int n_vectors, repeat;
  stokes_storage storage;
  stokes_network network; /* NaN: as it is measured */
} gspmv_ranks;

/* A row for each number of vectors, with times of the slowest rank beside the model's ([Liu] Table
 * III, Figs. 3 and 4), to the stream of rank 0; notes say what ranks have.  All ranks together.
 * Errors, of all: MD_EINVAL (packings or matrices differ), MD_ENOMEM. */
md_status gspmv_ranks_answer(const gspmv_ranks *job, FILE *stream);

#endif
