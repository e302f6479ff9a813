/* tests/engine/check_atom_files.c - LAMMPS data files and extended XYZ. */
#include "engine/system/system.h"
#include "tests/drive/configs.h"
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>

static system_state state;

static void end(void)
{
  system_state_free(&state);
  configs_end();
}

/* Three atoms in 4 x 5 x 6 from (-1, 0, 2), the second and third outside the box. */
static const char data[] = "LAMMPS data file via write_data, version 29 Aug 2024, units = lj\n"
                           "\n"
                           "3 atoms\n"
                           "1 atom types\n"
                           "0 bonds\n"
                           "\n"
                           "-1 3 xlo xhi\n"
                           "0.0 5.0 ylo yhi # a comment\n"
                           "2 8e0 zlo zhi\n"
                           "\n"
                           "Masses\n"
                           "\n"
                           "1 2.5 # kind\n"
                           "\n"
                           "Pair Coeffs # lj/cut\n"
                           "\n"
                           "1 1 1\n"
                           "\n"
                           "Atoms # atomic\n"
                           "\n"
                           "7 1 0.5 1.5 2.5 0 0 0\n"
                           "2 1 -2 5 8.5 1 -2 3\n"
                           "5 1 12.25 -0.5 -10 0 0 0\n"
                           "\n"
                           "Velocities\n"
                           "\n"
                           "5 0.1 0.2 0.3\n"
                           "7 1e-3 -2 0\n"
                           "2 4 5 6\n";

static const char xyz[] =
    "3\n"
    "Lattice=\"4 0 0 0 5 0 0 0 6\" Origin=\"-1 0 2\" comment='x Lattice=1' pbc=\"T T T\" "
    "Properties=id:I:1:species:S:1:velo:R:3:extra:R:2:pos:R:3:mass:R:1 Time=5\n"
    "7 Ar 1e-3 -2 0  9 9  0.5 1.5 2.5  2.5\n"
    "2 Ar 4 5 6      9 9  -2 5 8.5     2.5\n"
    "5 Ar 0.1 0.2 .3 9 9  12.25 -0.5 -10 2.5\n"
    "3\n"
    "another frame\n";

static void check_row(const double *got, double x, double y, double z)
{
  ck_assert_msg(got[0] == x && got[1] == y && got[2] == z, "%.17g %.17g %.17g", got[0], got[1],
                got[2]);
}

/* The three atoms above, wrapped; flags are those that the data file adds. */
static void check_atoms(bool flags)
{
  ck_assert_int_eq(state.n, 3);
  check_row(state.box.lo, -1, 0, 2);
  check_row(state.box.hi, 3, 5, 8);
  check_row(&state.x[0], 0.5, 1.5, 2.5);
  check_row(&state.x[3], 2, 0, 2.5);
  check_row(&state.x[6], 0.25, 4.5, 2);
  const int32_t image[9] = {0, 0, 0, flags ? 0 : -1, flags ? -1 : 1, flags ? 4 : 1, 3, -1, -2};
  ck_assert_mem_eq(state.image, image, sizeof image);
  const int64_t id[3] = {7, 2, 5};
  ck_assert_mem_eq(state.id, id, sizeof id);
  check_row(&state.v[0], 1e-3, -2, 0);
  check_row(&state.v[3], 4, 5, 6);
  check_row(&state.v[6], 0.1, 0.2, 0.3);
  ck_assert(state.mass == 2.5);
}

START_TEST(data_file)
{
  ck_ok(system_read(files_text("a.data", data), false, NULL, &state));
  check_atoms(true);
  ck_assert(state.epsilon == 1 && state.sigma == 1);
  system_state_free(&state);
  ck_ok(system_read(
      files_text("a.data", files_edit(data, "Masses", "Atom Type Labels\n\n1 Cu\n\nMasses")), false,
      NULL, &state));
  check_atoms(true);
}
END_TEST

