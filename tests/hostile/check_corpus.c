/* tests/hostile/check_corpus.c - every file of tests/corpus/TARGET through the target it was found
 * for. */
#include "tests/hostile/fuzz.h"
#include "tests/test.h"

#include <dirent.h>
#include <stdio.h>

/* Whether the whole file was taken. */
static bool replay(const fuzz_target *target, const char *path)
{
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  uint8_t *data = malloc(size + 1);
  ck_assert_uint_eq(fread(data, 1, size, file), size);
  fclose(file);
  const bool good = fuzz_read(target, data, size);
  for (size_t cut = 1; cut < 8; cut++) /* and some beginnings of it */
    (void)fuzz_read(target, data, size * cut / 8);
  free(data);
  return good;
}

START_TEST(corpus_is_read_or_refused)
{
  const fuzz_target *target = fuzz_target_at(_i);
  char folder[256], path[1024];
  snprintf(folder, sizeof folder, "tests/corpus/%s", target->name);
  DIR *files = opendir(folder);
  ck_assert_msg(files != NULL, "no %s", folder);
  int good = 0; /* of a corpus that nothing takes, nothing is learnt */
  for (const struct dirent *entry; (entry = readdir(files)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    good += replay(target, path);
  }
  closedir(files);
  ck_assert_msg(good > 0, "%s holds no file that is taken", folder);
}
END_TEST

int main(void)
{
  int n = 0;
  while (fuzz_target_at(n))
    n++;
  Suite *suite = suite_create("corpus");
  TCase *tc = tcase_create("targets");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, corpus_is_read_or_refused, 0, n);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
