/* core/time/stopwatch.h - how long does a piece of work take, where it is done?
 *
 * Wall time on the CPU; on the GPU what lies between two events in its stream, so that neither the
 * launch nor the wait of the host counts. */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include "core/buffer.h"

MD_BEGIN_C

typedef struct {
  md_ctx *ctx;
  double began;
  void **events;     /* [2], GPU only */
  md_buffer ballast; /* GPU only: what is read to empty its cache */
} md_stopwatch;

/* Errors: MD_ENOMEM, MD_ECUDA; the stopwatch is empty then.  Destroy an empty one, too. */
md_status md_stopwatch_create(md_ctx *ctx, md_stopwatch *out);
void md_stopwatch_destroy(md_stopwatch *watch);

/* Begin, once the work queued before is done; `cold`: with nothing useful in the GPU's second-level
 * cache (no difference on the CPU).  Errors: MD_ENOMEM, MD_ECUDA. */
md_status md_stopwatch_start(md_stopwatch *watch, bool cold);
/* Seconds since the start; waits for the work.  Errors: MD_ECUDA. */
md_status md_stopwatch_stop(md_stopwatch *watch, double *seconds);

MD_END_C
#endif
