/* neighbor/cpu/neighbor_cpu.prec.c - bins of atoms, and frames unfolded, on the CPU.
 *
 * Compiled once per precision and instruction set. */
#include "neighbor/neighbor_impl.h"

#include <string.h>

/* Clamps; a NaN goes to the first bin.  No branches: where atoms lie is not foreseen. */
static int32_t bin_along(double steps, int32_t n)
{
  steps = steps > 0 ? steps : 0;
  return (int32_t)(steps < n - 1 ? steps : n - 1);
}

/* A bin of the whole box among those that this rank keeps. */
static int32_t bin_of_part(int32_t bin, int32_t first, int32_t n)
{
  const int32_t at = bin - first, low = at > 0 ? at : 0;
  return low < n - 1 ? low : n - 1;
}

md_status KERNEL(neighbor_cpu_keys)(neighbor_list *list, const md_atoms *atoms, int64_t count,
                                    const uint32_t *curve)
{
  (void)atoms;
  const neighbor_grid *grid = &list->grid;
  const state *x = list->x;
  uint32_t *key = list->key.data;
  double inv_side[3], margin[3];
  int32_t n[3], whole[3];
  for (int d = 0; d < 3; d++) {
    inv_side[d] = 1 / grid->side[d];
    margin[d] = curve ? 0 : grid->margin[d];
    n[d] = curve ? grid->n[d] - 2 * grid->margin[d] : grid->n[d];
    whole[d] = curve ? grid->whole[d] : grid->whole[d] + 2 * grid->margin[d];
  }
#pragma omp parallel for schedule(static) num_threads(list->ctx->threads)
  for (int64_t i = 0; i < count; i++) {
    int64_t bin = 0;
    for (int d = 0; d < 3; d++) {
      const double steps = ((double)x[4 * i + d] - grid->lo[d]) * inv_side[d] + margin[d];
      bin = bin * n[d] + bin_of_part(bin_along(steps, whole[d]), grid->first[d], n[d]);
    }
    key[i] = curve ? curve[bin] : (uint32_t)bin;
  }
  return MD_OK;
}

md_status KERNEL(neighbor_cpu_unfold)(const md_atoms *atoms, const md_frames_offset *offset,
                                      void *to)
{
  const state *x = atoms->x.data;
  const int32_t *image = atoms->image.data, *home = atoms->home.data, *shift = atoms->shift.data;
  const int64_t n = atoms->n;
  state *out = to;
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads)
  for (int64_t i = 0; i < n + atoms->n_ghost; i++) {
    int32_t of[3];
    if (i < n)
      memcpy(of, image + 3 * i, sizeof of);
    else
      md_ghost_frame(offset->frames, image, home[i - n], shift[i - n], of);
    for (int d = 0; d < 3; d++)
      out[4 * i + d] = (state)(x[4 * i + d] + md_frames_add(offset, d, of[d]));
    out[4 * i + 3] = x[4 * i + 3];
  }
  return MD_OK;
}
