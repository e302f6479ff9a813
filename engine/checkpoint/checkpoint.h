/* engine/checkpoint/checkpoint.h - files a run continues from exactly.
 *
 * Sections as in sections.h, in this order:
 *
 *     CONF   the settings, as text of the program
 *     STEP   what is one number: see checkpoint_impl.h
 *     PLACE, BUILT, V   float64 [n][3]   positions, those at the last list build, velocities
 *     ID     int64 [n]
 *     IMAGE  int32 [n][3]
 *     CHARGE float64 [n], or nothing
 *     TYPE   uint8 [n], or nothing where all atoms are alike
 *     END    nothing
 *
 * Atoms stand in the order they had in memory, where a run's bits depend on it; else, and with
 * several ranks, whose atoms rank 0 writes window after window, by rising id: 92 bytes each, 100
 * with charges. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "core/output/files.h"
#include "engine/engine.h"

MD_BEGIN_C

typedef struct {
  char *path, *settings; /* the file; the text that was given */
  md_backend backend;    /* the run was on */
  md_file_mark dump;     /* of the trajectory then */
  int64_t potential;     /* eam_check_sum of embedded atoms, else -1 */
  engine_state state;
} checkpoint;

/* Write the state of a run after engine_step with a tally; settings: text that is kept with it;
 * dump: its trajectory, or NULL.  keep: a file of that name becomes path.prev, as it does where
 * there is none; at every moment one of the two is whole.  Errors: MD_ENUMERIC (a position or
 * velocity is no number; an atom has gone further since the list build than the list reaches, so
 * that it was among others that the list does not know), MD_EIO, MD_ENOMEM; then path is as it
 * was. */
md_status checkpoint_write(const char *path, const char *settings, const engine *sim,
                           const md_file_mark *dump, bool keep);

/* On all ranks: read and check a whole file, of whose atoms each rank keeps a block in turn.  *out
 * is empty where this rank failed; free with checkpoint_free.  Errors, of all: MD_EIO (cannot be
 * read, or damaged: names the section, and path.prev when that is whole), MD_EINVAL (not a
 * checkpoint, a later version), MD_ENOMEM. */
md_status checkpoint_read(const char *path, checkpoint *out);
void checkpoint_free(checkpoint *from);

MD_END_C
#endif
