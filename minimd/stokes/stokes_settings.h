/* minimd/stokes/stokes_settings.h - what `minimd stokes` is asked to do, from its command line or
 * from a checkpoint. */
#ifndef STOKES_SETTINGS_H
#define STOKES_SETTINGS_H

#include "minimd/shell/options.h"
#include "stokes/step/run.h"

MD_BEGIN_C

enum {
  STOKES_OPTION_INPUT,
  STOKES_OPTION_HYDRODYNAMICS,
  STOKES_OPTION_LAMBDA,
  STOKES_OPTION_FORCE,
  STOKES_OPTION_ALGORITHM,
  STOKES_OPTION_RHS,
  STOKES_OPTION_GUESS,
  STOKES_OPTION_REPLICAS,
  STOKES_OPTION_STEPS,
  STOKES_OPTION_DT,
  STOKES_OPTION_SEED,
  STOKES_OPTION_GAP_CUT,
  STOKES_OPTION_GAP_MIN,
  STOKES_OPTION_FAR_FIELD,
  STOKES_OPTION_VISCOSITY,
  STOKES_OPTION_METHOD,
  STOKES_OPTION_TOLERANCE,
  STOKES_OPTION_GUESS_TOLERANCE,
  STOKES_OPTION_ROOT,
  STOKES_OPTION_ROOT_TOLERANCE,
  STOKES_OPTION_PRECONDITIONER,
  STOKES_OPTION_MOST,
  STOKES_OPTION_STORAGE,
  STOKES_OPTION_BACKEND,
  STOKES_OPTION_DEVICE,
  STOKES_OPTION_THREADS,
  STOKES_OPTION_DETERMINISTIC,
  STOKES_OPTION_TRAJECTORY,
  STOKES_OPTION_TRAJECTORY_EVERY,
  STOKES_OPTION_CHECKPOINT,
  STOKES_OPTION_CHECKPOINT_EVERY,
  STOKES_OPTION_RESTART,
  STOKES_OPTION_MODEL,
  STOKES_OPTION_FORMAT,
  STOKES_OPTION_OUTPUT,
  STOKES_OPTION_PLOT,
  STOKES_OPTION_QUIET,
  STOKES_OPTION_COUNT
};
extern const option stokes_option_table[STOKES_OPTION_COUNT];

typedef struct {
  stokes_run_spec spec;
  bool automatic;    /* spec.vectors is still to be chosen from the model */
  bool root_implied; /* --guess series chose the root */
  int backend;
  int64_t threads, steps;                     /* 0: all; the step to reach */
  const char *trajectory, *checkpoint;        /* NULL: none */
  int64_t trajectory_every, checkpoint_every; /* checkpoint_every 0: at the end only */
} stokes_settings;

stokes_settings stokes_settings_defaults(void);

/* Take over the values that are given; names in *out point into them.
 * Errors: MD_EINVAL (names option, value and what was expected). */
md_status stokes_settings_read(const options *opts, stokes_settings *out);

/* Whether the options that were given go with the hydrodynamics.  Errors: MD_EINVAL. */
md_status stokes_settings_agree(const options *opts, const stokes_settings *settings);

/* All settings as words of a command line, each with a NUL behind it; *bytes: of all.  Free *out.
 * Threads are left out.  Errors: MD_ENOMEM. */
md_status stokes_settings_words(const stokes_settings *settings, char **out, size_t *bytes);
/* Take such words over; names in *out point into them.  A NUL stands behind the last.  Errors:
 * MD_EINVAL, MD_ENOMEM. */
md_status stokes_settings_read_words(char *words, stokes_settings *out);

/* *out: the first option on which the bits of a step depend and in which two settings differ, or
 * NULL.  Errors: MD_ENOMEM. */
md_status stokes_settings_differ(const stokes_settings *a, const stokes_settings *b,
                                 const char **out);

MD_END_C
#endif
