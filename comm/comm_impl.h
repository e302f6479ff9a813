/* comm/comm_impl.h - what a backend provides to comm.c. */
#ifndef COMM_IMPL_H
#define COMM_IMPL_H

#include "comm/comm.h"
#include "core/simd.h"

MD_BEGIN_C

struct comm {
  md_ctx *ctx;
  md_buffer count, scratch; /* CPU: per thread counts; GPU: CUB's temporary storage */
};

typedef md_status comm_migrate_fn(comm *cm, md_atoms *atoms);
typedef md_status comm_borders_fn(comm *cm, md_atoms *atoms, const int images[3]);
typedef md_status comm_forward_fn(comm *cm, md_atoms *atoms);
SIMD_DECLARE(comm_migrate_fn, comm_cpu_migrate);
SIMD_DECLARE(comm_borders_fn, comm_cpu_borders);
SIMD_DECLARE(comm_forward_fn, comm_cpu_forward);
PREC_DECLARE(comm_migrate_fn, comm_gpu_migrate);
PREC_DECLARE(comm_borders_fn, comm_gpu_borders);
PREC_DECLARE(comm_forward_fn, comm_gpu_forward);

MD_END_C
#endif
