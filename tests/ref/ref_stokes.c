/* tests/ref/ref_stokes.c - see ref_stokes.h. */
#include "tests/ref/ref_stokes.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

long double ref_squeeze(long double l, long double xi)
{
  const long double q = (1 + l) * (1 + l) * (1 + l);
  const long double g1 = 2 * l * l / q, g2 = l * (1 + 7 * l + l * l) / (5 * q);
  const long double g3 = (1 + 18 * l - 29 * l * l + 18 * l * l * l + l * l * l * l) / (42 * q);
  return g1 / xi + g2 * logl(1 / xi) + g3 * xi * logl(1 / xi);
}

long double ref_shear(long double l, long double xi)
{
  const long double q = (1 + l) * (1 + l) * (1 + l);
  const long double g2 = 4 * l * (2 + l + 2 * l * l) / (15 * q);
  const long double g3 =
      2 * (16 - 45 * l + 58 * l * l - 45 * l * l * l + 16 * l * l * l * l) / (375 * q);
  return g2 * logl(1 / xi) + g3 * xi * logl(1 / xi);
}

/* Vector from i to the nearest image of j; returns its length. */
static long double nearest(const stokes_packing *p, int64_t i, int64_t j, long double d[3])
{
  long double sum = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = (long double)p->x[4 * j + k] - p->x[4 * i + k];
    d[k] -= p->box[k] * roundl(d[k] / p->box[k]);
    sum += d[k] * d[k];
  }
  return sqrtl(sum);
}

static long double gap(const stokes_packing *p, int64_t i, int64_t j, long double d[3])
{
  return 2 * nearest(p, i, j, d) / (p->x[4 * i + 3] + p->x[4 * j + 3]) - 2;
}

double *ref_resistance(const stokes_packing *p, const stokes_resistance *law)
{
  const int64_t n = 3 * p->n;
  long double *a = ref_alloc(n * n, sizeof *a);
  for (int64_t k = 0; k < n; k++)
    a[k * n + k] = law->far_field * p->x[4 * (k / 3) + 3];
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) {
      long double d[3];
      const long double found = gap(p, i, j, d), r = nearest(p, i, j, d);
      if (found >= law->gap_cut) continue;
      const long double xi = fmaxl(found, law->gap_min), cut = law->gap_cut;
      const long double radius = p->x[4 * i + 3], lambda = p->x[4 * j + 3] / radius;
      const long double x = fmaxl(0, radius * (ref_squeeze(lambda, xi) - ref_squeeze(lambda, cut)));
      const long double y = fmaxl(0, radius * (ref_shear(lambda, xi) - ref_shear(lambda, cut)));
      for (int row = 0; row < 3; row++)
        for (int col = 0; col < 3; col++) {
          const long double e = d[row] * d[col] / (r * r), t = x * e + y * ((row == col) - e);
          a[(3 * i + row) * n + 3 * i + col] += t;
          a[(3 * j + row) * n + 3 * j + col] += t;
          a[(3 * i + row) * n + 3 * j + col] -= t;
          a[(3 * j + row) * n + 3 * i + col] -= t;
        }
    }
  double *out = ref_alloc(n * n, sizeof *out);
  for (int64_t r = 0; r < n; r++)
    for (int64_t c = 0; c < n; c++)
      out[r * n + c] =
          (double)(a[r * n + c] / (law->far_field * sqrtl((long double)p->x[4 * (r / 3) + 3] *
                                                          p->x[4 * (c / 3) + 3])));
  free(a);
  return out;
}

void ref_multiply(const double *a, int64_t n, int m, const double *x, double *y)
{
  for (int64_t r = 0; r < n; r++)
    for (int c = 0; c < m; c++) {
      long double sum = 0;
      for (int64_t k = 0; k < n; k++)
        sum += (long double)a[r * n + k] * x[k * m + c];
      y[r * m + c] = (double)sum;
    }
}

static void swap_rows(double *a, int64_t width, int64_t i, int64_t j)
{
  for (int64_t k = 0; k < width && i != j; k++) {
    const double kept = a[i * width + k];
    a[i * width + k] = a[j * width + k];
    a[j * width + k] = kept;
  }
}

