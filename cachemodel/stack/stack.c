/* cachemodel/stack/stack.c - LRU stack distances of a whole trace in one pass.
 *
 * The stack's 64 most recent lines are the front (front.isa.c).  The lines below it take slots in
 * the order in which they left the front (depths.isa.c); when the slots run out, the occupied ones
 * are moved together.  While most accesses miss in the front it is left out: its lines have slots,
 * too.  Memory: about 30 B a distinct line. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_PER_LINE = 4 };

/* What was counted of a class while another is counted. */
typedef struct {
  int64_t accesses, hits[FRONT_LINES];
  int64_t *count, count_room;
} class_counts;

struct cachemodel_stack {
  cachemodel_unique_fn *unique;
  cachemodel_front_fn *feed;
  cachemodel_depths_fn *pass;
  cachemodel_slots_fn *pass_slots;
  cachemodel_front front; /* without lines while the stack is slots alone */
  cachemodel_depths below;
  bool slots_alone;
  int64_t accesses;
  int64_t lines;         /* room in below.slot_of */
  class_counts *classes; /* [n_classes] */
  int n_classes, class;
  cachemodel_event events[TRACE_BATCH];
};

static cachemodel_unique_fn *const uniques[MD_ISA_COUNT] = SIMD_ROW(cachemodel_unique);
static cachemodel_front_fn *const fronts[MD_ISA_COUNT] = SIMD_ROW(cachemodel_front_feed);
static cachemodel_depths_fn *const passes[MD_ISA_COUNT] = SIMD_ROW(cachemodel_depths_pass);
static cachemodel_slots_fn *const slots_passes[MD_ISA_COUNT] = SIMD_ROW(cachemodel_slots_pass);

md_status cachemodel_stack_create(md_isa isa, cachemodel_stack **out)
{
  *out = aligned_alloc(64, (sizeof **out + 63) / 64 * 64);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for an LRU stack");
  memset(*out, 0, sizeof **out);
  (*out)->unique = uniques[isa];
  (*out)->feed = fronts[isa];
  (*out)->pass = passes[isa];
  (*out)->pass_slots = slots_passes[isa];
  for (int k = 0; k < FRONT_LINES; k++)
    (*out)->front.line[k] = NO_LINE;
  return MD_OK;
}

static void free_slots(cachemodel_depths *d)
{
  free(d->occupied);
  free(d->before_word);
  free(d->before_block);
  free(d->before_region);
  free(d->owner);
}

void cachemodel_stack_destroy(cachemodel_stack *s)
{
  if (!s) return;
  free_slots(&s->below);
  free(s->below.slot_of);
  free(s->below.count);
  for (int k = 0; k < s->n_classes; k++)
    if (k != s->class) free(s->classes[k].count);
  free(s->classes);
  free(s);
}

/* Room for lines below `lines`. */
static md_status grow_lines(cachemodel_stack *s, int64_t lines)
{
  int64_t wanted = s->lines + s->lines / 2;
  if (wanted < lines) wanted = lines;
  uint32_t *slot_of = realloc(s->below.slot_of, (size_t)wanted * sizeof *slot_of);
  MD_REQUIRE(slot_of, MD_ENOMEM, "out of memory: an LRU stack of %" PRId64 " lines", lines);
  memset(slot_of + s->lines, 0xff, (size_t)(wanted - s->lines) * sizeof *slot_of);
  s->below.slot_of = slot_of;
  s->lines = wanted;
  return MD_OK;
}

static md_status grow_counts(cachemodel_depths *d, int64_t depths)
{
  int64_t room = d->count_room + d->count_room / 2;
  if (room < depths) room = depths;
  int64_t *count = realloc(d->count, (size_t)room * sizeof *count);
  MD_REQUIRE(count, MD_ENOMEM, "out of memory for %" PRId64 " stack distances", room);
  memset(count + d->count_room, 0, (size_t)(room - d->count_room) * sizeof *count);
  d->count = count;
  d->count_room = room;
  return MD_OK;
}

/* Zeros for whole vectors. */
static void *counters(int64_t n, size_t size)
{
  const size_t bytes = ((size_t)n * size + 63) / 64 * 64;
  void *out = aligned_alloc(64, bytes);
  return out ? memset(out, 0, bytes) : NULL;
}

/* The next slot is the first of a word. */
static void skip_to_word(cachemodel_depths *d)
{
  d->used = (d->used + WORD_SLOTS - 1) / WORD_SLOTS * WORD_SLOTS;
}

