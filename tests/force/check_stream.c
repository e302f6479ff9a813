/* tests/force/check_stream.c - the pipeline of pairs against the loop that also sums energies: the
 * same forces to the bit from every list. */
#include "tests/drive/run_md.h"
#include "tests/test.h"

/* f of the owned atoms as they lie in memory. */
static void *forces(run_md *md, force_tally *tally)
{
  const size_t bytes = (size_t)md->atoms->n * 4 * md_real_size(md->ctx->precision);
  void *copy = malloc(bytes + 1);
  ck_assert_ptr_nonnull(copy);
  run_md_force(md, tally);
  ck_ok(md_read(md->ctx, copy, md->atoms->f.data, bytes));
  return copy;
}

START_TEST(sums_of_energy_leave_forces_as_they_are)
{
  for (int k = 0; k < run_case_count(); k++)
    for (int way = 0; way < RUN_TRACED * FORCE_SHIFT_COUNT; way++) {
      run_spec spec = run_spec_default();
      spec.precision = (md_precision)_i;
      spec.threads = 1 + k % 3;
      spec.force.shift = (force_shift)(way / RUN_TRACED);
      run_set_list(&spec.list, way % RUN_TRACED);
      run_case c = run_case_make(k, spec.precision);
      run_md md = run_md_open(&spec, &c, NULL);
      force_tally tally;
      void *alone = forces(&md, NULL), *beside = forces(&md, &tally);
      const size_t bytes = (size_t)c.n * 4 * md_real_size(spec.precision);
      ck_assert_msg(memcmp(alone, beside, bytes) == 0, "%s, %s: other bits", c.name,
                    run_spec_text(&spec));
      free(alone), free(beside);
      run_md_close(&md);
      run_case_free(&c);
    }
}
END_TEST

int main(void)
{
  if (test_needs_cpu()) return EXIT_SUCCESS;
  Suite *suite = suite_create("stream");
  TCase *tc = tcase_create("stream");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, sums_of_energy_leave_forces_as_they_are, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
