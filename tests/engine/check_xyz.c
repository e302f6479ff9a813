/* tests/engine/check_xyz.c - extended XYZ as other programs write it: cells turned in space,
 * momenta, quoted keys and values. */
#include "engine/system/system.h"
#include "tests/drive/configs.h"
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <math.h>

static system_state state;

static void end(void)
{
  system_state_free(&state);
  configs_end();
}

/* Two atoms of a box along the axes, in a file that shows them from elsewhere: row d of `axes` is
 * where axis d points there. */
static const double edge[3] = {4.1, 5.3, 6.7}, origin[3] = {-1.25, 0.5, 2};
static const double place[2][3] = {{-0.1, 1.7, 8.6}, {2.84, 5.79, 2.01}};
static const double rate[2][3] = {{0.3, -1e-3, 7}, {-0.7, 0.11, 1.0 / 3}};

static void put_turned(FILE *file, const double axes[3][3], const double v[3])
{
  for (int k = 0; k < 3; k++)
    fprintf(file, " %.17g", axes[0][k] * v[0] + axes[1][k] * v[1] + axes[2][k] * v[2]);
}

static const char *turned(const double axes[3][3])
{
  const char *path = files_path("turned.xyz");
  FILE *file = fopen(path, "w");
  fprintf(file, "2\nLattice=\"");
  for (int k = 0; k < 9; k++)
    fprintf(file, " %.17g", axes[k / 3][k % 3] * edge[k / 3]);
  fprintf(file, "\" Origin=\"");
  put_turned(file, axes, origin);
  fprintf(file, "\" Properties=species:S:1:pos:R:3:velo:R:3 pbc=\"T T T\"\n");
  for (int i = 0; i < 2; i++) {
    fputs("X", file);
    put_turned(file, axes, place[i]);
    put_turned(file, axes, rate[i]);
    fputs("\n", file);
  }
  fclose(file);
  return path;
}

static void check_near(double got, double want, double error)
{
  ck_assert_msg(fabs(got - want) <= error, "%.17g, not %.17g", got, want);
}

static void check_turned(double error)
{
  for (int d = 0; d < 3; d++) {
    check_near(state.box.lo[d], origin[d], error);
    check_near(state.box.hi[d], origin[d] + edge[d], error);
    for (int i = 0; i < 2; i++) {
      check_near(state.x[3 * i + d], place[i][d], error);
      check_near(state.v[3 * i + d], rate[i][d], error);
    }
  }
}

/* Each of the 48 ways to lay three vectors along axes, to the bit. */
START_TEST(vectors_along_axes_are_exact)
{
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  double axes[3][3] = {{0}};
  for (int d = 0; d < 3; d++)
    axes[d][orders[_i / 8][d]] = _i >> d & 1 ? -1 : 1;
  ck_ok(system_read(turned(axes), false, NULL, &state));
  check_turned(0);
  ck_assert(state.image[0] == 0 && state.image[5] == 0);
}
END_TEST

/* Any other way, to rounding; mirrored, too. */
START_TEST(vectors_anywhere_are_turned)
{
  const double c = cos(0.3 + _i), s = sin(0.3 + _i), t = sin(1.1 * _i), u = cos(1.1 * _i);
  const double mirror = _i % 2 ? -1 : 1;
  const double axes[3][3] = {{c, s * u, s * t}, {-s, c * u, c * t}, {0, -t * mirror, u * mirror}};
  ck_ok(system_read(turned(axes), false, NULL, &state));
  check_turned(1e-14);
}
END_TEST

START_TEST(skew_cells_are_refused)
{
  static const struct {
    double skew;
    md_status status;
  } rows[] = {{1e-8, MD_OK}, {-9e-7, MD_OK}, {2e-6, MD_EINVAL}, {-1e-3, MD_EINVAL}};
  for (int k = 0; k < 3; k++) {
    double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    axes[k][(k + 1) % 3] = rows[_i].skew;
    ck_assert_int_eq(system_read(turned(axes), false, NULL, &state), rows[_i].status);
    if (rows[_i].status) configs_message("turned.xyz:2: Lattice: expected an orthogonal box", "");
    if (!rows[_i].status) check_turned(1e-5);
    system_state_free(&state);
  }
}
END_TEST

