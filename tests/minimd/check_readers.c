/* tests/minimd/check_readers.c - miniMD's fixed format and the LAMMPS subset. */
#include "minimd/config/read_script.h"
#include "tests/drive/configs.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>

#define MINIMD_HEAD "Lennard-Jones input file for MD benchmark\n\nlj   units\nnone data file\nlj\n"
#define MINIMD_TAIL                                                                                \
  "8 16 24       size of problem\n100            timesteps\n0.004          timestep size \n1.5   " \
  " "                                                                                              \
  "      initial temperature\n0.9         density\n10             reneighboring\n2.4 0.25  "       \
  "cutoff "                                                                                        \
  "and skin\n50            thermo (0 = start,end)\n"
static const char minimd_14[] = MINIMD_HEAD "2.0 1.1 epsilon and sigma; COMD 3 4\n" MINIMD_TAIL;
static const char minimd_13[] = MINIMD_HEAD MINIMD_TAIL;

/* LAMMPS' bench/in.lj. */
static const char bench[] = "# 3d Lennard-Jones melt\n\n"
                            "variable\tx index 1\nvariable\ty index 1\nvariable\tz index 1\n\n"
                            "variable\txx equal 20*$x\nvariable\tyy equal 20*$y\n"
                            "variable\tzz equal 20*$z\n\n"
                            "units\t\tlj\natom_style\tatomic\n\n"
                            "lattice\t\tfcc 0.8442\n"
                            "region\t\tbox block 0 ${xx} 0 ${yy} 0 ${zz}\n"
                            "create_box\t1 box\ncreate_atoms\t1 box\nmass\t\t1 1.0\n\n"
                            "velocity\tall create 1.44 87287 loop geom\n\n"
                            "pair_style\tlj/cut 2.5\npair_coeff\t1 1 1.0 1.0 2.5\n\n"
                            "neighbor\t0.3 bin\nneigh_modify\tdelay 0 every 20 check no\n\n"
                            "fix\t\t1 all nve\n\nrun\t\t100\n";

static void check_minimd(double epsilon, double sigma)
{
  const engine_spec *v = config_get(cfg);
  ck_assert(v->cells[0] == 8 && v->cells[1] == 16 && v->cells[2] == 24);
  ck_assert(v->epsilon == epsilon && v->sigma == sigma && v->steps == 100 && v->dt == 0.004);
  ck_assert(v->temperature == 1.5 && v->density == 0.9 && v->every == 10 && v->cutoff == 2.4);
  ck_assert(v->skin == 0.25 && config_output(cfg)->thermo == 50 &&
            v->velocity == ENGINE_VELOCITY_MINIMD);
  ck_assert(!v->read && v->lattice == ENGINE_LATTICE_FCC);
  ck_ok(config_check(cfg));
}

START_TEST(both_dialects_of_minimd)
{
  configs_read(minimd_14, MD_OK, "");
  check_minimd(2.0, 1.1);
  ck_assert_ptr_nonnull(strstr(config_reading(cfg), "a.in (miniMD fixed format, 14 lines)"));
  char origin[256];
  snprintf(origin, sizeof origin, "%s:13", files_path("a.in"));
  ck_assert_str_eq(config_origin(cfg, "neighbor.skin"), origin);
  config_destroy(cfg);
  ck_ok(config_create(&cfg));
  configs_read(minimd_13, MD_OK, "");
  check_minimd(1, 1);
  ck_assert_ptr_nonnull(strstr(config_reading(cfg), "13 lines"));
  ck_assert_str_eq(config_origin(cfg, "lj.epsilon"), "default");
  ck_assert_ptr_null(config_warning(cfg, 0));
}
END_TEST

START_TEST(minimd_with_a_data_file)
{
  configs_read(files_edit(minimd_14, "none", "atoms.data"), MD_OK, "");
  ck_assert_str_eq(config_get(cfg)->read, files_path("atoms.data"));
  ck_assert_int_eq(config_get(cfg)->velocity, ENGINE_VELOCITY_LAMMPS);
  ck_ok(config_check(cfg));
}
END_TEST

