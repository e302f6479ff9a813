/* stokes/packing/pack_chain.c - straight event chains of hard spheres in a periodic cube.
 *
 * Bernard, Krauth and Wilson, Phys. Rev. E 80, 056704 (2009): one sphere moves along +x, +y or +z
 * until it touches another one, which then moves on along the same axis, until the moves together
 * are as long as the chain.  No move is ever rejected.  From the steps x_j - x_i between centres
 * that touch, Z = 1 + sum (x_j - x_i) / sum (length of chains).
 *
 * Cells hold the spheres themselves, centre and radius, so that a search reads memory in a row;
 * where a cell lies beyond an edge of the box, its spheres are shifted by a box. */
#include "stokes/normal.h"
#include "stokes/packing/pack_impl.h"
#include "stokes/pairs/search.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double x[3], radius;
} ball;

struct pack_chains {
  double *x; /* [n][4]: where spheres go when cells are made anew */
  double edge, radius_max;
  double margin; /* added to contact distances, so that rounding makes no overlap */
  int64_t n;

  int32_t cells; /* along each edge */
  double width, inv_width;
  int32_t room;   /* of a cell */
  int32_t *count; /* [cells^3] */
  ball *balls;    /* [cells^3][room] */
  int32_t *id;    /* [cells^3][room] */
  int64_t *slot;  /* [n]: where in balls */

  int n_sizes;
  const int32_t *size; /* [n] or NULL */
  double *steps;       /* [n_sizes][n_sizes] or NULL: sums of steps from a to b */
};

static int64_t cell_at(const pack_chains *c, const double *x)
{
  int64_t cell = 0;
  for (int d = 0; d < 3; d++) {
    const int32_t k = (int32_t)(x[d] * c->inv_width);
    cell = cell * c->cells + (k < c->cells ? k : c->cells - 1);
  }
  return cell;
}

static md_status allocate(pack_chains *c, int32_t room)
{
  const size_t cells = (size_t)c->cells * (size_t)c->cells * (size_t)c->cells;
  free(c->balls);
  free(c->id);
  c->room = room;
  c->balls = malloc(cells * (size_t)room * sizeof *c->balls);
  c->id = malloc(cells * (size_t)room * sizeof *c->id);
  MD_REQUIRE(c->balls && c->id, MD_ENOMEM, "out of memory for %" PRId64 " spheres", c->n);
  memset(c->count, 0, cells * sizeof *c->count);
  return MD_OK;
}

static void put(pack_chains *c, int64_t cell, const ball *b, int32_t id)
{
  const int64_t slot = cell * c->room + c->count[cell]++;
  c->balls[slot] = *b;
  c->id[slot] = id;
  c->slot[id] = slot;
}

/* Put the spheres of the packing into cells; when one overflows, this is done anew. */
static md_status fill(pack_chains *c)
{
  const size_t cells = (size_t)c->cells * (size_t)c->cells * (size_t)c->cells;
  int32_t most = 1;
  memset(c->count, 0, cells * sizeof *c->count);
  for (int64_t i = 0; i < c->n; i++) {
    const int32_t count = ++c->count[cell_at(c, c->x + 4 * i)];
    if (count > most) most = count;
  }
  MD_TRY(allocate(c, most + 1));
  for (int64_t i = 0; i < c->n; i++) {
    ball b;
    memcpy(&b, c->x + 4 * i, sizeof b);
    put(c, cell_at(c, b.x), &b, (int32_t)i);
  }
  return MD_OK;
}

void pack_chains_read(const pack_chains *c, double *x)
{
  for (int64_t i = 0; i < c->n; i++)
    memcpy(x + 4 * i, c->balls + c->slot[i], sizeof(ball));
}

/* Cells as wide as the large spheres, or nearly; no more than spheres where these are few. */
static void choose_cells(pack_chains *c)
{
  double sum = 0;
  for (int64_t i = 0; i < c->n; i++)
    sum += c->x[4 * i + 3];
  const bool alike = sum > 0.9 * (double)c->n * c->radius_max;
  const double width = (alike ? 2.0 : 1.4) * c->radius_max;
  c->cells = (int32_t)fmin(fmax(c->edge / width, 1), ceil(cbrt((double)c->n)));
  c->width = c->edge / c->cells;
  c->inv_width = c->cells / c->edge;
}

static md_status create(pack_chains *c, const double *x)
{
  c->x = malloc((size_t)c->n * 4 * sizeof *c->x);
  MD_REQUIRE(c->x, MD_ENOMEM, "out of memory for %" PRId64 " spheres", c->n);
  for (int64_t k = 0; k < 4 * c->n; k++)
    c->x[k] = k % 4 == 3 ? x[k] : search_wrap(x[k], c->edge);
  for (int64_t i = 0; i < c->n; i++)
    c->radius_max = fmax(c->radius_max, x[4 * i + 3]);
  c->margin = 1e-13 * c->radius_max + 4 * DBL_EPSILON * c->edge;
  choose_cells(c);
  c->count = calloc((size_t)c->cells * (size_t)c->cells * (size_t)c->cells, sizeof *c->count);
  c->slot = malloc((size_t)c->n * sizeof *c->slot);
  if (c->size) c->steps = calloc((size_t)c->n_sizes * (size_t)c->n_sizes, sizeof *c->steps);
  MD_REQUIRE(c->count && c->slot && (c->steps || !c->size), MD_ENOMEM,
             "out of memory for %" PRId64 " spheres", c->n);
  return fill(c);
}

