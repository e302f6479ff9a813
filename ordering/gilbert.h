/* ordering/gilbert.h - a Hilbert-like curve that fills any box without cutting it from a cube.
 *
 * A part of the box is entered at the corner `at` and left at the far end of its first axis A; B
 * and C are the other two.  It is divided, lengths in halves rounded to even, by the first rule
 * that fits:
 *
 *     a line of units             two parts along it, down to single units
 *     A longer than 3/2 of B, C   two parts along A
 *     B longer than 4/3 of C      three: half of B (entered along B), the rest, back along B
 *     C longer than 4/3 of B      the same with B and C exchanged
 *     else                        five, as Hilbert's eight with three pairs joined
 *
 * Each part starts beside the end of the one before.  The generalised Hilbert curve of J. Cerveny.
 *
 * Rank within a box: at each division add the cells of the parts visited before ours. */
#ifndef ORDERING_GILBERT_H
#define ORDERING_GILBERT_H

#include "ordering/grid.h"

typedef struct {
  int32_t at[3];   /* the unit where the curve enters */
  int32_t axis[3]; /* which coordinate A, B, C are */
  int32_t len[3];  /* units along A, B, C; negative: the curve runs downwards */
} gilbert_part;

MD_INLINE int32_t gilbert_abs(int32_t a)
{
  return a < 0 ? -a : a;
}

MD_INLINE int32_t gilbert_sign(int32_t a)
{
  return (a > 0) - (a < 0);
}

/* Half of a length towards zero, made even where that leaves both parts non-empty. */
MD_INLINE int32_t gilbert_half(int32_t len)
{
  const int32_t half = len / 2;
  return half % 2 && gilbert_abs(len) > 2 ? half + gilbert_sign(len) : half;
}

/* First unit and end along axis s of a part. */
MD_INLINE void gilbert_span(const gilbert_part *p, int s, int64_t *lo, int64_t *hi)
{
  const int64_t at = p->at[p->axis[s]], len = p->len[s];
  *lo = len < 0 ? at + len + 1 : at;
  *hi = len < 0 ? at + 1 : at + len;
}

MD_INLINE int64_t gilbert_cells(const ordering_grid *g, const gilbert_part *p)
{
  int64_t cells = 1;
  for (int s = 0; s < 3; s++) {
    int64_t lo, hi;
    gilbert_span(p, s, &lo, &hi);
    cells *= grid_cells(g, p->axis[s], lo, hi);
  }
  return cells;
}

MD_INLINE bool gilbert_holds(const gilbert_part *p, const int32_t u[3])
{
  for (int s = 0; s < 3; s++) {
    int64_t lo, hi;
    gilbert_span(p, s, &lo, &hi);
    if (u[p->axis[s]] < lo || u[p->axis[s]] >= hi) return false;
  }
  return true;
}

/* A part of p: entered (da, db, dc) units from p's corner, running along p's axes a, b, c. */
MD_INLINE gilbert_part gilbert_make(const gilbert_part *p, int32_t da, int32_t db, int32_t dc,
                                    int a, int b, int c, int32_t len_a, int32_t len_b,
                                    int32_t len_c)
{
  gilbert_part part = *p;
  part.at[p->axis[0]] += da, part.at[p->axis[1]] += db, part.at[p->axis[2]] += dc;
  part.axis[0] = p->axis[a], part.axis[1] = p->axis[b], part.axis[2] = p->axis[c];
  part.len[0] = len_a, part.len[1] = len_b, part.len[2] = len_c;
  return part;
}

/* The axis of a part that is one line of units; -1 for a thicker part. */
MD_INLINE int gilbert_line(const gilbert_part *p)
{
  const bool one_a = gilbert_abs(p->len[0]) == 1, one_b = gilbert_abs(p->len[1]) == 1;
  const bool one_c = gilbert_abs(p->len[2]) == 1;
  return one_b && one_c ? 0 : one_a && one_c ? 1 : one_a && one_b ? 2 : -1;
}

