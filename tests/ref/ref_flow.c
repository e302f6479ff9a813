/* tests/ref/ref_flow.c - see ref_flow.h. */
#include "tests/ref/ref_flow.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_rpy.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

#include <math.h>

stokes_packing ref_cluster(int64_t n, bool one_size, uint64_t seed)
{
  const double edge = 165, tau = 2 * M_PI;
  stokes_packing p;
  ck_ok(stokes_packing_create(n, &p));
  double *numbers = ref_vector(1000000, seed); /* -1..1 */
  int64_t at = 0, placed = 0;
  for (int d = 0; d < 3; d++)
    p.box[d] = edge;
  while (placed < n) {
    ck_assert_int_lt(at, 999990);
    double *x = p.x + 4 * placed;
    const double *from = p.x + 4 * (int64_t)((double)placed * fabs(numbers[at]));
    const double up = numbers[at + 1], turn = tau * numbers[at + 2], flat = sqrt(1 - up * up);
    const double way[3] = {flat * cos(turn), flat * sin(turn), up};
    x[3] = one_size ? 30 : 25 + 5 * numbers[at + 3];
    const double gap = 0.201 + 0.199 * numbers[at + 4], r = (from[3] + x[3]) * (1 + gap / 2);
    bool free_place = true;
    for (int d = 0; d < 3; d++)
      x[d] = placed ? from[d] + r * way[d] : 0;
    for (int64_t j = 0; j < placed; j++) {
      double square = 0;
      for (int d = 0; d < 3; d++) {
        const double apart = x[d] - p.x[4 * j + d];
        square += pow(apart - edge * round(apart / edge), 2);
      }
      free_place = free_place && sqrt(square) > 1.0009 * (x[3] + p.x[4 * j + 3]);
    }
    placed += free_place;
    at += 5;
  }
  free(numbers);
  return p;
}

double *ref_mobility(const stokes_packing *p, double viscosity)
{
  const int64_t rows = 3 * p->n;
  ref_rpy_case c = {{p->n, {p->box[0], p->box[1], p->box[2]}, p->x}, viscosity, (int)rows, p->x,
                    ref_alloc(rows * rows, sizeof(double)),          NULL};
  double *m = ref_alloc(rows * rows, sizeof *m);
  for (int64_t k = 0; k < rows * rows; k++)
    c.f[k] = k % (rows + 1) == 0;
  ref_rpy_product(&c, 3 / p->box[0], m);
  free(c.f);
  return m;
}

double *ref_lubrication(const stokes_packing *p, double viscosity, const stokes_resistance *law)
{
  const int64_t rows = 3 * p->n;
  double *r = ref_resistance(p, law);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < rows; j++) {
      const double drag = 6 * M_PI * viscosity * sqrt(p->x[i / 3 * 4 + 3] * p->x[j / 3 * 4 + 3]);
      r[i * rows + j] = drag * (r[i * rows + j] - (i == j));
    }
  return r;
}

double *ref_flow(const stokes_packing *p, double viscosity, const stokes_resistance *law,
                 double **system)
{
  const int64_t rows = 3 * p->n;
  double *m = ref_mobility(p, viscosity), *r = ref_lubrication(p, viscosity, law);
  double *a = ref_alloc(rows * rows, sizeof *a);
  ref_multiply(m, rows, (int)rows, r, a);
  for (int64_t i = 0; i < rows; i++)
    a[i * rows + i] += 1;
  if (system) {
    *system = ref_alloc(rows * rows, sizeof **system);
    memcpy(*system, a, (size_t)(rows * rows) * sizeof *a);
  }
  ref_solve(a, rows, rows, m);
  free(a);
  free(r);
  return m;
}
