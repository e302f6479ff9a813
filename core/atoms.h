/* core/atoms.h - the atoms one process holds: owned atoms first, then ghosts.
 *
 * Arrays lie on the context's backend, in the context's precision (core/real.h), as structures of
 * four so that one aligned load fetches an atom:
 *
 *   x      state4 [n + n_ghost]   position in its frame [sigma], charge [sqrt(epsilon sigma)]
 *   v      state4 [n]             velocity [sqrt(epsilon/mass)], type (0 .. n_types - 1)
 *   f      real4  [n]             force [epsilon/sigma], w = 0; on the CPU [n + n_ghost]: of half
 *                                 lists what pairs with a ghost bring, before its home gets it
 *   coord  coord4 [n + n_ghost]   what pair kernels read: x itself in single and double (the same
 *                                 memory), x in fixed-point steps of coord_scale in mixed
 *   x_at_build state4 [n_built]   x when ghosts were made last (comm_borders)
 *   id     int64  [n]             1-based, given at creation, moves with the atom
 *   image  int32  [n][3]          how often the atom crossed each periodic face; with several
 *                                 frames its frame plus frames[d] times that number
 *   home   int32  [n_ghost]       the owned atom a ghost is an image of; < 0: another rank's, and
 *                                 says the ghost's frame (md_frame_home); in one frame -1
 *   shift  int32  [n_ghost]       by how many frame edges, md_shift_pack()
 *   first  int32  [n + 1]         on the GPU: the ghosts of atom i are first[i] .. first[i + 1]
 *   ghost_id int64 [n_ghost]      on the CPU, with several ranks or in a deterministic context: the
 *                                 id of the atom that a ghost is an image of
 *
 * The box is orthorhombic and periodic in all directions.
 *
 * Frames.  In a long box a float does not resolve a position: at 5000 sigma its steps are 5e-4
 * sigma. md_atoms_cut divides the box into equal frames, and x is relative to the atom's frame, as
 * if that frame lay in the middle of the box: the resolution depends on the length of a frame, not
 * of the box. Neighbouring frames see each other's atoms as ghosts, in the same way as periodic
 * images: a ghost shifted by s frame edges belongs to the frame s below that of its home, and its x
 * is relative to that frame.  Pair kernels need not know: both atoms of a listed pair are in one
 * frame.  The periodic image of an undivided box is the case of one frame. */
#ifndef ATOMS_H
#define ATOMS_H

#include "core/buffer.h"

MD_BEGIN_C

typedef struct {
  double lo[3], hi[3]; /* hi > lo [sigma] */
} md_box;

struct md_atoms {
  md_ctx *ctx;
  md_box box;        /* the whole periodic box */
  md_box frame;      /* the range of x: a frame in the middle of the box; one frame: the box */
  md_box part;       /* where owned atoms are after comm_migrate; with one rank: the box */
  int32_t frames[3]; /* along each axis */
  int32_t n_types;   /* 1: all atoms are alike, and types 0 */
  int64_t n, n_ghost;
  int64_t n_total;    /* over all processes */
  int64_t n_built;    /* n, or 0 where no ghosts were made of these atoms */
  double coord_scale; /* length of one fixed-point step; 1 where coord is a float type */
  double r_ghost;     /* ghosts reach this far beyond owned, 0 before the first */
  md_buffer x, v, f, fixed, x_at_build, id, image, home, shift, first, ghost_id;
  int32_t part_frames[2][3]; /* the first and the last frame that part reaches into */
};

/* Make an empty set of atoms in this box.  *out is NULL on failure; free with md_atoms_destroy. */
md_status md_atoms_create(md_ctx *ctx, const md_box *box, md_atoms **out);
void md_atoms_destroy(md_atoms *atoms); /* NULL is allowed */

/* Divide the box of an empty set into as few equal frames as have no edge above `longest`. Errors:
 * MD_EINVAL (there are atoms; longest is not > 0), MD_ECAPACITY (2^20 frames or more along an
 * axis). */
md_status md_atoms_cut(md_atoms *atoms, double longest);
bool md_atoms_is_cut(const md_atoms *atoms);

/* Room for n owned atoms and n_ghost ghosts; the first atoms->n + atoms->n_ghost are kept.
 * Errors: MD_ECAPACITY (more than 2^31 - 1 in one process), MD_ENOMEM. */
md_status md_atoms_reserve(md_atoms *atoms, int64_t n, int64_t n_ghost);

/* Replace all owned atoms by these, in this order; drops the ghosts.  Host arrays: x, v [n][3], id
 * [n], image [n][3]; v, id and image may be NULL (zero, 1..n, zero).  Charges and types become
 * zero. */
md_status md_atoms_set(md_atoms *atoms, int64_t n, const double *x, const double *v,
                       const int64_t *id, const int32_t *image);

/* Read the owned atoms back in their present order; any pointer may be NULL.  f [n][3].  Positions
 * and images are those of the box, whatever its frames. */
md_status md_atoms_get(const md_atoms *atoms, double *x, double *v, double *f, int64_t *id,
                       int32_t *image);

/* The same for positions and images within frames, which md_atoms_set_local takes back to the
 * bit. */