void ref_solve(double *a, int64_t n, int64_t m, double *b)
{
  for (int64_t k = 0; k < n; k++) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    swap_rows(a, n, k, pivot);
    swap_rows(b, m, k, pivot);
    for (int64_t i = 0; i < n; i++) {
      const double factor = i == k ? 0 : a[i * n + k] / a[k * n + k];
      for (int64_t j = k; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
      for (int64_t j = 0; j < m; j++)
        b[i * m + j] -= factor * b[k * m + j];
    }
  }
  for (int64_t k = 0; k < n; k++)
    for (int64_t j = 0; j < m; j++)
      b[k * m + j] /= a[k * n + k];
}

/* Reduce a symmetric matrix to tridiagonal form by reflections. */
static void tridiagonal(double *a, int64_t n, double *d, double *e)
{
  double *v = ref_alloc(n, sizeof *v), *w = ref_alloc(n, sizeof *w);
  for (int64_t k = 0; k + 2 < n; k++) {
    double norm = 0, dot = 0;
    for (int64_t i = k + 1; i < n; i++) {
      v[i] = a[i * n + k];
      norm += v[i] * v[i];
    }
    norm = sqrt(norm);
    if (v[k + 1] > 0) norm = -norm;
    const double scale = norm * (norm - v[k + 1]); /* |v|^2 / 2 after the change below */
    e[k] = norm;
    if (scale == 0) continue;
    v[k + 1] -= norm;
    for (int64_t i = k + 1; i < n; i++) {
      double sum = 0;
      for (int64_t j = k + 1; j < n; j++)
        sum += a[i * n + j] * v[j];
      w[i] = sum / scale;
      dot += w[i] * v[i];
    }
    for (int64_t i = k + 1; i < n; i++)
      w[i] -= dot / (2 * scale) * v[i];
    for (int64_t i = k + 1; i < n; i++)
      for (int64_t j = k + 1; j < n; j++)
        a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
  }
  if (n > 1) e[n - 2] = a[(n - 1) * n + n - 2];
  for (int64_t i = 0; i < n; i++)
    d[i] = a[i * n + i];
  free(v);
  free(w);
}

/* Eigenvalues below x of a tridiagonal matrix. */
static int64_t below(const double *d, const double *e, int64_t n, double x)
{
  int64_t count = 0;
  double q = 1;
  for (int64_t i = 0; i < n; i++) {
    q = d[i] - x - (i ? e[i - 1] * e[i - 1] / q : 0);
    if (q == 0) q = 1e-300;
    count += q < 0;
  }
  return count;
}

void ref_eigenvalues(double *a, int64_t n, double *value)
{
  double *d = ref_alloc(n, sizeof *d), *e = ref_alloc(n, sizeof *e);
  tridiagonal(a, n, d, e);
  double bound = 0;
  for (int64_t i = 0; i < n; i++)
    bound = fmax(bound, fabs(d[i]) + fabs(e[i]) + (i ? fabs(e[i - 1]) : 0));
  for (int64_t k = 0; k < n; k++) {
    double low = -bound, high = bound;
    for (int step = 0; step < 64; step++) {
      const double mid = 0.5 * (low + high);
      if (below(d, e, n, mid) > k)
        high = mid;
      else
        low = mid;
    }
    value[k] = 0.5 * (low + high);
  }
  free(d);
  free(e);
}

int64_t ref_clusters(const stokes_packing *p, double gap_cut)
{
  int64_t *group = ref_alloc(p->n, sizeof *group), count = p->n;
  for (int64_t i = 0; i < p->n; i++)
    group[i] = i;
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) {
      long double d[3];
      const int64_t from = group[i], to = group[j];
      if (from == to || gap(p, i, j, d) >= gap_cut) continue;
      for (int64_t k = 0; k < p->n; k++)
        if (group[k] == from) group[k] = to;
      count--;
    }
  free(group);
  return count;
}

