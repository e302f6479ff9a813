/* neighbor/cpu/bin_order.h - the atoms and ghosts of a bin in an order of their own. */
#ifndef BIN_ORDER_H
#define BIN_ORDER_H

#include "neighbor/neighbor_impl.h"

MD_BEGIN_C

/* Order list->place within each bin by id, images of one atom by shift: what then depends on the
 * order of bins depends on no order of atoms.  Needs atoms->ghost_id. */
void bins_by_id(neighbor_list *list, const md_atoms *atoms, int64_t bins);

MD_END_C
#endif
