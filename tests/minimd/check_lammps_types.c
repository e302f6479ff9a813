/* tests/minimd/check_lammps_types.c - LAMMPS inputs with several types of atoms, on a lattice and
 * from data files, and data files whose types nobody repeats. */
#include "engine/system/system.h"
#include "tests/drive/configs.h"
#include "tests/drive/files.h"
#include "tests/test.h"

static const char lattice[] = "units lj\natom_style charge\nlattice fcc 1.2\n"
                              "region box block 0 3 0 3 0 3\ncreate_box 3 box\n"
                              "create_atoms 2 box\n"
                              "set group all type/fraction 1 0.25 11\n"
                              "set type 2 type/fraction 3 0.5 12\n"
                              "mass * 2.0\nmass 2*3 4.0\nmass 3* 0.5\n"
                              "set type 1 charge -2.5\n"
                              "velocity all create 2.0 87287 loop geom\n"
                              "pair_style lj/cut 2.5\n"
                              "pair_modify mix arithmetic shift yes\n"
                              "pair_coeff * * 1.0 1.0\n"
                              "pair_coeff 1 2*3 1.5 0.8 2.0\n"
                              "pair_coeff 2* *2 0.5 0.88 2.25\n"
                              "fix 1 all nve\nrun 10\n";

static void check_pair(int i, int j, double epsilon, double sigma, double cutoff)
{
  const engine_types *types = config_get(cfg)->types;
  for (int k = 0; k < 2; k++) {
    const force_lj *p = &types->pairs[k ? j * types->n + i : i * types->n + j];
    ck_assert_msg(p->epsilon == epsilon && p->sigma == sigma && p->r_cut == cutoff,
                  "%d %d: %.17g %.17g %.17g", i, j, p->epsilon, p->sigma, p->r_cut);
  }
}

static void check_species(int t, const char *name, double mass, double charge)
{
  const engine_species *s = &config_get(cfg)->types->species[t];
  ck_assert_str_eq(s->name, name);
  ck_assert_msg(s->mass == mass && s->charge == charge, "%s: %.17g %.17g", name, s->mass,
                s->charge);
}

START_TEST(types_of_a_lattice)
{
  configs_read(lattice, MD_OK, "");
  ck_ok(config_check(cfg));
  ck_assert_int_eq(config_get(cfg)->types->n, 3);
  check_species(0, "1", 2, -2.5);
  check_species(1, "2", 4, 0);
  check_species(2, "3", 0.5, 0);
  const engine_species *s = config_get(cfg)->types->species;
  ck_assert(s[0].fraction == 0.25 && s[1].fraction == 0.375 && s[2].fraction == 0.375);
  check_pair(0, 0, 1, 1, 2.5);
  check_pair(0, 1, 1.5, 0.8, 2);
  check_pair(0, 2, 1.5, 0.8, 2);
  check_pair(1, 1, 0.5, 0.88, 2.25);
  check_pair(1, 2, 1, 1, 2.5); /* 2* *2 is 2 2 alone */
  check_pair(2, 2, 1, 1, 2.5);
  ck_assert(config_get(cfg)->shift == FORCE_SHIFT_ENERGY);
  ck_assert(config_get(cfg)->coulomb == ENGINE_COULOMB_NONE);
  ck_assert_ptr_nonnull(strstr(config_warning(cfg, 0), "a.in:7: the atoms that become type 1"));
  ck_assert_ptr_nonnull(strstr(config_warning(cfg, 1), "a.in:8: "));
}
END_TEST

/* Pairs that no line gives are mixed of those that are, by the rule; set moves whole types. */
START_TEST(pairs_are_mixed_by_the_rule)
{
  static const char *const rules[] = {"mix arithmetic", "mix geometric", "shift no"};
  char text[1024];
  snprintf(text, sizeof text,
           "lattice fcc 1\nregion r block 0 2 0 2 0 2\ncreate_box 2 r\ncreate_atoms 1 box\n"
           "set type 1 type/fraction 2 0.5 1 type/fraction 2 0.5 1\nset group all type 2\n"
           "set type 2 type 1\nmass 1 1\nmass 2 1\npair_style lj/cut 9\npair_modify %s\n"
           "pair_coeff 1 1 4 2\npair_coeff 2 2 1 8 4\nfix 1 all nve\nrun 1\n",
           rules[_i]);
  configs_read(text, MD_OK, "");
  ck_ok(config_check(cfg));
  check_pair(0, 1, 2, _i == 0 ? 5 : 4, _i == 0 ? 6.5 : 6);
  check_species(0, "1", 1, 0);
  const engine_species *s = config_get(cfg)->types->species;
  ck_assert(s[0].fraction == 1 && s[1].fraction == 0);
}
END_TEST

