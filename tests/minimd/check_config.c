/* tests/minimd/check_config.c - settings: the table, text to values and back, precedence. */
#include "tests/drive/configs.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(defaults_are_the_benchmark)
{
  const engine_spec *v = config_get(cfg);
  ck_assert_int_eq(v->lattice, ENGINE_LATTICE_FCC);
  for (int d = 0; d < 3; d++)
    ck_assert_int_eq(v->cells[d], 20);
  ck_assert(v->density == 0.8442 && v->temperature == 1.44 && v->mass == 1);
  ck_assert(v->seed == 87287 && v->velocity == ENGINE_VELOCITY_LAMMPS && !v->read);
  ck_assert(v->epsilon == 1 && v->sigma == 1 && v->cutoff == 2.5);
  ck_assert_int_eq(v->shift, FORCE_SHIFT_NONE);
  ck_assert(v->skin == 0.3 && v->every == 20 && v->list == -1 && v->bin_size == -2 && v->newton);
  ck_assert_int_eq(v->stencil, NEIGHBOR_SPHERE);
  ck_assert(v->curve.kind == ORDERING_HILBERT && v->sort_every == -1);
  ck_assert(v->steps == 100 && v->dt == 0.005 && config_output(cfg)->thermo == 0);
  ck_assert(v->backend == ENGINE_BACKEND_AUTO && v->precision == MD_DOUBLE);
  ck_assert(v->threads == 0 && v->block_size == 0 && !v->deterministic);
  ck_assert_str_eq(config_reading(cfg), "built-in in.lj");
  ck_assert_ptr_null(config_warning(cfg, 0));
  ck_ok(config_check(cfg));
}
END_TEST

START_TEST(table_is_complete)
{
  static const char *const keys[] = {
      "system.lattice",    "system.cells",    "system.density",   "system.temperature",
      "system.seed",       "system.velocity", "system.mass",      "system.read",
      "lj.epsilon",        "lj.sigma",        "lj.cutoff",        "lj.shift",
      "neighbor.skin",     "neighbor.every",  "neighbor.list",    "neighbor.stencil",
      "neighbor.bin_size", "neighbor.newton", "order.curve",      "order.sort_every",
      "run.steps",         "run.dt",          "run.thermo",       "device.backend",
      "device.precision",  "device.threads",  "device.block_size"};
  const config_entry *entries;
  const int n = config_entries(&entries);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
    ck_assert_str_ne(configs_value(cfg, keys[k]), "absent");
  for (int k = 0; k < n; k++) {
    const config_entry *e = &entries[k];
    ck_assert(strchr(e->key, '.') == strrchr(e->key, '.'));
    ck_assert(*e->type && *e->range && *e->help && e->unit && e->fallback);
    ck_assert_str_eq(config_origin(cfg, e->key), "default");
    for (int j = 0; j < k; j++)
      ck_assert_str_ne(entries[j].key, e->key);
    ck_ok(config_set(cfg, e->key, e->fallback, "--set"));
  }
  config *fresh;
  ck_ok(config_create(&fresh));
  configs_same(cfg, fresh);
  config_destroy(fresh);
}
END_TEST