START_TEST(minimd_warns_of_more_lines)
{
  char *text;
  ck_assert_int_ge(asprintf(&text, "%s\n\nmore\n", minimd_14), 0);
  configs_read(text, MD_OK, "");
  ck_assert_ptr_nonnull(strstr(config_warning(cfg, 0), "a.in:17: ignored"));
  ck_assert_ptr_null(config_warning(cfg, 1));
  free(text);
  ck_assert_int_ge(asprintf(&text, "%smore\n", minimd_13), 0);
  configs_read(text, MD_OK, "");
  ck_assert_ptr_nonnull(strstr(config_warning(cfg, 0), "a.in:14: ignored"));
  free(text);
}
END_TEST

START_TEST(minimd_mistakes_are_named)
{
  static const char *const rows[][3] = {
      {"lj   units", "real   units", "a.in:3: expected lj or metal, not 'real'"},
      {"lj\n2.0", "snap\n2.0", "a.in:5: expected lj or eam, not 'snap'"},
      {"lj\n2.0", "\n2.0", "a.in:5: expected lj or eam, not ''"},
      {"none data file", "", "a.in:4: expected a data file or none"},
      {"2.0 1.1", "2.0 x1.1", "a.in:6: expected epsilon and sigma (14-line dialect) or nx, ny"},
      {"2.0 1.1", "1 2 3 4", "not 4 numbers"},
      {"2.0 1.1", "-2.0 1.1", "a.in:6: lj.epsilon = -2.0: expected a number > 0"},
      {"8 16 24", "8 16", "a.in:7: system.cells = 8,16,size: "},
      {"8 16 24", "8 16 2.5", "a.in:7: system.cells = 8,16,2.5: "},
      {"100  ", "1e2  ", "a.in:8: run.steps = 1e2: expected an integer"},
      {"100  ", "", "a.in:8: run.steps = timesteps"},
      {"0.004", "0,004", "a.in:9: run.dt = 0,004"},
      {"0.9 ", "0.9x ", "a.in:11: system.density = 0.9x"},
      {"10   ", "check ", "a.in:12: neighbor.every = check: expected an integer"},
      {"10   ", "0 ", "a.in:12: neighbor.every = 0"},
      {"2.4 0.25", "2.4", "a.in:13: neighbor.skin = cutoff"},
      {"50   ", "010 ", "a.in:14: run.thermo = 010: an integer with a leading zero"},
      {"50            thermo (0 = start,end)\n", "", "a.in:14: the file ends; expected steps"},
      {"0.9         density\n10             reneighboring\n2.4 0.25  cutoff and skin\n50         "
       "   thermo (0 = start,end)\n",
       "", "a.in:11: the file ends; expected the density"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    configs_read(files_edit(minimd_14, rows[k][0], rows[k][1]), MD_EINVAL, rows[k][2]);
  configs_read("a\nb\nlj\nnone\nlj\n", MD_EINVAL, "a.in:6: the file ends; expected");
  configs_read("a\nb\nlj\n", MD_EINVAL, "a.in:4: the file ends; expected units");
}
END_TEST

/* bench/in.lj is the default in every setting. */
START_TEST(bench_in_lj)
{
  config *fresh;
  ck_ok(config_create(&fresh));
  configs_read(bench, MD_OK, "");
  ck_ok(config_check(cfg));
  configs_same(cfg, fresh);
  config_destroy(fresh);
  ck_assert_ptr_nonnull(strstr(config_reading(cfg), "a.in (LAMMPS subset)"));
  char origin[256];
  snprintf(origin, sizeof origin, "%s:26", files_path("a.in"));
  ck_assert_str_eq(config_origin(cfg, "neighbor.every"), origin);
  ck_assert_ptr_null(config_warning(cfg, 0));
}
END_TEST

START_TEST(lammps_words_and_variables)
{
  configs_read("package gpu 1\nsuffix gpu\n"
               "variable n index 3 4 # the first counts\nvariable n index 5\n"
               "variable m equal \"2 * (${n} + 1) / 4\"\nvariable m equal ${m}*2\n"
               "variable long_name equal -(1-$n)*$m\n"
               "units lj\natom_style charge\nnewton off on\nlattice diamond 1.2\n"
               "region 'my # box' block 0 $n 0.0 $m &\n 0 ${long_name}\n"
               "create_box 1 \"my # box\"\ncreate_atoms 1 box\nmass * 2.5\n"
               "velocity all create 0.5 1 loop geom\npair_style lj/cut 3\npair_coeff * 1 2 3\n"
               "neighbor .4 bin\nneigh_modify every 4 delay 10\nneigh_modify check no binsize 1.5\n"
               "fix NVE all nve\ntimestep 1e-3\nthermo 7\nrun 1234567890123456789",
               MD_EINVAL, "a.in:26: run.steps = 1234567890123456789");
  configs_read("package gpu 1\nsuffix gpu\n"
               "variable n index 3 4 # the first counts\nvariable n index 5\n"
               "variable m equal \"2 * (${n} + 1) / 4\"\nvariable m equal ${m}*2\n"
               "variable long_name equal -(1-$n)*$m\n"
               "units lj\natom_style charge\nnewton off on\nlattice diamond 1.2\n"
               "region 'my # box' block 0 $n 0.0 $m &\n 0 ${long_name}\n"
               "create_box 1 \"my # box\"\ncreate_atoms 1 box\nmass * 2.5\n"
               "velocity all create 0.5 1 loop geom\npair_style lj/cut 3\npair_coeff * 1 2 3\n"
               "neighbor .4 bin\nneigh_modify every 4 delay 10\nneigh_modify check no binsize 1.5\n"
               "fix NVE all nve\ntimestep 1e-3\nthermo 7\nrun 12\n# the end\n",
               MD_OK, "");
  const engine_spec *v = config_get(cfg);
  ck_assert(v->cells[0] == 3 && v->cells[1] == 4 && v->cells[2] == 8);
  ck_assert(v->lattice == ENGINE_LATTICE_DIAMOND && v->density == 1.2 && v->mass == 2.5);
  ck_assert(v->temperature == 0.5 && v->seed == 1 && v->cutoff == 3 && v->epsilon == 2);
  ck_assert(v->sigma == 3 && v->skin == 0.4 && v->every == 12 && v->bin_size == 1.5);
  ck_assert(!v->newton && v->dt == 1e-3 && config_output(cfg)->thermo == 7 && v->steps == 12);
  ck_assert_ptr_nonnull(strstr(config_warning(cfg, 0), "a.in:1: 'package' is ignored"));
  ck_assert_ptr_nonnull(strstr(config_warning(cfg, 1), "a.in:2: 'suffix' is ignored"));
  ck_assert_ptr_null(config_warning(cfg, 2));
}
END_TEST

/* What LAMMPS does where an input says nothing. */
START_TEST(lammps_defaults)
{
  configs_read(files_edit(bench, "neigh_modify\tdelay 0 every 20 check no\n", ""), MD_OK, "");
  ck_assert_int_eq(config_get(cfg)->every, 0);
  configs_read(files_edit(bench, "velocity\tall create 1.44 87287 loop geom\n", ""), MD_OK, "");
  ck_assert(config_get(cfg)->temperature == 0);
  configs_read(files_edit(bench, "every 20 check no", "every 1 check yes"), MD_OK, "");
  ck_assert_int_eq(config_get(cfg)->every, 0);
  configs_read(files_edit(bench, "delay 0 every 20", "delay 40 every 20"), MD_OK, "");
  ck_assert_int_eq(config_get(cfg)->every, 40);
  configs_read(files_edit(bench, "pair_coeff\t1 1 1.0 1.0 2.5", "pair_coeff 1 1 1 1 2"), MD_OK, "");
  ck_assert(config_get(cfg)->cutoff == 2);
}
END_TEST

START_TEST(lammps_reads_data)
{
  const char *text = files_edit(bench,
                                "lattice\t\tfcc 0.8442\n"
                                "region\t\tbox block 0 ${xx} 0 ${yy} 0 ${zz}\n"
                                "create_box\t1 box\ncreate_atoms\t1 box\nmass\t\t1 1.0\n\n",
                                "read_data atoms.data\n");
  configs_read(text, MD_OK, "");
  ck_assert_str_eq(config_get(cfg)->read, files_path("atoms.data"));
  ck_assert(!config_get(cfg)->keep_velocities && config_get(cfg)->temperature == 1.44);
  ck_ok(config_check(cfg));
  config_destroy(cfg);
  ck_ok(config_create(&cfg));
  char *copy = strdup(text);
  configs_read(files_edit(copy, "velocity\tall create 1.44 87287 loop geom\n", ""), MD_OK, "");
  ck_assert(config_get(cfg)->keep_velocities && config_get(cfg)->temperature == 0);
  free(copy);
}
END_TEST

START_TEST(lammps_outside_the_subset)
{
  static const char *const rows[][3] = {
      {"1 all nve", "1 all nvt temp 1 1 1", "a.in:28: 'fix nvt' is outside the supported subset"},
      {"1 all nve", "1 mobile nve", "'fix mobile' is outside"},
      {"fix\t\t1 all nve\n", "", "'run' without 'fix ID all nve' before it"},
      {"units\t\tlj", "units real", "a.in:11: 'units real' is outside the supported subset"},
      {"atomic", "full", "'atom_style full' is outside"},
      {"atom_style\tatomic", "dimension 3", "a.in:12: 'dimension' is outside the supported subset"},
      {"atom_style\tatomic", "atom_stile atomic", "did you mean 'atom_style'"},
      {"fcc 0.8442", "hex 0.8442", "a.in:14: system.lattice = hex: expected one of fcc"},
      {"fcc 0.8442", "fcc 0.8442 origin 0 0 0", "'lattice fcc 0.8442 origin 0 0 0' is outside"},
      {"lattice\t\tfcc 0.8442\n", "", "'region' without 'lattice' before it"},
      {"box block", "box sphere", "'region sphere' is outside"},
      {"0 ${xx} 0", "0 ${xx} 1", "region: expected 0 and a whole number of cells in 1..100000"},
      {"0 ${xx} 0", "0 2.5 0", "not 0 and 2.5"},
      {"0 ${xx} 0", "0 ${xxz} 0", "a.in:15: no variable 'xxz'; did you mean 'xx'"},
      {"${zz}", "${zz", "expected '}'"},
      {"0 ${xx} 0", "0 $(20*2) 0", "'$(' is outside the supported subset"},
      {"create_box\t1", "create_box 2", "'velocity' without 'mass 2' before it"},
      {"create_box\t1 box", "create_box 1 bax", "no region 'bax'; expected 'box'"},
      {"create_atoms\t1 box", "create_atoms 1 single 0 0 0", "'create_atoms 1 single 0 0 0'"},
      {"create_atoms\t1 box\n", "", "'velocity' without 'create_atoms' before it"},
      {"mass\t\t1 1.0\n", "", "'velocity' without 'mass' before it"},
      {"mass\t\t1", "mass 2", "'mass 2' is outside"},
      {"mass\t\t1 1.0", "mass 1 0", "system.mass = 0: expected a number > 0"},
      {"create 1.44", "ramp 1.44", "'velocity ramp' is outside"},
      {"loop geom", "loop all", "'velocity all' is outside"},
      {"loop geom", "loop geom dist gaussian", "'velocity all create 1.44 87287 loop geom dist"},
      {"87287", "0", "system.seed = 0: expected an integer in 1.."},
      {"lj/cut 2.5", "eam 2.5", "'pair_style eam' is outside"},
      {"lj/cut 2.5", "eam", "'pair_coeff 2.5' is outside"},
      {"pair_style\tlj/cut 2.5\n", "", "'pair_coeff' without 'pair_style' before it"},
      {"pair_coeff\t1 1 1.0 1.0 2.5\n", "", "'run' without 'pair_coeff' before it"},
      {"pair_coeff\t1 1", "pair_coeff 1 2", "'pair_coeff 2' is outside"},
      {"0.3 bin", "0.3 nsq", "'neighbor nsq' is outside"},
      {"check no", "check maybe", "'neigh_modify check' is outside"},
      {"check no", "check yes", "a.in:26: 'neigh_modify check yes' with every 20 is outside"},
      {"check no", "page 100000", "'neigh_modify page' is outside"},
      {"check no", "check", "neigh_modify check: a value is missing"},
      {"every 20", "every 0", "neigh_modify every: expected an integer"},
      {"run\t\t100", "run 100 upto", "'run 100 upto' is outside"},
      {"run\t\t100", "run 1e2", "run.steps = 1e2: expected an integer"},
      {"run\t\t100", "", "the input ends; expected 'run STEPS'"},
      {"run\t\t100", "run 100\nrun 5", "a.in:31: 'run' after 'run' is outside"},
      {"variable\tx index 1", "variable x string 1", "a.in:3: 'variable string' is outside"},
      {"variable\tx index 1", "variable x equal 1/0", "variable x: division by zero"},
      {"variable\tx index 1", "variable x equal 2^3", "'^3' in '2^3' is outside the supported"},
      {"variable\tx index 1", "variable x! index 1", "expected a variable name"},
      {"variable\tx index 1", "variable x equal 1 + 2", "an expression without blanks"},
      {"variable\tx index 1", "variable x index \"1", "expected \" to end the text"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    configs_read(files_edit(bench, rows[k][0], rows[k][1]), MD_EINVAL, rows[k][2]);
}
END_TEST

START_TEST(expressions)
{
  static const struct {
    const char *text;
    double value;
  } rows[] = {{"20*1", 20},      {"1+2*3", 7},     {"(1+2)*3", 9}, {"8/4/2", 1},
              {"2-3-4", -5},     {"-2*-3", 6},     {"--2", 2},     {"1e2/4", 25},
              {"1.5e-1*2", 0.3}, {"((((7))))", 7}, {" 1 + 2 ", 3}, {"2*(3+4)/7-1", 1},
              {"-(1-3)*4.5", 9}};
  static const char *const bad[] = {"",     "1+",  "(1", "1)",         "1 2",     "x",
                                    "1//2", "1e",  "*2", "1e400",      "1/(2-2)", "2**3",
                                    "0x10", "1,5", "+1", "1e300*1e300"};
  double value;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_ok(script_evaluate(rows[k].text, &value));
    ck_assert_double_eq_tol(value, rows[k].value, 1e-15 * fabs(rows[k].value));
  }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    value = 42;
    ck_assert_msg(script_evaluate(bad[k], &value) == MD_EINVAL, "'%s' is %g", bad[k], value);
    ck_assert(value == 42);
  }
  char wide[2001] = "0";
  for (int k = 0; k < 400; k++)
    strcat(wide, "+(1)");
  ck_ok(script_evaluate(wide, &value));
  ck_assert(value == 400);
  char deep[1001];
  memset(deep, '(', 1000);
  deep[1000] = '\0';
  ck_assert_int_eq(script_evaluate(deep, &value), MD_EINVAL);
  configs_message("nested", deep);
}
END_TEST

/* Values that double with every line would fill the memory. */
START_TEST(variables_do_not_grow_without_end)
{
  char text[4096] = "variable a index xxxxxxxxxxxxxxxx\n";
  for (char c = 'b'; c <= 'z'; c++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "variable %c index $%c$%c\n", c, c - 1, c - 1);
  }
  configs_read(text, MD_EINVAL, "longer than 65536 bytes");
}
END_TEST

START_TEST(damaged_inputs_do_no_harm)
{
  const char *const texts[] = {minimd_14, bench};
  const config_format formats[] = {CONFIG_FORMAT_MINIMD, CONFIG_FORMAT_LAMMPS};
  for (int t = 0; t < 2; t++) {
    int refused = 0;
    for (unsigned seed = 0; seed < 1000; seed++) {
      char *damaged = files_mutate(texts[t], seed);
      const md_status status = config_read(cfg, files_text("a.in", damaged), formats[t]);
      ck_assert(status == MD_OK || status == MD_EINVAL);
      if (status) configs_message("a.in", damaged);
      refused += status != MD_OK;
      free(damaged);
    }
    ck_assert_int_gt(refused, 200);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("readers");
  TCase *tc = tcase_create("readers");
  tcase_add_checked_fixture(tc, configs_begin, configs_end);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, both_dialects_of_minimd);
  tcase_add_test(tc, minimd_with_a_data_file);
  tcase_add_test(tc, minimd_warns_of_more_lines);
  tcase_add_test(tc, minimd_mistakes_are_named);
  tcase_add_test(tc, bench_in_lj);
  tcase_add_test(tc, lammps_words_and_variables);
  tcase_add_test(tc, lammps_defaults);
  tcase_add_test(tc, lammps_reads_data);
  tcase_add_test(tc, lammps_outside_the_subset);
  tcase_add_test(tc, expressions);
  tcase_add_test(tc, variables_do_not_grow_without_end);
  tcase_add_test(tc, damaged_inputs_do_no_harm);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
