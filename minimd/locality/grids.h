/* minimd/locality/grids.h - option values that describe grids, for `ordering` and `cachemodel`. */
#ifndef GRIDS_H
#define GRIDS_H

#include "minimd/shell/options.h"
#include "ordering/ordering.h"
#include "ordering/stencil.h"

MD_BEGIN_C

/* --order LIST; the words as they were given and what they mean.  Errors: MD_EINVAL, MD_ENOMEM. */
typedef struct {
  char **words;
  ordering *orders;
  int n;
} grid_orders;
md_status grid_orders_read(const options *opts, int index, grid_orders *out);
void grid_orders_free(grid_orders *list);

/* --size M[,N,P]: one number is a cube.  Errors: MD_EINVAL. */
md_status grid_size_read(const options *opts, int index, int32_t n[3]);

/* --stencil S.  Errors: MD_EINVAL. */
md_status grid_stencil_read(const options *opts, int index, ordering_stencil *out);

/* The option was given, or MD_EINVAL that says what for. */
md_status grid_require(const options *opts, int index, const char *why);

MD_END_C
#endif
