/* comm/borders_gpu.h - which images of an atom lie in the shell of ghosts, and ghosts of them. */
#ifndef BORDERS_GPU_H
#define BORDERS_GPU_H

#include "comm/images_gpu.h"

/* What reaches into the shell of ghosts: images by at most `most` edges along an axis. */
typedef struct {
  axes box;
  double lo[3], hi[3]; /* the frame and r_ghost around it */
  int most[3];
} shell;

/* First and last shift that keep one coordinate within the shell. */
static __device__ __forceinline__ int2 reach_of(const shell *s, int d, state x)
{
  int2 reach = {0, 0};
  while (reach.x > -s->most[d] && image_at(x, reach.x - 1, s->box.d[d].edge) >= s->lo[d])
    reach.x--;
  while (reach.y < s->most[d] && image_at(x, reach.y + 1, s->box.d[d].edge) < s->hi[d])
    reach.y++;
  return reach;
}

static __device__ __forceinline__ int images_of(const shell *s, state4 x)
{
  const int2 a = reach_of(s, 0, x.x), b = reach_of(s, 1, x.y), c = reach_of(s, 2, x.z);
  return (a.y - a.x + 1) * (b.y - b.x + 1) * (c.y - c.x + 1) - 1;
}

static shell shell_of(const md_atoms *atoms, double r_ghost, const int images[3])
{
  shell s;
  s.box = axes_of(&atoms->frame);
  for (int d = 0; d < 3; d++) {
    s.lo[d] = atoms->frame.lo[d] - r_ghost;
    s.hi[d] = atoms->frame.hi[d] + r_ghost;
    s.most[d] = images[d];
  }
  return s;
}

/* What borders write. */
typedef struct {
  int32_t *first;
  state4 *x, *built;
  coord4 *fixed;
  int32_t *home, *shift;
  double inv_scale; /* of fixed */
} borders;

/* Ghosts of atom i, one after the other from g on; also the fixed-point coordinates of the atom
 * itself, and its position as the one that lists are built from. */
static __device__ __forceinline__ void put_ghosts(const shell *s, const borders *to, int64_t n,
                                                  int64_t i, int64_t g)
{
  const state4 xi = to->x[i];
  const int2 a = reach_of(s, 0, xi.x), b = reach_of(s, 1, xi.y), c = reach_of(s, 2, xi.z);
  to->built[i] = xi;
  if (to->fixed) to->fixed[i] = verlet_coord(xi, to->inv_scale);
  int k[3];
  for (k[0] = a.x; k[0] <= a.y; k[0]++) /* in the CPU's order */
    for (k[1] = b.x; k[1] <= b.y; k[1]++)
      for (k[2] = c.x; k[2] <= c.y; k[2]++) {
        if (k[0] == 0 && k[1] == 0 && k[2] == 0) continue;
        const state4 xg = shifted(&s->box, xi, k);
        to->home[g] = (int32_t)i;
        to->shift[g] = md_shift_pack(k[0], k[1], k[2]);
        to->x[n + g] = xg;
        if (to->fixed) to->fixed[n + g] = verlet_coord(xg, to->inv_scale);
        g++;
      }
}

#endif
