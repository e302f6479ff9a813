/* comm/comm_impl.h - what a backend provides to comm.c. */
#ifndef COMM_IMPL_H
#define COMM_IMPL_H

#include "comm/comm.h"
#include "core/simd.h"

MD_BEGIN_C

struct comm {
  md_ctx *ctx;
  md_buffer count;       /* CPU: per thread counts; GPU: one sum */
  md_buffer scan_status; /* GPU: the scan's (core/gpu/scan_gpu.h) */
  uint32_t round;
  /* GPU: what migration finds, on the device; how it comes to the host
   * (core/gpu/readback_gpu.h). */
  md_buffer found;
  void *readback;
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
/* Of atoms that are built. */
typedef md_status comm_move_fn(comm *cm, const md_atoms *atoms, double *moved_sq);
typedef void comm_close_fn(comm *cm);
SIMD_DECLARE(comm_migrate_fn, comm_cpu_migrate);
SIMD_DECLARE(comm_borders_fn, comm_cpu_borders);
SIMD_DECLARE(comm_forward_fn, comm_cpu_forward);
SIMD_DECLARE(comm_move_fn, comm_cpu_move);
PREC_DECLARE(comm_migrate_fn, comm_gpu_migrate);
PREC_DECLARE(comm_borders_fn, comm_gpu_borders);
PREC_DECLARE(comm_forward_fn, comm_gpu_forward);
PREC_DECLARE(comm_move_fn, comm_gpu_move);
PREC_DECLARE(comm_close_fn, comm_gpu_close);

MD_END_C
#endif
