/* comm/comm.h - who owns an atom, and what lies just outside?
 *
 * Each process owns the atoms of one part of the box and sees its surroundings as ghosts: copies of
 * atoms that lie within r_ghost outside its part.  This is the interface of domain decomposition;
 * with one process the neighbours are periodic images of its own atoms, so that migration is the
 * periodic wrap and ghosts are shifted copies.  No caller may assume that.
 *
 * With several ranks (world.h) all of them call these functions together, on the CPU; each has its
 * own atoms, at first any.  The first migration that knows a reach cuts the box (partition.h).  An
 * error of one is that of all.
 *
 * Order within a rebuild: comm_migrate, (sort), comm_borders; then comm_forward once a step. Atoms'
 * positions at comm_borders are kept (md_atoms.x_at_build): how far atoms went since then says when
 * that must be done again. comm_migrate_early does both halves of the waiting for a GPU at once: it
 * asks for what comm_borders will need, and comm_borders reports what it found. */
#ifndef COMM_H
#define COMM_H

#include "comm/partition.h"
#include "core/atoms.h"
#include "core/mail.h"

MD_BEGIN_C

typedef struct comm comm;

/* *out is NULL on failure; free with comm_destroy (NULL is allowed). */
md_status comm_create(md_ctx *ctx, comm **out);
void comm_destroy(comm *cm);

/* How the box is cut for several ranks, and the curve it may be cut along; before the first
 * migration.  Without this call: PARTITION_AUTO, a generalised Hilbert curve. */
void comm_cut(comm *cm, partition_cut cut, const ordering *order);

/* How positions come to other ranks in a step.
 *   peer  a GPU stores them into its neighbour's memory
 *   nccl  NVIDIA's library, between GPUs of several hosts
 *   mpi   messages of MPI; those of a GPU lie in memory of its host */
#define COMM_CARRIERS(X) X(AUTO, "auto") X(PEER, "peer") X(NCCL, "nccl") X(MPI, "mpi")
#define MD_ENUM_(name, word) COMM_##name,
typedef enum { COMM_CARRIERS(MD_ENUM_) COMM_CARRIER_COUNT } comm_carrier;
#undef MD_ENUM_
extern const char *const comm_carrier_words[COMM_CARRIER_COUNT];
/* Ask for one, on all ranks, before the first migration; without effect with one rank.
 * Errors: MD_EINVAL (this one cannot be had here: says why). */
md_status comm_carry(comm *cm, comm_carrier asked);
/* The one in use, and why. */
comm_carrier comm_carried(const comm *cm, const char **reason);

/* What this rank has now: owned atoms, ghosts, those of them that are images of its own atoms,
 * ranks it exchanges with, and bytes that it sends and receives in comm_forward. */
typedef struct {
  int64_t atoms, ghosts, own_images, neighbors, bytes;
} comm_load;
comm_load comm_describe(const comm *cm, const md_atoms *atoms);
/* How the box was cut: not AUTO once it is; and how often. */
partition_cut comm_cut_made(const comm *cm, int64_t *times);

/* Bring every atom home: wrap positions into the frame, [lo, hi), and count in image the frames
 * that were crossed; drops the ghosts.  A position that is NaN or infinite stays where it is and is
 * reported.
 * Errors: MD_ENUMERIC (naming the number of such atoms and the id of one), MD_EINVAL (several
 * ranks, which no comm_migrate_early has cut the box for), MD_ENOMEM, MD_ECUDA. */
md_status comm_migrate(comm *cm, md_atoms *atoms);

/* The same before a comm_borders that reaches r_ghost far: what goes wrong on a GPU, where nothing
 * is waited for, that call reports.  back >= 0: also measure how far atoms had gone since the last
 * comm_borders, before the wrap and taken back along their velocities by this time:
 *     max over owned atoms of |x - back v - x_at_build|^2
 * which comm_moved_sq has after the next comm_borders; infinite where a position is NaN, 0 where
 * there were no borders of these atoms. */
