/* neighbor/cpu/chunks.h - what each chunk of a half list owns. */
#ifndef CHUNKS_H
#define CHUNKS_H

#include "neighbor/neighbor_impl.h"

MD_BEGIN_C

/* Set chunk and n_chunks of a view of n > 0 rows: whole windows (lines.h), one chunk a thread, or
 * in a deterministic context a number that depends on n alone.  Errors: MD_ENOMEM. */
md_status chunks_of_rows(neighbor_list *list, int64_t n);

/* Set ghost and ghost_start, given the chunks and row_of; list->key, which bins were sorted by, is
 * overwritten.  Errors: MD_ENOMEM. */
md_status chunks_of_ghosts(neighbor_list *list, const md_atoms *atoms);

MD_END_C
#endif
