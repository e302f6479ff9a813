/* stokes/model/model.h - how long should a product with m vectors take, and how many vectors are
 * best?
 *
 *     T(m) = max(bytes(m) / B, 18 m n_blocks / F),   r(m) = T(m) / T(1)
 *     bytes(m) = 3 n_rows m (3 + k) 8 + bytes of the matrix
 *
 * B is the memory bandwidth of the machine, F what the kernel reaches on data in cache, k how often
 * X is read more than once.  A step of the algorithm with m right-hand sides takes
 *
 *     T_step(m) = [(N + C) T(m) + ((m - 1) (N1 + C) + m N2) T(1)] / m
 *
 * with N, N1, N2 iterations without a guess, with one, and of the second solve, and C the order of
 * the Chebyshev polynomial; m = 1 is the original algorithm.  [Liu] Eq. 8 and 9, with the bytes of
 * vectors counted for 3 n_rows scalars; Eq. 11 and 12 are evaluated as this sum. */
#ifndef STOKES_MODEL_H
#define STOKES_MODEL_H

#include "stokes/matrix/matrix.h"

MD_BEGIN_C

typedef struct {
  double bandwidth; /* B [B/s], reads and writes together */
  double flops;     /* F [flop/s] */
} stokes_machine;

/* Measure this machine with the context's threads: a copy of 128 MB, and products with 16 vectors
 * of a matrix that stays in cache; the fastest of a few.  For pair storage F is that of bcrs.
 * Errors: MD_ENOMEM, MD_ECUDA. */
md_status stokes_machine_measure(md_ctx *ctx, stokes_storage storage, stokes_machine *out);

/* Bytes of one product; time of one product [s]; time relative to one vector. */
double stokes_model_bytes(const stokes_shape *shape, int m, double k);
double stokes_model_time(const stokes_machine *machine, const stokes_shape *shape, int m, double k);
double stokes_model_relative(const stokes_machine *machine, const stokes_shape *shape, int m,
                             double k);

/* m_s: the least m whose product is bound by arithmetic; 0: none is. */
int stokes_model_switch(const stokes_machine *machine, const stokes_shape *shape, double k);

typedef struct {
  double unguessed, first, second, order; /* N, N1, N2, C */
} stokes_counts;

/* Time of one step [s], and that of the n numbers of vectors for which it is least. */
double stokes_model_step(const stokes_machine *machine, const stokes_shape *shape,
                         const stokes_counts *counts, int m, double k);
int stokes_model_best(const stokes_machine *machine, const stokes_shape *shape,
                      const stokes_counts *counts, const int *widths, int n, double k);

/* How many vectors take at most twice the time of one, where rows have this many blocks and B / F
 * is byte_per_flop; k = 0.  [Liu] Fig. 1. */
int stokes_model_vectors(double blocks_per_row, double byte_per_flop);

/* Several machines, nodes of a network, share a matrix: its rows are dealt out in their order, so
 * that each node has as many blocks.  Before a product a node fetches the rows of X that others
 * have: [Liu] section IV-D, Table III and Figs. 3 and 4. */
typedef struct {
  stokes_shape shape; /* of its rows */
  int64_t remote;     /* rows of X that it fetches */
  int messages;       /* nodes that have them */
} stokes_share;

typedef struct {
  double latency;   /* of a message [s] */
  double bandwidth; /* into a node [B/s] */
} stokes_network;

/* Rows and their blocks. */
typedef struct {
  int64_t n;
  const int64_t *start; /* [n + 1] */
  int64_t alone;        /* blocks of each row that start does not count: 1 in pair storage */
} stokes_weights;

/* Node k has rows cut[k] ... cut[k + 1] - 1, which may be none; cut [nodes + 1].  Which node a row
 * belongs to. */
void stokes_model_cut(const stokes_weights *rows, int nodes, int64_t *cut);
int stokes_model_owner(const int64_t *cut, int nodes, int64_t row);

/* The shares of so many nodes [nodes]; bytes: of the whole matrix, as product_bytes of a shape.
 * Errors: MD_EINVAL (more nodes than rows), MD_ENOMEM. */
md_status stokes_model_shares(const stokes_blocks *blocks, double bytes, int nodes,
                              stokes_share *out);

/* The network between the ranks of comm/world.h as it is, each of which sends to the next one: the
 * time of 8 bytes, and the rate of 1 MB; of the slowest rank, the best of a few.  Called by all
 * ranks together.  Errors, of all: MD_ENOMEM. */
md_status stokes_network_measure(stokes_network *out);

/* Time of a product with m vectors [s]: that of the node that takes longest, fetching and then
 * multiplying;
 * *communication: which part of it fetching is. */
double stokes_model_nodes(const stokes_machine *machine, const stokes_network *network,
                          const stokes_share *shares, int nodes, int m, double *communication);

MD_END_C
#endif