START_TEST(mistakes_of_types_are_named)
{
  static const char *const rows[][3] = {
      {"create_box 3", "create_box 0", "a.in:5: create_box: '0' atom types: expected 1..64"},
      {"create_box 3", "create_box 65", "create_box: '65' atom types: expected 1..64"},
      {"create_box 3", "create_box x", "create_box: 'x' atom types: expected 1..64"},
      {"create_box 3 box\n", "", "'create_atoms' without 'create_box' before it"},
      {"create_atoms 2", "create_atoms 4", "a.in:6: 'create_atoms 4' is outside"},
      {"create_atoms 2", "create_atoms *", "'create_atoms *' is outside"},
      {"create_atoms 2 box", "create_atoms 2 box\ncreate_atoms 1 box", "a.in:7: 'create_atoms' is"},
      {"set group all", "set group some", "a.in:7: 'set some' is outside"},
      {"set group all", "set region all", "a.in:7: 'set region' is outside"},
      {"set group all", "set atom 1", "'set atom' is outside"},
      {"set type 2", "set type 4",
       "a.in:8: 'set 4' is outside the supported subset; expected a "
       "type in 1..3, or a range of them such as 1*3"},
      {"type/fraction 3 0.5 12", "type/fraction 3 0.5", "'set type/fraction' is outside"},
      {"type/fraction 3 0.5 12", "type/fraction 3 1.5 12", "a.in:8: fraction: expected a number"},
      {"type/fraction 3 0.5 12", "type/fraction 3 -0.5 12", "a.in:8: fraction: expected a number"},
      {"type/fraction 3 0.5 12", "type/fraction 3 x 12", "a.in:8: fraction: expected a finite"},
      {"type/fraction 3 0.5 12", "type/fraction 3 0.5 0", "a.in:8: expected an integer"},
      {"type/fraction 3 0.5 12", "type/fraction 4 0.5 12", "'set 4' is outside"},
      {"type/fraction 3 0.5 12", "type/fraction 2*3 0.5 12", "'set 2*3' is outside"},
      {"type/fraction 3 0.5 12", "type/ratio 3 0.5 12", "'set type/ratio' is outside"},
      {"type/fraction 3 0.5 12", "type", "'set type 2 type' is outside"},
      {"type/fraction 3 0.5 12", "charge 1 type", "a.in:8: 'set type' is outside"},
      {"charge -2.5\n", "charge -2.5\nset type 1 type 2\n", "a.in:13: 'set type' is outside"},
      {"charge -2.5", "charge 1e7", "a.in:12: charge: expected a number >= -1e+06"},
      {"set type 1 charge -2.5\n", "", NULL},
      {"loop geom\n", "loop geom\nset type 1 type 2\n", "a.in:14: 'set type' is outside"},
      {"loop geom\n", "loop geom\nmass 1 2\n", "a.in:14: 'mass' is outside"},
      {"mass * 2.0", "mass 0 2.0", "a.in:9: 'mass 0' is outside the supported subset"},
      {"mass * 2.0", "mass ** 2.0", "a.in:9: 'mass **' is outside"},
      {"mass * 2.0", "mass 1*4 2.0", "a.in:9: 'mass 1*4' is outside"},
      {"mass * 2.0", "mass 3*2 2.0", "a.in:9: 'mass 3*2' is outside"},
      {"mass * 2.0", "mass *x 2.0", "a.in:9: 'mass *x' is outside"},
      {"mass * 2.0", "mass -1 2.0", "a.in:9: 'mass -1' is outside"},
      {"mass * 2.0", "mass 99999999999999999999 2.0", "a.in:9: 'mass 99999999999999999999' is"},
      {"mass * 2.0", "mass * 0", "a.in:9: mass: expected a number > 0"},
      {"mass * 2.0", "mass * x", "a.in:9: mass: expected a finite number"},
      {"mass * 2.0", "mass 2 1", "a.in:13: 'velocity' without 'mass 1' before it"},
      {"create_box 3 box", "mass 1 1", "a.in:5: 'mass' without 'create_box' before it"},
      {"pair_modify", "pair_modify mix sixthpower #", "a.in:15: 'pair_modify sixthpower' is"},
      {"pair_modify", "pair_modify tail yes #", "a.in:15: 'pair_modify tail' is outside"},
      {"pair_modify", "pair_modify shift", "a.in:15: 'pair_modify shift' is outside"},
      {"pair_modify", "pair_modify mix geometric shift #", "'pair_modify shift' is outside"},
      {"pair_style lj/cut 2.5\n", "", "a.in:14: 'pair_modify' without 'pair_style' before it"},
      {"pair_coeff * * 1.0 1.0\n", "", "a.in:19: 'run' without 'pair_coeff 1 1' before it"},
      {"* * 1.0 1.0", "3 1 1.0 1.0", "a.in:16: pair_coeff 3 1: expected the lower type first"},
      {"* * 1.0 1.0", "* 4 1.0 1.0", "a.in:16: 'pair_coeff 4' is outside the supported subset"},
      {"* * 1.0 1.0", "* * -1.0 1.0", "a.in:16: epsilon: expected a number > 0"},
      {"* * 1.0 1.0", "* * 1.0 0", "a.in:16: sigma: expected a number > 0"},
      {"* * 1.0 1.0", "* * 1.0 1.0 nan", "a.in:16: cutoff: expected a finite number"},
      {"* * 1.0 1.0", "* * 1.0", "a.in:16: 'pair_coeff 1.0' is outside"},
      {"lj/cut 2.5\npair_modify mix arithmetic shift yes", "eam\n",
       "3 atom types: expected one of"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    configs_read(files_edit(lattice, rows[k][0], rows[k][1]), rows[k][2] ? MD_EINVAL : MD_OK,
                 rows[k][2]);
}
END_TEST

/* Names are the labels, or the words behind the masses; PairIJ Coeffs have cutoffs. */
static const char file[] = "two kinds, units = lj\n\n3 atoms\n2 atom types\n"
                           "0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\n"
                           "Masses\n\n1 3 # B\n2 2 # A\n\n"
                           "PairIJ Coeffs # lj/cut\n\n1 1 1.5 0.9 2\n2 1 2.5 0.7\n2 2 1 1.1 1.9\n\n"
                           "Atoms # charge\n\n1 1 -1 1 1 1\n2 2 1 2 2 2\n3 2 1 3 3 3\n";

static void check_file(const char *const names[2])
{
  check_species(0, names[0], 3, 0);
  check_species(1, names[1], 2, 0);
  check_pair(0, 0, 1.5, 0.9, 2);
  check_pair(0, 1, 2.5, 0.7, 3);
  check_pair(1, 1, 1, 1.1, 1.9);
  system_state state;
  ck_ok(system_create(config_get(cfg), &state));
  ck_assert(state.type[0] == 0 && state.type[1] == 1 && state.type[2] == 1 && state.q[2] == 1);
  system_state_free(&state);
}

/* The same kinds as settings by another way: everything that follows is told from them. */
START_TEST(types_of_a_data_file)
{
  static const struct {
    const char *from, *to, *names[2];
  } rows[] = {
      {"# B", "# B", {"B", "A"}},
      {"Masses", "Atom Type Labels\n\n2 K\n1 Cl-\n\nMasses", {"Cl-", "K"}},
      {"Masses\n\n1 3 # B\n2 2 # A\n\nPairIJ Coeffs # lj/cut\n\n1 1 1.5",
       "Atom Type Labels\n\n2 K\n1 Cl-\n\nMasses\n\nK 2\nCl- 3\n\nPairIJ Coeffs\n\nCl- 1 1.5",
       {"Cl-", "K"}},
      {"2 2 # A", "2 2 # B", {"1", "2"}},
      {"2 2 # A", "2 2 # heavy one", {"1", "2"}},
      {"2 2 # A", "2 2", {"1", "2"}},
  };
  files_text("two.data", files_edit(file, rows[_i].from, rows[_i].to));
  configs_read("system: { read = \"two.data\"; }; lj: { cutoff = 3.0; };", MD_OK, "");
  ck_ok(config_check(cfg));
  check_file(rows[_i].names);
  char *text;
  size_t size;
  FILE *again = open_memstream(&text, &size);
  config_write(cfg, again);
  ck_assert_int_eq(fclose(again), 0);
  ck_assert_str_eq(config_origin(cfg, "species"), files_path("two.data"));
  configs_read(text, MD_OK, "");
  free(text);
  ck_ok(config_check(cfg));
  check_file(rows[_i].names);
}
END_TEST

/* A LAMMPS input adds to what the file says, and may repeat it. */
START_TEST(script_beside_a_data_file)
{
  files_text("two.data", files_edit(file, "2 1 2.5 0.7\n", "2 1 2.5 0.7 3\n"));
  static const char script[] = "units lj\nread_data two.data\nmass A 2\npair_style lj/cut 2.75\n"
                               "pair_coeff 1 2 2.5 0.7 3\nfix 1 all nve\nrun 0\n";
  configs_read(script, MD_OK, "");
  ck_ok(config_check(cfg));
  static const char *const names[2] = {"B", "A"};
  check_file(names);
  configs_read(files_edit(script, "mass A 2", "mass A 5"), MD_OK, "");
  ck_ok(config_check(cfg));
  system_state state;
  ck_assert_int_eq(system_create(config_get(cfg), &state), MD_EINVAL);
  configs_message("two.data:12: the mass is 2, and 5 in species", "");
  configs_read(files_edit(script, "mass A 2", "mass C 2"), MD_EINVAL,
               "a.in:3: 'mass C' is outside");
  configs_read(files_edit(script, "mass A 2", "set type 1 charge 1"), MD_EINVAL,
               "a.in:3: 'set' is outside");
  files_text("two.data", files_edit(file, "Masses\n\n1 3 # B\n2 2 # A\n\n", ""));
  configs_read(files_edit(script, "mass A 2", "mass 1 3"), MD_EINVAL,
               "a.in:7: 'run' without 'mass 2' before it");
  configs_read(files_edit(script, "mass A 2", "mass * 3"), MD_OK, "");
  files_text("two.data", files_edit(file, "2 2 # A\n\n", "2 2\n\nAtoms\n\n"));
  configs_read(script, MD_EINVAL, "a.in:3: 'mass A' is outside");
}
END_TEST

START_TEST(mistakes_of_data_files_are_named)
{
  static const char *const rows[][3] = {
      {"2 atom types", "65 atom types", "two.data:4: atom types: expected an integer in 1..64"},
      {"2 2 # A", "2 0 # A", "two.data:12: expected a mass > 0"},
      {"2 2 # A", "3 2 # A", "two.data:12: atom type: expected an integer in 1..2"},
      {"2 2 # A\n", "", "two.data:13: another section begins after 1 of 2 lines of Masses"},
      {"1 1 1.5 0.9 2", "1 1 1.5 0.9 0", "two.data:16: expected epsilon and sigma > 0, and a cut"},
      {"1 1 1.5 0.9 2", "1 1 1.5 0.9 2 2", "two.data:16: expected 'type type epsilon sigma [cut"},
      {"1 1 1.5 0.9 2", "1 1 1.5", "two.data:16: expected 'type type epsilon sigma [cutoff]'"},
      {"1 1 1.5 0.9 2", "1 1 1.5 0.9 x", "two.data:16: cutoff: expected a finite number"},
      {"PairIJ Coeffs # lj/cut", "PairIJ Coeffs # eam", "expected lj/cut"},
      {"Masses", "Atom Type Labels\n\n1 \"x\"\n2 y\n\nMasses", "two.data:11: '\"x\"': expected a"},
      {"Masses", "Atom Type Labels\n\n1 abcdefghijabcdefghijabcdefghijab\n2 y\n\nMasses",
       "two.data:11: 'abcdefghijabcdefghijabcdefghijab': expected a label of 1..31"},
      {"Masses", "Atom Type Labels\n\n1 A\n2 A\n\nMasses", "species: two have the name 'A'"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    files_text("two.data", files_edit(file, rows[k][0], rows[k][1]));
    configs_read("system: { read = \"two.data\"; };", MD_OK, "");
    ck_assert_int_eq(config_check(cfg), MD_EINVAL);
    configs_message(rows[k][2], rows[k][1]);
    configs_end();
    configs_begin();
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("lammps_types");
  TCase *tc = tcase_create("lammps_types");
  tcase_add_checked_fixture(tc, configs_begin, configs_end);
  tcase_add_test(tc, types_of_a_lattice);
  tcase_add_loop_test(tc, pairs_are_mixed_by_the_rule, 0, 3);
  tcase_add_test(tc, mistakes_of_types_are_named);
  tcase_add_loop_test(tc, types_of_a_data_file, 0, 6);
  tcase_add_test(tc, script_beside_a_data_file);
  tcase_add_test(tc, mistakes_of_data_files_are_named);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
