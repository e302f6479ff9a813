/* neighbor/tiles/tile_tests_gpu.h - which entries of the halo belong to the rows of a warp, by
 * tensor cores.
 *
 * In units of r_list, relative to the tile's origin, entry b is within r_list of atom a where
 *     a b - |b|^2 / 2 + (1 - |a|^2) / 2 > 0.
 * A coordinate is the sum of two halves, high and low, and so is n = -|b|^2 / 2, of the coordinates
 * thus rounded.  Entries are 8 halves, of which a product takes some twice, rows 16,
 *     entry     xh yh  zh nh  xl yl  zl nl,    xh yh  zh nh  1  1   1  1
 *     row       xh yh  zh 1   xh yh  zh 1,     xl yl  zl 0   ch cl  0  0,
 * where c is the last term, and one m16n8k16 has the sum above of 16 rows and 8 entries.  Products
 * of halves are exact.  The product of xl and xl is left out.
 *
 * Let R be the distance of the farthest entry, and u = 2^-24.  A sum loses at most 13 u R^2 where
 * its 13 terms are cut off 24 binary digits below the first of the largest, 4 u R^2 by what is left
 * out, 4 u R^2 by the low halves of n and c, and 3 u R^2 by n and c as floats: together 24 u R^2.
 * It loses 18 u R where coordinates become floats and two halves, and in the exact test's own
 * floats.  margin_of allows for 32 of either, which leaves room to round the sum to a half.
 *
 * On a Hopper GPU sums are formed as those in float are, and rounded to halves once; other GPUs sum
 * in float.  Where the margin leaves a sign open, the positions themselves decide, so that every
 * kind of list holds the same pairs.
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

/* A lane's part of the warp's rows as the tests read them, halves of 16 rows. */
typedef struct {
  uint32_t point[2][4];
} tile_points;

/* From each lane's own row; present: there is such a row. */
static __device__ __forceinline__ tile_points spread_rows(const tile_job *job, bool present,
                                                          const tile_row *row)
{
  tile_points to;
  const tile_point p = split_point(row->x, row->y, row->z, job->inv_r);
  const __half one = __float2half_rn(1), zero = __float2half_rn(0);
  const float rest = present ? 0.5f + p.norm : -60000;
  const __half high = __float2half_rn(rest), low = __float2half_rn(rest - __half2float(high));
  const uint32_t word[5] = {two_halves(p.hi[0], p.hi[1]), two_halves(p.hi[2], one),
                            two_halves(p.lo[0], p.lo[1]), two_halves(p.lo[2], zero),
                            two_halves(high, low)};
  const int lane = threadIdx.x % MD_WARP;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint32_t all[5];
#pragma unroll
    for (int k = 0; k < 5; k++)
      all[k] = __shfl_sync(MD_ALL_LANES, word[k], lane / 4 + 8 * i);
    to.point[i / 2][i % 2] = lane % 2 ? all[1] : all[0];
    const uint32_t even = lane % 4 ? all[4] : all[2], odd = lane % 4 == 1 ? all[3] : 0;
    to.point[i / 2][2 + i % 2] = lane % 2 ? odd : even;
  }
  return to;
}

/* Rows lane / 4 + 8 i, each a word of sum, against entries 2 (lane % 4) and one more; each lane has
 * a part of entry lane / 4. */
static __device__ __forceinline__ void multiply(const tile_points *rows, uint32_t part,
                                                uint32_t sum[4])
{
  const uint32_t ones = threadIdx.x % 4 < 2 ? part : 0x3c003c00; /* two halves */
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const uint32_t *row = rows->point[k];
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%8, %8};"
        : "=r"(sum[2 * k]), "=r"(sum[2 * k + 1])
        : "r"(row[0]), "r"(row[1]), "r"(row[2]), "r"(row[3]), "r"(part), "r"(ones), "r"(0));
