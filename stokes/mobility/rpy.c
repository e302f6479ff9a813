/* stokes/mobility/rpy.c - a mobility: checks, spheres, products. */
#include "stokes/mobility/rpy_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

md_ctx rpy_where(const md_ctx *ctx, double tolerance)
{
  const double single = 1e-4;
  md_ctx where = *ctx;
  if (where.backend == MD_GPU && tolerance >= single) where.precision = MD_MIXED;
  return where;
}

static md_status check_split(const rpy_split *split)
{
  MD_REQUIRE(split->xi >= 0 && isfinite(split->xi), MD_EINVAL,
             "xi must be > 0, or 0 to be chosen, not %g", split->xi);
  MD_REQUIRE(split->cut >= 0 && isfinite(split->cut), MD_EINVAL,
             "the cut must be > 0, or 0 to be chosen, not %g", split->cut);
  MD_REQUIRE(split->order == 0 || (split->order >= RPY_ORDER_MIN && split->order <= RPY_ORDER_MAX),
             MD_EINVAL, "the order of the B-splines must be %d to %d, or 0 to be chosen, not %d",
             RPY_ORDER_MIN, RPY_ORDER_MAX, split->order);
  double points = 1;
  for (int d = 0; d < 3; d++)
    points = split->mesh[d] < 0 ? NAN : points * split->mesh[d];
  MD_REQUIRE(points <= INT32_MAX, MD_EINVAL,
             "the mesh must have at most %d points, or none to be chosen, not %" PRId32
             " x %" PRId32 " x %" PRId32,
             INT32_MAX, split->mesh[0], split->mesh[1], split->mesh[2]);
  MD_REQUIRE(split->rank >= 0 && split->rank <= RPY_NODES, MD_EINVAL,
             "the rank must be 1 to %d, or 0 to be chosen, not %d", RPY_NODES, split->rank);
  MD_REQUIRE(split->xi > 0 ||
                 (split->cut == 0 && split->mesh[0] == 0 && split->order == 0 && split->rank == 0),
             MD_EINVAL, "cut, mesh, order and rank can be given together with xi only");
  return MD_OK;
}

md_status rpy_check(const md_ctx *ctx, const rpy_spec *spec)
{
  MD_REQUIRE(rpy_far_available(ctx->backend), MD_EINVAL,
             "this build has no FFTW3, which mobilities need (Debian package libfftw3-dev)");
  MD_REQUIRE(ctx->precision != MD_SINGLE, MD_EINVAL,
             "a mobility needs positions in double: expected the precision mixed or double");
  for (int d = 0; d < 3; d++)
    MD_REQUIRE(spec->box[d] > 0 && isfinite(spec->box[d]), MD_EINVAL,
               "a mobility needs a periodic box: its edges must be > 0 and finite, not %g",
               spec->box[d]);
  MD_REQUIRE(spec->viscosity > 0 && isfinite(spec->viscosity), MD_EINVAL,
             "the viscosity must be > 0 and finite, not %g", spec->viscosity);
  const double least = ctx->precision == MD_DOUBLE ? RPY_TOLERANCE_MIN : RPY_SINGLE;
  MD_REQUIRE(spec->tolerance >= least && spec->tolerance <= RPY_TOLERANCE_MAX, MD_EINVAL,
             "the tolerance must be %g to %g in this precision, not %g", least, RPY_TOLERANCE_MAX,
             spec->tolerance);
  MD_REQUIRE(spec->vectors >= 1 && spec->vectors <= STOKES_COLUMNS, MD_EINVAL,
             "a product takes 1 to %d vectors, not %d", STOKES_COLUMNS, spec->vectors);
  return check_split(&spec->split);
}

md_status rpy_create(md_ctx *ctx, const rpy_spec *spec, rpy **out)
{
  *out = NULL;
  MD_TRY(rpy_check(ctx, spec));
  rpy *mobility = calloc(1, sizeof *mobility);
  if (mobility) mobility->terms = calloc(1, sizeof *mobility->terms);
  if (!mobility || !mobility->terms) {
    free(mobility);
    return MD_FAIL(MD_ENOMEM, "out of memory for a mobility");
  }
  mobility->ctx = ctx;
  mobility->spec = *spec;
  mobility->report.split = spec->split;
  *out = mobility;
  return MD_OK;
}

void rpy_destroy(rpy *mobility)
{
  if (!mobility) return;
  rpy_near_destroy(&mobility->near);
  rpy_far_destroy(&mobility->far);
  md_buffer_free(mobility->ctx, &mobility->kept);
  free(mobility->terms);
  free(mobility);
}

static md_status check_spheres(const rpy *mobility, const stokes_view *spheres)
{
  MD_REQUIRE(spheres->n >= 1 && spheres->n <= INT32_MAX, MD_EINVAL,
             "expected 1 to %d spheres, not %" PRId64, INT32_MAX, spheres->n);
  for (int d = 0; d < 3; d++)
    MD_REQUIRE(spheres->box[d] == mobility->spec.box[d], MD_EINVAL,
               "the spheres are in a box with an edge of %g, the mobility in one of %g",
               spheres->box[d], mobility->spec.box[d]);
  return MD_OK;
}

static void drop(rpy *mobility)
{
  rpy_near_destroy(&mobility->near);
  rpy_far_destroy(&mobility->far);
  mobility->near = (rpy_near){0};
  mobility->far = (rpy_far){0};
}

