/* comm/ranks.c - atoms to their owners, and ghosts of other ranks' atoms, on the CPU.
 *
 * Positions are those of the box on every rank.  A message of comm_forward is state [count][3], of
 * atoms as they are; who receives it shifts them, and keeps the charges that came with the ghosts'
 * names.  Nothing is sent before all ranks have room for
 * what they will get. */
#include "comm/ranks_impl.h"

#include <stdlib.h>
#include <string.h>

static comm_images_fn *const cpu_images[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_images);
static comm_pack_fn *const cpu_pack[MD_PRECISION_COUNT][MD_ISA_COUNT] = SIMD_TABLE(comm_cpu_pack);
static comm_unpack_fn *const cpu_unpack[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_unpack);
static comm_built_fn *const cpu_built[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(comm_cpu_built);
#define PICK(ctx, table) table[(ctx)->precision][(ctx)->isa]

/* Where what goes to and comes from each rank begins; returns the numbers of all. */
static void add_up(comm_ranks *ranks, int64_t *out, int64_t *in)
{
  *out = *in = 0;
  for (int r = 0; r < world_count(); r++) {
    ranks->to_first[r] = *out;
    ranks->from_first[r] = *in;
    *out += ranks->to[r];
    *in += ranks->from[r];
  }
}

/* Exchange what was packed: `bytes` an item. */
static md_status start_exchange(comm_ranks *ranks, size_t bytes)
{
  world_message *in = ranks->messages, *out = in + world_count();
  int n_in = 0, n_out = 0;
  for (int r = 0; r < world_count(); r++) {
    if (ranks->from[r] > 0)
      in[n_in++] = (world_message){r, (char *)ranks->in.data + (size_t)ranks->from_first[r] * bytes,
                                   (size_t)ranks->from[r] * bytes};
    if (ranks->to[r] > 0)
      out[n_out++] =
          (world_message){r, (char *)ranks->out.data + (size_t)ranks->to_first[r] * bytes,
                          (size_t)ranks->to[r] * bytes};
  }
  return world_start(in, n_in, out, n_out);
}

/* An atom that moves house: x, v, id, image. */
static size_t atom_bytes(const md_atoms *atoms)
{
  return 8 * md_state_size(atoms->ctx->precision) + 8 + 12;
}

/* Copy atom i to `item`, or back. */
static void copy_atom(const md_atoms *atoms, int64_t i, char *item, bool back)
{
  const size_t four = 4 * md_state_size(atoms->ctx->precision);
  char *const part[] = {(char *)atoms->x.data + (size_t)i * four,
                        (char *)atoms->v.data + (size_t)i * four, (char *)atoms->id.data + i * 8,
                        (char *)atoms->image.data + i * 12};
  const size_t bytes[] = {four, four, 8, 12};
  for (int k = 0; k < 4; k++) {
    memcpy(back ? part[k] : item, back ? item : part[k], bytes[k]);
    item += bytes[k];
  }
}

/* Atoms that leave to messages; those that stay close up. */
static void pack_leavers(comm_ranks *ranks, md_atoms *atoms)
{
  const int32_t *cell = ranks->cell.data, *owner = ranks->part->owner;
  const size_t bytes = atom_bytes(atoms);
  char *out = ranks->out.data, one[128];
  int64_t kept = 0;
  for (int64_t i = 0; i < atoms->n; i++) {
    const int32_t rank = owner[cell[i]];
    if (rank != world_rank()) {
      copy_atom(atoms, i, out + (size_t)ranks->to_first[rank]++ * bytes, false);
      continue;
    }
    if (kept != i) {
      copy_atom(atoms, i, one, false);
      copy_atom(atoms, kept, one, true);
    }
    kept++;
  }
  for (int r = 0; r < world_count(); r++)
    ranks->to_first[r] -= ranks->to[r];
  atoms->n = kept;
}

static md_status count_leavers(comm *cm, md_atoms *atoms, int64_t *arrivals)
{
  comm_ranks *ranks = cm->ranks;
  int64_t leavers;
  md_status status = ranks_find_cells(cm, atoms, false);
  memset(ranks->to, 0, (size_t)world_count() * sizeof *ranks->to);
  const int32_t *cell = ranks->cell.data, *owner = ranks->part->owner;
  for (int64_t i = 0; i < atoms->n && !status; i++)
    ranks->to[owner[cell[i]]] += owner[cell[i]] != world_rank();
  world_trade(ranks->to, ranks->from);
  add_up(ranks, &leavers, arrivals);
  const size_t bytes = atom_bytes(atoms);
  const int64_t n = atoms->n - leavers + *arrivals;
  if (!status) status = md_buffer_reserve(cm->ctx, &ranks->out, (size_t)leavers * bytes, 0);
  if (!status) status = md_buffer_reserve(cm->ctx, &ranks->in, (size_t)*arrivals * bytes, 0);
  if (!status) status = md_atoms_reserve(atoms, n > atoms->n ? n : atoms->n, 0);
  return world_agree(status);
}

md_status ranks_migrate(comm *cm, md_atoms *atoms, double r_ghost)
{
  comm_ranks *ranks = cm->ranks;
  int64_t arrivals;
  atoms->n_built = 0;
  MD_TRY(ranks_settle(cm, atoms, r_ghost));
  MD_TRY(count_leavers(cm, atoms, &arrivals));
  pack_leavers(ranks, atoms);
  const size_t bytes = atom_bytes(atoms);
  MD_TRY(start_exchange(ranks, bytes));
  world_wait();
  for (int64_t k = 0; k < arrivals; k++)
    copy_atom(atoms, atoms->n + k, (char *)ranks->in.data + (size_t)k * bytes, true);
  atoms->n += arrivals;
  double most = (double)atoms->n;
  int64_t all = atoms->n;
  world_most(&most, 1);
  world_sum(&all, 1);
  ranks->uneven = all > 0 ? most * world_count() / (double)all : 1;
  if (ranks->was_uneven == 0) ranks->was_uneven = ranks->uneven;
  return MD_OK;
}

/* What another rank is told of a ghost beside its position; the charge is a state. */
typedef struct {
  int64_t id;
  int32_t shift, zero;
  char charge[sizeof(double)];
} ghost_name;

static char *charge_of(const md_atoms *atoms, int64_t i)
{
  return (char *)atoms->x.data + (size_t)(4 * i + 3) * md_state_size(atoms->ctx->precision);
}

/* Where the atoms of each target begin in index: those of this rank itself first. */
static md_status count_images(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const partition_halo *halo = &ranks->halo;
  int64_t *taken = realloc(ranks->taken, (size_t)(halo->n_targets + 1) * sizeof *taken);
  MD_REQUIRE(taken, MD_ENOMEM, "out of memory for the neighbours of a rank");
  ranks->taken = taken;
  memset(taken, 0, (size_t)(halo->n_targets + 1) * sizeof *taken);
  MD_TRY(ranks_find_cells(cm, atoms, true));
  const int32_t *cell = ranks->cell.data;
  for (int64_t i = 0; i < atoms->n; i++)
    for (int64_t e = halo->first[cell[i]]; e < halo->first[cell[i] + 1]; e++)
      taken[halo->to[e]]++;
  int64_t at = 0;
  for (int own = 1; own >= 0; own--) {
    for (int32_t t = 0; t < halo->n_targets; t++) {
      const int rank = halo->target[t].rank;
      const int64_t count = taken[t];
      if ((rank == world_rank()) != own) continue;
      if (!own) ranks->to[rank] += count;
      taken[t] = at;
      at += count;
    }
    if (own) ranks->n_own = at;
  }
  return md_buffer_reserve(cm->ctx, &ranks->index, (size_t)at * sizeof(int32_t), 0);
}

/* Room for all ghosts, or an error of all. */
static md_status reserve_ghosts(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  memset(ranks->to, 0, (size_t)world_count() * sizeof *ranks->to);
  md_status status = count_images(cm, atoms);
  world_trade(ranks->to, ranks->from);
  add_up(ranks, &ranks->n_out, &ranks->n_in);
  /* Names and positions take turns in the same memory. */
  const size_t three = 3 * md_state_size(cm->ctx->precision);
  const size_t item = three > sizeof(ghost_name) ? three : sizeof(ghost_name);
  const int64_t ghosts = ranks->n_own + ranks->n_in;
  if (!status) status = md_buffer_reserve(cm->ctx, &ranks->out, (size_t)ranks->n_out * item, 0);
  if (!status) status = md_buffer_reserve(cm->ctx, &ranks->in, (size_t)ranks->n_in * item, 0);
  if (!status) status = md_atoms_reserve(atoms, atoms->n, ghosts);
  if (!status) status = md_buffer_reserve(cm->ctx, &atoms->ghost_id, (size_t)ghosts * 8, 0);
  return world_agree(status);
}

/* Ghosts of own atoms, and the names of those that other ranks get. */
static void name_images(comm_ranks *ranks, md_atoms *atoms)
{
  const partition_halo *halo = &ranks->halo;
  const int32_t *cell = ranks->cell.data;
  const int64_t *id = atoms->id.data;
  int32_t *index = ranks->index.data, *home = atoms->home.data, *shift = atoms->shift.data;
  int64_t *ghost_id = atoms->ghost_id.data;
  ghost_name *out = ranks->out.data;
  for (int64_t i = 0; i < atoms->n; i++)
    for (int64_t e = halo->first[cell[i]]; e < halo->first[cell[i] + 1]; e++) {
      const int64_t k = ranks->taken[halo->to[e]]++, sent = k - ranks->n_own;
      const int32_t by = halo->target[halo->to[e]].shift;
      index[k] = (int32_t)i;
      if (sent < 0) {
        home[k] = (int32_t)i, shift[k] = by, ghost_id[k] = id[i];
        continue;
      }
      out[sent] = (ghost_name){id[i], by, 0, ""};
      memcpy(out[sent].charge, charge_of(atoms, i), md_state_size(atoms->ctx->precision));
    }
}

md_status ranks_borders(comm *cm, md_atoms *atoms, double r_ghost)
{
  comm_ranks *ranks = cm->ranks;
  MD_REQUIRE(ranks->part && ranks->reach == r_ghost, MD_EINVAL,
             "the box was cut for ghosts that reach %g, not %g", ranks->reach, r_ghost);
  MD_TRY(reserve_ghosts(cm, atoms));
  name_images(ranks, atoms);
  MD_TRY(start_exchange(ranks, sizeof(ghost_name)));
  world_wait();
  const ghost_name *in = ranks->in.data;
  int32_t *home = atoms->home.data, *shift = atoms->shift.data;
  int64_t *ghost_id = atoms->ghost_id.data;
  for (int64_t k = 0, g = ranks->n_own; k < ranks->n_in; k++, g++) {
    home[g] = -1, shift[g] = in[k].shift, ghost_id[g] = in[k].id;
    memcpy(charge_of(atoms, atoms->n + g), in[k].charge, md_state_size(cm->ctx->precision));
  }
  atoms->n_ghost = ranks->n_own + ranks->n_in;
  if (atoms->n > 0) PICK(cm->ctx, cpu_built)(atoms);
  return ranks_forward(cm, atoms);
}

md_status comm_forward_reals(comm *cm, const md_atoms *atoms, void *values)
{
  comm_ranks *ranks = cm->ranks;
  if (world_count() == 1) return MD_OK;
  const int32_t *sent = (const int32_t *)ranks->index.data + ranks->n_own;
  const size_t size = md_real_size(cm->ctx->precision);
  char *value = values, *out = ranks->out.data;
  for (int64_t k = 0; k < ranks->n_out; k++)
    memcpy(out + (size_t)k * size, value + (size_t)sent[k] * size, size);
  MD_TRY(start_exchange(ranks, size));
  world_wait();
  memcpy(value + (size_t)(atoms->n + ranks->n_own) * size, ranks->in.data,
         (size_t)ranks->n_in * size);
  return MD_OK;
}

md_status ranks_forward(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  const int32_t *sent = (const int32_t *)ranks->index.data + ranks->n_own;
  PICK(cm->ctx, cpu_pack)(atoms, sent, ranks->n_out, ranks->out.data);
  MD_TRY(start_exchange(ranks, 3 * md_state_size(cm->ctx->precision)));
  PICK(cm->ctx, cpu_images)(atoms, ranks->n_own);
  world_wait();
  PICK(cm->ctx, cpu_unpack)(atoms, ranks->n_own, ranks->n_in, ranks->in.data);
  return MD_OK;
}
