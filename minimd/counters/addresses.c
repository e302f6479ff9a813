/* minimd/counters/addresses.c - see addresses.h. */
#include "minimd/counters/addresses.h"
#include "minimd/counters/valgrind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile char marker;

/* TOUCHED: the first launch; WARM: the second; AFTER: what comes then. */
enum { WORDS = 4, BEFORE = 0, TOUCHED, WARM, AFTER };

/* How often each word of 8 bytes of each element was loaded and stored. */
typedef struct {
  list_kernel kernel;
  int64_t (*word[LIST_ARRAY_COUNT][2])[WORDS]; /* [count] */
  int64_t other;
} touches;

typedef struct {
  touches kernel; /* what it did */
  uint64_t marker;
  int phase;
  const machine *caches;
  hierarchy_core *core;
  trace_lines *lines;
  hierarchy_counts counts[2]; /* in arrays, in none; of the second launch */
} trace;

md_status addresses_launch(const engine *sim, int64_t launches)
{
  const list_input in = locality_input(sim);
  list_kernel kernel;
  MD_TRY(list_kernel_of(&in, &kernel));
  printf("\nmarker %llx\n", (unsigned long long)(uintptr_t)&marker);
  for (int a = 0; a < LIST_ARRAY_COUNT; a++)
    printf("array %d %llx %lld %d\n", a, (unsigned long long)kernel.array[a].base,
           (long long)kernel.array[a].count, (int)kernel.array[a].stride);
  fflush(stdout);
  neighbor_forget_lines(sim->list);
  md_status status = MD_OK;
  for (int64_t k = 0; !status && k < launches; k++) {
    marker = 1;
    status = force_compute(sim->fc, sim->atoms, sim->list, NULL);
  }
  marker = 1;
  return status;
}

/* --- Elements */

static void free_touches(touches *t)
{
  for (int a = 0; a < LIST_ARRAY_COUNT; a++)
    for (int store = 0; store < 2; store++)
      free(t->word[a][store]);
}

static md_status make_touches(const list_kernel *kernel, touches *out)
{
  *out = (touches){.kernel = *kernel};
  for (int a = 0; a < LIST_ARRAY_COUNT; a++)
    for (int store = 0; store < 2; store++) {
      out->word[a][store] = calloc((size_t)kernel->array[a].count + 1, sizeof(int64_t[WORDS]));
      MD_REQUIRE(out->word[a][store], MD_ENOMEM, "out of memory for %lld elements",
                 (long long)kernel->array[a].count);
    }
  return MD_OK;
}

/* Structures of four: of doubles a word each, of floats half a one, two in one load or more. */
static bool holds_fours(const list_array *array)
{
  return array->stride == WORDS * (int)sizeof(double) ||
         array->stride == WORDS * (int)sizeof(float);
}

static void touch(touches *t, int a, bool load, bool store, uint64_t from, uint64_t bytes)
{
  const list_array *array = &t->kernel.array[a];
  const uint64_t stride = (uint64_t)array->stride,
                 step = holds_fours(array) ? stride / WORDS : stride;
  for (uint64_t at = (from + step - 1) / step * step; at < from + bytes; at += step) {
    const uint64_t e = at / stride, w = at % stride / step;
    t->word[a][0][e][w] += load;
    t->word[a][1][e][w] += store;
  }
}

/* The array of an address; LIST_ARRAY_COUNT: none. */
static int array_of(const list_kernel *kernel, uint64_t address)
{
  int a = 0;
  while (a < LIST_ARRAY_COUNT && !(kernel->array[a].count > 0 && address >= kernel->array[a].base &&
                                   address < list_array_end(&kernel->array[a])))
    a++;
  return a;
}

static bool note(touches *t, bool load, bool store, uint64_t address, uint64_t bytes)
{
  const int a = array_of(&t->kernel, address);
  if (a < LIST_ARRAY_COUNT) touch(t, a, load, store, address - t->kernel.array[a].base, bytes);
  t->other += a == LIST_ARRAY_COUNT;
  return a < LIST_ARRAY_COUNT;
}

static int64_t touches_of(const touches *t, int a, int store, int64_t e)
{
  const int64_t *w = t->word[a][store][e];
  if (!holds_fours(&t->kernel.array[a])) return a == LIST_HOME ? w[0] : w[0] > 0;
  const int64_t least = w[0] < w[1] ? w[0] : w[1];
  return least < w[2] ? least : w[2];
}

static md_status note_request(void *to, const list_request *r)
{
  for (int32_t l = 0; l < r->lanes; l++)
    note(to, r->op != TRACE_WRITE, r->op != TRACE_READ, list_address(r, l), (uint64_t)r->bytes);
  return MD_OK;
}

