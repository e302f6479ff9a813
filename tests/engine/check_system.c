/* tests/engine/check_system.c - lattices and initial velocities. */
#include "engine/system/system.h"
#include "tests/drive/configs.h"
#include "tests/test.h"

#include <stdarg.h>
#include <stdio.h>

static system_state state;

/* AddressSanitizer shall let malloc fail as usual. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}

static void end(void)
{
  system_state_free(&state);
  configs_end();
}

static void set(const char *key, const char *format, ...)
{
  char text[64];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ck_ok(config_set(cfg, key, text, "--set"));
}

/* Each lattice: atoms in a cell; distances of the two nearest shells in cell edges, atoms in them.
 */
static const struct {
  const char *word;
  int atoms;
  double distance[2];
  int shell[2];
} lattices[] = {{"fcc", 4, {0.70710678118654752, 1}, {12, 6}},
                {"bcc", 2, {0.86602540378443865, 1}, {8, 6}},
                {"sc", 1, {1, 1.4142135623730951}, {6, 12}},
                {"diamond", 8, {0.43301270189221932, 0.70710678118654752}, {4, 12}},
                {"nacl", 8, {0.5, 0.70710678118654752}, {6, 12}},
                {"cscl", 2, {0.86602540378443865, 1}, {8, 6}},
                {"zns", 8, {0.43301270189221932, 0.70710678118654752}, {4, 12}}};
enum { N_LATTICES = sizeof lattices / sizeof *lattices };

/* Squared distance of the nearest images. */
static double distance_sq(const double *a, const double *b, const md_box *box)
{
  double sum = 0;
  for (int d = 0; d < 3; d++) {
    const double edge = box->hi[d] - box->lo[d];
    double step = a[d] - b[d];
    step -= edge * floor(step / edge + 0.5);
    sum += step * step;
  }
  return sum;
}

START_TEST(lattice_has_its_neighbours)
{
  const int cells[3] = {4, 3, 5};
  const double density = 0.37;
  set("system.lattice", "%s", lattices[_i].word);
  set("system.cells", "%d,%d,%d", cells[0], cells[1], cells[2]);
  set("system.density", "%g", density);
  ck_ok(system_create(config_get(cfg), &state));
  ck_assert_int_eq(state.n, lattices[_i].atoms * 4 * 3 * 5);
  const double a = cbrt(lattices[_i].atoms / density);
  double volume = 1;
  for (int d = 0; d < 3; d++) {
    ck_assert(state.box.lo[d] == 0);
    ck_assert_double_eq_tol(state.box.hi[d], cells[d] * a, 1e-13 * cells[d] * a);
    volume *= state.box.hi[d];
  }
  ck_assert_double_eq_tol((double)state.n / volume, density, 1e-14);
  ck_assert(!state.id && !state.image && state.mass == 1);
  double shell_sq[2];
  for (int k = 0; k < 2; k++)
    shell_sq[k] = pow(lattices[_i].distance[k] * a, 2);
  for (int64_t i = 0; i < state.n; i++) {
    int shell[2] = {0};
    for (int d = 0; d < 3; d++)
      ck_assert(state.x[3 * i + d] >= 0 && state.x[3 * i + d] < state.box.hi[d]);
    for (int64_t j = 0; j < state.n; j++) {
      if (i == j) continue;
      const double r_sq = distance_sq(&state.x[3 * i], &state.x[3 * j], &state.box);
      const int k = r_sq > shell_sq[0] * (1 + 1e-12);
      if (r_sq > shell_sq[1] * (1 + 1e-12)) continue;
      ck_assert_msg(fabs(r_sq - shell_sq[k]) <= 1e-12 * shell_sq[k], "atoms %d and %d: %g", (int)i,
                    (int)j, r_sq);
      shell[k]++;
    }
    ck_assert(shell[0] == lattices[_i].shell[0] && shell[1] == lattices[_i].shell[1]);
  }
}
END_TEST

