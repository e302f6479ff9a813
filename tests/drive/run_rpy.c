/* tests/drive/run_rpy.c - see run_rpy.h. */
#include "tests/drive/run_rpy.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

rpy_spec run_rpy_spec(const ref_rpy_case *c, double tolerance)
{
  return (rpy_spec){.box = {c->view.box[0], c->view.box[1], c->view.box[2]},
                    .viscosity = c->viscosity,
                    .tolerance = tolerance,
                    .vectors = c->m};
}

rpy *run_rpy_make(md_ctx *ctx, const rpy_spec *spec, const ref_rpy_case *c)
{
  rpy *mobility;
  ck_ok(rpy_create(ctx, spec, &mobility));
  ck_ok(rpy_set(mobility, &c->view));
  return mobility;
}

double *run_rpy_dense(rpy *mobility, int64_t n, int part)
{
  const int64_t rows = 3 * n;
  double *unit = ref_alloc(rows * rows, sizeof *unit), *m = ref_alloc(rows * rows, sizeof *m);
  for (int64_t k = 0; k < rows * rows; k++)
    unit[k] = k % (rows + 1) == 0, m[k] = 0;
  if (part == 0) ck_ok(rpy_multiply(mobility, (int)rows, unit, m));
  if (part == 1) ck_ok(rpy_multiply_near(mobility, (int)rows, unit, m));
  if (part == 2) ck_ok(rpy_add_far(mobility, (int)rows, unit, m));
  free(unit);
  return m;
}
