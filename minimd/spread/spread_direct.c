/* minimd/spread/spread_direct.c - spreading by the definition, for --check.
 *
 * M_n(u) = [u M_{n-1}(u) + (n - u) M_{n-1}(u - 1)] / (n - 1), M_1 the indicator of 0 <= u < 1,
 * tabulated at u, u + 1, ..., u + p - 1; nothing here is shared with the kernels. */
#include "minimd/spread/spread_case.h"

#include <math.h>
#include <string.h>

typedef struct {
  int32_t at[SPREAD_ORDER_MAX]; /* mesh points */
  double w[SPREAD_ORDER_MAX];
} points;

static points find_points(const spread_spec *spec, int axis, double x)
{
  const int p = spec->order;
  const int64_t k = spec->mesh[axis];
  const double turns = (x - spec->lo[axis]) / (spec->hi[axis] - spec->lo[axis]);
  const double u = (turns - floor(turns)) * (double)k, below = floor(u), f = u - below;
  double spline[SPREAD_ORDER_MAX + 1] = {0, 1}; /* [j + 1]: M_n(f + j) */
  for (int n = 2; n <= p; n++)
    for (int j = n - 1; j >= 0; j--)
      spline[j + 1] = ((f + j) * spline[j + 1] + (n - f - j) * spline[j]) / (n - 1);
  points to = {0};
  for (int j = 0; j < p; j++) {
    to.at[j] = (int32_t)(((int64_t)below + j) % k);
    to.w[j] = spline[p - j];
  }
  return to;
}

static void add_plane(const spread_spec *spec, const points *middle, const points *fast, double c,
                      double *plane)
{
  for (int j = 0; j < spec->order; j++) {
    double *line = plane + (int64_t)middle->at[j] * spec->mesh[2];
    for (int k = 0; k < spec->order; k++)
      line[fast->at[k]] += c * middle->w[j] * fast->w[k];
  }
}

void spread_case_direct(const spread_spec *spec, const spread_case *particles, int32_t vector,
                        int threads, double *mesh)
{
  const int64_t area = (int64_t)spec->mesh[1] * spec->mesh[2];
  const double *q = particles->q + vector * particles->n;
  memset(mesh, 0, (size_t)(spec->mesh[0] * area) * sizeof *mesh);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; t++)
    for (int64_t i = 0; i < particles->n; i++) {
      const double *x = particles->x + 3 * i;
      const points slow = find_points(spec, 0, x[0]);
      points middle, fast;
      bool found = false;
      for (int j = 0; j < spec->order; j++) {
        if (slow.at[j] % threads != t) continue;
        if (!found) {
          middle = find_points(spec, 1, x[1]);
          fast = find_points(spec, 2, x[2]);
          found = true;
        }
        add_plane(spec, &middle, &fast, q[i] * slow.w[j], mesh + slow.at[j] * area);
      }
    }
}
