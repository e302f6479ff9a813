/* tests/drive/run_rpy.c - see run_rpy.h. */
#include "tests/drive/run_rpy.h"
#include "core/buffer.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

rpy_spec run_rpy_spec(const ref_rpy_case *c, double tolerance)
{
  return (rpy_spec){.box = {c->view.box[0], c->view.box[1], c->view.box[2]},
                    .viscosity = c->viscosity,
                    .tolerance = tolerance,
                    .vectors = c->m};
}

/* A copy where the context computes; free the buffer. */
static double *bring(md_ctx *ctx, const double *from, int64_t count, md_buffer *to)
{
  const size_t bytes = (size_t)count * sizeof *from;
  ck_ok(md_buffer_reserve(ctx, to, bytes, 0));
  ck_ok(from ? md_write(ctx, to->data, from, bytes) : md_fill(ctx, to->data, 0, bytes));
  return to->data;
}

md_status run_rpy_set(md_ctx *ctx, rpy *mobility, const stokes_view *spheres)
{
  md_buffer x = {0};
  stokes_view view = *spheres;
  view.x = bring(ctx, spheres->x, 4 * spheres->n, &x);
  const md_status status = rpy_set(mobility, &view);
  ck_ok(md_ctx_sync(ctx));
  md_buffer_free(ctx, &x);
  return status;
}

rpy *run_rpy_make(md_ctx *ctx, const rpy_spec *spec, const ref_rpy_case *c)
{
  rpy *mobility;
  ck_ok(rpy_create(ctx, spec, &mobility));
  ck_ok(run_rpy_set(ctx, mobility, &c->view));
  return mobility;
}

void run_rpy_multiply(md_ctx *ctx, rpy *mobility, run_rpy_part part, int64_t n, int m,
                      const double *f, double *u)
{
  md_buffer from = {0}, to = {0};
  const int64_t count = 3 * n * m;
  const double *x = bring(ctx, f, count, &from);
  double *y = bring(ctx, NULL, count, &to);
  if (part == RUN_RPY_WHOLE) ck_ok(rpy_multiply(mobility, m, x, y));
  if (part == RUN_RPY_NEAR) ck_ok(rpy_multiply_near(mobility, m, x, y));
  if (part == RUN_RPY_FAR) ck_ok(rpy_add_far(mobility, m, x, y));
  ck_ok(md_read(ctx, u, y, (size_t)count * sizeof *u));
  md_buffer_free(ctx, &from);
  md_buffer_free(ctx, &to);
}

double *run_rpy_dense(md_ctx *ctx, rpy *mobility, int64_t n, run_rpy_part part)
{
  const int64_t rows = 3 * n;
  double *unit = ref_alloc(rows * rows, sizeof *unit), *m = ref_alloc(rows * rows, sizeof *m);
  for (int64_t k = 0; k < rows * rows; k++)
    unit[k] = k % (rows + 1) == 0;
  run_rpy_multiply(ctx, mobility, part, n, (int)rows, unit, m);
  free(unit);
  return m;
}

void run_rpy_sample(md_ctx *ctx, rpy *mobility, int64_t n, int m, uint64_t seed, uint64_t step,
                    double *u, stokes_outcome *out)
{
  md_buffer to = {0};
  double *y = bring(ctx, NULL, 3 * n * m, &to);
  ck_ok(rpy_sample(mobility, m, seed, step, y, out));
  ck_ok(md_read(ctx, u, y, (size_t)(3 * n * m) * sizeof *u));
  md_buffer_free(ctx, &to);
}

rpy_spec run_rpy_tight(const ref_rpy_case *c, double xi, int rank)
{
  rpy_spec spec = run_rpy_spec(c, 1e-11);
  spec.split = (rpy_split){.xi = xi, .cut = 5.2 / xi, .order = 10, .rank = rank};
  for (int d = 0; d < 3; d++)
    spec.split.mesh[d] = 2 * (int32_t)ceil(c->view.box[d] * xi / 0.24);
  return spec;
}

double *run_rpy_velocities(md_ctx *ctx, rpy *mobility, const ref_rpy_case *c)
{
  double *u = ref_alloc(3 * c->view.n * c->m, sizeof *u);
  run_rpy_multiply(ctx, mobility, RUN_RPY_WHOLE, c->view.n, c->m, c->f, u);
  return u;
}

double run_rpy_error(md_ctx *ctx, const rpy_spec *spec, const ref_rpy_case *c, const double *exact)
{
  rpy *mobility = run_rpy_make(ctx, spec, c);
  double *u = run_rpy_velocities(ctx, mobility, c);
  const double error = ref_rpy_error(u, exact, 3 * c->view.n * c->m);
  free(u);
  rpy_destroy(mobility);
  return error;
}
