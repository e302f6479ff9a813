/* neighbor/tiles/tile_tests_gpu.h - which entries of the halo belong to the rows of a warp, by
 * tensor cores.
 *
 * In units of r_list, relative to the tile's origin, entry b is within r_list of atom a where
 *     a b - |b|^2 / 2 + (1 - |a|^2) / 2 > 0.
 * A coordinate is the sum of two halves, high and low, and so is n = -|b|^2 / 2, of the coordinates
 * thus rounded.  Entries are 8 halves, rows twice 8 of them,
 *     entry     xh yh  zh nh  xl yl  zl nl
 *     row       xh yh  zh 1   xh yh  zh 1,    xl yl  zl 0   xl yl  zl 0,
 * and one m16n8k16, which gets every entry twice, has the sum above of 16 rows and 8 entries; the
 * last term is what it adds to.  Products of halves are exact; sums lose less than 2^-17 X^2, where
 * X is the largest coordinate.  Where that leaves the sign open, the positions themselves decide,
 * so that every kind of list holds the same pairs.
 *
 * A warp queues the entries near the boxes around its atoms, bank by bank, an entry e lying in bank
 * e mod TILE_BANKS: 8 entries that are read together never conflict. */
#ifndef TILE_TESTS_GPU_H
#define TILE_TESTS_GPU_H

#include "neighbor/tiles/tile_rows_gpu.h"

#include <cuda_fp16.h>

/* Levels of a queue that are tested before doubts are looked for; the first step of a search in
 * one. */
enum { TILE_GROUP = 8, TILE_SEARCH = 64 };

/* A place as two halves a coordinate. */
typedef struct {
  __half hi[3], lo[3];
  float norm; /* -|x|^2 / 2 */
} tile_point;

static __device__ __forceinline__ tile_point split_point(float x, float y, float z, float inv_r)
{
  const float at[3] = {x * inv_r, y * inv_r, z * inv_r};
  tile_point p;
  p.norm = 0;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    p.hi[d] = __float2half_rn(at[d]);
    p.lo[d] = __float2half_rn(at[d] - __half2float(p.hi[d]));
    const float sum = __half2float(p.hi[d]) + __half2float(p.lo[d]);
    p.norm -= sum * sum / 2;
  }
  return p;
}

static __device__ __forceinline__ uint32_t two_halves(__half low, __half high)
{
  return __half_as_ushort(low) | (uint32_t)__half_as_ushort(high) << 16;
}

static __device__ __forceinline__ uint4 entry_of(const tile_point *p)
{
  const __half high = __float2half_rn(p->norm);
  const __half low = __float2half_rn(p->norm - __half2float(high));
  return make_uint4(two_halves(p->hi[0], p->hi[1]), two_halves(p->hi[2], high),
                    two_halves(p->lo[0], p->lo[1]), two_halves(p->lo[2], low));
}

/* In no row. */
static __device__ __forceinline__ uint4 far_entry(void)
{
  return make_uint4(0, two_halves(__float2half_rn(0), __float2half_rn(-60000)), 0, 0);
}

/* The warp's rows as the tests need them, from each lane's own; present: there is such a row. */
static __device__ __forceinline__ void spread_rows(const tile_job *job, bool present, tile_row *row)
{
  const tile_point p = split_point(row->x, row->y, row->z, job->inv_r);
  const __half one = __float2half_rn(1), zero = __float2half_rn(0);
  const uint32_t word[4] = {two_halves(p.hi[0], p.hi[1]), two_halves(p.hi[2], one),
                            two_halves(p.lo[0], p.lo[1]), two_halves(p.lo[2], zero)};
  const float rest = present ? 0.5f + p.norm : -INFINITY;
  const int lane = threadIdx.x % MD_WARP;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int from = lane / 4 + 8 * i;
    uint32_t all[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
      all[k] = __shfl_sync(MD_ALL_LANES, word[k], from);
    row->point[i / 2][i % 2] = lane % 2 ? all[1] : all[0];
    row->point[i / 2][2 + i % 2] = lane % 2 ? all[3] : all[2];
    row->rest[i] = __shfl_sync(MD_ALL_LANES, rest, from);
  }
}

