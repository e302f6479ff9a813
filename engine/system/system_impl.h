/* engine/system/system_impl.h - how atoms are read and given velocities. */
#ifndef SYSTEM_IMPL_H
#define SYSTEM_IMPL_H

#include "core/parse/text.h"
#include "engine/system/system.h"

/* Wrap a position into [lo, hi) and count the edges crossed in image.  Errors: MD_EINVAL (a billion
 * edges away). */
md_status read_wrap(const md_text *in, const md_box *box, double x[3], int32_t image[3]);

/* The formats.  in is open, at its beginning. */
md_status read_data(md_text *in, bool header, const engine_types *types, system_state *out);
/* system_read_types of a data file. */
md_status read_data_types(md_text *in, engine_types *out);
md_status read_xyz(md_text *in, bool header, const engine_types *types, system_state *out);
/* The kind of this name; a number in a file is that of a kind.  Errors: MD_EINVAL (there is none,
 * another number than was set). */
md_status read_kind(const md_text *in, const engine_types *types, const char *name, int32_t *out);
md_status read_agrees(const md_text *in, const char *what, double found, double set);

/* On all ranks, when their atoms are read: the place of the file's atom k among this rank's, or
 * negative, where another one keeps it; the failure on the first line, where each rank checked the
 * lines of its own atoms. */
int64_t read_place(const system_state *state, int64_t k);
md_status read_agree(const md_text *in, md_status status);
/* On all ranks: this rank's atoms by rising id; *by_id is NULL when they lie so.  free(*by_id),
 * also after a failure.  Errors, of all: MD_EINVAL (two atoms have one id), MD_ENOMEM. */
md_status system_rank_ids(const md_text *in, const system_state *state, int64_t **by_id);

/* Memory for n atoms: x always, the others as asked; for this rank's block of state->all. */
md_status system_reserve(system_state *state, int64_t n, bool v, bool id, bool image);
md_status system_reserve_block(system_state *state, bool v, bool id, bool image);
/* Memory for velocities, charges or types of state->n atoms; what a charge may be. */
md_status system_reserve_velocities(system_state *state);
md_status system_reserve_charges(system_state *state);
md_status system_reserve_types(system_state *state);
md_status read_charge(const md_text *in, const char *word, double *out);
/* The temperature of the configuration for atoms of this mass, or of the types', momentum zero: of
 * all atoms, where these are one rank's, all ranks together.  Errors: MD_ENOMEM. */
md_status system_velocities(const engine_spec *spec, double mass, system_state *state);
/* Of n atoms those that this rank begins with, whole parts of the sums that velocities need. */
enum { SYSTEM_PART = 8192 };
void system_block(int64_t n, int64_t *first, int64_t *count);
/* This rank's atoms on the lattice that the settings describe, with its charges.
 * Errors: MD_ENOMEM. */
md_status system_make_lattice(const engine_spec *spec, system_state *out);
/* Position of site s of the lattice in unit cells. */
void system_site(const engine_spec *spec, int64_t s, double *site);
/* Threads to make a system with. */
int system_team(const engine_spec *spec);

#endif
