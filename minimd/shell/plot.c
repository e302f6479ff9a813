/* minimd/shell/plot.c - see plot.h.  gnuplot writes the picture to its standard output, which is
 * the temporary file of an output: no name of a file is ever part of a command. */
#include "minimd/shell/plot.h"
#include "minimd/shell/table.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What all pictures share: colours that the colour-blind tell apart (after Okabe and Ito, without
 * yellow), a dash pattern and a sign for each, keys beside the data. */
const char plot_style[] =
    "set linetype 1 lc rgb '#0072b2' lw 2 dt 1 pt 7\n"
    "set linetype 2 lc rgb '#d55e00' lw 2 dt 2 pt 5\n"
    "set linetype 3 lc rgb '#009e73' lw 2 dt 4 pt 9\n"
    "set linetype 4 lc rgb '#cc79a7' lw 2 dt 3 pt 11\n"
    "set linetype 5 lc rgb '#56b4e9' lw 2 dt 5 pt 13\n"
    "set linetype 6 lc rgb '#8c510a' lw 2 dt (12,3,3,3,3,3) pt 6\n"
    "set linetype 7 lc rgb '#000000' lw 2 dt (3,2) pt 4\n"
    "set linetype 8 lc rgb '#7a7a7a' lw 2 dt (16,4) pt 8\n"
    "set linetype 9 lc rgb '#5e3c99' lw 2 dt 6 pt 10\n"
    "set linetype cycle 9\n"
    "set palette defined (0 '#bcd9ee', 1 '#56a3d9', 2 '#0072b2', 3 '#08306b')\n"
    "set border 3 lc rgb '#444444'\nset tics nomirror\n"
    "set grid lc rgb '#dddddd' lt 1 dt 1 lw 0.7\n"
    "set style fill solid 0.8 noborder\n"
    "set key above center horizontal noenhanced\nset title noenhanced\n";

typedef enum { PNG, SVG, PDF, HTML, KINDS } picture_kind;
static const char *const endings[KINDS] = {".png", ".svg", ".pdf", ".html"};

/* KINDS: none of them. */
static picture_kind kind_of(const char *path)
{
  const char *dot = strrchr(path, '.');
  picture_kind kind = PNG;
  while (kind < KINDS && (!dot || strcasecmp(dot, endings[kind]) != 0))
    kind++;
  return kind;
}

bool plot_is_page(const char *path)
{
  return path && kind_of(path) == HTML;
}

md_status plot_check(const char *path)
{
  MD_REQUIRE(kind_of(path) != KINDS, MD_EINVAL,
             "--plot '%s': the picture's name must end in .png, .svg, .pdf or .html", path);
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
  const int error =
      start(commands, fileno(out->drawn ? out->drawn : out->picture.stream), &out->child);
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
  const picture_kind kind = kind_of(path);
  if (kind == HTML) out->drawn = tmpfile();
  md_status status = MD_OK;
  if (kind == HTML && !out->drawn)
    status = MD_FAIL(MD_EIO, "cannot make a temporary file: %s", strerror(errno));
  if (!status) status = open_pipe(out);
  if (status) {
    if (out->drawn) fclose(out->drawn);
    md_output_discard(&out->picture);
    return status;
  }
  signal(SIGPIPE, SIG_IGN); /* gnuplot's early exit is reported by plot_close */
  enum { DOTS_PER_INCH = 96 };
  if (kind == PDF)
    fprintf(out->stream,
            "set terminal pdfcairo size %.3fin,%.3fin font 'sans,8' background 'white'\n",
            (double)width / DOTS_PER_INCH, (double)height / DOTS_PER_INCH);
  else
    fprintf(out->stream, "set terminal %s size %d,%d font 'sans,11' background rgb 'white'\n",
            kind == PNG ? "pngcairo" : "svg", width, height);
  fputs(plot_style, out->stream);
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

void plot_title(const plot *to, const char *format, ...)
{
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fputs(" title ", to->stream);
  plot_quoted(to, text);
  fputs(" noenhanced\n", to->stream);
}

/* The picture whose page is not written yet. */
static plot pending;

/* The picture, from its first tag on, and the tables beside it. */
static bool write_page(plot *picture)
{
  FILE *page = picture->picture.stream;
  char *line = NULL;
  size_t room = 0;
  bool begun = false;
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<title>minimd</title>\n<style>\n"
        "body { font-family: sans-serif; display: flex; flex-wrap: wrap; gap: 2em; margin: 1em }\n"
        "figure { margin: 0 } table { border-collapse: collapse; font-size: 80% }\n"
        "div { max-height: 95vh; overflow: auto }\n"
        "th { position: sticky; top: 0; background: #fff; text-align: left }\n"
        "td, th { padding: 0.1em 0.6em; border-bottom: 1px solid #ddd }\n"
        "td.n { text-align: right; font-variant-numeric: tabular-nums }\n"
        "</style>\n</head>\n<body>\n<figure>\n",
        page);
  rewind(picture->drawn);
  while (getline(&line, &room, picture->drawn) >= 0) {
    begun = begun || strncmp(line, "<svg", 4) == 0;
    if (begun) fputs(line, page);
  }
  free(line);
  fputs("</figure>\n<div>\n", page);
  table_write_page(page);
  fputs("</div>\n</body>\n</html>\n", page);
  return begun && !ferror(page);
}

static md_status give_up(plot *picture)
{
  const md_status status =
      MD_FAIL(MD_EIO, "cannot draw '%s': gnuplot failed or the file cannot be written",
              picture->picture.path);
  if (picture->drawn) fclose(picture->drawn);
  picture->drawn = NULL;
  md_output_discard(&picture->picture);
  return status;
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
  FILE *to = picture->drawn ? picture->drawn : file->stream;
  const bool good = told && WIFEXITED(code) && WEXITSTATUS(code) == 0 &&
                    fstat(fileno(to), &drawn) == 0 &&
                    (drawn.st_size > 0 || !S_ISREG(drawn.st_mode));
  if (good && picture->drawn) {
    (void)plot_finish(MD_EINVAL); /* a page that nobody asked for */
    pending = *picture;
    return MD_OK;
  }
  if (good) return md_output_close(file);
  return give_up(picture);
}

md_status plot_finish(md_status status)
{
  plot *page = &pending;
  if (!page->drawn) return status;
  if (!status && !write_page(page)) return give_up(page);
  fclose(page->drawn);
  page->drawn = NULL;
  if (!status) return md_output_close(&page->picture);
  md_output_discard(&page->picture);
  return status;
}
