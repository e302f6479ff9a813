/* tests/minimd/check_libconfig.c - libconfig inputs: what is read, its traps, files that are no
 * inputs. */
#include "tests/drive/configs.h"
#include "tests/drive/files.h"
#include "tests/test.h"

START_TEST(libconfig_is_read)
{
  configs_read("\xef\xbb\xbf# a byte order mark, CRLF and three kinds of comment\r\n"
               "system: { cells = [3, 4, 5]; density = 1; /* density: 9\r\n 7 */ seed = 5L;\r\n"
               "  read = \"\"; lattice = \"s\" \"c\" };  // cells = 9\r\n"
               "lj = { cutoff = 3; epsilon = 1e0; sigma = .5e1 } neighbor: { every = \"check\",\r\n"
               "bin_size = \"/3\"; newton = FALSE; list = \"half\"; skin = +0.25 }\r\n"
               "run: { steps = 3000000000; dt = 1.e-3; thermo = 5 };\r\n",
               MD_OK, "");
  const engine_spec *v = config_get(cfg);
  ck_assert(v->cells[0] == 3 && v->cells[1] == 4 && v->cells[2] == 5);
  ck_assert(v->density == 1 && v->seed == 5 && !v->read && v->lattice == ENGINE_LATTICE_SC);
  ck_assert(v->cutoff == 3 && v->epsilon == 1 && v->sigma == 5);
  ck_assert(v->every == 0 && v->bin_size == -3 && !v->newton && v->skin == 0.25);
  ck_assert_int_eq(v->list, NEIGHBOR_HALF);
  ck_assert(v->steps == 3000000000 && v->dt == 1e-3 && config_output(cfg)->thermo == 5);
  ck_assert_ptr_nonnull(strstr(config_reading(cfg), "a.in (libconfig)"));
  configs_read("run = { steps = 5000000000L; };", MD_OK, "");
  ck_assert(v->steps == 5000000000);
  configs_read("system = { cells = (6, 7, 8); };", MD_OK, "");
  ck_assert(v->cells[1] == 7);
  configs_read("system = { cells = 9; };", MD_OK, "");
  ck_assert(v->cells[2] == 9);
}
END_TEST

/* An input that says nothing about rebuilds has lists that miss no pair; --set still counts
 * more. */
START_TEST(rebuilds_are_checked_unless_said)
{
  const engine_spec *v = config_get(cfg);
  ck_assert_int_eq(v->every, 20);
  configs_read("neighbor: { skin = 0.4 };", MD_OK, "");
  ck_assert_int_eq(v->every, 0);
  ck_assert_str_eq(config_origin(cfg, "neighbor.every"), "default:libconfig");
  ck_ok(config_set_pair(cfg, "neighbor.every=7"));
  ck_assert_int_eq(v->every, 7);
  configs_read("neighbor: { every = 20 };", MD_OK, "");
  ck_assert_int_eq(v->every, 20);
  ck_assert_ptr_nonnull(strstr(config_origin(cfg, "neighbor.every"), "a.in:1"));
}
END_TEST

