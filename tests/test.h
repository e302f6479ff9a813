/* tests/test.h - what every suite needs.
 *
 * A suite runs on the backend of MINIMD_TEST_BACKEND (cpu when unset), so that `make check` and
 * `make check-gpu` run the same cases. */
#ifndef TEST_H
#define TEST_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"

/* Check writes down each assertion that holds, for the place of a crash: a microsecond or two, most
 * of the time of suites that look at each of a million elements.  Those that fail are enough. */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                   \
  ((expr) ? (void)0                                                                                \
          : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

#define ck_ok(call)                                                                                \
  do {                                                                                             \
    const md_status status_ = (call);                                                              \
    ck_assert_msg(status_ == MD_OK, "%s: status %d: %s", #call, (int)status_, md_message());       \
  } while (0)

static inline md_backend test_backend(void)
{
  const char *word = getenv("MINIMD_TEST_BACKEND");
  return word && strcmp(word, "gpu") == 0 ? MD_GPU : MD_CPU;
}

/* A context on the backend under test; free with md_ctx_destroy. */
static inline md_ctx *test_ctx(md_precision precision, int threads, bool deterministic)
{
  md_ctx *ctx = NULL;
  const md_ctx_spec spec = {test_backend(), precision, threads, deterministic};
  ck_ok(md_ctx_create(&spec, &ctx));
  return ctx;
}

/* A case of tests that take long for what they compute, not for the paths they take: `make asan`,
 * where arithmetic is ten times as slow, leaves them out. */
static inline TCase *test_long_case(const char *name)
{
  TCase *tc = tcase_create(name);
  tcase_set_tags(tc, "long");
  tcase_set_timeout(tc, 300);
  return tc;
}

/* Suites of what runs on the CPU only leave a GPU's turn out, and say so. */
static inline bool test_needs_cpu(void)
{
  if (test_backend() == MD_CPU) return false;
  puts("100%: Checks: 0, Failures: 0, Errors: 0 (what it tests is not written for the GPU)");
  return true;
}

/* And the other way round. */
static inline bool test_needs_gpu(void)
{
  if (test_backend() == MD_GPU) return false;
  puts("100%: Checks: 0, Failures: 0, Errors: 0 (what it tests is written for the GPU)");
  return true;
}

/* Run one suite and say how it went; a CUDA context does not survive a fork. */
static inline int test_main(Suite *suite)
{
  SRunner *runner = srunner_create(suite);
  if (test_backend() == MD_GPU) srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}

#endif
