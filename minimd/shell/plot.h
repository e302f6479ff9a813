/* minimd/shell/plot.h - pictures by gnuplot: PNG, SVG or PDF by the file's ending, or .html, one
 * file with the picture and the command's table beside it. */
#ifndef PLOT_H
#define PLOT_H

#include "core/output/output.h"

#include <sys/types.h>

MD_BEGIN_C

typedef struct {
  FILE *stream; /* gnuplot commands go here, after the terminal is set */
  md_output picture;
  FILE *drawn; /* what gnuplot writes, where it becomes part of a page; else NULL */
  pid_t child;
} plot;

/* The look of every picture, as commands of gnuplot; `docs --form style` prints it for the studies'
 * scripts (bench/style.gp). */
extern const char plot_style[];

/* Check a picture's name before the work starts.  Errors: MD_EINVAL (another ending), MD_EIO
 * (its folder cannot be written). */
md_status plot_check(const char *path);
/* Start gnuplot for a picture of width x height pixels.  Errors: MD_EINVAL, MD_EIO (no gnuplot:
 * names the package). */
md_status plot_open(const char *path, int width, int height, plot *out);
/* Any text as a string of gnuplot's, signs as octal numbers; line ends and the like become '?'.
 * Every text that a user may have written goes through here: gnuplot runs what stands between back
 * quotes, in strings too.  The title, label or key it is for must be set `noenhanced`. */
void plot_quoted(const plot *to, const char *text);
/* Write ` title "text"`, behind `set` or `set multiplot ...`: what is shown, of which system, its
 * size, precision and machine.  At most 511 bytes are shown. */
void plot_title(const plot *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether a name, or NULL, is that of a page. */
bool plot_is_page(const char *path);
/* Wait for gnuplot and move the picture to its name; a page waits for its tables.  Errors: MD_EIO
 * (what gnuplot could not do). */
md_status plot_close(plot *picture);
/* The command has ended with this status: write the page of its picture, if it has one, or leave
 * nothing behind.  Returns the status, or why the page could not be written. */
md_status plot_finish(md_status status);

MD_END_C
#endif
