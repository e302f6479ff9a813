/* tests/ref/ref_blocks.h - blocks of a matrix where a pattern has them. */
#ifndef REF_BLOCKS_H
#define REF_BLOCKS_H

#include "stokes/matrix/matrix.h"

/* Whether row i of n has a block in column j. */
typedef bool ref_pattern(int n, int i, int j);
ref_pattern ref_is_alone; /* its own column */
ref_pattern ref_is_full;
ref_pattern ref_is_curve;     /* near rows and one far away, round the end as well */
ref_pattern ref_is_one_sided; /* on one side only: who fetches rows need not send any */
/* Two rows have nearly all blocks, so that ranks in between have no rows; some rows are empty. */
ref_pattern ref_is_uneven;
ref_pattern ref_is_none;

/* Random blocks [n_blocks][3][3] of n rows in ascending columns; free with stokes_blocks_free. */
stokes_blocks ref_blocks(int n, ref_pattern *has);

#endif