START_TEST(libconfig_traps_are_refused)
{
  static const char *const rows[][2] = {
      {"run: {\n steps = 1.9; };", "a.in:2: run.steps = 1.9: expected an integer"},
      {"run: { thermo = 3000000000; };", "run.thermo = 3000000000: expected an integer in"},
      {"run: { steps = 99999999999999999999L; };", "run.steps = 99999999999999999999"},
      {"lj: { cutoff = 1e400; };", "lj.cutoff = 1e400: expected a number within"},
      {"run: { steps = 010; };", "run.steps = 010: an integer with a leading zero"},
      {"lj: { cutoff = 02.5; };", "leading zero"},
      {"run: { steps = 0x10; };", "run.steps = 0x10"},
      {"lj: { cutoff = .; };", "lj.cutoff = .: expected a finite number"},
      {"lj: {\n\n cutoff = -1; };", "a.in:3: lj.cutoff = -1: expected a number > 0"},
      {"lj: { cutoff = \"2.5\"; };", "not the string '2.5'"},
      {"run: { steps = true; };", "not the boolean 'true'"},
      {"neighbor: { newton = 1; };", "expected true | false, not '1'"},
      {"system: { cells = [1, 2]; };", "one integer or three"},
      {"system: { cells = [1, 2, 3, 4]; };", "one integer or three"},
      {"system: { cells = (1, \"a\", 3); };", "expected numbers in the list"},
      {"system: { cells = (1, (2), 3); };", "expected numbers in the list"},
      {"system: { cells = (1, 2, 010); };", "leading zero"},
      {"lj: { cutoff = [2.5]; };", "not the list '2.5'"},
      {"lj: { cutoff = { a = 1; }; };", "lj.cutoff: expected a value (real), not a group"},
      {"lj: { cutof = 2.5; };", "did you mean 'lj.cutoff'"},
      {"lj = 3;", "lj: expected a group"},
      {"cutoff = 3;", "did you mean 'lj.cutoff'"},
      {"ljj: { cutoff = 3; };", "unknown key 'ljj.cutoff'; did you mean 'lj.cutoff'"},
      {"dynamics: { tau = 3.0; };", "unknown key 'dynamics.tau'"},
      {"run: { steps = 1; };\nrun: { dt = 1.0; };", "a.in:2: duplicate setting name"},
      {"run: { steps = 1;\n steps = 2; };", "a.in:2: duplicate setting name"},
      {"run: {\n steps 3; };", "a.in:2: syntax error at or before ' steps 3; };'"},
      {"run: { steps = 10x; };", "10x"},
      {"lj: { cutoff = 2,5; };", "syntax error"},
      {"run: { steps = 5; }; }", "syntax error"},
      {"@include \"other.in\"\n", "a.in:1: @include is not supported"},
      {"run: { steps = 5; };\n  @include \".\"\n", "a.in:2: @include is not supported"},
      {"# only a comment\n/* and\n another */", "expected libconfig"},
      {"lj: { shift = \"frce\"; };", "did you mean 'force'"},
      {"order: { curve = \"hilber\"; };", "hilbert"},
      {"run: { steps = \"5; };", "syntax error"},
      {"run: { steps = 5; /* };", "syntax error"},
      {"run: {\n \"steps\" = 5; };", "a.in:2: syntax error"},
      {"run: { steps = 5 \"x\"; };", "syntax error"},
      {"run: { steps = 5, \"x\"; };", "syntax error"},
      {"run: { steps = [[[[[[[[[[5]]]]]]]]]]; };", "syntax error"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    configs_read(rows[k][0], MD_EINVAL, rows[k][1]);
}
END_TEST

START_TEST(files_that_are_no_inputs)
{
  ck_assert_int_eq(config_read(cfg, files_path("absent.in"), CONFIG_FORMAT_AUTO), MD_EIO);
  configs_message("absent.in", "absent");
  ck_assert_int_eq(config_read(cfg, "/tmp", CONFIG_FORMAT_AUTO), MD_EIO);
  configs_message("'/tmp': Is a directory", "/tmp");
  configs_read("", MD_EINVAL, "a.in: the file is empty");
  configs_read(" \n\r\n\t", MD_EINVAL, "the file is empty");
  configs_read("\xff\xfer\0u", MD_EINVAL, "UTF-16");
  configs_read("run: {\n steps\x01 = 3; };", MD_EINVAL, "a.in:2: byte 0x01: expected a text file");
  configs_read("some words that no language begins with", MD_EINVAL, "--format-in");
  configs_read("LAMMPS data\n\n2 atoms\n0 1 xlo xhi\n", MD_EINVAL, "system.read");
  configs_read("2\nLattice=\"1 0 0 0 1 0 0 0 1\"\n", MD_EINVAL, "system.read");
  const char *path = files_write("nul.in", "run: {\n\n steps = 5;\0 };", 22);
  ck_assert_int_eq(config_read(cfg, path, CONFIG_FORMAT_AUTO), MD_EINVAL);
  configs_message("nul.in:3: byte 0x00", "NUL");
  const size_t size = 65537;
  char *big = malloc(size);
  memset(big, ' ', size);
  memcpy(big, "run: { steps = 5; };", 20);
  ck_ok(config_read(cfg, files_write("big.in", big, size - 1), CONFIG_FORMAT_AUTO));
  path = files_write("big.in", big, size);
  ck_assert_int_eq(config_read(cfg, path, CONFIG_FORMAT_AUTO), MD_ECAPACITY);
  configs_message("65536 bytes", "big");
  free(big);
}
END_TEST

START_TEST(damaged_inputs_do_no_harm)
{
  const char text[] = "system: { cells = [3, 4, 5]; density = 1.0; read = \"x\"; };\n# comment\n"
                      "lj: { cutoff = 3; /* c */ shift = \"force\"; };\nrun: { steps = 5L; };\n";
  int refused = 0;
  for (unsigned seed = 0; seed < 1500; seed++) {
    char *damaged = files_mutate(text, seed);
    const md_status status = config_read(cfg, files_text("a.in", damaged), CONFIG_FORMAT_LIBCONFIG);
    ck_assert(status == MD_OK || status == MD_EINVAL);
    if (status) configs_message("a.in", damaged);
    refused += status != MD_OK;
    free(damaged);
  }
  ck_assert_int_gt(refused, 500);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("libconfig");
  TCase *tc = tcase_create("libconfig");
  tcase_add_checked_fixture(tc, configs_begin, configs_end);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, libconfig_is_read);
  tcase_add_test(tc, rebuilds_are_checked_unless_said);
  tcase_add_test(tc, libconfig_traps_are_refused);
  tcase_add_test(tc, files_that_are_no_inputs);
  tcase_add_test(tc, damaged_inputs_do_no_harm);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
