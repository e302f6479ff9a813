/* minimd/run/restart.h - checkpoints of runs with their settings, and what continuing from one
 * means. */
#ifndef RESTART_H
#define RESTART_H

#include "engine/checkpoint/checkpoint.h"
#include "minimd/config/config.h"

MD_BEGIN_C

/* checkpoint_write with the settings of the run, as libconfig text. */
md_status restart_save(const char *path, const config *cfg, const engine *sim,
                       const md_file_mark *dump, bool keep);

/* Set cfg to the saved run's configuration. */
md_status restart_configure(const checkpoint *from, config *cfg);

/* How a run with this configuration goes on. */
typedef struct {
  const char *differs; /* NULL: to the bit; else a setting that shapes memory or rounding */
  const md_file_mark *dump_keep; /* where its trajectory goes on; NULL: it has another, or none */
} restart_plan;
/* Errors: MD_EINVAL (a setting of system.* is not the checkpoint's; steps already done;
 * a skin that is still to be measured), MD_EIO (its trajectory was a pipe and is a file now),
 * MD_ENOMEM. */
md_status restart_compare(const checkpoint *from, const config *cfg, restart_plan *out);

MD_END_C
#endif
