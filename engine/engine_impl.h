/* engine/engine_impl.h - between the files of the engine. */
#ifndef ENGINE_IMPL_H
#define ENGINE_IMPL_H

#include "engine/engine.h"

/* An edge of a frame, in reaches of the list, at most: in single precision positions are then known
 * to 2^-24 of 40 reaches (7e-6 sigma) or better in any box; and frames are so long that few atoms
 * are ghosts. */
enum { ENGINE_FRAME_REACHES = 80 };

/* The list that a specification describes, of this kind. */
neighbor_spec engine_list_spec(const engine_spec *spec, neighbor_kind kind);

/* Masses of the kinds of atoms, of which the first has this one; whether one kick is right for
 * all. */
void engine_set_masses(engine *sim, double mass);
bool engine_masses_alike(const engine *sim);

/* Whether the configuration's rule asks for a new list before the forces of this step; ask: a GPU
 * begins to find out. */
md_status engine_rebuild_ask(engine *sim);
md_status engine_rebuild_due(engine *sim, bool *due);
/* Whether it is likely to, by how far atoms had gone at the last step; costs nothing. */
bool engine_rebuild_expected(const engine *sim);
/* After a rebuild: count the list that it replaced in sim->lists. */
void engine_list_ended(engine *sim);

/* On all ranks: what several of them cannot run.  *sharers: ranks that have the memory of this one,
 * its host's or its GPU's.  Errors: MD_EINVAL (says what they can; the potential of a rank is not
 * that of rank 0), those of md_device_of. */
md_status engine_check_ranks(const engine_spec *spec, const engine_choice *choice, int *sharers);
/* Of n atoms that every rank knows, those that this one begins with; all, with one rank. */
typedef struct {
  int64_t begin, count;
} engine_block;
engine_block engine_block_of(int64_t n);
/* A force_fill_fn: of an engine. */
md_status engine_fill_ghosts(void *engine_of, void *values);
/* On all ranks: the atoms of all of them to rank 0, by rising id; none stay on the others. */
md_status engine_gather(engine_state *state);
md_status engine_sort_state(engine_state *state);
/* Owned atoms, which lie where they were at the list build, to where a saved run has them. */
md_status engine_place_again(engine *sim, const engine_state *from);

/* Errors: MD_ENOMEM (n atoms in this box do not fit; names the most that do). */
md_status engine_check_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list,
                              int64_t n, const md_box *box, int sharers);

/* On all ranks, of the atoms that were just set: their charges q, or NULL, and PME for them.  Does
 * nothing without coulomb.method.  Errors, of all: MD_EINVAL (no charges; those of pme_choose and
 * pme_create), MD_ENOMEM. */
md_status engine_set_charges(engine *sim, const double *q);
/* What force_compute leaves out of the Coulomb forces, where there are charges: let it begin when
 * all that is queued is done, whatever comes later; begin, unless it was begun; add it to the
 * forces and to sim->tally; or forget what was begun, before atoms move. */
md_status engine_charges_place(engine *sim);
md_status engine_charges_begin(engine *sim, bool tally);
md_status engine_charges_end(engine *sim, bool tally);
md_status engine_charges_drop(engine *sim);
/* Whether that works beside what is queued after it, on a GPU of one rank.  There it begins before
 * the host has heard if a rebuild is due, where none is expected (if one is, the work was in vain),
 * or while a list is built. */
bool engine_charges_beside(const engine *sim);

#endif
