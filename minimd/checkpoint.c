/* minimd/checkpoint.c - writes checkpoints, and says what continuing from one means. */
#include "minimd/checkpoint_impl.h"
#include "minimd/config_impl.h"

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
      const double x = state->x[3 * i + d], moved = x - state->built[3 * i + d];
      finite = finite && isfinite(x) && isfinite(state->v[3 * i + d]);
      moved_sq += moved * moved;
    }
    if (finite && moved_sq <= sim->list_cutoff * sim->list_cutoff) continue;
    return MD_FAIL(MD_ENUMERIC,
                   "no checkpoint of step %lld: atom %lld went %g since the list build at step "
                   "%lld: the time step %g may be too long, or atoms overlap",
                   (long long)state->step, (long long)state->id[i], sqrt(moved_sq),
                   (long long)state->rebuilt_at, sim->values->dt);
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
  sections_put(&to, CHECKPOINT_BUILT, state->built, three);
  sections_put(&to, CHECKPOINT_V, state->v, three);
  sections_put(&to, CHECKPOINT_ID, state->id, n * sizeof *state->id);
  sections_put(&to, CHECKPOINT_IMAGE, state->image, n * 3 * sizeof *state->image);
  sections_put(&to, CHECKPOINT_CHARGE, state->q, state->q ? n * sizeof *state->q : 0);
  return sections_finish(&to, CHECKPOINT_END, keep);
}

static md_status settings_text(const config *cfg, char **out)
{
  size_t size;
  FILE *stream = open_memstream(out, &size);
  if (stream) config_write(cfg, stream);
  MD_REQUIRE(stream && fclose(stream) == 0, MD_ENOMEM, "out of memory for a checkpoint");
  return MD_OK;
}

md_status checkpoint_write(const char *path, const config *cfg, const engine *sim,
                           const md_file_mark *dump, bool keep)
{
  engine_state state;
  char *settings = NULL;
  MD_TRY(engine_save(sim, &state));
  md_status status = verify(sim, &state);
  if (!status) status = settings_text(cfg, &settings);
  if (!status) {
    checkpoint_step numbers = {.n = state.n,
                               .step = state.step,
                               .rebuilt_at = state.rebuilt_at,
                               .dump = dump ? *dump : (md_file_mark){-1, 0},
                               .mass = state.mass,
                               .backend = sim->ctx->backend,
                               .charged = state.q != NULL,
                               .lists = state.lists};
    for (int d = 0; d < 3; d++)
      numbers.frames[d] = state.frames[d];
    memcpy(numbers.lo, state.box.lo, sizeof numbers.lo);
    memcpy(numbers.hi, state.box.hi, sizeof numbers.hi);
    status = write_state(path, settings, &numbers, &state, keep);
  }
  free(settings);
  engine_state_free(&state);
  return status;
}

void checkpoint_free(checkpoint *from)
{
  free(from->path);
  free(from->config);
  engine_state_free(&from->state);
  *from = (checkpoint){0};
}

/* Whether a setting has another value than in the checkpoint. */
static bool differs_in(const config *saved, const config *cfg, const char *key)
{
  char was[CONFIG_TEXT_SIZE], is[CONFIG_TEXT_SIZE];
  return config_format_value(saved, key, was, sizeof was) ||
         config_format_value(cfg, key, is, sizeof is) || strcmp(was, is) != 0;
}

/* True for a setting on which the order of atoms, or the bits of a step, depend. */
static bool shapes(const char *key)
{
  static const char *const shaping[] = {
      "lj.",    "coulomb.",         "neighbor.",           "order.",
      "run.dt", "device.precision", "device.deterministic"};
  for (size_t s = 0; s < sizeof shaping / sizeof *shaping; s++)
    if (strncmp(key, shaping[s], strlen(shaping[s])) == 0) return true;
  return false;
}

static md_status compare(const checkpoint *from, const config *saved, const config *cfg,
                         checkpoint_plan *out)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  for (int k = 0; k < n; k++) {
    const char *key = entries[k].key;
    if (!differs_in(saved, cfg, key)) continue;
    MD_REQUIRE(strncmp(key, "system.", 7) != 0, MD_EINVAL,
               "%s: %s is not that of '%s': a restart takes its atoms from the checkpoint",
               config_origin(cfg, key), key, from->path);
    if (shapes(key) && !out->differs) out->differs = key;
  }
  engine_choice choice;
  MD_TRY(engine_choose(config_get(cfg), &choice));
  if (choice.backend != from->backend && !out->differs) out->differs = "device.backend";
  const char *dump = config_get(cfg)->dump;
  if (!dump || differs_in(saved, cfg, "output.dump")) return MD_OK;
  return md_file_plan(dump, &from->dump, &out->dump_keep);
}

md_status checkpoint_configure(const checkpoint *from, config *cfg)
{
  MD_TRY(config_read_text(cfg, from->path, from->config));
  return config_describe(cfg, "%s (checkpoint)", from->path);
}

md_status checkpoint_compare(const checkpoint *from, const config *cfg, checkpoint_plan *out)
{
  *out = (checkpoint_plan){0};
  MD_REQUIRE(config_get(cfg)->skin >= 0, MD_EINVAL,
             "%s: neighbor.skin = \"auto\": expected a number: '%s' holds the skin of its run",
             config_origin(cfg, "neighbor.skin"), from->path);
  const int64_t steps = config_get(cfg)->steps;
  MD_REQUIRE(steps >= from->state.step, MD_EINVAL,
             "%s: run.steps = %lld: '%s' is at step %lld already", config_origin(cfg, "run.steps"),
             (long long)steps, from->path, (long long)from->state.step);
  config *saved;
  MD_TRY(config_create(&saved));
  md_status status = checkpoint_configure(from, saved);
  if (!status) status = compare(from, saved, cfg, out);
  config_destroy(saved);
  return status;
}
