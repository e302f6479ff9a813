/* cachemodel/stack/cachemodel_impl.h - parts of the models. */
#ifndef CACHEMODEL_IMPL_H
#define CACHEMODEL_IMPL_H

#include "cachemodel/cachemodel.h"
#include "core/simd.h"

MD_BEGIN_C

/* MD_ENOMEM if `bytes` are more than this process may still take; what names their use. */
md_status cachemodel_room(double bytes, const char *what);

/* The cells of a sweep: table[cell] is the index of a cell (row-major number), centre[] the cells
 * that are visited, in order, and offset[] the stencil as differences of row-major numbers. */
typedef struct {
  uint32_t *table, *centre;
  uint32_t *offset; /* modulo 2^32 */
  int64_t n_cells, n_centre, n_offset;
} cachemodel_cells;
md_status cachemodel_cells_create(const cachemodel_sweep *sweep, cachemodel_cells *out);
void cachemodel_cells_destroy(cachemodel_cells *cells);

enum { TRACE_BATCH = 4096 };
#define NO_LINE UINT32_MAX

/* Copy line[n] without immediate repetitions, line[0] of `previous` included: those hit and change
 * nothing in any cache.  Returns how many are left; unique has room for n + 16. */
typedef int cachemodel_unique_fn(uint32_t previous, int n, const uint32_t *line, uint32_t *unique);
SIMD_DECLARE_(cachemodel_unique_fn, cachemodel_unique);

/* The most recent lines of an LRU stack, most recent first.  Nearly all accesses end here, so it is
 * kept in vector registers during a batch. */
enum { FRONT_LINES = 64 };
typedef struct {
  _Alignas(64) uint32_t line[FRONT_LINES];
  int64_t hits[FRONT_LINES]; /* by distance */
} cachemodel_front;
/* An access that missed in the front: the line came to the front, `demoted` left it. */
typedef struct {
  uint32_t line, demoted; /* NO_LINE: none */
} cachemodel_event;
/* Access line[n]; returns the number of events, at most n. */
typedef int cachemodel_front_fn(cachemodel_front *front, int n, const uint32_t *line,
                                cachemodel_event *events);
SIMD_DECLARE_(cachemodel_front_fn, cachemodel_front_feed);

/* How often a stack distance was met: recent[] since total[] was added to, so that the array which
 * accesses touch at random is short. */
typedef struct {
  int64_t room, n_recent; /* n_recent: the sum of recent[] at most */
  uint32_t *recent;       /* [room] */
  int64_t *total;         /* [room], or NULL: nothing was added yet */
} cachemodel_distances;

/* The lines below the front.  A line that leaves the front takes the next slot, so the slots are in
 * the order of the stack, and a line's depth below the front is the number of occupied slots after
 * its own.  Occupied slots are bits of words; counters hold how many lie before a word in its
 * block, before a block in its region, and before a region.  Those of a block, of a region and of a
 * group of regions are 64 bytes each, and begin at a multiple of that. */
enum { WORD_SLOTS = 64, BLOCK_WORDS = 32, REGION_BLOCKS = 32, REGION_GROUP = 16 };
enum { BLOCK_SLOTS = BLOCK_WORDS * WORD_SLOTS, REGION_SLOTS = REGION_BLOCKS * BLOCK_SLOTS };
#define DEPTHS_NO_SLOT UINT32_MAX
/* Bits of slots; a batch (batch.isa.c) counts in the rest, which is 0 between batches but for
 * numbers that the next one overwrites. */
typedef struct {
  uint64_t occupied, taken;
  uint32_t before, taken_before;
} cachemodel_word;
/* Accesses of a batch, at most; a batch in parts; words of a batch's slots. */
enum { BATCH_MOST = 32768, BATCH_PART = 64, BATCH_WORDS = BATCH_MOST / WORD_SLOTS };
typedef struct {
  int64_t slots, used;     /* a multiple of REGION_SLOTS; the next slot */
  cachemodel_word *word;   /* [slots / WORD_SLOTS], after BATCH_WORDS without slots */
  uint16_t *before_word;   /* [slots / WORD_SLOTS] occupied slots of its block before a word */
  uint16_t *before_block;  /* [slots / BLOCK_SLOTS] of its region before a block */
  uint32_t *before_region; /* [slots / REGION_SLOTS, rounded up to whole REGION_GROUPs] */
  uint32_t *owner;         /* [slots] line of a slot */
  uint32_t *slot_of;       /* [seen] of a line, its last one if it is in the front; or none */
  int64_t seen;            /* lines below this have places in slot_of */
  int64_t lines;           /* occupied slots */
  int64_t distinct;        /* lines ever seen */
  cachemodel_distances distances;
} cachemodel_depths;
/* Occupied slots of a word up to this one, itself included, as bits. */
static inline uint64_t depths_upto(uint64_t bits, uint32_t slot)
{
  return bits & UINT64_MAX >> (WORD_SLOTS - 1 - slot % WORD_SLOTS);
}
/* Counters of words not yet in use mean nothing: they are set by their first slot. */
static inline void depths_open_word(cachemodel_depths *d, uint32_t slot)
{
  uint32_t *region = d->before_region + slot / REGION_SLOTS;
  uint16_t *block = d->before_block + slot / BLOCK_SLOTS;
  if (slot % REGION_SLOTS == 0) *region = (uint32_t)d->lines;
  if (slot % BLOCK_SLOTS == 0) *block = (uint16_t)(d->lines - *region);
  d->before_word[slot / WORD_SLOTS] = (uint16_t)(d->lines - *region - *block);
}
static inline void depths_push(cachemodel_depths *d, uint32_t line)
{
  const uint32_t slot = (uint32_t)d->used++;
  if (slot % WORD_SLOTS == 0) depths_open_word(d, slot);
  d->word[slot / WORD_SLOTS].occupied |= (uint64_t)1 << slot % WORD_SLOTS;
  d->owner[slot] = line;
  d->slot_of[line] = slot;
  d->lines++;
}
/* Take each event's line from its slot, counting its distance, and push what was demoted; the
 * arrays have room. */
