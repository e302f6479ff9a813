/* minimd/shell/plot.h - pictures by gnuplot, PNG or SVG by the file's ending. */
#ifndef PLOT_H
#define PLOT_H

#include "core/output/output.h"

#include <sys/types.h>

MD_BEGIN_C

typedef struct {
  FILE *stream; /* gnuplot commands go here, after the terminal is set */
  md_output picture;
  pid_t child;
} plot;

/* Check a picture's name before the work starts.  Errors: MD_EINVAL (neither .png nor .svg), MD_EIO
 * (its folder cannot be written). */
md_status plot_check(const char *path);
/* Start gnuplot for a picture of width x height pixels.  Errors: MD_EINVAL, MD_EIO (no gnuplot:
 * names the package). */
md_status plot_open(const char *path, int width, int height, plot *out);
/* Any text as a string of gnuplot's, signs as octal numbers; line ends and the like become '?'.
 * Every text that a user may have written goes through here: gnuplot runs what stands between back
 * quotes, in strings too.  The title, label or key it is for must be set `noenhanced`. */
void plot_quoted(const plot *to, const char *text);
/* Wait for gnuplot and move the picture to its name.  Errors: MD_EIO (what gnuplot could not do).
 */
md_status plot_close(plot *picture);

MD_END_C
#endif
