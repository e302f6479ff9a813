/* minimd/checkpoint.h - files a run continues from exactly.
 *
 * Sections as in sections.h, in this order:
 *
 *     CONF   the configuration as libconfig text
 *     STEP   what is one number: see checkpoint_impl.h
 *     PLACE, BUILT, V   float64 [n][3]   positions, those at the last list build, velocities
 *     ID     int64 [n]
 *     IMAGE  int32 [n][3]
 *     CHARGE float64 [n], or nothing
 *     END    nothing
 *
 * Atoms stand in the order they had in memory: 92 bytes each, 100 with charges. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "core/files.h"
#include "minimd/engine.h"

MD_BEGIN_C

typedef struct {
  char *path, *config; /* the file; its configuration as libconfig text */
  md_backend backend;  /* the run was on */
  md_file_mark dump;   /* of the trajectory then */
  engine_state state;
} checkpoint;

/* Write the state of a run after engine_step with a tally; dump: its trajectory, or NULL.  keep: a
 * file of that name becomes path.prev, as it does where there is none; at every moment one of the
 * two is whole.  Errors: MD_ENUMERIC (a position or velocity is no number; an atom has gone further
 * since the list build than the list reaches, so that it was among others that the list does not
 * know), MD_EIO, MD_ENOMEM; then path is as it was. */
md_status checkpoint_write(const char *path, const config *cfg, const engine *sim,
                           const md_file_mark *dump, bool keep);

/* Read and check a whole file.  *out is empty on failure; free with checkpoint_free.
 * Errors: MD_EIO (cannot be read, or damaged: names the section, and path.prev when that is whole),
 * MD_EINVAL (not a checkpoint, a later version), MD_ENOMEM. */
md_status checkpoint_read(const char *path, checkpoint *out);
void checkpoint_free(checkpoint *from);

/* Set cfg to the saved run's configuration. */
md_status checkpoint_configure(const checkpoint *from, config *cfg);

/* How a run with this configuration goes on. */
typedef struct {
  const char *differs; /* NULL: to the bit; else a setting that shapes memory or rounding */
  const md_file_mark *dump_keep; /* where its trajectory goes on; NULL: it has another, or none */
} checkpoint_plan;
/* Errors: MD_EINVAL (a setting of system.* is not the checkpoint's; steps already done;
 * a skin that is still to be measured), MD_EIO (its trajectory was a pipe and is a file now),
 * MD_ENOMEM. */
md_status checkpoint_compare(const checkpoint *from, const config *cfg, checkpoint_plan *out);

MD_END_C
#endif
