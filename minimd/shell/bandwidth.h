/* minimd/shell/bandwidth.h - what the memory of a backend moves, as a limit to compare with. */
#ifndef BANDWIDTH_H
#define BANDWIDTH_H

#include "core/context.h"

MD_BEGIN_C

/* Bytes per second of a copy of 256 MB on the context's backend, reads and writes counted: the
 * median of five after one to warm up.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status bandwidth_measure(md_ctx *ctx, double *out);

/* Bytes of the last-level cache of the context's processor: a GPU's L2, or what the system tells of
 * the CPU; 0: nothing. */
int64_t cache_bytes(const md_ctx *ctx);

MD_END_C
#endif
