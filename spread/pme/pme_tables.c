/* spread/pme/pme_tables.c - tables of the influence function.
 *
 * Factors |b|^2 of the B-splines ([Guo] section 1): b(m) is the inverse of the spline's own
 * transform, sum_{k=0}^{p-2} M_p(k+1) e^{2 pi i m k / K}.  For odd p that vanishes at m = K/2,
 * where the mean of its neighbours stands in. */
#include "spread/bspline.h"
#include "spread/pme/pme_impl.h"

#include <math.h>
#include <stdlib.h>

/* |b(m)|^-2; knot[k] = M_p(k + 1). */
static double inverse_factor(int p, const double *knot, int64_t m, int64_t mesh)
{
  double re = 0, im = 0;
  for (int k = 0; k <= p - 2; k++) {
    const double angle = 2 * M_PI * (double)(m * k % mesh) / (double)mesh;
    re += knot[k] * cos(angle);
    im += knot[k] * sin(angle);
  }
  return re * re + im * im;
}

/* The two tables of an axis, [mesh] each. */
static void fill_axis(const pme_spec *spec, int axis, double *m_sq, double *factor)
{
  const int p = spec->order, mesh = spec->mesh[axis];
  const double edge = spec->hi[axis] - spec->lo[axis], decay = M_PI / spec->alpha;
  double knot[SPREAD_ORDER_MAX] = {0};
  bspline_weights(p, 0, knot); /* M_p(p - 1), ..., M_p(1): the same backwards */
  for (int m = 0; m < mesh; m++) {
    const double wave = (2 * m <= mesh ? m : m - mesh) / edge;
    const bool zero = p % 2 == 1 && 2 * m == mesh;
    const double b_sq = zero ? 0.5 / inverse_factor(p, knot, m - 1, mesh) +
                                   0.5 / inverse_factor(p, knot, m + 1, mesh)
                             : 1 / inverse_factor(p, knot, m, mesh);
    m_sq[m] = wave * wave;
    factor[m] = exp(-decay * decay * m_sq[m]) * b_sq;
  }
}

md_status pme_tables_fill(pme *solver)
{
  const int32_t *mesh = solver->spec.mesh;
  const size_t each = (size_t)mesh[0] + (size_t)mesh[1] + (size_t)mesh[2];
  const size_t bytes = 2 * each * sizeof(double);
  double *host = malloc(bytes), *at = host;
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for the tables of a mesh");
  for (int a = 0; a < 3; at += mesh[a++])
    fill_axis(&solver->spec, a, at, at + each);
  md_status status = md_buffer_reserve(solver->ctx, &solver->table, bytes, 0);
  if (!status) status = md_write(solver->ctx, solver->table.data, host, bytes);
  if (!status) status = md_ctx_sync(solver->ctx);
  free(host);
  return status;
}

pme_tables pme_tables_of(const pme *solver)
{
  const int32_t *mesh = solver->spec.mesh;
  const int64_t each = (int64_t)mesh[0] + mesh[1] + mesh[2];
  const double *at = solver->table.data, decay = M_PI / solver->spec.alpha;
  pme_tables t = {
      .mesh_last = mesh[2], .scale = 1 / (M_PI * solver->volume), .slope = 2 * decay * decay};
  for (int a = 0; a < 3; at += mesh[a++]) {
    t.m_sq[a] = at;
    t.factor[a] = at + each;
    t.n[a] = a < 2 ? mesh[a] : mesh[a] / 2 + 1;
  }
  return t;
}