typedef void cachemodel_depths_fn(cachemodel_depths *d, int n, const cachemodel_event *events);
SIMD_DECLARE_(cachemodel_depths_fn, cachemodel_depths_pass);

/* What a batch needs beside the slots.  Ranks come in parts, each after as many that are larger
 * than all. */
enum { BATCH_PAD = 32, BATCH_ROW = BATCH_PAD + BATCH_PART };
typedef struct {
  _Alignas(64) int16_t rank[BATCH_MOST / BATCH_PART * BATCH_ROW];
  uint32_t place[BATCH_MOST];
  uint64_t met[BATCH_WORDS];
  uint16_t met_before[BATCH_WORDS];
} cachemodel_batch;
/* Access line[n] while the front is empty: all lines have slots, and `used` and n are multiples of
 * WORD_SLOTS.  The counters of words, blocks and regions mean nothing afterwards. */
typedef void cachemodel_batch_fn(cachemodel_depths *d, cachemodel_batch *b, int n,
                                 const uint32_t *line);
SIMD_DECLARE_(cachemodel_batch_fn, cachemodel_batch_pass);

/* Memory (slots.c).  Room for n more slots, and for lines below `bound`.  Errors: MD_ENOMEM. */
md_status cachemodel_depths_reserve(cachemodel_depths *d, int64_t bound, int n);
void cachemodel_depths_free(cachemodel_depths *d);
/* Counters of words, blocks and regions from the occupied slots. */
void cachemodel_depths_recount(cachemodel_depths *d);
void cachemodel_distances_free(cachemodel_distances *distances);

/* One cache: the lines it holds are nodes of a ring per set, newest first.  Nodes 0..sets-1 are the
 * heads of the rings, node sets + x is line x; prev of a line that is not held is RING_OUT. */
#define RING_OUT UINT32_MAX
typedef struct {
  uint32_t next, prev;
} cachemodel_node;
typedef struct {
  cachemodel_policy policy;
  int64_t sets, ways;
  int64_t lines;         /* that have nodes */
  cachemodel_node *node; /* [sets + lines] */
  int64_t *held;         /* [sets] */
} cachemodel_ring;
md_status cachemodel_ring_create(const cachemodel_level *spec, cachemodel_ring *out);
void cachemodel_ring_destroy(cachemodel_ring *ring);
/* Make nodes for lines below `lines`.  Errors: MD_ENOMEM. */
md_status cachemodel_ring_grow(cachemodel_ring *ring, int64_t lines);

static inline uint32_t ring_node(const cachemodel_ring *r, uint32_t line)
{
  return (uint32_t)(r->sets + line);
}

static inline uint32_t ring_set(const cachemodel_ring *r, uint32_t line)
{
  return r->sets == 1 ? 0 : (uint32_t)(line % r->sets);
}

static inline bool ring_holds(const cachemodel_ring *r, uint32_t line)
{
  return r->node[ring_node(r, line)].prev != RING_OUT;
}

static inline void ring_unlink(cachemodel_node *node, uint32_t at)
{
  node[node[at].prev].next = node[at].next;
  node[node[at].next].prev = node[at].prev;
}

static inline void ring_link(cachemodel_node *node, uint32_t head, uint32_t at)
{
  const uint32_t next = node[head].next;
  node[at] = (cachemodel_node){next, head};
  node[next].prev = at;
  node[head].next = at;
}

/* True if the line is held; under LRU it becomes the newest. */
static inline bool ring_hit(cachemodel_ring *r, uint32_t line)
{
  if (!ring_holds(r, line)) return false;
  if (r->policy == CACHEMODEL_FIFO) return true;
  ring_unlink(r->node, ring_node(r, line));
  ring_link(r->node, ring_set(r, line), ring_node(r, line));
  return true;
}

static inline void ring_remove(cachemodel_ring *r, uint32_t line)
{
  ring_unlink(r->node, ring_node(r, line));
  r->node[ring_node(r, line)].prev = RING_OUT;
  r->held[ring_set(r, line)]--;
}

/* Take in a line that is not held; returns the line evicted for it, or NO_LINE. */
static inline uint32_t ring_insert(cachemodel_ring *r, uint32_t line)
{
  const uint32_t head = ring_set(r, line);
  uint32_t victim = NO_LINE;
  if (r->held[head] == r->ways) {
    victim = (uint32_t)(r->node[head].prev - r->sets);
    ring_remove(r, victim);
  }
  ring_link(r->node, head, ring_node(r, line));
  r->held[head]++;
  return victim;
}

MD_END_C
#endif
