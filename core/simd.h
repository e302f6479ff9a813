/* core/simd.h - names and vector types of one instruction set.
 *
 * Kernels that depend on the instruction set are compiled once for each of MD_ISAS with MD_ISA = 0
 * (portable, 16-byte vectors), 1 (AVX2 + FMA, 32 bytes), 2 (AVX-512, 64 bytes); a table in room.c
 * picks by md_ctx.isa.  ISA(name) adds the suffix, KERNEL(name) that of the precision as well:
 * force_cpu_full_double_avx512(). */
#ifndef SIMD_H
#define SIMD_H

#if MD_ISA == 0
#define ISA_(name) name##_portable
#define SIMD_BYTES 16
#elif MD_ISA == 1
#define ISA_(name) name##_avx2
#define SIMD_BYTES 32
#else
#define ISA_(name) name##_avx512
#define SIMD_BYTES 64
#endif
#define ISA(name) ISA_(name)
#ifdef MD_PREC
#include "core/real.h"
#define KERNEL(name) ISA(PREC(name))
#endif

/* Rows of a dispatch table for KERNEL functions: table[precision][isa]. */
#define SIMD_ROW(name)                                                                             \
  {                                                                                                \
    name##_portable, name##_avx2, name##_avx512                                                    \
  }
#define SIMD_TABLE(name)                                                                           \
  {                                                                                                \
    SIMD_ROW(name##_single), SIMD_ROW(name##_mixed), SIMD_ROW(name##_double)                       \
  }
#define SIMD_DECLARE_(type, name) type name##_portable, name##_avx2, name##_avx512
#define SIMD_DECLARE(type, name)                                                                   \
  SIMD_DECLARE_(type, name##_single);                                                              \
  SIMD_DECLARE_(type, name##_mixed);                                                               \
  SIMD_DECLARE_(type, name##_double)
/* The same for GPU functions: table[precision]. */
#define PREC_TABLE(name)                                                                           \
  {                                                                                                \
    MD_GPU(name##_single), MD_GPU(name##_mixed), MD_GPU(name##_double)                             \
  }
#define PREC_DECLARE(type, name) type name##_single, name##_mixed, name##_double
/* The function of a context from the two tables. */
#define SIMD_PICK(ctx, cpu, gpu)                                                                   \
  ((ctx)->backend == MD_GPU ? (gpu)[(ctx)->precision] : (cpu)[(ctx)->precision][(ctx)->isa])

#endif
