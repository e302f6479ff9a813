/* cachemodel/machine/hierarchy_cpu.isa.c - the caches of one core (hierarchy.h).  Compiled once per
 * instruction set. */
#include "cachemodel/machine/hierarchy_cache.h"

typedef struct {
  const machine *m;
  cache level[MACHINE_LEVELS_MOST];
  hierarchy_counts *counts;
  int line_shift;
} model;

/* A line that level k had to give up is written to the next, or to memory. */
static void write_back(model *c, int k, cache_answer gone)
{
  for (k++; gone.dirty && k < c->m->n_levels; k++)
    gone = cache_access(&c->level[k], gone.line, 1, true, true, gone.owner);
  if (gone.dirty) c->counts[gone.owner].memory_written++;
}

static void touch(model *c, uint32_t line, const list_request *r)
{
  hierarchy_counts *counts = &c->counts[r->stream];
  const bool write = r->op != TRACE_READ;
  for (int k = 0; k < c->m->n_levels; k++) {
    const cache_answer a =
        cache_access(&c->level[k], line, 1, true, write && k == 0, (uint8_t)r->stream);
    counts->level[k].sectors++;
    counts->level[k].hits += a.hits;
    write_back(c, k, a);
    if (a.hits) return;
  }
  counts->memory_read++;
}

static md_status request(void *to, const list_request *r)
{
  model *c = to;
  hierarchy_counts *counts = &c->counts[r->stream];
  for (int32_t l = 0; l < r->lanes; l++) {
    const uint64_t address = list_address(r, l);
    const uint32_t first = (uint32_t)(address >> c->line_shift);
    const uint32_t last = (uint32_t)((address + (uint64_t)r->bytes - 1) >> c->line_shift);
    counts->requests++;
    counts->lanes++;
    counts->lines += last - first + 1;
    counts->sectors += last - first + 1;
    for (uint32_t line = first; line <= last; line++)
      touch(c, line, r);
  }
  return MD_OK;
}

md_status ISA(hierarchy_cpu)(const hierarchy_job *job, hierarchy_result *cold,
                             hierarchy_result *warm)
{
  const machine *m = &job->m;
  model c = {.m = m, .line_shift = __builtin_ctz((unsigned)m->level[0].line)};
  hierarchy_result *const results[] = {cold, warm};
  md_status status = MD_OK;
  for (int k = 0; !status && k < m->n_levels; k++)
    status = cache_create(&m->level[k], false, &c.level[k]);
  for (int pass = 0; !status && pass < 2 && results[pass]; pass++) {
    c.counts = results[pass]->stream;
    status = list_run(job->in, &job->kernel, cold->rows, request, &c);
  }
  for (int k = 0; k < m->n_levels; k++)
    cache_destroy(&c.level[k]);
  return status;
}