START_TEST(text_becomes_a_value)
{
  static const char *const rows[][3] = {
      {"system.lattice", "diamond", "\"diamond\""},
      {"system.cells", "7", "[7, 7, 7]"},
      {"system.cells", "3,4,5", "[3, 4, 5]"},
      {"system.density", "1e-3", "0.001"},
      {"system.density", ".5", "0.5"},
      {"system.temperature", "0", "0"},
      {"system.seed", "2147483647", "2147483647"},
      {"system.mass", "39.948", "39.948"},
      {"system.read", "a \"b\\c", "\"a \\\"b\\\\c\""},
      {"lj.cutoff", "3", "3"},
      {"lj.shift", "force", "\"force\""},
      {"neighbor.every", "check", "\"check\""},
      {"neighbor.every", "7", "7"},
      {"neighbor.list", "half", "\"half\""},
      {"neighbor.list", "auto", "\"auto\""},
      {"neighbor.bin_size", "/3", "\"/3\""},
      {"neighbor.bin_size", "1.4", "1.4"},
      {"neighbor.newton", "off", "false"},
      {"neighbor.newton", "true", "true"},
      {"order.curve", "hybrid:hilbert/row:4", "\"hybrid:hilbert/row:4\""},
      {"order.curve", "morton:kji", "\"morton:kji\""},
      {"order.sort_every", "0", "0"},
      {"order.sort_every", "rebuild", "\"rebuild\""},
      {"run.steps", "3000000000", "3000000000L"},
      {"run.steps", "1e6", "1000000"},
      {"run.steps", "0", "0"},
      {"device.threads", "3", "3"},
      {"device.threads", "all", "\"all\""},
      {"device.block_size", "96", "96"},
      {"device.carveout", "auto", "\"auto\""},
      {"device.carveout", "100", "100"},
      {"device.precision", "mixed", "\"mixed\""},
      {"device.backend", "cpu", "\"cpu\""},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_ok(config_set(cfg, rows[k][0], rows[k][1], "--set"));
    ck_assert_str_eq(configs_value(cfg, rows[k][0]), rows[k][2]);
    ck_assert_str_eq(config_origin(cfg, rows[k][0]), "--set");
  }
  ck_assert(config_get(cfg)->steps == 0 && config_get(cfg)->every == 7);
  ck_assert(config_get(cfg)->curve.kind == ORDERING_MORTON_KJI);
}
END_TEST

START_TEST(bad_values_are_refused)
{
  static const char *const rows[][3] = {
      {"system.lattice", "fc", "did you mean 'fcc'"},
      {"system.cells", "0", "1..100000"},
      {"system.cells", "3,4", "one integer or three"},
      {"system.cells", "3,,5", "one integer or three"},
      {"system.cells", "2.5", "one integer or three"},
      {"system.density", "0", "> 0 and <= 1e9"},
      {"system.density", "-1", "> 0 and <= 1e9"},
      {"system.density", "0,84", "0,84"},
      {"system.temperature", "-0.1", ">= 0"},
      {"system.temperature", "nan", "nan"},
      {"system.mass", "inf", "inf"},
      {"system.seed", "0", "1..2147483647"},
      {"system.seed", "1e3", "1..2147483647"},
      {"run.thermo", "1e1", "0..2147483647"},
      {"run.steps", "1.5e0", "an integer in 0..1000000000000"},
      {"run.steps", "1e-3", "an integer in 0..1000000000000"},
      {"run.steps", "1e400", "an integer in 0..1000000000000"},
      {"run.steps", "1e19", "an integer in 0..1000000000000"},
      {"system.seed", "2147483648", "1..2147483647"},
      {"system.velocity", "maxwell", "lammps | minimd"},
      {"lj.cutoff", "1e400", "1e400"},
      {"lj.cutoff", "0x3", "0x3"},
      {"lj.cutoff", "2.5 ", "2.5 "},
      {"lj.epsilon", "", "finite number"},
      {"neighbor.every", "0", "1..2147483647 | check"},
      {"neighbor.every", "checks", "1..2147483647 | check"},
      {"neighbor.bin_size", "/0", "/N with N in 0.1..16"},
      {"neighbor.bin_size", "/", "/N"},
      {"neighbor.bin_size", "0", "> 0"},
      {"neighbor.newton", "1", "true | false"},
      {"order.curve", "hilbrt", "hilbert"},
      {"run.steps", "10x", "10x"},
      {"run.steps", "1.5e-1", "an integer in 0.."},
      {"run.steps", "1.9", "an integer in 0.."},
      {"run.steps", "010", "leading zero"},
      {"run.steps", "9223372036854775808", "an integer"},
      {"run.thermo", "3000000000", "0..2147483647"},
      {"run.dt", "0", "> 0"},
      {"device.block_size", "31", "32..1024 | tuned"},
      {"device.carveout", "0", "1..100 | auto"},
      {"device.carveout", "101", "1..100 | auto"},
      {"device.threads", "0", "1..1024 | all"},
      {"system.lattice", "f\ncc", "control characters"},
  };
  config *fresh;
  ck_ok(config_create(&fresh));
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const md_status status = config_set(cfg, rows[k][0], rows[k][1], "--set");
    ck_assert_msg(status == MD_EINVAL, "%s = %s is accepted", rows[k][0], rows[k][1]);
    configs_message(rows[k][2], rows[k][1]);
    if (!strchr(rows[k][1], '\n')) configs_message(rows[k][0], rows[k][1]);
    configs_message("--set: ", rows[k][1]);
    ck_assert_str_eq(config_origin(cfg, rows[k][0]), "default");
  }
  configs_same(cfg, fresh);
  config_destroy(fresh);
}
END_TEST

