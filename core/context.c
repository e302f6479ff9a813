/* core/context.c - making and describing a context. */
#include "core/context_impl.h"
#include "core/parse/parse.h"
#include "core/hardware/processors.h"
#include "core/time/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const md_backend_words[MD_BACKEND_COUNT] = {MD_BACKENDS(WORD)};
const char *const md_precision_words[MD_PRECISION_COUNT] = {MD_PRECISIONS(WORD)};
const char *const md_isa_words[MD_ISA_COUNT] = {MD_ISAS(WORD)};
#undef WORD

md_isa md_isa_detect(void)
{
  md_isa best = MD_PORTABLE;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    best = MD_AVX2;
  if (best == MD_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    best = MD_AVX512;
#endif
  const char *asked = getenv("MINIMD_ISA");
  const int k = asked ? md_word_index(asked, md_isa_words, MD_ISA_COUNT) : -1;
  return k >= 0 && k < (int)best ? (md_isa)k : best;
}

md_status md_isa_check(void)
{
  const char *asked = getenv("MINIMD_ISA");
  int isa;
  if (!asked || md_parse_word(asked, md_isa_words, MD_ISA_COUNT, &isa) == MD_OK) return MD_OK;
  return MD_FAIL(MD_EINVAL, "MINIMD_ISA: %s", md_message());
}

md_status md_ctx_create(const md_ctx_spec *spec, md_ctx **out)
{
  *out = NULL;
  MD_REQUIRE(spec->threads >= 0, MD_EINVAL, "threads must be >= 0, not %d", spec->threads);
  MD_TRY(md_isa_check());
  md_ctx *ctx = calloc(1, sizeof *ctx);
  MD_REQUIRE(ctx, MD_ENOMEM, "out of memory for the context");
  ctx->backend = spec->backend;
  ctx->precision = spec->precision;
  ctx->isa = md_isa_detect();
  ctx->threads = spec->threads > 0 ? spec->threads : md_processors();
  ctx->deterministic = spec->deterministic;
  md_status status = MD_OK;
  if (ctx->backend == MD_GPU) {
    status = md_gpu_check();
#ifdef MD_HAVE_CUDA
    if (!status) status = md_gpu_open(ctx);
#endif
  }
  if (!status) status = md_threads_start(ctx->threads);
  if (!status) status = md_timer_create(ctx);
  if (status) {
    md_ctx_destroy(ctx);
    return status;
  }
  *out = ctx;
  return MD_OK;
}

void md_ctx_destroy(md_ctx *ctx)
{
  if (!ctx) return;
  md_timer_destroy(ctx);
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) md_gpu_close(ctx);
#endif
  free(ctx);
}

md_status md_ctx_sync(md_ctx *ctx)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) return md_gpu_sync(ctx);
#endif
  (void)ctx;
  return MD_OK;
}

#ifndef MD_HAVE_CUDA
static md_status no_cuda(void)
{
  return MD_FAIL(MD_ENOGPU, "this build has no CUDA: build where nvcc is found, or use "
                            "--backend cpu");
}
#endif

md_status md_gpu_choose(int index)
{
#ifdef MD_HAVE_CUDA
  return md_gpu_select(index);
#else
  (void)index;
  return no_cuda();
#endif
}

md_status md_gpu_check(void)
{
#ifdef MD_HAVE_CUDA
  return md_gpu_probe();
#else
  return no_cuda();
#endif
}

bool md_gpu_available(void)
{
  return md_gpu_check() == MD_OK;
}

md_status md_gpu_describe(md_gpu_info *out)
{
  memset(out, 0, sizeof *out);
#ifdef MD_HAVE_CUDA
  return md_gpu_query(out);
#else
  return MD_FAIL(MD_ENOGPU, "this build has no CUDA");
#endif
}

void md_cpu_name(char *name, size_t size)
{
  snprintf(name, size, "unknown");
  FILE *info = fopen("/proc/cpuinfo", "r");
  if (!info) return;
  char line[512];
  while (fgets(line, sizeof line, info)) {
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, "model name", 10) != 0) continue;
    snprintf(name, size, "%s", colon + 2);
    name[strcspn(name, "\n")] = '\0';
    break;
  }
  fclose(info);
}
