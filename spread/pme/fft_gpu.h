/* spread/pme/fft_gpu.h - cuFFT, loaded when a transform is first planned.
 *
 * The library takes 280 MB: a program that transforms nothing starts without it, and runs where it
 * is not installed. */
#ifndef FFT_GPU_H
#define FFT_GPU_H

#include <cufft.h>

#include "core/md.h"

MD_BEGIN_C

typedef struct {
  cufftResult (*plan_3d)(cufftHandle *, int, int, int, cufftType);
  cufftResult (*set_stream)(cufftHandle, cudaStream_t);
  cufftResult (*forward_single)(cufftHandle, cufftReal *, cufftComplex *);
  cufftResult (*backward_single)(cufftHandle, cufftComplex *, cufftReal *);
  cufftResult (*forward_double)(cufftHandle, cufftDoubleReal *, cufftDoubleComplex *);
  cufftResult (*backward_double)(cufftHandle, cufftDoubleComplex *, cufftDoubleReal *);
  cufftResult (*destroy)(cufftHandle);
  cufftResult (*plan_many)(cufftHandle *, int, int *, int *, int, int, int *, int, int, cufftType,
                           int);
} fft_library;

/* Not to be called by two threads at once.  Errors: MD_EINVAL, with what the linker says. */
md_status fft_library_open(const fft_library **out);

/* MD_OK, or a failure that names the call. */
md_status fft_check(cufftResult result, const char *call);

MD_END_C
#endif