md_status rpy_view_open(md_ctx *ctx, const stokes_view *spheres, stokes_view *host)
{
  const size_t bytes = (size_t)spheres->n * 4 * sizeof(double);
  *host = *spheres;
  if (ctx->backend == MD_CPU) return MD_OK;
  double *x = malloc(bytes);
  MD_REQUIRE(x, MD_ENOMEM, "out of memory for %" PRId64 " spheres", spheres->n);
  host->x = x;
  const md_status status = md_read(ctx, x, spheres->x, bytes);
  if (status) rpy_view_close(spheres, host);
  return status;
}

void rpy_view_close(const stokes_view *spheres, stokes_view *host)
{
  if (host->x != spheres->x) free((void *)(uintptr_t)host->x);
}

/* Choose what is to be chosen, and make both parts. */
static md_status begin(rpy *mobility, const stokes_view *spheres, const stokes_view *host)
{
  rpy_split *split = &mobility->report.split;
  MD_TRY(rpy_choose(mobility, spheres, host));
  md_status status =
      rpy_near_create(mobility->ctx, split, mobility->spec.viscosity, &mobility->near);
  if (!status)
    status = rpy_far_create(mobility->ctx, mobility->spec.box, mobility->spec.viscosity, split,
                            mobility->spec.vectors, &mobility->far);
  if (status) drop(mobility);
  return status;
}

/* What depends on the radii. */
static md_status set_radii(rpy *mobility, const stokes_view *spheres, const stokes_view *host)
{
  rpy_radii *radii = &mobility->radii;
  MD_TRY(rpy_radii_of(host, radii));
  const double density = (double)spheres->n / rpy_volume(spheres->box);
  if (!mobility->far.ctx) MD_TRY(begin(mobility, spheres, host));
  MD_REQUIRE(rpy_radii_resolve(radii, mobility->report.split.xi), MD_EINVAL,
             "radii from %g to %g are too many and too different for one mesh with xi = %g",
             radii->least, radii->most, mobility->report.split.xi);
  MD_TRY(rpy_terms_of(radii, density, mobility->spec.viscosity, mobility->report.split.xi,
                      mobility->terms));
  MD_REQUIRE(mobility->far.rank <= mobility->terms->n, MD_EINVAL,
             "a rank of %d needs as many different radii, not %d", mobility->far.rank,
             mobility->terms->n);
  MD_TRY(rpy_far_terms(&mobility->far, host, radii, mobility->terms));
  return rpy_near_radii(&mobility->near, spheres, radii);
}

static md_status set(rpy *mobility, const stokes_view *spheres, int64_t before)
{
  bool same;
  MD_TRY(rpy_radii_keep(mobility->ctx, spheres, before, &mobility->kept, &same));
  if (!same || before == 0) {
    stokes_view host;
    MD_TRY(rpy_view_open(mobility->ctx, spheres, &host));
    const md_status status = set_radii(mobility, spheres, &host);
    rpy_view_close(spheres, &host);
    MD_TRY(status);
  }
  MD_TRY(rpy_near_set(&mobility->near, spheres, &mobility->radii, mobility->spec.vectors));
  return rpy_far_set(&mobility->far, spheres);
}

md_status rpy_set(rpy *mobility, const stokes_view *spheres)
{
  MD_TRY(check_spheres(mobility, spheres));
  const int64_t before = mobility->ready ? mobility->report.n : 0;
  mobility->ready = false;
  MD_TRY(set(mobility, spheres, before));
  mobility->ready = true;
  mobility->report.n = spheres->n;
  mobility->report.radii = mobility->radii.n;
  return MD_OK;
}

static md_status check_product(const rpy *mobility, int m)
{
  MD_REQUIRE(mobility->ready, MD_EINVAL, "a mobility multiplies once spheres are set");
  MD_REQUIRE(m >= 1 && m <= STOKES_COLUMNS, MD_EINVAL, "a product takes 1 to %d vectors, not %d",
             STOKES_COLUMNS, m);
  return MD_OK;
}

md_status rpy_multiply_near(rpy *mobility, int m, const double *f, double *u)
{
  MD_TRY(check_product(mobility, m));
  return rpy_near_multiply(&mobility->near, m, f, u);
}

md_status rpy_add_far(rpy *mobility, int m, const double *f, double *u)
{
  MD_TRY(check_product(mobility, m));
  return rpy_far_add(&mobility->far, m, f, u);
}

md_status rpy_multiply(rpy *mobility, int m, const double *f, double *u)
{
  MD_TRY(rpy_multiply_near(mobility, m, f, u));
  return rpy_add_far(mobility, m, f, u);
}

md_status rpy_sample(rpy *mobility, int m, uint64_t seed, uint64_t step, double *u,
                     stokes_outcome *out)
{
  MD_TRY(check_product(mobility, m));
  stokes_outcome unwanted;
  MD_TRY(rpy_near_sample(&mobility->near, mobility->report.n, m, seed, step,
                         mobility->spec.tolerance, u, out ? out : &unwanted));
  return rpy_far_sample(&mobility->far, m, seed, step, u);
}

void rpy_describe(const rpy *mobility, rpy_report *out)
{
  *out = mobility->report;
  out->single = mobility->ctx->precision != MD_DOUBLE;
  if (!mobility->ready) return;
  const stokes_shape shape = stokes_matrix_shape(mobility->near.matrix);
  out->blocks = (double)shape.n_blocks / (double)shape.n_rows;
  out->bytes = shape.bytes + rpy_far_bytes(&mobility->far);
}
