/* minimd/engine_choose.c - what the settings leave to the program: backend and list. */
#include "minimd/engine.h"
#include "minimd/system.h"

#include <stdio.h>

/* Whether lists by tiles are sure to fit the GPU.  Of atoms from a file nothing is known yet; files
 * are not that large. */
static bool tiles_fit(const config_values *values)
{
  md_gpu_info info;
  if (values->read || md_gpu_describe(&info)) return true;
  const md_ctx ctx = {.backend = MD_GPU, .precision = values->precision};
  int64_t n;
  md_box box;
  double volume = 1;
  system_lattice(values, &n, &box);
  for (int d = 0; d < 3; d++)
    volume *= box.hi[d] - box.lo[d];
  return engine_memory(&ctx, values, NEIGHBOR_TILE, n, volume) <= info.memory_total;
}

/* Whether each build of lists sorts: by default, or in steps that come to the same. */
static bool sorts_each_build(const config_values *values)
{
  return values->sort_every < 0 || values->sort_every == 1 ||
         (values->every > 0 && values->sort_every == values->every);
}

/* Tiles need rows that are near each other, and move atoms along with the forces unless charges
 * have a part in them. */
static void choose_list(const config_values *values, engine_choice *out)
{
  out->list = NEIGHBOR_FULL;
  if (out->backend == MD_CPU)
    out->list_reason = "full lists need no atomics and measured fastest";
  else if (values->coulomb != CONFIG_COULOMB_NONE)
    out->list_reason = "fastest with charges, whose forces come apart";
  else if (!neighbor_is_compact(&values->curve))
    out->list_reason = "lists by tiles are faster only along a compact curve, such as hilbert";
  else if (!sorts_each_build(values))
    out->list_reason = "lists by tiles are faster only where each build sorts, not by this "
                       "order.sort_every (--sort-every)";
  else if (!tiles_fit(values))
    out->list_reason = "lists by tiles, which are faster, may not fit the GPU's memory";
  else
    out->list = NEIGHBOR_TILE, out->list_reason = "lists by tiles measured fastest on the GPU";
}

md_status engine_choose(const config_values *values, engine_choice *out)
{
  if (values->index >= 0 && values->backend != CONFIG_BACKEND_CPU)
    MD_TRY(md_gpu_choose(values->index));
  if (values->backend == CONFIG_BACKEND_AUTO) {
    const bool gpu = md_gpu_available();
    out->backend = gpu ? MD_GPU : MD_CPU;
    snprintf(out->backend_reason, sizeof out->backend_reason, "%s",
             gpu ? "a CUDA device was found" : md_message());
  } else {
    out->backend = values->backend == CONFIG_BACKEND_GPU ? MD_GPU : MD_CPU;
    snprintf(out->backend_reason, sizeof out->backend_reason, "as asked");
  }
  if (values->list == NEIGHBOR_TILE && out->backend == MD_CPU) {
    out->list = NEIGHBOR_FULL;
    out->list_reason = "on the CPU full lists are built by tiles and read by vectors of rows";
  } else if (values->list < 0) {
    choose_list(values, out);
  } else {
    out->list = (neighbor_kind)values->list;
    out->list_reason = "as asked";
  }
  return MD_OK;
}
