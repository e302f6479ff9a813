/* cachemodel/machine/hierarchy.c - options, checks, sums; picks the model. */
#include "cachemodel/machine/hierarchy_impl.h"

#include <string.h>

#define WORD(name, word, ...) word,
const char *const hierarchy_schedule_words[HIERARCHY_SCHEDULE_COUNT] = {HIERARCHY_SCHEDULES(WORD)};
const char *const hierarchy_refill_words[HIERARCHY_REFILL_COUNT] = {HIERARCHY_REFILLS(WORD)};
#undef WORD

enum { BLOCK_SIZE = 256 };

static hierarchy_fn *const gpu[MD_ISA_COUNT] = SIMD_ROW(hierarchy_gpu);
static hierarchy_fn *const cpu[MD_ISA_COUNT] = SIMD_ROW(hierarchy_cpu);

static hierarchy_core_fn *const cores[MD_ISA_COUNT] = SIMD_ROW(hierarchy_core_make);

hierarchy_options hierarchy_default(void)
{
  return (hierarchy_options){
      .schedule = HIERARCHY_ROUND, .skip = 15, .stay = 40, .refill = HIERARCHY_DYNAMIC};
}

static md_status check_size(const list_kernel *kernel, const machine *m)
{
  uint64_t end = 0;
  for (int k = 0; k < LIST_ARRAY_COUNT; k++) {
    const uint64_t last = list_array_end(&kernel->array[k]);
    end = last > end ? last : end;
  }
  MD_REQUIRE(end / (uint64_t)m->level[0].line < UINT32_MAX, MD_ECAPACITY,
             "the arrays of the force kernel take %.3g bytes: the model has room for 2^32 lines of "
             "%d bytes",
             (double)end, m->level[0].line);
  return MD_OK;
}

static md_status fill_gpu(const hierarchy_job *job, hierarchy_result *result)
{
  const hierarchy_options *o = &job->opts;
  result->block_size = o->block_size ? o->block_size : BLOCK_SIZE;
  result->registers = o->registers ? o->registers : job->kernel.registers;
  MD_REQUIRE(result->block_size >= LIST_WARP && result->block_size % LIST_WARP == 0, MD_EINVAL,
             "a block of %d threads: expected a multiple of %d", result->block_size, LIST_WARP);
  result->resident_warps = machine_resident_warps(&job->m, result->block_size, result->registers);
  MD_REQUIRE(result->resident_warps > 0, MD_EINVAL,
             "a block of %d threads with %d registers each does not fit a multiprocessor of %s",
             result->block_size, result->registers, job->m.name);
  return MD_OK;
}

md_status hierarchy_run(const list_input *in, const list_kernel *kernel, const machine *m,
                        const hierarchy_options *opts, hierarchy_result *cold,
                        hierarchy_result *warm)
{
  hierarchy_job job = {in, *kernel, *m, *opts};
  const bool is_gpu = m->kind == MACHINE_GPU;
  MD_REQUIRE(kernel->gpu == is_gpu, MD_EINVAL, "the force kernel of a %s does not run on %s, a %s",
             machine_kind_words[kernel->gpu ? MACHINE_GPU : MACHINE_CPU], m->name,
             machine_kind_words[m->kind]);
  list_kernel_compact(&job.kernel);
  MD_TRY(check_size(&job.kernel, m));
  *cold = (hierarchy_result){0};
  cold->rows = opts->rows > 0 && opts->rows < kernel->n ? opts->rows : kernel->n;
  if (is_gpu) MD_TRY(fill_gpu(&job, cold));
  if (warm) *warm = *cold;
  return (is_gpu ? gpu : cpu)[in->atoms->ctx->isa](&job, cold, warm);
}

md_status hierarchy_core_create(md_isa isa, const machine *m, hierarchy_core **out)
{
  *out = NULL;
  MD_REQUIRE(m->kind == MACHINE_CPU, MD_EINVAL,
             "%s is a GPU, whose caches depend on warps, which single accesses do not have: "
             "expected a CPU",
             m->name);
  return cores[isa](m, out);
}

void hierarchy_core_destroy(hierarchy_core *core)
{
  if (core) core->destroy(core);
}

void hierarchy_core_feed(hierarchy_core *core, int64_t n, const uint32_t *line, bool write,
                         hierarchy_counts *counts)
{
  core->feed(core, n, line, write, counts);
}

int64_t hierarchy_core_group(const machine *m)
{
  int64_t all = 1;
  for (int k = 0; k < m->n_levels; k++) {
    const machine_level *l = &m->level[k];
    const int64_t sets = l->bytes / l->line / l->ways;
    int64_t a = all, b = sets;
    while (b) {
      const int64_t rest = a % b;
      a = b;
      b = rest;
    }
    all = all / a * sets;
  }
  return all;
}

hierarchy_counts hierarchy_total(const hierarchy_result *result)
{
  hierarchy_counts sum = {0};
  for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
    const hierarchy_counts *c = &result->stream[s];
    sum.requests += c->requests;
    sum.lanes += c->lanes;
    sum.lines += c->lines;
    sum.sectors += c->sectors;
    sum.memory_read += c->memory_read;
    sum.memory_written += c->memory_written;
    for (int k = 0; k < MACHINE_LEVELS_MOST; k++) {
      sum.level[k].sectors += c->level[k].sectors;
      sum.level[k].hits += c->level[k].hits;
    }
  }
  return sum;
}
