/* neighbor/tiles/tile_rows_gpu.h - the rows of one tile from what the tests found
 * (tile_tests_gpu.h): one warp 32 rows, one lane a row.
 *
 * For each bank of shared memory a lane has a queue of entries, which it shares with its warp, and
 * bits that say which of them belong to its row.  The n-th of bank b goes to slot TILE_BANKS n + (b
 * - lane) mod TILE_BANKS of the row, so that the lanes that read together read from different
 * banks.  What would make the row longer than it must be waits in a short list and fills its last
 * holes, where it meets what other lanes had to put off: several conflicts at once take no longer
 * than one.  Other holes are filled with entries that are far away. */
#ifndef TILE_ROWS_GPU_H
#define TILE_ROWS_GPU_H

#include "neighbor/gpu/bins_gpu.h"

#include <math.h>

enum { ABSENT = -1 }; /* no atom */
static_assert(NEIGHBOR_TILE_BANKS == NEIGHBOR_TILE_GROUP, "a level of all banks is a group");

enum {
  TILE_ROWS = NEIGHBOR_TILE_ROWS,
  TILE_WARPS = TILE_ROWS / MD_WARP,
  TILE_BANKS = NEIGHBOR_TILE_BANKS,
  TILE_WORDS = 3,                        /* of bits of a bank */
  TILE_LEVELS = 32 * TILE_WORDS,         /* entries that a bank's queue holds */
  TILE_BLOCK = 32 + 8,                   /* those of a word, and what ends in a far one */
  TILE_STRIDE = TILE_WORDS * TILE_BLOCK, /* see tile_room */
  TILE_WAITING = 20,                     /* entries of a row that wait for a hole */
  TILE_BITS = TILE_WAITING / 2,          /* words of a row, TILE_BANKS at least */
  TILE_ENTRY = 16,                       /* bytes from an entry of the halo to the next */
};

typedef struct {
  unsigned long long entries;       /* of all rows */
  unsigned long long halos, groups; /* entries of all halos, groups of all warps */
  unsigned long long further;       /* pieces beyond the first of a warp's pass */
  int32_t unfit;                    /* something did not fit */
  int32_t row, most, passes; /* entries of the longest row, of the largest pass; most passes */
} tile_result;

/* On the device; but for what was found, zero between builds. */
typedef struct {
  tile_result now, found; /* found: by the last build */
  uint32_t come;          /* blocks */
} tile_totals;

typedef struct {
  bins grid;
  neighbor_rooms room;
  int64_t n_first; /* pieces that begin a warp's pass */
  int32_t n;
  double r_sq;                  /* r_list^2 */
  float inv_r;                  /* 1 / r_list */
  state reach;                  /* r_list and what rounding may add */
  const int32_t *rows, *row_of; /* atoms as they follow each other, and where; NULL: as they lie */
  const state4 *x, *sorted;     /* sorted: by bin; whose they are */
  const int32_t *sorted_index, *bin_start;
  neighbor_piece *halos, *groups;
  int32_t *halo, *count;
  uint4 *list;
  tile_totals *totals;
  tile_result *result; /* totals->now */
} tile_job;

/* What lies in shared memory. */
typedef struct {
  uint4 *halo;     /* [capacity], see tile_tests_gpu.h */
  int32_t *index;  /* [capacity]: atom of an entry, ABSENT of a far one */
  uint8_t *near;   /* see near_at; bit w: within reach of warp w */
  int32_t *atom;   /* [MD_WARP]: atoms of the warp's rows, ABSENT where there is none */
  uint16_t *self;  /* [MD_WARP]: their own entries, times TILE_ENTRY; UINT16_MAX: not in the halo */
  uint16_t *queue; /* [TILE_BANKS][TILE_STRIDE] of the warp: blocks of entries, times TILE_ENTRY;
                        8 banks are read at once without conflicts */
  uint32_t *bits;  /* [TILE_BITS][MD_WARP]: level l of a word of a bank is bit 31 - l % 32 */
} tile_room;

/* One lane's row. */
typedef struct {
  float x, y, z;       /* relative to the tile's origin */
  float margin;        /* what the tests' rounding amounts to at most */
  int32_t count;       /* entries written out */
  int64_t piece, last; /* of groups: the next, and the one before in this pass or -1 */
} tile_row;

/* What is near of a halo, bank by bank, four entries a word; a halo ends in more that are not. */
enum { TILE_NEAR_END = 4 * MD_WARP };

static __host__ __device__ __forceinline__ int32_t near_stride(int32_t capacity)
{
  enum { PER_WORD = 4 * TILE_BANKS };
  return 4 * ((capacity + TILE_NEAR_END + PER_WORD - 1) / PER_WORD | 1);
}

/* Where entry e is in tile_room.near. */
static __device__ __forceinline__ uint32_t near_at(const tile_job *job, uint32_t e)
{
  return e % TILE_BANKS * (uint32_t)near_stride(job->room.capacity) + e / TILE_BANKS;
}

