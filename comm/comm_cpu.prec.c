/* comm/comm_cpu.prec.c - the periodic wrap and ghosts of one process, on the CPU.
 *
 * An atom that leaves its frame enters the next one: the box is periodic in frames (core/atoms.h).
 * An atom's images along one axis that lie in reach are consecutive shifts, first..last around 0,
 * so that it has the product of their numbers, less one, as ghosts.  They are counted, summed up
 * per thread and written in the order of atoms, which no number of threads changes.  Compiled once
 * per precision and instruction set. */
#include "comm/comm_impl.h"

#include <math.h>
#include <omp.h>

/* Beyond this many box lengths a position has lost the digits that place it in the box. */
static const double FARTHEST = 1e9;

static double edge_of(const md_box *box, int d)
{
  return box->hi[d] - box->lo[d];
}

/* The smallest state >= lo. */
static state lowest_in(double lo)
{
  const state x = (state)lo;
  if ((double)x >= lo) return x;
  return sizeof(state) == 4 ? (state)nextafterf((float)x, INFINITY) : (state)nextafter(x, INFINITY);
}

/* Wrap one coordinate into [lo, hi); false when it cannot be. */
static bool wrap(state *x, int32_t *image, double lo, double hi)
{
  if ((double)*x >= lo && (double)*x < hi) return true;
  const double edge = hi - lo;
  double crossed = floor((*x - lo) / edge);
  if (!(fabs(crossed) < FARTHEST)) return false;
  state inside = (state)(*x - crossed * edge);
  if ((double)inside >= hi) inside = lowest_in(lo), crossed++; /* rounded up to hi */
  if ((double)inside < lo) inside = lowest_in(lo);
  *x = inside;
  *image = (int32_t)((uint32_t)*image + (uint32_t)(int32_t)crossed);
  return true;
}

/* |x - back v - built|^2 of atom i; a NaN is infinite. */
static double move_sq(const md_atoms *atoms, int64_t i, double back)
{
  const state *x = atoms->x.data, *v = atoms->v.data, *built = atoms->x_at_build.data;
  double sq = 0;
  for (int64_t k = 4 * i; k < 4 * i + 3; k++) {
    const double move = (double)x[k] - built[k] - (back > 0 ? back * v[k] : 0);
    sq += move * move;
  }
  return isnan(sq) ? INFINITY : sq;
}

static double most_of(const md_atoms *atoms, double back)
{
  double most = 0;
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads) reduction(max : most)
  for (int64_t i = 0; i < atoms->n; i++)
    most = fmax(most, move_sq(atoms, i, back));
  return most;
}

md_status KERNEL(comm_cpu_move)(comm *cm, const md_atoms *atoms, double *moved_sq)
{
  (void)cm;
  *moved_sq = most_of(atoms, 0);
  return MD_OK;
}

md_status KERNEL(comm_cpu_migrate)(comm *cm, md_atoms *atoms, const comm_reach *early)
{
  if (early && early->back >= 0) cm->moved_sq = most_of(atoms, early->back);
  const md_box *box = &atoms->frame;
  const int64_t n = atoms->n;
  state *x = atoms->x.data;
  int32_t *image = atoms->image.data;
  int64_t lost = 0, first = n;
#pragma omp parallel for schedule(static) num_threads(cm->ctx->threads) reduction(+ : lost) \
    reduction(min : first)
  for (int64_t i = 0; i < n; i++) {
    bool inside = true;
    for (int d = 0; d < 3; d++)
      inside &= wrap(&x[4 * i + d], &image[3 * i + d], box->lo[d], box->hi[d]);
    if (inside) continue;
    lost++;
    first = i < first ? i : first;
  }
  if (lost == 0) return MD_OK;
  const state *at = x + 4 * first;
  return MD_FAIL(MD_ENUMERIC, "%lld atoms are nowhere near the box, such as atom %lld at %g %g %g",
                 (long long)lost, (long long)((int64_t *)atoms->id.data)[first], (double)at[0],
                 (double)at[1], (double)at[2]);
}

/* What ghosts are made from. */
typedef struct {
  const state *x;
  double edge[3], lo[3], hi[3]; /* of the frame, widened by r_ghost */
  const int *images;
} reach;

static reach reach_of(const md_atoms *atoms, const int images[3])
{
  reach r = {.x = atoms->x.data, .images = images};
  for (int d = 0; d < 3; d++) {
    r.edge[d] = edge_of(&atoms->frame, d);
    r.lo[d] = atoms->frame.lo[d] - atoms->r_ghost;
    r.hi[d] = atoms->frame.hi[d] + atoms->r_ghost;
  }
  return r;
}

static state shifted(state x, int by, double edge)
{
  return (state)(x + by * edge);
}

/* The shifts of atom i that lie in reach: first..last along each axis.  Returns their number. */
static int64_t find_images(const reach *r, int64_t i, int first[3], int last[3])
{
  int64_t count = 1;
  for (int d = 0; d < 3; d++) {
    const state x = r->x[4 * i + d];
    const int most = r->images[d];
    int below = 0, above = 0;
    while (below > -most && (double)shifted(x, below - 1, r->edge[d]) >= r->lo[d])
      below--;
    while (above < most && (double)shifted(x, above + 1, r->edge[d]) < r->hi[d])
      above++;
    first[d] = below, last[d] = above;
    count *= above - below + 1;
  }
  return count;
}

