/* tests/ref/ref_spread.c - see ref_spread.h. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

double ref_bspline(int p, double u)
{
  if (u <= 0 || u >= p) return 0;
  const long double from = u <= p / 2.0 ? (long double)u : p - (long double)u;
  long double sum = 0, choose = 1, factorial = 1;
  for (int k = 0; k < from; k++) {
    long double term = choose;
    for (int power = 1; power < p; power++)
      term *= from - k;
    sum += term;
    choose *= -(long double)(p - k) / (k + 1);
  }
  for (int k = 2; k < p; k++)
    factorial *= k;
  return (double)(sum / factorial);
}

double ref_bspline_slope(int p, double u)
{
  if (p == 2) return u <= 0 || u >= 2 ? 0 : u < 1 ? 1 : -1;
  return ref_bspline(p - 1, u) - ref_bspline(p - 1, u - 1);
}

/* Mesh points and weights of one particle along one axis. */
typedef struct {
  int64_t at[SPREAD_ORDER_MAX];
  double w[SPREAD_ORDER_MAX], slope[SPREAD_ORDER_MAX];
} axis_points;

static axis_points find_points(const spread_spec *spec, int axis, double x)
{
  axis_points to;
  const int64_t k = spec->mesh[axis];
  const double edge = spec->hi[axis] - spec->lo[axis];
  const double u = (x - spec->lo[axis]) / edge * (double)k, below = floor(u);
  for (int j = 0; j < spec->order; j++) {
    const double at = fmod(below + j, (double)k);
    to.at[j] = (int64_t)(at < 0 ? at + (double)k : at);
    to.w[j] = ref_bspline(spec->order, u - below + spec->order - 1 - j);
    to.slope[j] = ref_bspline_slope(spec->order, u - below + spec->order - 1 - j) * k / edge;
  }
  return to;
}

static int64_t point(const spread_spec *spec, const axis_points to[3], int i, int j, int k)
{
  return (to[0].at[i] * spec->mesh[1] + to[1].at[j]) * spec->mesh[2] + to[2].at[k];
}

void ref_spread(const spread_spec *spec, int64_t n, const double *x, const double *q, double *mesh)
{
  for (int64_t particle = 0; particle < n; particle++) {
    axis_points to[3];
    for (int a = 0; a < 3; a++)
      to[a] = find_points(spec, a, x[3 * particle + a]);
    for (int i = 0; i < spec->order; i++)
      for (int j = 0; j < spec->order; j++)
        for (int k = 0; k < spec->order; k++)
          mesh[point(spec, to, i, j, k)] += q[particle] * to[0].w[i] * to[1].w[j] * to[2].w[k];
  }
}

void ref_interpolate(const spread_spec *spec, int64_t n, const double *x, const double *mesh,
                     double *value, double *gradient)
{
  for (int64_t particle = 0; particle < n; particle++) {
    axis_points to[3];
    double sum[4] = {0};
    for (int a = 0; a < 3; a++)
      to[a] = find_points(spec, a, x[3 * particle + a]);
    for (int i = 0; i < spec->order; i++)
      for (int j = 0; j < spec->order; j++)
        for (int k = 0; k < spec->order; k++) {
          const double m = mesh[point(spec, to, i, j, k)];
          sum[0] += m * to[0].w[i] * to[1].w[j] * to[2].w[k];
          sum[1] += m * to[0].slope[i] * to[1].w[j] * to[2].w[k];
          sum[2] += m * to[0].w[i] * to[1].slope[j] * to[2].w[k];
          sum[3] += m * to[0].w[i] * to[1].w[j] * to[2].slope[k];
        }
    value[particle] = sum[0];
    memcpy(gradient + 3 * particle, sum + 1, 3 * sizeof *gradient);
  }
}

static double draw(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-53;
}

/* One coordinate as a fraction of the box edge. */
static double fraction(ref_place place, int64_t i, int axis, int64_t n, int64_t k, uint64_t *seed)
{
  const double u = draw(seed);
  switch (place) {
  case REF_LATTICE: {
    const int64_t edge = (int64_t)ceil(cbrt((double)n));
    const int64_t at[3] = {i / (edge * edge), i / edge % edge, i % edge};
    return ((double)at[axis] + 0.25) / (double)edge;
  }
  case REF_CLUSTERED:
    return 0.2 * (double)(i % 5) + 0.03 * (u + draw(seed) + draw(seed) - 1.5);
  case REF_ON_POINTS:
    return floor(u * (double)k) / (double)k;
  case REF_ON_EDGES:
    return i % 3 == axis ? u : (double)(i % 2);
  case REF_ONE_CELL:
    return ((double)(k - 1) + u) / (double)k;
  case REF_FAR:
    return u + floor(41 * draw(seed)) - 20;
  case REF_COLUMN: {
    const double within[] = {0, u, 1 - 0x1p-16};
    if (axis < 2) return ((double)(k / 2) + u) / (double)k;
    return ((double)(i / 3 % k) + within[i % 3]) / (double)k;
  }
  default:
    return u;
  }
}

