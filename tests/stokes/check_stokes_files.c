/* tests/stokes/check_stokes_files.c - MatrixMarket, radii, extended XYZ: what is written is read,
 * what is wrong is named. */
#include "tests/drive/files.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

#define MARKET "%%MatrixMarket matrix coordinate real "
START_TEST(matrix_market)
{
  stokes_blocks a, b;
  files_text("file", MARKET "symmetric\n% a comment\n\n 6 6 4\n1 1 2.5\n6 2 -1e-3\n5 2 7\n4 4 1\n");
  ck_ok(stokes_blocks_read(files_path("file"), &a));
  ck_assert_int_eq(a.n_rows, 2);
  ck_assert_int_eq(a.n_blocks, 4);
  static const int64_t start[] = {0, 2, 4};
  static const int32_t column[] = {0, 1, 0, 1};
  ck_assert_mem_eq(a.start, start, sizeof start);
  ck_assert_mem_eq(a.column, column, sizeof column);
  ck_assert_double_eq(a.block[0], 2.5);
  ck_assert_double_eq(a.block[9 + 3 + 2], -1e-3); /* (2, 6) */
  ck_assert_double_eq(a.block[18 + 3 + 1], 7);    /* (5, 2) */
  ck_assert_double_eq(a.block[27], 1);
  ck_ok(stokes_blocks_write(&a, files_path("file")));
  ck_ok(stokes_blocks_read(files_path("file"), &b));
  ck_assert_mem_eq(a.block, b.block, 36 * sizeof(double));
  ck_assert_mem_eq(a.column, b.column, sizeof column);
  stokes_blocks_free(&a);
  stokes_blocks_free(&b);
}
END_TEST

START_TEST(matrices_of_integers_are_read)
{
  stokes_blocks a;
  static const char head[] = "%%MatrixMarket matrix coordinate integer general\n3 3 2\n";
  char text[200];
  snprintf(text, sizeof text, "%s1 1 -7\n3 2 12345678901\n", head);
  ck_ok(stokes_blocks_read(files_text("file", text), &a));
  ck_assert_double_eq(a.block[0], -7);
  ck_assert_double_eq(a.block[3 * 2 + 1], 12345678901);
  stokes_blocks_free(&a);
  snprintf(text, sizeof text, "%s1 1 1\n3 2 1.5\n", head);
  ck_assert_int_eq(stokes_blocks_read(files_text("file", text), &a), MD_EINVAL);
  ck_assert(strstr(md_message(), ":4: expected an integer, not '1.5'") != NULL);
}
END_TEST

START_TEST(bad_matrix_market_is_named)
{
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"", ":1: expected '%%MatrixMarket"},
      {"%%MatrixMarket matrix array real general\n3 3\n", ":1: expected"},
      {"%%MatrixMarket matrix coordinate complex general\n", ":1: expected"},
      {MARKET "skew-symmetric\n3 3 0\n", ":1: expected"},
      {MARKET "general\n", ":2: the file ends"},
      {MARKET "general\n3 6 0\n", ":2: the matrix is 3 x 6"},
      {MARKET "general\n4 4 0\n", ":2: the matrix has 4 rows"},
      {MARKET "general\n3 3\n", ":2: expected 3 numbers, found 2"},
      {MARKET "general\n2147483646 2147483646 3\n1 1 1\n", ":2: the matrix has 2147483646 rows"},
      {MARKET "general\n6 6 1\n1 1 1\n", ":2: the matrix has 6 rows and 1 entries"},
      {MARKET "symmetric\n9 9 1\n4 1 1\n", ":2: the matrix has 9 rows and 1 entries"},
      {MARKET "general\n3 3 1\n1 1 1\n2 2 2\n", ":4: text after the last of 1 entries"},
      {MARKET "general\n3 3 2\n1 1 1\n", ":4: the file ends, expected an entry"},
      {MARKET "general\n3 3 1\n4 1 1\n", ":3:"},
      {MARKET "general\n3 3 1\n0 1 1\n", ":3:"},
      {MARKET "general\n3 3 1\n1 1 inf\n", ":3:"},
      {MARKET "general\n3 3 2\n1 1 1\n1 1 2\n", "entry (1, 1) is given twice"},
      {MARKET "symmetric\n3 3 1\n1 2 1\n", ":3: an entry above the diagonal"},
  };
  stokes_blocks b;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    files_text("file", bad[k].text);
    ck_assert_int_eq(stokes_blocks_read(files_path("file"), &b), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), bad[k].says) != NULL, "%s: %s", bad[k].text, md_message());
    ck_assert_ptr_null(b.block);
  }
  ck_assert_int_eq(stokes_blocks_read("/nonexistent/m.mtx", &b), MD_EIO);
}
END_TEST

