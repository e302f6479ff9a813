/* minimd/locality/cmd_profile.h - the options of `minimd profile`, which looks at the GPU's kernel
 * (cmd_profile.c) or at the CPU's (cmd_profile_cpu.c). */
#ifndef CMD_PROFILE_H
#define CMD_PROFILE_H

#include "minimd/locality/profile_child.h"
#include "minimd/shell/settings.h"

MD_BEGIN_C

enum {
  AT = SETTINGS_COUNT,
  LAUNCHES,
  CACHES,
  COUNTERS,
  MODEL,
  REPLAY,
  MACHINE,
  WITH,
  ADDRESSES,
  TIMES,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

extern const char *const profile_switch_words[2]; /* off, on */
/* --caches; what is wanted becomes true.  Errors: MD_EINVAL, MD_ENOMEM. */
md_status profile_read_caches(const options *opts, bool wanted[PROFILE_CACHES_COUNT]);

/* The CPU's kernel is looked at where --with or --backend says so. */
bool profile_wants_cpu(const options *opts);
/* Errors: MD_EINVAL (options of the GPU's), those of profile_cpu. */
md_status profile_answer_cpu(const options *opts, config *cfg);

MD_END_C
#endif