md_status pack_chains_create(const stokes_packing *packing, const int32_t *size, int n_sizes,
                             pack_chains **out)
{
  pack_chains *c = *out = calloc(1, sizeof *c);
  MD_REQUIRE(c, MD_ENOMEM, "out of memory for event chains");
  *c = (pack_chains){.n = packing->n, .edge = packing->box[0]};
  c->size = size;
  c->n_sizes = n_sizes;
  const md_status status = create(c, packing->x);
  if (status) {
    pack_chains_destroy(c);
    *out = NULL;
  }
  return status;
}

void pack_chains_destroy(pack_chains *c)
{
  if (!c) return;
  free(c->x);
  free(c->count);
  free(c->balls);
  free(c->id);
  free(c->slot);
  free(c->steps);
  free(c);
}

double *pack_chains_steps(const pack_chains *c)
{
  return c->steps;
}

/* One axis of a search: cells first..last, which may lie beyond the box. */
typedef struct {
  int32_t first, last;
} span;

static span span_of(const pack_chains *c, double x, double reach)
{
  return (span){(int32_t)floor((x - reach) * c->inv_width),
                (int32_t)floor((x + reach) * c->inv_width)};
}

/* The cell of the box that k is an image of; *shift: from its spheres to the image. */
static int32_t image(const pack_chains *c, int32_t k, double *shift)
{
  *shift = 0;
  for (; k < 0; k += c->cells)
    *shift -= c->edge;
  for (; k >= c->cells; k -= c->cells)
    *shift += c->edge;
  return k;
}

/* A sphere that flies along an axis. */
typedef struct {
  const ball *me;
  int axis, side, other; /* the other two axes */
  double path;           /* until it touches something */
  double step;           /* between the centres that touch */
  int64_t hit;           /* slot of what it touches, or -1 */
} flight;

/* What of one cell is in the way? */
static void look(const pack_chains *c, int64_t cell, const double *shift, flight *f)
{
  const ball *me = f->me, *balls = c->balls + cell * c->room;
  const double ahead = shift[f->axis] - me->x[f->axis], side = shift[f->side] - me->x[f->side];
  const double other = shift[f->other] - me->x[f->other], radius = me->radius + c->margin;
  for (int32_t k = 0; k < c->count[cell]; k++) {
    const ball *b = balls + k;
    const double u = b->x[f->side] + side, v = b->x[f->other] + other, s = radius + b->radius;
    const double chord_sq = s * s - u * u - v * v, distance = b->x[f->axis] + ahead;
    if (chord_sq <= 0 || distance <= 0 || b == me) continue; /* passes by; behind */
    const double path = distance - sqrt(chord_sq);
    if (path >= f->path) continue;
    f->path = path > 0 ? path : 0;
    f->step = distance - f->path;
    f->hit = cell * c->room + k;
  }
}

/* Fly until something is in the way, f->path at most. */
static void fly(const pack_chains *c, flight *f)
{
  const double *x = f->me->x, reach = f->me->radius + c->radius_max + c->margin;
  const span side = span_of(c, x[f->side], reach), other = span_of(c, x[f->other], reach);
  const int64_t stride[3] = {(int64_t)c->cells * c->cells, c->cells, 1};
  double shift[3];
  for (int32_t a = (int32_t)(x[f->axis] * c->inv_width);
       a * c->width <= x[f->axis] + f->path + reach; a++) {
    const int64_t plane = image(c, a, &shift[f->axis]) * stride[f->axis];
    for (int32_t b = side.first; b <= side.last; b++) {
      const int64_t row = plane + image(c, b, &shift[f->side]) * stride[f->side];
      for (int32_t e = other.first; e <= other.last; e++)
        look(c, row + image(c, e, &shift[f->other]) * stride[f->other], shift, f);
    }
  }
}

/* A sphere that has moved goes to another cell, and the last one of its own takes its place.
 * Errors: MD_ENOMEM. */
static md_status change_cell(pack_chains *c, int32_t id, int64_t from, int64_t to)
{
  if (c->count[to] == c->room) {
    pack_chains_read(c, c->x);
    return fill(c);
  }
  const int64_t slot = c->slot[id], last = from * c->room + --c->count[from];
  const ball moved = c->balls[slot];
  c->balls[slot] = c->balls[last];
  c->id[slot] = c->id[last];
  c->slot[c->id[slot]] = slot;
  put(c, to, &moved, id);
  return MD_OK;
}

/* Move the sphere that flew.  Errors: MD_ENOMEM. */
static md_status land(pack_chains *c, int32_t id, const flight *f)
{
  const int64_t slot = c->slot[id], from = slot / c->room;
  double *x = c->balls[slot].x;
  x[f->axis] += f->path;
  if (x[f->axis] >= c->edge) x[f->axis] -= c->edge;
  const int64_t to = cell_at(c, x);
  return to == from ? MD_OK : change_cell(c, id, from, to);
}

md_status pack_chains_run(pack_chains *c, uint64_t seed, uint64_t number, double length,
                          double *steps)
{
  const normal_bits bits = normal_draw(seed, NORMAL_MOVE, number, 0, 0);
  const int axis = (int)(3 * normal_uniform(bits, 0));
  int32_t id = (int32_t)((double)c->n * normal_uniform(bits, 1));
  for (double left = length; left > 0;) {
    flight f = {.me = &c->balls[c->slot[id]],
                .axis = axis,
                .side = (axis + 1) % 3,
                .other = (axis + 2) % 3,
                .path = fmin(left, c->edge / 2),
                .hit = -1};
    fly(c, &f);
    const int32_t next = f.hit < 0 ? id : c->id[f.hit];
    if (f.hit >= 0) *steps += f.step;
    if (f.hit >= 0 && c->steps)
      c->steps[(int64_t)c->size[id] * c->n_sizes + c->size[next]] += f.step;
    MD_TRY(land(c, id, &f));
    left -= f.path;
    id = next;
  }
  return MD_OK;
}