/* Where a level of a queue lies. */
static __device__ __forceinline__ uint32_t at_level(uint32_t level)
{
  return level + level / 32 * (TILE_BLOCK - 32);
}

static __device__ __forceinline__ uint32_t *bits_of(const tile_room *room, int bank)
{
  return room->bits + bank * MD_WARP + threadIdx.x % MD_WARP;
}

/* Entries of rows that wait for a hole lie where bits were. */
static __device__ __forceinline__ uint16_t *waiting_of(const tile_room *room, int32_t k)
{
  return (uint16_t *)room->bits + k * MD_WARP + threadIdx.x % MD_WARP;
}

/* Take so many groups of the list and note them down; returns the first. */
static __device__ __forceinline__ int64_t take_groups(const tile_job *job, int32_t groups,
                                                      tile_row *row)
{
  unsigned long long start = 0;
  if (threadIdx.x % MD_WARP == 0) {
    start = atomicAdd(&job->result->groups, (unsigned long long)groups);
    if (row->last >= 0) {
      row->piece = job->n_first + (int64_t)atomicAdd(&job->result->further, 1ull);
      if (max(row->piece, row->last) < job->room.pieces)
        job->groups[row->last].next = (int32_t)row->piece;
    }
    if (row->piece >= job->room.pieces || (int64_t)start + groups > job->room.list)
      job->result->unfit = 1;
    if (row->piece < job->room.pieces)
      job->groups[row->piece] = (neighbor_piece){(int64_t)start, groups, 0};
    row->last = row->piece;
  }
  return (int64_t)__shfl_sync(MD_ALL_LANES, start, 0);
}

/* What a lane has yet to write of a bank: bits of its queue, from their highest on, and where the
 * first word's highest bit stands in shared memory. */
typedef struct {
  uint32_t word[TILE_WORDS];
  const uint16_t *at;
} tile_rest;

static __device__ __forceinline__ int32_t count_bits(const tile_rest *rest)
{
  int32_t count = 0;
#pragma unroll
  for (int w = 0; w < TILE_WORDS; w++)
    count += __popc(rest->word[w]);
  return count;
}

/* Levels of the row that a bank takes part in: one for each entry, and one without for each empty
 * word that has entries behind it. */
static __device__ __forceinline__ int32_t levels_of(const tile_rest *rest)
{
  int32_t empty = 0;
#pragma unroll
  for (int w = 1; w < TILE_WORDS - 1; w++)
    empty += rest->word[w] == 0 && rest->word[w + 1] != 0;
  return count_bits(rest) + empty;
}

/* Groups for a row: as few as hold it, but so many that what then waits for a hole fits its
 * list. */
static __device__ __forceinline__ int32_t groups_of(const int32_t levels[TILE_BANKS], int32_t count)
{
  for (int32_t groups = (count + TILE_BANKS - 1) / TILE_BANKS;; groups++) {
    int32_t waiting = 0;
#pragma unroll
    for (int b = 0; b < TILE_BANKS; b++)
      waiting += max(levels[b] - groups, 0);
    if (waiting <= TILE_WAITING) return groups;
  }
}

/* Zeros above the highest bit; of 0 -1. */
static __device__ __forceinline__ uint32_t leading_zeros(uint32_t bits)
{
  uint32_t zeros;
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(zeros) : "r"(bits));
  return zeros;
}

/* The lowest bits after so many, none after 31 or more. */
static __device__ __forceinline__ uint32_t lowest_after(uint32_t zeros)
{
  uint32_t bits;
  asm("shr.u32 %0, %1, %2;" : "=r"(bits) : "r"(0x7fffffff), "r"(zeros));
  return bits;
}

/* An entry of a word of a bank's queue, that of its lowest bit, to the waiting list. */
static __device__ __forceinline__ void put_lowest(const tile_room *room, const uint16_t *block,
                                                  uint32_t *word, int32_t *waiting)
{
  *waiting_of(room, (*waiting)++) = block[leading_zeros(*word & -*word)];
  *word &= *word - 1;
}

/* So many of a bank's entries to the waiting list: of a word that holds many, as long as it is not
 * empty thereafter, else the last ones. */
static __device__ __forceinline__ void put_off(const tile_room *room, const uint16_t *queue,
                                               int32_t entries, tile_rest *rest, int32_t *waiting)
{
  enum { FULL = 1 };
#pragma unroll 1
  for (; entries > 0 && (rest->word[FULL] & (rest->word[FULL] - 1)); entries--)
    put_lowest(room, queue + FULL * TILE_BLOCK, &rest->word[FULL], waiting);
#pragma unroll 1
  for (; entries > 0; entries--) {
    int last = 0;
#pragma unroll
    for (int w = 1; w < TILE_WORDS; w++)
      if (rest->word[w] != 0) last = w;
#pragma unroll
    for (int w = 0; w < TILE_WORDS; w++)
      if (w == last) put_lowest(room, queue + w * TILE_BLOCK, &rest->word[w], waiting);
  }
}

