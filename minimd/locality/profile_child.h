/* minimd/locality/profile_child.h - this program under a profiler: the command, what it printed,
 * and what went wrong.  Nothing goes through a shell. */
#ifndef PROFILE_CHILD_H
#define PROFILE_CHILD_H

#include "minimd/locality/profile_figures.h"

#include <stdio.h>

MD_BEGIN_C

#define PROFILE_CACHES(X)                                                                          \
  X(WARM, "warm") /* as the launch before left them */                                             \
  X(COLD, "cold") /* empty */
#define PROFILE_REPLAYS(X)                                                                         \
  X(APPLICATION, "application") /* the program runs once for each group of metrics */              \
  X(KERNEL, "kernel")           /* the kernel does; its memory is restored through the L2 */
#define MD_ENUM_(name, word) PROFILE_##name,
typedef enum { PROFILE_CACHES(MD_ENUM_) PROFILE_CACHES_COUNT } profile_caches;
typedef enum { PROFILE_REPLAYS(MD_ENUM_) PROFILE_REPLAY_COUNT } profile_replay;
#undef MD_ENUM_
extern const char *const profile_tool_words[PROFILE_TOOL_COUNT];
extern const char *const profile_caches_words[PROFILE_CACHES_COUNT];
extern const char *const profile_replay_words[PROFILE_REPLAY_COUNT];

typedef struct {
  profile_tool tool;
  profile_caches caches;
  profile_replay replay; /* of warm caches; cold ones replay the kernel */
  const profile_metrics *metrics;
  char *const *program; /* arguments of this program, [0] its name; NULL ends them */
} profile_run;

/* Run it.  *values gets the metrics of the launches between md_profiler on and off.
 * *missing is NULL, or says what the user needs so that the profiler can count at all (it is not
 * installed, it may not, there is no GPU); then values is empty.  Free it.
 * Errors: the program's own, with its message; MD_ENOGPU (the profiler failed), MD_EIO (its output
 * is cut off), MD_ENOMEM. */
md_status profile_child(const profile_run *run, profile_values *values, char **missing);

MD_END_C
#endif
