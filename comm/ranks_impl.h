/* comm/ranks_impl.h - what several ranks exchange: between ranks_exchange.c, ranks_cut.c and the
 * backends. */
#ifndef RANKS_IMPL_H
#define RANKS_IMPL_H

#include "comm/comm_impl.h"
#include "comm/gpus.h"
#include "comm/carry/peer.h"
#include "comm/carry/relay.h"

MD_BEGIN_C

/* What another rank is told of a ghost beside its position: home is md_frame_home, the charge a
 * state.  A GPU's names are its own, and have positions. */
typedef struct {
  int64_t id;
  int32_t shift, home;
  char charge[sizeof(double)];
} ghost_name;

/* What a backend does; it waits for no other rank, but where items come by mailboxes.  Those that
 * count set ranks->to; those that pack fill ranks->out, or the neighbours' mailboxes, in the order
 * of ranks.  From count_images on, and pack, with atoms only, but by mailboxes, whose flags all
 * raise. */
typedef struct {
  size_t (*atom_bytes)(const md_atoms *atoms); /* of a message, an atom */
  size_t (*name_bytes)(const md_atoms *atoms); /* of a message, a ghost's name */
  md_status (*weigh)(comm *cm, const md_atoms *atoms, int64_t *weight); /* host [cells], 0 before */
  /* On a GPU atoms are wrapped now, and how far they went is measured where back >= 0. */
  md_status (*count_leavers)(comm *cm, md_atoms *atoms, double back);
  /* The same by mailboxes, of all ranks together, which tell each other; then, where all fit
   * (peer_hear), they move, or else must by messages.  *mine: of this rank before, and after; told:
   * rows of all ranks.  NULL: there are no mailboxes. */
  md_status (*trade)(comm *cm, md_atoms *atoms, double back, md_status *mine, const int64_t **told);
  md_status (*pack_leavers)(comm *cm, md_atoms *atoms); /* and close up the others */
  md_status (*take_arrivals)(comm *cm, md_atoms *atoms, int64_t arrivals, const void *from);
  md_status (*count_images)(comm *cm, md_atoms *atoms); /* and n_own */
  /* Ghosts of own atoms; names of others, by mailboxes also those that come. */
  md_status (*name_images)(comm *cm, md_atoms *atoms);
  md_status (*take_names)(comm *cm, md_atoms *atoms, const void *from); /* [n_in] of messages */
  md_status (*pack)(comm *cm, const md_atoms *atoms);
  md_status (*images)(comm *cm, md_atoms *atoms);
  md_status (*unpack)(comm *cm, md_atoms *atoms, const void *from); /* state [n_in][3] */
  /* Positions of all ghosts by way of neighbours' memory; NULL: it cannot, nor have names any. */
  md_status (*exchange)(comm *cm, md_atoms *atoms);
  md_status (*pack_reals)(comm *cm, const void *values);
  md_status (*unpack_reals)(comm *cm, const md_atoms *atoms, void *values);
} ranks_backend;
extern const ranks_backend ranks_on_cpu;
typedef const ranks_backend *ranks_backend_fn(void);
PREC_DECLARE(ranks_backend_fn, ranks_on_gpu);

/* On the device: the partition of that many cuts, targets of this rank itself first; and scratch
 * for as many items as there are atoms or images. */
typedef struct {
  int64_t cuts;
  int32_t n_own_targets;
  md_buffer owner, head, list, target;
  md_buffer before;           /* int32 [n + 1]: images of atoms before this one */
  md_buffer item, key, place; /* an item's atom; its rank or target; items in the order of keys */
  md_buffer image;            /* md_image of each item, since ghosts were named */
  md_buffer count;            /* of leaving atoms and of images (item_counts), of two rebuilds */
  int32_t count_keys;         /* of each */
  bool count_turn;            /* which of them is in use */
  md_buffer wrap;             /* what wrapping atoms finds */
  md_buffer share;            /* images of each target in blocks of items, groups of blocks */
  bool counted;               /* those of images, on their way to the host */
  md_buffer come, board;      /* come_counts; counts, shared with the host */
  md_buffer told;             /* rows of all ranks, shared with the host */
  uint64_t board_round, told_round;
  md_buffer weight, scan_status;
  uint32_t round;
  ordering_sorter *sorter;
} ranks_gpu;

/* Sums of long arrays (carry/sum.c). */
typedef struct {
  char how[200];         /* empty before comm_add_open */
  int64_t count, stride; /* by mailboxes: reals of an array, of a part in a slot; else 0 */
  gpus_mail mail;
  md_buffer ways, come; /* of mailboxes, on the device */
  void *nccl;           /* ncclComm_t, or NULL */
  md_buffer parts;      /* the own part of all ranks, by NCCL */
  md_buffer host;       /* the array, where hosts add it up */
} ranks_sum;

struct comm_ranks {
  const ranks_backend *on;
  comm_carrier carrier;
  char carrier_reason[160];
  partition_cut asked, made;
  ordering order;
  partition *part;
  partition_halo halo;
  double reach; /* of part and halo */
  int64_t cuts;
  double was_uneven, uneven; /* after the last cut, when ghosts were made last */
  /* [ranks]: items to and from each rank in an exchange, and where they begin. */
  int64_t *to, *from, *to_first, *from_first;
  int64_t *told, *heard;   /* [ranks][3]: ranks_tell */
  int64_t *all_told;       /* [1 + ranks][TOLD_TO + ranks]: peer_tell */
  double *word;            /* [ranks] */
  world_message *messages; /* [2 ranks] */
  int64_t *taken;          /* [targets + 1] */
  int64_t n_own;           /* ghosts that are images of own atoms */
  int64_t n_out, n_in;     /* items that are sent and received */
  /* int32 [n] cells; int32 [n_own + n_out] the atoms that ghosts are made of. */
  md_buffer cell, index;
  md_buffer out, in; /* messages: shared with the host, or with NCCL on the device */
  ranks_gpu gpu;
  ranks_peer peer;
  void *nccl; /* ncclComm_t, or NULL */
  ranks_relay relay;
  ranks_sum sum;
};

/* The atoms that are sent. */
static inline const int32_t *sent_of(const comm_ranks *ranks)
{
  return (const int32_t *)ranks->index.data + ranks->n_own;
}

/* What each rank tells each other one, in place of an agreement and a trade: its status, a word to
 * all, which ranks->word then has of each, and to[r], which rank r has in from[this rank]. */
md_status ranks_tell(comm_ranks *ranks, md_status status, double word, const int64_t *to,
                     int64_t *from);

/* Start a message of each rank that has one, and to each: items of so many bytes, which lie there
 * in the order of ranks.  By NCCL it is queued, else the host has to wait (world_wait). */
md_status ranks_start(comm *cm, void *in, void *out, size_t bytes);

/* A partition for these atoms, which may be anyone's, if there is none or it has become uneven. */
md_status ranks_settle(comm *cm, md_atoms *atoms, double r_ghost);

/* What comm_add_open made. */
void sum_destroy(comm *cm);

/* Owned atoms that there is room for already. */
int64_t ranks_atom_room(const md_atoms *atoms);

/* The tables of a new cut to the device (tables_gpu.cu). */
md_status ranks_gpu_tables(comm *cm);

MD_END_C
#endif
