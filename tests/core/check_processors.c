/* tests/core/check_processors.c - how many processors a process may use: control groups of both
 * versions, OMP_NUM_THREADS, affinity. */
#include "core/hardware/processors.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void folder(const char *name)
{
  ck_assert_int_eq(mkdir(files_path(name), 0700), 0);
}

START_TEST(the_least_quota_of_a_group_and_its_parents_counts)
{
  folder("a");
  folder("a/b");
  const char *self = files_text("self", "0::/a/b\n");
  const char *root = files_path(".");
  ck_assert(isinf(md_quota(root, self)));
  files_text("a/b/cpu.max", "max 100000\n");
  ck_assert(isinf(md_quota(root, self)));
  files_text("a/cpu.max", "150000 100000\n");
  ck_assert_double_eq(md_quota(root, self), 1.5);
  files_text("a/b/cpu.max", "20000 50000\n");
  ck_assert_double_eq(md_quota(root, self), 0.4);
  files_text("cpu.max", "10000 100000\n");
  ck_assert_double_eq(md_quota(root, self), 0.1);
  ck_assert(isinf(md_quota(root, files_path("missing"))));
}
END_TEST

START_TEST(groups_of_version_1_are_read_from_the_cpu_controller)
{
  folder("cpu");
  folder("cpu/x");
  folder("memory");
  files_text("memory/cpu.cfs_quota_us", "1000\n");
  files_text("memory/cpu.cfs_period_us", "100000\n");
  const char *self = files_text("self", "7:memory:/\n3:cpuset,cpu,cpuacct:/x\nnonsense\n1:cpu\n");
  files_text("cpu/x/cpu.cfs_quota_us", "-1\n");
  files_text("cpu/x/cpu.cfs_period_us", "100000\n");
  ck_assert(isinf(md_quota(files_path("."), self)));
  files_text("cpu/x/cpu.cfs_quota_us", "300000\n");
  ck_assert_double_eq(md_quota(files_path("."), self), 3);
  files_text("cpu/cpu.cfs_quota_us", "50000\n"); /* what a container sees as its own */
  files_text("cpu/cpu.cfs_period_us", "25000\n");
  ck_assert_double_eq(md_quota(files_path("."), self), 2);
}
END_TEST

/* A context without a number of threads, and what its JSON names, go by OMP_NUM_THREADS; libraries
 * of OpenMP read it when they are loaded: in another process. */
START_TEST(context_has_the_threads_that_are_asked_for)
{
  const char *asked = getenv("PROCESSORS_TEST");
  const md_ctx_spec spec = {MD_CPU, MD_DOUBLE, 0, false};
  md_ctx *ctx;
  if (asked) {
    ck_ok(md_ctx_create(&spec, &ctx));
    ck_assert_int_eq(ctx->threads, atoi(asked));
    md_ctx_destroy(ctx);
    return;
  }
  static const char *const settings[] = {"OMP_NUM_THREADS=7 PROCESSORS_TEST=7",
                                         "OMP_NUM_THREADS=9 OMP_THREAD_LIMIT=5 PROCESSORS_TEST=5"};
  char command[4400], self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  ck_assert_int_gt(length, 0);
  self[length] = '\0';
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
    snprintf(command, sizeof command, "env %s '%s' >/dev/null", settings[k], self);
    ck_assert_msg(system(command) == 0, "%s", settings[k]);
  }
  cpu_set_t mine, one;
  ck_assert_int_eq(sched_getaffinity(0, sizeof mine, &mine), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &mine))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
  snprintf(command, sizeof command, "env -u OMP_NUM_THREADS PROCESSORS_TEST=1 '%s' >/dev/null",
           self);
  ck_assert_int_eq(system(command), 0);
  ck_assert_int_eq(sched_setaffinity(0, sizeof mine, &mine), 0);
}
END_TEST

/* Two processes on one processor: each of them waits about as long as it runs. */
START_TEST(waiting_for_a_processor_is_seen)
{
  const md_waiting before = md_waiting_since(&(md_waiting){0, 0});
  if (before.ran_s == 0) return; /* Linux without schedstat */
  cpu_set_t mine, one;
  ck_assert_int_eq(sched_getaffinity(0, sizeof mine, &mine), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
  const pid_t other = fork();
  if (other == 0)
    for (;;) {
    }
  md_waiting spent;
  do
    spent = md_waiting_since(&before);
  while (spent.ran_s < 0.2);
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  ck_assert_int_eq(sched_setaffinity(0, sizeof mine, &mine), 0);
  ck_assert_double_gt(spent.waited_s, 0.05);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("processors");
  TCase *tc = tcase_create("processors");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  const bool alone = getenv("PROCESSORS_TEST") == NULL;
  if (alone) {
    tcase_add_test(tc, the_least_quota_of_a_group_and_its_parents_counts);
    tcase_add_test(tc, groups_of_version_1_are_read_from_the_cpu_controller);
    tcase_add_test(tc, waiting_for_a_processor_is_seen);
  }
  tcase_add_test(tc, context_has_the_threads_that_are_asked_for);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