/* Rows lane / 4 + 8 i against entries 2 (lane % 4) + j; each lane has a part of entry lane / 4. */
static __device__ __forceinline__ void multiply(const tile_row *row, uint32_t part, float sum[4][2])
{
#pragma unroll
  for (int k = 0; k < 2; k++)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %8}, {%9, %9, %10, %10};"
        : "=f"(sum[2 * k][0]), "=f"(sum[2 * k][1]), "=f"(sum[2 * k + 1][0]), "=f"(sum[2 * k + 1][1])
        : "r"(row->point[k][0]), "r"(row->point[k][1]), "r"(row->point[k][2]),
          "r"(row->point[k][3]), "r"(part), "f"(row->rest[2 * k]), "f"(row->rest[2 * k + 1]));
}

static __device__ __forceinline__ uint32_t part_of(const tile_room *room, uint32_t entry)
{
  return *(const uint32_t *)((const char *)room->halo + entry + threadIdx.x % 4 * 4);
}

static __device__ bool is_exactly_near(const tile_job *job, int32_t i, int32_t j)
{
  if (i == ABSENT || j == ABSENT) return false;
  const state4 p = job->x[i], q = job->x[j];
  const state dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
  return dx * dx + dy * dy + dz * dz < (state)job->r_sq;
}

/* Shift the signs of TILE_GROUP levels into miss[i][j]; queue: of bank lane / 4.  Returns the sum
 * that is nearest to 0. */
static __device__ __forceinline__ float test_group(const tile_room *room, const tile_row *row,
                                                   const uint16_t *queue, uint32_t miss[4][2])
{
  const uint4 queued = *(const uint4 *)queue;
  const uint32_t word[4] = {queued.x, queued.y, queued.z, queued.w};
  float nearest = INFINITY;
#pragma unroll
  for (int u = 0; u < TILE_GROUP; u++) {
    float sum[4][2];
    multiply(row, part_of(room, u % 2 ? word[u / 2] >> 16 : word[u / 2] & 0xffff), sum);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) {
        miss[i][j] = __funnelshift_l(__float_as_uint(sum[i][j]), miss[i][j], 1);
        nearest = fminf(nearest, fabsf(sum[i][j]));
      }
  }
  return nearest;
}

/* Of the group just tested, what rounding leaves open; queue: of the first of the 8 banks. */
static __device__ __forceinline__ void settle_doubts(const tile_job *job, const tile_room *room,
                                                     const tile_row *row, const uint16_t *queue,
                                                     uint32_t miss[4][2])
{
  const int lane = threadIdx.x % MD_WARP;
#pragma unroll 1
  for (int u = 0; u < TILE_GROUP; u++) {
    float sum[4][2];
    multiply(row, part_of(room, queue[lane / 4 * TILE_STRIDE + u]), sum);
    const uint32_t bit = 0x80u >> u;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) {
        if (fabsf(sum[i][j]) > row->margin) continue;
        const int32_t entry = queue[(lane % 4 * 2 + j) * TILE_STRIDE + u] / TILE_ENTRY;
        const bool near = is_exactly_near(job, room->atom[lane / 4 + 8 * i], room->index[entry]);
        miss[i][j] = near ? miss[i][j] & ~bit : miss[i][j] | bit;
      }
  }
}

/* Bits of all rows of the warp for a word of levels of banks first ... first + 7, which has
 * `groups` groups; queue: of the first of them. */
static __device__ __forceinline__ void test_banks(const tile_job *job, const tile_room *room,
                                                  int first, int32_t groups, const uint16_t *queue,
                                                  const tile_row *row)
{
  const int lane = threadIdx.x % MD_WARP;
  uint32_t miss[4][2] = {};
  for (int32_t g = 0; g < groups; g++, queue += TILE_GROUP) {
    const float nearest = test_group(room, row, queue + lane / 4 * TILE_STRIDE, miss);
    if (__any_sync(MD_ALL_LANES, nearest <= row->margin))
      settle_doubts(job, room, row, queue, miss);
  }
  const int unused = 32 - groups * TILE_GROUP;
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) {
      const int bank = first + lane % 4 * 2 + j, r = lane / 4 + 8 * i;
      room->bits[bank * MD_WARP + r] = ~miss[i][j] << unused;
    }
}