/* Write position and charge g of x and its fixed-point twin. */
MD_INLINE void place(md_atoms *atoms, int64_t g, const state at[4])
{
  state *x = (state *)atoms->x.data + 4 * g;
  for (int d = 0; d < 4; d++)
    x[d] = at[d];
#if MD_PREC == 1
  coord *fixed = (coord *)atoms->fixed.data + 4 * g;
  for (int d = 0; d < 3; d++)
    fixed[d] = coord_from(at[d], 1 / atoms->coord_scale);
  fixed[3] = 0;
#endif
}

/* Ghosts of atom i from place g on; returns the next place. */
static int64_t fill_ghosts(md_atoms *atoms, const reach *r, int64_t i, int64_t g)
{
  int first[3], last[3];
  if (find_images(r, i, first, last) == 1) return g;
  int32_t *home = atoms->home.data, *shift = atoms->shift.data;
  for (int a = first[0]; a <= last[0]; a++)
    for (int b = first[1]; b <= last[1]; b++)
      for (int c = first[2]; c <= last[2]; c++) {
        if (a == 0 && b == 0 && c == 0) continue;
        const state at[4] = {shifted(r->x[4 * i], a, r->edge[0]),
                             shifted(r->x[4 * i + 1], b, r->edge[1]),
                             shifted(r->x[4 * i + 2], c, r->edge[2]), r->x[4 * i + 3]};
        place(atoms, atoms->n + g, at);
        home[g] = (int32_t)i;
        shift[g++] = md_shift_pack(a, b, c);
      }
  return g;
}

md_status KERNEL(comm_cpu_borders)(comm *cm, md_atoms *atoms, const int images[3])
{
  const int64_t n = atoms->n;
  const int parts = cm->ctx->threads;
  MD_TRY(md_buffer_reserve(cm->ctx, &cm->count, (size_t)(parts + 1) * sizeof(int64_t), 0));
  int64_t *start = cm->count.data;
  start[0] = 0;
  reach r = reach_of(atoms, images);
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int p = 0; p < parts; p++) {
    int64_t count = 0;
    for (int64_t i = n * p / parts; i < n * (p + 1) / parts; i++) {
      int first[3], last[3];
      count += find_images(&r, i, first, last) - 1;
    }
    start[p + 1] = count;
  }
  for (int p = 0; p < parts; p++)
    start[p + 1] += start[p];
  MD_TRY(md_atoms_reserve(atoms, n, start[parts]));
  r.x = atoms->x.data;
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int p = 0; p < parts; p++) {
    int64_t g = start[p];
    for (int64_t i = n * p / parts; i < n * (p + 1) / parts; i++) {
#if MD_PREC == 1
      place(atoms, i, r.x + 4 * i);
#endif
      g = fill_ghosts(atoms, &r, i, g);
    }
  }
  atoms->n_ghost = start[parts];
  return md_copy(cm->ctx, atoms->x_at_build.data, atoms->x.data, (size_t)n * 4 * sizeof(state));
}

void KERNEL(comm_cpu_images)(md_atoms *atoms, int64_t n_own)
{
  const state *x = atoms->x.data;
  const int32_t *home = atoms->home.data, *shift = atoms->shift.data;
  double edge[3];
  for (int d = 0; d < 3; d++)
    edge[d] = edge_of(&atoms->frame, d);
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads)
  for (int64_t g = 0; g < n_own; g++) {
    int s[3];
    md_shift_unpack(shift[g], s);
    const state *from = x + 4 * (int64_t)home[g];
    const state at[4] = {shifted(from[0], s[0], edge[0]), shifted(from[1], s[1], edge[1]),
                         shifted(from[2], s[2], edge[2]), from[3]};
    place(atoms, atoms->n + g, at);
  }
}

md_status KERNEL(comm_cpu_forward)(comm *cm, md_atoms *atoms)
{
  (void)cm;
  KERNEL(comm_cpu_images)(atoms, atoms->n_ghost);
  return MD_OK;
}

void KERNEL(comm_cpu_pack)(const md_atoms *atoms, const int32_t *index, int64_t count, void *to)
{
  const state *x = atoms->x.data;
  state *out = to;
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads)
  for (int64_t k = 0; k < count; k++)
    for (int d = 0; d < 3; d++)
      out[3 * k + d] = x[4 * (int64_t)index[k] + d];
}

void KERNEL(comm_cpu_unpack)(md_atoms *atoms, int64_t first, int64_t count, const void *from)
{
  const int32_t *shift = (const int32_t *)atoms->shift.data + first;
  const state *in = from;
  double edge[3];
  for (int d = 0; d < 3; d++)
    edge[d] = edge_of(&atoms->frame, d);
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads)
  for (int64_t k = 0; k < count; k++) {
    int s[3];
    md_shift_unpack(shift[k], s);
    const int64_t g = atoms->n + first + k;
    const state at[4] = {shifted(in[3 * k], s[0], edge[0]), shifted(in[3 * k + 1], s[1], edge[1]),
                         shifted(in[3 * k + 2], s[2], edge[2]),
                         ((state *)atoms->x.data)[4 * g + 3]};
    place(atoms, g, at);
  }
}

void KERNEL(comm_cpu_built)(md_atoms *atoms)
{
  const state *x = atoms->x.data;
  state *built = atoms->x_at_build.data;
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads)
  for (int64_t i = 0; i < atoms->n; i++) {
    for (int d = 0; d < 4; d++)
      built[4 * i + d] = x[4 * i + d];
#if MD_PREC == 1
    place(atoms, i, x + 4 * i);
#endif
  }
}
