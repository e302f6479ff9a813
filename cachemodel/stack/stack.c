/* cachemodel/stack/stack.c - LRU stack distances of a whole trace in one pass.
 *
 * The stack's 64 most recent lines are the front (front.isa.c).  The lines below it have slots in
 * the order in which they left the front (depths.isa.c).  While most accesses miss in the front it
 * is left out: its lines have slots, too, and thousands of accesses are counted at once
 * (batch.isa.c).  Memory: about 30 B a distinct line, 40 B after 2^24 accesses; 0.2 MB for
 * batches. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <stdlib.h>
#include <string.h>

/* A batch passes over all slots, and each of its parts over the batch: together they cost least
 * where the square of a batch is about so many times the lines. */
enum { BATCH_SQUARE = 256 };

/* What was counted of a class while another is counted. */
typedef struct {
  int64_t accesses, hits[FRONT_LINES];
  cachemodel_distances distances;
} class_counts;

struct cachemodel_stack {
  cachemodel_unique_fn *unique;
  cachemodel_front_fn *feed;
  cachemodel_depths_fn *pass;
  cachemodel_batch_fn *pass_batch;
  cachemodel_front front; /* without lines while the stack is slots alone */
  cachemodel_depths below;
  bool slots_alone;
  cachemodel_batch *batch; /* once slots were alone */
  int64_t accesses;
  class_counts *classes; /* [n_classes] */
  int n_classes, class;
  cachemodel_event events[TRACE_BATCH];
};

static cachemodel_unique_fn *const uniques[MD_ISA_COUNT] = SIMD_ROW(cachemodel_unique);
static cachemodel_front_fn *const fronts[MD_ISA_COUNT] = SIMD_ROW(cachemodel_front_feed);
static cachemodel_depths_fn *const passes[MD_ISA_COUNT] = SIMD_ROW(cachemodel_depths_pass);
static cachemodel_batch_fn *const batch_passes[MD_ISA_COUNT] = SIMD_ROW(cachemodel_batch_pass);

md_status cachemodel_stack_create(md_isa isa, cachemodel_stack **out)
{
  *out = aligned_alloc(64, (sizeof **out + 63) / 64 * 64);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for an LRU stack");
  memset(*out, 0, sizeof **out);
  (*out)->unique = uniques[isa];
  (*out)->feed = fronts[isa];
  (*out)->pass = passes[isa];
  (*out)->pass_batch = batch_passes[isa];
  for (int k = 0; k < FRONT_LINES; k++)
    (*out)->front.line[k] = NO_LINE;
  return MD_OK;
}

void cachemodel_stack_destroy(cachemodel_stack *s)
{
  if (!s) return;
  cachemodel_depths_free(&s->below);
  free(s->batch);
  for (int k = 0; k < s->n_classes; k++)
    if (k != s->class) cachemodel_distances_free(&s->classes[k].distances);
  free(s->classes);
  free(s);
}

/* The next slot is the first of a word. */
static void skip_to_word(cachemodel_depths *d)
{
  d->used = (d->used + WORD_SLOTS - 1) / WORD_SLOTS * WORD_SLOTS;
}

static md_status make_batch(cachemodel_stack *s)
{
  const size_t ranks = sizeof s->batch->rank / sizeof *s->batch->rank;
  s->batch = aligned_alloc(64, sizeof *s->batch);
  MD_REQUIRE(s->batch, MD_ENOMEM, "out of memory for an LRU stack");
  for (size_t k = 0; k < ranks; k++)
    s->batch->rank[k] = INT16_MAX;
  return MD_OK;
}

/* The lines of the front, which is full after so many misses, get slots.  All have been events, so
 * that slot_of has room for them. */
static md_status leave_front(cachemodel_stack *s)
{
  if (!s->batch) MD_TRY(make_batch(s));
  MD_TRY(cachemodel_depths_reserve(&s->below, 0, FRONT_LINES + WORD_SLOTS));
  for (int k = FRONT_LINES - 1; k >= 0; k--) {
    depths_push(&s->below, s->front.line[k]);
    s->front.line[k] = NO_LINE;
  }
  skip_to_word(&s->below);
  s->slots_alone = true;
  return MD_OK;
}

/* The most recent lines leave the last slots for the front. */
static void enter_front(cachemodel_stack *s)
{
  cachemodel_depths *d = &s->below;
  for (int k = 0; k < FRONT_LINES && d->lines > 0;) {
    const int64_t slot = --d->used;
    const uint64_t bit = (uint64_t)1 << slot % WORD_SLOTS;
    if (!(d->word[slot / WORD_SLOTS].occupied & bit)) continue;
    d->word[slot / WORD_SLOTS].occupied -= bit;
    d->lines--;
    s->front.line[k++] = d->owner[slot];
  }
  cachemodel_depths_recount(d);
  s->slots_alone = false;
}

