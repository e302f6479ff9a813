/* stokes/mobility/estimate.c - how wrong velocities are under random forces.
 *
 * Near.  A pair that is left out adds (2 f^2 + g^2) / 3 to the mean square of a component; spheres
 * beyond contact are taken to lie at random.  Of a few spheres the pairs themselves are summed.
 *
 * Mesh.  A mode k of weight D = H s^2 / (eta V k^2) comes with aliases k + 2 pi q / h, whose
 * splines are W_q = (m / (m + q K))^p times its own, and the influence function divides by B^2, B =
 * sum of W_q^2 over all of them.  Of a pair at random places all terms are independent:
 *
 *     sum over k of 2 D^2 [ (1/B^2 - 1)^2 + (B^2 - 1) / B^4 ] = sum over k of 2 D^2 (1 - 1/B^2)
 *
 * A mode that the mesh has not is lost: B = infinity.  A sphere's own mobility changes on the
 * average by 2/3 sum D (1/B - 1), and along each axis with its place between mesh points by
 * 2 cos(2 pi x / h) sum D (W_1 + W_-1) (I - kk^T/k^2). */
#include "stokes/mobility/rpy_impl.h"
#include "stokes/mobility/rpy_pair.h"
#include "stokes/pairs/search.h"

#include <math.h>

void rpy_near_errors(const rpy_fluid *fluid, double error[RPY_GAMMAS])
{
  const rpy_radii *radii = fluid->radii;
  const double step = RPY_GAMMA_STEP / fluid->xi;
  for (int k = 0; k < RPY_GAMMAS; k++)
    error[k] = 0;
  for (int p = 0; p < radii->n; p++)
    for (int q = 0; q <= p; q++) {
      const double a = radii->radius[p], b = radii->radius[q];
      const double weight = radii->share[p] * radii->share[q] * (p == q ? 1 : 2);
      if (weight == 0) continue;
      double sum = 0, before = 0;
      for (int k = RPY_GAMMAS - 1; k >= 0; k--) {
        const double r = a + b + k * step;
        const rpy_block pair = rpy_near_pair(r, a, b, fluid->xi, fluid->viscosity);
        const double here =
            4 * M_PI * r * r * fluid->density * (2 * pair.f * pair.f + pair.g * pair.g) / 3;
        sum += step * (here + before) / 2;
        error[k] += weight * sum;
        before = here;
      }
    }
  for (int k = 0; k < RPY_GAMMAS; k++)
    error[k] = sqrt(error[k]);
}

/* Blocks of one pair by gap, in steps of gamma; those of all larger gaps together are what a cut
 * leaves out. */
typedef double gap_blocks[RPY_GAMMAS][9];

static void add_image(const rpy_fluid *fluid, const double e[3], double a, double b,
                      gap_blocks blocks)
{
  const double r = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
  const double at = (r - a - b) * fluid->xi / RPY_GAMMA_STEP;
  if (!(at >= 0)) return;
  const rpy_block pair = rpy_near_pair(r, a, b, fluid->xi, fluid->viscosity);
  double *block = blocks[at < RPY_GAMMAS - 1 ? (int)at : RPY_GAMMAS - 1];
  for (int k = 0; k < 9; k++)
    block[k] += (pair.g - pair.f) * e[k / 3] * e[k % 3] / (r * r) + (k % 4 ? 0 : pair.f);
}

void rpy_near_errors_of(const rpy_fluid *fluid, const stokes_view *spheres,
                        double error[RPY_GAMMAS])
{
  double square[RPY_GAMMAS] = {0};
  for (int64_t pair = 0; pair < spheres->n * spheres->n; pair++) {
    const double *x = spheres->x + 4 * (pair / spheres->n),
                 *y = spheres->x + 4 * (pair % spheres->n);
    gap_blocks blocks = {{0}};
    for (int image = 0; image < 27; image++) {
      const int at[3] = {image / 9 - 1, image / 3 % 3 - 1, image % 3 - 1};
      double e[3];
      for (int d = 0; d < 3; d++)
        e[d] = search_difference(x[d], y[d], spheres->box[d]) + at[d] * spheres->box[d];
      add_image(fluid, e, x[3], y[3], blocks);
    }
    for (int k = RPY_GAMMAS - 2; k >= 0; k--)
      for (int q = 0; q < 9; q++) {
        blocks[k][q] += blocks[k + 1][q];
        square[k] += blocks[k][q] * blocks[k][q];
      }
  }
  square[RPY_GAMMAS - 1] = square[RPY_GAMMAS - 2];
  for (int k = 0; k < RPY_GAMMAS; k++)
    error[k] = sqrt(square[k] / (3 * (double)spheres->n));
}

