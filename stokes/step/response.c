/* stokes/step/response.c - see response.h.
 *
 * Patterns are made and answers summed on the host, [3 n][m].  With lubrication alone the matrix
 * is R' = S^-1 R S^-1, S = diag(sqrt(6 pi eta a_i)), so that F . R^-1 F = (S^-1 F) . R'^-1 (S^-1
 * F): patterns are divided by S. */
#include "stokes/step/response.h"
#include "stokes/normal.h"
#include "stokes/step/flow.h"
#include "stokes/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stokes_response {
  md_ctx *ctx;
  stokes_response_spec spec;
  stokes_view view;         /* on the host */
  stokes_packing held;      /* what it points to */
  md_buffer x, f, u;        /* on the backend */
  double *force, *velocity; /* [3 n][vectors] on the host */
  stokes_pairs *pairs;
  rpy *mobility;
  stokes_flow *flow;
  stokes_matrix *matrix;
  stokes_solver *solver;
};

static bool near_only(const stokes_response *r)
{
  return r->spec.hydrodynamics == STOKES_HYDRODYNAMICS_LUBRICATION;
}

static md_status check(const stokes_response_spec *spec)
{
  MD_REQUIRE(spec->vectors >= 1 && spec->vectors <= STOKES_VECTORS, MD_EINVAL,
             "expected 1 to %d patterns at once, not %d", STOKES_VECTORS, spec->vectors);
  MD_REQUIRE(spec->viscosity > 0 && isfinite(spec->viscosity), MD_EINVAL,
             "the viscosity must be > 0 and finite, not %g", spec->viscosity);
  MD_REQUIRE(spec->law.far_field == 1, MD_EINVAL, "the far field of answers must be 1, not %g",
             spec->law.far_field);
  return MD_OK;
}

void stokes_response_destroy(stokes_response *r)
{
  if (!r) return;
  md_buffer *buffers[] = {&r->x, &r->f, &r->u};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(r->ctx, buffers[k]);
  stokes_solver_destroy(r->solver);
  stokes_matrix_destroy(r->matrix);
  stokes_flow_destroy(r->flow);
  rpy_destroy(r->mobility);
  stokes_pairs_destroy(r->pairs);
  stokes_packing_free(&r->held);
  free(r->force);
  free(r->velocity);
  free(r);
}

static rpy_spec mobility_of(const stokes_response *r)
{
  const double *box = r->view.box;
  return (rpy_spec){.box = {box[0], box[1], box[2]},
                    .viscosity = r->spec.viscosity,
                    .tolerance = r->spec.tolerance,
                    .vectors = r->spec.vectors};
}

static md_status begin_far(stokes_response *r, const stokes_view *spheres)
{
  const rpy_spec spec = mobility_of(r);
  MD_TRY(rpy_create(r->ctx, &spec, &r->mobility));
  return rpy_set(r->mobility, spheres);
}

static md_status list_pairs(stokes_response *r, const stokes_view *spheres, stokes_pair_view *list)
{
  MD_TRY(stokes_pairs_create(r->ctx, 1 + r->spec.law.gap_cut / 2, 0, &r->pairs));
  MD_TRY(stokes_pairs_update(r->pairs, spheres, 0));
  *list = stokes_pairs_view(r->pairs);
  return MD_OK;
}

static md_status begin_near(stokes_response *r, const stokes_view *spheres)
{
  stokes_pair_view list;
  MD_TRY(list_pairs(r, spheres, &list));
  MD_TRY(stokes_matrix_create(r->ctx, STOKES_BCRS, &r->matrix));
  MD_TRY(stokes_solver_create(r->ctx, STOKES_PRECONDITION_JACOBI, &r->solver));
  MD_TRY(stokes_matrix_assemble(r->matrix, spheres, &list, &r->spec.law, r->spec.vectors));
  return stokes_solver_attach(r->solver, r->matrix);
}

static md_status begin_both(stokes_response *r, const stokes_view *spheres)
{
  const stokes_flow_spec spec = {mobility_of(r), r->spec.law, r->spec.tolerance, r->spec.most};
  stokes_pair_view list;
  MD_TRY(stokes_flow_create(r->ctx, &spec, &r->flow));
  MD_TRY(list_pairs(r, spheres, &list));
  return stokes_flow_set(r->flow, spheres, &list);
}

static md_status begin(stokes_response *r)
{
  const size_t bytes = (size_t)r->view.n * 4 * sizeof(double);
  const size_t columns = (size_t)r->view.n * 3 * (size_t)r->spec.vectors;
  r->force = malloc(columns * sizeof *r->force);
  r->velocity = malloc(columns * sizeof *r->velocity);
  MD_REQUIRE(r->force && r->velocity, MD_ENOMEM, "out of memory for %d patterns", r->spec.vectors);
  MD_TRY(md_buffer_reserve(r->ctx, &r->x, bytes, 0));
  MD_TRY(md_buffer_reserve(r->ctx, &r->f, columns * sizeof *r->force, 0));
  MD_TRY(md_buffer_reserve(r->ctx, &r->u, columns * sizeof *r->force, 0));
  MD_TRY(md_write(r->ctx, r->x.data, r->held.x, bytes));
  stokes_view spheres = r->view;
  spheres.x = r->x.data;
  switch (r->spec.hydrodynamics) {
  case STOKES_HYDRODYNAMICS_LUBRICATION:
    return begin_near(r, &spheres);
  case STOKES_HYDRODYNAMICS_RPY:
    return begin_far(r, &spheres);
  default:
    return begin_both(r, &spheres);
  }
}

