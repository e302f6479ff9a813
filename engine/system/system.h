/* engine/system/system.h - the atoms a run starts from: a lattice with velocities, or a file. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "core/atoms.h"
#include "engine/spec.h"

MD_BEGIN_C

/* What a configuration file or a lattice describes, in host memory. */
typedef struct {
  md_box box;
  int64_t n;
  double *x, *v;  /* [n][3]; v NULL when the file has none */
  bool momenta;   /* of system_read: v holds mass x velocity [sqrt(mass energy)] */
  int64_t *id;    /* [n] or NULL: 1..n */
  int32_t *image; /* [n][3] or NULL: zero */
  double *q;      /* [n] charges, or NULL when the source has none */
  uint8_t *type;  /* [n] kinds of atoms, or NULL where all are alike */
  double mass;    /* of every atom, or the first kind; 0 when the source does not say */
  double epsilon, sigma, cutoff; /* of every pair, likewise */
  bool lj, metal;                /* the units, if the source says */
  int64_t first, all;            /* these are atoms first .. first + n - 1 of so many */
} system_state;
void system_state_free(system_state *state);

/* Give the atoms ids 1..all.  Errors: MD_ENOMEM. */
md_status system_number(system_state *state);

/* Number of atoms and box the configuration describes, without making any (reads a file's header).
 * Errors: as system_create. */
md_status system_size(const engine_spec *spec, int64_t *n, md_box *box);

/* The same of the lattice that the settings describe. */
void system_lattice(const engine_spec *spec, int64_t *n, md_box *box);

/* Make or read the initial state: lattice sites, velocities by either generator (momentum zero,
 * temperature exact), or the file of system.read (velocities generated when it has none or they are
 * not to be kept).  A file's mass, epsilon and sigma must agree with settings that are given too,
 * or with species.  The same configuration gives the same bits for any number of threads; beside
 * what is returned, memory of 40 bytes for 8192 atoms is used.  With several ranks (comm/world.h)
 * each makes or reads a block of the same atoms.  *out is empty on failure, which is then that of
 * all.
 * Errors: MD_EINVAL (file, line, what was expected), MD_EIO, MD_ENOMEM. */
md_status system_create(const engine_spec *spec, system_state *out);

/* Atoms from a file: LAMMPS data (write_data; atom styles atomic and charge), or the first frame of
 * an extended XYZ file (Lattice, Properties).  Told apart by content.  types: the kinds that there
 * may be, by name, or in a data file without Atom Type Labels by number; masses and pairs that the
 * file gives must be theirs.  NULL: one kind, of which out tells what the file says.
 * Positions are wrapped into the box, image flags follow.  header: only box and n are read.
 * Else all ranks read together: each goes through the file line by line and keeps its block of the
 * atoms.  *out is empty on failure.  Errors, of all: MD_EINVAL (file, line, what was expected),
 * MD_EIO, MD_ENOMEM; a rank that fails alone before any atom is to tell the others (world_agree).
 */
md_status system_read(const char *path, bool header, const engine_types *types, system_state *out);
/* The kinds that a LAMMPS data file describes before its atoms: names (Atom Type Labels, else the
 * words behind all masses, else numbers), masses and pairs; what it does not say is 0.  None in a
 * file of one type, or of another format.  Free with engine_types_free.
 * *out is empty on failure.  Errors: as system_read. */
md_status system_read_types(const char *path, engine_types *out);

/* by_id [n]: the places of n different ids by rising id. */
void system_sort_ids(int64_t n, const int64_t *id, int64_t *by_id);
/* The atom with this id, or -1; by_id NULL: they rise. */
int64_t system_find_id(const system_state *state, const int64_t *by_id, int64_t id);

MD_END_C
#endif
