/* engine/checkpoint/checkpoint.c - writes checkpoints. */
#include "comm/world.h"
#include "engine/checkpoint/checkpoint_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What has blown up is not written over what has not. */
static md_status verify(const engine *sim, const engine_state *state)
{
  for (int64_t i = 0; i < state->n; i++) {
    double moved_sq = 0;
    bool finite = true;
    for (int d = 0; d < 3; d++) {
      const double x = state->x[3 * i + d], moved = x - state->x_at_build[3 * i + d];
      finite = finite && isfinite(x) && isfinite(state->v[3 * i + d]);
      moved_sq += moved * moved;
    }
    if (finite && moved_sq <= sim->list_cutoff * sim->list_cutoff) continue;
    return MD_FAIL(MD_ENUMERIC,
                   "no checkpoint of step %lld: atom %lld went %g since the list build at step "
                   "%lld: the time step %g may be too long, or atoms overlap",
                   (long long)state->step, (long long)state->id[i], sqrt(moved_sq),
                   (long long)state->rebuilt_at, sim->spec->dt);
  }
  return MD_OK;
}

static md_status write_state(const char *path, const char *settings, const checkpoint_step *numbers,
                             const engine_state *state, bool keep)
{
  const size_t n = (size_t)state->n, three = n * 3 * sizeof(double);
  sections_writer to;
  MD_TRY(sections_create(path, SECTIONS_RUN, &to));
  sections_put(&to, CHECKPOINT_CONF, settings, strlen(settings));
  sections_put(&to, CHECKPOINT_STEP, numbers, sizeof *numbers);
  sections_put(&to, CHECKPOINT_PLACE, state->x, three);
  sections_put(&to, CHECKPOINT_BUILT, state->x_at_build, three);
  sections_put(&to, CHECKPOINT_V, state->v, three);
  sections_put(&to, CHECKPOINT_ID, state->id, n * sizeof *state->id);
  sections_put(&to, CHECKPOINT_IMAGE, state->image, n * 3 * sizeof *state->image);
  sections_put(&to, CHECKPOINT_CHARGE, state->q, state->q ? n * sizeof *state->q : 0);
  sections_put(&to, CHECKPOINT_TYPE, state->type, state->type ? n : 0);
  return sections_finish(&to, CHECKPOINT_END, keep);
}

md_status checkpoint_write(const char *path, const char *settings, const engine *sim,
                           const md_file_mark *dump, bool keep)
{
  engine_state state;
  MD_TRY(engine_save(sim, &state));
  md_status status = verify(sim, &state);
  if (!status && world_rank() == 0) {
    checkpoint_step numbers = {.n = state.n,
                               .step = state.step,
                               .rebuilt_at = state.rebuilt_at,
                               .dump = dump ? *dump : (md_file_mark){-1, 0},
                               .mass = state.mass,
                               .backend = sim->ctx->backend,
                               .charged = state.q != NULL,
                               .typed = state.type != NULL,
                               .lists = state.lists};
    for (int d = 0; d < 3; d++)
      numbers.frames[d] = state.frames[d];
    memcpy(numbers.lo, state.box.lo, sizeof numbers.lo);
    memcpy(numbers.hi, state.box.hi, sizeof numbers.hi);
    numbers.potential = sim->spec->eam ? (int64_t)eam_check_sum(sim->spec->eam) : -1;
    status = write_state(path, settings, &numbers, &state, keep);
  }
  engine_state_free(&state);
  return status;
}

void checkpoint_free(checkpoint *from)
{
  free(from->path);
  free(from->settings);
  engine_state_free(&from->state);
  *from = (checkpoint){0};
}
