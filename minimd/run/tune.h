/* minimd/run/tune.h - which settings are fastest for a system on this machine?
 *
 * The search times every single change of the settings, races the combinations that these promise
 * (the slower half is dropped after every round: successive halving), and goes on from the winner;
 * exhaustively all combinations race.  Entrants run in turn, from one state, saved when the atoms
 * have left the lattice.  At the end the winner, the settings that it began from, and the winner
 * with each of its choices taken back run against each other as `compare` does.  Times are wall
 * time, but processor time where one thread of the CPU computes and threads are not tuned.
 *
 * Settings of PME are candidates of equal error: spline order and cutoff are theirs, alpha and mesh
 * the coarsest whose estimated force error (spread/pme.h) is not above that of the settings as
 * given.  A precision is a candidate where its error, root mean square of the forces' difference
 * from double precision at the same positions over that of the forces, is not above `error`. */
#ifndef TUNE_H
#define TUNE_H

#include "minimd/run/compare.h"

MD_BEGIN_C

#define TUNE_DIMENSIONS(X)                                                                         \
  X(ORDER, "order", "order.curve")                                                                 \
  X(LIST, "list", "neighbor.list")                                                                 \
  X(BIN_SIZE, "bin-size", "neighbor.bin_size")                                                     \
  X(SORT_EVERY, "sort-every", "order.sort_every")                                                  \
  X(SKIN, "skin", "neighbor.skin")                                                                 \
  X(BLOCK_SIZE, "block-size", "device.block_size")                                                 \
  X(THREADS, "threads", "device.threads")                                                          \
  X(PME, "pme", "coulomb.order") /* and cutoff, alpha, mesh */                                     \
  X(PRECISION, "precision", "device.precision")
#define MD_ENUM_(name, ...) TUNE_##name,
typedef enum { TUNE_DIMENSIONS(MD_ENUM_) TUNE_DIMENSION_COUNT } tune_dimension;
#undef MD_ENUM_
extern const char *const tune_dimension_words[TUNE_DIMENSION_COUNT];

enum { TUNE_VALUE = 64, TUNE_VALUES = 16 };
/* A value for each dimension, as --set takes it, or ORDER:CUTOFF:ALPHA:MESH of PME; empty: what the
 * configuration says. */
typedef char tune_point[TUNE_DIMENSION_COUNT][TUNE_VALUE];

/* What a point's steps take [s a step]; infinite: it cannot be had.  steps: to be timed; *setup_s:
 * what was spent beside them. */
typedef double tune_clock(void *with, const tune_point at, int64_t steps, double *setup_s);

typedef struct {
  int n; /* values of a dimension, the one it begins from among them; 0: it stays as it is */
  char value[TUNE_VALUES][TUNE_VALUE];
} tune_values;

/* Search from *at, which becomes the best point that was found; budget: seconds to spend, more
 * where runs of the least length, a hundred or two, take longer.  *runs counts what was timed.
 * Errors: MD_ENOMEM. */
md_status tune_search(const tune_values values[TUNE_DIMENSION_COUNT], bool exhaustive,
                      double budget, tune_clock *clock, void *with, tune_point at, int64_t *runs);

/* A choice of the winner, against the winner with this choice taken back. */
typedef struct {
  tune_dimension dimension; /* TUNE_DIMENSION_COUNT: all choices together */
  compare_estimate worth;   /* ratio of times, back / winner; NaN: too few repeats */
  double l1_hit[2];         /* by the model: winner, taken back; NaN */
} tune_choice;

typedef struct {
  const options *opts; /* of settings_read */
  bool over[TUNE_DIMENSION_COUNT];
  bool named;   /* by the user: a dimension that the system has not is an error */
  double error; /* of a precision; 0: it stays */
  double seconds;
  bool exhaustive, quiet;
  FILE *trials; /* NULL, or CSV: a row for each run of the search */
} tune_request;

enum { TUNE_REASON = 256 };
typedef struct {
  tune_point from, best;   /* best: as the search found it */
  tune_point kept;         /* with those choices alone that were told to be faster */
  compare_estimate step_s; /* of the winner */
  tune_choice choices[TUNE_DIMENSION_COUNT + 1];
  int n_choices;
  int64_t runs, repeats, atoms;
  bool check; /* the skin was tuned: lists are built when an atom moved half of it */
  double precision_error[MD_PRECISION_COUNT];     /* measured; NaN: not asked for */
  double pme_error;                               /* estimated, of all candidates; NaN: none */
  char model[TUNE_REASON], counters[TUNE_REASON]; /* why, in a sentence each */
} tuning;

/* Tune the dimensions of `over`; precision where an error is allowed.
 * Errors: those of the engine at the settings to begin from; MD_EINVAL, MD_ENOMEM. */
md_status tune(const tune_request *request, tuning *out);

/* The point to begin from, and the values of every dimension.  What cannot be had drops out in the
 * search.  Errors: those of the engine; MD_EINVAL (a named dimension that the system has not). */
md_status tune_make_values(const tune_request *request, tune_values values[TUNE_DIMENSION_COUNT],
                           tuning *out);
/* The errors of all precisions, out->precision_error.  Errors: those of the engine. */
md_status tune_measure_errors(const options *opts, tuning *out);
/* Why the winner is faster, by the model of this machine's caches and by the processor's counters:
 * out->model, out->counters.  Errors: those of the engine and the model. */
md_status tune_explain(const options *opts, tuning *out);
/* Whether a choice is worth keeping: its interval lies above 1. */
static inline bool tune_is_faster(const tune_choice *choice)
{
  return choice->worth.low > 1;
}
/* The state that a point's run is in after some steps, 1 at least.  Errors: those of the engine. */
md_status tune_save(const options *opts, const tune_point at, bool check, int64_t steps,
                    engine_state *out);
/* The configuration of a point.  *out is NULL on failure. */
md_status tune_configure(const options *opts, const tune_point at, bool check, config **out);

MD_END_C
#endif
