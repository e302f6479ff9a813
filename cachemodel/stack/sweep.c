/* cachemodel/stack/sweep.c - the lines that a stencil sweep accesses, in batches.  [AK] Algorithm
 * 1. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <stdlib.h>

struct cachemodel_trace {
  cachemodel_cells cells; /* table holds lines, not indices */
  int64_t at, k;          /* next: offset k of centre number at */
};

md_status cachemodel_trace_create(const cachemodel_sweep *sweep, cachemodel_trace **out)
{
  *out = NULL;
  cachemodel_trace *trace = calloc(1, sizeof *trace);
  MD_REQUIRE(trace, MD_ENOMEM, "out of memory for a trace");
  const md_status status = cachemodel_cells_create(sweep, &trace->cells);
  if (status) {
    free(trace);
    return status;
  }
  const cachemodel_cells *cells = &trace->cells;
  if (sweep->line < cells->n_cells) {
    const uint32_t line = (uint32_t)sweep->line;
    for (int64_t c = 0; c < cells->n_cells; c++)
      cells->table[c] /= line;
  } else {
    for (int64_t c = 0; c < cells->n_cells; c++)
      cells->table[c] = 0;
  }
  *out = trace;
  return MD_OK;
}

void cachemodel_trace_destroy(cachemodel_trace *trace)
{
  if (!trace) return;
  cachemodel_cells_destroy(&trace->cells);
  free(trace);
}

void cachemodel_trace_rewind(cachemodel_trace *trace)
{
  trace->at = trace->k = 0;
}

int64_t cachemodel_trace_next(cachemodel_trace *trace, int64_t room, uint32_t *line)
{
  const cachemodel_cells *cells = &trace->cells;
  int64_t made = 0;
  while (made < room && trace->at < cells->n_centre) {
    const uint32_t centre = cells->centre[trace->at];
    const uint32_t *offset = cells->offset + trace->k;
    const int64_t left = cells->n_offset - trace->k;
    const int64_t count = left < room - made ? left : room - made;
    for (int64_t k = 0; k < count; k++)
      line[made + k] = cells->table[(uint32_t)(centre + offset[k])];
    made += count;
    trace->k += count;
    if (trace->k == cells->n_offset) {
      trace->k = 0;
      trace->at++;
    }
  }
  return made;
}
