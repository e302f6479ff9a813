/* minimd/stokes/stokes_checkpoint.c - see stokes_checkpoint.h. */
#include "minimd/stokes/stokes_checkpoint.h"
#include "comm/world.h"
#include "engine/checkpoint/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS(X)                                                                                \
  X(CONF, "settings")                                                                              \
  X(STEP, "step")                                                                                  \
  X(PLACE, "spheres")                                                                              \
  X(BUILT, "spheres at the list build") X(ID, "places") X(GUESS, "guesses") X(END, "end")
#define MD_ENUM_(name, word) name,
enum { SECTIONS(MD_ENUM_) SECTION_COUNT };
#undef MD_ENUM_
#define WORD(name, word) word,
static const char *const section_words[SECTION_COUNT] = {SECTIONS(WORD)};
#undef WORD

/* The section STEP. */
typedef struct {
  int64_t n, step, group, group_size;
  md_file_mark trajectory;
  double box[3];
  rpy_split split;
} step_numbers;

static size_t guess_bytes(const stokes_run_state *state)
{
  return (size_t)state->spheres.n * 3 * (size_t)state->group_size * sizeof(double);
}

static md_status write_state(const char *path, const char *words, size_t bytes,
                             const stokes_run_state *state, const md_file_mark *trajectory)
{
  const stokes_packing *spheres = &state->spheres;
  const size_t n = (size_t)spheres->n;
  step_numbers numbers = {.n = spheres->n,
                          .step = state->step,
                          .group = state->group,
                          .group_size = state->group_size,
                          .trajectory = *trajectory};
  memcpy(numbers.box, spheres->box, sizeof numbers.box);
  numbers.split = state->split;
  sections_writer to;
  MD_TRY(sections_create(path, SECTIONS_STOKES, &to));
  sections_put(&to, CONF, words, bytes);
  sections_put(&to, STEP, &numbers, sizeof numbers);
  sections_put(&to, PLACE, spheres->x, n * 4 * sizeof(double));
  sections_put(&to, BUILT, state->built, n * 4 * sizeof(double));
  sections_put(&to, ID, state->place, n * sizeof(int32_t));
  sections_put(&to, GUESS, state->many, guess_bytes(state));
  return sections_finish(&to, END, true);
}

md_status stokes_checkpoint_write(const char *path, const stokes_settings *settings,
                                  const stokes_run *run, const md_file_mark *trajectory)
{
  stokes_run_state state;
  char *words = NULL;
  size_t bytes;
  MD_TRY(stokes_run_save(run, &state));
  md_status status = stokes_settings_words(settings, &words, &bytes);
  if (!status && world_rank() == 0) status = write_state(path, words, bytes, &state, trajectory);
  free(words);
  stokes_run_state_free(&state);
  return status;
}

static md_status get_numbers(sections_reader *in, stokes_checkpoint *out)
{
  step_numbers *content;
  MD_TRY(sections_get(in, STEP, sizeof *content, &content));
  const step_numbers found = *content;
  free(content);
  bool good = found.n >= 1 && found.n <= INT32_MAX && found.step >= 0 && found.group >= 0 &&
              found.group <= found.step && found.group_size >= 0 &&
              found.group_size <= STOKES_VECTORS && found.trajectory.bytes >= -1;
  for (int d = 0; d < 3; d++)
    good = good && isfinite(found.box[d]) && found.box[d] > 0;
  MD_REQUIRE(good, MD_EIO, "'%s' holds numbers that no run has in the section '%s'", in->path,
             section_words[STEP]);
  stokes_run_state *state = &out->state;
  state->step = found.step;
  state->group = found.group;
  state->group_size = (int)found.group_size;
  state->spheres.n = found.n;
  memcpy(state->spheres.box, found.box, sizeof found.box);
  state->split = found.split;
  out->trajectory = found.trajectory;
  return MD_OK;
}

static md_status get_all(sections_reader *in, stokes_checkpoint *out)
{
  stokes_run_state *state = &out->state;
  MD_TRY(sections_get(in, CONF, -1, &out->words));
  MD_TRY(get_numbers(in, out));
  const int64_t n = state->spheres.n;
  MD_TRY(sections_get(in, PLACE, 32 * n, &state->spheres.x));
  MD_TRY(sections_get(in, BUILT, 32 * n, &state->built));
  MD_TRY(sections_get(in, ID, 4 * n, &state->place));
  MD_TRY(sections_get(in, GUESS, (int64_t)guess_bytes(state), &state->many));
  return sections_end(in, END);
}

static md_status read_file(const char *path, stokes_checkpoint *out)
{
  sections_reader in;
  *out = (stokes_checkpoint){0};
  MD_TRY(sections_open(path, SECTIONS_STOKES, section_words, &in));
  md_status status = get_all(&in, out);
  sections_close(&in);
  if (!status) out->path = strdup(path);
  if (!status && !out->path) status = MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  if (status) stokes_checkpoint_free(out);
  return status;
}

static md_status step_of(const char *path, int64_t *step)
{
  stokes_checkpoint from;
  MD_TRY(read_file(path, &from));
  *step = from.state.step;
  stokes_checkpoint_free(&from);
  return MD_OK;
}

md_status stokes_checkpoint_read(const char *path, stokes_checkpoint *out)
{
  return sections_offer_previous(path, read_file(path, out), step_of);
}

void stokes_checkpoint_free(stokes_checkpoint *from)
{
  free(from->path);
  free(from->words);
  stokes_run_state_free(&from->state);
  *from = (stokes_checkpoint){0};
}
