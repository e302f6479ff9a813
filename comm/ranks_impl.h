/* comm/ranks_impl.h - what several ranks exchange: between ranks.c and ranks_cut.c. */
#ifndef RANKS_IMPL_H
#define RANKS_IMPL_H

#include "comm/comm_impl.h"
#include "comm/world.h"

struct comm_ranks {
  partition_cut asked, made;
  ordering order;
  partition *part;
  partition_halo halo;
  double reach; /* of part and halo */
  int64_t cuts;
  double was_uneven, uneven; /* after the last cut, after the last migration */
  /* [ranks]: items to and from each rank in an exchange, and where they begin. */
  int64_t *to, *from, *to_first, *from_first;
  world_message *messages; /* [2 ranks] */
  int64_t *taken;          /* [targets + 1] */
  int64_t n_own;           /* ghosts that are images of own atoms */
  int64_t n_out, n_in;     /* positions that are sent and received */
  /* int32 [n] cells; int32 [n_own + n_out] the atoms that ghosts are made of; messages. */
  md_buffer cell, index, out, in;
};

/* Cells of the owned atoms, to ranks->cell: of the whole box, or of that of this rank's halo. */
md_status ranks_find_cells(comm *cm, const md_atoms *atoms, bool of_halo);
/* A partition for these atoms, which may be anyone's, if there is none or it has become uneven. */
md_status ranks_settle(comm *cm, md_atoms *atoms, double r_ghost);

#endif
