/* engine/share.c - one system on several ranks: what they can run, the atoms that each begins with,
 * and all atoms on rank 0. */
#include "comm/gpus.h"
#include "engine/engine_impl.h"
#include "engine/system/system.h"
#include "engine/windows.h"

#include <stdlib.h>
#include <string.h>

/* What several ranks cannot do on GPUs, the same on all of them; and which GPUs those are. */
static md_status check_gpus(const engine_spec *spec, const engine_choice *choice, int *sharers)
{
  const int ranks = world_count();
  MD_REQUIRE(choice->list == NEIGHBOR_FULL || !spec->deterministic, MD_EINVAL,
             "%s: deterministic runs of %d ranks give the same bits as others by full lists only: "
             "expected full, or no --deterministic",
             engine_origin(spec, "neighbor.list"), ranks);
  MD_TRY(gpus_sharers(sharers));
  const md_status status =
      *sharers == 1 || spec->share_gpu
          ? MD_OK
          : MD_FAIL(MD_EINVAL,
                    "%d of %d ranks have one GPU: expected a rank a GPU (ranks of a host take "
                    "those that they see in turn), or --share-gpu",
                    *sharers, ranks);
  return world_agree(status);
}

md_status engine_check_ranks(const engine_spec *spec, const engine_choice *choice, int *sharers)
{
  int unused;
  world_share(sharers, &unused);
  if (world_count() == 1) return MD_OK;
  MD_TRY(world_same("the backend", &choice->backend, sizeof choice->backend));
  if (choice->backend == MD_GPU) MD_TRY(check_gpus(spec, choice, sharers));
  if (!spec->eam) return MD_OK;
  const eam_curve *const curves[] = {&spec->eam->embed, &spec->eam->density, &spec->eam->pair};
  for (int k = 0; k < 3; k++)
    MD_TRY(world_same("the potential", curves[k]->knot,
                      (size_t)curves[k]->n * sizeof *curves[k]->knot));
  return MD_OK;
}

md_status engine_fill_ghosts(void *engine_of, void *values)
{
  engine *sim = engine_of;
  return comm_forward_reals(sim->cm, sim->atoms, values); /* within the phase of the forces */
}

engine_block engine_block_of(int64_t n)
{
  const int64_t begin = n * world_rank() / world_count();
  return (engine_block){begin, n * (world_rank() + 1) / world_count() - begin};
}

/* What is gathered of a state, in this order; there may be no charges and no types. */
enum { ARRAYS = 7 };
static void arrays_of(const engine_state *state, char *array[ARRAYS])
{
  char *const all[ARRAYS] = {(char *)state->x,   (char *)state->x_at_build, (char *)state->v,
                             (char *)state->id,  (char *)state->image,      (char *)state->q,
                             (char *)state->type};
  memcpy(array, all, sizeof all);
}
static const size_t item[ARRAYS] = {24, 24, 24, 8, 12, 8, 1};

/* Room for n atoms, with charges and types as `like` has them. */
static md_status reserve(engine_state *state, int64_t n, const engine_state *like)
{
  const size_t room = (size_t)(n > 0 ? n : 1);
  state->n = n;
  state->x = malloc(room * item[0]);
  state->x_at_build = malloc(room * item[1]);
  state->v = malloc(room * item[2]);
  state->id = malloc(room * item[3]);
  state->image = malloc(room * item[4]);
  const bool charges = like->q, types = like->type;
  state->q = charges ? malloc(room * item[5]) : NULL;
  state->type = types ? malloc(room * item[6]) : NULL;
  MD_REQUIRE(state->x && state->x_at_build && state->v && state->id && state->image &&
                 (state->q || !charges) && (state->type || !types),
             MD_ENOMEM, "out of memory for %lld atoms", (long long)n);
  return MD_OK;
}

md_status engine_sort_state(engine_state *state)
{
  engine_state sorted = *state;
  int64_t *by_id = malloc((size_t)(state->n + 1) * sizeof *by_id);
  md_status status = reserve(&sorted, state->n, state);
  if (!status && !by_id) status = MD_FAIL(MD_ENOMEM, "out of memory for ids");
  char *from[ARRAYS], *to[ARRAYS];
  if (!status) {
    system_sort_ids(state->n, state->id, by_id);
    arrays_of(state, from);
    arrays_of(&sorted, to);
    for (int a = 0; a < ARRAYS; a++)
      for (int64_t k = 0; k < state->n && from[a]; k++)
        memcpy(to[a] + (size_t)k * item[a], from[a] + (size_t)by_id[k] * item[a], item[a]);
    engine_state gone = *state;
    *state = sorted;
    sorted = gone;
  }
  engine_state_free(&sorted);
  free(by_id);
  return status;
}

/* On all ranks: the positions of n atoms, by_id their order, from whoever has them of a saved run,
 * whose atoms of this rank have the order from_by_id. */
static md_status find_positions(int64_t window, const engine_state *from, const int64_t *from_by_id,
                                int64_t n, const int64_t *id, const int64_t *by_id, double *x)
{
  const engine_column column[] = {{from->id, sizeof *from->id}, {from->x, 3 * sizeof *from->x}};
  engine_windows w;
  int64_t at = 0;
  md_status status = engine_windows_open(window, from->n, from_by_id, 2, column, &w);
  for (int64_t k = 0; k < w.count && !status; k++) {
    status = engine_windows_share(&w, k);
    const int64_t *came = w.rows[0];
    const double *place = w.rows[1];
    for (int64_t i = 0; i < w.n && at < n && !status; i++)
      if (came[i] == id[by_id[at]]) memcpy(&x[3 * by_id[at++]], &place[3 * i], 3 * sizeof *x);
  }
  engine_windows_close(&w);
  return status;
}

md_status engine_place_again(engine *sim, const engine_state *from)
{
  if (world_count() == 1) return md_atoms_place(sim->atoms, from->x);
  const int64_t n = sim->atoms->n;
  double *x = malloc((size_t)(n + 1) * 3 * sizeof *x);
  int64_t *id = malloc((size_t)(n + 1) * sizeof *id),
          *by_id = malloc((size_t)(n + 1) * sizeof *by_id);
  int64_t *from_by_id = malloc((size_t)(from->n + 1) * sizeof *from_by_id);
  md_status status = x && id && by_id && from_by_id
                         ? md_atoms_get(sim->atoms, NULL, NULL, NULL, id, NULL)
                         : MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms", (long long)n);
  status = world_agree(status);
  if (!status) {
    system_sort_ids(n, id, by_id);
    system_sort_ids(from->n, from->id, from_by_id);
    status = find_positions(engine_window(sim->spec), from, from_by_id, n, id, by_id, x);
  }
  if (!status) status = md_atoms_place(sim->atoms, x);
  free(x);
  free(id);
  free(by_id);
  free(from_by_id);
  return world_agree(status);
}
