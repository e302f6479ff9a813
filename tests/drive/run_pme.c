/* tests/drive/run_pme.c - see run_pme.h. */
#include "tests/drive/run_pme.h"
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

#include <complex.h>

sample sample_make(int n, double e0, double e1, double e2, bool neutral)
{
  sample s = {.c = {.n = n, .edge = {e0, e1, e2}}};
  s.x = malloc((size_t)n * sizeof(double[3]));
  s.q = malloc((size_t)n * sizeof(double));
  s.f = malloc((size_t)n * sizeof(double[3]));
  s.exact_f = malloc((size_t)n * sizeof(double[3]));
  s.c.x = s.x, s.c.q = s.q;
  srand(7);
  for (int i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++) /* floats, so that every precision has them */
      s.x[3 * i + d] = (float)(s.c.edge[d] * rand() / (RAND_MAX + 1.0));
    s.q[i] = neutral ? (i % 2 ? -1 : 1) : 0.25 * (i % 5);
  }
  return s;
}

void sample_free(sample *s)
{
  free(s->x), free(s->q), free(s->f), free(s->exact_f);
}

pme_spec sample_spec(const sample *s, int k0, int k1, int k2, int order, double alpha)
{
  return (pme_spec){.hi = {s->c.edge[0], s->c.edge[1], s->c.edge[2]},
                    .mesh = {k0, k1, k2},
                    .order = order,
                    .alpha = alpha,
                    .method = SPREAD_AUTO};
}

void sample_upload(md_ctx *ctx, const sample *s, md_buffer *x4)
{
  const size_t fours = (size_t)s->c.n * 4, size = md_state_size(ctx->precision);
  double *wide = malloc(fours * sizeof *wide);
  float *narrow = malloc(fours * sizeof *narrow);
  for (size_t k = 0; k < fours; k++) {
    wide[k] = k % 4 < 3 ? s->x[k / 4 * 3 + k % 4] : s->q[k / 4];
    narrow[k] = (float)wide[k];
  }
  ck_ok(md_buffer_reserve(ctx, x4, fours * size, 0));
  ck_ok(md_write(ctx, x4->data, ctx->precision == MD_SINGLE ? (void *)narrow : wide, fours * size));
  ck_ok(md_ctx_sync(ctx));
  free(wide), free(narrow);
}

static void download(md_ctx *ctx, const md_buffer *f4, sample *s)
{
  const size_t fours = (size_t)s->c.n * 4, size = md_real_size(ctx->precision);
  void *host = malloc(fours * size);
  ck_ok(md_read(ctx, host, f4->data, fours * size));
  for (int i = 0; i < s->c.n; i++)
    for (int d = 0; d < 3; d++)
      s->f[3 * i + d] =
          size == 4 ? (double)((float *)host)[4 * i + d] : ((double *)host)[4 * i + d];
  free(host);
}

pme_tally sample_compute(pme *solver, md_ctx *ctx, sample *s)
{
  const size_t state = md_state_size(ctx->precision), n = (size_t)s->c.n;
  md_buffer x4 = {0}, f4 = {0};
  sample_upload(ctx, s, &x4);
  ck_ok(md_buffer_reserve(ctx, &f4, n * 4 * md_real_size(ctx->precision), 0));
  ck_ok(md_fill(ctx, f4.data, 0, n * 4 * md_real_size(ctx->precision)));
  const pme_charges charges = {s->c.n, x4.data, 4, (char *)x4.data + 3 * state, 4};
  pme_tally tally;
  ck_ok(pme_compute(solver, &charges, f4.data, &tally));
  download(ctx, &f4, s);
  md_buffer_free(ctx, &x4);
  md_buffer_free(ctx, &f4);
  return tally;
}

pme_tally sample_once(md_ctx *ctx, const pme_spec *spec, sample *s)
{
  pme *solver;
  ck_ok(pme_create(ctx, spec, &solver));
  const pme_tally tally = sample_compute(solver, ctx, s);
  pme_destroy(solver);
  return tally;
}

double sample_difference(int n, const double *a, const double *b)
{
  double above = 0, below = 0;
  for (int k = 0; k < n; k++)
    above += (a[k] - b[k]) * (a[k] - b[k]), below += b[k] * b[k];
  return sqrt(above / below);
}

double tally_total(const pme_tally *t)
{
  return t->reciprocal + t->self + t->background;
}

/* |b(m)|^2 of an axis of K points. */
static double factor_sq(int order, int m, int mesh)
{
  double complex sum = 0;
  if (order % 2 && 2 * m == mesh)
    return (factor_sq(order, m - 1, mesh) + factor_sq(order, m + 1, mesh)) / 2;
  for (int k = 1; k < order; k++)
    sum += ref_bspline(order, k) * cexp(2 * M_PI * I * m * k / mesh);
  return 1 / (creal(sum) * creal(sum) + cimag(sum) * cimag(sum));
}

ref_coulomb sample_mesh_sum(const pme_spec *spec, const sample *s)
{
  const int *k = spec->mesh, points = k[0] * k[1] * k[2];
  const spread_spec grid = {.hi = {spec->hi[0], spec->hi[1], spec->hi[2]},
                            .mesh = {k[0], k[1], k[2]},
                            .order = spec->order,
                            .vectors = 1};
  const double volume = spec->hi[0] * spec->hi[1] * spec->hi[2];
  double *mesh = calloc((size_t)points, sizeof *mesh);
  double complex wave[3][16];
  for (int d = 0; d < 3; d++) {
    ck_assert_int_le(k[d], 16);
    for (int m = 0; m < k[d]; m++)
      wave[d][m] = cexp(-2 * M_PI * I * m / k[d]);
  }
  ref_coulomb sum = {0};
  ref_spread(&grid, s->c.n, s->x, s->q, mesh);
  for (int mode = 1; mode < points; mode++) {
    const int m[3] = {mode / k[2] / k[1], mode / k[2] % k[1], mode % k[2]};
    double m_sq = 0, b_sq = 1;
    double complex total = 0;
    for (int d = 0; d < 3; d++) {
      m_sq += pow((2 * m[d] > k[d] ? m[d] - k[d] : m[d]) / spec->hi[d], 2);
      b_sq *= factor_sq(spec->order, m[d], k[d]);
    }
    for (int at = 0; at < points; at++)
      total += mesh[at] * wave[0][m[0] * (at / k[2] / k[1]) % k[0]] *
               wave[1][m[1] * (at / k[2] % k[1]) % k[1]] * wave[2][m[2] * (at % k[2]) % k[2]];
    const double decay = pow(M_PI / spec->alpha, 2) * m_sq;
    const double energy = exp(-decay) * b_sq * pow(cabs(total), 2) / (2 * M_PI * volume * m_sq);
    sum.energy += energy;
    sum.virial += energy * (1 - 2 * decay);
  }
  free(mesh);
  return sum;
}
