/* minimd/run/skin.h - which skin makes steps fastest?
 *
 * With rebuilds by displacement a thicker skin means longer lists and slower forces, but fewer
 * builds.  Where the sum is least depends on the machine, the backend and the temperature, so it is
 * measured: candidates are multiples of sigma, the neighbours of the fastest one are tried until
 * none is faster. */
#ifndef SKIN_H
#define SKIN_H

#include "minimd/config/config.h"

MD_BEGIN_C

/* As multiples of lj.sigma; the search begins at SKIN_FIRST. */
#define SKIN_CANDIDATES                                                                            \
  {                                                                                                \
    0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1                                                     \
  }
enum { SKIN_N_CANDIDATES = 9, SKIN_FIRST = 3 };

typedef struct {
  double skin;             /* as tried [length]; 0: it was not */
  double step_s;           /* of one step, builds included; infinite: cannot be had */
  int64_t steps, rebuilds; /* timed */
} skin_trial;

typedef struct {
  skin_trial trials[SKIN_N_CANDIDATES];
  int best;
  char *reason; /* one line; free with skin_free */
} skin_choice;

/* Set neighbor.skin, which is "auto", to the fastest candidate.  Each trial starts an engine from
 * the configuration's own atoms and times whole periods from build to build; the run that follows
 * starts from these atoms too and is the run with this skin to the bit.
 * Errors: those of engine_create and engine_step, MD_ENOMEM. */
md_status skin_choose(config *cfg, skin_choice *out);
void skin_free(skin_choice *choice);

MD_END_C
#endif
