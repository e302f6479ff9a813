/* neighbor/tile_rows_gpu.h - the rows of one tile from the halo that lies in shared memory: one
 * warp 32 rows.
 *
 * A warp picks the entries of the halo that lie near the box around its atoms into one queue for
 * each bank of shared memory, and every lane tests them all against its own atom.  An entry e lies
 * in bank e mod TILE_BANKS; the n-th hit of bank b goes to slot TILE_BANKS n + (b - lane) mod
 * TILE_BANKS of the lane's row, so that the lanes that read together read from different banks.
 * What finds its place taken, or would make the row longer than its warp's others, waits in a short
 * list and fills the holes; what is left is filled with entries that are far away.
 *
 * Distances are tested in float, relative to the tile; where that cannot tell on which side of
 * r_list a pair lies, the positions themselves decide, so that every kind of list holds the same
 * pairs. */
#ifndef TILE_ROWS_GPU_H
#define TILE_ROWS_GPU_H

#include "neighbor/bins_gpu.h"
#include "neighbor/candidate_gpu.h"

#include <math.h>

enum {
  TILE_ROWS = NEIGHBOR_TILE_ROWS,
  TILE_WARPS = TILE_ROWS / MD_WARP,
  TILE_BANKS = MD_PREC == 2 ? NEIGHBOR_TILE_BANKS_WIDE : NEIGHBOR_TILE_BANKS,
  TILE_CHUNK = NEIGHBOR_TILE_CHUNK,
  TILE_SLOTS = 112,                     /* of a row */
  TILE_DEPTH = TILE_SLOTS / TILE_BANKS, /* of them in one bank */
  TILE_WAITING = 20,                    /* entries of a row that found no slot */
  TILE_QUEUE = 512 / TILE_BANKS,        /* candidates of a warp in one bank */
  TILE_ENTRY = 16,                      /* bytes from an entry of the halo to the next */
};

typedef struct {
  unsigned long long entries, halos; /* of all rows, of all tiles */
  int32_t row, most;                 /* entries of the longest row, of the largest pass */
  int32_t chunks, passes;            /* what some warp and some tile need */
} tile_result;

typedef struct {
  bins grid;
  int32_t n, capacity, passes, chunks;
  double r_sq; /* r_list^2 */
  state reach; /* r_list and what rounding may add */
  double inv_scale;
  const int32_t *rows; /* atoms as they follow each other, NULL: as they lie */
  const state4 *x, *sorted;
  const int32_t *bin_start;
  coord4 *origin;
  int32_t *halo, *halo_count, *chunk_count, *count;
  uint4 *list;
  tile_result *result;
} tile_job;

/* What lies in shared memory.  Places in it are offsets in bytes. */
typedef struct {
  float4 *halo;          /* [capacity] relative to the tile's origin, index in w */
  uint16_t *queue;       /* [TILE_QUEUE][TILE_BANKS], of this warp */
  char *slots, *waiting; /* uint16_t [TILE_SLOTS / 2][TILE_ROWS][2], [TILE_WAITING][TILE_ROWS] */
} tile_room;

enum {
  TILE_LEVEL = TILE_BANKS * TILE_ROWS * 2, /* from a slot to the next of its bank */
  TILE_SPAN = TILE_CHUNK * TILE_ROWS * 2,  /* from a chunk to the next */
  TILE_WAIT = TILE_ROWS * 2                /* from a waiting entry to the next */
};

/* One lane's row. */
typedef struct {
  state4 at;                   /* its position, index in w */
  float x, y, z, inner, outer; /* squared distances surely within r_list, and not surely beyond */
  int32_t slot[TILE_BANKS];    /* where the next entry of a bank goes */
  int32_t waiting;             /* where the next that waits goes */
  int32_t count, cursor;       /* entries written out; chunks of the warp written out */
} tile_row;

static __device__ __forceinline__ uint16_t *entry_in(char *room, int32_t at)
{
  return (uint16_t *)(room + at);
}

