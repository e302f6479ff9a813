/* comm/world/gpus.c - see comm/gpus.h. */
#include "comm/gpus.h"
#include "core/hardware/devices.h"

#include <stdlib.h>
#include <string.h>

md_status gpus_choose(int index)
{
  const int devices = md_devices();
  if (index >= 0) return md_gpu_choose(index);
  if (world_count() == 1 || devices == 0) return MD_OK;
  return md_gpu_choose(world_local() % devices);
}

md_status gpus_sharers(int *sharers)
{
  md_device mine, *all = malloc((size_t)world_count() * sizeof *all);
  md_status status =
      all ? md_device_of(&mine) : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", world_count());
  status = world_agree(status);
  if (!status && all) {
    world_gather(&mine, sizeof mine, all);
    *sharers = 0;
    for (int r = 0; r < world_count(); r++)
      *sharers += memcmp(all[r].uuid, mine.uuid, sizeof mine.uuid) == 0;
  }
  free(all);
  return status;
}

md_way gpus_mail_way(const gpus_mail *mail, int r, int64_t at, int64_t first, int64_t count)
{
  char *theirs = mail->theirs[r];
  md_way way = {.at = at,
                .flag = (md_round *)theirs + world_rank(),
                .wait = (const md_round *)mail->own + r,
                .first = first,
                .count = count,
                .rank = r};
  for (int k = 0; k < MD_SLOTS; k++)
    way.slot[k] = theirs + gpus_mail_flags() + (size_t)k * mail->rooms[r];
  return way;
}

md_status gpus_mail_begin(gpus_mail *mail, int rounds)
{
  const volatile md_late *late = mail->late.data;
  mail->round += (md_round)rounds;
  MD_REQUIRE(late->rank < 0, MD_ECUDA, "what rank %d sends did not come within %d s",
             (int)late->rank, MD_PATIENCE);
  return MD_OK;
}
