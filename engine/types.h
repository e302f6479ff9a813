/* engine/types.h - kinds of atoms: what each is, and what two of them do to each other. */
#ifndef ENGINE_TYPES_H
#define ENGINE_TYPES_H

#include "force/force.h"

MD_BEGIN_C

enum { ENGINE_NAME = 32 }; /* bytes of a name, its end among them */

typedef struct {
  char name[ENGINE_NAME];
  double mass, charge; /* as in engine_spec; a file may give its atoms charges of their own */
  double fraction;     /* of the sites of a lattice; < 0: nobody says */
} engine_species;

typedef struct {
  int32_t n; /* 1 .. MD_TYPES */
  engine_species *species;
  force_lj *pairs; /* [n][n] */
} engine_types;

/* Lennard-Jones constants that somebody gives two types, or one with itself. */
typedef struct {
  int32_t i, j;
  force_lj lj;
} engine_given;

/* Errors: MD_EINVAL (n), MD_ENOMEM; out is empty on failure. */
md_status engine_types_create(int32_t n, engine_types *out);
void engine_types_free(engine_types *types); /* leaves it empty */
/* The type of this name, or -1. */
int32_t engine_types_find(const engine_types *types, const char *name);
/* Whether a species has a charge. */
bool engine_types_charged(const engine_types *types);
/* All pairs: those of one type as given, else usual; the others as given, else mixed of these. */
void engine_types_mix(engine_types *types, force_mix mix, const force_lj *usual,
                      const engine_given *given, int32_t n_given);
/* The longest cutoff, the deepest epsilon and the largest sigma of all pairs. */
force_lj engine_types_most(const engine_types *types);

/* Types of sites first .. first + n - 1 of a lattice with so many, n_basis of them in a cell.
 * sublattices: those of the first half of a cell are of the first type, the others of the second.
 * Else the types are scattered over the sites by their fractions, each as often as that says to the
 * next atom; the same for a seed, whoever makes which sites. */
void engine_types_place(const engine_types *types, bool sublattices, int32_t n_basis, int64_t all,
                        int32_t seed, int64_t first, int64_t n, uint8_t *type);

MD_END_C
#endif
