/* spread/pme/fft.cu - finds cuFFT: beside the toolkit that this was built with, or where the system
 * looks for libraries. */
#include "core/library.h"
#include "spread/pme/fft_gpu.h"

#define WORD_(version) #version
#define WORD(version) WORD_(version)
/* Its own version, not the toolkit's. */
static const char NAME[] = "libcufft.so." WORD(CUFFT_VER_MAJOR);

md_status fft_library_open(const fft_library **out)
{
  static fft_library library;
  static bool opened = false;
  static const char *const names[] = {"cufftPlan3d",  "cufftSetStream", "cufftExecR2C",
                                      "cufftExecC2R", "cufftExecD2Z",   "cufftExecZ2D",
                                      "cufftDestroy", "cufftPlanMany"};
  void **const places[] = {(void **)&library.plan_3d,        (void **)&library.set_stream,
                           (void **)&library.forward_single, (void **)&library.backward_single,
                           (void **)&library.forward_double, (void **)&library.backward_double,
                           (void **)&library.destroy,        (void **)&library.plan_many};
  if (!opened)
    MD_TRY(md_library_open(NAME, "transforms on the GPU need cuFFT", sizeof names / sizeof *names,
                           names, places));
  opened = true;
  *out = &library;
  return MD_OK;
}

md_status fft_check(cufftResult result, const char *call)
{
  if (result == CUFFT_SUCCESS) return MD_OK;
  return MD_FAIL(result == CUFFT_ALLOC_FAILED ? MD_ENOMEM : MD_ECUDA, "%s: cuFFT error %d", call,
                 (int)result);
}
