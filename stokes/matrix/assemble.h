/* stokes/matrix/assemble.h - the terms of one pair in the scaled resistance matrix, for host and
 * device.
 *
 *     R'_ij = -T',   R'_ii += sqrt(a_j / a_i) T',   T' = slide I + squeeze e e^T
 *     slide = Y / (c sqrt(a_i a_j)),   squeeze = (X - Y) / (c sqrt(a_i a_j))
 *
 * The viscosity drops out.  All is bitwise the same for (i, j) and (j, i) but for the sign of e.
 *
 * Places are subtracted in double precision, and so are the radii from the distance: what is left
 * is the gap, which may be small.  All else is lubrication_real, single where a GPU makes blocks of
 * floats: X and Y are then off by up to 1.5e-6 of the terms of F, e by 2^-22, rounding included. */
#ifndef STOKES_ASSEMBLE_H
#define STOKES_ASSEMBLE_H

#include "stokes/matrix/matrix_impl.h"
#include "stokes/pairs/search.h"

typedef struct {
  lubrication_real e[3], squeeze, slide;
} assemble_terms;

/* How two spheres lie: the vector from one to the other, its square, and their radii. */
typedef struct {
  double e[3], square, a_i, a_j;
} assemble_place;

MD_INLINE assemble_place assemble_between(const double *box, const double *a, const double *b)
{
  assemble_place p = {{0, 0, 0}, 0, a[3], b[3]};
  for (int d = 0; d < 3; d++)
    p.e[d] = search_difference(b[d], a[d], box[d]);
  p.square = p.e[0] * p.e[0] + p.e[1] * p.e[1] + p.e[2] * p.e[2];
  return p;
}

/* Does the pair resist? */
MD_INLINE bool assemble_near(const assemble_place *p, double gap_cut)
{
  const double reach = (1 + gap_cut / 2) * (p->a_i + p->a_j);
  return p->square < reach * reach;
}

/* The gap of a pair r apart.  Where r is a float, from the difference of squares. */
MD_INLINE lubrication_real assemble_gap(const assemble_place *p, lubrication_real r)
{
  const double sum = p->a_i + p->a_j;
#if defined MD_PREC && MD_PREC == 0
  const float radii = (float)p->a_i + (float)p->a_j, beyond = (float)(p->square - sum * sum);
  return 2 * beyond * inverse_of(radii * (r + radii));
#else
  return lubrication_gap(r, sum);
#endif
}

MD_INLINE assemble_terms assemble_pair(const assemble_place *p, const lubrication_range *range,
                                       double inv_far)
{
  assemble_terms t;
  lubrication_real r, root;
  const lubrication_real a_i = (lubrication_real)p->a_i, a_j = (lubrication_real)p->a_j;
  const lubrication_real inv_r = inverse_root_of((lubrication_real)p->square, &r);
  for (int d = 0; d < 3; d++)
    t.e[d] = (lubrication_real)p->e[d] * inv_r;
  const lubrication_pair pair = lubrication_resistance(a_i, a_j, assemble_gap(p, r), range);
  const lubrication_real scale = (lubrication_real)inv_far * inverse_root_of(a_i * a_j, &root);
  t.slide = scale * pair.y;
  t.squeeze = scale * (pair.x - pair.y);
  return t;
}

/* As `pair` storage keeps them. */
MD_INLINE stokes_pair_entry assemble_round(const assemble_terms *t, int32_t column)
{
  return (stokes_pair_entry){
      {(float)t->e[0], (float)t->e[1], (float)t->e[2]}, (float)t->squeeze, (float)t->slide, column};
}

MD_INLINE assemble_terms assemble_widen(const stokes_pair_entry *entry)
{
  return (assemble_terms){{entry->e[0], entry->e[1], entry->e[2]}, entry->squeeze, entry->slide};
}

/* Element (row, col) of the block of a pair. */
MD_INLINE lubrication_real assemble_element(const assemble_terms *t, int row, int col)
{
  return -(t->squeeze * (t->e[row] * t->e[col]) + (row == col ? t->slide : 0));
}

/* Index of element (row, col) among the six of a symmetric block. */
MD_INLINE int assemble_packed(int row, int col)
{
  const int low = row < col ? row : col, high = row < col ? col : row;
  return low == 0 ? high : low + high + 1;
}

/* Add the pair, as its terms are, to the diagonal block of the sphere whose radius is a_i. */
MD_INLINE void assemble_diagonal(double *d, const assemble_terms *t, double a_i, double a_j)
{
  double root, weight = 1;
  if (a_i != a_j) weight = a_j * inverse_root_of(a_i * a_j, &root); /* as in assemble_pair */
  const double squeeze = weight * t->squeeze, slide = weight * t->slide;
  for (int row = 0; row < 3; row++) {
    const double along = squeeze * t->e[row];
    for (int col = row; col < 3; col++)
      d[assemble_packed(row, col)] += along * t->e[col];
    d[assemble_packed(row, row)] += slide;
  }
}

#endif
