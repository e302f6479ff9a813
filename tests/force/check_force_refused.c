/* tests/force/check_force_refused.c - settings without sense, and lists of other atoms or of less
 * reach, are refused. */
#include "tests/ref/ref.h"
#include "tests/drive/run_md.h"
#include "tests/test.h"

START_TEST(senseless_settings_are_refused)
{
  static const force_spec bad[] = {{0, 1, 2.5, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                   {1, -1, 2.5, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                   {1, 1, 0, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                   {NAN, 1, 2.5, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                   {1, NAN, 2.5, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                   {1, 1, NAN, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                   {1, 1, 2.5, FORCE_SHIFT_NONE, 33, 0, 0, NULL},
                                   {1, 1, 2.5, FORCE_SHIFT_NONE, 16, 0, 0, NULL},
                                   {1, 1, 2.5, FORCE_SHIFT_NONE, 2048, 0, 0, NULL},
                                   {1, 1, 2.5, FORCE_SHIFT_NONE, -32, 0, 0, NULL},
                                   {1, 1, 2.5, FORCE_SHIFT_NONE, 0, -1, 0, NULL},
                                   {1, 1, 2.5, FORCE_SHIFT_NONE, 0, 101, 0, NULL}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    force *fc = (force *)ctx;
    ck_assert_msg(force_create(ctx, &bad[k], &fc) == MD_EINVAL, "settings %zu were accepted", k);
    ck_assert_ptr_null(fc);
  }
  force_destroy(NULL);
  md_ctx_destroy(ctx);
  for (md_precision precision = MD_SINGLE; precision <= MD_DOUBLE; precision++)
    for (int k = 0; k < 4; k++) {
      const force_spec far[] = {{1, 129, 300, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                {1, 0.0078, 0.02, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                {1e-29, 1, 2.5, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                {1e26, 1, 2.5, FORCE_SHIFT_NONE, 0, 0, 0, NULL}};
      force *fc;
      ctx = test_ctx(precision, 1, false);
      ck_assert_int_eq(force_create(ctx, &far[k], &fc), precision == MD_DOUBLE ? MD_OK : MD_EINVAL);
      force_destroy(fc);
      md_ctx_destroy(ctx);
    }
}
END_TEST

/* Other atoms, other ghosts, or a list that does not reach as far as the force. */
START_TEST(a_list_that_does_not_match_is_refused)
{
  for (int l = 0; l < RUN_LISTS; l++) {
    run_case c = run_case_make(0, MD_DOUBLE);
    run_spec spec = run_spec_default();
    run_set_list(&spec.list, l);
    run_md md = run_md_open(&spec, &c, NULL);
    ck_ok(md_atoms_set(md.atoms, c.n - 1, c.x, NULL, NULL, NULL));
    ck_assert_int_eq(force_compute(md.fc, md.atoms, md.list, NULL), MD_EINVAL);
    ck_ok(md_atoms_set(md.atoms, c.n, c.x, NULL, NULL, NULL));
    ck_ok(comm_migrate(md.cm, md.atoms));
    ck_ok(comm_borders(md.cm, md.atoms, 4));
    ck_assert_int_eq(force_compute(md.fc, md.atoms, md.list, NULL), MD_EINVAL);
    run_md_rebuild(&md);
    run_md_force(&md, NULL);
    force *farther = NULL;
    const force_spec reach = {1, 1, 3.1, FORCE_SHIFT_NONE, 0, 0, 0, NULL};
    ck_ok(force_create(md.ctx, &reach, &farther));
    ck_assert_int_eq(force_compute(farther, md.atoms, md.list, NULL), MD_EINVAL);
    force_destroy(farther);
    ck_ok(force_set_coulomb(md.fc, 1, 3.1));
    ck_assert_int_eq(force_compute(md.fc, md.atoms, md.list, NULL), MD_EINVAL);
    run_md_close(&md);
    run_case_free(&c);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("force_refused");
  TCase *tc = tcase_create("refused");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, senseless_settings_are_refused);
  tcase_add_test(tc, a_list_that_does_not_match_is_refused);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
