/* minimd/counters/cachegrind.c - see cachegrind.h. */
#include "minimd/counters/cachegrind.h"
#include "core/parse/parse.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORD(name, word) word,
static const char *const event_words[CACHEGRIND_EVENT_COUNT] = {CACHEGRIND_EVENTS(WORD)};
#undef WORD

enum { COLUMNS_MOST = 32 };
extern char **environ;

/* Which column each event is in, from the line `events: Ir I1mr ...`. */
static md_status read_events(md_lines *in, int column[CACHEGRIND_EVENT_COUNT])
{
  char *rest = in->line + strlen("events:"), *word;
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    column[e] = -1;
  for (int c = 0; (word = strsep(&rest, " "));)
    if (*word) {
      const int e = md_word_index(word, event_words, CACHEGRIND_EVENT_COUNT);
      if (e >= 0) column[e] = c;
      c++;
    }
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    if (column[e] < 0)
      return md_lines_blame(in, MD_FAIL(MD_EINVAL, "cachegrind did not count %s", event_words[e]));
  return MD_OK;
}

/* `line count count ...`; counts that are left out at the end are 0. */
static md_status add_counts(md_lines *in, const int column[CACHEGRIND_EVENT_COUNT],
                            int64_t counts[CACHEGRIND_EVENT_COUNT])
{
  int64_t value[COLUMNS_MOST + 1] = {0};
  char *rest = in->line, *word;
  int n = 0;
  while ((word = strsep(&rest, " ")) && n <= COLUMNS_MOST)
    if (*word && md_parse_int64(word, 0, INT64_MAX, &value[n++]))
      return md_lines_blame(in, MD_EINVAL);
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    if (column[e] < COLUMNS_MOST) counts[e] += value[column[e] + 1];
  return MD_OK;
}

static md_status read_lines(md_lines *in, const char *function,
                            int64_t counts[CACHEGRIND_EVENT_COUNT])
{
  int column[CACHEGRIND_EVENT_COUNT];
  bool got = true, events = false, wanted = false;
  MD_TRY(md_lines_next(in, &got));
  while (got) {
    const char *line = in->line;
    if (strncmp(line, "events:", 7) == 0) {
      MD_TRY(read_events(in, column));
      events = true;
    } else if (strncmp(line, "fn=", 3) == 0) {
      wanted = strncmp(line + 3, function, strlen(function)) == 0;
    } else if (wanted && events && *line >= '0' && *line <= '9') {
      MD_TRY(add_counts(in, column, counts));
    }
    MD_TRY(md_lines_next(in, &got));
  }
  MD_REQUIRE(events, MD_EINVAL, "'%s' is not what cachegrind writes: it has no line `events:`",
             in->path);
  return MD_OK;
}

md_status cachegrind_read(const char *path, const char *function,
                          int64_t counts[CACHEGRIND_EVENT_COUNT])
{
  md_lines in;
  memset(counts, 0, CACHEGRIND_EVENT_COUNT * sizeof *counts);
  MD_TRY(md_lines_open(&in, path));
  const md_status status = read_lines(&in, function, counts);
  md_lines_close(&in);
  return status;
}

void cachegrind_machine(const machine *m, machine *out)
{
  *out = *m;
  out->n_levels = m->n_levels > 1 ? 2 : 1;
  out->level[out->n_levels - 1] = m->level[m->n_levels - 1];
  for (int k = 0; k < out->n_levels; k++) {
    machine_level *l = &out->level[k];
    int64_t sets = 1;
    while (2 * sets * l->ways * l->line <= l->bytes)
      sets *= 2;
    l->bytes = sets * l->ways * l->line;
  }
}

static md_status add(char **argv, int *n, const char *format, const char *option,
                     const machine_level *l, const char *text)
{
  const int length =
      l ? asprintf(&argv[*n], format, option, (long long)l->bytes, (int)l->ways, (int)l->line)
        : asprintf(&argv[*n], "%s%s", option, text);
  if (length < 0) argv[*n] = NULL;
  MD_REQUIRE(length >= 0, MD_ENOMEM, "out of memory for a command");
  ++*n;
  return MD_OK;
}

/* One thread, portable instructions, no second start; what valgrind says goes nowhere. */
static md_status run_child(char *const *argv, bool *found)
{
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int code;
  setenv("MINIMD_ISA", "portable", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  MD_REQUIRE(posix_spawn_file_actions_init(&actions) == 0, MD_ENOMEM, "out of memory for a child");
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
  fflush(NULL);
  const int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  *found = error != ENOENT;
  if (!*found) return MD_OK;
  MD_REQUIRE(!error, MD_EIO, "cannot start %s: %s", argv[0], strerror(error));
  while (waitpid(pid, &code, 0) < 0)
    MD_REQUIRE(errno == EINTR, MD_EIO, "lost %s: %s", argv[0], strerror(errno));
  MD_REQUIRE(WIFEXITED(code) && WEXITSTATUS(code) == 0, MD_EIO,
             "%s failed with exit code %d: see its message above, if it has one", argv[0],
             WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code));
  return MD_OK;
}

md_status cachegrind_run(const machine *caches, char *const *program, const char *function,
                         int64_t counts[CACHEGRIND_EVENT_COUNT], char **missing)
{
  char path[] = "/tmp/minimd-cachegrind-XXXXXX";
  int n_program = 0, n = 0;
  *missing = NULL;
  while (program[n_program])
    n_program++;
  const int fd = mkstemp(path);
  MD_REQUIRE(fd >= 0, MD_EIO, "cannot make a temporary file: %s", strerror(errno));
  close(fd);
  char **argv = calloc((size_t)n_program + 10, sizeof *argv);
  md_status status = argv ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for a command");
  const machine_level *d1 = &caches->level[0], *last = &caches->level[caches->n_levels - 1];
  if (!status) status = add(argv, &n, NULL, "valgrind", NULL, "");
  if (!status) status = add(argv, &n, NULL, "--log-file=/dev/null", NULL, "");
  if (!status) status = add(argv, &n, NULL, "--tool=cachegrind", NULL, "");
  if (!status) status = add(argv, &n, NULL, "--cache-sim=yes", NULL, "");
  if (!status) status = add(argv, &n, NULL, "--cachegrind-out-file=", NULL, path);
  if (!status) status = add(argv, &n, "%s%lld,%d,%d", "--D1=", d1, NULL);
  if (!status) status = add(argv, &n, "%s%lld,%d,%d", "--LL=", last, NULL);
  for (int k = 0; !status && k < n_program; k++)
    status = add(argv, &n, NULL, program[k], NULL, "");
  bool found = true;
  if (!status) status = run_child(argv, &found);
  if (!status && !found) {
    *missing = strdup("valgrind is not on the PATH (Debian package valgrind)");
    if (!*missing) status = MD_FAIL(MD_ENOMEM, "out of memory for a message");
  }
  if (!status && found) status = cachegrind_read(path, function, counts);
  unlink(path);
  for (int k = 0; argv && k < n; k++)
    free(argv[k]);
  free(argv);
  return status;
}
