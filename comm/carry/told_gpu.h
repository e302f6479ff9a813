/* comm/carry/told_gpu.h - what ranks tell each other by their GPUs (comm/carry/peer.h): rows of
 * words in all mailboxes.
 *
 * A word is an item of 16 bytes with the number of the row that it belongs to: who finds that
 * number has the word.  Rows take turns in two places, since a rank begins row t + 1 when it has
 * read row t of all, who had then read row t - 1. */
#ifndef TOLD_GPU_H
#define TOLD_GPU_H

#include "comm/carry/peer.h"
#include "core/gpu/flags_gpu.h"

/* On the device. */
typedef struct {
  int32_t ranks, me;
  uint32_t row;           /* its number; 0: nobody is told */
  const peer_box *boxes;  /* [ranks] */
  volatile md_late *late; /* who did not come */
} teller;

static inline teller teller_of(const comm *cm)
{
  ranks_peer *peer = (ranks_peer *)&cm->ranks->peer;
  return (teller){world_count(), world_rank(), peer->mail.told, (const peer_box *)peer->boxes.data,
                  (volatile md_late *)peer->mail.late.data};
}

/* Where a mailbox has a word of a rank's row. */
static __device__ __forceinline__ char *word_at(const teller *t, char *mail, int32_t from,
                                                int32_t word)
{
  const int64_t row = (int64_t)(t->row % 2) * t->ranks + from;
  return mail + t->boxes->told + (row * (TOLD_TO + t->ranks) + word) * (int64_t)sizeof(uint4);
}

/* Block: a row to all ranks.  to: items for each rank, or NULL: none; room: for so many more than
 * these. */
static __device__ __forceinline__ void
tell_all(const teller *t, int32_t status, unsigned long long word, int64_t room, const uint32_t *to)
{
  const int32_t width = TOLD_TO + t->ranks;
  for (int32_t k = (int32_t)threadIdx.x; k < t->ranks * width; k += (int32_t)blockDim.x) {
    const int32_t which = k % width;
    unsigned long long value = (unsigned long long)status;
    if (which == TOLD_WORD) value = word;
    if (which == TOLD_ROOM) {
      value = (unsigned long long)room;
      for (int32_t r = 0; to && r < t->ranks; r++)
        value += __ldcg(&to[r]);
    }
    if (which >= TOLD_TO) value = to ? __ldcg(&to[which - TOLD_TO]) : 0;
    put_item(word_at(t, t->boxes[k / width].mail, t->me, which),
             make_uint4((uint32_t)value, (uint32_t)(value >> 32), 0, t->row));
  }
}

/* Whether it is long ago. */
static __device__ __forceinline__ bool is_late(unsigned long long began)
{
  return nanoseconds() - began > MD_PATIENCE * 1000000000ull;
}

/* Word k of the rows of all ranks, when it has come; false: its rank is late. */
static __device__ __forceinline__ bool hear(const teller *t, int32_t k, int64_t *value)
{
  const int32_t width = TOLD_TO + t->ranks;
  const char *at = word_at(t, t->boxes[t->me].mail, k / width, k % width);
  const unsigned long long began = nanoseconds();
  uint4 item = load_item(at);
  while (item.w != t->row && !is_late(began))
    item = load_item(at);
  *value = (int64_t)(item.x | (uint64_t)item.y << 32);
  if (item.w == t->row) return true;
  t->late->rank = k / width;
  return false;
}

/* Queue (ranks_gpu.prec.cu): atoms are wrapped, how far they had gone is measured where back >= 0,
 * and those that leave are listed; what comes of it is told to the host, or in a row to all ranks,
 * with the atoms in all that there is room for. */
md_status PREC(ranks_gpu_find_leavers)(comm *cm, md_atoms *atoms, double back, const teller *tell,
                                       int64_t room);

#endif
