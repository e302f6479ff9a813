/* minimd/shell/provenance.c - compiled with MD_COMMIT by the Makefile. */
#include "minimd/shell/provenance.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef MD_CUDA_VERSION
#define MD_CUDA_VERSION "none"
#endif

const char *provenance_commit(void)
{
  return MD_COMMIT;
}

const char *provenance_compiler(void)
{
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

const char *provenance_cuda(void)
{
  return MD_CUDA_VERSION;
}

const char *provenance_cuda_arch(void)
{
#ifdef MD_CUDA_ARCH
  return "; kernels for " MD_CUDA_ARCH;
#else
  return "";
#endif
}

void provenance_date(char *text)
{
  const time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void provenance_machine(md_backend backend, char *text, size_t size)
{
  md_gpu_info gpu;
  if (backend == MD_GPU && md_gpu_describe(&gpu) == MD_OK)
    snprintf(text, size, "%s", gpu.name);
  else
    md_cpu_name(text, size);
  for (char *c = text; *c; c++)
    if (*c == ',') *c = ';';
}

void provenance_json(md_json *json, const md_ctx *ctx)
{
  char text[256];
  md_json_open(json, "provenance", '{');
  md_json_string(json, "program", "minimd");
  md_json_string(json, "version", md_version());
  md_json_string(json, "commit", provenance_commit());
  md_json_string(json, "compiler", provenance_compiler());
  md_json_string(json, "cuda", provenance_cuda());
  provenance_date(text);
  md_json_string(json, "date", text);
  md_cpu_name(text, sizeof text);
  md_json_string(json, "cpu", text);
  md_json_integer(json, "threads", ctx->threads);
  md_json_string(json, "isa", md_isa_words[ctx->isa]);
  md_gpu_info gpu;
  if (ctx->backend == MD_GPU && md_gpu_describe(&gpu) == MD_OK) {
    md_json_string(json, "gpu", gpu.name);
    md_json_string(json, "driver", gpu.driver);
  }
  md_json_close(json, '}');
}
