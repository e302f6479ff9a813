/* minimd/plot.c - see plot.h.  The picture is drawn under a temporary name, so that a failure
 * leaves an older picture as it was. */
#include "minimd/plot.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
  MD_REQUIRE(!strpbrk(path, "'\n"), MD_EINVAL, "--plot '%s': the name holds a quote or line end",
             path);
  char *copy = strdup(path);
  MD_REQUIRE(copy, MD_ENOMEM, "out of memory for a file name");
  const bool writable = access(dirname(copy), W_OK) == 0;
  free(copy);
  MD_REQUIRE(writable, MD_EIO, "cannot draw '%s': %s", path, strerror(errno));
  return MD_OK;
}

md_status plot_open(const char *path, int width, int height, plot *out)
{
  *out = (plot){0};
  MD_TRY(plot_check(path));
  MD_REQUIRE(system("command -v gnuplot >/dev/null 2>&1") == 0, MD_EIO,
             "cannot draw '%s': gnuplot is not installed (Debian package gnuplot-nox)", path);
  out->path = strdup(path);
  MD_REQUIRE(out->path && asprintf(&out->temporary, "%s.tmp.%ld", path, (long)getpid()) >= 0,
             MD_ENOMEM, "out of memory for a file name");
  fflush(NULL); /* the child must not write our pending output again */
  out->stream = popen("gnuplot 2>/dev/null", "w");
  MD_REQUIRE(out->stream, MD_EIO, "cannot start gnuplot: %s", strerror(errno));
  signal(SIGPIPE, SIG_IGN); /* gnuplot's early exit is reported by plot_close */
  fprintf(out->stream,
          "set terminal %s size %d,%d font 'sans,11' background rgb 'white'\nset output '%s'\n",
          terminal_of(path), width, height, out->temporary);
  return MD_OK;
}

md_status plot_close(plot *picture)
{
  fputs("\nunset output\n", picture->stream);
  const int code = pclose(picture->stream);
  struct stat drawn;
  md_status status = MD_OK;
  const bool good = code != -1 && WIFEXITED(code) && WEXITSTATUS(code) == 0 &&
                    stat(picture->temporary, &drawn) == 0 && drawn.st_size > 0;
  if (!good || rename(picture->temporary, picture->path) != 0) {
    unlink(picture->temporary);
    status = MD_FAIL(MD_EIO, "cannot draw '%s': gnuplot failed or the file cannot be written",
                     picture->path);
  }
  free(picture->path);
  free(picture->temporary);
  *picture = (plot){0};
  return status;
}