START_TEST(unknown_keys_name_the_nearest)
{
  static const char *const rows[][2] = {{"lj.cutof", "'lj.cutoff'"},
                                        {"cutoff", "'lj.cutoff'"},
                                        {"sytem.cells", "'system.cells'"},
                                        {"neighbour.skin", "'neighbor.skin'"},
                                        {"zzzzzz", "config --list"},
                                        {"output.format", "unknown key 'output.format'"},
                                        {"", "unknown key"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_assert_int_eq(config_set(cfg, rows[k][0], "1", "--set"), MD_EINVAL);
    configs_message(rows[k][1], rows[k][0]);
  }
  ck_assert_int_eq(config_set_pair(cfg, "run.steps"), MD_EINVAL);
  configs_message("KEY=VALUE", "run.steps");
  ck_assert_int_eq(config_set_pair(cfg, "=3"), MD_EINVAL);
  ck_ok(config_set_pair(cfg, "run.steps=12"));
  /* As files write it. */
  ck_ok(config_set_pair(cfg, "lj.shift=\"energy\""));
  ck_assert_str_eq(configs_value(cfg, "lj.shift"), "\"energy\"");
  ck_ok(config_set_pair(cfg, "coulomb.mesh=[8, 9,10]"));
  ck_assert_str_eq(configs_value(cfg, "coulomb.mesh"), "[8, 9, 10]");
  ck_ok(config_set_pair(cfg, "output.dump=\"a \\\"b\\\\.xyz\""));
  ck_assert_str_eq(config_output(cfg)->dump, "a \"b\\.xyz");
  ck_ok(config_set_pair(cfg, "output.dump="));
  ck_assert_int_eq(config_set_pair(cfg, "run.steps=\"5\""), MD_EINVAL);
  ck_assert(strstr(md_message(), "not the string '5'") != NULL);
  ck_assert_int_eq(config_set_pair(cfg, "lj.shift=[1]"), MD_EINVAL);
  ck_assert_int_eq(config_set_pair(cfg, "coulomb.mesh=[8,8"), MD_EINVAL);
  ck_assert_int_eq(config_get(cfg)->steps, 12);
}
END_TEST

START_TEST(numbers_survive_text)
{
  uint64_t bits = 88172645463325252u;
  for (int k = 0; k < 2000; k++) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    const double value = ldexp((double)(bits >> 11), (int)(bits % 60) - 90);
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    ck_ok(config_set(cfg, "lj.epsilon", text, "--set"));
    ck_assert(config_get(cfg)->epsilon == value);
    ck_assert(strtod(configs_value(cfg, "lj.epsilon"), NULL) == value);
  }
}
END_TEST

