/* comm/carry/peer.h - names, positions and atoms that move house stored into memory of the
 * neighbour's GPU, on one host.
 *
 * Each rank has a mailbox on its GPU, which the others map (CUDA IPC): a flag for each rank, and
 * room for the names or the positions of all its ghosts of others, MD_SLOTS times.  In round e a
 * rank stores what a neighbour needs into slot e % MD_SLOTS of its mailbox, then e into its flag;
 * then it waits for the flags of its neighbours.  Nothing is overwritten that is still read: who
 * stores round e + 1 has seen the flag of round e - 1 at least, which its neighbour raised after it
 * had read round e - 2.  Ranks are neighbours of each other or not at all; atoms may move to any
 * rank, when all have told each other that their GPUs have read everything. */
#ifndef PEER_H
#define PEER_H

#include "comm/comm_impl.h"
#include "comm/gpus.h"

MD_BEGIN_C

/* Who is where. */
typedef struct {
  char host[256];
  int32_t device, zero;
  unsigned char uuid[16];
} peer_name;

/* A mailbox, for kernels; where in it ranks are told of each other, as in all. */
typedef struct {
  char *mail;
  uint64_t room, flags, told; /* bytes of a slot; before the first one; before those rows */
} peer_box;

/* The words of a row that a rank tells all: its status, one for the callers, how many items more it
 * has room for, and from TOLD_TO on how many go to each rank. */
enum { TOLD_STATUS, TOLD_WORD, TOLD_ROOM, TOLD_TO };

/* What changes of a way with every list (md_way): kernels get it as an argument. */
typedef struct {
  int64_t at, first, count;
} peer_part;

enum { PEER_RANKS = 32 /* of a host, at most */ };

typedef struct {
  int n_ways;
  int64_t most; /* items for a neighbour */
  gpus_mail mail;
  peer_box *box;        /* [ranks] on the host */
  md_buffer boxes;      /* on the device */
  int64_t *at;          /* [ranks] where what goes to a rank begins there */
  md_way *way, *placed; /* [ranks] on the host; what was written to the device */
  int n_placed;
  md_buffer ways, come; /* [n_ways] on the device; blocks that have stored */
  peer_name *name;      /* [ranks], or NULL */
} ranks_peer;

typedef md_status peer_turn_fn(comm *cm);
/* Queue, of a rank without atoms: the flags of this round are raised, and the stream waits, 10 s at
 * most, for the neighbours' flags of MD_READ_LATER rounds before. */
peer_turn_fn peer_gpu_turn;

/* On all ranks: who they are. */
md_status peer_meet(comm *cm);
/* Who has room for what comes, the same on all ranks. */
typedef struct {
  bool mail;   /* all mailboxes */
  bool memory; /* all ranks, of what they said */
} peer_fit;
/* What ranks_tell does for items of so many bytes, and room: how many of them this rank takes
 * without asking for memory.  All know what comes to all: where it begins in their mailboxes, and
 * whether it fits. */
md_status peer_tell(comm *cm, md_status status, double word, int64_t room, size_t item,
                    peer_fit *fit);
/* What follows of rows that all were told, also ranks->to; false: a rank failed. */
bool peer_hear(comm *cm, const int64_t *told, size_t item, peer_fit *fit);
/* The mailboxes for kernels, when they are others than before. */
md_status peer_map(comm *cm);
/* After that, where they do not fit: larger mailboxes on all ranks. */
md_status peer_grow(comm *cm, size_t item);
/* Then ways for these items; on the device all but their parts, which kernels write there. */
md_status peer_settle(comm *cm);
/* So many rounds begin.  Errors: MD_ECUDA (names a rank that did not come in an earlier one). */
md_status peer_begin(comm *cm, int32_t rounds);
/* What has come in this round: [n_in] names, or positions with charges. */
const void *peer_mail(const comm *cm);
void peer_destroy(comm *cm);

MD_END_C
#endif
