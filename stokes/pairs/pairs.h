/* stokes/pairs/pairs.h - which spheres are near each other?
 *
 * A row for each sphere i: every j != i with r < scale (a_i + a_j) + skin, ascending.  Both (i, j)
 * and (j, i) are listed.  Distances are to the nearest image; the box must be wide enough that only
 * one image of a sphere can be in reach.  The skin lets a list serve while spheres move. */
#ifndef STOKES_PAIRS_H
#define STOKES_PAIRS_H

#include "core/buffer.h"

MD_BEGIN_C

/* Spheres on a context's backend. */
typedef struct {
  int64_t n;
  double box[3];
  const double *x; /* [n][4]: centre (anywhere) and radius */
} stokes_view;

typedef struct {
  int64_t n, n_entries;
  const int64_t *start;    /* [n + 1] */
  const int32_t *neighbor; /* [n_entries] */
  /* How the list was made, of these spheres in this box; built is NULL where nobody says. */
  double scale, skin, box[3];
  const double *built; /* [n][4] */
} stokes_pair_view;

typedef struct stokes_pairs stokes_pairs;

/* An empty list.  *out is NULL on failure; free with stokes_pairs_destroy.
 * Errors: MD_EINVAL (scale <= 0 or skin < 0), MD_ENOMEM. */
md_status stokes_pairs_create(md_ctx *ctx, double scale, double skin, stokes_pairs **out);
void stokes_pairs_destroy(stokes_pairs *pairs); /* NULL is allowed */

/* Lists are built in memory of this buffer of the same context from now on: it may grow, what is in
 * it is lost in an update, and it must outlive the list. */
void stokes_pairs_lend(stokes_pairs *pairs, md_buffer *space);

/* Make the list hold for these spheres, and for as long as none moves farther than `ahead` from
 * here: it is built anew when it could miss a pair with r < scale (a_i + a_j) by then.  Errors:
 * MD_EINVAL (the box is too small: names the edge and the least that does; a coordinate is not
 * finite), MD_ENOMEM, MD_ECUDA. */
md_status stokes_pairs_update(stokes_pairs *pairs, const stokes_view *spheres, double ahead);

/* Valid until the next update; arrays on the context's backend. */
stokes_pair_view stokes_pairs_view(const stokes_pairs *pairs);
/* The spheres [n][4] from which the list was built last, to the host: an update with them makes the
 * same list again.  Errors: MD_ECUDA. */
md_status stokes_pairs_built(const stokes_pairs *pairs, double *x);
int64_t stokes_pairs_builds(const stokes_pairs *pairs); /* how often it was built */

MD_END_C
#endif