START_TEST(later_sources_win)
{
  configs_read("run = { steps = 7; dt = 0.001; };\nlj = {\n cutoff = 2.0; };\n", MD_OK, "");
  ck_ok(config_set_pair(cfg, "run.steps=9"));
  ck_ok(config_set(cfg, "lj.cutoff", "2.3", "--cutoff"));
  ck_assert_int_eq(config_get(cfg)->steps, 9);
  ck_assert(config_get(cfg)->cutoff == 2.3 && config_get(cfg)->dt == 0.001);
  char origin[256];
  snprintf(origin, sizeof origin, "%s:1", files_path("a.in"));
  ck_assert_str_eq(config_origin(cfg, "run.dt"), origin);
  ck_assert_str_eq(config_origin(cfg, "run.steps"), "--set");
  ck_assert_str_eq(config_origin(cfg, "lj.cutoff"), "--cutoff");
  ck_assert_str_eq(config_origin(cfg, "run.thermo"), "default");
  ck_ok(config_set(cfg, "lj.cutoff", "2.4", "--set"));
  configs_read("lj = { skin = 1; };", MD_EINVAL, "a.in:1: unknown key 'lj.skin'");
  ck_assert(config_get(cfg)->cutoff == 2.4); /* unchanged by the failure */
  ck_assert_str_eq(config_origin(cfg, "run.dt"), origin);
}
END_TEST

/* Conditions between keys: settings, then words of the message or NULL when all is well. */
START_TEST(settings_must_agree)
{
  static const char *const rows[][4] = {
      {"order.sort_every=40", "neighbor.every=20", NULL, NULL},
      {"order.sort_every=30", "neighbor.every=20", NULL,
       "expected a multiple of neighbor.every = 20"},
      {"order.sort_every=30", "neighbor.every=check", NULL, NULL},
      {"order.sort_every=0", "neighbor.every=7", NULL, NULL},
      {"device.block_size=48", NULL, NULL, "device.block_size = 48: expected a multiple of 32"},
      {"neighbor.bin_size=0.1", NULL, NULL, "neighbor.bin_size = 0.1: expected at least 0.175"},
      {"neighbor.bin_size=0.1", "lj.cutoff=1.3", NULL, NULL},
      {"system.velocity=minimd", NULL, NULL, NULL},
      {"system.velocity=minimd", "system.lattice=bcc", NULL, "expected \"lammps\""},
      {"system.velocity=minimd", "system.read=x", NULL, "expected \"lammps\""},
      {"system.read=x", NULL, NULL, NULL},
      {"system.read=x", "system.cells=5", NULL, "system.cells has no meaning with system.read"},
      {"system.density=1", "system.read=x", NULL, "system.density has no meaning"},
      {"system.density=1", "system.read=x", "system.read=", NULL},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    config *trial;
    ck_ok(config_create(&trial));
    for (int a = 0; a < 3 && rows[k][a]; a++)
      ck_ok(config_set_pair(trial, rows[k][a]));
    const md_status status = config_check(trial);
    ck_assert_msg(status == (rows[k][3] ? MD_EINVAL : MD_OK), "%s: %d", rows[k][0], (int)status);
    if (rows[k][3]) configs_message(rows[k][3], rows[k][0]);
    if (rows[k][3]) configs_message("--set", rows[k][0]);
    config_destroy(trial);
  }
}
END_TEST

/* Write all settings and read them back. */
static void check_round_trip(void)
{
  FILE *stream = fopen(files_path("written.in"), "w");
  config_write(cfg, stream);
  fclose(stream);
  config *back;
  ck_ok(config_create(&back));
  ck_ok(config_read(back, files_path("written.in"), CONFIG_FORMAT_AUTO));
  ck_ok(config_check(back));
  configs_same(cfg, back);
  config_destroy(back);
}

