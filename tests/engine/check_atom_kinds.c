/* tests/engine/check_atom_kinds.c - kinds of atoms in LAMMPS data files and extended XYZ. */
#include "engine/system/system.h"
#include "tests/drive/configs.h"
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/test.h"

static system_state state;

static void end(void)
{
  system_state_free(&state);
  configs_end();
}

/* Two kinds, of which the file's first is the second by its label. */
static const char two_data[] = "two kinds\n\n3 atoms\n2 atom types\n"
                               "0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\n"
                               "Atom Type Labels\n\n1 B\n2 A\n\nMasses\n\n1 3\n2 2\n\n"
                               "PairIJ Coeffs # lj/cut\n\n1 1 1.5 0.9\n1 2 2.5 0.7\n2 2 1 1\n\n"
                               "Atoms # charge\n\n1 1 -1 1 1 1\n2 A 1 2 2 2\n3 2 1 3 3 3\n";
static const char two_xyz[] =
    "3\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:mass:R:1\n"
    "B 1 1 1 3\nA 2 2 2 2\nA 3 3 3 2\n";
#define TWO                                                                                        \
  "coulomb.method=none species=({name=\"A\";mass=2;charge=1;},{name=\"B\";mass=3;charge=-1;}) "    \
  "lj.pairs=({types=[\"B\",\"B\"];epsilon=1.5;sigma=0.9;},{types=[\"A\",\"B\"];epsilon=2.5;"       \
  "sigma=0.7;})"

START_TEST(kinds_are_found_by_name_and_number)
{
  config *c = engines_config(TWO);
  const engine_types *types = config_get(c)->types;
  for (int k = 0; k < 2; k++) {
    ck_ok(system_read(files_text("two", k ? two_xyz : two_data), false, types, &state));
    ck_assert_int_eq(state.n, 3);
    ck_assert(state.type[0] == 1 && state.type[1] == 0 && state.type[2] == 0);
    ck_assert(state.x[3] == 2 && (k || (state.q[0] == -1 && state.q[1] == 1)));
    system_state_free(&state);
  }
  config_destroy(c);
}
END_TEST

static const struct {
  bool xyz;
  const char *from, *to, *says;
} wrong_kinds[] = {
    {false, "2 atom types", "3 atom types", "a:4: 3 atom types: expected as many in the setting"},
    {false, "1 B\n", "1 C\n", "a:11: 'C': expected a name among species"},
    {false, "\n1 3\n", "\n1 4\n", "a:16: the mass is 4, and 3 in species"},
    {false, "1 2 2.5 0.7", "1 2 2.5 0.8", "a:22: sigma is 0.8, and 0.7 in"},
    {false, "1 1 1.5 0.9", "1 1 1.6 0.9", "a:21: epsilon is 1.6, and 1.5 in"},
    {false, "3 2 1 3", "3 3 1 3", "a:29: atom type"},
    {true, "B 1 1 1 3", "Na 1 1 1 3", "a:3: 'Na': expected a name among species"},
    {true, "A 2 2 2 2", "A 2 2 2 1", "a:4: the mass is 1, and 2 in"},
    {true, "species:S:1", "label:S:1", "expected species:S:1 for 2 species"},
};

START_TEST(wrong_kinds_are_named)
{
  config *c = engines_config(TWO);
  const char *text = wrong_kinds[_i].xyz ? two_xyz : two_data;
  const char *path = files_text("a", files_edit(text, wrong_kinds[_i].from, wrong_kinds[_i].to));
  ck_assert_int_eq(system_read(path, false, config_get(c)->types, &state), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), wrong_kinds[_i].says), "'%s' does not say '%s'", md_message(),
                wrong_kinds[_i].says);
  ck_assert_ptr_null(state.x);
  config_destroy(c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("atom_kinds");
  TCase *tc = tcase_create("kinds");
  tcase_add_checked_fixture(tc, configs_begin, end);
  tcase_add_test(tc, kinds_are_found_by_name_and_number);
  tcase_add_loop_test(tc, wrong_kinds_are_named, 0, sizeof wrong_kinds / sizeof *wrong_kinds);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
