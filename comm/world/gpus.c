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
