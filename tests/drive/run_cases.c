/* tests/drive/run_cases.c - liquids, gases, clusters, single atoms, thin boxes, atoms on faces. */
#include "tests/drive/run_cases.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

static run_case blank(const char *name, const double lo[3], const double edge[3], int64_t n)
{
  run_case c = {.name = name, .n = n, .x = ref_alloc(3 * n, sizeof(double)), .spaced = true};
  for (int d = 0; d < 3; d++)
    c.box.lo[d] = lo[d], c.box.hi[d] = lo[d] + edge[d];
  return c;
}

run_case run_case_fcc(const char *name, const int cells[3], const double lo[3], double jitter)
{
  static const double basis[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
  const double a = cbrt(4 / 0.8442);
  const double edge[3] = {cells[0] * a, cells[1] * a, cells[2] * a};
  run_case c = blank(name, lo, edge, (int64_t)4 * cells[0] * cells[1] * cells[2]);
  uint64_t seed = 1;
  for (int64_t i = 0; i < c.n; i++) {
    const int64_t cell = i / 4;
    const int64_t at[3] = {cell / cells[2] / cells[1], cell / cells[2] % cells[1], cell % cells[2]};
    for (int d = 0; d < 3; d++)
      c.x[3 * i + d] = lo[d] + a * ((double)at[d] + basis[i % 4][d] + 0.25) +
                       jitter * (2 * ref_uniform(&seed) - 1);
  }
  return c;
}

/* n atoms anywhere in the part `from`..`to` of the box. */
static run_case gas(const char *name, const double lo[3], const double edge[3], int64_t n,
                    double from, double to)
{
  run_case c = blank(name, lo, edge, n);
  uint64_t seed = 7;
  for (int64_t k = 0; k < 3 * n; k++)
    c.x[k] = lo[k % 3] + edge[k % 3] * (from + (to - from) * ref_uniform(&seed));
  c.spaced = false;
  return c;
}

/* Dense blobs, some of them across the periodic faces. */
static run_case clusters(const char *name, const double lo[3], const double edge[3], int64_t n)
{
  run_case c = gas(name, lo, edge, n, 0, 1);
  uint64_t seed = 3;
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < 3; d++) {
      const double centre = lo[d] + edge[d] * (double)((i % 5) * (d + 1) % 5) / 5;
      c.x[3 * i + d] = centre + 1.5 * pow(ref_uniform(&seed), 3) * (ref_uniform(&seed) - 0.5);
    }
  return c;
}

/* A grid of sites two apart whose first layer lies on the faces or one ulp beside them. */
static run_case faces(const char *name, md_precision precision)
{
  const double lo[3] = {-1, 2, 0}, edge[3] = {6, 8, 4};
  run_case c = blank(name, lo, edge, 3 * 4 * 2);
  for (int64_t i = 0; i < c.n; i++) {
    const int64_t at[3] = {i / 8, i / 2 % 4, i % 2};
    for (int d = 0; d < 3; d++) {
      double x = lo[d] + 2 * (double)at[d];
      const int64_t kind = (i + d) % 4;
      if (at[d] == 0 && kind == 1) x = run_next(precision, x, INFINITY);
      if (at[d] == 0 && kind == 2) x = run_next(precision, c.box.hi[d], -INFINITY);
      if (at[d] == 0 && kind == 3) x = c.box.hi[d];
      c.x[3 * i + d] = x;
    }
  }
  return c;
}

/* n atoms with room between them, in a box or lattice of their own. */
static run_case few(const char *name, int64_t n, double edge)
{
  static const double site[4][3] = {{.01, .5, .99}, {.99, .5, .45}, {.4, .1, .01}, {.6, .99, .6}};
  const double lo[3] = {-edge / 3, 0, edge}, edges[3] = {edge, edge, edge};
  run_case c = blank(name, lo, edges, n);
  for (int64_t k = 0; k < 3 * n; k++)
    c.x[k] = lo[k % 3] + edge * site[k / 3][k % 3];
  return c;
}

static const double origin[3] = {0, 0, 0}, aside[3] = {-3.7, 11.2, 0.4};

static run_case make(int k, md_precision precision)
{
  switch (k) {
  case 0:
    return run_case_fcc("liquid", (int[]){4, 4, 4}, origin, 0.12);
  case 1:
    return run_case_fcc("not cubic, not at 0", (int[]){2, 3, 5}, aside, 0.12);
  case 2:
    return few("no atoms", 0, 10);
  case 3:
    return few("one atom", 1, 10);
  case 4:
    return few("one atom and its images", 1, 1.25);
  case 5:
    return few("two atoms across a face", 2, 5);
  case 6:
    return few("four atoms, box below the cutoff", 4, 2.25);
  case 7:
    return run_case_fcc("one fcc cell", (int[]){1, 1, 1}, aside, 0.05);
  case 8:
    return run_case_fcc("very long", (int[]){30, 1, 1}, aside, 0.1);
  case 9:
    return run_case_fcc("thin slab", (int[]){1, 6, 5}, origin, 0.1);
  case 10:
    return faces("atoms on faces", precision);
  case 11:
    return gas("gas", aside, (double[]){9, 6.5, 12}, 300, 0, 1);
  case 12:
    return gas("half the box empty", origin, (double[]){13, 13, 13}, 200, 0, 0.5);
  case 13:
    return gas("all in one bin", origin, (double[]){11, 12, 13}, 90, 0.31, 0.33);
  case 14:
    return clusters("clusters", aside, (double[]){14, 9, 11}, 300);
  default:
    return (run_case){0};
  }
}

int run_case_count(void)
{
  return 15;
}

