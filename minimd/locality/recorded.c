/* minimd/locality/recorded.c - see recorded.h.  Stack distances serve any number of fully
 * associative LRU caches in one pass; others, and misses by line, are simulated one by one. */
#include "minimd/locality/recorded.h"
#include "cachemodel/machine/hierarchy.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 1024, BATCH = 65536 };

typedef struct {
  const recorded_spec *spec;
  recorded_result *out;
  cachemodel_stack *stack; /* one of these three kinds is there */
  hierarchy_core *core;
  cachemodel_cache **caches; /* [spec->n_caches] */
  hierarchy_counts *parts;   /* of core, [n_parts] */
  trace_lines **numbers;     /* [n_numbers]: the stack's, the core's or each cache's */
  int n_numbers;
  int64_t room;   /* in out->lines */
  uint32_t *line; /* [BATCH] of a run; not on the stack, which a limit of memory may not let grow */
} study;

static bool is_lru(const cachemodel_level *l)
{
  return l->policy == CACHEMODEL_LRU && (l->ways == 0 || l->ways == l->capacity);
}

static bool wants_stack(const recorded_spec *spec)
{
  bool all = !spec->m && !spec->by_line;
  for (int k = 0; all && !spec->every && k < spec->n_caches; k++)
    all = is_lru(&spec->caches[k]);
  return all;
}

static int64_t sets_of(const cachemodel_level *l)
{
  return l->ways ? l->capacity / l->ways : 1;
}

static md_status create(study *s)
{
  const recorded_spec *spec = s->spec;
  recorded_result *out = s->out;
  const md_isa isa = md_isa_detect();
  const bool stack = wants_stack(spec);
  out->n_parts = spec->n_regions ? spec->n_regions + 2 : 1;
  out->n_caches = spec->m ? spec->m->n_levels : spec->n_caches;
  const int numbers = stack || spec->m ? 1 : spec->n_caches;
  const size_t rows = (size_t)(out->n_parts * (out->n_caches ? out->n_caches : 1));
  out->counts = calloc(rows, sizeof *out->counts);
  s->parts = calloc((size_t)out->n_parts, sizeof *s->parts);
  s->caches = calloc((size_t)spec->n_caches + 1, sizeof *s->caches);
  s->numbers = calloc((size_t)numbers, sizeof *s->numbers);
  s->line = malloc(BATCH * sizeof *s->line);
  MD_REQUIRE(out->counts && s->parts && s->caches && s->numbers && s->line, MD_ENOMEM,
             "out of memory for %zu rows", rows);
  if (stack) MD_TRY(cachemodel_stack_create(isa, &s->stack));
  if (spec->m) MD_TRY(hierarchy_core_create(isa, spec->m, &s->core));
  for (; s->n_numbers < numbers; s->n_numbers++) {
    const int k = s->n_numbers;
    const bool own = !stack && !spec->m;
    const int64_t group = own       ? sets_of(&spec->caches[k])
                          : spec->m ? hierarchy_core_group(spec->m)
                                    : 1;
    if (own)
      MD_TRY(
          cachemodel_cache_create(isa, 1, &spec->caches[k], CACHEMODEL_INCLUSIVE, &s->caches[k]));
    MD_TRY(trace_lines_create(spec->line_bytes, group, &s->numbers[k]));
  }
  return MD_OK;
}

static void destroy(study *s)
{
  cachemodel_stack_destroy(s->stack);
  hierarchy_core_destroy(s->core);
  for (int k = 0; s->caches && k < s->spec->n_caches; k++)
    cachemodel_cache_destroy(s->caches[k]);
  for (int k = 0; k < s->n_numbers; k++)
    trace_lines_destroy(s->numbers[k]);
  free(s->parts);
  free(s->caches);
  free(s->numbers);
  free(s->line);
}

/* The region of an address; the number of regions where it is in none. */
static int part_of(const recorded_spec *spec, uint64_t address)
{
  int k = 0;
  while (k < spec->n_regions &&
         (address < spec->regions[k].start || address >= spec->regions[k].end))
    k++;
  return k;
}