/* Styles and flags are told from the columns. */
START_TEST(data_file_columns)
{
  static const char *const titles[] = {"Atoms", "Atoms  # charge", "Atoms # charge", "Atoms"};
  static const char *const atoms[] = {"7 1 .5 1.5 2.5\n2 1 1 2 3\n5 1 1 2 4\n",
                                      "7 1 -1 .5 1.5 2.5\n2 1 0 1 2 3\n5 1 0.5 1 2 4\n",
                                      "7 1 -1 .5 1.5 2.5 1 2 3\n2 1 0 1 2 3 0 0 0\n"
                                      "5 1 0.5 1 2 4 0 0 0\n",
                                      "7 1 .5 1.5 2.5 1 2 3\r\n\r\n2 1 1 2 3 0 0 0\n"
                                      "5\t1 1 2 4 0 0 0"};
  char text[1024];
  snprintf(text, sizeof text,
           "title\n3 atoms\n1 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n0 5 zlo zhi\n"
           "\n%s\n\n%s",
           titles[_i], atoms[_i]);
  ck_ok(system_read(files_text("a.data", text), false, NULL, &state));
  check_row(&state.x[0], 0.5, 1.5, 2.5);
  check_row(&state.x[6], 1, 2, 4);
  ck_assert(!state.v && state.mass == 0 && state.epsilon == 0);
  ck_assert_int_eq(state.image[2], _i < 2 ? 0 : 3);
}
END_TEST

START_TEST(xyz_file)
{
  ck_ok(system_read(files_text("a.xyz", xyz), false, NULL, &state));
  check_atoms(false);
  system_state_free(&state);
  ck_ok(system_read(files_text("a.xyz", "2\nLattice=\"2 0 0 0 3 0 0 0 4\"\nH 1 1 1\nH 1 1 2\n"),
                    false, NULL, &state));
  ck_assert(!state.v && !state.id && state.mass == 0);
  check_row(&state.x[3], 1, 1, 2);
  check_row(state.box.hi, 2, 3, 4);
  system_state_free(&state);
  ck_ok(
      system_read(files_text("a.xyz", "  1 \n \tcomment={x Lattice=1} Lattice={2 0 0 0 3 0 0 0 4}\n"
                                      "H 1 1 1\n"),
                  false, NULL, &state));
  check_row(state.box.hi, 2, 3, 4);
}
END_TEST

START_TEST(header_alone)
{
  const char *const texts[] = {data, xyz};
  const char *path = files_text("a", texts[_i]);
  ck_ok(system_read(path, true, NULL, &state));
  ck_assert(state.n == 3 && state.box.hi[2] == 8 && !state.x);
  int64_t n;
  md_box box;
  ck_ok(config_set(cfg, "system.read", path, "--set"));
  ck_ok(system_size(config_get(cfg), &n, &box));
  ck_assert(n == 3 && box.lo[0] == -1);
}
END_TEST

/* A file's velocities are kept, or made from its positions and mass. */
START_TEST(velocities_of_a_file)
{
  ck_ok(config_set(cfg, "system.read", files_text("a.data", data), "--set"));
  ck_ok(system_create(config_get(cfg), &state));
  check_atoms(true);
  system_state_free(&state);
  for (int k = 0; k < 2; k++) {
    if (k)
      files_text("a.data",
                 files_edit(data, "Velocities\n\n5 0.1 0.2 0.3\n7 1e-3 -2 0\n2 4 5 6\n", ""));
    if (!k) ck_ok(config_set(cfg, "system.keep_velocities", "false", "--set"));
    ck_ok(system_create(config_get(cfg), &state));
    double sum[3] = {0}, sum_sq = 0;
    for (int c = 0; c < 9; c++) {
      sum[c % 3] += state.v[c];
      sum_sq += state.v[c] * state.v[c];
    }
    ck_assert_double_eq_tol(2.5 * sum_sq / 6, 1.44, 1e-13);
    for (int d = 0; d < 3; d++)
      ck_assert_double_le(fabs(sum[d]), 1e-14);
    ck_assert_int_eq(state.image[5], 4);
    system_state_free(&state);
  }
}
END_TEST

START_TEST(file_and_settings_agree)
{
  const char *path = files_text("a.data", files_edit(data, "1 1 1\n", "1 1.5 0.9\n"));
  ck_ok(config_set(cfg, "system.read", path, "--set"));
  ck_assert_int_eq(system_create(config_get(cfg), &state), MD_EINVAL);
  configs_message("a.data: the file says 1.5 for lj.epsilon, which is 1 (default)", "");
  ck_assert(!state.x);
  ck_ok(config_set(cfg, "lj.epsilon", "1.5", "--set"));
  ck_assert_int_eq(system_create(config_get(cfg), &state), MD_EINVAL);
  configs_message("set lj.sigma = 0.9", "");
  ck_ok(config_set(cfg, "lj.sigma", "0.9", "--set"));
  ck_ok(system_create(config_get(cfg), &state));
  system_state_free(&state);
  ck_ok(config_set(cfg, "system.mass", "1", "--set"));
  ck_assert_int_eq(system_create(config_get(cfg), &state), MD_EINVAL);
  configs_message("the file says 2.5 for system.mass, which is 1 (--set)", "");
  ck_ok(config_set(cfg, "system.mass", "2.5", "--set"));
  ck_ok(system_create(config_get(cfg), &state));
}
END_TEST