static __device__ __forceinline__ int32_t n_waiting(const tile_row *row)
{
  return row->waiting / TILE_WAIT;
}

/* Slot number (b - lane) mod TILE_BANKS of the first level. */
static __device__ __forceinline__ int32_t first_slot(int bank)
{
  const int32_t s = (bank - (int)threadIdx.x) & (TILE_BANKS - 1);
  return s / 2 * (4 * TILE_ROWS) + s % 2 * 2 + 4 * (int32_t)threadIdx.x;
}

static __device__ __forceinline__ void clear_slots(tile_row *row)
{
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++)
    row->slot[b] = first_slot(b);
}

static __device__ bool is_exactly_near(const tile_job *job, const tile_row *row, int32_t j)
{
  const state4 q = job->x[j];
  const state dx = row->at.x - q.x, dy = row->at.y - q.y, dz = row->at.z - q.z;
  return dx * dx + dy * dy + dz * dz < (state)job->r_sq;
}

/* The u-th of the queued entries. */
static __device__ __forceinline__ float4 queued_entry(const tile_room *room, uint4 queued, int u)
{
  const uint32_t word = u < 2 ? queued.x : u < 4 ? queued.y : u < 6 ? queued.z : queued.w;
  return *(const float4 *)((const char *)room->halo + (u % 2 ? word >> 16 : word & 0xffff));
}

static __device__ __forceinline__ float distance_sq(const tile_row *row, float4 q)
{
  const float dx = row->x - q.x, dy = row->y - q.y, dz = row->z - q.z;
  return dx * dx + dy * dy + dz * dz;
}

/* Of the entries just tested, take back what float took for near and is not. */
static __device__ __forceinline__ void settle_doubts(const tile_job *job, const tile_room *room,
                                                     uint4 queued, int first, tile_row *row)
{
#pragma unroll
  for (int u = 0; u < TILE_CHUNK; u++) {
    const float4 q = queued_entry(room, queued, u);
    const float r_sq = distance_sq(row, q);
    const int32_t j = __float_as_int(q.w);
    if (r_sq < row->outer && !(r_sq < row->inner) && j != candidate_index(row->at) &&
        !is_exactly_near(job, row, j))
      row->slot[first + u] -= TILE_LEVEL;
  }
}

/* Test TILE_CHUNK queued entries, of banks first, first + 1, ..., against the lane's atom; each bank
 * has room for one more.  All are loaded before the first is written anywhere. */
static __device__ __forceinline__ void test_chunk(const tile_job *job, const tile_room *room,
                                                  uint4 queued, int first, tile_row *row)
{
  const uint32_t word[4] = {queued.x, queued.y, queued.z, queued.w};
  const int32_t self = candidate_index(row->at);
  float4 q[TILE_CHUNK];
  float farthest = 0;
#pragma unroll
  for (int u = 0; u < TILE_CHUNK; u++)
    q[u] = queued_entry(room, queued, u);
#pragma unroll
  for (int u = 0; u < TILE_CHUNK; u++) {
    const float r_sq = distance_sq(row, q[u]);
    if (r_sq < row->outer && __float_as_int(q[u].w) != self) {
      *entry_in(room->slots, row->slot[first + u]) =
          (uint16_t)(u % 2 ? word[u / 2] >> 16 : word[u / 2]);
      row->slot[first + u] += TILE_LEVEL;
      farthest = fmaxf(farthest, r_sq);
    }
  }
  if (farthest >= row->inner) settle_doubts(job, room, queued, first, row);
}

/* Entries of a bank at slot `end` or behind it, `slot` being the next. */
static __device__ __forceinline__ int32_t beyond(int32_t slot, int32_t end)
{
  return max(slot - end, 0) / TILE_LEVEL;
}

static __device__ __forceinline__ int32_t entries_of(const tile_row *row)
{
  int32_t count = n_waiting(row);
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++)
    count += row->slot[b] / TILE_LEVEL;
  return count;
}

