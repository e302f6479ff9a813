/* engine/lists.c - when a list is built again, and how old it had become (engine_lists). */
#include "engine/engine_impl.h"

#include <math.h>

static double limit_sq(const engine *sim)
{
  return 0.25 * sim->spec->skin * sim->spec->skin;
}

md_status engine_rebuild_ask(engine *sim)
{
  if (sim->spec->every > 0) return MD_OK;
  md_phase_begin(sim->ctx, MD_PHASE_NEIGHBOR);
  const md_status status = comm_max_move_early(sim->cm, sim->atoms);
  md_phase_end(sim->ctx, MD_PHASE_NEIGHBOR);
  return status;
}

md_status engine_rebuild_due(engine *sim, bool *due)
{
  if (sim->spec->every > 0) {
    *due = sim->step - sim->rebuilt_at >= sim->spec->every;
    return MD_OK;
  }
  double moved_sq;
  md_phase_begin(sim->ctx, MD_PHASE_NEIGHBOR);
  const md_status status = comm_max_move_sq(sim->cm, sim->atoms, &moved_sq);
  md_phase_end(sim->ctx, MD_PHASE_NEIGHBOR);
  MD_TRY(status);
  *due = !(moved_sq <= limit_sq(sim)); /* NaN is due, and found there */
  if (!*due) sim->moved_sq = moved_sq;
  return MD_OK;
}

bool engine_rebuild_expected(const engine *sim)
{
  const double age = (double)(sim->step - sim->rebuilt_at);
  if (sim->spec->every > 0) return age >= sim->spec->every;
  return age > 1 && sim->moved_sq * age * age > limit_sq(sim) * (age - 1) * (age - 1);
}

void engine_list_ended(engine *sim)
{
  engine_lists *lists = &sim->lists;
  const double moved_sq = sim->spec->every > 0 ? comm_moved_sq(sim->cm) : sim->moved_sq;
  sim->moved_sq = 0;
  lists->ended++;
  if (!(moved_sq <= limit_sq(sim))) lists->dangerous++;
  if (sqrt(moved_sq) <= lists->moved) return;
  lists->moved = sqrt(moved_sq);
  lists->moved_at = sim->step;
}
