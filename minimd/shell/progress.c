/* minimd/shell/progress.c - see progress.h. */
#include "minimd/shell/progress.h"
#include "core/time/timer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double interval = 0.25; /* seconds between updates */

void progress_begin(progress *bar, int64_t total, bool quiet)
{
  memset(bar, 0, sizeof *bar);
  bar->shown = !quiet && isatty(STDERR_FILENO);
  bar->total = total;
  bar->when[0] = md_wall_seconds();
  bar->updates = 1;
}

void progress_update(progress *bar, int64_t done)
{
  if (!bar->shown) return;
  const double now = md_wall_seconds();
  if (now - bar->when[(bar->updates - 1) % PROGRESS_WINDOW] < interval) return;
  const int slot = bar->updates % PROGRESS_WINDOW;
  const int oldest = bar->updates < PROGRESS_WINDOW ? 0 : (bar->updates + 1) % PROGRESS_WINDOW;
  bar->done[slot] = done;
  bar->when[slot] = now;
  bar->updates++;
  const double rate = (double)(done - bar->done[oldest]) / (now - bar->when[oldest]);
  fprintf(stderr, "\rstep %" PRId64 " of %" PRId64 ", %.1f steps/s, %.0f s left \033[K", done,
          bar->total, rate, rate > 0 ? (double)(bar->total - done) / rate : 0.0);
  fflush(stderr);
}

void progress_end(progress *bar)
{
  if (bar->shown && bar->updates > 1) fputs("\r\033[K", stderr);
}
