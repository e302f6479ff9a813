/* tests/stokes/check_stokes_lubrication.c - lubrication functions of two spheres. */
#include "stokes/matrix/lubrication.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static double squeeze(double a, double b, double xi)
{
  const lubrication_terms t = lubrication_squeeze(a * b, a + b);
  const lubrication_gap_terms at = lubrication_at(xi);
  return lubrication_sum(&t, &at);
}

static double shear(double a, double b, double xi)
{
  const lubrication_terms t = lubrication_shear(a * b, a + b);
  const lubrication_gap_terms at = lubrication_at(xi);
  return lubrication_sum(&t, &at);
}

START_TEST(coefficients_of_equal_spheres)
{
  const lubrication_terms x = lubrication_squeeze(1, 2), y = lubrication_shear(1, 2);
  ck_assert_double_eq_tol(x.g1, 1.0 / 4, 1e-16);
  ck_assert_double_eq_tol(x.g2, 9.0 / 40, 1e-16);
  ck_assert_double_eq_tol(x.g3, 3.0 / 112, 1e-16);
  ck_assert_double_eq(y.g1, 0);
  ck_assert_double_eq_tol(y.g2, 1.0 / 6, 1e-16);
  ck_assert_double_eq_tol(y.g3, 0, 1e-17);
}
END_TEST

START_TEST(functions_of_unequal_spheres)
{
  static const double radius[] = {1, 0.5, 3, 115.24, 21.42}, gap[] = {1e-4, 1e-2, 0.3, 2};
  for (int a = 0; a < 5; a++)
    for (int b = 0; b < 5; b++)
      for (int k = 0; k < 4; k++) {
        const double ra = radius[a], rb = radius[b], xi = gap[k];
        const double expect_x = (double)(ra * ref_squeeze((long double)rb / ra, xi));
        const double expect_y = (double)(ra * ref_shear((long double)rb / ra, xi));
        ck_assert_double_eq_tol(squeeze(ra, rb, xi) / expect_x, 1, 1e-13);
        ck_assert_double_eq_tol(shear(ra, rb, xi) / expect_y, 1, 1e-12);
        ck_assert(squeeze(ra, rb, xi) == squeeze(rb, ra, xi));
        ck_assert(shear(ra, rb, xi) == shear(rb, ra, xi));
      }
}
END_TEST

/* Two equal spheres, exactly, by series in bispherical coordinates: at the same velocity (Stimson
 * and Jeffery 1926), and approaching each other (Brenner 1961); X11 is their mean. */
static double exact_squeeze(double xi)
{
  const double alpha = acosh(1 + xi / 2), s = sinh(alpha);
  double same = 0, approach = 0;
  for (int n = 1; n * alpha < 40; n++) {
    const double k = n, factor = 4.0 / 3 * s * k * (k + 1) / ((2 * k - 1) * (2 * k + 3));
    const double w = 2 * k + 1, top = 4 * pow(sinh((k + 0.5) * alpha), 2), edge = w * w * s * s;
    same += factor * (1 - (top - edge) / (2 * sinh(w * alpha) + w * sinh(2 * alpha)));
    approach += factor * ((4 * pow(cosh((k + 0.5) * alpha), 2) + edge) /
                              (2 * sinh(w * alpha) - w * sinh(2 * alpha)) -
                          1);
  }
  return (same + approach) / 2;
}

/* The three terms are the exact function but for a constant, .9954 (Jeffrey and Onishi), and terms
 * that vanish with the gap. */
START_TEST(squeeze_is_asymptotically_exact)
{
  static const double gap[] = {1e-2, 3e-3, 1e-3, 3e-4};
  double last = 1;
  for (int k = 0; k < 4; k++) {
    const double rest = exact_squeeze(gap[k]) - squeeze(1, 1, gap[k]);
    ck_assert_double_le(fabs(rest - 0.9954), fmin(last, 0.01));
    last = fabs(rest - 0.9954) + 1e-4;
  }
}
END_TEST

START_TEST(resistance_ends_at_the_cutoff)
{
  const lubrication_range range = lubrication_range_of(1e-3, 0.5);
  const lubrication_pair touching = lubrication_resistance(1, 2, -0.1, &range);
  const lubrication_pair closest = lubrication_resistance(1, 2, 1e-3, &range);
  ck_assert_double_eq(touching.x, closest.x);
  ck_assert_double_eq(touching.y, closest.y);
  const lubrication_pair last = lubrication_resistance(1, 2, 0.5 - 1e-12, &range);
  ck_assert(last.x >= 0 && last.x < 1e-11 && last.y >= 0 && last.y < 1e-11);
  for (double ratio = 1e-3; ratio < 2; ratio *= 1.7)
    for (double xi = 1e-3; xi < 0.5; xi *= 1.3) {
      const lubrication_pair p = lubrication_resistance(1, ratio, xi, &range);
      ck_assert(p.x >= 0 && p.y >= 0);
    }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_lubrication");
  TCase *functions = tcase_create("functions");
  tcase_add_test(functions, coefficients_of_equal_spheres);
  tcase_add_test(functions, functions_of_unequal_spheres);
  tcase_add_test(functions, squeeze_is_asymptotically_exact);
  tcase_add_test(functions, resistance_ends_at_the_cutoff);
  suite_add_tcase(suite, functions);
  return test_main(suite);
}
