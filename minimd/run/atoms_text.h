/* minimd/run/atoms_text.h - atoms as text for other programs, in any order, with enough digits to
 * read back the same numbers.
 *
 *   extended XYZ  species, position, velocity and id a line, and the charge of systems that have
 *                 them; Lattice, Origin, Time in the comment (ASE, OVITO)
 *   LAMMPS data   masses, types' names behind them; atom style charge, or atomic without charges,
 *                 with image flags; velocities.  No Pair Coeffs, which LAMMPS refuses before a
 *                 pair_style
 *
 * system.read takes both. */
#ifndef ATOMS_TEXT_H
#define ATOMS_TEXT_H

#include "engine/spec.h"

#include <stdio.h>

MD_BEGIN_C

typedef struct {
  const engine_spec *spec; /* kinds, units, time step */
  md_box box;
  int64_t n;
  const double *x, *v, *q; /* [n][3], [n][3], [n]; q NULL: without charges */
  const uint8_t *type;     /* [n]; NULL: all are of the first kind */
  const int64_t *id;       /* [n]; NULL: 1..n */
  const int32_t *image;    /* [n][3]; NULL: 0 */
  double mass;             /* where all are alike */
  int64_t step;
} atoms_text;

/* order [n]: which atoms come one after the other; NULL: as they lie.  Failures stay in the
 * stream.  Rows of an XYZ file may come in parts, behind a head for all. */
void atoms_text_xyz_head(const atoms_text *atoms, FILE *stream);
void atoms_text_xyz_rows(const atoms_text *atoms, const int64_t *order, FILE *stream);
void atoms_text_xyz(const atoms_text *atoms, const int64_t *order, FILE *stream);
void atoms_text_data(const atoms_text *atoms, const int64_t *order, FILE *stream);
/* The name of an atom's kind. */
const char *atoms_text_name(const atoms_text *atoms, int64_t i);

MD_END_C
#endif