/* Chunks that the lane's row needs: so many that what then waits for a hole fits its list. */
static __device__ __forceinline__ int32_t chunks_of(const tile_row *row)
{
  const int32_t count = entries_of(row);
  int32_t chunks = min((count + TILE_CHUNK - 1) / TILE_CHUNK, TILE_SLOTS / TILE_CHUNK);
  for (;; chunks++) {
    int32_t waiting = n_waiting(row);
#pragma unroll
    for (int b = 0; b < TILE_BANKS; b++)
      waiting += beyond(row->slot[b], chunks * TILE_SPAN);
    if (waiting <= TILE_WAITING || chunks == TILE_SLOTS / TILE_CHUNK) return chunks;
  }
}

/* The last entry of a bank has to wait. */
static __device__ __forceinline__ void put_off(const tile_room *room, int bank, tile_row *row)
{
  row->slot[bank] -= TILE_LEVEL;
  *entry_in(room->waiting, row->waiting) = *entry_in(room->slots, row->slot[bank]);
  row->waiting += TILE_WAIT;
}

/* Entries of one bank that are beyond the row's end into holes of another. */
static __device__ __forceinline__ void lend(const tile_room *room, int from, int to, int32_t end,
                                            tile_row *row)
{
  while (row->slot[from] - TILE_LEVEL >= end && row->slot[to] < end) {
    row->slot[from] -= TILE_LEVEL;
    *entry_in(room->slots, row->slot[to]) = *entry_in(room->slots, row->slot[from]);
    row->slot[to] += TILE_LEVEL;
  }
}

/* Give every slot of the row's chunks an entry; far: the first of the halo's far entries.  More
 * entries than slots stay waiting.  Returns how many entries have a slot. */
static __device__ __forceinline__ int32_t fill_row(const tile_room *room, int32_t chunks,
                                                   uint32_t far, tile_row *row)
{
  const int32_t end = chunks * TILE_SPAN;
  int32_t entries = 0;
#pragma unroll
  for (int b = 0; b < TILE_BANKS - 8; b++) { /* loads of 16 bytes do not tell these apart */
    lend(room, b, b + 8, end, row);
    lend(room, b + 8, b, end, row);
  }
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++) {
    while (row->slot[b] - TILE_LEVEL >= end)
      put_off(room, b, row);
    entries += row->slot[b] / TILE_LEVEL;
  }
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++)
    for (; row->slot[b] < end; row->slot[b] += TILE_LEVEL) {
      uint32_t e = far + b * TILE_ENTRY;
      if (n_waiting(row) > 0) {
        row->waiting -= TILE_WAIT;
        e = *entry_in(room->waiting, row->waiting);
        entries++;
      }
      *entry_in(room->slots, row->slot[b]) = (uint16_t)e;
    }
  return entries;
}

/* Write out what the warp's rows hold in slots and begin them anew. */
static __device__ __forceinline__ void write_rows(const tile_job *job, const tile_room *room,
                                                  uint32_t far, tile_row *row)
{
  const int warp = threadIdx.x / MD_WARP, lane = threadIdx.x % MD_WARP;
  const int64_t at = ((int64_t)blockIdx.x * TILE_WARPS + warp) * job->chunks + row->cursor;
  const int32_t chunks = __reduce_max_sync(MD_ALL_LANES, chunks_of(row));
  row->count += fill_row(room, chunks, far, row);
  const uint32_t *pair = (const uint32_t *)room->slots + threadIdx.x;
  for (int32_t c = 0; c < min(chunks, job->chunks - row->cursor); c++) {
    const uint32_t *from = pair + c * (TILE_CHUNK / 2) * TILE_ROWS;
    job->list[(at + c) * MD_WARP + lane] =
        make_uint4(from[0], from[TILE_ROWS], from[2 * TILE_ROWS], from[3 * TILE_ROWS]);
  }
  row->cursor += chunks;
  clear_slots(row);
}

