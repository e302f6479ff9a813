/* engine/checkpoint/checkpoint_read.c - reads checkpoints of runs: every rank the whole file, of
 * which it keeps its block of the atoms. */
#include "comm/world.h"
#include "engine/checkpoint/checkpoint_impl.h"
#include "engine/engine_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
static const char *const section_words[CHECKPOINT_SECTION_COUNT] = {CHECKPOINT_SECTIONS(WORD)};
#undef WORD

static bool lists_exist(const engine_lists *lists, int64_t step)
{
  return lists->dangerous >= 0 && lists->dangerous <= lists->ended && lists->ended <= step &&
         lists->moved >= 0 && isfinite(lists->moved) && lists->moved_at >= 0 &&
         lists->moved_at <= step;
}

static md_status get_numbers(sections_reader *in, checkpoint *out, bool *charged, bool *typed)
{
  checkpoint_step *numbers;
  MD_TRY(sections_get(in, CHECKPOINT_STEP, sizeof *numbers, &numbers));
  const checkpoint_step found = *numbers;
  free(numbers);
  bool good = found.n >= 0 && found.n <= INT32_MAX && found.step >= 0 && found.mass > 0 &&
              found.rebuilt_at >= 0 && found.rebuilt_at <= found.step && found.backend >= 0 &&
              found.backend < MD_BACKEND_COUNT && found.dump.bytes >= -1 &&
              (found.charged == 0 || found.charged == 1) &&
              (found.typed == 0 || found.typed == 1) && lists_exist(&found.lists, found.step);
  for (int d = 0; d < 3; d++)
    good = good && isfinite(found.lo[d]) && isfinite(found.hi[d]) && found.hi[d] > found.lo[d] &&
           found.frames[d] >= 1 && found.frames[d] < INT32_MAX;
  good = good && found.potential >= -1 && found.potential <= UINT32_MAX;
  MD_REQUIRE(good, MD_EIO, "'%s' holds numbers that no run has in the section '%s'", in->path,
             section_words[CHECKPOINT_STEP]);
  engine_state *state = &out->state;
  state->all = found.n;
  state->step = found.step;
  state->rebuilt_at = found.rebuilt_at;
  state->lists = found.lists;
  state->mass = found.mass;
  for (int d = 0; d < 3; d++)
    state->frames[d] = (int32_t)found.frames[d];
  memcpy(state->box.lo, found.lo, sizeof found.lo);
  memcpy(state->box.hi, found.hi, sizeof found.hi);
  out->dump = found.dump;
  out->potential = found.potential;
  out->backend = (md_backend)found.backend;
  *charged = found.charged != 0, *typed = found.typed != 0;
  return MD_OK;
}

/* This rank's part of an array, `bytes` an atom. */
static md_status get_array(sections_reader *in, int tag, const engine_state *state, int64_t bytes,
                           void *out)
{
  const engine_block mine = engine_block_of(state->all);
  return sections_get_part(in, tag, bytes * state->all, bytes * mine.begin, bytes * mine.count,
                           out);
}

/* One that is there or not. */
static md_status get_some(sections_reader *in, int tag, bool there, const engine_state *state,
                          int64_t bytes, void *out)
{
  void *nothing;
  if (there) return get_array(in, tag, state, bytes, out);
  MD_TRY(sections_get(in, tag, 0, &nothing));
  free(nothing);
  return MD_OK;
}

static bool types_exist(const engine_state *state)
{
  bool good = true;
  for (int64_t i = 0; state->type && i < state->n; i++)
    good = good && state->type[i] < MD_TYPES;
  return good;
}

static md_status get_all(sections_reader *in, checkpoint *out)
{
  engine_state *state = &out->state;
  bool charged, typed;
  MD_TRY(sections_get(in, CHECKPOINT_CONF, -1, &out->settings));
  MD_TRY(get_numbers(in, out, &charged, &typed));
  state->n = engine_block_of(state->all).count;
  MD_TRY(get_array(in, CHECKPOINT_PLACE, state, 24, &state->x));
  MD_TRY(get_array(in, CHECKPOINT_BUILT, state, 24, &state->x_at_build));
  MD_TRY(get_array(in, CHECKPOINT_V, state, 24, &state->v));
  MD_TRY(get_array(in, CHECKPOINT_ID, state, 8, &state->id));
  MD_TRY(get_array(in, CHECKPOINT_IMAGE, state, 12, &state->image));
  MD_TRY(get_some(in, CHECKPOINT_CHARGE, charged, state, 8, &state->q));
  MD_TRY(get_some(in, CHECKPOINT_TYPE, typed, state, 1, &state->type));
  MD_REQUIRE(types_exist(state), MD_EIO, "'%s' holds types that no run has in the section '%s'",
             in->path, section_words[CHECKPOINT_TYPE]);
  return sections_end(in, CHECKPOINT_END);
}

static md_status read_file(const char *path, checkpoint *out)
{
  *out = (checkpoint){0};
  sections_reader in;
  MD_TRY(sections_open(path, SECTIONS_RUN, section_words, &in));
  md_status status = get_all(&in, out);
  sections_close(&in);
  if (!status) out->path = strdup(path);
  if (!status && !out->path) status = MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  if (status) checkpoint_free(out);
  return status;
}

static md_status step_of(const char *path, int64_t *step)
{
  checkpoint from;
  MD_TRY(read_file(path, &from));
  *step = from.state.step;
  checkpoint_free(&from);
  return MD_OK;
}

md_status checkpoint_read(const char *path, checkpoint *out)
{
  return world_agree(sections_offer_previous(path, read_file(path, out), step_of));
}
