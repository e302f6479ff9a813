/* tests/hostile/check_failing_files.c - the k-th call that opens, writes, syncs, renames, links or
 * closes a file fails, as on a full disk, for every k, in a small run of each command that writes:
 * exit code 3 and one line on standard error (or the whole answer, where the call did not matter);
 * what was there is there still, or what replaces it is whole; no temporary file is left.
 *
 * Each try is a process of its own. */
#include "tests/hostile/failing_memory.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL "--threads 1 --cells 4 --steps 3 --quiet "

/* What the first line makes, the second one goes on with; the files of the third are whole after
 * every failure: as they were, or as they are without one. */
static const struct {
  const char *setup, *line;
  const char *whole[3];
} cases[] = {
    {SMALL "-o {o}", SMALL "--format csv -o {o}", {"o"}},
    {SMALL "--trace {t}", SMALL "--order row --trace {t}", {"t"}},
    {SMALL "--checkpoint {c} --checkpoint-every 1 --rebuild 1",
     SMALL "--steps 5 --checkpoint {c}",
     {"c", "c.prev"}},
    {SMALL "--checkpoint {c} --dump {d.xyz}", "--restart {c} --steps 6", {"c", "c.prev"}},
    {SMALL "--checkpoint {c} --dump {d.dcd}", "--restart {c} --steps 6", {"c", "c.prev"}},
    {"convert -o {i}", "convert -i {i} --cells 3 -o {j}", {"j"}},
    {"convert --threads 1 --cells 3 --to data -o {d.data}",
     "convert --threads 1 --set system.read={d.data} --to xyz --order row -o {x.xyz}",
     {"x.xyz"}},
    {"ordering --order row --size 4 --quiet --plot {p.svg}",
     "ordering --order row,hilbert --size 4 --quiet -o {o} --plot {p.svg}",
     {"p.svg", "o"}},
    {"gspmv --matrix mat1 --rows 300 --vectors 1 --repeat 1 --quiet --threads 1 --write {m.mtx}",
     "gspmv --matrix {m.mtx} --vectors 1 --repeat 1 --quiet --threads 1 --write {n.mtx} -o "
     "/dev/null",
     {"n.mtx"}},
};
enum { MOST_CALLS = 400 };

typedef struct {
  int code, errors; /* lines on standard error */
  long calls;       /* on files */
} outcome;

/* The program, with the k-th call failing. */
static outcome try_one(const char *line, long k)
{
  int ends[2];
  outcome out = {0};
  FILE *said = tmpfile();
  ck_assert_ptr_nonnull(said);
  ck_assert_int_eq(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(said), STDERR_FILENO);
    if (!freopen("/dev/null", "w", stdout)) _exit(99);
    failing_set(FAILING_FILES, k, false);
    const int code = failing_start(line, false);
    const long calls = failing_calls(FAILING_FILES);
    exit(write(ends[1], &calls, sizeof calls) == sizeof calls ? code : 98);
  }
  ck_assert_int_gt(child, 0);
  close(ends[1]);
  int state = 0;
  (void)!read(ends[0], &out.calls, sizeof out.calls);
  close(ends[0]);
  waitpid(child, &state, 0);
  ck_assert_msg(WIFEXITED(state), "%s: call %ld: signal %d", line, k, WTERMSIG(state));
  out.code = WEXITSTATUS(state);
  char text[1024];
  rewind(said);
  while (fgets(text, sizeof text, said))
    out.errors += strncmp(text, "minimd: error: ", 15) == 0;
  fclose(said);
  return out;
}

/* What a file holds; NULL, and *bytes is -1, where there is none.  Free it. */
static char *contents(const char *name, long *bytes)
{
  FILE *file = fopen(files_path(name), "rb");
  *bytes = -1;
  if (!file) return NULL;
  ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
  *bytes = ftell(file);
  ck_assert_int_ge(*bytes, 0);
  rewind(file);
  char *data = malloc((size_t)*bytes + 1);
  ck_assert_ptr_nonnull(data);
  ck_assert_int_eq(fread(data, 1, (size_t)*bytes, file), *bytes);
  fclose(file);
  return data;
}

