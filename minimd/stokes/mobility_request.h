/* minimd/stokes/mobility_request.h - what `minimd mobility` is asked for. */
#ifndef MOBILITY_REQUEST_H
#define MOBILITY_REQUEST_H

#include "minimd/shell/options.h"
#include "stokes/step/run.h"

MD_BEGIN_C

enum {
  MOBILITY_INPUT,
  MOBILITY_CASE,
  MOBILITY_TOLERANCE,
  MOBILITY_VECTORS,
  MOBILITY_CHECK,
  MOBILITY_MAP,
  MOBILITY_MOVES,
  MOBILITY_OBSERVE,
  MOBILITY_HYDRODYNAMICS,
  MOBILITY_PROBES,
  MOBILITY_WAVES,
  MOBILITY_GAP_CUT,
  MOBILITY_GAP_MIN,
  MOBILITY_VISCOSITY,
  MOBILITY_BACKEND,
  MOBILITY_DEVICE,
  MOBILITY_PRECISION,
  MOBILITY_REPEAT,
  MOBILITY_SEED,
  MOBILITY_THREADS,
  MOBILITY_DETERMINISTIC,
  MOBILITY_FORMAT,
  MOBILITY_OUTPUT,
  MOBILITY_PLOT,
  MOBILITY_QUIET,
  MOBILITY_OPTION_COUNT
};
extern const option mobility_option_table[MOBILITY_OPTION_COUNT];

#define MOBILITY_OBSERVABLES(X)                                                                    \
  X(DIFFUSION, "diffusion") X(SEDIMENTATION, "sedimentation") X(HQ, "hq")
#define MD_ENUM_(name, word) MOBILITY_##name,
typedef enum { MOBILITY_OBSERVABLES(MD_ENUM_) MOBILITY_OBSERVABLE_COUNT } mobility_observable;
#undef MD_ENUM_
extern const char *const mobility_observable_words[MOBILITY_OBSERVABLE_COUNT];

typedef struct {
  const options *opts;
  int format;
  double tolerance, viscosity;
  int64_t repeat;
  uint64_t seed;
  bool check, map, quiet;
  md_ctx_spec where;
  int *vectors; /* [n_vectors] */
  int n_vectors;
  bool observe[MOBILITY_OBSERVABLE_COUNT], observes; /* observes: any of them */
  stokes_hydrodynamics hydrodynamics;
  stokes_resistance law;
  int64_t probes;
  double *waves; /* [n_waves], times the mean radius */
  int n_waves;
} mobility_request;

/* Errors: MD_EINVAL (names the option), MD_ENOMEM.  Free with mobility_request_free, also after a
 * failure. */
md_status mobility_request_read(const options *opts, mobility_request *out);
void mobility_request_free(mobility_request *request);

MD_END_C
#endif
