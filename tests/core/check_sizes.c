/* tests/core/check_sizes.c - sizes stop at the largest; free memory is the least of all limits. */
#include "core/sizes.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(sizes_stay_the_largest)
{
  static const struct {
    double number;
    int64_t size;
  } cases[] = {{0, 0},
               {-0.5, 0},
               {1e9, 1000000000},
               {0x1p62, (int64_t)1 << 62},
               {0x1.fffffffffffffp62, INT64_MAX - 1023},
               {0x1p63, INT64_MAX},
               {1e300, INT64_MAX},
               {INFINITY, INT64_MAX},
               {NAN, INT64_MAX},
               {-0x1p63, INT64_MIN},
               {-INFINITY, INT64_MIN}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    ck_assert_msg(md_size_of(cases[k].number) == cases[k].size, "%g", cases[k].number);
  static const int64_t sizes[] = {0, 1, 3, 1 << 20, (int64_t)1 << 40, INT64_MAX / 2, INT64_MAX};
  enum { N = sizeof sizes / sizeof *sizes };
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++) {
      const __int128 sum = (__int128)sizes[a] + sizes[b], product = (__int128)sizes[a] * sizes[b];
      ck_assert(md_size_add(sizes[a], sizes[b]) == (sum > INT64_MAX ? INT64_MAX : (int64_t)sum));
      ck_assert(md_size_times(sizes[a], sizes[b]) ==
                (product > INT64_MAX ? INT64_MAX : (int64_t)product));
    }
}
END_TEST

/* A file below the folder of the test, with the folders to it. */
static void put(const char *path, const char *text)
{
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", files_path(path));
  for (char *c = folder + strlen(files_path("")); *c; c++)
    if (*c == '/') {
      *c = '\0';
      mkdir(folder, 0700);
      *c = '/';
    }
  files_text(path, text);
}

static int64_t left(void)
{
  char root[PATH_MAX];
  snprintf(root, sizeof root, "%s", files_path(""));
  root[strlen(root) - 1] = '\0';
  return md_memory_free_in(root);
}

START_TEST(the_least_limit_counts)
{
  ck_assert(left() == INT64_MAX);
  put("proc/meminfo", "MemTotal: 900 kB\nMemAvailable:     500 kB\n");
  ck_assert_int_eq(left(), 512000);
  /* Version 2: a group, and one around it. */
  put("proc/self/cgroup", "0::/a/b\n");
  ck_assert_int_eq(left(), 512000);
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  ck_assert_int_eq(left(), 512000);
  put("sys/fs/cgroup/a/b/memory.max", "400000\n");
  ck_assert_int_eq(left(), 400000);
  put("sys/fs/cgroup/a/b/memory.current", "150000\n");
  ck_assert_int_eq(left(), 250000);
  put("sys/fs/cgroup/a/b/memory.stat", "anon 7\ninactive_file 50000\nactive_file 1\n");
  ck_assert_int_eq(left(), 300000);
  put("sys/fs/cgroup/a/memory.max", "200000\n");
  ck_assert_int_eq(left(), 200000);
  put("sys/fs/cgroup/a/memory.current", "250000\n");
  ck_assert_int_eq(left(), 0);
  /* A group that is not to be seen has its limit in the root. */
  put("proc/self/cgroup", "0::/other/group\n");
  ck_assert_int_eq(left(), 512000);
  put("sys/fs/cgroup/memory.max", "300000\n");
  ck_assert_int_eq(left(), 300000);
}
END_TEST

START_TEST(limits_of_version_1_count)
{
  put("proc/meminfo", "MemAvailable: 500 kB\n");
  put("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/x/y\n0::/\n");
  put("sys/fs/cgroup/memory/x/y/memory.limit_in_bytes", "9223372036854771712\n");
  ck_assert_int_eq(left(), 512000);
  put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "100000\n");
  put("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "40000\n");
  ck_assert_int_eq(left(), 60000);
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "30000\n");
  ck_assert_int_eq(left(), 30000);
}
END_TEST

START_TEST(addresses_are_limited_by_ulimit)
{
  const pid_t child = fork();
  if (child == 0) {
    struct rlimit was, most;
    if (getrlimit(RLIMIT_AS, &was) != 0) _exit(2);
    most = was;
    most.rlim_cur = (rlim_t)1 << 33;
    setrlimit(RLIMIT_AS, &most);
    const bool less = md_memory_free() < (int64_t)1 << 33;
    setrlimit(RLIMIT_AS, &was); /* what sanitizers do at the end takes more */
    exit(less ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("sizes");
  TCase *tc = tcase_create("sizes");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_add_test(tc, sizes_stay_the_largest);
  tcase_add_test(tc, the_least_limit_counts);
  tcase_add_test(tc, limits_of_version_1_count);
  tcase_add_test(tc, addresses_are_limited_by_ulimit);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
