/* cachemodel/stack/stack.c - LRU stack distances of a whole trace in one pass.
 *
 * The stack's 64 most recent lines are the front (front.isa.c).  The lines below it take slots in
 * the order in which they left the front (depths.isa.c); when the slots run out, the occupied ones
 * are moved together.  Memory: about 30 B a distinct line. */
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
  cachemodel_front front;
  cachemodel_depths below;
  int64_t accesses;
  int64_t lines;         /* room in below.slot_of */
  class_counts *classes; /* [n_classes] */
  int n_classes, class;
  cachemodel_event events[TRACE_BATCH];
};

static cachemodel_unique_fn *const uniques[MD_ISA_COUNT] = SIMD_ROW(cachemodel_unique);
static cachemodel_front_fn *const fronts[MD_ISA_COUNT] = SIMD_ROW(cachemodel_front_feed);
static cachemodel_depths_fn *const passes[MD_ISA_COUNT] = SIMD_ROW(cachemodel_depths_pass);

md_status cachemodel_stack_create(md_isa isa, cachemodel_stack **out)
{
  *out = aligned_alloc(64, (sizeof **out + 63) / 64 * 64);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for an LRU stack");
  memset(*out, 0, sizeof **out);
  (*out)->unique = uniques[isa];
  (*out)->feed = fronts[isa];
  (*out)->pass = passes[isa];
  for (int k = 0; k < FRONT_LINES; k++)
    (*out)->front.line[k] = NO_LINE;
  return MD_OK;
}

static void free_slots(cachemodel_depths *d)
{
  free(d->occupied);
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

/* Move the occupied slots together, into arrays that leave room for as many again and more. */
static md_status compact(cachemodel_depths *d, int64_t batch)
{
  const int64_t wanted = SLOTS_PER_LINE * (d->lines + batch);
  const int64_t slots = (wanted + REGION_SLOTS - 1) / REGION_SLOTS * REGION_SLOTS;
  MD_REQUIRE(slots < DEPTHS_NO_SLOT, MD_ENOMEM, "%" PRId64 " distinct lines are too many",
             d->lines);
  cachemodel_depths old = *d;
  d->occupied = calloc((size_t)(slots / WORD_SLOTS), sizeof *d->occupied);
  d->before_block = calloc((size_t)(slots / BLOCK_SLOTS), sizeof *d->before_block);
  d->before_region =
      calloc((size_t)(slots / REGION_SLOTS + REGION_GROUP), sizeof *d->before_region);
  d->owner = malloc((size_t)slots * sizeof *d->owner);
  d->used = d->slots = d->lines = 0;
  const bool good = d->occupied && d->before_block && d->before_region && d->owner;
  for (int64_t w = 0; good && w * WORD_SLOTS < old.used; w++)
    for (uint64_t bits = old.occupied[w]; bits; bits &= bits - 1)
      depths_push(d, old.owner[w * WORD_SLOTS + __builtin_ctzll(bits)]);
  free_slots(&old);
  MD_REQUIRE(good, MD_ENOMEM, "out of memory: an LRU stack of %" PRId64 " lines", old.lines);
  d->slots = slots;
  return MD_OK;
}

static md_status pass_below(cachemodel_stack *s, int n)
{
  int64_t bound = 0;
  for (int e = 0; e < n; e++)
    if (s->events[e].line >= bound) bound = (int64_t)s->events[e].line + 1;
  if (bound > s->lines) MD_TRY(grow_lines(s, bound));
  cachemodel_depths *d = &s->below;
  if (d->used + n > d->slots) MD_TRY(compact(d, TRACE_BATCH));
  if (d->lines + n > d->count_room) MD_TRY(grow_counts(d, d->lines + n));
  s->pass(d, n, s->events);
  return MD_OK;
}

md_status cachemodel_stack_feed(cachemodel_stack *s, int64_t n, const uint32_t *line)
{
  uint32_t unique[TRACE_BATCH + 16];
  for (int64_t t = 0; t < n; t += TRACE_BATCH) {
    const int batch = (int)(n - t < TRACE_BATCH ? n - t : TRACE_BATCH);
    const int left = s->unique(s->front.line[0], batch, line + t, unique);
    s->front.hits[0] += batch - left;
    s->accesses += batch;
    MD_TRY(pass_below(s, s->feed(&s->front, left, unique, s->events)));
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
