/* cachemodel/stack.c - LRU stack distances of a whole trace in one pass.
 *
 * The stack's 64 most recent lines are the front (front_isa.c).  Below it, a line that left the
 * front takes the next free slot of a growing array, so slots are in the order of the stack and a
 * line's depth is the number of occupied slots after its own.  Occupied slots are bits, counted in
 * three steps: the words of a block, the blocks of a region, the regions.  When the slots run out
 * the occupied ones are moved together.  Memory: 30 B a distinct line. */
#include "cachemodel/cachemodel_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SLOTS = 64, BLOCK_WORDS = 8, REGION_BLOCKS = 64 };
enum { BLOCK_SLOTS = WORD_SLOTS * BLOCK_WORDS, REGION_SLOTS = BLOCK_SLOTS * REGION_BLOCKS };
enum { SLOTS_PER_LINE = 4 };
#define NO_SLOT UINT32_MAX

struct cachemodel_stack {
  cachemodel_front_fn *feed;
  cachemodel_front front;
  int64_t accesses, distinct;
  int64_t lines;       /* room in slot_of */
  uint32_t *slot_of;   /* [lines] slot of a line below the front, or NO_SLOT */
  int64_t slots, used; /* a multiple of REGION_SLOTS; next free slot */
  uint64_t *occupied;  /* [slots / 64] */
  uint16_t *in_block;  /* [slots / BLOCK_SLOTS] occupied slots of a block */
  uint32_t *in_region; /* [slots / REGION_SLOTS] */
  uint32_t *owner;     /* [slots] line of a slot */
  int64_t below;       /* occupied slots */
  int64_t *count;      /* [count_room] accesses at distance FRONT_LINES + d */
  int64_t count_room;
  cachemodel_event events[FRONT_BATCH];
};

void cachemodel_front_init(cachemodel_front *front)
{
  memset(front, 0, sizeof *front);
  memset(front->line, 0xff, sizeof front->line);
}

cachemodel_front_fn *const cachemodel_fronts[MD_ISA_COUNT] = SIMD_ROW(cachemodel_front_feed);

md_status cachemodel_bound(int64_t n, const uint32_t *line, int64_t *bound)
{
  uint32_t most = 0;
  for (int64_t t = 0; t < n; t++)
    most = line[t] > most ? line[t] : most;
  MD_REQUIRE(most != FRONT_EMPTY, MD_EINVAL, "line %u of a trace: expected less", most);
  *bound = n > 0 ? (int64_t)most + 1 : 0;
  return MD_OK;
}

md_status cachemodel_stack_create(md_isa isa, cachemodel_stack **out)
{
  *out = aligned_alloc(64, (sizeof **out + 63) / 64 * 64);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for an LRU stack");
  memset(*out, 0, sizeof **out);
  (*out)->feed = cachemodel_fronts[isa];
  cachemodel_front_init(&(*out)->front);
  return MD_OK;
}

void cachemodel_stack_destroy(cachemodel_stack *s)
{
  if (!s) return;
  free(s->slot_of);
  free(s->occupied);
  free(s->in_block);
  free(s->in_region);
  free(s->owner);
  free(s->count);
  free(s);
}

/* Room for lines below `lines`. */
static md_status grow_lines(cachemodel_stack *s, int64_t lines)
{
  if (lines <= s->lines) return MD_OK;
  int64_t wanted = s->lines + s->lines / 2;
  if (wanted < lines) wanted = lines;
  uint32_t *slot_of = realloc(s->slot_of, (size_t)wanted * sizeof *slot_of);
  MD_REQUIRE(slot_of, MD_ENOMEM, "out of memory: an LRU stack of %" PRId64 " lines", lines);
  memset(slot_of + s->lines, 0xff, (size_t)(wanted - s->lines) * sizeof *slot_of);
  s->slot_of = slot_of;
  s->lines = wanted;
  return MD_OK;
}

static md_status grow_counts(cachemodel_stack *s, int64_t distances)
{
  if (distances <= s->count_room) return MD_OK;
  int64_t room = s->count_room + s->count_room / 2;
  if (room < distances) room = distances;
  int64_t *count = realloc(s->count, (size_t)room * sizeof *count);
  MD_REQUIRE(count, MD_ENOMEM, "out of memory for %" PRId64 " distances", room);
  memset(count + s->count_room, 0, (size_t)(room - s->count_room) * sizeof *count);
  s->count = count;
  s->count_room = room;
  return MD_OK;
}

static void occupy(cachemodel_stack *s, uint32_t slot, uint32_t line)
{
  s->occupied[slot / WORD_SLOTS] |= (uint64_t)1 << slot % WORD_SLOTS;
  s->in_block[slot / BLOCK_SLOTS]++;
  s->in_region[slot / REGION_SLOTS]++;
  s->owner[slot] = line;
  s->slot_of[line] = slot;
}