/* How many more entries every bank of every row of the warp has room for, after making some. */
static __device__ __forceinline__ int32_t make_room(const tile_job *job, const tile_room *room,
                                                    uint32_t far, tile_row *row)
{
  int32_t most = 0, full = 0;
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++) {
    most = max(most, row->slot[b]);
    full += row->slot[b] >= TILE_DEPTH * TILE_LEVEL;
  }
  most = __reduce_max_sync(MD_ALL_LANES, most / TILE_LEVEL);
  if (most < TILE_DEPTH) return TILE_DEPTH - most;
  if (__any_sync(MD_ALL_LANES, n_waiting(row) + full > TILE_WAITING)) {
    write_rows(job, room, far, row);
    return TILE_DEPTH;
  }
#pragma unroll
  for (int b = 0; b < TILE_BANKS; b++)
    if (row->slot[b] >= TILE_DEPTH * TILE_LEVEL) put_off(room, b, row);
  return 1;
}

/* Test what is queued, `queued` in the fullest bank, against all rows of the warp. */
static __device__ __forceinline__ void test_queue(const tile_job *job, const tile_room *room,
                                                  int32_t queued, uint32_t far, tile_row *row)
{
  for (int32_t k = 0; k < queued;) {
    const int32_t end = min(queued, k + make_room(job, room, far, row));
    for (; k < end; k++)
#pragma unroll
      for (int first = 0; first < TILE_BANKS; first += TILE_CHUNK)
        test_chunk(job, room, *(const uint4 *)(room->queue + k * TILE_BANKS + first), first, row);
  }
}

/* A box around atoms of a warp: centre and half edges. */
typedef struct {
  float x, y, z, half_x, half_y, half_z;
} tile_box;

static __device__ __forceinline__ float outside_sq(const tile_box *box, float x, float y, float z)
{
  const float dx = fmaxf(fabsf(x - box->x) - box->half_x, 0);
  const float dy = fmaxf(fabsf(y - box->y) - box->half_y, 0);
  const float dz = fmaxf(fabsf(z - box->z) - box->half_z, 0);
  return dx * dx + dy * dy + dz * dz;
}

/* All m entries of the halo, and far ones up to a multiple of 32, against the warp's rows. */
static __device__ __forceinline__ void scan_halo(const tile_job *job, const tile_room *room,
                                                 const tile_box *box, int boxes, int32_t m,
                                                 uint32_t far, tile_row *row)
{
  enum { PER_BANK = MD_WARP / TILE_BANKS };
  const int lane = threadIdx.x % MD_WARP, bank = lane % TILE_BANKS;
  unsigned mates = 0; /* lanes of the same bank */
  for (int k = bank; k < MD_WARP; k += TILE_BANKS)
    mates |= 1u << k;
  const float reach_sq = (float)job->reach * (float)job->reach;
  int32_t queued = 0, most = 0;
  for (int32_t e = lane; e - lane < m; e += MD_WARP) {
    const float4 q = room->halo[e];
    bool near = outside_sq(box, q.x, q.y, q.z) < reach_sq;
    for (int k = 1; k < boxes; k++)
      near = near || outside_sq(box + k, q.x, q.y, q.z) < reach_sq;
    const unsigned all = __ballot_sync(MD_ALL_LANES, near) & mates;
    if (near)
      room->queue[(queued + __popc(all & ((1u << lane) - 1))) * TILE_BANKS + bank] =
          (uint16_t)(e * TILE_ENTRY);
    queued += __popc(all);
    most = __reduce_max_sync(MD_ALL_LANES, queued);
    if (most <= TILE_QUEUE - PER_BANK && e - lane + MD_WARP < m) continue;
    if (lane < TILE_BANKS)
      for (int32_t k = queued; k < most; k++)
        room->queue[k * TILE_BANKS + bank] = (uint16_t)(far + bank * TILE_ENTRY);
    __syncwarp();
    test_queue(job, room, most, far, row);
    __syncwarp();
    queued = 0;
  }
}

#endif
