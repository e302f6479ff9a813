/* cachemodel/machine/hierarchy_cpu.isa.c - the caches of one core (hierarchy.h).  Compiled once per
 * instruction set. */
#include "cachemodel/machine/hierarchy_cache.h"

typedef struct {
  hierarchy_core core; /* used where accesses are fed from outside */
  const machine *m;
  cache level[MACHINE_LEVELS_MOST];
  hierarchy_counts *counts;
  int line_shift;
} model;

/* A line that level k had to give up is written to the next, or to memory. */
static void write_back(model *c, int k, cache_answer gone)
{
  for (k++; gone.dirty && k < c->m->n_levels; k++)
    gone = cache_access(&c->level[k], gone.line, 1, CACHE_WRITE, gone.owner);
  if (gone.dirty) c->counts[gone.owner].memory_written++;
}

static void touch(model *c, uint32_t line, bool write, uint8_t stream)
{
  hierarchy_counts *counts = &c->counts[stream];
  for (int k = 0; k < c->m->n_levels; k++) {
    const cache_op op = write && k == 0 ? CACHE_WRITE : CACHE_READ;
    const cache_answer a = cache_access(&c->level[k], line, 1, op, stream);
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
      touch(c, line, r->op != TRACE_READ, (uint8_t)r->stream);
  }
  return MD_OK;
}

static void destroy_levels(model *c)
{
  for (int k = 0; k < c->m->n_levels; k++)
    cache_destroy(&c->level[k]);
}

static md_status create_levels(model *c)
{
  md_status status = MD_OK;
  for (int k = 0; !status && k < c->m->n_levels; k++)
    status = cache_create(&c->m->level[k], false, &c->level[k]);
  return status;
}

md_status ISA(hierarchy_cpu)(const hierarchy_job *job, hierarchy_result *cold,
                             hierarchy_result *warm)
{
  const machine *m = &job->m;
  model c = {.m = m, .line_shift = __builtin_ctz((unsigned)m->level[0].line)};
  hierarchy_result *const results[] = {cold, warm};
  md_status status = create_levels(&c);
  for (int time = 0; !status && time < 2 && results[time]; time++) {
    list_kernel kernel = job->kernel;
    list_pass *pass = &kernel.pass;
    c.counts = results[time]->stream;
    for (*pass = list_first_pass(&kernel); !status && *pass <= LIST_PASS_FORCES; ++*pass) {
      status = list_run_pass(job->in, &kernel, cold->rows, request, &c);
      if (*pass == LIST_PASS_DENSITIES)
        memcpy(results[time]->density, c.counts, sizeof results[time]->density);
    }
  }
  destroy_levels(&c);
  return status;
}

static void core_destroy(hierarchy_core *core)
{
  destroy_levels((model *)core);
  free(core);
}

static void core_feed(hierarchy_core *core, int64_t n, const uint32_t *line, bool write,
                      hierarchy_counts *counts)
{
  model *c = (model *)core;
  c->counts = counts;
  counts->lines += n;
  for (int64_t k = 0; k < n; k++)
    touch(c, line[k], write, 0);
}

md_status ISA(hierarchy_core_make)(const machine *m, hierarchy_core **out)
{
  model *c = calloc(1, sizeof *c);
  MD_REQUIRE(c, MD_ENOMEM, "out of memory for a model of %s", m->name);
  *c = (model){.core = {core_feed, core_destroy}, .m = m};
  const md_status status = create_levels(c);
  if (status)
    core_destroy(&c->core);
  else
    *out = &c->core;
  return status;
}