/* Part number k of p, in the order of the curve; *count tells how many there are. */
MD_INLINE gilbert_part gilbert_child(const gilbert_part *p, int k, int *count)
{
  const int32_t a = p->len[0], b = p->len[1], c = p->len[2];
  const int32_t a2 = gilbert_half(a), b2 = gilbert_half(b), c2 = gilbert_half(c);
  const int32_t da = a - gilbert_sign(a); /* to the last unit along A */
  const int32_t db = b2 - gilbert_sign(b), dc = c - gilbert_sign(c);
  const int64_t w = gilbert_abs(a), h = gilbert_abs(b), d = gilbert_abs(c);
  const int line = gilbert_line(p);
  if (line >= 0) {
    const int32_t half = p->len[line] / 2;
    gilbert_part part = *p;
    part.len[line] = k == 0 ? half : part.len[line] - half;
    part.at[p->axis[line]] += k == 0 ? 0 : half;
    *count = 2;
    return part;
  }
  if (2 * w > 3 * h && 2 * w > 3 * d) {
    *count = 2;
    return k == 0 ? gilbert_make(p, 0, 0, 0, 0, 1, 2, a2, b, c)
                  : gilbert_make(p, a2, 0, 0, 0, 1, 2, a - a2, b, c);
  }
  if (3 * h > 4 * d) {
    *count = 3;
    return k == 0   ? gilbert_make(p, 0, 0, 0, 1, 2, 0, b2, c, a2)
           : k == 1 ? gilbert_make(p, 0, b2, 0, 0, 1, 2, a, b - b2, c)
                    : gilbert_make(p, da, db, 0, 1, 2, 0, -b2, c, a2 - a);
  }
  if (3 * d > 4 * h) {
    *count = 3;
    return k == 0   ? gilbert_make(p, 0, 0, 0, 2, 0, 1, c2, a2, b)
           : k == 1 ? gilbert_make(p, 0, 0, c2, 0, 1, 2, a, b, c - c2)
                    : gilbert_make(p, da, 0, c2 - gilbert_sign(c), 2, 0, 1, -c2, a2 - a, b);
  }
  *count = 5;
  return k == 0   ? gilbert_make(p, 0, 0, 0, 1, 2, 0, b2, c2, a2)
         : k == 1 ? gilbert_make(p, 0, b2, 0, 2, 0, 1, c, a2, b - b2)
         : k == 2 ? gilbert_make(p, 0, db, dc, 0, 1, 2, a, -b2, c2 - c)
         : k == 3 ? gilbert_make(p, da, b2, dc, 2, 0, 1, -c, a2 - a, b - b2)
                  : gilbert_make(p, da, db, 0, 1, 2, 0, -b2, c2, a2 - a);
}

/* The whole box: A is its longest axis. */
MD_INLINE gilbert_part gilbert_whole(const ordering_grid *g)
{
  const int32_t *m = g->m;
  const int longest = m[0] >= m[1] && m[0] >= m[2] ? 0 : m[1] >= m[2] ? 1 : 2;
  gilbert_part p;
  p.axis[0] = longest;
  p.axis[1] = longest == 0 ? 1 : 0;
  p.axis[2] = longest == 2 ? 1 : 2;
  for (int s = 0; s < 3; s++)
    p.at[s] = 0, p.len[s] = m[p.axis[s]];
  return p;
}

MD_INLINE bool gilbert_single(const gilbert_part *p)
{
  return gilbert_line(p) == 0 && gilbert_abs(p->len[0]) == 1;
}

/* Cells before unit u. */
MD_INLINE int64_t gilbert_rank(const ordering_grid *g, const int32_t u[3])
{
  gilbert_part p = gilbert_whole(g);
  int64_t rank = 0;
  while (!gilbert_single(&p)) {
    const gilbert_part parent = p;
    for (int k = 0, count = 1; k < count; k++) {
      p = gilbert_child(&parent, k, &count);
      if (gilbert_holds(&p, u)) break;
      rank += gilbert_cells(g, &p);
    }
  }
  return rank;
}

/* The unit that holds the cell of this rank; returns the cell's rank within the unit. */
MD_INLINE int64_t gilbert_locate(const ordering_grid *g, int64_t rank, int32_t u[3])
{
  gilbert_part p = gilbert_whole(g);
  while (!gilbert_single(&p)) {
    const gilbert_part parent = p;
    for (int k = 0, count = 1; k < count; k++) {
      p = gilbert_child(&parent, k, &count);
      const int64_t cells = gilbert_cells(g, &p);
      if (rank < cells) break;
      rank -= cells;
    }
  }
  for (int a = 0; a < 3; a++)
    u[a] = p.at[a];
  return rank;
}

#endif
