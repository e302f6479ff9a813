/* comm/borders_gpu.h - which images of an atom lie in the shell of ghosts, and ghosts of them. */
#ifndef BORDERS_GPU_H
#define BORDERS_GPU_H

#include "comm/images_gpu.h"

/* What reaches into the shell of ghosts: images by at most `most` edges along an axis. */
typedef struct {
  axes box;
  double lo[3], hi[3];            /* the frame and r_ghost around it */
  state inner_lo[3], inner_hi[3]; /* an atom between these has no image there */
  int most[3];
} shell;

static __device__ __forceinline__ bool is_inner(const shell *s, state4 x)
{
  return x.x >= s->inner_lo[0] && x.x < s->inner_hi[0] && x.y >= s->inner_lo[1] &&
         x.y < s->inner_hi[1] && x.z >= s->inner_lo[2] && x.z < s->inner_hi[2];
}

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
  if (is_inner(s, x)) return 0;
  const int2 a = reach_of(s, 0, x.x), b = reach_of(s, 1, x.y), c = reach_of(s, 2, x.z);
  return (a.y - a.x + 1) * (b.y - b.x + 1) * (c.y - c.x + 1) - 1;
}

static shell shell_of(const md_atoms *atoms, double r_ghost, const int images[3])
{
  shell s;
  s.box = axes_of(&atoms->frame);
  for (int d = 0; d < 3; d++) {
    const double lo = atoms->frame.lo[d], hi = atoms->frame.hi[d];
    const double reach = r_ghost * 1.001 + 0x1p-20 * fmax(fabs(lo), fabs(hi)); /* and roundings */
    s.lo[d] = lo - r_ghost, s.hi[d] = hi + r_ghost;
    s.inner_lo[d] = (state)(lo + reach), s.inner_hi[d] = (state)(hi - reach);
    s.most[d] = images[d];
  }
  return s;
}

/* What borders write. */
typedef struct {
  int32_t *first;
  state4 *ghost, *built; /* positions */
  coord4 *fixed;
  int32_t *home, *shift;
  double inv_scale; /* of fixed */
} borders;

/* What lists are built from of atom i itself. */
static __device__ __forceinline__ void put_atom(const borders *to, int64_t i, state4 xi)
{
  to->built[i] = xi;
  if (to->fixed) to->fixed[i] = verlet_coord(xi, to->inv_scale);
}

/* Ghosts of atom i of n, which is at xi, one after the other from g on. */
static __device__ __forceinline__ void put_ghosts(const shell *s, const borders *to, int64_t n,
                                                  int64_t i, state4 xi, int64_t g)
{
  const int2 a = reach_of(s, 0, xi.x), b = reach_of(s, 1, xi.y), c = reach_of(s, 2, xi.z);
  int k[3];
  for (k[0] = a.x; k[0] <= a.y; k[0]++) /* in the CPU's order */
    for (k[1] = b.x; k[1] <= b.y; k[1]++)
      for (k[2] = c.x; k[2] <= c.y; k[2]++) {
        if (k[0] == 0 && k[1] == 0 && k[2] == 0) continue;
        const state4 xg = shifted(&s->box, xi, k);
        to->home[g] = (int32_t)i;
        to->shift[g] = md_shift_pack(k[0], k[1], k[2]);
        to->ghost[g] = xg;
        if (to->fixed) to->fixed[n + g] = verlet_coord(xg, to->inv_scale);
        g++;
      }
}

#endif