double rpy_blocks(const rpy_fluid *fluid, double gap)
{
  const rpy_radii *radii = fluid->radii;
  double blocks = 1;
  for (int p = 0; p < radii->n; p++)
    for (int q = 0; q < radii->n; q++) {
      const double touch = radii->radius[p] + radii->radius[q], reach = touch + gap;
      blocks += 4 * M_PI / 3 * fluid->density * radii->share[p] * radii->share[q] *
                (reach * reach * reach - touch * touch * touch);
    }
  return blocks;
}

/* H(k) and the mean of s(k a)^2 at equal steps of k, up to where H is nothing. */
enum { STEPS = 1024 };
static const double K_MOST = 11.5;
typedef struct {
  double inv_step, d[STEPS + 2];
} radial;

static void tabulate(const rpy_fluid *fluid, radial *out)
{
  const double step = K_MOST * fluid->xi / STEPS;
  out->inv_step = 1 / step;
  for (int k = 0; k < STEPS + 2; k++) {
    const double wave = k * step, z = wave * wave / (4 * fluid->xi * fluid->xi);
    double mean = 0;
    for (int q = 0; q < fluid->radii->n; q++) {
      const double x = wave * fluid->radii->radius[q], s = x < 1e-4 ? 1 : sin(x) / x;
      mean += fluid->radii->share[q] * s * s;
    }
    out->d[k] = (1 + z) * exp(-z) * mean / fluid->viscosity;
  }
}

static double radial_at(const radial *table, double wave)
{
  const double at = wave * table->inv_step;
  const int k = (int)at;
  return k > STEPS ? 0 : table->d[k] + (at - k) * (table->d[k + 1] - table->d[k]);
}

/* Of one axis, for m = 0 .. 2 most - 1: wave number, sum of W_q^2, W_1 + W_-1. */
enum { MOST = 32 };
typedef struct {
  int mesh;
  double wave[MOST], sum[MOST], first[MOST];
} axis;

static void open_axis(double spacing, int mesh, int order, axis *out)
{
  out->mesh = mesh < MOST ? mesh : MOST;
  for (int m = 0; m < out->mesh; m++) {
    const double k = out->mesh;
    out->wave[m] = 2 * M_PI * m / (k * spacing);
    out->sum[m] = 1;
    out->first[m] = pow(m / (m + k), order) + pow(m / (m - k), order);
    for (int q = -3; q <= 3; q++)
      if (q != 0) out->sum[m] += pow(m / (m + q * k), 2 * order);
    if (2 * m >= out->mesh) out->sum[m] = INFINITY, out->first[m] = 0;
  }
}

typedef struct {
  double pair, self, wave[3][3]; /* wave: [axis][component] */
} mesh_sums;

static void add_mode(const axis at[3], const int m[3], const radial *table, mesh_sums *sums)
{
  double k[3], k_sq = 0, all = 1, times = 1;
  for (int d = 0; d < 3; d++) {
    k[d] = at[d].wave[m[d]];
    k_sq += k[d] * k[d];
    all *= at[d].sum[m[d]];
    times *= m[d] ? 2 : 1;
  }
  if (k_sq == 0) return;
  const double weight = radial_at(table, sqrt(k_sq)) / k_sq;
  sums->pair += times * weight * weight * (1 - 1 / (all * all));
  sums->self += times * weight * (1 / all - 1);
  for (int d = 0; d < 3; d++)
    for (int c = 0; c < 3; c++)
      sums->wave[d][c] +=
          times * weight * at[d].first[m[d]] / (all * all) * (1 - k[c] * k[c] / k_sq);
}

double rpy_mesh_error(const rpy_fluid *fluid, const double spacing[3], const int32_t mesh[3],
                      int order)
{
  axis at[3];
  radial table;
  mesh_sums sums = {0};
  double volume = 1;
  tabulate(fluid, &table);
  for (int d = 0; d < 3; d++) {
    open_axis(spacing[d], mesh[d], order, &at[d]);
    volume *= at[d].mesh * spacing[d];
  }
  int m[3];
  for (m[0] = 0; m[0] < at[0].mesh; m[0]++)
    for (m[1] = 0; m[1] < at[1].mesh; m[1]++)
      for (m[2] = 0; m[2] < at[2].mesh; m[2]++)
        add_mode(at, m, &table, &sums);
  const double self = 2.0 / 3 * sums.self / volume;
  double square = 2 * fluid->density / volume * sums.pair / 3 + self * self;
  for (int d = 0; d < 3; d++)
    for (int c = 0; c < 3; c++)
      square += 2 * pow(sums.wave[d][c] / volume, 2) / 3;
  return sqrt(square);
}
