/* minimd/spread/spread_case.h - particles and charges to spread, and the direct sum to compare
 * with. */
#ifndef SPREAD_CASE_H
#define SPREAD_CASE_H

#include "core/context.h"
#include "spread/spread.h"

MD_BEGIN_C

#define SPREAD_DISTRIBUTIONS(X)                                                                    \
  X(UNIFORM, "uniform") X(LATTICE, "lattice") X(CLUSTERED, "clustered")
#define MD_ENUM_(name, word) SPREAD_CASE_##name,
typedef enum { SPREAD_DISTRIBUTIONS(MD_ENUM_) SPREAD_CASE_COUNT } spread_distribution;
#undef MD_ENUM_
extern const char *const spread_distribution_words[SPREAD_CASE_COUNT];

/* Host arrays of doubles, rounded to what the precision holds. */
typedef struct {
  int64_t n;
  double *x; /* [n][3] [length] */
  double *q; /* [vectors][n] */
} spread_case;
void spread_case_free(spread_case *particles);

/* n particles in the box of spec: anywhere; on a simple cubic lattice; in 16 blobs with a spread of
 * a twentieth of the box.  Charges of spec->vectors vectors in -1..1.  Particle i is the same for
 * any n (but on the lattice) and any number of threads (>= 1).  Errors: MD_ENOMEM (with the
 * size). */
md_status spread_case_make(const spread_spec *spec, md_precision precision, int threads,
                           spread_distribution distribution, int64_t n, uint64_t seed,
                           spread_case *out);

/* Particles from a text file: x y z and, if charges are given, one of each vector on every line;
 * '#' begins a comment.  Errors: MD_EIO, MD_EINVAL (file, line, number of the particle), MD_ENOMEM.
 */
md_status spread_case_read(const spread_spec *spec, md_precision precision, int threads,
                           const char *path, uint64_t seed, spread_case *out);

/* mesh [K1][K2][K3] = S q of one vector, in double: every particle, every point, by the definition
 * of the B-splines.  Threads share the planes of the mesh. */
void spread_case_direct(const spread_spec *spec, const spread_case *particles, int32_t vector,
                        int threads, double *mesh);

MD_END_C
#endif
