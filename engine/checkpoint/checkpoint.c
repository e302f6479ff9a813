/* engine/checkpoint/checkpoint.c - writes checkpoints. */
#include "comm/world.h"
#include "engine/checkpoint/checkpoint_impl.h"
#include "engine/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first atom that is nowhere near where it was, or -1; how far it went. */
static int64_t find_lost(const engine *sim, const engine_state *state, double *moved)
{
  for (int64_t i = 0; i < state->n; i++) {
    double moved_sq = 0;
    bool finite = true;
    for (int d = 0; d < 3; d++) {
      const double x = state->x[3 * i + d], went = x - state->x_at_build[3 * i + d];
      finite = finite && isfinite(x) && isfinite(state->v[3 * i + d]);
      moved_sq += went * went;
    }
    *moved = sqrt(moved_sq);
    if (!finite || !(moved_sq <= sim->list_cutoff * sim->list_cutoff)) return i;
  }
  return -1;
}

/* What has blown up is not written over what has not.  Of several ranks that with the least id
 * tells. */
static md_status verify(const engine *sim, const engine_state *state)
{
  double moved;
  const int64_t lost = find_lost(sim, state, &moved);
  if (lost < 0) return world_agree_first(MD_OK, 0, 0);
  const long long id = state->id[lost];
  const md_status status = MD_FAIL(
      MD_ENUMERIC,
      "no checkpoint of step %lld: atom %lld went %g since the list build at step %lld: the "
      "time step %g may be too long, or atoms overlap",
      (long long)state->step, id, moved, (long long)state->rebuilt_at, sim->spec->dt);
  return world_agree_first(status, id, 0);
}

static checkpoint_step numbers_of(const engine *sim, const engine_state *state,
                                  const md_file_mark *dump)
{
  checkpoint_step numbers = {.n = state->all,
                             .step = state->step,
                             .rebuilt_at = state->rebuilt_at,
                             .dump = dump ? *dump : (md_file_mark){-1, 0},
                             .mass = state->mass,
                             .backend = sim->ctx->backend,
                             .charged = state->q != NULL,
                             .typed = state->type != NULL,
                             .lists = state->lists};
  for (int d = 0; d < 3; d++)
    numbers.frames[d] = state->frames[d];
  memcpy(numbers.lo, state->box.lo, sizeof numbers.lo);
  memcpy(numbers.hi, state->box.hi, sizeof numbers.hi);
  numbers.potential = sim->spec->eam ? (int64_t)eam_check_sum(sim->spec->eam) : -1;
  return numbers;
}

/* Sections of arrays: FIRST .. FIRST + ARRAYS - 1 of the file. */
enum { FIRST = CHECKPOINT_PLACE, ARRAYS = CHECKPOINT_TYPE - FIRST + 1 };
static const size_t item[ARRAYS] = {24, 24, 24, 8, 12, 8, 1};

/* The atoms of window after window to the place of each array's section, on rank 0. */
static void put_windows(engine_windows *w, const int *array, sections_place *place,
                        sections_writer *to)
{
  for (int64_t k = 0; k < w->count; k++) {
    engine_windows_get(w, k);
    for (int c = 0; c < w->n_columns && world_rank() == 0; c++)
      sections_fill(to, &place[array[c]], w->rows[c], (size_t)w->n * item[array[c]]);
  }
}

/* The arrays of all ranks; `to` is rank 0's. */
static md_status put_atoms(const engine *sim, const engine_state *state, sections_writer *to)
{
  static const int ids_first[ARRAYS] = {3, 0, 1, 2, 4, 5, 6};
  const void *const rows[ARRAYS] = {state->x,     state->x_at_build, state->v,   state->id,
                                    state->image, state->q,          state->type};
  engine_column column[ARRAYS];
  int array[ARRAYS], n = 0;
  for (int c = 0; c < ARRAYS; c++) {
    const int a = ids_first[c];
    if (!rows[a]) continue;
    array[n] = a;
    column[n++] = (engine_column){rows[a], item[a]};
  }
  engine_windows w;
  md_status status = engine_windows_open(engine_window(sim->spec), state->n, NULL, n, column, &w);
  if (!status) {
    const int held = world_rank() == 0 ? ARRAYS : 0;
    sections_place place[ARRAYS];
    for (int a = 0; a < held; a++)
      place[a] = sections_hold(to, FIRST + a, rows[a] ? (size_t)state->all * item[a] : 0);
    put_windows(&w, array, place, to);
    for (int a = 0; a < held; a++)
      sections_seal(to, &place[a]);
  }
  engine_windows_close(&w);
  return status;
}

md_status checkpoint_write(const char *path, const char *settings, const engine *sim,
                           const md_file_mark *dump, bool keep)
{
  engine_state state;
  sections_writer to;
  const bool writes = world_rank() == 0;
  MD_TRY(engine_save(sim, &state));
  md_status status = verify(sim, &state);
  if (!status && writes) status = sections_create(path, SECTIONS_RUN, &to);
  const bool open = !status && writes;
  status = world_agree(status);
  if (!status && writes) {
    const checkpoint_step numbers = numbers_of(sim, &state, dump);
    sections_put(&to, CHECKPOINT_CONF, settings, strlen(settings));
    sections_put(&to, CHECKPOINT_STEP, &numbers, sizeof numbers);
  }
  if (!status) status = put_atoms(sim, &state, &to);
  engine_state_free(&state);
  if (!open) return status;
  if (!status) return sections_finish(&to, CHECKPOINT_END, keep);
  sections_discard(&to);
  return status;
}

void checkpoint_free(checkpoint *from)
{
  free(from->path);
  free(from->settings);
  engine_state_free(&from->state);
  *from = (checkpoint){0};
}