START_TEST(written_settings_read_back)
{
  check_round_trip();
  static const char *const pairs[] = {"system.lattice=zns",
                                      "system.cells=1,2,100000",
                                      "system.density=0.1234567890123456",
                                      "system.temperature=1e-9",
                                      "system.seed=2147483647",
                                      "system.mass=0.3333333333333333",
                                      "lj.epsilon=119.8",
                                      "lj.sigma=3.405",
                                      "lj.cutoff=8.5125",
                                      "lj.shift=energy",
                                      "neighbor.skin=0",
                                      "neighbor.every=check",
                                      "neighbor.list=half",
                                      "neighbor.stencil=block",
                                      "neighbor.bin_size=/2.5",
                                      "neighbor.newton=false",
                                      "order.curve=hybrid:morton:kji/column:3",
                                      "order.sort_every=0",
                                      "run.steps=1000000000000",
                                      "run.dt=1e-6",
                                      "run.thermo=1",
                                      "device.backend=cpu",
                                      "device.precision=single",
                                      "device.threads=2",
                                      "device.block_size=1024",
                                      "device.deterministic=true"};
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
    ck_ok(config_set_pair(cfg, pairs[k]));
  check_round_trip();
  ck_ok(config_set_pair(cfg, "device.deterministic=false"));
  ck_ok(config_set_pair(cfg, "neighbor.skin=auto"));
  ck_assert_str_eq(configs_value(cfg, "neighbor.skin"), "\"auto\"");
  check_round_trip();
  ck_ok(config_set_pair(cfg, "order.curve=random:18446744073709551615"));
  check_round_trip();
}
END_TEST

/* The file of atoms is named relative to the input, and absolutely when written. */
START_TEST(file_of_atoms_is_beside_the_input)
{
  const char *atoms = files_text("at \"o\\ms.xyz", "1\na file\n");
  const char *input = files_text("a.in", "system = { read = \"at \\\"o\\\\ms.xyz\"; mass = 2; };");
  ck_ok(config_read(cfg, input, CONFIG_FORMAT_AUTO));
  ck_assert_str_eq(config_get(cfg)->read, atoms);
  check_round_trip();
  ck_ok(config_read(cfg, files_text("b.in", "system = { read = \"/tmp/x\"; };"),
                    CONFIG_FORMAT_LIBCONFIG));
  ck_assert_str_eq(config_get(cfg)->read, "/tmp/x");
  ck_ok(config_set(cfg, "system.read", "here.xyz", "--set"));
  ck_assert_str_eq(config_get(cfg)->read, "here.xyz");
  char *folder = getcwd(NULL, 0), *whole = strdup(files_text("here.xyz", "1\na file\n"));
  *strrchr(whole, '/') = '\0';
  ck_assert_int_eq(chdir(whole), 0);
  ck_assert_int_eq(mkdir("sub", 0777), 0);
  FILE *stream = fopen("sub/written.in", "w");
  config_write(cfg, stream);
  fclose(stream);
  ck_assert_int_eq(chdir(folder), 0);
  ck_ok(config_read(cfg, files_path("sub/written.in"), CONFIG_FORMAT_AUTO));
  ck_assert_str_eq(config_get(cfg)->read, files_path("here.xyz"));
  free(folder);
  free(whole);
  char *longest = malloc(4097);
  memset(longest, '"', 4096);
  longest[4096] = '\0';
  ck_assert_int_eq(config_set(cfg, "system.read", longest, "--set"), MD_EINVAL);
  longest[4095] = '\0';
  ck_ok(config_set(cfg, "system.read", longest, "--set"));
  ck_assert_uint_eq(strlen(configs_value(cfg, "system.read")), 2 * 4095 + 2);
  char small[10];
  ck_assert_int_eq(config_format_value(cfg, "system.read", small, sizeof small), MD_ECAPACITY);
  free(longest);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("config");
  TCase *tc = tcase_create("config");
  tcase_add_checked_fixture(tc, configs_begin, configs_end);
  tcase_add_test(tc, defaults_are_the_benchmark);
  tcase_add_test(tc, table_is_complete);
  tcase_add_test(tc, text_becomes_a_value);
  tcase_add_test(tc, bad_values_are_refused);
  tcase_add_test(tc, unknown_keys_name_the_nearest);
  tcase_add_test(tc, numbers_survive_text);
  tcase_add_test(tc, later_sources_win);
  tcase_add_test(tc, settings_must_agree);
  tcase_add_test(tc, written_settings_read_back);
  tcase_add_test(tc, file_of_atoms_is_beside_the_input);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
