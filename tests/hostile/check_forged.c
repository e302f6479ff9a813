/* tests/hostile/check_forged.c - checkpoints with numbers that no run has and a right check sum: a
 * restart from one ends by itself, and says why it does not go on. */
#include "core/crc.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORGERIES = 250, HEAD = 16, SECTION_HEAD = 24, SECONDS = 20 };

/* The program that was built beside this suite. */
static const char *program(void)
{
  static char path[PATH_MAX + 16];
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  ck_assert_int_gt(length, 0);
  path[length] = '\0';
  for (int up = 0; up < 2; up++)
    *strrchr(path, '/') = '\0';
  return strcat(path, "/minimd");
}

/* Run it with these words, separated by spaces; returns what wait says, *errors what it wrote to
 * standard error. */
static int run(const char *words, char errors[4096])
{
  char copy[3 * PATH_MAX], *argv[64] = {(char *)program()}, *rest = NULL;
  int argc = 1;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
    argv[argc++] = word;
  const char *log = files_path("errors");
  const pid_t child = fork();
  if (child == 0) {
    const int none = open("/dev/null", O_WRONLY),
              to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const struct rlimit cpu = {SECONDS, SECONDS}, memory = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    setrlimit(RLIMIT_CPU, &cpu);
    if (!getenv("ASAN_OPTIONS")) setrlimit(RLIMIT_AS, &memory);
    dup2(none, 1);
    dup2(to, 2);
    alarm(4 * SECONDS);
    execv(argv[0], argv);
    _exit(127);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  FILE *file = fopen(log, "r");
  errors[fread(errors, 1, 4095, file)] = '\0';
  fclose(file);
  return status;
}

static uint64_t draw(uint64_t *random) /* xorshift */
{
  *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
  return *random;
}

/* In place of a word of so many bytes: a number of an edge, or what it was with one bit changed. */
static void forge(char *at, size_t size, uint64_t *random)
{
  static const double reals[] = {0,        -0.0,      1,      -1,   1e300,   -1e300,
                                 1e-300,   1e15,      -1e15,  1e-9, NAN,     1e6,
                                 INFINITY, -INFINITY, 5e-324, 1e30, 1 / 3.0, 4294967296};
  static const int64_t integers[] = {0,  -1,        1,         INT32_MAX, INT32_MIN,
                                     16, INT64_MAX, INT64_MIN, 1 << 30,   UINT32_MAX};
  const uint64_t kind = draw(random) % 3, which = draw(random);
  if (kind == 0 && size == sizeof(double))
    memcpy(at, &reals[which % (sizeof reals / sizeof *reals)], size);
  else if (kind == 1)
    memcpy(at, &integers[which % (sizeof integers / sizeof *integers)], size); /* little-endian */
  else
    at[which % size] ^= (char)(1 << (which >> 8) % 8);
}

/* Change a section and seal it again: text by a character, numbers by words.  The short sections,
 * in which each number counts, are changed as often as long ones. */
static void forge_file(char *data, size_t size, uint64_t seed)
{
  uint64_t random = 88172645463325252u ^ (seed * 2654435761u);
  size_t at[32];
  int sections = 0;
  for (size_t place = HEAD; place < size; sections++) {
    uint64_t bytes;
    at[sections] = place;
    memcpy(&bytes, data + place + 8, sizeof bytes);
    place += SECTION_HEAD + bytes;
  }
  for (int change = 0; change < 1 + (int)(seed % 3); change++) {
    const uint64_t pick = draw(&random) % (2 * (uint64_t)sections);
    char *section = data + at[pick < (uint64_t)sections ? pick : 1]; /* 1: what is one number */
    uint64_t bytes;
    memcpy(&bytes, section + 8, sizeof bytes);
    if (bytes == 0) continue;
    char *content = section + SECTION_HEAD;
    const size_t word = draw(&random) % 2 && bytes % 8 == 0 ? 8 : 4;
    const uint64_t place = draw(&random);
    if (section == data + at[0])
      content[place % bytes] = "0123456789.e-nx "[draw(&random) % 16];
    else if (bytes >= word)
      forge(content + place % (bytes / word) * word, word, &random);
    uint32_t crc = md_crc32c(0, content, bytes);
    memcpy(section + 4, &crc, sizeof crc);
    crc = md_crc32c(0, section, 16);
    memcpy(section + 16, &crc, sizeof crc);
  }
}

static char *read_all(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*size);
  ck_assert_uint_eq(fread(data, 1, *size, file), *size);
  fclose(file);
  return data;
}