stokes_packing ref_packing(int64_t n, double occupancy, bool one_size, uint64_t seed)
{
  md_ctx *ctx;
  const md_ctx_spec cpu = {MD_CPU, MD_DOUBLE, 1, false};
  ck_ok(md_ctx_create(&cpu, &ctx));
  double radius = 30, fraction = 1;
  stokes_radii radii = {1, &radius, &fraction};
  if (!one_size) ck_ok(stokes_radii_read("ecoli", &radii));
  stokes_pack_spec spec = stokes_pack_defaults(n, occupancy);
  spec.seed = seed;
  stokes_packing packing;
  ck_ok(stokes_pack(ctx, &radii, &spec, &packing, NULL));
  if (!one_size) stokes_radii_free(&radii);
  md_ctx_destroy(ctx);
  return packing;
}

ref_suspension ref_suspend(md_ctx *ctx, const stokes_packing *p, double gap_cut)
{
  ref_suspension s = {.ctx = ctx};
  const size_t bytes = (size_t)p->n * 4 * sizeof(double);
  ck_ok(md_buffer_reserve(ctx, &s.x, bytes, 0));
  ck_ok(md_write(ctx, s.x.data, p->x, bytes));
  s.view = (stokes_view){p->n, {p->box[0], p->box[1], p->box[2]}, s.x.data};
  ck_ok(stokes_pairs_create(ctx, 1 + gap_cut / 2, 3, &s.pairs));
  ck_ok(stokes_pairs_update(s.pairs, &s.view, 0));
  return s;
}

void ref_suspension_free(ref_suspension *s)
{
  stokes_pairs_destroy(s->pairs);
  md_buffer_free(s->ctx, &s->x);
}

stokes_matrix *ref_assemble(const ref_suspension *s, stokes_storage storage,
                            const stokes_resistance *law, int vectors)
{
  stokes_matrix *matrix;
  const stokes_pair_view list = stokes_pairs_view(s->pairs);
  ck_ok(stokes_matrix_create(s->ctx, storage, &matrix));
  ck_ok(stokes_matrix_assemble(matrix, &s->view, &list, law, vectors));
  return matrix;
}

double *ref_vector(int64_t n, uint64_t seed)
{
  double *v = ref_alloc(n, sizeof *v);
  for (int64_t k = 0; k < n; k++)
    v[k] = 2 * ref_uniform(&seed) - 1;
  return v;
}

void ref_product(const stokes_matrix *matrix, md_ctx *ctx, int64_t rows, int m, const double *x,
                 double *y)
{
  const size_t bytes = (size_t)(rows * m) * sizeof(double);
  md_buffer in = {0}, out = {0};
  ck_ok(md_buffer_reserve(ctx, &in, bytes, 0));
  ck_ok(md_buffer_reserve(ctx, &out, bytes, 0));
  ck_ok(md_write(ctx, in.data, x, bytes));
  ck_ok(md_fill(ctx, out.data, 0xff, bytes));
  ck_ok(stokes_matrix_multiply(matrix, m, in.data, out.data));
  ck_ok(md_read(ctx, y, out.data, bytes));
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &out);
}

stokes_packing ref_copy(const stokes_packing *packing)
{
  stokes_packing copy;
  ck_ok(stokes_packing_create(packing->n, &copy));
  memcpy(copy.box, packing->box, sizeof copy.box);
  memcpy(copy.x, packing->x, (size_t)packing->n * 4 * sizeof *copy.x);
  return copy;
}

ref_bed ref_bed_make(stokes_packing packing, int threads, const stokes_resistance *law)
{
  ref_bed b = {.packing = packing, .n = 3 * packing.n, .ctx = test_ctx(MD_DOUBLE, threads, true)};
  b.suspension = ref_suspend(b.ctx, &b.packing, law->gap_cut);
  b.matrix = ref_assemble(&b.suspension, STOKES_BCRS, law, 8);
  if (b.n < 2000) b.dense = ref_resistance(&b.packing, law);
  return b;
}

void ref_bed_free(ref_bed *b)
{
  free(b->dense);
  stokes_matrix_destroy(b->matrix);
  ref_suspension_free(&b->suspension);
  stokes_packing_free(&b->packing);
  md_ctx_destroy(b->ctx);
}

void ref_factor(double *a, int64_t n)
{
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) {
      double rest = a[i * n + j];
      for (int64_t k = 0; k < j; k++)
        rest -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? sqrt(rest) : rest / a[j * n + j];
    }
}
