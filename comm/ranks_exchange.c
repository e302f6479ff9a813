/* comm/ranks_exchange.c - atoms to their owners, and ghosts of other ranks' atoms: who tells whom
 * what and when, whatever the backend.
 *
 * Positions are those of the box on every rank.  A message of comm_forward is state [count][3], of
 * atoms as they are; who receives it shifts them, and keeps the charges that came with the ghosts'
 * names.  Nothing is sent before all ranks have room for what they will get.  Messages lie in
 * memory that a GPU writes and reads itself. */
#include "comm/ranks_impl.h"

#include <stdlib.h>
#include <string.h>

static peer_turn_fn *const take_turn = MD_GPU(peer_gpu_turn);
static comm_found_fn *const gpu_found[MD_PRECISION_COUNT] = PREC_TABLE(comm_gpu_found);

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

/* Exchange what is packed, or is about to be: `bytes` an item. */
static md_status start_exchange(comm *cm, size_t bytes)
{
  comm_ranks *ranks = cm->ranks;
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
  MD_TRY(md_ctx_sync(cm->ctx)); /* also what reads the last message */
  if (cm->ctx->backend == MD_GPU)
    cm->ctx->bytes_copied += (int64_t)bytes * (ranks->n_out + ranks->n_in);
  world_start(in, n_in, out, n_out);
  return MD_OK;
}

/* Room for messages of so many bytes an item. */
static md_status reserve_messages(comm *cm, size_t bytes)
{
  comm_ranks *ranks = cm->ranks;
  MD_TRY(world_reserve(2 * world_count(), (ranks->n_in + ranks->n_out) * (int64_t)bytes));
  MD_TRY(md_shared_reserve(cm->ctx, &ranks->out, (size_t)ranks->n_out * bytes));
  return md_shared_reserve(cm->ctx, &ranks->in, (size_t)ranks->n_in * bytes);
}

/* How many atoms go to and come from each rank, and how far they had gone.  When all have said so
 * mailboxes have been read. */
static md_status count_movers(comm *cm, md_atoms *atoms, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  comm_found_fn *const found = cm->ctx->backend == MD_GPU ? gpu_found[cm->ctx->precision] : NULL;
  memset(ranks->to, 0, (size_t)world_count() * sizeof *ranks->to);
  ranks->gpu.counted = false;
  if (!status && atoms->n > 0) status = ranks->on->count_leavers(cm, atoms);
  if (!status) status = md_ctx_sync(cm->ctx);
  if (!status && found) status = found(cm);
  MD_TRY(ranks_tell(ranks, status, cm->moved_sq, ranks->to, ranks->from));
  for (int r = 0; r < world_count(); r++)
    if (ranks->word[r] > cm->moved_sq) cm->moved_sq = ranks->word[r];
  add_up(ranks, &ranks->n_out, &ranks->n_in);
  return MD_OK;
}

static md_status move_by_message(comm *cm, md_atoms *atoms, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  const size_t bytes = ranks->on->atom_bytes(atoms);
  if (!status) status = reserve_messages(cm, bytes);
  MD_TRY(world_agree(status));
  ranks->mailed = false;
  if (ranks->n_out > 0) MD_TRY(ranks->on->pack_leavers(cm, atoms));
  MD_TRY(start_exchange(cm, bytes));
  world_wait();
  atoms->n -= ranks->n_out;
  return ranks->n_in > 0 ? ranks->on->take_arrivals(cm, atoms, ranks->n_in, ranks->in.data) : MD_OK;
}

/* Where all fit in the mailboxes, which are as large as ghosts need them: those of a new cut may
 * be many more. */
static md_status move_to_peers(comm *cm, md_atoms *atoms, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  MD_TRY(peer_ask(cm, status, ranks->on->atom_bytes(atoms), &ranks->mailed));
  if (!ranks->mailed) return move_by_message(cm, atoms, MD_OK);
  MD_TRY(peer_settle(cm));
  MD_TRY(peer_begin(cm, 1));
  if (ranks->n_out > 0) MD_TRY(ranks->on->pack_leavers(cm, atoms));
  MD_TRY(take_turn(cm));
  atoms->n -= ranks->n_out;
  return ranks->n_in > 0 ? ranks->on->take_arrivals(cm, atoms, ranks->n_in, peer_mail(cm)) : MD_OK;
}

