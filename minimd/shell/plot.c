/* minimd/shell/plot.c - see plot.h.  gnuplot writes the picture to its standard output, which is
 * the temporary file of an output: no name of a file is ever part of a command. */
#include "minimd/shell/plot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *terminal_of(const char *path)
{
  const char *dot = strrchr(path, '.');
  if (dot && strcasecmp(dot, ".png") == 0) return "pngcairo";
  if (dot && strcasecmp(dot, ".svg") == 0) return "svg";
  return NULL;
}

md_status plot_check(const char *path)
{
  MD_REQUIRE(terminal_of(path), MD_EINVAL,
             "--plot '%s': the picture's name must end in .png or .svg", path);
  char *copy = strdup(path);
  MD_REQUIRE(copy, MD_ENOMEM, "out of memory for a file name");
  const bool writable = access(dirname(copy), W_OK) == 0;
  free(copy);
  MD_REQUIRE(writable, MD_EIO, "cannot draw '%s': %s", path, strerror(errno));
  return MD_OK;
}

/* gnuplot without the user's own settings; its messages go nowhere. */
static int start(const int commands[2], int picture, pid_t *child)
{
  static char program[] = "gnuplot", defaults[] = "-d";
  char *const argv[] = {program, defaults, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t plain;
  sigemptyset(&plain);
  sigaddset(&plain, SIGPIPE);
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (!error) {
    posix_spawnattr_setsigdefault(&attributes, &plain);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_adddup2(&actions, commands[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    error = posix_spawnp(child, program, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static md_status open_pipe(plot *out)
{
  int commands[2];
  MD_REQUIRE(pipe2(commands, O_CLOEXEC) == 0, MD_EIO, "cannot start gnuplot: %s", strerror(errno));
  const int error = start(commands, fileno(out->picture.stream), &out->child);
  close(commands[0]);
  out->stream = error ? NULL : fdopen(commands[1], "w");
  if (!out->stream) close(commands[1]);
  MD_REQUIRE(error != ENOENT, MD_EIO,
             "cannot draw '%s': gnuplot is not installed (Debian package gnuplot-nox)",
             out->picture.path);
  MD_REQUIRE(!error, MD_EIO, "cannot start gnuplot: %s", strerror(error));
  if (out->stream) return MD_OK;
  (void)waitpid(out->child, NULL, 0);
  return MD_FAIL(MD_EIO, "cannot start gnuplot: %s", strerror(errno));
}

md_status plot_open(const char *path, int width, int height, plot *out)
{
  *out = (plot){0};
  MD_TRY(plot_check(path));
  MD_TRY(md_output_open(path, &out->picture));
  const md_status status = open_pipe(out);
  if (status) {
    md_output_discard(&out->picture);
    return status;
  }
  signal(SIGPIPE, SIG_IGN); /* gnuplot's early exit is reported by plot_close */
  fprintf(out->stream, "set terminal %s size %d,%d font 'sans,11' background rgb 'white'\n",
          terminal_of(path), width, height);
  return MD_OK;
}

void plot_quoted(const plot *to, const char *text)
{
  fputc('"', to->stream);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (isalnum(*c) || strchr(" .,:/_+-=", *c))
      fputc(*c, to->stream);
    else
      fprintf(to->stream, "\\%03o", *c < ' ' ? '?' : *c);
  }
  fputc('"', to->stream);
}

md_status plot_close(plot *picture)
{
  int code = -1;
  struct stat drawn;
  md_output *file = &picture->picture;
  fputs("\nunset output\n", picture->stream);
  const bool told = fclose(picture->stream) == 0;
  while (waitpid(picture->child, &code, 0) < 0 && errno == EINTR) {
  }
  const bool good = told && WIFEXITED(code) && WEXITSTATUS(code) == 0 &&
                    fstat(fileno(file->stream), &drawn) == 0 &&
                    (drawn.st_size > 0 || !S_ISREG(drawn.st_mode));
  if (good) return md_output_close(file);
  const md_status status =
      MD_FAIL(MD_EIO, "cannot draw '%s': gnuplot failed or the file cannot be written", file->path);
  md_output_discard(file);
  return status;
}