START_TEST(size_is_known_before)
{
  int64_t n;
  md_box box;
  ck_ok(system_size(config_get(cfg), &n, &box));
  ck_assert_int_eq(n, 32000);
  ck_assert_double_eq_tol(box.hi[2], 20 * cbrt(4 / 0.8442), 1e-12);
  set("system.cells", "100000"); /* more than 32 bits count, and nothing is allocated */
  set("system.lattice", "zns");
  ck_ok(system_size(config_get(cfg), &n, &box));
  ck_assert_int_eq(n, 8000000000000000);
  ck_assert_int_eq(system_create(config_get(cfg), &state), MD_ENOMEM);
  configs_message("8000000000000000 atoms", "");
  ck_assert(!state.x && !state.v && state.n == 0);
}
END_TEST

/* Park and Miller's generator by Schrage's method, as both programs write it. */
static double uniform(int *seed)
{
  const int k = *seed / 127773;
  *seed = 16807 * (*seed - k * 127773) - 2836 * k;
  if (*seed < 0) *seed += 2147483647;
  return *seed * (1.0 / 2147483647);
}

/* Bob Jenkins' one-at-a-time hash over the bytes in memory. */
static void add_bytes(unsigned *hash, const void *data, int n)
{
  const signed char *bytes = data;
  for (int k = 0; k < n; k++) {
    *hash += (unsigned)bytes[k];
    *hash += *hash << 10;
    *hash ^= *hash >> 6;
  }
}

static void lammps_reference(int seed, const double *x, double *v)
{
  unsigned hash = 0;
  add_bytes(&hash, &seed, 4);
  add_bytes(&hash, x, 24);
  hash += hash << 3;
  hash ^= hash >> 11;
  hash += hash << 15;
  int s = (int)(hash & 0x7ffffff);
  if (!s) s = 1;
  for (int k = 0; k < 5; k++)
    uniform(&s);
  for (int d = 0; d < 3; d++)
    v[d] = uniform(&s) - 0.5;
}

static void minimd_reference(const int *cells, double edge, const double *x, double *v)
{
  int site[3];
  for (int d = 0; d < 3; d++)
    site[d] = (int)lrint(2 * x[d] / edge);
  int s = site[2] * 2 * cells[1] * 2 * cells[0] + site[1] * 2 * cells[0] + site[0] + 1;
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < 5; k++)
      uniform(&s);
    v[d] = uniform(&s);
  }
}

/* Momentum zero, temperature t, and v = scale (reference - mean) with one scale for all. */
static void check_velocities(double *reference, double mass, double t)
{
  const int64_t n = state.n;
  long double mean[3] = {0}, sum_sq = 0, spread_sq = 0, momentum[3] = {0};
  for (int64_t k = 0; k < 3 * n; k++)
    mean[k % 3] += reference[k] / n;
  for (int64_t k = 0; k < 3 * n; k++) {
    reference[k] -= (double)mean[k % 3];
    spread_sq += (long double)reference[k] * reference[k];
    sum_sq += (long double)state.v[k] * state.v[k];
    momentum[k % 3] += state.v[k];
  }
  ck_assert_double_eq_tol((double)(mass * sum_sq / (3 * n - 3)), t, 1e-12 * t);
  const double scale = (double)sqrtl(sum_sq / spread_sq);
  for (int d = 0; d < 3; d++)
    ck_assert_double_le(fabs((double)momentum[d]), 1e-11 * (double)n * scale);
  for (int64_t k = 0; k < 3 * n; k++)
    ck_assert_double_eq_tol(state.v[k], scale * reference[k], 1e-12 * scale);
}