ref_particles ref_particles_make(const spread_spec *spec, md_precision precision, ref_place place,
                                 int64_t n)
{
  ref_particles particles = {n, calloc((size_t)n + 1, 3 * sizeof(double)),
                             calloc((size_t)(n * spec->vectors) + 1, sizeof(double))};
  uint64_t seed = 12345;
  for (int64_t i = 0; i < n; i++)
    for (int a = 0; a < 3; a++) {
      const double edge = spec->hi[a] - spec->lo[a];
      double x = spec->lo[a] + edge * fraction(place, i, a, n, spec->mesh[a], &seed);
      if (precision == MD_SINGLE) x = (float)x;
      if (place == REF_ON_EDGES && i % 3 != a && i % 9 >= 3) { /* the number below or above */
        const double to = i % 9 < 6 ? -INFINITY : INFINITY;
        x = precision == MD_SINGLE ? nextafterf((float)x, (float)to) : nextafter(x, to);
      }
      particles.x[3 * i + a] = x;
    }
  for (int64_t i = 0; i < n * spec->vectors; i++) {
    const double q = 2 * draw(&seed) - 1;
    particles.q[i] = precision == MD_DOUBLE ? q : (float)q;
  }
  return particles;
}

void ref_particles_free(ref_particles *particles)
{
  free(particles->x);
  free(particles->q);
}

/* Copies between doubles on the host and floats or doubles on the backend. */
static void put(md_ctx *ctx, md_buffer *to, int64_t n, const double *from, bool narrow)
{
  const size_t item = narrow ? sizeof(float) : sizeof(double);
  float *floats = malloc((size_t)n * sizeof *floats + 1);
  for (int64_t i = 0; i < n; i++)
    floats[i] = (float)from[i];
  ck_ok(md_buffer_reserve(ctx, to, (size_t)n * item + 1, 0));
  ck_ok(md_write(ctx, to->data, narrow ? (const void *)floats : from, (size_t)n * item));
  ck_ok(md_ctx_sync(ctx));
  free(floats);
}

static void get(md_ctx *ctx, const md_buffer *from, int64_t n, double *to, bool narrow)
{
  const size_t item = narrow ? sizeof(float) : sizeof(double);
  float *floats = malloc((size_t)n * sizeof *floats + 1);
  ck_ok(md_read(ctx, narrow ? (void *)floats : to, from->data, (size_t)n * item));
  for (int64_t i = 0; i < n && narrow; i++)
    to[i] = (double)floats[i];
  free(floats);
}

static bool narrow_real(const ref_run *run)
{
  return run->ctx->precision != MD_DOUBLE;
}

void ref_run_positions(ref_run *run, const ref_particles *particles)
{
  const int64_t n = particles->n, vectors = run->spec.vectors;
  run->n = n;
  put(run->ctx, &run->x, 3 * n, particles->x, run->ctx->precision == MD_SINGLE);
  put(run->ctx, &run->q, vectors * n, particles->q, narrow_real(run));
  ck_ok(md_buffer_reserve(run->ctx, &run->value, (size_t)(vectors * n) * sizeof(double) + 1, 0));
  ck_ok(md_buffer_reserve(run->ctx, &run->gradient, (size_t)(vectors * n) * 3 * sizeof(double) + 1,
                          0));
  ck_ok(spread_set_positions(run->plan, n, run->x.data, 3));
}

ref_run ref_run_open(md_ctx *ctx, const spread_spec *spec, const ref_particles *particles)
{
  ref_run run = {.ctx = ctx, .spec = *spec};
  run.points = (int64_t)spec->mesh[0] * spec->mesh[1] * spec->mesh[2];
  ck_ok(spread_create(ctx, spec, &run.plan));
  const size_t bytes = (size_t)(run.points * spec->vectors) * sizeof(double);
  ck_ok(md_buffer_reserve(ctx, &run.mesh, bytes, 0));
  ck_ok(md_fill(ctx, run.mesh.data, 0xff, bytes)); /* NaN, to be overwritten */
  ref_run_positions(&run, particles);
  return run;
}

void ref_run_spread(ref_run *run, double *mesh)
{
  ck_ok(spread_charges(run->plan, run->q.data, run->mesh.data));
  get(run->ctx, &run->mesh, run->points * run->spec.vectors, mesh, narrow_real(run));
}

void ref_run_interpolate(ref_run *run, const double *mesh, double *value, double *gradient)
{
  const int64_t n = run->n * run->spec.vectors;
  put(run->ctx, &run->mesh, run->points * run->spec.vectors, mesh, narrow_real(run));
  ck_ok(spread_interpolate(run->plan, run->mesh.data, value ? run->value.data : NULL,
                           gradient ? run->gradient.data : NULL));
  if (value) get(run->ctx, &run->value, n, value, narrow_real(run));
  if (gradient) get(run->ctx, &run->gradient, 3 * n, gradient, narrow_real(run));
}

void ref_run_close(ref_run *run)
{
  spread_destroy(run->plan);
  md_buffer *const all[] = {&run->x, &run->q, &run->mesh, &run->value, &run->gradient};
  for (int k = 0; k < 5; k++)
    md_buffer_free(run->ctx, all[k]);
}

double ref_error(int64_t n, const double *a, const double *b)
{
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return norm > 0 ? sqrt(difference / norm) : sqrt(difference);
}

spread_spec ref_spec(spread_method method, int k1, int k2, int k3, int order)
{
  spread_spec spec = {.lo = {-1.7, 0.3, 5},
                      .hi = {2.1, 3.9, 7.5},
                      .mesh = {k1, k2, k3},
                      .order = order,
                      .method = method,
                      .vectors = 1};
  return spec;
}

double ref_run_error(ref_run *run, const ref_particles *particles)
{
  double *mesh = calloc((size_t)(run->points * run->spec.vectors), sizeof *mesh);
  double *exact = calloc((size_t)run->points, sizeof *exact);
  ref_run_spread(run, mesh);
  ref_spread(&run->spec, particles->n, particles->x, particles->q, exact);
  const double error = ref_error(run->points, mesh, exact);
  free(mesh);
  free(exact);
  return error;
}
