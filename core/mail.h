/* core/mail.h - mailboxes that kernels of neighbouring GPUs share (comm/carry/peer.h), for the
 * kernels of rooms that move atoms and send them on. */
#ifndef MAIL_H
#define MAIL_H

#include "core/md.h"

MD_BEGIN_C

enum {
  MD_PATIENCE = 10, /* seconds that a kernel waits for a flag */
  MD_SLOTS = 4,     /* of a mailbox: that many rounds lie in it */
  MD_READ_LATER = 2 /* so many steps after one that read mail, one tells so (items with tags) */
};

/* Rounds are counted on all ranks alike. */
typedef unsigned long long md_round;

/* A neighbour, on the device. */
typedef struct {
  char *slot[MD_SLOTS]; /* of its mailbox, by round % MD_SLOTS */
  int64_t at;           /* the first item there that this rank sends */
  md_round *flag;       /* this rank's in its mailbox */
  const md_round *wait; /* its own in this rank's */
  int64_t first, count; /* of the items that are sent */
  int32_t rank;
  int32_t gone; /* of the first one: a kernel has found that some neighbour did not come */
} md_way;

/* Who did not come; in host memory that the GPU writes, and never reads: thousands of threads that
 * wait would read one line, one after the other. */
typedef struct {
  int64_t rank; /* -1: all came */
} md_late;

/* An image of an atom that its owner makes when it moves the atom: a ghost of the own rank, or item
 * `to` of the mailbox that way leads to. */
typedef struct {
  int32_t to, way; /* way -1: a ghost of the own rank */
  int32_t shift, zero;
} md_image;

/* Queue, before the kernel of a round: what others sent in the round before has come, and what this
 * one sends, if it does, will go to them while it goes on. */
typedef md_status md_carry_fn(void *carrier, md_round round, bool sends);

/* Steps whose kernels exchange coordinates themselves, `steps` of them: step s, from 0 on, sends in
 * round `round` + s, but for the last, and reads what came in the round before, but for the first,
 * which finds it where ghosts are.  An item is a coord4, shifted by the sender; one of 16 bytes has
 * its round's tag in the place of its charge.  A step that reads waits for the flags of all
 * neighbours before it ends: of the round before, or with tags of the one that read what lay where
 * it sends to. */
typedef struct {
  int32_t steps;
  int32_t n_ways;
  md_round round;
  const md_way *ways;
  /* [n + 1]: images of atom i are image[first[i]] .., those of the own rank first. */
  const int32_t *first;
  const md_image *image;
  int64_t n_own;              /* ghosts of the own rank, before those that come by mail */
  const char *slot[MD_SLOTS]; /* of the own mailbox, by round % MD_SLOTS */
  uint32_t *come;             /* [2] of rounds by turns: 0 but while steps count in it */
  md_late *late;
  md_carry_fn *carry; /* NULL: ways lead into memory where the neighbours read */
  void *carrier;
} md_mail;

MD_END_C
#endif