START_TEST(lammps_velocities)
{
  const int seed = _i ? 2147483647 : 87287;
  const double mass = _i ? 2.5 : 1, t = _i ? 0.01 : 1.44;
  set("system.cells", "5,7,6");
  set("system.lattice", _i ? "diamond" : "fcc");
  set("system.seed", "%d", seed);
  set("system.mass", "%g", mass);
  set("system.temperature", "%g", t);
  ck_ok(system_create(config_get(cfg), &state));
  double *reference = malloc((size_t)state.n * 24);
  for (int64_t i = 0; i < state.n; i++)
    lammps_reference(seed, &state.x[3 * i], &reference[3 * i]);
  check_velocities(reference, mass, t);
  free(reference);
}
END_TEST

START_TEST(minimd_velocities)
{
  const int cells[3] = {6, 4, 5};
  set("system.cells", "6,4,5");
  set("system.velocity", "minimd");
  ck_ok(system_create(config_get(cfg), &state));
  double *reference = malloc((size_t)state.n * 24);
  for (int64_t i = 0; i < state.n; i++)
    minimd_reference(cells, state.box.hi[0] / 6, &state.x[3 * i], &reference[3 * i]);
  check_velocities(reference, 1, 1.44);
  free(reference);
}
END_TEST

/* The first atoms of the benchmark, from a separate program in Python. */
START_TEST(benchmark_velocities)
{
  static const double first[2][6] = {
      {-0.14582831540066427, -0.66994617068169715, -2.0172221659688576, -1.2586979664129112,
       1.4643991570442714, 1.5879138528088037},
      {-1.1689294584556877, 0.080886206038662589, -2.0460443884518811, -1.2631805360269042,
       1.3116272222200136, -0.7340176109408767}};
  set("system.velocity", _i ? "minimd" : "lammps");
  ck_ok(system_create(config_get(cfg), &state));
  for (int k = 0; k < 6; k++)
    ck_assert_double_eq_tol(state.v[k], first[_i][k], 1e-13);
}
END_TEST

/* More atoms than one part of a sum, a number that no thread count divides. */
START_TEST(threads_do_not_matter)
{
  set("system.cells", "13,17,11");
  set("system.velocity", _i ? "minimd" : "lammps");
  set("device.threads", "1");
  ck_ok(system_create(config_get(cfg), &state));
  for (int threads = 2; threads <= 5; threads += 3) {
    system_state other;
    set("device.threads", "%d", threads);
    ck_ok(system_create(config_get(cfg), &other));
    ck_assert_mem_eq(other.x, state.x, (size_t)state.n * 24);
    ck_assert_mem_eq(other.v, state.v, (size_t)state.n * 24);
    system_state_free(&other);
  }
}
END_TEST

START_TEST(smallest_systems)
{
  set("system.lattice", "sc");
  set("system.cells", "1");
  ck_ok(system_create(config_get(cfg), &state));
  ck_assert_int_eq(state.n, 1);
  for (int d = 0; d < 3; d++)
    ck_assert(state.v[d] == 0); /* momentum zero */
  system_state_free(&state);
  set("system.cells", "2,1,1");
  ck_ok(system_create(config_get(cfg), &state));
  double sum_sq = 0;
  for (int k = 0; k < 6; k++)
    sum_sq += state.v[k] * state.v[k];
  ck_assert_double_eq_tol(sum_sq / 3, 1.44, 1e-13);
  system_state_free(&state);
  set("system.temperature", "0");
  ck_ok(system_create(config_get(cfg), &state));
  for (int k = 0; k < 6; k++)
    ck_assert(state.v[k] == 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("system");
  TCase *tc = tcase_create("system");
  tcase_add_checked_fixture(tc, configs_begin, end);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, lattice_has_its_neighbours, 0, N_LATTICES);
  tcase_add_test(tc, size_is_known_before);
  tcase_add_loop_test(tc, lammps_velocities, 0, 2);
  tcase_add_test(tc, minimd_velocities);
  tcase_add_loop_test(tc, benchmark_velocities, 0, 2);
  tcase_add_loop_test(tc, threads_do_not_matter, 0, 2);
  tcase_add_test(tc, smallest_systems);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
