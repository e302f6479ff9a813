/* tests/engine/check_gro.c - .gro files: what is read, and what is refused with line and reason. */
#include "engine/system/system.h"
#include "tests/drive/files.h"
#include "tests/test.h"

static const char two[] = "two atoms of argon\n"
                          "    2\n"
                          "    1AR      AR    1   0.500   1.500   2.500  0.0010 -2.0000  0.0000\n"
                          "    2AR      AR    2  -1.000   5.500   8.500  4.0000  5.0000  6.0000\n"
                          "   4.00000   5.00000   6.00000\n";

START_TEST(atoms_are_read_and_wrapped)
{
  static const double x[6] = {0.5, 1.5, 2.5, 3, 0.5, 2.5}, v[6] = {0.001, -2, 0, 4, 5, 6};
  static const int32_t image[6] = {0, 0, 0, -1, 1, 1};
  system_state state;
  ck_ok(system_read(files_text("two.gro", two), false, NULL, &state));
  ck_assert(state.n == 2 && state.box.lo[2] == 0 && state.box.hi[2] == 6 && !state.id);
  ck_assert_mem_eq(state.x, x, sizeof x);
  ck_assert_mem_eq(state.v, v, sizeof v);
  ck_assert_mem_eq(state.image, image, sizeof image);
  system_state_free(&state);
  ck_ok(system_read(files_path("two.gro"), true, NULL, &state));
  ck_assert(state.n == 2 && state.box.hi[0] == 4 && !state.x);
}
END_TEST

START_TEST(velocities_may_be_missing)
{
  const char *text = files_edit(two, "  0.0010 -2.0000  0.0000", "");
  char *none = strdup(text);
  system_state state;
  ck_ok(system_read(files_text("none.gro", files_edit(none, "  4.0000  5.0000  6.0000", "")), false,
                    NULL, &state));
  ck_assert(state.n == 2 && !state.v && state.x[0] == 0.5);
  system_state_free(&state);
  free(none);
}
END_TEST

START_TEST(bad_files_are_refused)
{
  static const char *const rows[][3] = {
      {"    2\n", "900000000000\n", ":2: 900000000000 atoms cannot be"},
      {"    2\n", "    3\n", "expected"},
      {"  0.0010 -2.0000  0.0000", "", ":4: expected velocities of all"},
      {"   2.500", "   2.5x0", ":3: z: "},
      {"AR    2", "NE    2", "expected one name"},
      {"   1.500   2.500  0.0010 -2.0000  0.0000", "", ":3: 28 columns: expected 20"},
      {"   6.00000", "", ":5: 2 words: expected the three edges"},
      {"   6.00000", "  -6.00000", ":5: box: expected edges > 0"},
      {"   4.00000   5.00000   6.00000\n", "", "expected the edges of the box"}};
  system_state state;
  const md_status status = system_read(
      files_text("bad.gro", files_edit(two, rows[_i][0], rows[_i][1])), false, NULL, &state);
  ck_assert_int_eq(status, MD_EINVAL);
  ck_assert_msg(strstr(md_message(), rows[_i][2]), "%s", md_message());
  ck_assert_ptr_null(state.x);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("gro");
  TCase *tc = tcase_create("gro");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_add_test(tc, atoms_are_read_and_wrapped);
  tcase_add_test(tc, velocities_may_be_missing);
  tcase_add_loop_test(tc, bad_files_are_refused, 0, 9);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