#else
    float f[4];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %10, %10, %10};"
        : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3])
        : "r"(row[0]), "r"(row[1]), "r"(row[2]), "r"(row[3]), "r"(part), "r"(ones), "f"(0.0f));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(sum[2 * k]) : "f"(f[1]), "f"(f[0]));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(sum[2 * k + 1]) : "f"(f[3]), "f"(f[2]));
#endif
  }
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

static __device__ __forceinline__ __half2 halves_of(uint32_t word)
{
  return *(const __half2 *)&word;
}

/* Signs of the four halves of two words, each a byte of 0 or 255. */
static __device__ __forceinline__ uint32_t signs_of(uint32_t a, uint32_t b)
{
  uint32_t signs;
  asm("prmt.b32 %0, %1, %2, 0xfdb9;" : "=r"(signs) : "r"(a), "r"(b));
  return signs;
}

/* Shift the signs of TILE_GROUP levels into miss[i][j]; queue: of bank lane / 4.  Returns the sum
 * that is nearest to 0. */
static __device__ __forceinline__ float test_group(const tile_room *room, const tile_points *rows,
                                                   const uint16_t *queue, uint32_t miss[4][2])
{
  const uint4 queued = *(const uint4 *)queue;
  const uint32_t word[4] = {queued.x, queued.y, queued.z, queued.w};
  uint32_t bits[2] = {};
  __half2 nearest = halves_of(0x7c007c00); /* infinity */
#pragma unroll
  for (int u = 0; u < TILE_GROUP; u++) {
    uint32_t sum[4];
    multiply(rows, part_of(room, u % 2 ? word[u / 2] >> 16 : word[u / 2] & 0xffff), sum);
#pragma unroll
    for (int k = 0; k < 2; k++)
      bits[k] |= signs_of(sum[2 * k], sum[2 * k + 1]) & 0x01010101u << (TILE_GROUP - 1 - u);
#pragma unroll
    for (int i = 0; i < 4; i++)
      nearest = __hmin2(nearest, __habs2(halves_of(sum[i])));
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 2; j++)
      miss[i][j] = __byte_perm(miss[i][j], bits[i / 2], 0x2104 + i % 2 * 2 + j);
  return __half2float(__hmin(__low2half(nearest), __high2half(nearest)));
}

/* Of the group just tested, what rounding leaves open; queue: of the first bank. */
static __device__ __forceinline__ void settle_doubts(const tile_job *job, const tile_room *room,
                                                     const tile_points *rows, float margin,
                                                     const uint16_t *queue, uint32_t miss[4][2])
{
  const int lane = threadIdx.x % MD_WARP;
#pragma unroll 1
  for (int u = 0; u < TILE_GROUP; u++) {
    uint32_t sum[4];
    multiply(rows, part_of(room, queue[lane / 4 * TILE_STRIDE + u]), sum);
    const uint32_t bit = 0x80u >> u;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) {
        const __half2 both = halves_of(sum[i]);
        if (fabsf(j ? __high2float(both) : __low2float(both)) > margin) continue;
        const int32_t entry = queue[(lane % 4 * 2 + j) * TILE_STRIDE + u] / TILE_ENTRY;
        const bool near = is_exactly_near(job, room->atom[lane / 4 + 8 * i], room->index[entry]);
        miss[i][j] = near ? miss[i][j] & ~bit : miss[i][j] | bit;
      }
  }
}

/* Bits of all rows of the warp for a word of levels, which has `groups` groups; queue: of the first
 * bank. */
static __device__ __forceinline__ void test_banks(const tile_job *job, const tile_room *room,
                                                  int32_t groups, const uint16_t *queue,
                                                  const tile_points *rows, float margin)
{
  const int lane = threadIdx.x % MD_WARP;
  uint32_t miss[4][2] = {};
  for (int32_t g = 0; g < groups; g++, queue += TILE_GROUP) {
    const float nearest = test_group(room, rows, queue + lane / 4 * TILE_STRIDE, miss);
    if (__any_sync(MD_ALL_LANES, nearest <= margin))
      settle_doubts(job, room, rows, margin, queue, miss);
  }
  const int unused = 32 - groups * TILE_GROUP;
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) {
      const int bank = lane % 4 * 2 + j, r = lane / 4 + 8 * i;
      room->bits[bank * MD_WARP + r] = ~miss[i][j] << unused;
    }
}

