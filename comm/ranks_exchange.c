/* comm/ranks_exchange.c - atoms to their owners, and ghosts of other ranks' atoms: who tells whom
 * what and when, whatever the backend.
 *
 * Positions are those in frames on every rank, in a box of one frame those of the box.  A message
 * of comm_forward is state [count][3], of atoms as they are; who receives it shifts them by frame
 * edges, and keeps the charges that came with the ghosts' names.  Nothing is sent before all ranks
 * have room for what they will get.  Messages lie in memory that a GPU writes and reads itself; by
 * NCCL, in its own, and the host waits for none. */
#include "comm/ranks_impl.h"

#include <stdlib.h>
#include <string.h>

static peer_turn_fn *const take_turn = MD_GPU(peer_gpu_turn);
static nccl_start_fn *const start_nccl = MD_GPU(nccl_gpu_start);

md_status ranks_tell(comm_ranks *ranks, md_status status, double word, const int64_t *to,
                     int64_t *from)
{
  enum { WIDTH = 3 };
  bool failed = false;
  for (int r = 0; r < world_count(); r++) {
    int64_t *told = ranks->told + WIDTH * r;
    told[0] = status, told[2] = to[r];
    memcpy(&told[1], &word, sizeof word);
  }
  world_trade(ranks->told, ranks->heard, WIDTH);
  for (int r = 0; r < world_count(); r++) {
    const int64_t *heard = ranks->heard + WIDTH * r;
    failed = failed || heard[0] != MD_OK;
    memcpy(&ranks->word[r], &heard[1], sizeof word);
    from[r] = heard[2];
  }
  return failed ? world_agree(status) : MD_OK;
}

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

md_status ranks_start(comm *cm, void *from_others, void *to_others, size_t bytes)
{
  comm_ranks *ranks = cm->ranks;
  world_message *in = ranks->messages, *out = in + world_count();
  int n_in = 0, n_out = 0;
  for (int r = 0; r < world_count(); r++) {
    if (ranks->from[r] > 0)
      in[n_in++] = (world_message){r, (char *)from_others + (size_t)ranks->from_first[r] * bytes,
                                   (size_t)ranks->from[r] * bytes};
    if (ranks->to[r] > 0)
      out[n_out++] = (world_message){r, (char *)to_others + (size_t)ranks->to_first[r] * bytes,
                                     (size_t)ranks->to[r] * bytes};
  }
  if (ranks->carrier == COMM_NCCL) return start_nccl(cm->ctx, ranks->nccl, in, n_in, out, n_out);
  MD_TRY(md_ctx_sync(cm->ctx)); /* also what reads the last message */
  if (cm->ctx->backend == MD_GPU)
    cm->ctx->bytes_copied += (int64_t)bytes * (ranks->n_out + ranks->n_in);
  world_start(in, n_in, out, n_out);
  return MD_OK;
}

/* Exchange what is packed, or is about to be: `bytes` an item. */
static md_status start_exchange(comm *cm, size_t bytes)
{
  return ranks_start(cm, cm->ranks->in.data, cm->ranks->out.data, bytes);
}

/* Room for messages of so many bytes an item. */
static md_status reserve_messages(comm *cm, size_t bytes)
{
  comm_ranks *ranks = cm->ranks;
  if (ranks->carrier == COMM_NCCL) {
    MD_TRY(md_buffer_reserve(cm->ctx, &ranks->out, (size_t)ranks->n_out * bytes, 0));
    return md_buffer_reserve(cm->ctx, &ranks->in, (size_t)ranks->n_in * bytes, 0);
  }
  MD_TRY(world_reserve(2 * world_count(), (ranks->n_in + ranks->n_out) * (int64_t)bytes));
  MD_TRY(md_shared_reserve(cm->ctx, &ranks->out, (size_t)ranks->n_out * bytes));
  return md_shared_reserve(cm->ctx, &ranks->in, (size_t)ranks->n_in * bytes);
}

static int64_t least(int64_t a, size_t b)
{
  return a < (int64_t)b ? a : (int64_t)b;
}

/* Atoms and ghosts that positions have room for. */
static int64_t place_room(const md_atoms *atoms)
{
  const md_precision precision = atoms->ctx->precision;
  const int64_t most = least(INT32_MAX, atoms->x.bytes / 4 / md_state_size(precision));
  return precision == MD_MIXED ? least(most, atoms->fixed.bytes / 16) : most;
}

int64_t ranks_atom_room(const md_atoms *atoms)
{
  const md_precision precision = atoms->ctx->precision;
  const int64_t room = least(place_room(atoms), atoms->v.bytes / 4 / md_state_size(precision));
  return least(
      least(least(room, atoms->f.bytes / 4 / md_real_size(precision)), atoms->id.bytes / 8),
      atoms->image.bytes / 12);
}

