/* comm/ranks_gpu.h - what the kernels of several ranks share: cells, and items in the order of
 * their keys.
 *
 * Items, which are atoms that leave or images that somebody needs, are listed in the order of atoms
 * by a scan, then sorted by their rank or target: the same order in every run.  Kernels count them
 * by key before, and the last block writes the counts to a board in the host's memory, where the
 * host looks for them: it waits for nothing else.
 * Messages but those by NCCL lie in pinned memory of the host, which kernels write and read
 * themselves, a word a thread, so that a transaction of the bus is whole. */
#ifndef RANKS_GPU_H
#define RANKS_GPU_H

#include "comm/ranks_impl.h"
#include "comm/wrap_gpu.h"
#include "core/gpu/cuda.h"
#include "core/gpu/flags_gpu.h"
#include "core/gpu/launch_gpu.h"
#include "core/gpu/scan_gpu.h"

#include <string.h>

md_status PREC(ranks_gpu_trade)(comm *cm, md_atoms *atoms, double back, md_status *mine,
                                const int64_t **told);
size_t PREC(ranks_gpu_name_bytes)(const md_atoms *atoms);
md_status PREC(ranks_gpu_count_images)(comm *cm, md_atoms *atoms);
md_status PREC(ranks_gpu_name_images)(comm *cm, md_atoms *atoms);
md_status PREC(ranks_gpu_take_names)(comm *cm, md_atoms *atoms, const void *from);
md_status PREC(ranks_gpu_pack)(comm *cm, const md_atoms *atoms);
md_status PREC(ranks_gpu_images)(comm *cm, md_atoms *atoms);
md_status PREC(ranks_gpu_unpack)(comm *cm, md_atoms *atoms, const void *from);
md_status PREC(ranks_gpu_exchange)(comm *cm, md_atoms *atoms);
md_status PREC(ranks_gpu_pack_reals)(comm *cm, const void *values);
md_status PREC(ranks_gpu_unpack_reals)(comm *cm, const md_atoms *atoms, void *values);

enum {
  SHARE_ITEMS = 1024, /* images whose targets are counted together (ranks_gpu.share) */
  SHARE_KEYS = 64,    /* targets that a block of them takes at once */
  SHARE_GROUP = 32    /* such blocks, whose counts are summed up behind those of all blocks */
};

/* Groups of so many blocks, the last one perhaps of fewer. */
static inline unsigned share_groups(unsigned blocks)
{
  return (blocks + SHARE_GROUP - 1) / SHARE_GROUP;
}

static inline coord4 *fixed_of(const md_atoms *atoms)
{
  return MD_PREC == 1 ? (coord4 *)atoms->fixed.data : NULL;
}

/* Of an atom with this image. */
static __device__ __forceinline__ int64_t cell_of(const partition *p, state4 x,
                                                  const int32_t *image)
{
  const double at[3] = {x.x, x.y, x.z};
  return partition_cell(p, at, image);
}

/* Who needs what of this rank, by cells of the box around its own: head is where a cell's targets
 * are in `list`, their number before them; 0: there are none; -1: another rank's cell.  Most atoms
 * are far from others' cells and read 4 bytes. */
typedef struct {
  int32_t lo[3], n[3];
  const int32_t *head, *list;
} image_table;

static inline image_table table_of(const comm_ranks *ranks)
{
  const partition_halo *halo = &ranks->halo;
  return (image_table){{halo->lo[0], halo->lo[1], halo->lo[2]},
                       {halo->n[0], halo->n[1], halo->n[2]},
                       (const int32_t *)ranks->gpu.head.data,
                       (const int32_t *)ranks->gpu.list.data};
}

static __device__ __forceinline__ int32_t head_at(const image_table *t, const partition *p,
                                                  state4 x, const int32_t *image)
{
  const double from[3] = {x.x, x.y, x.z};
  int32_t at[3];
  bool inside = true;
  partition_place(p, from, image, at);
  for (int d = 0; d < 3; d++) {
    at[d] -= t->lo[d];
    inside = inside && (uint32_t)at[d] < (uint32_t)t->n[d];
  }
  return inside ? t->head[((int64_t)at[0] * t->n[1] + at[1]) * t->n[2] + at[2]] : -1;
}