START_TEST(radii_are_read)
{
  stokes_radii radii;
  ck_ok(stokes_radii_read("ecoli", &radii));
  ck_assert_int_eq(radii.n, 15);
  double sum = 0;
  for (int k = 0; k < radii.n; k++)
    sum += radii.fraction[k];
  ck_assert_double_eq_tol(sum, 1, 1e-14);
  ck_assert_double_eq_tol(radii.fraction[11], 0.2597, 1e-12);
  stokes_radii_free(&radii);
  files_text("file", "# radius,fraction\n 10 , 3\n\n2.5,1 # small\n");
  ck_ok(stokes_radii_read(files_path("file"), &radii));
  ck_assert_int_eq(radii.n, 2);
  ck_assert_double_eq(radii.radius[1], 2.5);
  ck_assert_double_eq(radii.fraction[0], 0.75);
  stokes_radii_free(&radii);
  static const struct {
    const char *text, *says;
  } bad[] = {{"", "expected a line"},
             {"5\n", ":1: expected radius,fraction"},
             {"5,1\n-1,2\n", ":2: a radius must be > 0"},
             {"5,0\n", "a fraction must be > 0"},
             {"1e-305,0.5\n1e4,0.5\n", ":1: a radius must be in 1e-12..1e+12, not 1e-305"},
             {"2,1\n3e12,1\n", ":2: a radius must be in 1e-12..1e+12, not 3e+12"},
             {"1,1\n5,1\n2e6,1\n", ":3: the radii 1 and 2e+06 differ by more than a factor"},
             {"5,1e-300\n", ":1: a fraction must be in"},
             {"5,1e300\n", ":1: a fraction must be in"},
             {"5,nan\n", ":1:"},
             {"5,1x\n", "1x"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    files_text("file", bad[k].text);
    ck_assert_int_eq(stokes_radii_read(files_path("file"), &radii), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), bad[k].says) != NULL, "%s", md_message());
  }
  ck_assert_int_eq(stokes_radii_read("/nonexistent/radii", &radii), MD_EIO);
}
END_TEST

START_TEST(xyz_reads_back_exactly)
{
  stokes_packing a = ref_packing(300, 0.3, false, 5), b;
  a.x[0] -= 3 * a.box[0]; /* centres may lie outside the box */
  FILE *stream = fopen(files_path("file"), "w");
  stokes_packing_print(&a, stream);
  ck_assert_int_eq(fclose(stream), 0);
  ck_ok(stokes_packing_read(files_path("file"), &b));
  ck_assert_int_eq(a.n, b.n);
  ck_assert_mem_eq(a.box, b.box, sizeof a.box);
  ck_assert_mem_eq(a.x, b.x, (size_t)a.n * 4 * sizeof(double));
  stokes_packing_free(&a);
  stokes_packing_free(&b);
  files_text("file", "1\nProperties=radius:R:1:id:I:1:pos:R:3 Lattice=\"9 0 0 0 8 0 0 0 7\"\n"
                     "2 77 1 -3 5e-1\n");
  ck_ok(stokes_packing_read(files_path("file"), &b));
  const double expect[4] = {1, -3, 0.5, 2};
  ck_assert_mem_eq(b.x, expect, sizeof expect);
  ck_assert_double_eq(b.box[1], 8);
  stokes_packing_free(&b);
}
END_TEST

