/* minimd/shell/provenance.h - which program this is and what it runs on. */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include "core/context.h"
#include "core/output/output.h"

MD_BEGIN_C

const char *provenance_commit(void);   /* "unknown" outside a checkout and a release */
const char *provenance_compiler(void); /* name and version */
const char *provenance_cuda(void);     /* toolkit version of this build, "none" without CUDA */
/* What kernels were compiled for, as the end of a sentence; empty without CUDA. */
const char *provenance_cuda_arch(void);
/* Today in UTC, ISO 8601; text holds 32 bytes. */
void provenance_date(char *text);
/* "CPU name" or "GPU name": the machine part of a benchmark row; no commas. */
void provenance_machine(md_backend backend, char *text, size_t size);
/* The object "provenance" of every JSON report. */
void provenance_json(md_json *json, const md_ctx *ctx);

MD_END_C
#endif
