/* minimd/run/dump.h - trajectories, a frame at a time, in the formats that other programs read.
 *
 *   .xyz        extended XYZ: species, position, velocity and id a line, and the charge of systems
 *               that have them; Lattice, Origin, Time in the comment (ASE, OVITO; read back by
 *               system.read)
 *   .lammpstrj  LAMMPS text dump: id type x y z vx vy vz ix iy iz, and q
 *   .dcd        CHARMM binary with unit cell: positions in single precision (VMD, MDAnalysis)
 *
 * Atoms come in the order of their ids in every frame; positions are wrapped into the box at the
 * last list build; text has enough digits to read back the same numbers.  Rank 0 writes, and holds
 * a window of other ranks' atoms at a time (engine/windows.h).  A trajectory is written as the run
 * goes and what is there stays when the run is stopped. */
#ifndef DUMP_H
#define DUMP_H

#include "core/output/files.h"
#include "engine/engine.h"

MD_BEGIN_C

typedef struct dump dump;

/* Whether a path ends in one of the formats' names.  Errors: MD_EINVAL (names them). */
md_status dump_check(const char *path);

/* Begin a trajectory of this engine.  keep: where an existing file is gone on with (a restart), or
 * NULL to begin anew.  every: steps between frames, for headers that name it.  *out is NULL on
 * failure.  Errors: MD_EINVAL, MD_EIO (cannot be written; not the file of the mark), MD_ECAPACITY
 * (more atoms than the format counts), MD_ENOMEM. */
md_status dump_open(const char *path, const engine *sim, const md_file_mark *keep, int32_t every,
                    dump **out);
/* A frame of the present state.  Errors: MD_EIO, MD_ENOMEM, MD_ECUDA. */
md_status dump_frame(dump *to, const engine *sim);
/* Bring the frames so far to the disk, for a checkpoint that counts on them.  Errors: MD_EIO. */
md_status dump_mark(const dump *to, md_file_mark *out);
md_status dump_close(dump *to); /* NULL is allowed.  Errors: MD_EIO */

MD_END_C
#endif