/* Level of the row's own atom in the queue of its bank, in which entries follow each other up to
 * before `levels`. */
static __device__ __forceinline__ int level_of(const uint16_t *queue, int levels, uint16_t entry)
{
  int level = 0;
  for (int step = TILE_SEARCH; step > 0; step /= 2)
    if (level + step <= levels && queue[at_level(level + step - 1)] < entry) level += step;
  return level < levels && queue[at_level(level)] == entry ? level : TILE_LEVELS;
}

/* Test what is queued, `levels` in the fullest bank, and write the rows. */
static __device__ __forceinline__ void use_queues(const tile_job *job, const tile_room *room,
                                                  int32_t queued, int32_t levels, uint32_t far,
                                                  tile_row *row)
{
  enum { PER_WORD = 32 / TILE_GROUP };
  const int lane = threadIdx.x % MD_WARP, bank = lane % TILE_BANKS;
  int32_t groups = (levels + TILE_GROUP - 1) / TILE_GROUP;
  for (int l = queued + lane / TILE_BANKS; l < groups * TILE_GROUP; l += MD_WARP / TILE_BANKS)
    room->queue[bank * TILE_STRIDE + at_level(l)] = (uint16_t)(far + bank * TILE_ENTRY);
  __syncwarp();
  const uint16_t self = room->self[lane];
  const int own = self / TILE_ENTRY % TILE_BANKS;
  const int level = level_of(room->queue + own * TILE_STRIDE, levels, self);
  tile_rest rest[TILE_BANKS];
  const tile_points rows = spread_rows(job, room->atom[lane] != ABSENT, row);
#pragma unroll 1
  for (int word = 0; word < TILE_WORDS; word++, groups -= PER_WORD) {
    const int32_t here = min(groups, (int32_t)PER_WORD);
    if (here > 0) test_banks(job, room, here, room->queue + word * TILE_BLOCK, &rows, row->margin);
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

/* Words of four entries of a bank, near or not, that a lane queues. */
typedef struct {
  const uint32_t *near;
  int32_t count;
  uint32_t entry;         /* the first of the first word, times TILE_ENTRY */
  int32_t before, queued; /* near entries of the bank before the lane's, and of all lanes */
} tile_share;

/* Near entries among words of a lane. */
static __device__ __forceinline__ int32_t count_near_in(const uint32_t *near, int32_t count)
{
  const int warp = threadIdx.x / MD_WARP;
  uint32_t sums = 0; /* a byte each */
  for (int32_t k = 0; k < count; k++)
    sums += near[k] >> warp & 0x01010101;
  return (int32_t)(sums * 0x01010101 >> 24);
}

/* The lane's share of the words of its bank. */
static __device__ __forceinline__ tile_share find_share(const uint32_t *near, int32_t words)
{
  enum { PER_BANK = MD_WARP / TILE_BANKS, PER_WORD = 4 * TILE_BANKS };
  const int lane = threadIdx.x % MD_WARP, bank = lane % TILE_BANKS;
  tile_share s;
  s.count = (words + PER_BANK - 1) / PER_BANK;
  const int32_t first = lane / TILE_BANKS * s.count;
  s.near = near + first;
  s.entry = (uint32_t)(first * PER_WORD + bank) * TILE_ENTRY;
  const int32_t mine = count_near_in(s.near, s.count);
  s.queued = mine;
  for (int step = TILE_BANKS; step < MD_WARP; step *= 2) {
    const int32_t before = __shfl_up_sync(MD_ALL_LANES, s.queued, step);
    if (lane >= step) s.queued += before;
  }
  s.before = s.queued - mine;
  s.queued = __shfl_sync(MD_ALL_LANES, s.queued, MD_WARP - TILE_BANKS + bank);
  return s;
}

/* An entry, where `near`, to a level of a queue in shared memory: written so as to be no branch. */
static __device__ __forceinline__ void put_near(uint32_t queue, uint32_t *level, uint32_t entry,
                                                uint32_t near)
{
  asm volatile(
      "{.reg .pred p; setp.ne.u32 p, %3, 0; @p st.shared.u16 [%1], %2; @p add.u32 %0, %0, 1;}"
      : "+r"(*level)
      : "r"(queue + at_level(*level) * (uint32_t)sizeof(uint16_t)), "h"((uint16_t)entry), "r"(near)
      : "memory");
}

/* The near entries of the lane's share to their queue. */
static __device__ __forceinline__ void queue_share(const tile_share *s, uint16_t *queue)
{
  enum { STEP = TILE_BANKS * TILE_ENTRY };
  const int warp = threadIdx.x / MD_WARP;
  const uint32_t to = (uint32_t)__cvta_generic_to_shared(queue);
  uint32_t level = (uint32_t)s->before, entry = s->entry;
  for (int32_t k = 0; k < s->count; k++, entry += 4 * STEP) {
    const uint32_t near = s->near[k] >> warp;
#pragma unroll
    for (uint32_t u = 0; u < 4; u++)
      put_near(to, &level, entry + u * STEP, near & 1u << 8 * u);
  }
}

/* How many of a bank's first near entries turn `turn` of `turns` has, which is every turns-th. */
static __device__ __forceinline__ int32_t in_turn(int32_t near, int32_t turn, int32_t turns)
{
  return turns <= 1 ? near : (near - turn + turns - 1) / turns;
}

/* The same of one turn. */
static __device__ __forceinline__ void queue_turn(const tile_share *s, int32_t turn, int32_t turns,
                                                  uint16_t *queue)
{
  const int warp = threadIdx.x / MD_WARP;
  int32_t level = in_turn(s->before, turn, turns), wait = level * turns + turn - s->before;
  for (int32_t k = 0; k < 4 * s->count; k++) {
    if (!(s->near[k / 4] >> (warp + k % 4 * 8) & 1)) continue;
    if (wait == 0)
      queue[at_level((uint32_t)level++)] = (uint16_t)(s->entry + k * TILE_BANKS * TILE_ENTRY);
    wait = wait == 0 ? turns - 1 : wait - 1;
  }
}

/* All m entries of the halo against the warp's rows.  Where a bank has more near entries than its
 * queue holds, they take turns: so each row has as many in each.  Shares are found anew in each
 * turn: kept, they would be spilled. */
static __device__ __forceinline__ void scan_halo(const tile_job *job, const tile_room *room,
                                                 int32_t m, uint32_t far, tile_row *row)
{
  enum { PER_BANK = MD_WARP / TILE_BANKS, PER_WORD = 4 * TILE_BANKS };
  const int lane = threadIdx.x % MD_WARP, bank = lane % TILE_BANKS;
  const uint32_t *near = (const uint32_t *)(room->near + near_at(job, bank));
  uint16_t *queue = room->queue + bank * TILE_STRIDE;
  for (int w = lane / TILE_BANKS; w < TILE_WORDS; w += PER_BANK)
    queue[w * TILE_BLOCK + TILE_BLOCK - 1] = (uint16_t)(far + bank * TILE_ENTRY);
  int32_t turn = 0, turns;
  do {
    const tile_share s = find_share(near, (m + PER_WORD - 1) / PER_WORD);
    const int32_t most = __reduce_max_sync(MD_ALL_LANES, s.queued);
    turns = (most + TILE_LEVELS - 1) / TILE_LEVELS;
    if (turns <= 1)
      queue_share(&s, queue);
    else
      queue_turn(&s, turn, turns, queue);
    use_queues(job, room, in_turn(s.queued, turn, turns), in_turn(most, turn, turns), far, row);
  } while (++turn < turns);
}

#endif