/* The partition, with its array on the device. */
static inline partition part_of(const comm_ranks *ranks)
{
  partition p = *ranks->part;
  p.owner = (int32_t *)ranks->gpu.owner.data;
  return p;
}

/* Room for so many items. */
static inline md_status open_items(comm *cm, int64_t items)
{
  ranks_gpu *gpu = &cm->ranks->gpu;
  md_buffer *const each[] = {&gpu->item, &gpu->key, &gpu->place};
  for (int k = 0; k < 3; k++)
    MD_TRY(md_buffer_reserve(cm->ctx, each[k], (size_t)items * sizeof(int32_t), 0));
  return MD_OK;
}

/* How many atoms leave for each rank, then images that each target gets. */
typedef struct {
  int32_t keys, ranks; /* in all; the first are ranks */
  uint32_t *all;
} item_counts;

enum { NEAR_COUNTS = 4096 /* that a block keeps in shared memory */ };

static inline size_t near_bytes(const item_counts *counts)
{
  return counts->keys <= NEAR_COUNTS ? (size_t)counts->keys * sizeof(uint32_t) : 0;
}

static inline item_counts counts_of(const comm_ranks *ranks)
{
  const ranks_gpu *gpu = &ranks->gpu;
  return (item_counts){gpu->count_keys, world_count(),
                       (uint32_t *)gpu->count.data + gpu->count_turn * gpu->count_keys};
}

/* For a kernel that counts, all zero; *spare: those of the rebuild before, which it sets to zero
 * for the next. */
static inline md_status open_counts(comm *cm, item_counts *out, uint32_t **spare)
{
  ranks_gpu *gpu = &cm->ranks->gpu;
  const int32_t keys = world_count() + cm->ranks->halo.n_targets;
  if (gpu->count_keys != keys) {
    const size_t bytes = 2 * (size_t)keys * sizeof(uint32_t);
    MD_TRY(md_buffer_reserve(cm->ctx, &gpu->count, bytes, 0));
    MD_TRY(md_fill(cm->ctx, gpu->count.data, 0, bytes));
    gpu->count_keys = keys;
  }
  *spare = counts_of(cm->ranks).all;
  gpu->count_turn = !gpu->count_turn;
  *out = counts_of(cm->ranks);
  return MD_OK;
}

/* Block: where it counts; close_tally then adds that up.  Every thread must come along. */
static __device__ __forceinline__ uint32_t *open_tally(const item_counts *counts)
{
  extern __shared__ uint32_t near_counts[];
  if (counts->keys > NEAR_COUNTS) return counts->all;
  for (int32_t k = (int32_t)threadIdx.x; k < counts->keys; k += (int32_t)blockDim.x)
    near_counts[k] = 0;
  __syncthreads();
  return near_counts;
}

static __device__ __forceinline__ void close_tally(const item_counts *counts, uint32_t *tally)
{
  if (tally == counts->all) return;
  __syncthreads();
  for (int32_t k = (int32_t)threadIdx.x; k < counts->keys; k += (int32_t)blockDim.x)
    if (tally[k] > 0) atomicAdd(&counts->all[k], tally[k]);
}

/* Images of an atom in a cell of its own rank. */
static __device__ __forceinline__ void tally_images(const item_counts *counts, uint32_t *tally,
                                                    const image_table *table, int32_t head)
{
  if (head <= 0) return;
  const int32_t *to = table->list + head;
  for (int32_t e = 1; e <= to[0]; e++)
    atomicAdd(&tally[counts->ranks + to[e]], 1u);
}

/* In the host's memory; the round is written last. */
typedef struct {
  unsigned long long round;
  wrap_result wrap; /* of all atoms, beside counts of those that leave */
  uint32_t count[]; /* of some keys, where they are among all */
} count_board;

/* Blocks that have counted, sent atoms, and taken those that came; 0 between kernels. */
typedef struct {
  uint32_t counted, sent, taken;
} come_counts;

