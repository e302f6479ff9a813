/* core/context.h - where and how everything runs: backend, precision, threads, stream, counters.
 *
 * One context is made at the start and handed to every object; callers of the rooms never choose a
 * kernel themselves. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "core/md.h"

MD_BEGIN_C

#define MD_BACKENDS(X) X(CPU, "cpu") X(GPU, "gpu")
#define MD_PRECISIONS(X) X(SINGLE, "single") X(MIXED, "mixed") X(DOUBLE, "double")
/* Instruction sets of the CPU kernels, worst first. */
#define MD_ISAS(X) X(PORTABLE, "portable") X(AVX2, "avx2") X(AVX512, "avx512")

#define MD_ENUM_(name, word) MD_##name,
typedef enum { MD_BACKENDS(MD_ENUM_) MD_BACKEND_COUNT } md_backend;
typedef enum { MD_PRECISIONS(MD_ENUM_) MD_PRECISION_COUNT } md_precision;
typedef enum { MD_ISAS(MD_ENUM_) MD_ISA_COUNT } md_isa;
#undef MD_ENUM_

extern const char *const md_backend_words[MD_BACKEND_COUNT];
extern const char *const md_precision_words[MD_PRECISION_COUNT];
extern const char *const md_isa_words[MD_ISA_COUNT];

struct md_timer;

struct md_ctx {
  md_backend backend;
  md_precision precision;
  md_isa isa;              /* best that this processor runs, or what MINIMD_ISA asks for */
  int threads;             /* OpenMP threads */
  bool deterministic;      /* bit-identical reruns, for any number of threads */
  bool leaves_room;        /* empty buffers begin a sixty-fourth larger than was asked for */
  void *stream;            /* cudaStream_t; NULL on the CPU */
  int64_t bytes_copied;    /* between host and device since the start */
  int64_t bytes_allocated; /* by buffers of this context, now */
  struct md_timer *timer;
};

typedef struct {
  md_backend backend;
  md_precision precision;
  int threads; /* 0: md_processors() */
  bool deterministic;
} md_ctx_spec;

/* Make a context.  *out is NULL on failure; free it with md_ctx_destroy.
 * Errors: MD_EINVAL (threads < 0), MD_ENOGPU (no CUDA in this build, no device), MD_ENOMEM. */
md_status md_ctx_create(const md_ctx_spec *spec, md_ctx **out);
void md_ctx_destroy(md_ctx *ctx); /* NULL is allowed */

/* Wait until all queued work is done; reports errors of earlier kernels. */
md_status md_ctx_sync(md_ctx *ctx);

/* Compute on the device of that number, as CUDA counts them (0 at first); for contexts made later,
 * by any thread.  Errors: MD_ENOGPU (no such device; this build has no CUDA). */
md_status md_gpu_choose(int index);

/* MD_OK when this build has CUDA and the chosen device runs its kernels: one was launched.  Errors:
 * MD_ENOGPU, and the message says what is missing, with the architectures of the build. */
md_status md_gpu_check(void);
/* True where md_gpu_check succeeds; else md_message says why. */
bool md_gpu_available(void);

typedef struct {
  char name[256], driver[32]; /* device name; CUDA driver version */
  int capability;             /* 90 for sm_90 */
  int multiprocessors;
  int64_t memory_total, memory_free; /* [B] */
  int64_t l2_bytes;
} md_gpu_info;

/* Describe the device.  Errors: MD_ENOGPU. */
md_status md_gpu_describe(md_gpu_info *out);

/* Name of this processor, "unknown" if the system does not tell. */
void md_cpu_name(char *name, size_t size);

/* Best instruction set of this processor that MINIMD_ISA (a word of MD_ISAS) allows. */
md_isa md_isa_detect(void);
/* Errors: MD_EINVAL (MINIMD_ISA is none of the words: lists them). */
md_status md_isa_check(void);

MD_END_C
#endif
