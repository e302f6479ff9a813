/* tests/ref/ref_eam.c - see ref_eam.h. */
#include "tests/ref/ref_eam.h"
#include "tests/test.h"

#include <stdio.h>

ref_eam ref_eam_copper(void)
{
  return (ref_eam){.cutoff = 4.95L};
}

static long double *read_numbers(FILE *file, int64_t n)
{
  long double *values = ref_alloc(n, sizeof *values);
  for (int64_t k = 0; k < n; k++) {
    double value;
    ck_assert_msg(fscanf(file, "%lf", &value) == 1, "value %lld of %lld", (long long)k,
                  (long long)n);
    values[k] = value;
  }
  return values;
}

ref_eam ref_eam_read(const char *path)
{
  FILE *file = fopen(path, "r");
  char line[256];
  long n_rho, n_r;
  double d_rho, d_r, cutoff;
  ck_assert_msg(file, "%s cannot be read", path);
  for (int k = 0; k < 4; k++)
    ck_assert_msg(fgets(line, sizeof line, file), "%s is short", path);
  ck_assert_msg(fscanf(file, "%ld %lf %ld %lf %lf\n", &n_rho, &d_rho, &n_r, &d_r, &cutoff) == 5,
                "grid");
  ck_assert_msg(fgets(line, sizeof line, file), "%s is short", path);
  ref_eam eam = {.n_rho = n_rho, .n_r = n_r, .d_rho = d_rho, .d_r = d_r, .cutoff = cutoff};
  eam.f = read_numbers(file, n_rho);
  eam.rho = read_numbers(file, n_r);
  eam.r_phi = read_numbers(file, n_r);
  fclose(file);
  return eam;
}

void ref_eam_free(ref_eam *eam)
{
  free(eam->f), free(eam->rho), free(eam->r_phi);
  *eam = (ref_eam){0};
}

/* Central differences of fourth order, of second next to the ends, one-sided at them. */
static long double slope_of(const long double *f, int64_t n, int64_t m)
{
  if (m < 1) return f[1] - f[0];
  if (m > n - 2) return f[n - 1] - f[n - 2];
  if (m < 2 || m > n - 3) return 0.5L * f[m + 1] - 0.5L * f[m - 1];
  return 2 * (f[m + 1] - f[m - 1]) / 3 - (f[m + 2] - f[m - 2]) / 12;
}

static long double hermite(const long double *f, int64_t n, long double step, long double at,
                           long double *slope)
{
  int64_t m = (int64_t)floorl(at / step);
  m = m < 0 ? 0 : m > n - 2 ? n - 2 : m;
  const long double t = fminl(at / step - (long double)m, 1), s = 1 - t;
  const long double a = slope_of(f, n, m), b = slope_of(f, n, m + 1);
  *slope = (6 * t * s * (f[m + 1] - f[m]) + s * (1 - 3 * t) * a + t * (3 * t - 2) * b) / step;
  return f[m] * (1 + 2 * t) * s * s + f[m + 1] * t * t * (3 - 2 * t) + a * t * s * s -
         b * t * t * s;
}

/* A exp(-k (r / r_0 - 1)), switched off over the last 0.9 before the cutoff. */
static long double switched(long double size, long double k, long double cutoff, long double r,
                            long double *slope)
{
  const long double r_0 = 3.615L / sqrtl(2), t = fmaxl(0, (r - cutoff + 0.9L) / 0.9L);
  const long double off = 1 - 10 * t * t * t + 15 * t * t * t * t - 6 * t * t * t * t * t;
  const long double u = size * expl(-k * (r / r_0 - 1));
  *slope = -k / r_0 * u * off - u * 30 * t * t * (1 - t) * (1 - t) / 0.9L;
  return u * off;
}

static long double exact(const ref_eam *eam, ref_eam_what what, long double at, long double *slope)
{
  if (what == REF_EAM_EMBED) {
    *slope = -1.224L / (2 * sqrtl(at));
    return -1.224L * sqrtl(at);
  }
  return what == REF_EAM_DENSITY ? switched(1, 2 * 2.278L, eam->cutoff, at, slope)
                                 : switched(2 * 0.0855L, 10.960L, eam->cutoff, at, slope);
}

long double ref_eam_at(const ref_eam *eam, ref_eam_what what, long double at, long double *slope)
{
  *slope = 0;
  if (what != REF_EAM_EMBED && at >= eam->cutoff) return 0;
  if (eam->n_r == 0) return exact(eam, what, at, slope);
  if (what == REF_EAM_DENSITY) return hermite(eam->rho, eam->n_r, eam->d_r, at, slope);
  if (what == REF_EAM_EMBED) {
    const long double end = (long double)(eam->n_rho - 1) * eam->d_rho;
    const long double value = hermite(eam->f, eam->n_rho, eam->d_rho, at, slope);
    return at > end ? value + (at - end) * *slope : value;
  }
  const long double z = hermite(eam->r_phi, eam->n_r, eam->d_r, at, slope);
  *slope = *slope / at - z / (at * at);
  return z / at;
}

