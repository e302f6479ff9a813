/* minimd/displacement_impl.h - what a backend provides to displacement.c. */
#ifndef DISPLACEMENT_IMPL_H
#define DISPLACEMENT_IMPL_H

#include "core/simd.h"
#include "minimd/displacement.h"

MD_BEGIN_C

struct displacement {
  md_ctx *ctx;
  md_buffer held; /* state4 [n] */
  int64_t n;
  double moved_sq; /* of the last measurement, unless it is still to come from the GPU: */
  bool sent;
  md_buffer found; /* on the GPU (displacement_gpu.cu) */
  void *sender;    /* core/sender_gpu.h */
};

typedef md_status displacement_measure_fn(displacement *d, const md_atoms *atoms, double back);
typedef md_status displacement_receive_fn(displacement *d);
typedef void displacement_close_fn(displacement *d);
SIMD_DECLARE(displacement_measure_fn, displacement_cpu_measure);
PREC_DECLARE(displacement_measure_fn, displacement_gpu_measure);
PREC_DECLARE(displacement_receive_fn, displacement_gpu_receive);
PREC_DECLARE(displacement_close_fn, displacement_gpu_close);

MD_END_C
#endif