/* Move the occupied slots together, into arrays that leave room for as many again and more. */
static md_status compact(cachemodel_stack *s, int64_t batch)
{
  const int64_t wanted = SLOTS_PER_LINE * (s->below + batch);
  const int64_t slots = (wanted + REGION_SLOTS - 1) / REGION_SLOTS * REGION_SLOTS;
  MD_REQUIRE(slots < NO_SLOT, MD_ENOMEM, "%" PRId64 " distinct lines are too many", s->below);
  const cachemodel_stack old = {.occupied = s->occupied,
                                .in_block = s->in_block,
                                .in_region = s->in_region,
                                .owner = s->owner};
  s->occupied = calloc((size_t)(slots / WORD_SLOTS), sizeof *s->occupied);
  s->in_block = calloc((size_t)(slots / BLOCK_SLOTS), sizeof *s->in_block);
  s->in_region = calloc((size_t)(slots / REGION_SLOTS), sizeof *s->in_region);
  s->owner = malloc((size_t)slots * sizeof *s->owner);
  const bool good = s->occupied && s->in_block && s->in_region && s->owner;
  uint32_t next = 0;
  for (int64_t w = 0; good && w * WORD_SLOTS < s->used; w++)
    for (uint64_t bits = old.occupied[w]; bits; bits &= bits - 1)
      occupy(s, next++, old.owner[w * WORD_SLOTS + __builtin_ctzll(bits)]);
  free(old.occupied);
  free(old.in_block);
  free(old.in_region);
  free(old.owner);
  s->slots = good ? slots : 0;
  s->used = next;
  MD_REQUIRE(good, MD_ENOMEM, "out of memory: an LRU stack of %" PRId64 " lines", s->below);
  return MD_OK;
}

/* Occupied slots after this one. */
static int64_t count_after(const cachemodel_stack *s, uint32_t slot)
{
  const uint32_t word = slot / WORD_SLOTS, block = slot / BLOCK_SLOTS;
  const uint32_t region = slot / REGION_SLOTS;
  const uint32_t word_end = (block + 1) * BLOCK_WORDS, block_end = (region + 1) * REGION_BLOCKS;
  const uint32_t region_end = (uint32_t)((s->used + REGION_SLOTS - 1) / REGION_SLOTS);
  int64_t count = __builtin_popcountll(s->occupied[word] >> slot % WORD_SLOTS) - 1;
  for (uint32_t w = word + 1; w < word_end; w++)
    count += __builtin_popcountll(s->occupied[w]);
  for (uint32_t b = block + 1; b < block_end; b++)
    count += s->in_block[b];
  for (uint32_t r = region + 1; r < region_end; r++)
    count += s->in_region[r];
  return count;
}

static void pass_below(cachemodel_stack *s, const cachemodel_event *e)
{
  const uint32_t slot = s->slot_of[e->line];
  if (slot == NO_SLOT) {
    s->distinct++;
  } else {
    s->count[count_after(s, slot)]++;
    s->occupied[slot / WORD_SLOTS] &= ~((uint64_t)1 << slot % WORD_SLOTS);
    s->in_block[slot / BLOCK_SLOTS]--;
    s->in_region[slot / REGION_SLOTS]--;
    s->slot_of[e->line] = NO_SLOT;
    s->below--;
  }
  if (e->demoted == FRONT_EMPTY) return;
  occupy(s, (uint32_t)s->used++, e->demoted);
  s->below++;
}

md_status cachemodel_stack_feed(cachemodel_stack *s, int64_t n, const uint32_t *line)
{
  int64_t bound;
  MD_TRY(cachemodel_bound(n, line, &bound));
  MD_TRY(grow_lines(s, bound));
  for (int64_t t = 0; t < n; t += FRONT_BATCH) {
    const int batch = (int)(n - t < FRONT_BATCH ? n - t : FRONT_BATCH);
    if (s->used + batch > s->slots) MD_TRY(compact(s, FRONT_BATCH));
    MD_TRY(grow_counts(s, s->below + batch));
    const int events = s->feed(&s->front, batch, line + t, s->events);
    for (int e = 0; e < events; e++)
      pass_below(s, &s->events[e]);
    s->accesses += batch;
  }
  return MD_OK;
}

int64_t cachemodel_stack_accesses(const cachemodel_stack *s)
{
  return s->accesses;
}

int64_t cachemodel_stack_distinct(const cachemodel_stack *s)
{
  return s->distinct;
}

void cachemodel_stack_misses(const cachemodel_stack *s, int64_t n, int64_t *misses)
{
  int64_t left = s->accesses;
  for (int64_t c = 0; c < n; c++) {
    if (c < FRONT_LINES)
      left -= s->front.hits[c];
    else if (c - FRONT_LINES < s->count_room)
      left -= s->count[c - FRONT_LINES];
    misses[c] = left;
  }
}
