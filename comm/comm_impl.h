/* comm/comm_impl.h - what a backend provides to comm.c. */
#ifndef COMM_IMPL_H
#define COMM_IMPL_H

#include "comm/comm.h"
#include "core/simd.h"

MD_BEGIN_C

typedef struct comm_ranks comm_ranks;

struct comm {
  md_ctx *ctx;
  comm_ranks *ranks;     /* what several ranks exchange; NULL with one */
  md_buffer count;       /* CPU: per thread counts; GPU: one sum */
  md_buffer scan_status; /* GPU: the scan's (core/gpu/scan_gpu.h) */
  uint32_t round;
  /* GPU: what migration finds, on the device; how it comes to the host
   * (core/gpu/readback_gpu.h). */
  md_buffer found;
  void *readback;
  /* GPU: the same of displacements between migrations, sent in rounds (core/gpu/signal_gpu.h). */
  md_buffer moves;
  void *signal;
  uint64_t move_round;
  bool moving;     /* a round was queued, and not waited for */
  double moved_sq; /* before the last migration */
  bool early;      /* it was not read yet, */
  double r_ghost;  /* and counts ghosts that reach so far */
};

/* How many images an atom may have beside itself along each axis, for ghosts that reach r_ghost;
 * back as in comm_migrate_early, < 0 also where nothing is built. */
typedef struct {
  double r_ghost, back;
  int images[3];
} comm_reach;

/* early: for these ghosts, and without waiting; else NULL. */
typedef md_status comm_migrate_fn(comm *cm, md_atoms *atoms, const comm_reach *early);
typedef md_status comm_borders_fn(comm *cm, md_atoms *atoms, const int images[3]);
typedef md_status comm_forward_fn(comm *cm, md_atoms *atoms);
/* Of atoms that are built; moved_sq NULL: begin to look. */
typedef md_status comm_move_fn(comm *cm, const md_atoms *atoms, double *moved_sq);
typedef void comm_close_fn(comm *cm);
/* Of ghosts that are images of this rank's own atoms, the first n_own; positions of owned atoms
 * index [count] to state [count][3]; and from there, shifted, to the ghosts from `first` on. */
typedef void comm_images_fn(md_atoms *atoms, int64_t n_own);
typedef void comm_pack_fn(const md_atoms *atoms, const int32_t *index, int64_t count, void *to);
typedef void comm_unpack_fn(md_atoms *atoms, int64_t first, int64_t count, const void *from);
/* Fixed-point coordinates of owned atoms where there are some, and x_at_build. */
typedef void comm_built_fn(md_atoms *atoms);
SIMD_DECLARE(comm_images_fn, comm_cpu_images);
SIMD_DECLARE(comm_pack_fn, comm_cpu_pack);
SIMD_DECLARE(comm_unpack_fn, comm_cpu_unpack);
SIMD_DECLARE(comm_built_fn, comm_cpu_built);
SIMD_DECLARE(comm_migrate_fn, comm_cpu_migrate);
SIMD_DECLARE(comm_borders_fn, comm_cpu_borders);
SIMD_DECLARE(comm_forward_fn, comm_cpu_forward);
SIMD_DECLARE(comm_move_fn, comm_cpu_move);
PREC_DECLARE(comm_migrate_fn, comm_gpu_migrate);
PREC_DECLARE(comm_borders_fn, comm_gpu_borders);
PREC_DECLARE(comm_forward_fn, comm_gpu_forward);
PREC_DECLARE(comm_move_fn, comm_gpu_move);
PREC_DECLARE(comm_close_fn, comm_gpu_close);
/* Of the first n_own ghosts. */
typedef md_status comm_refresh_fn(md_atoms *atoms, int64_t n_own);
PREC_DECLARE(comm_refresh_fn, comm_gpu_images);

/* ranks_cut.c, ranks_exchange.c.  r_ghost: for a partition, if there is none yet. */
md_status ranks_create(md_ctx *ctx, comm_ranks **out);
void ranks_destroy(comm *cm);
/* Atoms to their owners; on a CPU they are wrapped already, with this status.  Owned atoms that
 * stay keep their order, but that the last ones fill gaps on a GPU; others follow by the rank that
 * they come from, in its order.  early: NULL, or as in comm_migrate_early. */
md_status ranks_migrate(comm *cm, md_atoms *atoms, const comm_reach *early, md_status status);
/* Ghosts: images of this rank's own atoms first, then those of other ranks by rank, each by shift,
 * each in the order of its owner.  status: of what this rank did before. */
md_status ranks_borders(comm *cm, md_atoms *atoms, double r_ghost, md_status status);
md_status ranks_forward(comm *cm, md_atoms *atoms);
/* comm_send_inside. */
md_status ranks_send_inside(comm *cm, const md_atoms *atoms, int32_t steps, md_mail *out);

MD_END_C
#endif
