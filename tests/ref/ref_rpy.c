/* tests/ref/ref_rpy.c - see ref_rpy.h.  The near part is written with the integrals of the damped
 * kernel along a line, F_n(x), one after the other, in long double. */
#include "tests/ref/ref_rpy.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

typedef long double wide;
/* So many numbers, all zero. */
static wide *zeros(int64_t n)
{
  wide *out = ref_alloc(n, sizeof *out);
  for (int64_t k = 0; k < n; k++)
    out[k] = 0;
  return out;
}

static const wide pi = 3.14159265358979323846264338327950288L;

/* int_0^inf of sin(kx) (1 - H) / k^5, its first and its second derivative. */
static void damped(wide x, wide xi, wide out[3])
{
  const wide t = xi * x, gauss = expl(-t * t) / sqrtl(pi), rest = erfcl(fabsl(t));
  const wide up = t < 0 ? -1 : 1, size = fabsl(t);
  out[0] = up * pi / powl(xi, 4) *
           (erfl(size) / 64 + powl(size, 4) * rest / 48 - (powl(size, 3) - size / 2) * gauss / 48);
  out[1] = pi / powl(xi, 3) * (powl(size, 3) * rest - (t * t - 0.5L) * gauss) / 12;
  out[2] = up * pi / (xi * xi) * (t * t * rest - size * gauss) / 4;
}

/* Mobility across and along the line of centres. */
static void near_pair(wide r, wide a, wide b, wide xi, wide eta, wide out[2])
{
  if (r == 0) {
    const wide t = 2 * a * xi;
    out[0] = out[1] = ((1 - expl(-t * t)) / (2 * sqrtl(pi) * t) + erfcl(t)) / (6 * pi * eta * a);
    return;
  }
  wide sum[3] = {0, 0, 0};
  for (int side = 0; side < 4; side++) {
    wide w[3];
    damped(r + (side & 1 ? a : -a) + (side & 2 ? b : -b), xi, w);
    for (int d = 0; d < 3; d++)
      sum[d] += (side == 0 || side == 3 ? -1 : 1) * w[d];
  }
  const wide scale = 1 / (8 * pi * pi * eta * a * b);
  out[0] = scale * (sum[1] / (r * r) - sum[2] / r - sum[0] / (r * r * r));
  out[1] = 2 * scale * (sum[0] / (r * r * r) - sum[1] / (r * r));
}

static void add_image(const ref_rpy_case *c, const wide e[3], int64_t i, int64_t j, wide xi,
                      wide *u)
{
  const wide r = sqrtl(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
  wide pair[2];
  near_pair(r, c->x[4 * i + 3], c->x[4 * j + 3], xi, c->viscosity, pair);
  for (int k = 0; k < c->m; k++) {
    const double *f = c->f + 3 * j * c->m + k;
    wide along = 0;
    for (int d = 0; d < 3 && r > 0; d++)
      along += e[d] / r * f[d * c->m];
    for (int d = 0; d < 3; d++)
      u[(3 * i + d) * c->m + k] += pair[0] * (f[d * c->m] - (r > 0 ? along * e[d] / r : 0)) +
                                   pair[1] * (r > 0 ? along * e[d] / r : 0);
  }
}

static void add_near(const ref_rpy_case *c, wide xi, int64_t i, int64_t j, wide *u)
{
  const double *box = c->view.box, *x = c->x + 4 * i, *y = c->x + 4 * j;
  const wide reach = 6.2L / xi + x[3] + y[3];
  int n[3], at[3];
  for (int d = 0; d < 3; d++)
    n[d] = (int)ceill(reach / box[d] + fabsl((wide)x[d] - y[d]) / box[d]);
  for (at[0] = -n[0]; at[0] <= n[0]; at[0]++)
    for (at[1] = -n[1]; at[1] <= n[1]; at[1]++)
      for (at[2] = -n[2]; at[2] <= n[2]; at[2]++) {
        wide e[3], square = 0;
        for (int d = 0; d < 3; d++) {
          e[d] = (wide)x[d] - y[d] + at[d] * (wide)box[d];
          square += e[d] * e[d];
        }
        if (square < reach * reach) add_image(c, e, i, j, xi, u);
      }
}

/* The mode with this wave vector, of which its opposite is left out. */
static void add_mode(const ref_rpy_case *c, const wide k[3], wide xi, wide *u)
{
  const wide square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], z = square / (4 * xi * xi);
  const wide volume = (wide)c->view.box[0] * c->view.box[1] * c->view.box[2];
  const wide weight = 2 * (1 + z) * expl(-z) / (c->viscosity * volume * square);
  const int m = c->m;
  wide *sum = zeros(6 * m);
  for (int back = 0; back < 2; back++)
    for (int64_t i = 0; i < c->view.n; i++) {
      const double *x = c->x + 4 * i;
      const wide angle = k[0] * x[0] + k[1] * x[1] + k[2] * x[2], ka = sqrtl(square) * x[3];
      const wide part[2] = {sinl(ka) / ka * cosl(angle), sinl(ka) / ka * sinl(angle)};
      for (int j = 0; j < 3 * m; j++)
        for (int p = 0; p < 2; p++)
          if (back)
            u[3 * i * m + j] += part[p] * sum[2 * j + p];
          else
            sum[2 * j + p] += part[p] * c->f[3 * i * m + j];
      if (back || i < c->view.n - 1) continue;
      for (int j = 0; j < 2 * m; j++) { /* column and part; components lie 2 m apart */
        wide *s = sum + j, along = 0;
        for (int d = 0; d < 3; d++)
          along += k[d] * s[2 * m * d] / square;
        for (int d = 0; d < 3; d++)
          s[2 * m * d] = weight * (s[2 * m * d] - k[d] * along);
      }
    }
  free(sum);
}