/* Lines of one numbering through what it belongs to; returns how many missed in the first cache. */
static md_status feed_lines(study *s, int k, int part, bool write, int64_t n, const uint32_t *line,
                            int64_t *missed)
{
  int64_t accesses[2], misses[2];
  if (s->stack) {
    MD_TRY(cachemodel_stack_count_in(s->stack, part));
    return cachemodel_stack_feed(s->stack, n, line);
  }
  if (s->core) {
    hierarchy_counts *c = &s->parts[part];
    const int64_t hits = c->level[0].hits;
    hierarchy_core_feed(s->core, n, line, write, c);
    *missed = n - (c->level[0].hits - hits);
    return MD_OK;
  }
  cachemodel_cache_counts(s->caches[k], 0, &accesses[0], &misses[0]);
  MD_TRY(cachemodel_cache_feed(s->caches[k], n, line));
  cachemodel_cache_counts(s->caches[k], 0, &accesses[1], &misses[1]);
  miss_count *to = &s->out->counts[part * s->out->n_caches + k];
  to->accesses += n;
  to->misses += *missed = misses[1] - misses[0];
  return MD_OK;
}

static md_status note_line(study *s, uint32_t number, uint64_t address, int part, int64_t missed)
{
  recorded_result *out = s->out;
  if (number >= s->room) {
    const int64_t room = 2 * (int64_t)number + 1024;
    recorded_line *lines = realloc(out->lines, (size_t)room * sizeof *lines);
    MD_REQUIRE(lines, MD_ENOMEM, "out of memory for %lld lines", (long long)room);
    memset(lines + s->room, 0, (size_t)(room - s->room) * sizeof *lines);
    out->lines = lines;
    s->room = room;
  }
  if (number >= out->n_lines) out->n_lines = number + 1;
  recorded_line *l = &out->lines[number];
  if (l->accesses == 0) *l = (recorded_line){.address = address, .part = part};
  l->accesses++;
  l->misses += missed;
  return MD_OK;
}

/* One access, line by line. */
static md_status feed_access(study *s, const trace_run *access, int part)
{
  const uint64_t size = (uint64_t)s->spec->line_bytes;
  int64_t from = 0, n;
  MD_TRY(trace_lines_of(s->numbers[0], access, &from, BATCH, s->line, &n));
  for (int64_t l = 0; l < n; l++) {
    const uint64_t address = (access->address / size + (uint64_t)l) * size;
    int64_t missed = 0;
    MD_TRY(feed_lines(s, 0, part, access->op != TRACE_READ, 1, &s->line[l], &missed));
    MD_TRY(note_line(s, s->line[l], address, part_of(s->spec, address), missed));
  }
  return MD_OK;
}

/* Accesses of one part. */
static md_status feed_run(study *s, const trace_run *run, int part)
{
  int64_t missed;
  for (int k = 0; k < s->n_numbers; k++) {
    int64_t from = 0, n = 1;
    while (n > 0) {
      MD_TRY(trace_lines_of(s->numbers[k], run, &from, BATCH, s->line, &n));
      if (n > 0) MD_TRY(feed_lines(s, k, part, run->op != TRACE_READ, n, s->line, &missed));
    }
  }
  return MD_OK;
}

static md_status split_run(study *s, const trace_run *run)
{
  const recorded_spec *spec = s->spec;
  if (!spec->by_line && spec->n_regions == 0) return feed_run(s, run, 0);
  trace_run one = *run;
  one.count = 1;
  for (int64_t k = 0; k < run->count; k++) {
    const int part = part_of(spec, one.address);
    MD_TRY(spec->by_line ? feed_access(s, &one, part) : feed_run(s, &one, part));
    one.address += (uint64_t)run->stride;
  }
  return MD_OK;
}

