/* minimd/run/tune.h - which settings are fastest for a system on this machine?
 *
 * The space is searched one dimension after the other, twice: all values of a dimension run
 * interleaved, the slower half is dropped, the others run for twice as long, until one is left
 * (successive halving).  At the end the winner, the settings that it began from, and the winner
 * with each of its choices taken back run against each other as `compare` does. */
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
  X(THREADS, "threads", "device.threads")
#define MD_ENUM_(name, ...) TUNE_##name,
typedef enum { TUNE_DIMENSIONS(MD_ENUM_) TUNE_DIMENSION_COUNT } tune_dimension;
#undef MD_ENUM_
extern const char *const tune_dimension_words[TUNE_DIMENSION_COUNT];

enum { TUNE_VALUE = 32 };
/* A value for each dimension, as --set takes it; empty: what the configuration says. */
typedef char tune_point[TUNE_DIMENSION_COUNT][TUNE_VALUE];

/* What a point's steps take [s a step]; infinite: it cannot be had.  steps: to be timed. */
typedef double tune_clock(void *with, const tune_point at, int64_t steps);

typedef struct {
  int n; /* values of a dimension, the one it begins from among them; 0: it stays as it is */
  char value[16][TUNE_VALUE];
} tune_values;

/* Search from *at, which becomes the best point that was found; budget: seconds to spend.
 * *runs counts what was timed. */
void tune_search(const tune_values values[TUNE_DIMENSION_COUNT], double budget, tune_clock *clock,
                 void *with, tune_point at, int64_t *runs);

/* A choice of the winner, against the winner with this choice taken back. */
typedef struct {
  tune_dimension dimension; /* TUNE_DIMENSION_COUNT: all choices together */
  compare_estimate worth;   /* ratio of times, back / winner; NaN: too few repeats */
  double l1_hit[2];         /* by the model: winner, taken back; NaN */
} tune_choice;

typedef struct {
  tune_point from, best;   /* best: as the search found it */
  tune_point kept;         /* with those choices alone that were told to be faster */
  compare_estimate step_s; /* of the winner */
  tune_choice choices[TUNE_DIMENSION_COUNT + 1];
  int n_choices;
  int64_t runs, repeats, atoms;
  bool check; /* the skin was tuned: lists are built when an atom moved half of it */
} tuning;

/* Tune the dimensions of `over`.  opts: those of settings_read.
 * Errors: those of the engine at the settings to begin from; MD_EINVAL, MD_ENOMEM. */
md_status tune(const options *opts, const bool over[TUNE_DIMENSION_COUNT], double seconds,
               bool quiet, tuning *out);
/* Whether a choice is worth keeping: its interval lies above 1. */
static inline bool tune_is_faster(const tune_choice *choice)
{
  return choice->worth.low > 1;
}
/* The configuration of a point.  *out is NULL on failure. */
md_status tune_configure(const options *opts, const tune_point at, bool check, config **out);

MD_END_C
#endif
