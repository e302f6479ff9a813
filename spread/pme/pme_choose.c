/* spread/pme/pme_choose.c - how wrong forces are, and what alpha and mesh a tolerance needs.
 *
 * The mesh.  With E = 1/2 sum A(m) |S(m)|^2, A = exp(-pi^2 m^2 / alpha^2) / (pi V m^2), splines put
 *
 *   S(m) = sum_j q_j sum_l c_l(m) e^{2 pi i (m + l K) u_j / K}
 *
 * in place of the exact sum: a product over axes of c_l = (m / (m + l K))^p / sum_l' of the same.
 * The force of charge j on i is the gradient of the product of two such sums.  For random positions
 * every pair of terms but (0, 0), exact with c_0 = 1, is an error of its own; with c_0 = P, r_l the
 * ratio c_l / c_0 of one axis, and k, k_l the wave vectors of m and m + l K, a mode adds
 *
 *   (2 pi A)^2 [ (P^2 - 1)^2 k^2 + P^4 sum over axes, l = +-1, of r_l^2 (k^2 + k_l^2) ]
 *
 * to the mean square of a pair, of which a charge has as many as there are charges.  A mode that
 * the mesh has not is lost: P = 0.  A charge acts on its own image in the mesh, too, the more
 * coherently for all modes: amplitude 4 pi sum A P^2 r_l K / edge over l = +-1 and m >= 0, along
 * each axis. */
#include "spread/pme/pme_impl.h"

#include <math.h>
#include <stdlib.h>

/* One axis, for m = 0 .. most. */
typedef struct {
  double edge;
  int32_t mesh;
  int32_t most;
  double *row; /* [most + 1][5]: exponential, c_0, r_-1^2, r_1^2, r_-1 + r_1 */
} error_axis;
enum { ROW = 5 };

/* Modes that are damped by more than e^-LEAST = 7e-13 don't count. */
static const double LEAST = 28;

static double power(double a, int p)
{
  double product = 1;
  for (int k = 0; k < p; k++)
    product *= a;
  return product;
}

static bool open_axis(const pme_problem *problem, int d, error_axis *axis)
{
  const int p = problem->order, mesh = problem->mesh[d];
  const double edge = problem->hi[d] - problem->lo[d], decay = M_PI / (problem->alpha * edge);
  axis->edge = edge;
  axis->mesh = mesh;
  axis->most = (int32_t)fmin(sqrt(LEAST) / decay + 1, mesh - 1);
  axis->row = malloc(((size_t)axis->most + 1) * sizeof(double[ROW]));
  if (!axis->row) return false;
  for (int m = 0; m <= axis->most; m++) {
    double *row = axis->row + (size_t)m * ROW;
    const double at = p % 2 && 2 * m == mesh ? m - 1 : m; /* as pme.c has it */
    const double below = power(at / (at - mesh), p), above = power(at / (at + mesh), p);
    const double twice = power(at / (at - 2.0 * mesh), p) + power(at / (at + 2.0 * mesh), p);
    row[0] = exp(-decay * decay * m * m);
    row[1] = 2 * m <= mesh ? 1 / (1 + below + above + twice) : 0;
    row[2] = below * below, row[3] = above * above;
    row[4] = below + above;
  }
  return true;
}

/* Sums over modes: mean square error of a pair, amplitude of the force on itself for each axis. */
typedef struct {
  double pair, self[3];
} error_sums;

static void add_mode(const error_axis axis[3], const int32_t m[3], error_sums *sums)
{
  double decay = 1, product = 1, k_sq = 0, times = 1, aliases = 0;
  const double *row[3];
  for (int d = 0; d < 3; d++) {
    row[d] = axis[d].row + (size_t)m[d] * ROW;
    const double k = m[d] / axis[d].edge;
    decay *= row[d][0];
    product *= row[d][1];
    k_sq += k * k;
    times *= m[d] ? 2 : 1;
  }
  if (k_sq == 0 || decay < exp(-LEAST)) return;
  for (int d = 0; d < 3; d++) {
    const double k = m[d] / axis[d].edge, far = axis[d].mesh / axis[d].edge;
    aliases += row[d][2] * (2 * k_sq - k * k + (k - far) * (k - far)) +
               row[d][3] * (2 * k_sq - k * k + (k + far) * (k + far));
    sums->self[d] += times * decay / k_sq * product * product * row[d][4] * far;
  }
  const double sq = product * product, weight = decay / k_sq;
  sums->pair += times * weight * weight * ((sq - 1) * (sq - 1) * k_sq + sq * sq * aliases);
}