void ref_rpy_product(const ref_rpy_case *c, double xi, double *u)
{
  const int64_t numbers = 3 * c->view.n * c->m;
  const wide most = 2 * xi * 6.3L;
  wide *sum = zeros(numbers);
  int n[3], at[3];
  for (int64_t i = 0; i < c->view.n; i++)
    for (int64_t j = 0; j < c->view.n; j++)
      add_near(c, xi, i, j, sum);
  for (int d = 0; d < 3; d++)
    n[d] = (int)(most * c->view.box[d] / (2 * pi));
  for (at[0] = 0; at[0] <= n[0]; at[0]++)
    for (at[1] = -n[1]; at[1] <= n[1]; at[1]++)
      for (at[2] = -n[2]; at[2] <= n[2]; at[2]++) {
        wide k[3], square = 0;
        for (int d = 0; d < 3; d++) {
          k[d] = 2 * pi * at[d] / c->view.box[d];
          square += k[d] * k[d];
        }
        const bool half = at[0] > 0 || at[1] > 0 || (at[1] == 0 && at[2] > 0);
        if (half && square < most * most) add_mode(c, k, xi, sum);
      }
  for (int64_t k = 0; k < numbers; k++)
    u[k] = (double)sum[k];
  free(sum);
}

double ref_rpy_error(const double *u, const double *v, int64_t n)
{
  double off = 0, all = 0;
  for (int64_t k = 0; k < n; k++)
    off += (u[k] - v[k]) * (u[k] - v[k]), all += v[k] * v[k];
  return sqrt(off / all);
}

/* The comma-separated numbers of a line, up to `most`. */
static int numbers_of(char *line, double *out, int most)
{
  int n = 0;
  for (char *at = strtok(line, ",\n"); at && n < most; at = strtok(NULL, ",\n"))
    out[n++] = strtod(at, NULL);
  return n;
}

ref_rpy_case ref_rpy_read(const char *name)
{
  enum { MOST = 4 + 6 * 8, ROWS = 1000 };
  ref_rpy_case c = {.m = 0};
  char path[200], line[1 << 14];
  double row[MOST], *box = c.view.box;
  snprintf(path, sizeof path, "tests/oracle/rpy/%s.csv", name);
  FILE *file = fopen(path, "r");
  ck_assert_msg(file != NULL, "cannot read %s", path);
  ck_assert_int_eq(
      fscanf(file, "# box %lf %lf %lf viscosity %lf\n", &box[0], &box[1], &box[2], &c.viscosity),
      4);
  ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
  while (fgets(line, sizeof line, file)) {
    const int m = (numbers_of(line, row, MOST) - 4) / 6;
    if (c.m == 0) {
      c.m = m;
      c.x = ref_alloc(ROWS * 4, sizeof *c.x);
      c.f = ref_alloc(ROWS * 3 * m, sizeof *c.f);
      c.u = ref_alloc(ROWS * 3 * m, sizeof *c.u);
    }
    ck_assert_int_eq(m, c.m);
    ck_assert_int_lt(c.view.n, ROWS);
    memcpy(c.x + 4 * c.view.n, row, 4 * sizeof *row);
    for (int d = 0; d < 3; d++)
      for (int k = 0; k < m; k++) {
        c.f[(3 * c.view.n + d) * m + k] = row[4 + 3 * k + d];
        c.u[(3 * c.view.n + d) * m + k] = row[4 + 3 * m + 3 * k + d];
      }
    c.view.n++;
  }
  fclose(file);
  c.view.x = c.x;
  return c;
}

ref_rpy_case ref_rpy_random(int64_t n, const double box[3], double least, double most, int m)
{
  ref_rpy_case c = {.viscosity = 0.7, .m = m};
  uint32_t state = 12345 + (uint32_t)n;
  c.x = ref_alloc(4 * n, sizeof *c.x);
  c.f = ref_alloc(3 * n * m, sizeof *c.f);
  for (int64_t k = 0; k < 4 * n; k++) {
    state = state * 1664525u + 1013904223u;
    const double uniform = (state >> 8) / 0x1p24;
    c.x[k] = k % 4 < 3 ? box[k % 4] * uniform : least + (most - least) * uniform;
  }
  for (int64_t k = 0; k < 3 * n * m; k++) {
    state = state * 1664525u + 1013904223u;
    c.f[k] = (state >> 8) / 0x1p23 - 1;
  }
  c.view = (stokes_view){n, {box[0], box[1], box[2]}, c.x};
  return c;
}

void ref_rpy_free(ref_rpy_case *c)
{
  free(c->x);
  free(c->f);
  free(c->u);
}
