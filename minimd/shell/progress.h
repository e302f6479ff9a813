/* minimd/shell/progress.h - a progress line with the time left, on a terminal only. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "core/md.h"

MD_BEGIN_C

enum { PROGRESS_WINDOW = 32 }; /* updates over which the rate is averaged */

typedef struct {
  bool shown;
  int64_t total, done[PROGRESS_WINDOW];
  double when[PROGRESS_WINDOW];
  int updates;
} progress;

/* Prepare for `total` items; silent when quiet or when standard error is no terminal. */
void progress_begin(progress *bar, int64_t total, bool quiet);
/* `done` items are done; draws at most a few times a second. */
void progress_update(progress *bar, int64_t done);
/* Wipe the line. */
void progress_end(progress *bar);

MD_END_C
#endif
