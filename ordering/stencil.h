/* ordering/stencil.h - the neighbourhood of a cell in a grid.  [AK] section 3.1.
 *
 *   block   (2g+1)^3 cells
 *   sphere  cells of which some point is nearer than g to some point of the centre cell:
 *             sum over axes of max(|d| - 1, 0)^2 < g^2
 *   half    the centre and one of each pair of opposite cells: dk > 0, or dk = 0 and dj > 0, or
 *             dk = dj = 0 and di > 0; all stencils are symmetric */
#ifndef ORDERING_STENCIL_H
#define ORDERING_STENCIL_H

#include "core/md.h"

MD_BEGIN_C

#define ORDERING_STENCILS(X) X(BLOCK, "block") X(SPHERE, "sphere")
#define MD_ENUM_(name, word) ORDERING_STENCIL_##name,
typedef enum { ORDERING_STENCILS(MD_ENUM_) ORDERING_STENCIL_COUNT } ordering_stencil_kind;
#undef MD_ENUM_
extern const char *const ordering_stencil_words[ORDERING_STENCIL_COUNT];

enum { ORDERING_STENCIL_MAX = 10000 };

typedef struct {
  ordering_stencil_kind kind;
  int32_t g; /* reach in cells, 1..ORDERING_STENCIL_MAX */
} ordering_stencil;

/* Read `block:1` or `sphere:3`, and write it; text holds 32 bytes.  Errors: MD_EINVAL. */
md_status ordering_stencil_parse(const char *text, ordering_stencil *out);
void ordering_stencil_format(const ordering_stencil *stencil, char *text);

/* Number of cells ([AK] Eq. 6 for spheres), centre included; of the half, (bins + 1) / 2. */
int64_t ordering_stencil_bins(const ordering_stencil *stencil);

/* 100 (1 - 4 pi g^3 / (3 bins)): how much more the stencil holds than a sphere of radius g. */
double ordering_stencil_deviation(const ordering_stencil *stencil);

/* All offsets (di, dj, dk), di outermost, each ascending; free(*offsets).  Errors: MD_ENOMEM. */
md_status ordering_stencil_offsets(const ordering_stencil *stencil, bool half,
                                   int32_t (**offsets)[3], int64_t *n);

MD_END_C
#endif