/* Move the occupied slots together, into arrays that leave room for as many again and more. */
static md_status compact(cachemodel_depths *d, int64_t batch)
{
  const int64_t wanted = SLOTS_PER_LINE * (d->lines + batch);
  const int64_t slots = (wanted + REGION_SLOTS - 1) / REGION_SLOTS * REGION_SLOTS;
  MD_REQUIRE(slots < DEPTHS_NO_SLOT, MD_ENOMEM, "%" PRId64 " distinct lines are too many",
             d->lines);
  cachemodel_depths old = *d;
  d->occupied = counters(slots / WORD_SLOTS, sizeof *d->occupied);
  d->before_word = counters(slots / WORD_SLOTS, sizeof *d->before_word);
  d->before_block = counters(slots / BLOCK_SLOTS, sizeof *d->before_block);
  d->before_region = counters(slots / REGION_SLOTS, sizeof *d->before_region);
  d->owner = malloc((size_t)slots * sizeof *d->owner);
  d->used = d->slots = d->lines = 0;
  const bool good =
      d->occupied && d->before_word && d->before_block && d->before_region && d->owner;
  for (int64_t w = 0; good && w * WORD_SLOTS < old.used; w++)
    for (uint64_t bits = old.occupied[w]; bits; bits &= bits - 1)
      depths_push(d, old.owner[w * WORD_SLOTS + __builtin_ctzll(bits)]);
  free_slots(&old);
  MD_REQUIRE(good, MD_ENOMEM, "out of memory: an LRU stack of %" PRId64 " lines", old.lines);
  skip_to_word(d);
  d->slots = slots;
  return MD_OK;
}

/* Room for n more slots, and for lines below `bound`. */
static md_status reserve(cachemodel_stack *s, int64_t bound, int n)
{
  cachemodel_depths *d = &s->below;
  if (bound > s->lines) MD_TRY(grow_lines(s, bound));
  if (d->used + n > d->slots) MD_TRY(compact(d, TRACE_BATCH));
  if (d->lines + n > d->count_room) MD_TRY(grow_counts(d, d->lines + n));
  return MD_OK;
}

/* The lines of the front, which is full after so many misses, get slots.  All have been events, so
 * that slot_of has room for them. */
static md_status leave_front(cachemodel_stack *s)
{
  MD_TRY(reserve(s, 0, FRONT_LINES + WORD_SLOTS));
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
    if (!(d->occupied[slot / WORD_SLOTS] & bit)) continue;
    d->occupied[slot / WORD_SLOTS] -= bit;
    d->lines--;
    s->front.line[k++] = d->owner[slot];
  }
  s->slots_alone = false;
}

/* Most of n accesses missed in the front. */
static bool misses_most(int missed, int n)
{
  return n == TRACE_BATCH && missed > n / 2;
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
  MD_TRY(reserve(s, bound, missed));
  s->pass(&s->below, missed, s->events);
  return misses_most(missed, n) ? leave_front(s) : MD_OK;
}

static md_status feed_slots(cachemodel_stack *s, const uint32_t *line)
{
  uint32_t most = 0;
  int64_t near[FRONT_LINES] = {0}, hits = 0;
  for (int e = 0; e < TRACE_BATCH; e++)
    most = line[e] > most ? line[e] : most;
  MD_TRY(reserve(s, (int64_t)most + 1, TRACE_BATCH));
  s->pass_slots(&s->below, line, near);
  for (int k = 0; k < FRONT_LINES; k++) {
    hits += near[k];
    s->front.hits[k] += near[k];
  }
  if (!misses_most(TRACE_BATCH - (int)hits, TRACE_BATCH)) enter_front(s);
  return MD_OK;
}

md_status cachemodel_stack_feed(cachemodel_stack *s, int64_t n, const uint32_t *line)
{
  for (int64_t t = 0; t < n; t += TRACE_BATCH) {
    const int batch = (int)(n - t < TRACE_BATCH ? n - t : TRACE_BATCH);
    if (s->slots_alone && batch < TRACE_BATCH) enter_front(s);
    MD_TRY(s->slots_alone ? feed_slots(s, line + t) : feed_front(s, batch, line + t));
    s->accesses += batch;
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
  *old = (class_counts){
      .accesses = s->accesses, .count = s->below.count, .count_room = s->below.count_room};
  memcpy(old->hits, s->front.hits, sizeof old->hits);
  memcpy(s->front.hits, new->hits, sizeof new->hits);
  s->accesses = new->accesses;
  s->below.count = new->count;
  s->below.count_room = new->count_room;
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
  int64_t left = s->accesses;
  for (int64_t c = 0; c < n; c++) {
    if (c < FRONT_LINES)
      left -= s->front.hits[c];
    else if (c - FRONT_LINES < s->below.count_room)
      left -= s->below.count[c - FRONT_LINES];
    misses[c] = left;
  }
}
