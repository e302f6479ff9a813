/* minimd/stokes/stokes_ranks.h - what `minimd stokes` does where several ranks share a run; with
 * one rank nothing. */
#ifndef STOKES_RANKS_H
#define STOKES_RANKS_H

#include "minimd/stokes/stokes_settings.h"

MD_BEGIN_C

/* Whether several ranks can do this.  Errors: MD_EINVAL. */
md_status stokes_ranks_check(const options *opts, const stokes_settings *settings);

/* All ranks have the same spheres, and the same state to go on from unless that is NULL.
 * Errors, of all: MD_EINVAL. */
md_status stokes_ranks_same(const stokes_packing *packing, const stokes_run_state *from);

/* Bytes that this rank needs, about. */
double stokes_ranks_bytes(const stokes_run_spec *spec, int64_t n, double occupancy);

/* The status of a step: all ranks fail alike, but where one alone is out of memory. */
md_status stokes_ranks_agree(md_status status);

/* A signal to one rank is one to all: whether a checkpoint is asked for, and signals_stopped_by. */
bool stokes_ranks_signals(const char *checkpoint);

/* Rows and messages of ranks, to stderr of rank 0. */
md_status stokes_ranks_summary(const stokes_run *run, int64_t steps, bool quiet);

MD_END_C
#endif
