/* tests/ref/ref.h - slow, obvious references that share no code with the program.
 *
 * Everything is O(N^2) over all periodic images, in long double (64-bit mantissa), so that the
 * differences of positions are exact for the purpose of comparing with double. */
#ifndef REF_H
#define REF_H

#include "core/atoms.h"
#include "force/force.h"
#include "tests/test.h"

/* Atom i sees the image of atom j that is shifted by `shift` box edges (md_shift_pack). */
typedef struct {
  int32_t i, j, shift;
  long double d[3], r; /* x_i - (x_j + shift), its length */
} ref_pair;

typedef struct {
  int64_t n, room;
  ref_pair *pair;
} ref_pairs;

/* Every directed pair with r < r_max, sorted by i, j, shift; an atom sees its own images too. */
ref_pairs ref_pairs_find(const md_box *box, int64_t n, const double *x, double r_max);
void ref_pairs_free(ref_pairs *pairs);

/* Energy, -dU/dr and how large the terms are that cancel in them; 0 from r_cut on. */
typedef struct {
  long double u, f, u_terms, f_terms, stiff; /* stiff: |dF/dx| at most */
} ref_lj;
ref_lj ref_lj_pair(const force_spec *spec, long double r);

/* How exact a program's arithmetic is: `step` is the error of a difference of two coordinates,
 * `unit` the unit roundoff of pair arithmetic. */
typedef struct {
  double step, unit;
} ref_exactness;

typedef struct {
  double energy, virial;
  double u_scale, w_scale; /* sum of the magnitudes of all terms, for relative errors */
  double u_jump, w_jump;   /* of pairs so near r_cut that a rounded distance may fall either way */
  double f_max;            /* largest force on an atom */
  double *f;               /* [n][3] */
  double *slack;           /* [n] error of f that rounding explains */
} ref_forces;

/* Forces, energy and virial of n atoms by direct summation. */
ref_forces ref_forces_find(const force_spec *spec, const ref_exactness *exact, const md_box *box,
                           int64_t n, const double *x);
/* The same of atoms of several types: table [n_types][n_types], each with its own cutoff. */
typedef struct {
  int n;
  const force_spec *table;
  const uint8_t *type; /* [n] of the atoms */
} ref_types;
ref_forces ref_forces_of_types(const ref_types *types, const ref_exactness *exact,
                               const md_box *box, int64_t n, const double *x);
void ref_forces_free(ref_forces *forces);

/* Uniform in [0, 1), from a 64-bit state (splitmix64). */
double ref_uniform(uint64_t *state);

/* malloc that fails the test instead of returning NULL; n may be 0. */
void *ref_alloc(int64_t n, size_t size);

/* CRC-32C as its definition has it: one bit at a time. */
uint32_t ref_crc32c(const unsigned char *data, size_t bytes);

#endif