/* What stands in the comment line beside what is read, and how it is quoted. */
START_TEST(words_of_the_comment_line)
{
  static const char *const comments[] = {
      "Lattice=\"4 0 0 0 5 0 0 0 6\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"",
      "\"Lattice\"=\"4 0 0 0 5 0 0 0 6\" 'Properties'='species:S:1:pos:R:3'",
      "note=\"a \\\"Lattice=\\\" b\" Lattice = {4 0 0 0 5 0 0 0 6} flag Properties= "
      "species:S:1:pos:R:3",
      "\"a key = \\\\\"=2 m=[[1, 2], [\"Lattice=1\"]] Lattice='4 0 0 0 5 0 0 0 6' {Origin}=\"0 0 "
      "0\"",
      "= =x Lattice=\"4 0 0 0 5 0 0 0 6\" d={a {b} Lattice={c}} Origin=\"0 0 0\" last=",
  };
  char text[256];
  snprintf(text, sizeof text, "1\n%s\nAr 1 2 3\n", comments[_i]);
  ck_ok(system_read(files_text("a.xyz", text), false, NULL, &state));
  ck_assert(state.box.hi[0] == 4 && state.box.hi[1] == 5 && state.box.hi[2] == 6);
  ck_assert(state.x[0] == 1 && state.x[1] == 2 && state.x[2] == 3);
}
END_TEST

START_TEST(open_quotes_are_named)
{
  static const char *const rows[][2] = {
      {"note=\"a \\\" Lattice=4", "expected \" to end a value"},
      {"note={{a} Lattice=4", "expected } to end a value"},
      {"[[a] Lattice=4", "expected ] to end a value"},
      {"'a Lattice=\"4 0 0 0 5 0 0 0 6\"", "expected ' to end a value"},
  };
  char text[256];
  snprintf(text, sizeof text, "1\n%s\nAr 1 2 3\n", rows[_i][0]);
  ck_assert_int_eq(system_read(files_text("a.xyz", text), false, NULL, &state), MD_EINVAL);
  configs_message(rows[_i][1], rows[_i][0]);
  configs_message("a.xyz:2: ", rows[_i][0]);
}
END_TEST

/* Velocities are momenta by the masses of kinds, of the file, or of the setting. */
static const char moving[] = "2\nLattice=\"8 0 0 0 8 0 0 0 8\" "
                             "Properties=species:S:1:pos:R:3:momenta:R:3:initial_charges:R:1\n"
                             "A 1 1 1 3 0 -6 0.5\nA 4 4 4 1 2 3 -0.5\n";

static void create(const char *text, const char *settings)
{
  char all[256];
  snprintf(all, sizeof all, "system.read=%s %s", files_text("a.xyz", text), settings);
  config *c = engines_config(all);
  ck_ok(system_create(config_get(c), &state));
  config_destroy(c);
}

START_TEST(momenta_are_divided_by_masses)
{
  create(moving, "system.mass=3");
  ck_assert(state.v[0] == 1 && state.v[2] == -2 && state.v[4] == 2.0 / 3 && state.q[1] == -0.5);
  system_state_free(&state);
  char *two = strdup(files_edit(moving, "\nA 4", "\nB 4"));
  create(two, "species=({name=\"B\";mass=4;},{name=\"A\";mass=2;})");
  ck_assert(state.v[0] == 1.5 && state.v[2] == -3 && state.v[3] == 0.25 && state.v[5] == 0.75);
  free(two);
  system_state_free(&state);
  char *heavy = strdup(files_edit(moving, "initial_charges", "mass"));
  char *alike = strdup(files_edit(heavy, "-0.5", "0.5"));
  create(alike, "system.units=metal");
  const double ps = 98.22694788; /* Angstrom/ps of sqrt(eV/u) */
  ck_assert_double_eq_tol(state.v[0] / (6 * ps), 1, 1e-6);
  ck_assert_double_eq_tol(state.v[5] / (6 * ps), 1, 1e-6);
  free(heavy);
  free(alike);
}
END_TEST

START_TEST(momenta_need_a_mass)
{
  config *c;
  char all[256];
  snprintf(all, sizeof all, "system.read=%s", files_text("a.xyz", moving));
  c = engines_config(all);
  ck_assert_int_eq(system_create(config_get(c), &state), MD_EINVAL);
  configs_message("a.xyz: momenta: expected a column mass, or system.mass", "");
  ck_ok(config_set(c, "system.keep_velocities", "false", "--set"));
  ck_ok(system_create(config_get(c), &state));
  config_destroy(c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("xyz");
  TCase *tc = tcase_create("xyz");
  tcase_add_checked_fixture(tc, configs_begin, end);
  tcase_add_loop_test(tc, vectors_along_axes_are_exact, 0, 48);
  tcase_add_loop_test(tc, vectors_anywhere_are_turned, 0, 6);
  tcase_add_loop_test(tc, skew_cells_are_refused, 0, 4);
  tcase_add_loop_test(tc, words_of_the_comment_line, 0, 5);
  tcase_add_loop_test(tc, open_quotes_are_named, 0, 4);
  tcase_add_test(tc, momenta_are_divided_by_masses);
  tcase_add_test(tc, momenta_need_a_mass);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