/* The files of a case, as they were before this try and as they are without a failure. */
typedef struct {
  char *data[2][3];
  long bytes[2][3];
} versions;

static void note(int c, int version, versions *v)
{
  for (int f = 0; f < 3 && cases[c].whole[f]; f++) {
    free(v->data[version][f]);
    v->data[version][f] = contents(cases[c].whole[f], &v->bytes[version][f]);
  }
}

/* What the first line of a case makes; written back before each try. */
static const char *const made_names[] = {"c", "c.prev", "d.data", "d.xyz", "d.dcd",
                                         "j", "n.mtx",  "o",      "p.svg", "x.xyz"};
enum { MADE = sizeof made_names / sizeof *made_names };
typedef struct {
  char *data[MADE];
  long bytes[MADE];
} made;

static made make(int c)
{
  made m;
  for (int n = 0; n < MADE; n++)
    unlink(files_path(made_names[n]));
  ck_assert_int_eq(try_one(cases[c].setup, 0).code, 0);
  for (int n = 0; n < MADE; n++)
    m.data[n] = contents(made_names[n], &m.bytes[n]);
  return m;
}

static void restore(const made *m)
{
  for (int n = 0; n < MADE; n++) {
    unlink(files_path(made_names[n]));
    if (m->bytes[n] >= 0) files_write(made_names[n], m->data[n], (size_t)m->bytes[n]);
  }
}

/* A trace holds addresses, which differ from start to start: a new one is compared by length. */
static bool is_version(const versions *v, int version, int f, const char *data, long bytes,
                       const char *name)
{
  if (bytes != v->bytes[version][f]) return false;
  return (version == 1 && strcmp(name, "t") == 0) || bytes < 0 ||
         memcmp(data, v->data[version][f], (size_t)bytes) == 0;
}

static void check_files(int c, long k, const versions *v)
{
  for (int f = 0; f < 3 && cases[c].whole[f]; f++) {
    const char *name = cases[c].whole[f];
    char temporary[64];
    long bytes, first;
    char *data = contents(name, &bytes);
    bool whole = is_version(v, 0, f, data, bytes, name) || is_version(v, 1, f, data, bytes, name);
    if (f == 1 && strcmp(name, "c.prev") == 0) /* a second name of the first */
      whole = whole || (bytes == v->bytes[0][0] && memcmp(data, v->data[0][0], (size_t)bytes) == 0);
    ck_assert_msg(whole, "%s: call %ld: '%s' of %ld bytes is neither old nor new", cases[c].line, k,
                  name, bytes);
    free(data);
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    free(contents(temporary, &first));
    ck_assert_msg(first < 0, "%s: call %ld leaves '%s'", cases[c].line, k, temporary);
  }
}

START_TEST(every_call_may_fail)
{
  const int c = _i;
  if (strstr(cases[c].setup, "--plot") && system("command -v gnuplot >/dev/null 2>&1") != 0) return;
  versions v = {0};
  const made first = make(c);
  note(c, 0, &v);
  const outcome good = try_one(cases[c].line, 0);
  ck_assert_int_eq(good.code, 0);
  note(c, 1, &v);
  ck_assert_int_gt(good.calls, 0);
  ck_assert_int_lt(good.calls, MOST_CALLS);
  int refused = 0;
  for (long k = 1; k <= good.calls; k++) {
    restore(&first);
    const outcome bad = try_one(cases[c].line, k);
    ck_assert_msg(bad.code == 0 || bad.code == 3, "%s: call %ld: exit %d", cases[c].line, k,
                  bad.code);
    ck_assert_int_eq(bad.errors, bad.code != 0);
    refused += bad.code == 3;
    check_files(c, k, &v);
  }
  ck_assert_int_ge(refused, 4);
  for (int f = 0; f < 3; f++) {
    free(v.data[0][f]);
    free(v.data[1][f]);
  }
  for (int n = 0; n < MADE; n++)
    free(first.data[n]);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("failing files");
  TCase *tries = tcase_create("tries");
  tcase_add_unchecked_fixture(tries, files_begin, files_end);
  tcase_set_timeout(tries, 300);
  tcase_add_loop_test(tries, every_call_may_fail, 0, (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, tries);
  return test_main(suite);
}