/* How far atoms of any rank had gone, of what each said. */
static void measure_moves(comm *cm)
{
  for (int r = 0; r < world_count(); r++)
    if (cm->ranks->word[r] > cm->moved_sq) cm->moved_sq = cm->ranks->word[r];
}

/* Room for the atoms that this rank has after migration. */
static md_status reserve_atoms(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  add_up(ranks, &ranks->n_out, &ranks->n_in);
  const int64_t n = atoms->n - ranks->n_out + ranks->n_in;
  return md_atoms_reserve(atoms, n > atoms->n ? n : atoms->n, 0);
}

/* When all have told each other who moves. */
static md_status move_by_message(comm *cm, md_atoms *atoms, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  const size_t bytes = ranks->on->atom_bytes(atoms);
  if (!status) status = reserve_messages(cm, bytes);
  MD_TRY(world_agree(status));
  if (ranks->n_out > 0) MD_TRY(ranks->on->pack_leavers(cm, atoms));
  MD_TRY(start_exchange(cm, bytes));
  world_wait();
  atoms->n -= ranks->n_out;
  return ranks->on->take_arrivals(cm, atoms, ranks->n_in, ranks->in.data);
}

/* Where all fit in the mailboxes, which are as large as ghosts need them, and into memory that
 * ranks have: those of a new cut may be many more. */
static md_status move_to_peers(comm *cm, md_atoms *atoms, double back, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  const int64_t *told;
  peer_fit fit;
  MD_TRY(ranks->on->trade(cm, atoms, back, &status, &told));
  if (!peer_hear(cm, told, ranks->on->atom_bytes(atoms), &fit)) return world_agree(status);
  measure_moves(cm);
  if (!fit.mail || !fit.memory) return move_by_message(cm, atoms, reserve_atoms(cm, atoms));
  add_up(ranks, &ranks->n_out, &ranks->n_in);
  atoms->n -= ranks->n_out;
  return peer_begin(cm, 1);
}

static md_status tell_and_move(comm *cm, md_atoms *atoms, double back, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  memset(ranks->to, 0, (size_t)world_count() * sizeof *ranks->to);
  if (!status) status = ranks->on->count_leavers(cm, atoms, back);
  MD_TRY(ranks_tell(ranks, status, cm->moved_sq, ranks->to, ranks->from));
  measure_moves(cm);
  return move_by_message(cm, atoms, reserve_atoms(cm, atoms));
}

md_status ranks_migrate(comm *cm, md_atoms *atoms, const comm_reach *early, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  const double back = early ? early->back : -1;
  atoms->n_built = 0;
  ranks->gpu.counted = false;
  MD_TRY(ranks_settle(cm, atoms, early ? early->r_ghost : 0));
  MD_TRY((ranks->carrier == COMM_PEER ? move_to_peers : tell_and_move)(cm, atoms, back, status));
  atoms->n += ranks->n_in;
  return MD_OK;
}

/* How many times the mean the most loaded rank has, of what each said. */
static void measure_evenness(comm_ranks *ranks)
{
  double most = 0, all = 0;
  for (int r = 0; r < world_count(); r++) {
    all += ranks->word[r];
    if (ranks->word[r] > most) most = ranks->word[r];
  }
  ranks->uneven = all > 0 ? most * world_count() / all : 1;
  if (ranks->was_uneven == 0) ranks->was_uneven = ranks->uneven;
}

/* Bytes of a message about a ghost: names and positions take turns in the same memory. */
static size_t ghost_bytes(const comm *cm, const md_atoms *atoms)
{
  const size_t name = cm->ranks->on->name_bytes(atoms);
  const size_t position = 4 * md_state_size(cm->ctx->precision);
  return name > position ? name : position;
}

/* Room for the ghosts that go to and come from each rank; not yet agreed on. */
static md_status reserve_ghosts(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  measure_evenness(ranks);
  add_up(ranks, &ranks->n_out, &ranks->n_in);
  const int64_t ghosts = ranks->n_own + ranks->n_in;
  MD_TRY(reserve_messages(cm, ghost_bytes(cm, atoms)));
  if (ranks->carrier == COMM_NCCL) MD_TRY(relay_settle(cm));
  MD_TRY(md_atoms_reserve(atoms, atoms->n, ghosts));
  return md_buffer_reserve(cm->ctx, &atoms->ghost_id, (size_t)ghosts * 8, 0);
}