md_status ranks_migrate(comm *cm, md_atoms *atoms, double r_ghost, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  atoms->n_built = 0;
  MD_TRY(ranks_settle(cm, atoms, r_ghost));
  MD_TRY(count_movers(cm, atoms, status));
  const int64_t n = atoms->n - ranks->n_out + ranks->n_in;
  status = md_atoms_reserve(atoms, n > atoms->n ? n : atoms->n, 0);
  MD_TRY((ranks->carrier == COMM_PEER ? move_to_peers : move_by_message)(cm, atoms, status));
  atoms->n = n;
  return ranks->on->expect_images ? ranks->on->expect_images(cm) : MD_OK;
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

/* How many ghosts go to and come from each rank, and room for them; not yet agreed on. */
static md_status reserve_ghosts(comm *cm, md_atoms *atoms, md_status before, md_status *room)
{
  comm_ranks *ranks = cm->ranks;
  memset(ranks->to, 0, (size_t)world_count() * sizeof *ranks->to);
  ranks->n_own = 0;
  md_status status = before;
  if (!status && atoms->n > 0) status = ranks->on->count_images(cm, atoms);
  MD_TRY(ranks_tell(ranks, status, (double)atoms->n, ranks->to, ranks->from));
  measure_evenness(ranks);
  add_up(ranks, &ranks->n_out, &ranks->n_in);
  /* Names and positions take turns in the same memory. */
  const size_t three = 3 * md_state_size(cm->ctx->precision);
  const size_t item = three > sizeof(ghost_name) ? three : sizeof(ghost_name);
  const int64_t ghosts = ranks->n_own + ranks->n_in;
  *room = reserve_messages(cm, item);
  if (!*room) *room = md_atoms_reserve(atoms, atoms->n, ghosts);
  if (!*room) *room = md_buffer_reserve(cm->ctx, &atoms->ghost_id, (size_t)ghosts * 8, 0);
  return MD_OK;
}

static md_status names_by_message(comm *cm, md_atoms *atoms, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  MD_TRY(world_agree(status));
  if (atoms->n > 0) MD_TRY(ranks->on->name_images(cm, atoms));
  MD_TRY(start_exchange(cm, sizeof(ghost_name)));
  world_wait();
  return ranks->on->take_names(cm, atoms, ranks->in.data);
}

static md_status names_to_peers(comm *cm, md_atoms *atoms, md_status status)
{
  const size_t position = 4 * md_state_size(cm->ctx->precision), name = sizeof(ghost_name);
  const size_t item = position > name ? position : name;
  bool fit;
  MD_TRY(peer_ask(cm, status, item, &fit));
  if (!fit) MD_TRY(peer_grow(cm, item));
  MD_TRY(peer_settle(cm));
  MD_TRY(peer_begin(cm, 1));
  if (atoms->n > 0) MD_TRY(cm->ranks->on->name_images(cm, atoms));
  MD_TRY(take_turn(cm));
  return cm->ranks->on->take_names(cm, atoms, peer_mail(cm));
}

md_status ranks_borders(comm *cm, md_atoms *atoms, double r_ghost, md_status status)
{
  comm_ranks *ranks = cm->ranks;
  MD_REQUIRE(ranks->part && ranks->reach == r_ghost, MD_EINVAL,
             "the box was cut for ghosts that reach %g, not %g", ranks->reach, r_ghost);
  MD_TRY(reserve_ghosts(cm, atoms, status, &status));
  MD_TRY((ranks->carrier == COMM_PEER ? names_to_peers : names_by_message)(cm, atoms, status));
  atoms->n_ghost = ranks->n_own + ranks->n_in;
  return ranks_forward(cm, atoms);
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
  const md_round before = peer->round;
  if (atoms->n == 0) return take_turns(cm, steps - 1);
  MD_TRY(peer_begin(cm, steps - 1));
  const char *half = peer->mail + peer_flags();
  *out = (md_mail){.steps = steps,
                   .n_ways = peer->n_ways,
                   .round = before + 1,
                   .ways = peer->ways.data,
                   .first = ranks->gpu.before.data,
                   .image = ranks->gpu.image.data,
                   .n_own = ranks->n_own,
                   .half = {half, half + peer->room},
                   .come = peer->come.data,
                   .late = peer->late.data};
  return MD_OK;
}
