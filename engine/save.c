/* engine/save.c - a system's atoms and state in host memory. */
#include "comm/world.h"
#include "engine/engine_impl.h"

#include <stdlib.h>
#include <string.h>

void engine_state_free(engine_state *state)
{
  free(state->x);
  free(state->x_at_build);
  free(state->v);
  free(state->id);
  free(state->image);
  free(state->q);
  free(state->type);
  *state = (engine_state){0};
}

md_box engine_box(const engine *sim)
{
  md_box box = sim->atoms->box;
  for (int d = 0; d < 3; d++)
    box.lo[d] += sim->origin[d], box.hi[d] += sim->origin[d];
  return box;
}

/* Whether a run goes on with the same bits whatever the order of atoms is.  Meshes of charges add
 * atoms up in their order. */
static bool is_unordered(const engine *sim)
{
  return sim->ctx->deterministic && !sim->mesh &&
         neighbor_list_view(sim->list)->kind == NEIGHBOR_FULL;
}

md_status engine_save(const engine *sim, engine_state *out)
{
  const int64_t n = sim->atoms->n;
  const size_t three = (size_t)(n > 0 ? n : 1) * 3;
  *out = (engine_state){
      .box = engine_box(sim),
      .n = n,
      .all = sim->atoms->n_total,
      .mass = sim->mass,
      .step = sim->step,
      .rebuilt_at = sim->rebuilt_at,
      .lists = sim->lists,
      .x = malloc(three * sizeof(double)),
      .x_at_build = malloc(three * sizeof(double)),
      .v = malloc(three * sizeof(double)),
      .id = malloc(three * sizeof(int64_t)),
      .image = malloc(three * sizeof(int32_t)),
      .q = sim->mesh ? malloc(three * sizeof(double)) : NULL,
      .type = sim->atoms->n_types > 1 ? malloc(three) : NULL,
  };
  const bool whole = (out->q || !sim->mesh) && (out->type || sim->atoms->n_types == 1);
  md_status status = out->x && out->x_at_build && out->v && out->id && out->image && whole
                         ? md_atoms_get(sim->atoms, NULL, out->v, NULL, out->id, NULL)
                         : MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms", (long long)n);
  if (!status) status = md_atoms_get_local(sim->atoms, out->x, out->image);
  memcpy(out->frames, sim->atoms->frames, sizeof out->frames);
  if (!status) status = md_atoms_read(sim->atoms, sim->atoms->x_at_build.data, out->x_at_build);
  if (!status && out->q) status = md_atoms_get_charges(sim->atoms, out->q);
  if (!status && out->type) status = md_atoms_get_types(sim->atoms, out->type);
  if (!status && (world_count() > 1 || is_unordered(sim))) status = engine_sort_state(out);
  status = world_agree(status);
  if (status) engine_state_free(out);
  return status;
}

md_status engine_get(const engine *sim, double *x, double *v, double *q, uint8_t *type, int64_t *id,
                     int32_t *image)
{
  if (type) MD_TRY(md_atoms_get_types(sim->atoms, type));
  if (q) MD_TRY(md_atoms_get_charges(sim->atoms, q));
  MD_TRY(md_atoms_get(sim->atoms, x, v, NULL, id, image));
  for (int64_t k = 0; x && k < 3 * sim->atoms->n; k++)
    x[k] += sim->origin[k % 3];
  return MD_OK;
}
