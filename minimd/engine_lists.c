/* minimd/engine_lists.c - when a list is built again, and how old it had become (engine_lists). */
#include "minimd/engine_impl.h"

#include <math.h>

static double limit_sq(const engine *sim)
{
  return 0.25 * sim->values->skin * sim->values->skin;
}

md_status engine_rebuild_due(engine *sim, bool *due)
{
  if (sim->values->every > 0) {
    *due = sim->step - sim->rebuilt_at >= sim->values->every;
    return MD_OK;
  }
  double moved_sq = INFINITY;
  md_phase_begin(sim->ctx, MD_PHASE_NEIGHBOR);
  md_status status = displacement_measure(sim->moved, sim->atoms, 0);
  if (!status) status = displacement_read(sim->moved, &moved_sq);
  md_phase_end(sim->ctx, MD_PHASE_NEIGHBOR);
  MD_TRY(status);
  *due = !(moved_sq <= limit_sq(sim)); /* NaN is due, and found there */
  if (!*due) sim->moved_sq = moved_sq;
  return MD_OK;
}

static void count(engine *sim, double moved_sq, int64_t step)
{
  engine_lists *lists = &sim->lists;
  lists->ended++;
  if (!(moved_sq <= limit_sq(sim))) lists->dangerous++;
  if (sqrt(moved_sq) <= lists->moved) return;
  lists->moved = sqrt(moved_sq);
  lists->moved_at = step;
}

md_status engine_list_ends(engine *sim)
{
  if (sim->values->every == 0) {
    count(sim, sim->moved_sq, sim->step);
    sim->moved_sq = 0;
    return MD_OK;
  }
  MD_TRY(engine_lists_settle(sim));
  md_phase_begin(sim->ctx, MD_PHASE_GHOSTS); /* which goes on: no event between */
  const md_status status = displacement_measure(sim->moved, sim->atoms, sim->values->dt);
  md_phase_end(sim->ctx, MD_PHASE_GHOSTS);
  if (!status) sim->asked_at = sim->step;
  return status;
}

md_status engine_lists_settle(engine *sim)
{
  if (sim->asked_at == 0) return MD_OK;
  double moved_sq;
  MD_TRY(displacement_read(sim->moved, &moved_sq));
  count(sim, moved_sq, sim->asked_at);
  sim->asked_at = 0;
  return MD_OK;
}
