/* ordering/ordering.h - in which order do the cells of a grid, and the particles in them, lie in
 * memory?
 *
 * A grid has n[0] x n[1] x n[2] cells; cell (i, j, k) has the row-major number
 * (i * n[1] + j) * n[2] + k.  An ordering is a bijection from cells to 0..n_cells-1.  Sizes that
 * are no powers of two, or no cubes, are compacted: the index is the rank of the key within the
 * enclosing power-of-two curve.  A hybrid's key is outer(tile) T^3 + inner(cell in the tile); tiles
 * at the upper edges of the box may be cut.  [AK] sections 2-3. */
#ifndef ORDERING_H
#define ORDERING_H

#include "core/buffer.h"

MD_BEGIN_C

/* What holds of an ordering: COMPACT: cells that follow each other lie near each other in all
 * directions; JUMPS: so in boxes whose edges are powers of two, in others with jumps between. */
enum { ORDERING_COMPACT = 1, ORDERING_JUMPS = 2 };

/* Name, word, what it is, what holds of it. */
#define ORDERINGS(X)                                                                               \
  X(NONE, "none", "creation order, never sorted", 0)                                               \
  X(ROW, "row", "row-major, k fastest", 0)                                                         \
  X(COLUMN, "column", "column-major, i fastest", 0)                                                \
  X(MORTON, "morton", "Morton, k in the lowest bit", ORDERING_COMPACT | ORDERING_JUMPS)            \
  X(MORTON_KJI, "morton:kji", "Morton, i in the lowest bit ([AK] Eq. 5)",                          \
    ORDERING_COMPACT | ORDERING_JUMPS)                                                             \
  X(HILBERT, "hilbert", "Hilbert, the 12-state curve of [AK]", ORDERING_COMPACT | ORDERING_JUMPS)  \
  X(HYBRID, "hybrid", "hybrid:OUTER/INNER:T, tiles of T^3 cells", 0)                               \
  X(GILBERT, "gilbert", "generalised Hilbert curve of any box", ORDERING_COMPACT)                  \
  X(RANDOM, "random", "seeded random permutation", 0)

#define MD_ENUM_(name, word, help, traits) ORDERING_##name,
typedef enum { ORDERINGS(MD_ENUM_) ORDERING_COUNT } ordering_kind;
#undef MD_ENUM_
/* What is written where an ordering is wanted, for help texts. */
#define MD_WORD_(name, word, help, traits) " " word
#define ORDERINGS_HELP "hybrid:OUTER/INNER:T, random:SEED or one\nof" ORDERINGS(MD_WORD_)
extern const char *const ordering_words[ORDERING_COUNT];

typedef struct {
  ordering_kind kind;
  ordering_kind outer, inner; /* hybrid: between tiles, within a tile; not NONE, not HYBRID */
  int32_t tile;               /* hybrid: cells along a tile's edge, >= 1 */
  uint64_t seed;              /* random */
  int32_t turn[3];            /* so many first cells along each axis come behind the last, < n */
} ordering;

/* Read `hilbert`, `hybrid:hilbert/row:4`, `random:SEED`, ...  Errors: MD_EINVAL (names the nearest
 * word). */
md_status ordering_parse(const char *text, ordering *out);
/* Whether all of these hold of an ordering: ORDERING_COMPACT, ORDERING_JUMPS. */
bool ordering_has(const ordering *order, int traits);
/* The text that ordering_parse reads back. */
void ordering_format(const ordering *order, char *text, size_t size);

/* The tiles of a hybrid fill a grid of this size, as those of [AK] do, and none is cut.
 * Errors: MD_EINVAL (names tile and size). */
md_status ordering_whole_tiles(const ordering *order, const int32_t n[3]);

/* index[cell] for every cell of the grid, cells in row-major number; on the context's backend.
 * NONE gives row-major.  Cost: O(n_cells log n_cells); meant to be kept while n stays.
 * Errors: MD_EINVAL (a size < 1, a turn outside of the grid), MD_ECAPACITY (2^32 cells or more,
 * with the number), MD_ENOMEM. */
md_status ordering_index(md_ctx *ctx, const ordering *order, const int32_t n[3], uint32_t *index);

/* The inverse: cell[index] is the row-major number of the cell, on the context's backend.  Same
 * cost and errors.  ordering/curve.h has both for one cell, in host and device code. */
md_status ordering_cells(md_ctx *ctx, const ordering *order, const int32_t n[3], uint32_t *cell);

