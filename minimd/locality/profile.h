/* minimd/locality/profile.h - what `minimd profile` looks at: the force kernel after some steps of
 * a run, in some order and with some list; its time here, and what the model of caches makes of
 * it. */
#ifndef PROFILE_H
#define PROFILE_H

#include "minimd/locality/locality.h"
#include "minimd/locality/profile_child.h"

MD_BEGIN_C

typedef struct {
  const char *order, *list;
  int64_t step, atoms;
  neighbor_kind kind;
  int64_t shared; /* of a multiprocessor, set apart for the kernel [B]; -1: as the driver likes */
  hierarchy_result caches[PROFILE_CACHES_COUNT]; /* modelled */
  double force_s, least_s;                       /* median and least of the launches */
  double sort_s, build_s; /* of one sort and one list build on the way; NaN: there was none */
} profile_case;

typedef struct {
  const options *opts;
  unsigned lists; /* of settings_read */
  const config *cfg;
  machine m;
  bool m_given; /* its shared memory, too */
  int64_t launches;
  bool quiet;
  profile_case *cases; /* [n_variants][n_steps]: one run each, steps ascending */
  int n_variants, n_steps;
} profile_job;

/* Run each variant on the GPU and time the launches; they are what md_profiler shows.
 * Errors: those of the engine, MD_ENOGPU. */
md_status profile_time(profile_job *job);
/* Run each variant, on the GPU several at a time, and model the kernel. */
md_status profile_model_all(profile_job *job);

MD_END_C
#endif