ref_eam_sums ref_eam_find(const ref_eam *eam, const md_box *box, int64_t n, const double *x)
{
  ref_pairs pairs = ref_pairs_find(box, n, x, (double)eam->cutoff);
  ref_eam_sums out = {.f = ref_alloc(3 * n, sizeof(double)),
                      .own = ref_alloc(n, sizeof(double)),
                      .density = ref_alloc(n, sizeof(double))};
  long double *f = ref_alloc(3 * n, sizeof *f), *rho = ref_alloc(n, sizeof *rho);
  long double *own = ref_alloc(n, sizeof *own), *pull = ref_alloc(n, sizeof *pull);
  long double energy = 0, virial = 0, slope;
  for (int64_t k = 0; k < pairs.n; k++)
    rho[pairs.pair[k].i] += ref_eam_at(eam, REF_EAM_DENSITY, pairs.pair[k].r, &slope);
  for (int64_t i = 0; i < n; i++) {
    own[i] = ref_eam_at(eam, REF_EAM_EMBED, rho[i], &pull[i]);
    out.u_scale += (double)fabsl(own[i]);
  }
  for (int64_t k = 0; k < pairs.n; k++) {
    const ref_pair *p = &pairs.pair[k];
    long double d_phi, d_rho;
    const long double phi = ref_eam_at(eam, REF_EAM_PAIR, p->r, &d_phi);
    ref_eam_at(eam, REF_EAM_DENSITY, p->r, &d_rho);
    const long double push = -(d_phi + (pull[p->i] + pull[p->j]) * d_rho);
    own[p->i] += phi / 2;
    out.u_scale += (double)fabsl(phi) / 2;
    virial += push * p->r / 2;
    for (int d = 0; d < 3; d++)
      f[3 * p->i + d] += push * p->d[d] / p->r;
  }
  for (int64_t i = 0; i < n; i++) {
    energy += own[i];
    out.own[i] = (double)own[i], out.density[i] = (double)rho[i];
    for (int d = 0; d < 3; d++)
      out.f[3 * i + d] = (double)f[3 * i + d];
    out.f_max = fmax(out.f_max, (double)hypotl(hypotl(f[3 * i], f[3 * i + 1]), f[3 * i + 2]));
  }
  out.energy = (double)energy, out.virial = (double)virial;
  free(f), free(rho), free(own), free(pull);
  ref_pairs_free(&pairs);
  return out;
}

void ref_eam_sums_free(ref_eam_sums *sums)
{
  free(sums->f), free(sums->own), free(sums->density);
  *sums = (ref_eam_sums){0};
}

ref_eam_oracle ref_eam_oracle_read(void)
{
  enum { ATOMS = 256 };
  FILE *file = fopen("tests/oracle/eam_f4_exact.csv", "r");
  char line[1024], *number;
  ref_eam_oracle out = {.n = ATOMS};
  ck_assert_msg(file && fgets(line, sizeof line, file),
                "tests/oracle/eam_f4_exact.csv: cannot be read");
  ck_assert_msg((number = strstr(line, "box ")) != NULL, "no box");
  for (int d = 0; d < 3; d++)
    out.box.hi[d] = strtod(number + 4, NULL);
  ck_assert_msg((number = strstr(line, "energy ")) != NULL, "no energy");
  out.energy = strtod(number + 7, NULL);
  ck_assert_msg((number = strstr(line, "pressure_bar ")) != NULL, "no pressure");
  out.pressure = strtod(number + 13, NULL);
  out.x = ref_alloc(3 * ATOMS, sizeof(double)), out.f = ref_alloc(3 * ATOMS, sizeof(double));
  out.own = ref_alloc(ATOMS, sizeof(double)), out.density = ref_alloc(ATOMS, sizeof(double));
  ck_assert_msg(fgets(line, sizeof line, file), "no header");
  for (int i = 0; i < ATOMS; i++)
    ck_assert_msg(fscanf(file, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &out.x[3 * i], &out.x[3 * i + 1],
                         &out.x[3 * i + 2], &out.f[3 * i], &out.f[3 * i + 1], &out.f[3 * i + 2],
                         &out.own[i], &out.density[i]) == 8,
                  "row %d", i);
  fclose(file);
  return out;
}

void ref_eam_oracle_free(ref_eam_oracle *oracle)
{
  free(oracle->x), free(oracle->f), free(oracle->own), free(oracle->density);
  *oracle = (ref_eam_oracle){0};
}
