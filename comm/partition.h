/* comm/partition.h - which rank owns which part of the box, and who needs what of it?
 *
 * The box is a grid of cells, each at least half a reach long, or a frame (core/atoms.h): a cell
 * lies in one frame, so that what an atom's cell says of ghosts is true of frames too.  A box that
 * is not divided is one frame.  A table says for each cell which rank owns it; three ways make the
 * table, and nothing else depends on the way:
 *
 *   curve      a curve through all cells is cut where ranks have equal weight: the cells are its
 *              segments, whose number does not depend on that of ranks, and a rank owns a range
 *   bricks     px * py * pz equal boxes, such that boxes with their ghosts are small
 *   bisection  boxes cut in two, again and again, where both sides have their share of the weight
 *   auto       of curve and bricks the one whose heaviest rank, ghosts included, has less
 *
 * A cell's weight is the number of its atoms. */
#ifndef PARTITION_H
#define PARTITION_H

#include "core/atoms.h"
#include "ordering/ordering.h"

#include <math.h>

MD_BEGIN_C

#define PARTITION_CUTS(X)                                                                          \
  X(AUTO, "auto") X(CURVE, "curve") X(BRICKS, "bricks") X(BISECTION, "bisection")
#define MD_ENUM_(name, word) PARTITION_##name,
typedef enum { PARTITION_CUTS(MD_ENUM_) PARTITION_CUT_COUNT } partition_cut;
#undef MD_ENUM_
extern const char *const partition_cut_words[PARTITION_CUT_COUNT];

/* Cell (i, j, k) has the row-major number (i * n[1] + j) * n[2] + k. */
typedef struct {
  int ranks;
  int32_t n[3], frames[3], in_frame[3]; /* cells of the box = frames * cells of a frame */
  int32_t bricks[3];                    /* along each axis */
  int64_t cells;
  double lo[3], side[3], inv_side[3]; /* of a frame's corner, of a cell [length]; 1 / side */
  int32_t *owner;                     /* [cells] */
} partition;

/* A grid for ghosts that reach so far, in a box of so many frames like this one; rank 0 owns all.
 * *out is NULL on failure; free with partition_destroy (NULL is allowed).
 * Errors: MD_ECAPACITY (2^31 cells or more), MD_ENOMEM. */
md_status partition_create(const md_box *frame, const int32_t frames[3], double reach, int ranks,
                           partition **out);
void partition_destroy(partition *p);

/* The cell that x lies in, with the image that tells its frame, which is not read in a box of one;
 * what lies outside of the frame belongs to the outermost. */
MD_INLINE void partition_place(const partition *p, const double x[3], const int32_t *image,
                               int32_t at[3])
{
  for (int d = 0; d < 3; d++) {
    const double steps = fmax(0.0, (x[d] - p->lo[d]) * p->inv_side[d]);
    at[d] = (int32_t)fmin(steps, p->in_frame[d] - 1.0);
    if (p->frames[d] > 1) at[d] += md_frames_of(image[d], p->frames[d]) * p->in_frame[d];
  }
}
MD_INLINE int64_t partition_cell(const partition *p, const double x[3], const int32_t *image)
{
  int32_t at[3];
  partition_place(p, x, image, at);
  return ((int64_t)at[0] * p->n[1] + at[1]) * p->n[2] + at[2];
}

/* Cut anew.  weight [cells] >= 0; where their sum is 0 all are alike.  cut is not AUTO.  order: of
 * the curve; one that is not compact, or that would jump in this grid, is replaced by a generalised
 * Hilbert curve.  Every rank that calls it with the same arguments makes the same table.
 * Errors: those of ordering_index, MD_ENOMEM; the table is then as it was. */
md_status partition_make(partition *p, md_ctx *ctx, partition_cut cut, const ordering *order,
                         const int64_t *weight);

/* A rank, and the shift of an image, in frame edges (md_shift_pack). */
typedef struct {
  int32_t rank, shift;
} partition_target;

/* What a rank owns, and to whom images of its atoms go: an atom of cell c of the bounding box n of
 * its cells, row-major, goes to target[to[e]] for first[c] <= e < first[c + 1].  The rank itself is
 * a target where it sees images of its own atoms, periodic ones or in other frames. */
typedef struct {
  int32_t lo[3], n[3]; /* first cell of that box, and cells along each axis; n = 0: owns nothing */
  int64_t *first;
  int32_t *to;
  partition_target *target; /* [n_targets], by rank, then by shift */
  int32_t n_targets;
} partition_halo;

/* The number of a rank's cell in that box. */
MD_INLINE int64_t partition_halo_place(const partition_halo *halo, const int32_t at[3])
{
  const int64_t i = at[0] - halo->lo[0], j = at[1] - halo->lo[1], k = at[2] - halo->lo[2];
  return (i * halo->n[1] + j) * halo->n[2] + k;
}
MD_INLINE int64_t partition_halo_cell(const partition *p, const partition_halo *halo, int64_t cell)
{
  const int32_t at[3] = {(int32_t)(cell / p->n[2] / p->n[1]), (int32_t)(cell / p->n[2] % p->n[1]),
                         (int32_t)(cell % p->n[2])};
  return partition_halo_place(halo, at);
}

/* Images that come within `reach` of a cell of their target.  Every image of an atom that lies
 * within `reach` of an atom of another cell's owner, or of an image of one, is among them.  free
 * with partition_halo_free.  Errors: MD_ENOMEM; *out is then empty. */
md_status partition_halo_make(const partition *p, int rank, double reach, partition_halo *out);
void partition_halo_free(partition_halo *halo);

/* Atoms that a rank owns, images of them that it sends, its own ones counted, and ranks that it
 * sends to. */
typedef struct {
  int64_t atoms, images, neighbors;
} partition_load;
partition_load partition_weigh(const partition *p, int rank, const partition_halo *halo,
                               const int64_t *weight);

MD_END_C
#endif
