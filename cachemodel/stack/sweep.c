/* cachemodel/stack/sweep.c - the lines that a stencil sweep accesses, in batches.  [AK] Algorithm
 * 1. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <stdlib.h>

enum { CENTRES_AHEAD = 8 };

struct cachemodel_trace {
  cachemodel_cells cells; /* table holds lines, not indices */
  uint32_t reach;         /* the stencil's greatest offset */
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
  for (int64_t k = 0; k < cells->n_offset; k++)
    if (cells->offset[k] <= INT32_MAX && cells->offset[k] > trace->reach)
      trace->reach = cells->offset[k];
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

/* Where the order jumps, the table is read at random: each row of the stencil is prefetched. */
static void prefetch(const cachemodel_trace *trace)
{
  const cachemodel_cells *cells = &trace->cells;
  const int64_t ahead = trace->at + CENTRES_AHEAD;
  if (ahead >= cells->n_centre) return;
  const uint32_t centre = cells->centre[ahead], *offset = cells->offset;
  if (centre - cells->centre[ahead - 1] + trace->reach <= 2 * trace->reach) return;
  for (int64_t k = 0; k < cells->n_offset; k++)
    if (k == 0 || offset[k] != offset[k - 1] + 1)
      __builtin_prefetch(&cells->table[(uint32_t)(centre + offset[k])]);
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
    if (trace->k == 0) prefetch(trace);
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
