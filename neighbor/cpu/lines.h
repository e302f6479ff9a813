/* neighbor/cpu/lines.h - the cache lines of coordinates that forces of a list should prefetch. */
#ifndef LINES_H
#define LINES_H

#include "neighbor/cpu/bin_tiles.h"

MD_BEGIN_C

/* Fill line and line_start of a view whose slices hold the rows of windows, from the tiles of those
 * rows.  Errors: MD_ENOMEM. */
enum { LINES_WINDOW = 64 };
md_status lines_find(neighbor_list *list, const tiling *ts);

MD_END_C
#endif