md_status md_atoms_set_local(md_atoms *atoms, int64_t n, const double *x, const double *v,
                             const int64_t *id, const int32_t *image);
md_status md_atoms_get_local(const md_atoms *atoms, double *x, int32_t *image);

/* One space in which frames follow each other around the middle of the box, gap[d] apart along each
 * axis; gap NULL: 0, which is the box.  md_frames_add is what a position in a frame gets there, of
 * an atom with this image along axis d, or of a ghost in this frame (md_ghost_frame); md_atoms_span
 * the range of owned atoms of all ranks, md_atoms_part of this one. */
typedef struct {
  int32_t frames[3];
  double first[3], step[3];
} md_frames_offset;
md_frames_offset md_atoms_offset(const md_atoms *atoms, const double gap[3]);
md_box md_atoms_span(const md_atoms *atoms, const double gap[3]);
md_box md_atoms_part(const md_atoms *atoms, const double gap[3]);

/* Positions and images of n atoms in the frames of a box as positions and images in the box: [n][3]
 * each, x_out may be x; x and image_out may be NULL. */
void md_frames_leave(const md_box *box, const int32_t frames[3], int64_t n, const double *x,
                     const int32_t *image, double *x_out, int32_t *image_out);

/* The frame, of n, that image i stands for. */
MD_INLINE int32_t md_frames_of(int32_t i, int32_t n)
{
  const int32_t rest = i % n;
  return rest < 0 ? rest + n : rest;
}
MD_INLINE double md_frames_add(const md_frames_offset *offset, int d, int32_t image)
{
  return (md_frames_of(image, offset->frames[d]) + offset->first[d]) * offset->step[d];
}

/* Charges of the owned atoms in their present order, host [n].  Ghosts do not follow. */
md_status md_atoms_set_charges(md_atoms *atoms, const double *q);
md_status md_atoms_get_charges(const md_atoms *atoms, double *q);

/* Types of the owned atoms in their present order, host [n], 0 .. MD_TYPES - 1.  They move with the
 * atoms; ghosts are of the type of their home. */
enum { MD_TYPES = 64 };
md_status md_atoms_set_types(md_atoms *atoms, const uint8_t *type);
md_status md_atoms_get_types(const md_atoms *atoms, uint8_t *type);

/* An array state4 [n] of the backend as host doubles [n][3]. */
md_status md_atoms_read(const md_atoms *atoms, const void *state4, double *to);
/* Put the owned atoms at x [n][3] (host) in the frames they are in, each keeping everything else;
 * coordinates and ghosts do not follow. */
md_status md_atoms_place(md_atoms *atoms, const double *x);

/* Bytes of one state, real and coord in this precision. */
size_t md_state_size(md_precision precision);
size_t md_real_size(md_precision precision);
size_t md_coord_size(md_precision precision);

/* The array pair kernels read: coord4 [n + n_ghost]. */
static inline void *md_atoms_coord(const md_atoms *atoms)
{
  return atoms->ctx->precision == MD_MIXED ? atoms->fixed.data : atoms->x.data;
}

/* A shift of (sx, sy, sz) box edges, each in -MD_SHIFT_MAX..MD_SHIFT_MAX, in one integer that is >
 * 0 exactly when sz > 0, or sz = 0 and sy > 0, or sz = sy = 0 and sx > 0; and 0 for no shift.  Of a
 * pair's two images one has a positive and one a negative shift: half lists keep the positive. */
enum { MD_SHIFT_MAX = 511 };
MD_INLINE int32_t md_shift_pack(int sx, int sy, int sz)
{
  return (sz * 1024 + sy) * 1024 + sx;
}
MD_INLINE void md_shift_unpack(int32_t shift, int *s)
{
  s[0] = (shift + 512 + (512 << 20) + (512 << 10)) % 1024 - 512;
  const int32_t rest = (shift - s[0]) / 1024;
  s[1] = (rest + 512 + (512 << 10)) % 1024 - 512;
  s[2] = (rest - s[1]) / 1024;
}

/* The home of a ghost that another rank makes of an atom with this image: -1 less the number of the
 * ghost's frame, of which several ranks have fewer than 2^31 in all (comm/partition.h). */
MD_INLINE int32_t md_frame_home(const int32_t frames[3], const int32_t image[3], int32_t shift)
{
  int s[3];
  int32_t number = 0;
  md_shift_unpack(shift, s);
  for (int d = 0; d < 3; d++)
    if (frames[d] > 1) number = number * frames[d] + md_frames_of(image[d] - s[d], frames[d]);
  return -1 - number;
}

/* An image that stands for the frame of a ghost, whoever owns its home; image: of all owned atoms.
 */
MD_INLINE void md_ghost_frame(const int32_t frames[3], const int32_t *image, int32_t home,
                              int32_t shift, int32_t frame[3])
{
  int s[3];
  int32_t number = -1 - home;
  md_shift_unpack(shift, s);
  for (int d = 2; d >= 0 && home < 0; d--) {
    frame[d] = number % frames[d];
    number /= frames[d];
  }
  for (int d = 0; d < 3 && home >= 0; d++)
    frame[d] = image[3 * (int64_t)home + d] - s[d];
}

MD_END_C
#endif