md_status stokes_response_create(md_ctx *ctx, const stokes_response_spec *spec,
                                 const stokes_packing *packing, stokes_response **out)
{
  const double *box = packing->box;
  *out = NULL;
  MD_TRY(check(spec));
  stokes_response *r = calloc(1, sizeof *r);
  MD_REQUIRE(r, MD_ENOMEM, "out of memory for a suspension");
  r->ctx = ctx;
  r->spec = *spec;
  md_status status = stokes_packing_create(packing->n, &r->held);
  if (!status) {
    memcpy(r->held.box, box, sizeof r->held.box);
    memcpy(r->held.x, packing->x, (size_t)packing->n * 4 * sizeof *packing->x);
    r->view = (stokes_view){packing->n, {box[0], box[1], box[2]}, r->held.x};
    status = begin(r);
  }
  if (status)
    stokes_response_destroy(r);
  else
    *out = r;
  return status;
}

/* The force on sphere i. */
static void force_of(const stokes_response *r, const stokes_pattern *pattern, int64_t i, double *f)
{
  const double *x = r->view.x + 4 * i;
  if (pattern->kind == STOKES_SIGNS) {
    normal_three(pattern->seed, NORMAL_PROBE, (uint64_t)i, pattern->number, f);
    for (int d = 0; d < 3; d++)
      f[d] = copysign(sqrt(x[3]), f[d]);
    return;
  }
  const double along = (double)pattern->periods * (x[pattern->axis] / r->view.box[pattern->axis]);
  const double phase = 2 * M_PI * (along - floor(along));
  f[0] = f[1] = f[2] = 0;
  f[pattern->axis] = pattern->kind == STOKES_COSINE ? cos(phase) : sin(phase);
}

static double drag_of(const stokes_response *r, int64_t i)
{
  return 6 * M_PI * r->spec.viscosity * r->view.x[4 * i + 3];
}

/* Forces of m patterns, and what is known before there are velocities.  Column after column, so
 * that sums have one order. */
static void fill(stokes_response *r, int m, const stokes_pattern *pattern, stokes_answer *answer)
{
  const int64_t n = r->view.n;
#pragma omp parallel for schedule(static) num_threads(team_size(r->ctx, n))
  for (int c = 0; c < m; c++) {
    stokes_answer *a = &answer[c];
    *a = (stokes_answer){0};
    for (int64_t i = 0; i < n; i++) {
      double f[3];
      const double drag = drag_of(r, i), scale = near_only(r) ? 1 / sqrt(drag) : 1;
      force_of(r, &pattern[c], i, f);
      for (int d = 0; d < 3; d++) {
        r->force[(3 * i + d) * m + c] = scale * f[d];
        a->alone += f[d] * f[d] / drag;
      }
      a->sum += pattern[c].kind == STOKES_SIGNS ? 0 : f[pattern[c].axis];
    }
  }
}

static void sum_power(stokes_response *r, int m, stokes_answer *answer)
{
  const int64_t length = 3 * r->view.n;
#pragma omp parallel for schedule(static) num_threads(team_size(r->ctx, r->view.n))
  for (int c = 0; c < m; c++)
    for (int64_t k = 0; k < length; k++)
      answer[c].power += r->force[k * m + c] * r->velocity[k * m + c];
}

/* u = N f, on the backend. */
static md_status apply(stokes_response *r, int m, stokes_outcome *outcome)
{
  const double *f = r->f.data;
  double *u = r->u.data;
  *outcome = (stokes_outcome){0};
  if (r->mobility) return rpy_multiply(r->mobility, m, f, u);
  MD_TRY(md_fill(r->ctx, u, 0, (size_t)r->view.n * 3 * (size_t)m * sizeof *u));
  if (r->flow) return stokes_flow_solve(r->flow, m, f, NULL, u, outcome);
  const double tolerance = r->spec.tolerance;
  return m == 1 ? stokes_solver_cg(r->solver, f, u, tolerance, r->spec.most, outcome)
                : stokes_solver_block_cg(r->solver, m, f, u, tolerance, r->spec.most, outcome);
}

md_status stokes_response_ask(stokes_response *r, int n, const stokes_pattern *pattern,
                              stokes_answer *answer, stokes_outcome *outcome)
{
  *outcome = (stokes_outcome){0};
  for (int first = 0; first < n; first += r->spec.vectors) {
    const int left = n - first, m = left < r->spec.vectors ? left : r->spec.vectors;
    const size_t bytes = (size_t)r->view.n * 3 * (size_t)m * sizeof(double);
    stokes_outcome one;
    fill(r, m, pattern + first, answer + first);
    MD_TRY(md_write(r->ctx, r->f.data, r->force, bytes));
    MD_TRY(apply(r, m, &one));
    MD_TRY(md_read(r->ctx, r->velocity, r->u.data, bytes));
    sum_power(r, m, answer + first);
    outcome->iterations += one.iterations;
    outcome->residual = fmax(outcome->residual, one.residual);
  }
  return MD_OK;
}