/* A program that ends by itself says in one line why it failed. */
static void judge(int status, const char *errors, uint64_t seed)
{
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  const char *line = strstr(errors, "minimd: error: ");
  ck_assert_msg(code == 0 || code == 2 || code == 3 || code == 4 || code == 5,
                "forgery %d: ended with %s %d: %s", (int)seed, code < 0 ? "signal" : "code",
                code < 0 ? WTERMSIG(status) : code, errors);
  ck_assert_msg((code != 0) == (line != NULL), "forgery %d: exit %d: %s", (int)seed, code, errors);
  ck_assert_msg(!line || strchr(line, '\n') == line + strlen(line) - 1, "forgery %d: %s", (int)seed,
                errors);
}

/* begin: makes the checkpoint, at %s; again: goes on from one. */
static const struct {
  const char *begin, *again;
} runs[] = {
    {"run --quiet --backend cpu --threads 1 --cells 3 --steps 7 --list full --rebuild check "
     "--checkpoint %s",
     "run --quiet --backend cpu --threads 1 --steps 9 --restart %s"},
    {"run --quiet --backend cpu --threads 1 --cells 3,4,3 --steps 7 --precision mixed --list half "
     "--checkpoint %s",
     "run --quiet --backend cpu --threads 1 --steps 9 --order row --restart %s"},
    {"run --quiet --backend cpu --threads 1 --set system.lattice=nacl --set system.charges=0.7 "
     "--set coulomb.method=pme --cells 3 --steps 4 --checkpoint %s",
     "run --quiet --backend cpu --threads 1 --steps 6 --restart %s"},
    {"stokes --quiet --backend cpu --threads 1 -i %s.xyz --steps 3 --rhs 5 --checkpoint %s",
     "stokes --quiet --backend cpu --threads 1 --steps 6 --restart %s"},
};

START_TEST(forged_checkpoints_end_cleanly)
{
  char words[3 * PATH_MAX], errors[4096], whole[PATH_MAX], forged[PATH_MAX];
  size_t size;
  snprintf(whole, sizeof whole, "%s", files_path("whole"));
  snprintf(forged, sizeof forged, "%s", files_path("forged"));
  snprintf(words, sizeof words,
           "pack --quiet --particles 120 --occupancy 0.1 --radii ecoli -o %s.xyz", whole);
  ck_assert_msg(run(words, errors) == 0, "%s", errors);
  snprintf(words, sizeof words, runs[_i].begin, whole, whole);
  ck_assert_msg(run(words, errors) == 0, "%s: %s", words, errors);
  char *data = read_all(whole, &size), *copy = malloc(size);
  int went_on = 0;
  for (uint64_t seed = 0; seed < FORGERIES; seed++) {
    memcpy(copy, data, size);
    forge_file(copy, size, seed);
    files_write("forged", copy, size);
    snprintf(words, sizeof words, runs[_i].again, forged);
    const int status = run(words, errors);
    judge(status, errors, seed);
    went_on += status == 0;
  }
  ck_assert_int_gt(went_on, 0); /* the check sums are right, so that files are read */
  free(data);
  free(copy);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("forged");
  TCase *tc = test_long_case("restarts");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_add_loop_test(tc, forged_checkpoints_end_cleanly, 0, sizeof runs / sizeof *runs);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
