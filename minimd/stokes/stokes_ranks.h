/* minimd/stokes/stokes_ranks.h - what `minimd stokes` does where several ranks share a run; with
 * one rank nothing. */
#ifndef STOKES_RANKS_H
#define STOKES_RANKS_H

#include "core/output/output.h"
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

/* Rows of a rank, and what its messages took. */
typedef struct {
  stokes_rows_view rows;
  stokes_solver_messages messages;
} stokes_ranks_part;

/* Those of all ranks, on all, world_count() of them; NULL with one rank.  The caller frees them.
 * Errors, of all: MD_ENOMEM. */
md_status stokes_ranks_gather(const stokes_run *run, stokes_ranks_part **out);
/* Least and most of them for so many steps, to stderr. */
void stokes_ranks_summary(const stokes_ranks_part *parts, int64_t steps);
/* The member `ranks` of a JSON object. */
void stokes_ranks_json(const stokes_ranks_part *parts, md_json *json);

MD_END_C
#endif
