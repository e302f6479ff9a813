/* minimd/bandwidth.h - what the memory of a backend moves, as a limit to compare with. */
#ifndef BANDWIDTH_H
#define BANDWIDTH_H

#include "core/context.h"

MD_BEGIN_C

/* Bytes per second of a copy of 256 MB on the context's backend, reads and writes counted: the
 * median of five after one to warm up.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status bandwidth_measure(md_ctx *ctx, double *out);

MD_END_C
#endif