/* Where a kernel's last block, by *come, writes the counts of keys from begin on. */
typedef struct {
  uint32_t *come; /* 0 before and after */
  count_board *board;
  unsigned long long round;
  int32_t begin, end;
} count_post;

/* Block: what all counted; after what it wrote on the board itself. */
static __device__ __forceinline__ void write_board(const item_counts *counts,
                                                   const count_post *post)
{
  for (int32_t k = post->begin + (int32_t)threadIdx.x; k < post->end; k += (int32_t)blockDim.x)
    *(volatile uint32_t *)&post->board->count[k] = __ldcg(&counts->all[k]);
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence_system(); /* for all of the block */
  *(volatile unsigned long long *)&post->board->round = post->round;
}

/* Every thread must come along, after close_tally. */
static __device__ __forceinline__ void post_counts(const item_counts *counts,
                                                   const count_post *post)
{
  if (md_last_block(post->come)) write_board(counts, post);
}

/* For the next kernel that counts, after open_counts. */
static inline md_status open_post(comm *cm, int32_t begin, int32_t end, count_post *out)
{
  ranks_gpu *gpu = &cm->ranks->gpu;
  const size_t bytes = sizeof(count_board) + (size_t)gpu->count_keys * sizeof(uint32_t);
  if (bytes > gpu->board.bytes) {
    MD_TRY(md_ctx_sync(cm->ctx));
    MD_TRY(md_shared_reserve(cm->ctx, &gpu->board, bytes));
    memset(gpu->board.data, 0, gpu->board.bytes);
  }
  if (!gpu->come.data) {
    MD_TRY(md_buffer_reserve(cm->ctx, &gpu->come, sizeof(come_counts), 0));
    MD_TRY(md_fill(cm->ctx, gpu->come.data, 0, sizeof(come_counts)));
  }
  cm->ctx->bytes_copied += (int64_t)(end - begin) * (int64_t)sizeof(uint32_t);
  *out = (count_post){&((come_counts *)gpu->come.data)->counted, (count_board *)gpu->board.data,
                      ++gpu->board_round, begin, end};
  return MD_OK;
}

/* Until the host sees that round on a board, which a kernel of the stream writes. */
static inline md_status await_board(comm *cm, const unsigned long long *on_board, uint64_t round)
{
  enum { LOOKS = 1000 }; /* before asking whether all is well */
  for (int look = 0; __atomic_load_n(on_board, __ATOMIC_ACQUIRE) != round; look++) {
    if (look < LOOKS) continue;
    const cudaError_t error = cudaStreamQuery((cudaStream_t)cm->ctx->stream);
    look = 0;
    if (error == cudaErrorNotReady) continue;
    MD_CUDA(error);
    if (__atomic_load_n(on_board, __ATOMIC_ACQUIRE) == round) break;
    if (cm->ranks->carrier == COMM_PEER) MD_TRY(peer_begin(cm, 0)); /* a neighbour was late */
    return MD_FAIL(MD_ECUDA, "a kernel counted nothing");
  }
  return MD_OK;
}

/* What was posted last, when it has come. */
static inline md_status await_counts(comm *cm, const count_board **out)
{
  const ranks_gpu *gpu = &cm->ranks->gpu;
  *out = (const count_board *)gpu->board.data;
  return await_board(cm, &(*out)->round, gpu->board_round);
}

/* A round of the mailboxes, or none: items go by messages. */
typedef struct {
  bool on;
  int32_t n_ways;
  const md_way *ways;
  md_round round;
  uint32_t *come; /* 0 between kernels: blocks that have stored */
  volatile md_late *late;
} mail_round;

static inline mail_round round_of(const comm_ranks *ranks, bool mailed)
{
  const ranks_peer *peer = &ranks->peer;
  return (mail_round){mailed,
                      peer->n_ways,
                      (const md_way *)peer->ways.data,
                      peer->mail.round,
                      (uint32_t *)peer->come.data,
                      (volatile md_late *)peer->mail.late.data};
}

/* Block: what the neighbours sent in this round may be read. */
static __device__ __forceinline__ void await_round(const mail_round *by)
{
  if (!by->on) return;
  wait_flags(by->n_ways, by->ways, by->round, by->late);
  __syncthreads();
}

#endif
