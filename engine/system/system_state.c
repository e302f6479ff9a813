/* engine/system/system_state.c - memory for the initial state, and threads to fill it. */
#include "engine/system/system_impl.h"
#include "comm/world.h"
#include "core/hardware/processors.h"

#include <stdlib.h>
#include <string.h>

void system_state_free(system_state *state)
{
  free(state->x);
  free(state->v);
  free(state->id);
  free(state->image);
  free(state->q);
  free(state->type);
  memset(state, 0, sizeof *state);
}

/* NULL, with a message, when there is no memory for n items. */
static void *reserve(int64_t n, size_t size, md_status *status)
{
  if (*status) return NULL;
  const size_t bytes = (size_t)n * size;
  void *memory = (uint64_t)n <= SIZE_MAX / size ? malloc(bytes ? bytes : 1) : NULL;
  if (!memory)
    *status = MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms (%.3g GB)", (long long)n,
                      (double)n * (double)size / 1e9);
  return memory;
}

md_status system_reserve(system_state *state, int64_t n, bool v, bool id, bool image)
{
  md_status status = MD_OK;
  state->x = reserve(n, 3 * sizeof *state->x, &status);
  if (v) state->v = reserve(n, 3 * sizeof *state->v, &status);
  if (id) state->id = reserve(n, sizeof *state->id, &status);
  if (image) state->image = reserve(n, 3 * sizeof *state->image, &status);
  state->n = n;
  return status;
}

md_status system_reserve_block(system_state *state, bool v, bool id, bool image)
{
  int64_t n;
  system_block(state->all, &state->first, &n);
  return system_reserve(state, n, v, id, image);
}

md_status system_number(system_state *state)
{
  md_status status = MD_OK;
  state->id = reserve(state->n, sizeof *state->id, &status);
  for (int64_t i = 0; i < state->n && !status; i++)
    state->id[i] = state->first + i + 1;
  return status;
}

md_status system_reserve_velocities(system_state *state)
{
  md_status status = MD_OK;
  state->v = reserve(state->n, 3 * sizeof *state->v, &status);
  return status;
}

md_status system_reserve_charges(system_state *state)
{
  md_status status = MD_OK;
  state->q = reserve(state->n, sizeof *state->q, &status);
  return status;
}

md_status system_reserve_types(system_state *state)
{
  md_status status = MD_OK;
  state->type = reserve(state->n, sizeof *state->type, &status);
  return status;
}

void system_block(int64_t n, int64_t *first, int64_t *count)
{
  const int64_t parts = (n + SYSTEM_PART - 1) / SYSTEM_PART;
  const int64_t begin = parts * world_rank() / world_count() * SYSTEM_PART;
  const int64_t end = parts * (world_rank() + 1) / world_count() * SYSTEM_PART;
  *first = begin;
  *count = (end < n ? end : n) - begin;
}

int system_team(const engine_spec *spec)
{
  return spec->threads > 0 ? spec->threads : md_processors();
}
