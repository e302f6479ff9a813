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

/* Whether the configuration's rule asks for a new list before the forces of this step. */
md_status engine_rebuild_due(engine *sim, bool *due);
/* After a rebuild: count the list that it replaced in sim->lists. */
void engine_list_ended(engine *sim);

/* Errors: MD_ENOMEM (n atoms in this box do not fit; names the most that do). */
md_status engine_check_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list,
                              int64_t n, const md_box *box);

/* Of n atoms that were just set: their charges q [n], or NULL, and PME for them.  Does nothing
 * without coulomb.method.  Errors: MD_EINVAL (no charges; those of pme_choose and pme_create). */
md_status engine_set_charges(engine *sim, int64_t n, const double *q);
/* Add what force_compute leaves out of the Coulomb forces, and to sim->tally. */
md_status engine_charge_forces(engine *sim, bool tally);

#endif
