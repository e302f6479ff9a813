/* minimd/system.h - the atoms a run starts from: a lattice with velocities, or a file. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "core/atoms.h"
#include "minimd/config.h"

MD_BEGIN_C

/* What a configuration file or a lattice describes, in host memory. */
typedef struct {
  md_box box;
  int64_t n;
  double *x, *v;  /* [n][3]; v NULL when the file has none */
  int64_t *id;    /* [n] or NULL: 1..n */
  int32_t *image; /* [n][3] or NULL: zero */
  double mass;    /* of every atom; 0 when the source does not say */
} system_state;
void system_state_free(system_state *state);

/* Number of atoms and box the configuration describes, without making any (reads a file's header).
 */
md_status system_size(const config *cfg, int64_t *n, md_box *box);

/* Make or read the initial state: lattice sites, velocities by either generator (momentum zero,
 * temperature exact), or the file of system.read (velocities generated when it has none).
 * Errors: MD_EINVAL (file, line, what was expected), MD_EIO, MD_ENOMEM. */
md_status system_create(const config *cfg, system_state *out);

/* Readers by content; path names the file in messages. */
md_status system_read_data(const char *path,
                           system_state *out); /* LAMMPS write_data: atomic, charge */
md_status system_read_xyz(const char *path, system_state *out); /* extended XYZ, first frame */

MD_END_C
#endif