run_case run_case_make(int k, md_precision precision)
{
  run_case c = make(k, precision);
  for (int64_t i = 0; i < 3 * c.n; i++)
    c.x[i] = run_round(precision, c.x[i]);
  return c;
}

void run_case_free(run_case *c)
{
  free(c->x);
  *c = (run_case){0};
}

double *run_velocities(int64_t n, double t, uint64_t seed)
{
  double *v = ref_alloc(3 * n, sizeof *v), mean[3] = {0}, sum = 0;
  for (int64_t k = 0; k < 3 * n; k++)
    v[k] = ref_uniform(&seed) - 0.5, mean[k % 3] += v[k] / (double)n;
  for (int64_t k = 0; k < 3 * n; k++)
    v[k] -= mean[k % 3], sum += v[k] * v[k];
  for (int64_t k = 0; k < 3 * n && sum > 0; k++)
    v[k] *= sqrt(t * (double)(3 * n - 3) / sum);
  return v;
}

md_atoms *run_case_atoms(md_ctx *ctx, const run_case *c, const double *v)
{
  md_atoms *atoms = NULL;
  ck_ok(md_atoms_create(ctx, &c->box, &atoms));
  if (c->frame > 0) ck_ok(md_atoms_cut(atoms, c->frame));
  ck_ok(md_atoms_set(atoms, c->n, c->x, v, NULL, NULL));
  return atoms;
}

double run_unit(md_precision precision)
{
  return precision == MD_SINGLE ? 0x1p-24 : 0x1p-53;
}

double run_round(md_precision precision, double x)
{
  if (precision != MD_SINGLE) return x;
  const volatile float rounded = (float)x; /* gcc 12 drops some of these casts otherwise */
  return rounded;
}

double run_next(md_precision precision, double x, double towards)
{
  return precision == MD_SINGLE ? (double)nextafterf((float)x, (float)towards)
                                : nextafter(x, towards);
}

/* n rows of four numbers on the backend as rows of three doubles. */
static double *read_fours(md_ctx *ctx, const void *from, int64_t n, size_t size)
{
  double *rows = ref_alloc(3 * n, sizeof *rows);
  char *four = ref_alloc(4 * n, size);
  if (n > 0) ck_ok(md_read(ctx, four, from, (size_t)(4 * n) * size));
  for (int64_t k = 0; k < 3 * n; k++) {
    const int64_t at = k / 3 * 4 + k % 3;
    rows[k] = size == 4 ? (double)((const float *)four)[at] : ((const double *)four)[at];
  }
  free(four);
  return rows;
}

static void *read_plain(md_ctx *ctx, const void *from, int64_t n, size_t size)
{
  void *to = ref_alloc(n, size);
  if (n > 0) ck_ok(md_read(ctx, to, from, (size_t)n * size));
  return to;
}

run_snapshot run_snapshot_take(const md_atoms *atoms)
{
  md_ctx *ctx = atoms->ctx;
  const size_t state = md_state_size(ctx->precision);
  const int64_t n = atoms->n, ghosts = atoms->n_ghost;
  run_snapshot s = {.n = n, .n_ghost = ghosts};
  s.x = read_fours(ctx, atoms->x.data, n + ghosts, state);
  s.v = read_fours(ctx, atoms->v.data, n, state);
  s.f = read_fours(ctx, atoms->f.data, n, md_real_size(ctx->precision));
  if (ctx->precision == MD_MIXED) s.fixed = read_plain(ctx, atoms->fixed.data, n + ghosts, 16);
  s.id = read_plain(ctx, atoms->id.data, n, 8);
  s.image = read_plain(ctx, atoms->image.data, n, 12);
  s.home = read_plain(ctx, atoms->home.data, ghosts, 4);
  s.shift = read_plain(ctx, atoms->shift.data, ghosts, 4);
  return s;
}

void run_snapshot_free(run_snapshot *s)
{
  void *parts[] = {s->x, s->v, s->f, s->fixed, s->id, s->image, s->home, s->shift};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    free(parts[k]);
  *s = (run_snapshot){0};
}

void run_snapshots_match(run_snapshot state[2])
{
  const size_t bytes = (size_t)state[0].n * 3 * sizeof(double);
  ck_assert_int_eq(state[0].n, state[1].n);
  ck_assert(memcmp(state[0].x, state[1].x, bytes) == 0);
  ck_assert(memcmp(state[0].v, state[1].v, bytes) == 0);
  for (int k = 0; k < 2; k++)
    run_snapshot_free(&state[k]);
}

void run_by_id(int64_t n, const int64_t *id, double *rows)
{
  double *sorted = ref_alloc(3 * n, sizeof *sorted);
  for (int64_t i = 0; i < n; i++) {
    ck_assert_msg(id[i] >= 1 && id[i] <= n, "id %lld of %lld atoms", (long long)id[i],
                  (long long)n);
    memcpy(sorted + 3 * (id[i] - 1), rows + 3 * i, 3 * sizeof *rows);
  }
  memcpy(rows, sorted, (size_t)(3 * n) * sizeof *rows);
  free(sorted);
}

void run_scale_velocities(md_atoms *atoms, double factor)
{
  const bool wide = atoms->ctx->precision != MD_SINGLE;
  const size_t bytes = (size_t)atoms->n * 4 * (wide ? sizeof(double) : sizeof(float));
  void *v = ref_alloc(4 * atoms->n, sizeof(double));
  ck_ok(md_read(atoms->ctx, v, atoms->v.data, bytes));
  for (int64_t k = 0; k < 4 * atoms->n; k++)
    if (wide)
      ((double *)v)[k] *= factor;
    else
      ((float *)v)[k] = (float)(((float *)v)[k] * factor);
  ck_ok(md_write(atoms->ctx, atoms->v.data, v, bytes));
  free(v);
}
