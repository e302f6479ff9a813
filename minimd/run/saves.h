/* minimd/run/saves.h - what a run leaves behind while it goes: trajectory and checkpoints. */
#ifndef SAVES_H
#define SAVES_H

#include "minimd/run/restart.h"
#include "minimd/run/dump.h"

MD_BEGIN_C

typedef struct {
  const config *cfg;
  engine *sim;
  dump *trajectory; /* NULL: none */
  int64_t saved;    /* step of the checkpoint that is there; -1: that of another run */
} saves;

/* As output.* asks.  The first frame is written here, unless a trajectory goes on (plan, NULL for a
 * run from its beginning).  Errors: those of dump.h, and of a checkpoint that could not be begun;
 * nothing is open then. */
md_status saves_open(const config *cfg, engine *sim, const restart_plan *plan, saves *out);

/* Whether a step will be saved, and so needs a tally.  last: of the run; asked: by a signal. */
bool saves_due(const saves *to, int64_t step, bool last, bool asked);
/* Save the present step as it is due; the trajectory first, so that a checkpoint knows its length.
 * Errors: MD_EIO, MD_ENOMEM, MD_ECUDA. */
md_status saves_step(saves *to, bool last, bool asked);
/* Errors: MD_EIO. */
md_status saves_close(saves *to);

MD_END_C
#endif
