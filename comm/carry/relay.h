/* comm/carry/relay.h - positions by NCCL while kernels compute (core/mail.h).
 *
 * The kernel of a step stores what others need into an outbox on its own GPU, as into a neighbour's
 * mailbox (comm/carry/peer.h), and raises one flag.  A second stream, which goes first where
 * multiprocessors become free, waits for the flag and exchanges messages; the next kernel starts
 * when they have come.  Inboxes and outboxes have MD_SLOTS slots. */
#ifndef RELAY_H
#define RELAY_H

#include "comm/comm_impl.h"
#include "core/beside.h"

MD_BEGIN_C

typedef struct {
  md_beside *beside;
  md_buffer box;       /* the flag, then slots: what comes, what goes */
  size_t in, out;      /* bytes of either in a slot */
  md_buffer way, come; /* the one md_way, into the outbox; blocks that have stored */
  md_buffer late;      /* one md_late */
  md_round round;      /* the last one */
} ranks_relay;

/* Queue: the stream waits for the flag of this round, MD_PATIENCE seconds at most. */
typedef md_status relay_await_fn(comm *cm, md_round round);
relay_await_fn relay_gpu_await;

/* Boxes for the ghosts that come and go, whose numbers are known; not yet agreed on.
 * Errors: MD_ENOMEM, MD_ECUDA. */
md_status relay_settle(comm *cm);
/* comm_send_inside by NCCL.  Errors: MD_ECUDA (a kernel did not store in time), MD_ENOMEM. */
md_status relay_send_inside(comm *cm, const md_atoms *atoms, int32_t steps, md_mail *out);
void relay_destroy(comm *cm);

MD_END_C
#endif