/* Ghosts of other ranks that this one takes without asking for memory; < 0 where it must ask. */
static int64_t ghost_room(const comm *cm, const md_atoms *atoms, size_t item)
{
  const comm_ranks *ranks = cm->ranks;
  int64_t out = 0;
  for (int r = 0; r < world_count(); r++)
    out += ranks->to[r];
  if ((size_t)out * item > ranks->out.bytes) return -1;
  const int64_t room = least(place_room(atoms) - atoms->n, atoms->home.bytes / 4);
  return least(least(least(room, atoms->shift.bytes / 4), atoms->ghost_id.bytes / 8) - ranks->n_own,
               ranks->in.bytes / item);
}

static md_status names_by_message(comm *cm, md_atoms *atoms, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  MD_TRY(ranks_tell(ranks, status, (double)atoms->n, ranks->to, ranks->from));
  MD_TRY(world_agree(reserve_ghosts(cm, atoms)));
  if (atoms->n > 0) MD_TRY(ranks->on->name_images(cm, atoms));
  MD_TRY(start_exchange(cm, ranks->on->name_bytes(atoms)));
  world_wait();
  return ranks->on->take_names(cm, atoms, ranks->in.data);
}

static md_status names_to_peers(comm *cm, md_atoms *atoms, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  const size_t item = ghost_bytes(cm, atoms);
  peer_fit fit;
  MD_TRY(peer_tell(cm, status, (double)atoms->n, ghost_room(cm, atoms, item), item, &fit));
  status = reserve_ghosts(cm, atoms);
  MD_TRY(fit.memory ? status : world_agree(status));
  if (!fit.mail) MD_TRY(peer_grow(cm, item));
  MD_TRY(peer_settle(cm));
  MD_TRY(peer_begin(cm, 1));
  return ranks->on->name_images(cm, atoms);
}

md_status ranks_borders(comm *cm, md_atoms *atoms, double r_ghost, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  MD_REQUIRE(ranks->part && ranks->reach == r_ghost, MD_EINVAL,
             "the box was cut for ghosts that reach %g, not %g", ranks->reach, r_ghost);
  memset(ranks->to, 0, (size_t)world_count() * sizeof *ranks->to);
  ranks->n_own = 0;
  if (!status && atoms->n > 0) status = ranks->on->count_images(cm, atoms);
  MD_TRY((ranks->carrier == COMM_PEER ? names_to_peers : names_by_message)(cm, atoms, status));
  atoms->n_ghost = ranks->n_own + ranks->n_in;
  return ranks->on->exchange ? MD_OK : ranks_forward(cm, atoms);
}

md_status comm_forward_reals(comm *cm, const md_atoms *atoms, void *values)
{
  comm_ranks *ranks = cm->ranks;
  if (world_count() == 1) return MD_OK;
  MD_TRY(ranks->on->pack_reals(cm, values));
  MD_TRY(start_exchange(cm, md_real_size(cm->ctx->precision)));
  world_wait();
  return ranks->on->unpack_reals(cm, atoms, values);
}

md_status ranks_forward(comm *cm, md_atoms *atoms)
{
  comm_ranks *ranks = cm->ranks;
  if (ranks->carrier == COMM_PEER) {
    MD_TRY(peer_begin(cm, 1));
    return ranks->on->exchange(cm, atoms);
  }
  MD_TRY(ranks->on->pack(cm, atoms));
  MD_TRY(start_exchange(cm, 3 * md_state_size(cm->ctx->precision)));
  MD_TRY(ranks->on->images(cm, atoms));
  world_wait();
  return ranks->on->unpack(cm, atoms, ranks->in.data);
}

/* Who has no atoms reads nothing, but its neighbours wait for its flags. */
static md_status take_turns(comm *cm, int32_t turns)
{
  for (int32_t k = 0; k < turns; k++) {
    MD_TRY(peer_begin(cm, 1));
    MD_TRY(take_turn(cm));
  }
  return MD_OK;
}

md_status ranks_send_inside(comm *cm, const md_atoms *atoms, int32_t steps, md_mail *out)
{
  const comm_ranks *ranks = cm->ranks;
  const ranks_peer *peer = &ranks->peer;
  const md_round before = peer->mail.round;
  if (ranks->carrier == COMM_NCCL) return relay_send_inside(cm, atoms, steps, out);
  if (atoms->n == 0) return take_turns(cm, steps - 1);
  MD_TRY(peer_begin(cm, steps - 1));
  *out = (md_mail){.steps = steps,
                   .n_ways = peer->n_ways,
                   .round = before + 1,
                   .ways = peer->ways.data,
                   .first = ranks->gpu.before.data,
                   .image = ranks->gpu.image.data,
                   .n_own = ranks->n_own,
                   .come = peer->come.data,
                   .late = peer->mail.late.data};
  for (int k = 0; k < MD_SLOTS; k++)
    out->slot[k] = gpus_mail_slot(&peer->mail, (md_round)k);
  return MD_OK;
}