static md_status compare(const touches *kernel, const touches *model, addresses_counts *out)
{
  for (int a = 0; a < LIST_ARRAY_COUNT; a++) {
    const list_array *has = &kernel->kernel.array[a], *expected = &model->kernel.array[a];
    MD_REQUIRE(has->count == expected->count && has->stride == expected->stride, MD_EINVAL,
               "the traced program has other arrays: %lld elements instead of %lld",
               (long long)has->count, (long long)expected->count);
    for (int64_t e = 0; e < expected->count; e++)
      for (int store = 0; store < 2; store++) {
        const int64_t touched = touches_of(kernel, a, store, e);
        const int64_t modelled = touches_of(model, a, store, e);
        out->touched += touched;
        out->modelled += modelled;
        out->differ += llabs(touched - modelled);
      }
  }
  return MD_OK;
}

/* --- The trace */

static md_status feed(trace *t, bool in_array, const trace_run *access)
{
  uint32_t line[4];
  int64_t from = 0, n;
  hierarchy_counts ignored = {0};
  MD_TRY(trace_lines_of(t->lines, access, &from, 4, line, &n));
  hierarchy_core_feed(t->core, n, line, access->op != TRACE_READ,
                      t->phase == WARM ? &t->counts[!in_array] : &ignored);
  return MD_OK;
}

/* A line of lackey's, ` L 1ffeffe4a8,8`. */
static md_status take_access(trace *t, const char *line)
{
  char kind, *end;
  if (line[0] != ' ' || !strchr("LSM", kind = line[1]) || line[2] != ' ') return MD_OK;
  const uint64_t address = strtoull(line + 3, &end, 16);
  const uint64_t bytes = *end == ',' ? strtoull(end + 1, NULL, 10) : 0;
  MD_REQUIRE(bytes > 0, MD_EINVAL, "not what lackey writes: '%s'", line);
  if (kind == 'S' && address == t->marker) {
    t->phase += t->phase < AFTER;
    return MD_OK;
  }
  if (t->phase == BEFORE || t->phase == AFTER) return MD_OK;
  const bool in_array = t->phase == TOUCHED
                            ? note(&t->kernel, kind != 'S', kind != 'L', address, bytes)
                            : array_of(&t->kernel.kernel, address) < LIST_ARRAY_COUNT;
  const trace_run access = {.op = kind == 'L' ? TRACE_READ : TRACE_WRITE,
                            .bytes = (int32_t)bytes,
                            .count = 1,
                            .address = address};
  return feed(t, in_array, &access);
}

static md_status take_line(void *to, const char *line)
{
  trace *t = to;
  int a, stride;
  unsigned long long base;
  long long count;
  if (line[0] == 'I') return MD_OK;
  if (line[0] == ' ') return t->marker ? take_access(t, line) : MD_OK;
  if (sscanf(line, "array %d %llx %lld %d", &a, &base, &count, &stride) == 4 && a >= 0 &&
      a < LIST_ARRAY_COUNT) {
    t->kernel.kernel.array[a] = (list_array){base, count, stride};
    if (a == LIST_ARRAY_COUNT - 1) {
      const list_kernel kernel = t->kernel.kernel;
      return make_touches(&kernel, &t->kernel);
    }
  } else if (sscanf(line, "marker %llx", &base) == 1) {
    t->marker = base;
  }
  return MD_OK;
}

static void summarise(const trace *t, addresses_counts *out)
{
  const int last = t->caches->n_levels - 1;
  out->other = t->kernel.other;
  for (int k = 0; k < 2; k++)
    for (int part = 0; part < 2; part++) {
      const int level = k == 0 ? 0 : last;
      const int64_t missed =
          t->counts[part].level[level].sectors - t->counts[part].level[level].hits;
      out->all[k] += missed;
      if (part == 0) out->in_arrays[k] = missed;
    }
}

static md_status model(const engine *sim, const trace *t, addresses_counts *out)
{
  const list_input in = locality_input(sim);
  list_kernel kernel;
  touches model = {.other = 0};
  MD_TRY(list_kernel_of(&in, &kernel));
  md_status status = make_touches(&kernel, &model);
  if (!status) status = list_run(&in, &kernel, kernel.n, note_request, &model);
  if (!status) status = compare(&t->kernel, &model, out);
  free_touches(&model);
  return status;
}

md_status addresses_run(const machine *caches, char *const *program, const engine *sim,
                        addresses_counts *out, char **missing)
{
  static const char *const lackey[] = {"--tool=lackey", "--trace-mem=yes", "--log-fd=1", NULL};
  trace t = {.caches = caches};
  *out = (addresses_counts){0};
  md_status status = hierarchy_core_create(md_isa_detect(), caches, &t.core);
  if (!status)
    status = trace_lines_create(caches->level[0].line, hierarchy_core_group(caches), &t.lines);
  if (!status) status = valgrind_run(lackey, program, take_line, &t, missing);
  if (!status && !*missing && !t.kernel.word[0][0])
    status = MD_FAIL(MD_EINVAL, "the traced program said nothing of its arrays");
  if (!status && !*missing) summarise(&t, out);
  if (!status && !*missing) status = model(sim, &t, out);
  free_touches(&t.kernel);
  trace_lines_destroy(t.lines);
  hierarchy_core_destroy(t.core);
  return status;
}
