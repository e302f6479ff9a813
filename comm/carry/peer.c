/* comm/carry/peer.c - see peer.h: who is a neighbour, and where in its mailbox. */
#include "comm/carry/peer.h"
#include "comm/ranks_impl.h"
#include "core/hardware/devices.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mail_open_fn *const open_mail = MD_GPU(mail_gpu_open);
static mail_close_fn *const close_mail = MD_GPU(mail_gpu_close);

md_status peer_meet(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  const size_t count = (size_t)world_count();
  peer_name mine = {{0}, 0, 0, {0}};
  md_device device = {0};
  peer->name = calloc(count, sizeof *peer->name);
  peer->at = calloc(count, sizeof *peer->at);
  peer->way = calloc(count, sizeof *peer->way);
  peer->placed = calloc(count, sizeof *peer->placed);
  peer->box = calloc(count, sizeof *peer->box);
  md_status status = peer->name && peer->at && peer->way && peer->placed && peer->box
                         ? md_device_of(&device)
                         : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", world_count());
  MD_TRY(world_agree(status));
  gethostname(mine.host, sizeof mine.host - 1);
  mine.device = device.index;
  memcpy(mine.uuid, device.uuid, sizeof mine.uuid);
  world_gather(&mine, sizeof mine, peer->name);
  return MD_OK;
}

bool peer_hear(comm *cm, const int64_t *told, size_t item, peer_fit *fit)
{
  comm_ranks *ranks = cm->ranks;
  ranks_peer *peer = &ranks->peer;
  const int count = world_count(), width = TOLD_TO + count;
  bool failed = false;
  memcpy(ranks->to, told + (int64_t)world_rank() * width + TOLD_TO,
         (size_t)count * sizeof *ranks->to);
  *fit = (peer_fit){true, true};
  for (int r = 0; r < count; r++) {
    const int64_t *row = told + (int64_t)r * width;
    int64_t in = 0;
    failed = failed || row[TOLD_STATUS] != MD_OK;
    memcpy(&ranks->word[r], &row[TOLD_WORD], sizeof *ranks->word);
    ranks->from[r] = row[TOLD_TO + world_rank()];
    for (int q = 0; q < count; q++) {
      if (q == world_rank()) peer->at[r] = in;
      in += told[(int64_t)q * width + TOLD_TO + r];
    }
    fit->mail = fit->mail && (size_t)in * item <= peer->mail.rooms[r];
    fit->memory = fit->memory && in <= row[TOLD_ROOM];
  }
  return !failed;
}

md_status peer_tell(comm *cm, md_status status, double word, int64_t room, size_t item,
                    peer_fit *fit)
{
  comm_ranks *ranks = cm->ranks;
  const int count = world_count(), width = TOLD_TO + count;
  int64_t *mine = ranks->all_told, *all = mine + width;
  mine[TOLD_STATUS] = status, mine[TOLD_ROOM] = room;
  memcpy(&mine[TOLD_WORD], &word, sizeof word);
  memcpy(&mine[TOLD_TO], ranks->to, (size_t)count * sizeof *mine);
  world_gather(mine, (size_t)width * sizeof *mine, all);
  return peer_hear(cm, all, item, fit) ? MD_OK : world_agree(status);
}

md_status peer_map(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  const gpus_mail *mail = &peer->mail;
  const size_t bytes = (size_t)world_count() * sizeof *peer->box;
  bool same = peer->boxes.data != NULL;
  for (int r = 0; r < world_count(); r++) {
    const peer_box now = {r == world_rank() ? mail->own : mail->theirs[r], mail->rooms[r],
                          gpus_mail_flags(), gpus_mail_told()};
    same = same && memcmp(&now, &peer->box[r], sizeof now) == 0;
    peer->box[r] = now;
  }
  if (same) return MD_OK;
  MD_TRY(md_buffer_reserve(cm->ctx, &peer->boxes, bytes, 0));
  return md_write(cm->ctx, peer->boxes.data, peer->box, bytes);
}

md_status peer_grow(comm *cm, size_t item)
{
  gpus_mail *mail = &cm->ranks->peer.mail;
  const size_t bytes = (size_t)cm->ranks->n_in * item, room = mail->room;
  bool failed;
  md_status status = open_mail(cm->ctx, mail, bytes > room ? bytes + bytes / 2 : room, &failed);
  if (!status && failed)
    status = MD_FAIL(MD_ECUDA, "memory of a neighbouring GPU: %s", md_message());
  return world_agree(status);
}

/* Ways to the device where they are not there yet: a copy takes as long as a small kernel. */
static md_status place_ways(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  const size_t ways = (size_t)peer->n_ways;
  bool same = peer->n_ways == peer->n_placed;
  for (size_t w = 0; w < ways; w++) {
    md_way now = peer->way[w];
    now.at = peer->placed[w].at;
    now.first = peer->placed[w].first, now.count = peer->placed[w].count;
    same = same && memcmp(&now, &peer->placed[w], sizeof now) == 0;
  }
  if (same) return MD_OK;
  memcpy(peer->placed, peer->way, ways * sizeof *peer->way);
  peer->n_placed = peer->n_ways;
  return md_write(cm->ctx, peer->ways.data, peer->placed, ways * sizeof *peer->placed);
}

md_status peer_settle(comm *cm)
{
  comm_ranks *ranks = cm->ranks;
  ranks_peer *peer = &ranks->peer;
  peer->n_ways = 0;
  peer->most = 0;
  for (int r = 0; r < world_count(); r++) {
    if (ranks->to[r] == 0 && ranks->from[r] == 0) continue;
    peer->way[peer->n_ways++] =
        gpus_mail_way(&peer->mail, r, peer->at[r], ranks->to_first[r], ranks->to[r]);
    if (ranks->to[r] > peer->most) peer->most = ranks->to[r];
  }
  const size_t room = (size_t)peer->n_ways + 1;
  if (room * sizeof *peer->way > peer->ways.bytes) peer->n_placed = 0;
  MD_TRY(md_buffer_reserve(cm->ctx, &peer->ways, room * sizeof *peer->way, 0));
  if (room * sizeof(uint32_t) > peer->come.bytes) {
    MD_TRY(md_buffer_reserve(cm->ctx, &peer->come, room * sizeof(uint32_t), 0));
    MD_TRY(md_fill(cm->ctx, peer->come.data, 0, peer->come.bytes));
  }
  return place_ways(cm);
}

md_status peer_begin(comm *cm, int32_t rounds)
{
  ranks_peer *peer = &cm->ranks->peer;
  const md_late *late = peer->mail.late.data;
  const md_status status = gpus_mail_begin(&peer->mail, rounds);
  if (!status) return MD_OK;
  const peer_name *name = &peer->name[late->rank];
  return MD_FAIL(MD_ECUDA, "positions of rank %d (host %s, GPU %d) did not come within %d s",
                 (int)late->rank, name->host, name->device, MD_PATIENCE);
}

const void *peer_mail(const comm *cm)
{
  const gpus_mail *mail = &cm->ranks->peer.mail;
  return gpus_mail_slot(mail, mail->round);
}

void peer_destroy(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  if (close_mail) close_mail(cm->ctx, &peer->mail);
  md_buffer_free(cm->ctx, &peer->boxes);
  md_buffer_free(cm->ctx, &peer->ways);
  md_buffer_free(cm->ctx, &peer->come);
  free(peer->name);
  free(peer->at);
  free(peer->way);
  free(peer->placed);
  free(peer->box);
}
