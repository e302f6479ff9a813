/* minimd/counters/valgrind.c - see valgrind.h. */
#include "minimd/counters/valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static md_status start(char *const *argv, int out, pid_t *pid, bool *found)
{
  posix_spawn_file_actions_t actions;
  setenv("MINIMD_ISA", "portable", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1); /* no second start */
  MD_REQUIRE(posix_spawn_file_actions_init(&actions) == 0, MD_ENOMEM, "out of memory for a child");
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  fflush(NULL);
  const int error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  *found = error != ENOENT;
  MD_REQUIRE(!error || !*found, MD_EIO, "cannot start %s: %s", argv[0], strerror(error));
  return MD_OK;
}

static md_status wait_for(pid_t pid)
{
  int code;
  while (waitpid(pid, &code, 0) < 0)
    MD_REQUIRE(errno == EINTR, MD_EIO, "lost valgrind: %s", strerror(errno));
  MD_REQUIRE(WIFEXITED(code) && WEXITSTATUS(code) == 0, MD_EIO,
             "valgrind failed with exit code %d: see its message above, if it has one",
             WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code));
  return MD_OK;
}

/* A tool writes each line by itself: a reader that waits for the pipe would be woken by each.
 * After this time, in ns, a pipe has some thousand lines and is not full. */
enum { LOOK_AGAIN = 1000000 };

static ssize_t read_later(void *pipe, char *to, size_t bytes)
{
  ssize_t got;
  nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN}, NULL);
  while ((got = read(*(const int *)pipe, to, bytes)) < 0 && errno == EINTR)
    ;
  return got;
}

static int close_pipe(void *pipe)
{
  return close(*(const int *)pipe);
}

/* Lines until the child closes its end. */
static md_status take_lines(int from, valgrind_line *take, void *to)
{
  char piece[1 << 16]; /* as much as a pipe holds */
  FILE *in =
      fopencookie(&from, "r", (cookie_io_functions_t){.read = read_later, .close = close_pipe});
  if (!in) close(from);
  MD_REQUIRE(in, MD_ENOMEM, "out of memory for a pipe");
  setvbuf(in, piece, _IOFBF, sizeof piece);
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  md_status status = MD_OK;
  while (!status && (length = getline(&line, &room, in)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = '\0';
    if (take) status = take(to, line);
  }
  free(line);
  fclose(in);
  return status;
}

static md_status run_child(char *const *argv, valgrind_line *take, void *to, char **missing)
{
  int ends[2];
  pid_t pid = 0;
  bool found = false;
  MD_REQUIRE(pipe2(ends, O_CLOEXEC) == 0, MD_EIO, "cannot make a pipe: %s", strerror(errno));
  md_status status = start(argv, ends[1], &pid, &found);
  close(ends[1]);
  if (status || !found) close(ends[0]);
  if (!status && !found) {
    *missing = strdup("valgrind is not on the PATH (Debian package valgrind)");
    MD_REQUIRE(*missing, MD_ENOMEM, "out of memory for a message");
  }
  if (status || !found) return status;
  status = take_lines(ends[0], take, to);
  if (status) kill(pid, SIGTERM);
  const md_status ended = wait_for(pid);
  return status ? status : ended;
}

md_status valgrind_run(const char *const *options, char *const *program, valgrind_line *take,
                       void *to, char **missing)
{
  int n = 0, words = 1;
  *missing = NULL;
  for (int k = 0; options[k]; k++)
    words++;
  for (int k = 0; program[k]; k++)
    words++;
  char **argv = calloc((size_t)words + 1, sizeof *argv);
  MD_REQUIRE(argv, MD_ENOMEM, "out of memory for a command");
  argv[n++] = (char *)"valgrind";
  for (int k = 0; options[k]; k++)
    argv[n++] = (char *)options[k];
  for (int k = 0; program[k]; k++)
    argv[n++] = program[k];
  const md_status status = run_child(argv, take, to, missing);
  free(argv);
  return status;
}