/* Level of the row's own atom in the queue of its bank, which entries follow each other in. */
static __device__ __forceinline__ int level_of(const uint16_t *queue, uint16_t entry)
{
  int level = 0;
  for (int step = TILE_SEARCH; step > 0; step /= 2)
    if (level + step <= TILE_LEVELS && queue[level + step - 1] < entry) level += step;
  return level < TILE_LEVELS && queue[level] == entry ? level : TILE_LEVELS;
}

/* Test what is queued, `levels` in the fullest bank, and write the rows. */
static __device__ __forceinline__ void use_queues(const tile_job *job, const tile_room *room,
                                                  int32_t queued, int32_t levels, uint32_t far,
                                                  tile_row *row)
{
  enum { PER_WORD = 32 / TILE_GROUP };
  const int lane = threadIdx.x % MD_WARP, bank = lane % TILE_BANKS;
  for (int32_t l = queued + lane / TILE_BANKS; l < TILE_LEVELS; l += MD_WARP / TILE_BANKS)
    room->queue[bank * TILE_STRIDE + l] = (uint16_t)(far + bank * TILE_ENTRY);
  __syncwarp();
  const uint16_t self = room->self[lane];
  const int own = self / TILE_ENTRY % TILE_BANKS;
  const int level = level_of(room->queue + own * TILE_STRIDE, self);
  int32_t groups = (levels + TILE_GROUP - 1) / TILE_GROUP;
  tile_rest rest[TILE_BANKS];
#pragma unroll 1
  for (int word = 0; word < TILE_WORDS; word++, groups -= PER_WORD) {
    const int32_t here = min(groups, (int32_t)PER_WORD);
    if (here > 0)
      for (int first = 0; first < TILE_BANKS; first += 8)
        test_banks(job, room, first, here, room->queue + first * TILE_STRIDE + 32 * word, row);
    __syncwarp();
    if (level / 32 == word) *bits_of(room, own) &= ~(0x80000000u >> level % 32);
#pragma unroll
    for (int b = 0; b < TILE_BANKS; b++) {
#pragma unroll
      for (int w = 1; w < TILE_WORDS; w++)
        rest[b].word[w - 1] = rest[b].word[w];
      rest[b].word[TILE_WORDS - 1] = here > 0 ? *bits_of(room, b) : 0;
    }
    __syncwarp();
  }
  write_rows(job, room, rest, row);
  __syncwarp();
}

/* All m entries of the halo against the warp's rows. */
static __device__ __forceinline__ void scan_halo(const tile_job *job, const tile_room *room,
                                                 int32_t m, uint32_t far, tile_row *row)
{
  enum { PER_BANK = MD_WARP / TILE_BANKS, AT_ONCE = 4, FULL = TILE_LEVELS - AT_ONCE * PER_BANK };
  const int lane = threadIdx.x % MD_WARP, bank = lane % TILE_BANKS, warp = threadIdx.x / MD_WARP;
  const uint8_t *near = room->near + lane;
  unsigned mates = 0; /* lanes of the same bank */
  for (int k = bank; k < MD_WARP; k += TILE_BANKS)
    mates |= 1u << k;
  const unsigned me = 1u << lane, before = mates & (me - 1);
  uint16_t *queue = room->queue + bank * TILE_STRIDE;
  if (lane < TILE_BANKS) *far_of(room, lane) = (uint16_t)(far + lane * TILE_ENTRY);
  int32_t e = 0;
  do {
    int32_t queued = 0, bound = 0; /* in this bank; in the fullest, at most */
    while (e < m && bound <= FULL) {
      unsigned all[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        const int32_t at = e + u * MD_WARP; /* far ones, which are near nobody, end the last */
        all[u] = __ballot_sync(MD_ALL_LANES, at < m && (near[at] >> warp & 1));
      }
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        if (all[u] & me)
          queue[queued + __popc(all[u] & before)] =
              (uint16_t)((e + u * MD_WARP + lane) * TILE_ENTRY);
        queued += __popc(all[u] & mates);
      }
      e += AT_ONCE * MD_WARP, bound += AT_ONCE * PER_BANK;
      if (bound > FULL) bound = __reduce_max_sync(MD_ALL_LANES, queued);
    }
    use_queues(job, room, queued, __reduce_max_sync(MD_ALL_LANES, queued), far, row);
  } while (e < m);
}

#endif