static double volume_of(const pme_problem *problem)
{
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= problem->hi[d] - problem->lo[d];
  return volume;
}

/* NaN when there is no memory for the tables. */
double pme_mesh_error(const pme_problem *problem)
{
  error_axis axis[3] = {{.row = NULL}};
  error_sums sums = {0};
  bool ready = true;
  for (int d = 0; d < 3 && ready; d++)
    ready = open_axis(problem, d, &axis[d]);
  int32_t m[3];
  for (m[0] = 0; ready && m[0] <= axis[0].most; m[0]++)
    for (m[1] = 0; m[1] <= axis[1].most; m[1]++)
      for (m[2] = 0; m[2] <= axis[2].most; m[2]++)
        add_mode(axis, m, &sums);
  for (int d = 0; d < 3; d++)
    free(axis[d].row);
  const double n = (double)problem->n, scale = 2 / volume_of(problem); /* 2 pi A k^2 / decay */
  const double mean_sq = problem->q_sq / n;
  double self = 0;
  for (int d = 0; d < 3; d++)
    self += 0.5 * sums.self[d] * sums.self[d]; /* a sine of that amplitude */
  return ready ? scale * mean_sq * sqrt(n * sums.pair + self) : NAN;
}

double pme_real_error(const pme_problem *problem)
{
  const double reach = problem->alpha * problem->r_cut;
  return 2 * problem->q_sq * exp(-reach * reach) /
         sqrt((double)problem->n * problem->r_cut * volume_of(problem));
}

/* The smallest 2^a 3^b 5^c 7^d that is even and >= least. */
static int32_t good_size(double least)
{
  for (int32_t size = 2 * (int32_t)ceil(least / 2);; size += 2) {
    static const int32_t factors[] = {2, 3, 5, 7};
    int32_t rest = size;
    for (int k = 0; k < 4; k++)
      while (rest % factors[k] == 0)
        rest /= factors[k];
    if (rest == 1) return size;
  }
}

/* The mesh of refinement `step`, or false beyond 2^32 points. */
static bool set_mesh(pme_problem *problem, int step)
{
  const double spacing = 3 / problem->alpha * pow(1.05, -step);
  double points = 1;
  for (int d = 0; d < 3; d++) {
    const double least = fmax((problem->hi[d] - problem->lo[d]) / spacing, problem->order);
    if (!(least < 1 << 30)) return false;
    problem->mesh[d] = good_size(least);
    points *= problem->mesh[d];
  }
  return points <= UINT32_MAX;
}

static md_status choose_mesh(pme_problem *problem, double tolerance)
{
  int coarse = -1, fine = 0; /* the first is not good enough, the second is, once found */
  double error = INFINITY;
  while (error > tolerance) {
    MD_REQUIRE(set_mesh(problem, fine), MD_ECAPACITY,
               "no mesh of fewer than 2^32 points reaches a force error of %g with alpha %g and "
               "order %d",
               tolerance, problem->alpha, problem->order);
    error = pme_mesh_error(problem);
    MD_REQUIRE(!isnan(error), MD_ENOMEM, "out of memory for the error of a mesh");
    if (error <= tolerance) break;
    coarse = fine;
    fine += 16;
  }
  while (fine - coarse > 1) {
    const int middle = (fine + coarse) / 2;
    set_mesh(problem, middle);
    *(pme_mesh_error(problem) <= tolerance ? &fine : &coarse) = middle;
  }
  set_mesh(problem, fine);
  return MD_OK;
}

md_status pme_choose(pme_problem *problem, double tolerance)
{
  MD_REQUIRE(tolerance > 0 && isfinite(tolerance), MD_EINVAL,
             "the force tolerance must be > 0 and finite, not %g", tolerance);
  MD_REQUIRE(problem->r_cut > 0 && isfinite(problem->r_cut), MD_EINVAL,
             "the cutoff must be > 0 and finite, not %g", problem->r_cut);
  MD_REQUIRE(problem->n > 0 && problem->q_sq > 0, MD_EINVAL,
             "nothing to choose for: there are no charges");
  const double share = tolerance / M_SQRT2;
  pme_problem chosen = *problem;
  if (chosen.alpha == 0) {
    chosen.alpha = 1e-300; /* exp(0) */
    const double excess = pme_real_error(&chosen) / share;
    chosen.alpha = sqrt(fmax(log(excess), 1)) / chosen.r_cut;
  }
  if (chosen.mesh[0] == 0) MD_TRY(choose_mesh(&chosen, share));
  *problem = chosen;
  return MD_OK;
}