/* Keys of many cells of a cube of 2^levels cells by the fastest encoder of this processor; kind is
 * MORTON, MORTON_KJI or HILBERT, levels <= 21.  Host arrays i, j, k [n], each < 2^levels; key [n].
 * Errors: MD_EINVAL (another kind, levels not in 0..21). */
md_status ordering_keys(const md_ctx *ctx, ordering_kind kind, int levels, int64_t n,
                        const int32_t *i, const int32_t *j, const int32_t *k, uint64_t *key);

/* A sorter keeps its scratch memory between calls.  *out is NULL on failure. */
typedef struct ordering_sorter ordering_sorter;
md_status ordering_sorter_create(md_ctx *ctx, ordering_sorter **out);
void ordering_sorter_destroy(ordering_sorter *sorter);

/* Stable sort of n keys, all < key_end, on the context's backend.
 *   keys   in:  [n]
 *   order  out: [n], order[new place] = old place
 *   start  out: NULL, or [key_end + 1]: particles with key c are order[start[c] .. start[c+1])
 * Counting sort with OpenMP on the CPU (same result for any number of threads).  On the GPU it
 * waits for nothing (only a larger n than ever before allocates memory): counting sort where a key
 * has 8 items or fewer on average and an item 64 keys or fewer, whose cost grows with the square of
 * the items of one key, else CUB's radix sort. Errors: MD_ECAPACITY (n beyond 2^31 - 1), MD_ENOMEM,
 * MD_ECUDA. */
md_status ordering_sort(ordering_sorter *sorter, int64_t n, const uint32_t *keys, uint32_t key_end,
                        int32_t *order, int32_t *start);

/* Bytes that a sorter of this context takes for that, estimated for a pre-flight check. */
double ordering_memory(const md_ctx *ctx, double n, double key_end);

/* to[i] = from[order[i]] for n items of item_bytes (a multiple of 4) on the context's backend.
 * Errors: MD_EINVAL (item_bytes), MD_ECUDA. */
md_status ordering_permute(md_ctx *ctx, int64_t n, const int32_t *order, size_t item_bytes,
                           const void *from, void *to);

/* n items to move, each from one array to another of the same size. */
typedef struct {
  size_t bytes; /* of an item, a multiple of 4 */
  const void *from;
  void *to;
} ordering_items;
enum { ORDERING_MOST_ITEMS = 4 };
/* ordering_sort, and up to so many sets of n items moved to the places found, items[0 .. n_items):
 * on the GPU in the kernel that finds them, where it can. Errors: those of ordering_sort, MD_EINVAL
 * (bytes, n_items). */
md_status ordering_sort_move(ordering_sorter *sorter, int64_t n, const uint32_t *keys,
                             uint32_t key_end, int32_t *order, int32_t *start, int n_items,
                             const ordering_items *items);

/* Particles in a periodic box that is cut into cells. */
typedef struct {
  double lo[3], hi[3]; /* the box, hi > lo [length] */
  int32_t cells[3];    /* along each axis; {0}: powers of two, one to eight cells a particle */
  int64_t n;
  const void *x; /* on the context's backend; coordinate a of particle i is x[i * stride + a]: float
                  * in single, double in mixed and double precision; positions are wrapped */
  int64_t stride;
} ordering_particles;

/* The particles along the curve through their cells: place[new] = old, int32 [n] on the context's
 * backend; those of one cell stay in the order they came in, and NONE leaves all there.  O(n log
 * cells); waits until it is done.
 * Errors: MD_EINVAL (box, cells, stride; a position that is NaN, infinite or beyond 2^50 boxes,
 * with its index), MD_ECAPACITY (2^32 cells or more, n beyond 2^31 - 1), MD_ENOMEM, MD_ECUDA. */
md_status ordering_sort_particles(ordering_sorter *sorter, const ordering *order,
                                  const ordering_particles *particles, int32_t *place);

/* Where who makes n keys < key_end on the GPU may count them while they are made,
 *     arrival[i] = atomicAdd(&count[key of i], 1)
 * count [key_end], arrival [n] on the device; NULL where a sort counts nothing. */
typedef struct {
  int32_t *count, *arrival;
} ordering_counter;
/* Ask for it before these keys are made; the next sort must be of just them, and does not count
 * again. Errors: MD_ENOMEM, MD_ECUDA. */
md_status ordering_count_keys(ordering_sorter *sorter, int64_t n, uint32_t key_end,
                              ordering_counter *out);

MD_END_C
#endif