md_status comm_migrate_early(comm *cm, md_atoms *atoms, double r_ghost, double back);
double comm_moved_sq(const comm *cm);

/* How far owned atoms went since comm_borders, of any rank, at once: max of |x - x_at_build|^2,
 * infinite where a position is NaN.  Waits for a GPU.  Errors: MD_EINVAL (there were no borders of
 * these atoms), MD_ENOMEM, MD_ECUDA. */
md_status comm_max_move_sq(comm *cm, const md_atoms *atoms, double *moved_sq);
/* Queues what comm_max_move_sq then waits for: a GPU looks while the host goes on.  Positions must
 * not change between the two.  On a CPU and without borders of these atoms it does nothing.
 * Errors: MD_ENOMEM, MD_ECUDA. */
md_status comm_max_move_early(comm *cm, const md_atoms *atoms);

/* Make the ghosts of all owned atoms: every image, shifted by whole frame edges, with lo - r_ghost
 * <= x < hi + r_ghost of the frame in every dimension, several images of one atom where the box is
 * small.  Sets n_ghost, x_at_build, the tail of x, home, shift; in mixed precision also coord_scale
 * and the fixed-point coordinates of owned atoms and ghosts.  The order of ghosts is the same in
 * every run. Errors: MD_EINVAL (an edge < r_ghost / MD_SHIFT_MAX: states the smallest edge),
 * MD_ENUMERIC (found by comm_migrate_early), MD_ECAPACITY, MD_ENOMEM, MD_ECUDA. */
md_status comm_borders(comm *cm, md_atoms *atoms, double r_ghost);
/* The same where this rank did something of its own before, which all ranks fail of together; with
 * one rank, too, it is the error where there is one. */
md_status comm_borders_after(comm *cm, md_atoms *atoms, double r_ghost, md_status before);

/* Refresh the positions of the ghosts after owned atoms moved. */
md_status comm_forward(comm *cm, md_atoms *atoms);

/* Whether kernels that move atoms may do the same themselves, while others of the same step are at
 * work: on one rank, or on GPUs that no host's memory lies between.  Then for so many steps, of
 * which there is no rebuild before the last, *out is what such a kernel needs (core/mail.h), for
 * force_advance; comm_forward or a rebuild must follow.  A rank without atoms queues what its
 * neighbours wait for.
 * Errors: MD_ECUDA (names a rank that did not come in an earlier step). */
bool comm_sends_inside(const comm *cm);
md_status comm_send_inside(comm *cm, const md_atoms *atoms, int32_t steps, md_mail *out);

/* A real of each atom, values [n + n_ghost] on the backend, to the ghosts that are images of other
 * ranks' atoms; the others keep what they have. */
md_status comm_forward_reals(comm *cm, const md_atoms *atoms, void *values);

/* Sum over ranks, in their order; the identity with one.  Errors: MD_ENOMEM. */
md_status comm_sum(comm *cm, double *values, int count);

/* The same of `count` reals that lie where the context computes: each becomes its sum over ranks,
 * taken in double and in their order, the same bits on all.  comm_add_open first, on all ranks,
 * after comm_carry: between GPUs, where the carrier is peer or nccl, sums are then queued on the
 * context's stream, and may be under way beside everything else; the others add up in the memory of
 * their hosts, which wait.  comm_adds_queued: whether no host waits; comm_adds_how: which way, for
 * people, empty with one rank and before comm_add_open.  Errors: MD_ENOMEM, MD_ECUDA (also: names a
 * rank that did not come in an earlier sum), MD_EINVAL (another count than comm_add_open's). */
md_status comm_add_open(comm *cm, int64_t count);
md_status comm_add(comm *cm, void *reals, int64_t count);
bool comm_adds_queued(const comm *cm);
const char *comm_adds_how(const comm *cm);

MD_END_C
#endif
