/* neighbor/neighbor_positions.c - where bins and distances find atoms: one space of all frames. */
#include "neighbor/neighbor_impl.h"

#include <math.h>
#include <string.h>

static neighbor_unfold_fn *const cpu_unfold[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(neighbor_cpu_unfold);
static neighbor_unfold_fn *const gpu_unfold[MD_PRECISION_COUNT] = PREC_TABLE(neighbor_gpu_unfold);

/* Largest coordinate, whose rounding counts. */
static double farthest(const md_box *span)
{
  double far = 0;
  for (int d = 0; d < 3; d++)
    far = fmax(far, fmax(fabs(span->lo[d]), fabs(span->hi[d])));
  return far;
}

double neighbor_reach(const neighbor_list *list)
{
  return list->r_near + 1e-6 * (2 * list->spec.r_list + farthest(&list->span));
}

md_status neighbor_unfold(const md_atoms *atoms, const double gap[3], md_buffer *to)
{
  md_ctx *ctx = atoms->ctx;
  const md_frames_offset offset = md_atoms_offset(atoms, gap);
  const size_t all = (size_t)(atoms->n + atoms->n_ghost);
  MD_TRY(md_buffer_reserve(ctx, to, all * 4 * md_state_size(ctx->precision), 0));
  return all ? SIMD_PICK(ctx, cpu_unfold, gpu_unfold)(atoms, &offset, to->data) : MD_OK;
}

/* Whether this rank's part lies in one frame, where positions are in one space as they are. */
static bool is_in_one_frame(const md_atoms *atoms)
{
  return memcmp(atoms->part_frames[0], atoms->part_frames[1], sizeof atoms->part_frames[0]) == 0;
}

/* Positions as they are: the space has this rank's frame in its middle. */
static void move_space(neighbor_list *list, const md_atoms *atoms, const double gap[3])
{
  const md_frames_offset offset = md_atoms_offset(atoms, gap);
  for (int d = 0; d < 3; d++) {
    const double by = md_frames_add(&offset, d, atoms->part_frames[0][d]);
    list->span.lo[d] -= by, list->span.hi[d] -= by;
    list->part.lo[d] -= by, list->part.hi[d] -= by;
  }
}

md_status neighbor_set_positions(neighbor_list *list, const md_atoms *atoms, const double gap[3])
{
  list->span = md_atoms_span(atoms, gap);
  list->part = md_atoms_part(atoms, gap);
  list->r_near = list->spec.r_list;
  list->x = atoms->x.data;
  list->unfolds =
      md_atoms_is_cut(atoms) && (list->spec.kind != NEIGHBOR_TILE || !is_in_one_frame(atoms));
  if (!list->unfolds) {
    move_space(list, atoms, gap);
    return MD_OK;
  }
  const double unit = list->ctx->precision == MD_SINGLE ? 0x1p-24 : 0x1p-53;
  list->r_near += 8 * unit * (farthest(&list->span) + fmax(fmax(gap[0], gap[1]), gap[2]));
  MD_TRY(neighbor_unfold(atoms, gap, &list->unfolded));
  list->x = list->unfolded.data;
  return MD_OK;
}

const void *neighbor_list_positions(const neighbor_list *list, const md_atoms *atoms)
{
  return list->unfolds ? list->unfolded.data : atoms->x.data;
}