static md_status feed(study *s)
{
  trace_reader *reader;
  trace_run runs[RUNS];
  int64_t n = 1;
  MD_TRY(trace_reader_open(s->spec->path, &s->spec->how, &reader));
  md_status status = MD_OK;
  while (!status && n > 0) {
    status = trace_read(reader, RUNS, runs, &n);
    for (int64_t k = 0; !status && k < n; k++)
      status = split_run(s, &runs[k]);
  }
  s->out->format = trace_reader_format(reader);
  trace_reader_close(reader);
  return status;
}

/* Misses at the capacities asked for, of every part, from stack distances. */
static md_status count_stack(study *s)
{
  recorded_result *out = s->out;
  const int64_t distinct = cachemodel_stack_distinct(s->stack), most = distinct > 0 ? distinct : 1;
  if (s->spec->every) {
    free(out->counts);
    out->n_caches = distinct;
    out->counts = calloc((size_t)(out->n_parts * most), sizeof *out->counts);
  }
  int64_t *misses = calloc((size_t)most, sizeof *misses);
  md_status status = MD_OK;
  if (!misses || !out->counts)
    status = MD_FAIL(MD_ENOMEM, "out of memory for %lld capacities", (long long)most);
  for (int part = 0; !status && part < out->n_parts; part++) {
    status = cachemodel_stack_count_in(s->stack, part);
    if (!status) cachemodel_stack_misses(s->stack, most, misses);
    for (int64_t k = 0; !status && k < out->n_caches; k++) {
      const int64_t c = s->spec->every ? k + 1 : s->spec->caches[k].capacity;
      out->counts[part * out->n_caches + k] =
          (miss_count){c, cachemodel_stack_accesses(s->stack), misses[(c < most ? c : most) - 1]};
    }
  }
  free(misses);
  return status;
}

static void count_machine(study *s)
{
  recorded_result *out = s->out;
  for (int part = 0; part < out->n_parts; part++)
    for (int64_t k = 0; k < out->n_caches; k++) {
      const int64_t sectors = s->parts[part].level[k].sectors;
      out->counts[part * out->n_caches + k] =
          (miss_count){0, sectors, sectors - s->parts[part].level[k].hits};
    }
}

/* Capacities, and the sum over regions as the last part. */
static void complete(const recorded_spec *spec, recorded_result *out)
{
  const int last = out->n_parts - 1;
  for (int64_t k = 0; k < out->n_caches; k++) {
    miss_count *all = &out->counts[last * out->n_caches + k];
    const int64_t capacity = spec->m       ? spec->m->level[k].bytes / spec->m->level[k].line
                             : spec->every ? k + 1
                                           : spec->caches[k].capacity;
    for (int part = 0; part < last; part++) {
      miss_count *c = &out->counts[part * out->n_caches + k];
      c->capacity = capacity;
      all->accesses += c->accesses;
      all->misses += c->misses;
    }
    all->capacity = capacity;
  }
}

/* Most misses first, then by address; lines of a group that were not touched go last. */
static int compare_lines(const void *a, const void *b)
{
  const recorded_line *x = a, *y = b;
  if (x->misses != y->misses) return x->misses < y->misses ? 1 : -1;
  if ((x->accesses > 0) != (y->accesses > 0)) return x->accesses > 0 ? -1 : 1;
  return (x->address > y->address) - (x->address < y->address);
}

md_status recorded_study(const recorded_spec *spec, recorded_result *out)
{
  *out = (recorded_result){0};
  study s = {.spec = spec, .out = out};
  md_status status = create(&s);
  if (!status) status = feed(&s);
  if (!status && s.stack) status = count_stack(&s);
  if (!status && s.core) count_machine(&s);
  if (!status) complete(spec, out);
  if (!status && out->n_lines > 0) {
    qsort(out->lines, (size_t)out->n_lines, sizeof *out->lines, compare_lines);
    while (out->lines[out->n_lines - 1].accesses == 0)
      out->n_lines--;
  }
  destroy(&s);
  return status;
}

void recorded_free(recorded_result *result)
{
  free(result->counts);
  free(result->lines);
  *result = (recorded_result){0};
}
