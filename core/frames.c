/* core/frames.c - atoms of the box from and to the frames of a long one (core/atoms.h). */
#include "core/atoms_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

md_status md_atoms_cut(md_atoms *atoms, double longest)
{
  enum { MOST_FRAMES = 1 << 20 };
  MD_REQUIRE(atoms->n == 0, MD_EINVAL, "a box is divided into frames before it has atoms");
  MD_REQUIRE(longest > 0, MD_EINVAL, "the edge of a frame must be > 0, not %g", longest);
  for (int d = 0; d < 3; d++) {
    const double lo = atoms->box.lo[d], edge = atoms->box.hi[d] - lo;
    const double n = ceil(edge / longest);
    MD_REQUIRE(n < MOST_FRAMES, MD_ECAPACITY,
               "an edge of %g in frames of %g makes %.3g of them: at most %d are possible", edge,
               longest, n, MOST_FRAMES - 1);
    atoms->frames[d] = n > 1 ? (int32_t)n : 1;
    atoms->part_frames[1][d] = atoms->frames[d] - 1;
    atoms->frame.lo[d] = lo;
    atoms->frame.hi[d] = atoms->box.hi[d];
    if (atoms->frames[d] == 1) continue;
    const double middle = lo + edge / 2, half = edge / (2 * atoms->frames[d]);
    atoms->frame.lo[d] = middle - half;
    atoms->frame.hi[d] = middle + half;
  }
  return MD_OK;
}

bool md_atoms_is_cut(const md_atoms *atoms)
{
  return atoms->frames[0] > 1 || atoms->frames[1] > 1 || atoms->frames[2] > 1;
}

static double edge_of(const md_atoms *atoms, int d)
{
  return atoms->frame.hi[d] - atoms->frame.lo[d];
}

static double gap_along(const double gap[3], int d)
{
  return gap ? gap[d] : 0;
}

static md_frames_offset offset_in(const md_box *box, const int32_t frames[3], const double gap[3])
{
  md_frames_offset offset;
  for (int d = 0; d < 3; d++) {
    offset.frames[d] = frames[d];
    offset.first[d] = -0.5 * (frames[d] - 1);
    offset.step[d] = (box->hi[d] - box->lo[d]) / frames[d] + gap_along(gap, d);
  }
  return offset;
}

md_frames_offset md_atoms_offset(const md_atoms *atoms, const double gap[3])
{
  return offset_in(&atoms->box, atoms->frames, gap);
}

void md_frames_leave(const md_box *box, const int32_t frames[3], int64_t n, const double *x,
                     const int32_t *image, double *x_out, int32_t *image_out)
{
  const md_frames_offset offset = offset_in(box, frames, NULL);
  for (int64_t k = 0; k < 3 * n; k++) {
    const int d = (int)(k % 3);
    const int32_t raw = image[k], in = md_frames_of(raw, frames[d]);
    if (x) x_out[k] = x[k] + md_frames_add(&offset, d, raw);
    if (image_out) image_out[k] = (raw - in) / frames[d];
  }
}

md_box md_atoms_span(const md_atoms *atoms, const double gap[3])
{
  md_box span = atoms->frame;
  for (int d = 0; d < 3; d++) {
    const double beside = 0.5 * (atoms->frames[d] - 1) * (edge_of(atoms, d) + gap_along(gap, d));
    span.lo[d] -= beside;
    span.hi[d] += beside;
  }
  return span;
}

md_box md_atoms_part(const md_atoms *atoms, const double gap[3])
{
  md_box part = md_atoms_span(atoms, gap);
  for (int d = 0; d < 3; d++) {
    const double lo = atoms->part.lo[d], hi = atoms->part.hi[d];
    const double first = -0.5 * (atoms->frames[d] - 1);
    if (lo <= atoms->box.lo[d] && hi >= atoms->box.hi[d]) continue;
    part.lo[d] = lo + (atoms->part_frames[0][d] + first) * gap_along(gap, d);
    part.hi[d] = hi + (atoms->part_frames[1][d] + first) * gap_along(gap, d);
  }
  return part;
}

md_status md_atoms_set(md_atoms *atoms, int64_t n, const double *x, const double *v,
                       const int64_t *id, const int32_t *image)
{
  if (!md_atoms_is_cut(atoms) || n <= 0) return md_atoms_set_local(atoms, n, x, v, id, image);
  const md_frames_offset offset = md_atoms_offset(atoms, NULL);
  double *local = malloc((size_t)n * 3 * sizeof *local);
  int32_t *frame = malloc((size_t)n * 3 * sizeof *frame);
  md_status status =
      local && frame ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms", (long long)n);
  for (int64_t k = 0; k < 3 * n && !status; k++) {
    const int d = (int)(k % 3);
    const double at = (x[k] - atoms->box.lo[d]) / edge_of(atoms, d);
    const double in = floor(fmin(fmax(at, 0), atoms->frames[d] - 1)); /* 0 where x is no number */
    local[k] = x[k] - (in + offset.first[d]) * offset.step[d];
    frame[k] = (int32_t)in + atoms->frames[d] * (image ? image[k] : 0);
  }
  if (!status) status = md_atoms_set_local(atoms, n, local, v, id, frame);
  free(local);
  free(frame);
  return status;
}

/* Positions and images of the box. */
static md_status get(const md_atoms *atoms, double *x, int32_t *image)
{
  if (!md_atoms_is_cut(atoms)) return md_atoms_get_local(atoms, x, image);
  int32_t *raw = malloc((size_t)atoms->n * 3 * sizeof *raw);
  MD_REQUIRE(raw, MD_ENOMEM, "out of memory for %lld atoms", (long long)atoms->n);
  const md_status status = md_atoms_get_local(atoms, x, raw);
  if (!status) md_frames_leave(&atoms->box, atoms->frames, atoms->n, x, raw, x, image);
  free(raw);
  return status;
}

md_status md_atoms_get(const md_atoms *atoms, double *x, double *v, double *f, int64_t *id,
                       int32_t *image)
{
  md_ctx *ctx = atoms->ctx;
  const size_t state = md_state_size(ctx->precision), real = md_real_size(ctx->precision);
  if (atoms->n == 0) return MD_OK;
  if (v) MD_TRY(atoms_get_fours(atoms, v, atoms->v.data, state));
  if (f) MD_TRY(atoms_get_fours(atoms, f, atoms->f.data, real));
  if (id) MD_TRY(md_read(ctx, id, atoms->id.data, (size_t)atoms->n * 8));
  return get(atoms, x, image);
}
