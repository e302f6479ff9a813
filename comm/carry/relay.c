/* comm/carry/relay.c - see relay.h: boxes, and what is queued for each step. */
#include "comm/carry/relay.h"
#include "comm/ranks_impl.h"

static relay_await_fn *const await_outbox = MD_GPU(relay_gpu_await);

enum { FLAG_ROOM = 256 }; /* bytes before the first slot */

static size_t item_size(const comm *cm)
{
  return 4 * md_coord_size(cm->ctx->precision);
}

static size_t slot_size(int64_t items, size_t item)
{
  return ((size_t)items * item + FLAG_ROOM - 1) / FLAG_ROOM * FLAG_ROOM;
}

/* What comes in a round; what goes lies behind it. */
static char *slot_of(const ranks_relay *relay, md_round round)
{
  return (char *)relay->box.data + FLAG_ROOM + round % MD_SLOTS * (relay->in + relay->out);
}

/* A larger box's flag is up as that of the old one was. */
static md_status reserve_box(comm *cm)
{
  ranks_relay *relay = &cm->ranks->relay;
  const size_t bytes = FLAG_ROOM + MD_SLOTS * (relay->in + relay->out);
  if (bytes <= relay->box.bytes) return MD_OK;
  MD_TRY(md_buffer_reserve(cm->ctx, &relay->box, bytes + bytes / 8, 0));
  return md_write(cm->ctx, relay->box.data, &relay->round, sizeof relay->round);
}

static md_status open_relay(comm *cm)
{
  ranks_relay *relay = &cm->ranks->relay;
  if (relay->beside) return MD_OK;
  MD_TRY(md_buffer_reserve(cm->ctx, &relay->way, sizeof(md_way), 0));
  MD_TRY(md_buffer_reserve(cm->ctx, &relay->come, 2 * sizeof(uint32_t), 0));
  MD_TRY(md_fill(cm->ctx, relay->come.data, 0, 2 * sizeof(uint32_t)));
  MD_TRY(md_shared_reserve(cm->ctx, &relay->late, sizeof(md_late)));
  *(md_late *)relay->late.data = (md_late){-1};
  return md_beside_create(cm->ctx, true, &relay->beside);
}

md_status relay_settle(comm *cm)
{
  const comm_ranks *ranks = cm->ranks;
  ranks_relay *relay = &cm->ranks->relay;
  MD_TRY(open_relay(cm));
  relay->in = slot_size(ranks->n_in, item_size(cm));
  relay->out = slot_size(ranks->n_out, item_size(cm));
  MD_TRY(reserve_box(cm));
  md_round *flag = relay->box.data;
  md_way way = {.flag = flag, .wait = flag, .count = ranks->n_out, .rank = world_rank()};
  for (int k = 0; k < MD_SLOTS; k++)
    way.slot[k] = slot_of(relay, (md_round)k) + relay->in;
  return md_write(cm->ctx, relay->way.data, &way, sizeof way);
}

/* Queue beside the next kernel: what it stores in this round goes to others, and what they store
 * comes. */
static md_status exchange_boxes(comm *cm, md_round round, bool stores)
{
  ranks_relay *relay = &cm->ranks->relay;
  char *slot = slot_of(relay, round);
  MD_TRY(md_beside_begin(relay->beside));
  md_status status = stores ? await_outbox(cm, round) : MD_OK;
  if (!status) status = ranks_start(cm, slot, slot + relay->in, item_size(cm));
  const md_status ended = md_beside_end(relay->beside);
  return status ? status : ended;
}

/* md_carry_fn. */
static md_status carry(void *by, md_round round, bool sends)
{
  comm *cm = by;
  MD_TRY(md_beside_join(cm->ranks->relay.beside));
  return sends ? exchange_boxes(cm, round, true) : MD_OK;
}

/* Who has no atoms stores nothing, but may have ghosts, which others send. */
static md_status take_turns(comm *cm, md_round round, int32_t turns)
{
  for (int32_t k = 0; k < turns; k++)
    MD_TRY(exchange_boxes(cm, round + (md_round)k, false));
  return md_beside_join(cm->ranks->relay.beside);
}

md_status relay_send_inside(comm *cm, const md_atoms *atoms, int32_t steps, md_mail *out)
{
  const comm_ranks *ranks = cm->ranks;
  ranks_relay *relay = &cm->ranks->relay;
  const volatile md_late *late = relay->late.data;
  const md_round round = relay->round + 1;
  relay->round += (md_round)steps - 1;
  MD_REQUIRE(late->rank < 0, MD_ECUDA, "positions of rank %d were not stored within %d s",
             (int)late->rank, MD_PATIENCE);
  if (atoms->n == 0) return take_turns(cm, round, steps - 1);
  *out = (md_mail){.steps = steps,
                   .n_ways = 1,
                   .round = round,
                   .ways = relay->way.data,
                   .first = ranks->gpu.before.data,
                   .image = ranks->gpu.image.data,
                   .n_own = ranks->n_own,
                   .come = relay->come.data,
                   .late = relay->late.data,
                   .carry = carry,
                   .carrier = cm};
  for (int k = 0; k < MD_SLOTS; k++)
    out->slot[k] = slot_of(relay, (md_round)k);
  return MD_OK;
}

void relay_destroy(comm *cm)
{
  ranks_relay *relay = &cm->ranks->relay;
  md_beside_destroy(relay->beside);
  md_buffer_free(cm->ctx, &relay->box);
  md_buffer_free(cm->ctx, &relay->way);
  md_buffer_free(cm->ctx, &relay->come);
  md_shared_free(cm->ctx, &relay->late);
}
