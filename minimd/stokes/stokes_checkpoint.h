/* minimd/stokes/stokes_checkpoint.h - files that a run of `minimd stokes` goes on from exactly.
 *
 * Sections as in sections.h, in this order:
 *
 *     CONF   settings as words of a command line, each with a NUL behind it
 *     STEP   what is one number: see stokes_checkpoint.c
 *     PLACE, BUILT  float64 [n][4]   centres and radii, and those at the last list build
 *     ID     int32 [n]        where a sphere stood in the packing
 *     GUESS  float64 [3 n][m] solutions of the group of m steps that is under way, or nothing
 *     END    nothing
 *
 * Spheres stand in the order they had in memory: 68 bytes each, and 24 m within a group. */
#ifndef STOKES_CHECKPOINT_H
#define STOKES_CHECKPOINT_H

#include "core/output/files.h"
#include "minimd/stokes/stokes_settings.h"

MD_BEGIN_C

typedef struct {
  char *path, *words;      /* the file; its settings */
  md_file_mark trajectory; /* then */
  stokes_run_state state;
} stokes_checkpoint;

/* Write the state of a run; called by all ranks, of which rank 0 writes.  A file of that name
 * becomes path.prev; at every moment one of the two is whole.  Errors: MD_EIO, MD_ENOMEM, MD_ECUDA;
 * then path is as it was. */
md_status stokes_checkpoint_write(const char *path, const stokes_settings *settings,
                                  const stokes_run *run, const md_file_mark *trajectory);

/* Read and check a whole file.  *out is empty on failure; free with stokes_checkpoint_free.
 * Errors: MD_EIO (cannot be read, or damaged: names the section, and path.prev when that is whole),
 * MD_EINVAL (no such checkpoint, another version), MD_ENOMEM. */
md_status stokes_checkpoint_read(const char *path, stokes_checkpoint *out);
void stokes_checkpoint_free(stokes_checkpoint *from);

MD_END_C
#endif
