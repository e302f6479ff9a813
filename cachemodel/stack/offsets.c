/* cachemodel/stack/offsets.c - histogram of a stencil's memory offsets.  [AK] Figs. 6-9. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <stdlib.h>

md_status cachemodel_offsets(const cachemodel_sweep *sweep, int64_t **count, int64_t *span)
{
  *count = NULL;
  cachemodel_cells cells;
  MD_TRY(cachemodel_cells_create(sweep, &cells));
  *span = cells.n_cells - 1;
  const size_t bins = (size_t)(2 * *span + 1);
  *count = calloc(bins, sizeof **count);
  for (int64_t b = 0; *count && b < cells.n_centre; b++) {
    const uint32_t centre = cells.centre[b];
    int64_t *here = *count + *span - cells.table[centre];
    for (int64_t k = 0; k < cells.n_offset; k++)
      here[cells.table[(uint32_t)(centre + cells.offset[k])]]++;
  }
  cachemodel_cells_destroy(&cells);
  MD_REQUIRE(*count, MD_ENOMEM, "out of memory for %zu offsets", bins);
  return MD_OK;
}