/* Most of n accesses missed in the front. */
static bool misses_most(int64_t missed, int n)
{
  return n >= TRACE_BATCH && missed > n / 2;
}

static md_status feed_front(cachemodel_stack *s, int n, const uint32_t *line)
{
  uint32_t unique[TRACE_BATCH + 16];
  int64_t bound = 0;
  const int left = s->unique(s->front.line[0], n, line, unique);
  const int missed = s->feed(&s->front, left, unique, s->events);
  s->front.hits[0] += n - left;
  for (int e = 0; e < missed; e++)
    if (s->events[e].line >= bound) bound = (int64_t)s->events[e].line + 1;
  MD_TRY(cachemodel_depths_reserve(&s->below, bound, missed));
  s->pass(&s->below, missed, s->events);
  return misses_most(missed, n) ? leave_front(s) : MD_OK;
}

/* Accesses since recent distances were last added to totals that the front would have served. */
static int64_t recent_near(const cachemodel_distances *distances)
{
  int64_t sum = 0;
  for (int k = 0; k < FRONT_LINES; k++)
    sum += distances->recent[k];
  return sum;
}

static md_status feed_slots(cachemodel_stack *s, int n, const uint32_t *line)
{
  uint32_t most = 0;
  for (int e = 0; e < n; e++)
    most = line[e] > most ? line[e] : most;
  MD_TRY(cachemodel_depths_reserve(&s->below, (int64_t)most + 1, n));
  const int64_t near = recent_near(&s->below.distances);
  s->pass_batch(&s->below, s->batch, n, line);
  if (!misses_most(n - (recent_near(&s->below.distances) - near), n)) enter_front(s);
  return MD_OK;
}

/* How many of n accesses are fed next. */
static int next_batch(const cachemodel_stack *s, int64_t n)
{
  int64_t batch = TRACE_BATCH;
  if (n < batch) return (int)n;
  while (s->slots_alone && batch < BATCH_MOST && 2 * batch <= n &&
         batch * batch < BATCH_SQUARE * s->below.lines)
    batch *= 2;
  return (int)batch;
}

md_status cachemodel_stack_feed(cachemodel_stack *s, int64_t n, const uint32_t *line)
{
  for (int64_t t = 0; t < n;) {
    const int batch = next_batch(s, n - t);
    if (s->slots_alone && batch < TRACE_BATCH) enter_front(s);
    MD_TRY(s->slots_alone ? feed_slots(s, batch, line + t) : feed_front(s, batch, line + t));
    s->accesses += batch;
    t += batch;
  }
  return MD_OK;
}

md_status cachemodel_stack_count_in(cachemodel_stack *s, int k)
{
  if (k == s->class) return MD_OK;
  if (k >= s->n_classes) {
    class_counts *classes = realloc(s->classes, ((size_t)k + 1) * sizeof *classes);
    MD_REQUIRE(classes, MD_ENOMEM, "out of memory for %d classes of accesses", k + 1);
    memset(classes + s->n_classes, 0, (size_t)(k + 1 - s->n_classes) * sizeof *classes);
    s->classes = classes;
    s->n_classes = k + 1;
  }
  class_counts *old = &s->classes[s->class], *new = &s->classes[k];
  *old = (class_counts){.accesses = s->accesses, .distances = s->below.distances};
  memcpy(old->hits, s->front.hits, sizeof old->hits);
  memcpy(s->front.hits, new->hits, sizeof new->hits);
  s->accesses = new->accesses;
  s->below.distances = new->distances;
  s->class = k;
  return MD_OK;
}

int64_t cachemodel_stack_accesses(const cachemodel_stack *s)
{
  return s->accesses;
}

int64_t cachemodel_stack_distinct(const cachemodel_stack *s)
{
  return s->below.distinct;
}

void cachemodel_stack_misses(const cachemodel_stack *s, int64_t n, int64_t *misses)
{
  const cachemodel_distances *distances = &s->below.distances;
  int64_t left = s->accesses;
  for (int64_t c = 0; c < n; c++) {
    if (c < FRONT_LINES) left -= s->front.hits[c];
    if (c < distances->room) left -= distances->recent[c];
    if (c < distances->room && distances->total) left -= distances->total[c];
    misses[c] = left;
  }
}