/* The first word that has bits becomes the first. */
static __device__ __forceinline__ void find_first(const uint16_t *queue, tile_rest *rest)
{
  if (rest->word[0] == 0) {
    const uint16_t *end = queue + TILE_WORDS * TILE_BLOCK;
    rest->at = rest->at + TILE_BLOCK < end ? rest->at + TILE_BLOCK : end;
#pragma unroll
    for (int w = 0; w < TILE_WORDS; w++)
      rest->word[w] = w + 1 < TILE_WORDS ? rest->word[w + 1] : 0;
  }
}

/* The next entry of a bank, or a far one, that before the word at hand; where `fills`, in the last
 * holes of the row one that waits. */
static __device__ __forceinline__ uint32_t next_entry(const tile_room *room, int bank,
                                                      tile_rest *rest, bool fills, int32_t waiting,
                                                      int32_t *holes)
{
  find_first(room->queue + bank * TILE_STRIDE, rest);
  const uint32_t bits = rest->word[0], zeros = leading_zeros(bits);
  const uint16_t *from = rest->at + (int32_t)zeros;
  rest->word[0] = bits & lowest_after(zeros);
  if (fills) {
    *holes -= bits == 0;
    if (bits == 0 && (uint32_t)*holes < (uint32_t)waiting) from = waiting_of(room, *holes);
  }
  return *from;
}

/* Slot s of one level is entry[(s + lane) mod TILE_BANKS]; two slots a word. */
static __device__ __forceinline__ void arrange(const uint32_t entry[TILE_BANKS],
                                               uint32_t word[TILE_BANKS / 2])
{
  enum { WORDS = TILE_BANKS / 2 };
  uint32_t pair[WORDS];
#pragma unroll
  for (int k = 0; k < WORDS; k++)
    pair[k] = entry[2 * k] | entry[2 * k + 1] << 16;
#pragma unroll
  for (int k = 0; k < WORDS; k++)
    word[k] = __funnelshift_r(pair[k], pair[(k + 1) % WORDS], threadIdx.x % 2 * 16);
#pragma unroll
  for (int step = 1; step < WORDS; step *= 2) {
#pragma unroll
    for (int k = 0; k < WORDS; k++)
      pair[k] = word[(k + step) % WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
      word[k] = threadIdx.x / 2 & step ? pair[k] : word[k];
  }
}

/* A level of the warp's rows to `to`; fills: as in next_entry. */
static __device__ __forceinline__ void write_level(const tile_room *room,
                                                   tile_rest rest[TILE_BANKS], bool fills,
                                                   int32_t waiting, int32_t *holes, uint4 *to)
{
  uint32_t entry[TILE_BANKS], word[TILE_BANKS / 2];
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++)
    entry[b] = next_entry(room, b, &rest[b], fills, waiting, holes);
  arrange(entry, word);
  *to = make_uint4(word[0], word[1], word[2], word[3]);
}

/* The level from which on all rows have holes for what waits, but for those of empty words, or 0;
 * *holes, that of all levels, gets that of these. */
static __device__ __forceinline__ int32_t fill_from(const int32_t levels[TILE_BANKS],
                                                    int32_t groups, int32_t waiting, int32_t *holes)
{
  int32_t level = groups, found = 0;
  for (; level > 0 && __any_sync(MD_ALL_LANES, found < waiting); level--)
#pragma unroll
    for (int b = 0; b < TILE_BANKS; b++)
      found += levels[b] < level;
  if (level > 0) *holes = found;
  return level;
}

/* Write out what the tests found for the warp's rows. */
static __device__ __forceinline__ void write_rows(const tile_job *job, const tile_room *room,
                                                  tile_rest rest[TILE_BANKS], tile_row *row)
{
  int32_t levels[TILE_BANKS], count = 0, waiting = 0;
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++) {
    rest[b].at = room->queue + b * TILE_STRIDE;
    levels[b] = levels_of(&rest[b]);
    count += count_bits(&rest[b]);
  }
  const int32_t groups = __reduce_max_sync(MD_ALL_LANES, groups_of(levels, count));
  const int64_t at = take_groups(job, groups, row);
  row->count += count;
  if (at + groups > job->room.list) return;
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++)
    put_off(room, room->queue + b * TILE_STRIDE, levels[b] - groups, &rest[b], &waiting);
  int32_t holes = groups * TILE_BANKS - count + waiting;
  const int32_t filled = fill_from(levels, groups, waiting, &holes);
  uint4 *to = job->list + at * MD_WARP + threadIdx.x % MD_WARP;
  int32_t level = 0;
  for (; level < filled; level++, to += MD_WARP)
    write_level(room, rest, false, waiting, &holes, to);
  for (; level < groups; level++, to += MD_WARP)
    write_level(room, rest, true, waiting, &holes, to);
}

#endif