static void check_refused(const char *text, const char *words)
{
  const md_status status = system_read(files_text("a", text), false, NULL, &state);
  ck_assert_msg(status == MD_EINVAL, "'%s': status %d", text, (int)status);
  configs_message(words, text);
  ck_assert(!state.x && !state.v && !state.id && !state.image);
}

START_TEST(data_mistakes_are_named)
{
  static const char *const rows[][3] = {
      {"3 atoms", "4 atoms", "a:25: another section begins after 3 of 4 lines of Atoms"},
      {"3 atoms", "-3 atoms", "a:3: atoms: expected an integer >= 1"},
      {"3 atoms", "0 atoms", "a:3: atoms: expected an integer >= 1"},
      {"3 atoms", "3.0 atoms", "a:3: atoms: expected an integer >= 1, not '3.0'"},
      {"3 atoms", "3000000000 atoms", "a:3: 3000000000 atoms cannot be in a file of"},
      {"3 atoms\n", "", "expected 'N atoms' in the header"},
      {"1 atom types", "2 atom types", "a:4: 2 atom types: expected as many"},
      {"0 bonds", "3 bonds", "a:5: '3 ...': expected atoms only"},
      {"units = lj", "units = real", "a:1: 'units = real': expected units = lj or"},
      {"-1 3 xlo xhi", "3 -1 xlo xhi", "a:7: box: expected xlo < xhi, not 3 and -1"},
      {"-1 3 xlo xhi", "0 1e400 xlo xhi", "a:7: box: expected a number within"},
      {"-1 3 xlo xhi", "0 nan xlo xhi", "a:7: box: expected a finite number, not 'nan'"},
      {"-1 3 xlo xhi\n", "", "expected 'xlo xhi' in the header"},
      {"0 bonds", "0 0 0 xy xz yz", "a triclinic box"},
      {"-1 3 xlo xhi", "4 0 0 avec", "a:7: box vectors: expected xlo xhi"},
      {"Masses", "Bonds", "a:11: 'Bonds': expected one of Atom Type Labels, Masses, Pair Coeffs"},
      {"1 2.5 # kind", "2 2.5", "a:13: atom type: expected an integer in 1..1"},
      {"1 2.5 # kind", "1 -2.5", "a:13: expected a mass > 0"},
      {"1 2.5 # kind", "1", "a:13: expected 'type mass'"},
      {"# lj/cut", "# eam", "expected lj/cut"},
      {"1 1 1\n", "1 1 0\n", "expected epsilon and sigma > 0"},
      {"# atomic", "# full", "a:21: 8 columns: expected 5 or 8"},
      {"# atomic", "# charge", "as the title says charge"},
      {"2 1 -2 5 8.5 1 -2 3", "2 1 -2 5 8.5", "a:22: 5 columns: expected"},
      {"2 1 -2 5 8.5 1 -2 3", "2 2 -2 5 8.5 1 -2 3", "a:22: atom type: expected"},
      {"2 1 -2 5 8.5 1 -2 3", "2 1 -2 5 8.5 1 -2 x", "a:22: iz: expected an integer"},
      {"2 1 -2 5 8.5 1 -2 3", "2 1 -2 5 8,5 1 -2 3", "a:22: z: expected a finite number"},
      {"2 1 -2 5 8.5 1 -2 3", "2 1 -2 inf 8.5 1 -2 3", "a:22: y: expected a finite number"},
      {"2 1 -2 5 8.5 1 -2 3", "2 1 1e30 5 8.5 1 -2 3", "a:22: x = 1e+30 is too far from the box"},
      {"2 1 -2 5 8.5 1 -2 3", "0 1 -2 5 8.5 1 -2 3", "a:22: id: expected an integer >= 1"},
      {"2 1 -2 5 8.5 1 -2 3", "7 1 -2 5 8.5 1 -2 3", "two atoms have id 7"},
      {"7 1 0.5 1.5 2.5", "2 1 0.5 1.5 2.5", "two atoms have id 2"}, /* ascending otherwise */
      {"Atoms # atomic", "Atome # atomic", "'Atome': expected one of"},
      {"7 1e-3 -2 0", "7 1e-3 -2", "a:28: expected 'id vx vy vz'"},
      {"7 1e-3 -2 0", "8 1e-3 -2 0", "a:28: no atom has id 8"},
      {"7 1e-3 -2 0", "5 1e-3 -2 0", "a:28: two velocities of id 5"},
      {"7 1e-3 -2 0", "7 1e-3 -2 nan", "a:28: vz: expected a finite number"},
      {"2 4 5 6\n", "", "the file ends after 2 of 3 lines of Velocities"},
      {"2 4 5 6\n", "2 4 5 6\nVelocities\n", "'Velocities': expected one of"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    check_refused(files_edit(data, rows[k][0], rows[k][1]), rows[k][2]);
  check_refused("title\n1 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n",
                "expected a section 'Atoms'");
  check_refused("title\n1 atoms\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\nVelocities\n\n1 0 0 0\n",
                "expected Atoms before Velocities");
  check_refused("", "the file is empty");
}
END_TEST

START_TEST(xyz_mistakes_are_named)
{
  static const char *const rows[][3] = {
      {"3\n", "0\n", "a:1: number of atoms: expected an integer >= 1"},
      {"3\n", "99999999999\n", "a:1: 99999999999 atoms cannot be in a file of"},
      {"3\n", "5\n", "a:6: 1 columns: expected 11, as Properties says"},
      {"Lattice=", "Latice=", "a:2: expected Lattice=\""},
      {"Lattice=\"4 0 0 0 5 0 0 0 6\"", "Lattice={4 0 0 0 5 0 0 0 6", "expected } to end"},
      {"Lattice=\"4 0 0 0 5 0 0 0 6\"", "Lattice=\"4 0 0 0 5 0 0 0\"", "expected 9 numbers, not 8"},
      {"Lattice=\"4 0 0", "Lattice=\"4 1 0", "Lattice: expected an orthogonal box"},
      {"Lattice=\"4 0 0", "Lattice=\"0 0 0", "Lattice: expected three vectors with a length"},
      {"Time=5", "Lattice=5", "Lattice appears twice"},
      {"0 6\"", "0 6", "expected 9 numbers, not 10"},
      {"Origin=\"-1 0 2\"", "Origin=\"-1 0\"", "Origin: expected 3 numbers"},
      {"Origin=\"-1 0 2\"", "Origin=\"1e30 0 2\"", "an edge is lost beside Origin"},
      {"pbc=\"T T T\"", "pbc=\"T T F\"", "pbc: expected \"T T T\""},
      {"pos:R:3", "pos:R:2", "Properties: expected pos:R:3, not pos:R:2"},
      {"pos:R:3", "pos:I:3", "Properties: expected pos:R:3, not pos:I:3"},
      {"pos:R:3", "place:R:3", "Properties: expected pos:R:3"},
      {"pos:R:3", "pos:R", "a:2: Properties: "},
      {"extra:R:2", "extra:R:0", "Properties: expected an integer in 1..1000"},
      {"extra:R:2:", "velo:R:3:", "'velo' appears twice"},
      {"extra:R:2:pos", "momenta:R:3:pos", "expected velocities or momenta, not both"},
      {"2 Ar", "2 Kr", "a:4: 'Kr' beside 'Ar': expected one species"},
      {"8.5     2.5", "8.5     2.6", "a:4: mass 2.6 beside 2.5"},
      {"8.5     2.5", "8.5     0", "a:4: expected a mass > 0"},
      {"-2 5 8.5", "-2 5 nan", "a:4: z: expected a finite number"},
      {"-2 5 8.5", "-2 5", "a:4: 10 columns: expected 11"},
      {"4 5 6 ", "4 5x 6 ", "a:4: vy: expected a finite number"},
      {"2 Ar", "7 Ar", "two atoms have id 7"},
      {"2 Ar", "-2 Ar", "a:4: id: expected an integer >= 1"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    check_refused(files_edit(xyz, rows[k][0], rows[k][1]), rows[k][2]);
  check_refused("2\nLattice=\"2 0 0 0 3 0 0 0 4\"\nH 1 1 1\n", "the file ends after 1 of 2 atoms");
  /* As many ids as numbers from the least to the most, one of them twice. */
  check_refused("4\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=pos:R:3:id:I:1\n"
                "1 1 1 1\n1 3 3 4\n1 5 5 3\n1 7 7 3\n",
                "two atoms have id 3");
}
END_TEST

START_TEST(files_that_hold_no_text)
{
  ck_assert_int_eq(system_read(files_path("absent"), false, NULL, &state), MD_EIO);
  configs_message("absent", "");
  ck_assert_int_eq(system_read("/tmp", false, NULL, &state), MD_EIO);
  ck_assert_int_eq(system_read("/dev/null", false, NULL, &state), MD_EIO);
  const char *path = files_write("binary", "a\nb\0c\n", 6);
  ck_assert_int_eq(system_read(path, false, NULL, &state), MD_EINVAL);
  configs_message("binary:2: binary data", "");
  const size_t size = (2 << 20);
  char *line = malloc(size);
  memset(line, 'x', size);
  ck_assert_int_eq(system_read(files_write("long", line, size), false, NULL, &state), MD_EINVAL);
  configs_message("long:1: a line is longer than 1048576 bytes", "");
  free(line);
}
END_TEST

/* Rounding leaves no atom on the border or beyond it. */
START_TEST(wrapped_positions_lie_inside)
{
  static const double places[] = {114.96, 9.58, -1e-20, -9.58, 9.579999999999999, 28.74, -114.96};
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    char text[256];
    snprintf(text, sizeof text, "1\nLattice=\"9.58 0 0 0 9.58 0 0 0 9.58\"\nH %.17g 1 1\n",
             places[k]);
    ck_ok(system_read(files_text("a.xyz", text), false, NULL, &state));
    ck_assert_msg(state.x[0] >= 0 && state.x[0] < 9.58, "%.17g: %.17g", places[k], state.x[0]);
    ck_assert_double_eq_tol(remainder(state.x[0] + 9.58 * state.image[0] - places[k], 9.58), 0,
                            1e-13);
    system_state_free(&state);
  }
}
END_TEST

/* A file longer than the reader's block: lines are cut at its border and joined again. */
START_TEST(many_atoms)
{
  enum { N = 60000 };
  const char *path = files_path("many");
  FILE *file = fopen(path, "w");
  fprintf(file, "title\n%d atoms\n0 1 xlo xhi\n0 1 ylo yhi\n0 %d zlo zhi\nAtoms\n\n", N, N);
  for (int i = 0; i < N; i++) /* ids by a permutation */
    fprintf(file, "%d 1 %.17g 0.5 %d\n", (int)((int64_t)i * 7919 % N) + 1, i / (double)N, i);
  fputs("Velocities\n\n", file);
  for (int i = 0; i < N; i++)
    fprintf(file, "%d %d 0 0\n", i + 1, i + 1);
  fclose(file);
  ck_ok(system_read(path, false, NULL, &state));
  ck_assert_int_eq(state.n, N);
  for (int i = 0; i < N; i++) {
    ck_assert(state.x[3 * i] == i / (double)N && state.x[3 * i + 2] == i);
    ck_assert(state.id[i] == (int64_t)i * 7919 % N + 1 && state.v[3 * i] == (double)state.id[i]);
  }
}
END_TEST

START_TEST(damaged_files_do_no_harm)
{
  const char *const texts[] = {data, xyz};
  for (unsigned seed = 0; seed < 1500; seed++) {
    char *damaged = files_mutate(texts[_i], seed);
    const md_status status = system_read(files_text("a", damaged), false, NULL, &state);
    ck_assert(status == MD_OK || status == MD_EINVAL);
    ck_assert(status == MD_OK ? state.x && state.n > 0 : !state.x && !state.v && !state.id);
    system_state_free(&state);
    free(damaged);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("atom_files");
  TCase *tc = tcase_create("atom_files");
  tcase_add_checked_fixture(tc, configs_begin, end);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, data_file);
  tcase_add_loop_test(tc, data_file_columns, 0, 4);
  tcase_add_test(tc, xyz_file);
  tcase_add_loop_test(tc, header_alone, 0, 2);
  tcase_add_test(tc, velocities_of_a_file);
  tcase_add_test(tc, file_and_settings_agree);
  tcase_add_test(tc, data_mistakes_are_named);
  tcase_add_test(tc, xyz_mistakes_are_named);
  tcase_add_test(tc, files_that_hold_no_text);
  tcase_add_test(tc, wrapped_positions_lie_inside);
  tcase_add_test(tc, many_atoms);
  tcase_add_loop_test(tc, damaged_files_do_no_harm, 0, 2);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