#define HEAD "Lattice=\"9 0 0 0 9 0 0 0 9\" Properties=pos:R:3:radius:R:1\n"
/* Curly brackets, tabs and leading blanks, as other programs write them. */
START_TEST(xyz_of_other_programs_is_read)
{
  stokes_packing p;
  ck_ok(stokes_packing_read(
      files_text("file", "   1 \n \tLattice={9 0 0 0 8 0 0 0 7}\tProperties=pos:R:3:radius:R:1\n"
                         "1 2 3 0.5\n"),
      &p));
  ck_assert(p.box[0] == 9 && p.box[1] == 8 && p.box[2] == 7);
  ck_assert(p.n == 1 && p.x[2] == 3 && p.x[3] == 0.5);
  stokes_packing_free(&p);
}
END_TEST

START_TEST(bad_xyz_is_named)
{
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"", ":1: the file ends"},
      {"x\n", ":1:"},
      {"0\n" HEAD, ":1:"},
      {"1\nLattice=\"9 0 0 0 9 0 0 0\" Properties=pos:R:3:radius:R:1\n", ":2: expected Lattice"},
      {"1\nLattice=\"9 1 0 0 9 0 0 0 9\" Properties=pos:R:3:radius:R:1\n", "right angles"},
      {"1\nLattice=\"9 0 0 0 -9 0 0 0 9\" Properties=pos:R:3:radius:R:1\n", "right angles"},
      {"1\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=pos:R:3\n", ":2: expected Properties"},
      {"1\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=pos:R\n", ":2:"},
      {"2\n" HEAD "1 2 3 1\n", ":4: the file ends"},
      {"1\n" HEAD "1 2 3\n", ":3: expected 4 columns, found 3"},
      {"1\n" HEAD "1 2 3 1 5\n", ":3: expected 4 columns, found 5"},
      {"1\n" HEAD "1 2 nan 1\n", ":3:"},
      {"1\n" HEAD "1 2 3 0\n", ":3: a radius must be > 0"},
      {"1\nLattice=\"1e13 0 0 0 9 0 0 0 9\" Properties=pos:R:3:radius:R:1\n", ":2: Lattice"},
      {"1\n" HEAD "1 2 3 1e-305\n", ":3: a radius must be in 1e-12..1e+12, not 1e-305"},
      {"2\n" HEAD "1 2 3 1\n4 5 6 1e-7\n", ":4: the radii 1e-07 and 1 differ by more"},
      {"1\n" HEAD "1 2 3 1\n1 2 3 1\n", ":4: text after"},
  };
  stokes_packing p;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    files_text("file", bad[k].text);
    ck_assert_int_eq(stokes_packing_read(files_path("file"), &p), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), bad[k].says) != NULL, "%s: %s", bad[k].text, md_message());
    ck_assert_ptr_null(p.x);
  }
  ck_assert_int_eq(stokes_packing_read("/nonexistent/p.xyz", &p), MD_EIO);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_files");
  TCase *files = tcase_create("files");
  tcase_add_checked_fixture(files, files_begin, files_end);
  tcase_add_test(files, matrix_market);
  tcase_add_test(files, bad_matrix_market_is_named);
  tcase_add_test(files, radii_are_read);
  tcase_add_test(files, xyz_reads_back_exactly);
  tcase_add_test(files, bad_xyz_is_named);
  tcase_add_test(files, xyz_of_other_programs_is_read);
  tcase_add_test(files, matrices_of_integers_are_read);
  suite_add_tcase(suite, files);
  return test_main(suite);
}
