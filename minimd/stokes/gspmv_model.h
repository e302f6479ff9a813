/* minimd/stokes/gspmv_model.h - tables of `minimd gspmv` that the model makes. */
#ifndef GSPMV_MODEL_H
#define GSPMV_MODEL_H

#include "minimd/shell/options.h"
#include "stokes/model/model.h"

/* How many vectors take twice the time of one ([Liu] Fig. 1), to the stream; a picture of it,
 * unless NULL. Errors: those of plot_open. */
md_status gspmv_map_answer(const options *opts, options_format format, FILE *stream,
                           const char *picture);

/* Products of a matrix that several machines share. */
typedef struct {
  const options *opts;
  options_format format;
  const char *matrix; /* its name */
  const stokes_blocks *blocks;
  double bytes;               /* of the matrix, as product_bytes of a shape */
  const int *nodes, *vectors; /* [n_nodes], [n_vectors] */
  int n_nodes, n_vectors;
  stokes_machine machine;
  stokes_network network;
} gspmv_nodes;

/* A row for each number of nodes and of vectors to the stream; a picture ([Liu] Fig. 3), unless
 * NULL. Errors: those of stokes_model_shares and plot_open. */
md_status gspmv_nodes_answer(const gspmv_nodes *job, FILE *stream, const char *picture);

#endif
