/* minimd/system_lines.c - a large text file, line by line, and the numbers in it. */
#include "minimd/system_impl.h"
#include "core/files.h"
#include "core/parse.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 1 << 20 };

md_status lines_open(const char *path, line_reader *in)
{
  *in = (line_reader){.path = path};
  MD_TRY(md_file_read(path, &in->file));
  struct stat info;
  int error = fstat(fileno(in->file), &info) ? errno : 0;
  if (!error && !S_ISREG(info.st_mode)) error = S_ISDIR(info.st_mode) ? EISDIR : ESPIPE;
  if (error) {
    lines_close(in);
    return MD_FAIL(MD_EIO, "cannot read '%s': %s", path, strerror(error));
  }
  in->bytes = info.st_size;
  in->most = info.st_size < BLOCK ? (size_t)info.st_size + 1 : BLOCK; /* + 1: its end is seen */
  in->block = malloc(in->most + 1);
  if (!in->block) {
    lines_close(in);
    return MD_FAIL(MD_ENOMEM, "out of memory for '%s'", path);
  }
  return MD_OK;
}

void lines_close(line_reader *in)
{
  if (in->file) fclose(in->file);
  free(in->block);
  free(in->words);
  *in = (line_reader){0};
}

void lines_rewind(line_reader *in)
{
  rewind(in->file);
  in->begin = in->end = 0;
  in->line = 0;
}

md_status lines_fail(const line_reader *in, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return MD_FAIL(MD_EINVAL, "%s:%lld: %s", in->path, (long long)in->line, text);
}

md_status lines_next(line_reader *in, char **line)
{
  char *end = memchr(in->block + in->begin, '\n', in->end - in->begin);
  if (!end) {
    memmove(in->block, in->block + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    const size_t got = fread(in->block + in->end, 1, in->most - in->end, in->file);
    MD_REQUIRE(got || !ferror(in->file), MD_EIO, "cannot read '%s': %s", in->path, strerror(errno));
    end = memchr(in->block + in->end, '\n', got);
    in->end += got;
  }
  in->line++;
  if (!end && in->end == in->most) {
    if (in->most < BLOCK) return lines_fail(in, "the file changed while it was read");
    return lines_fail(in, "a line is longer than %d bytes", BLOCK);
  }
  *line = in->begin < in->end ? in->block + in->begin : NULL;
  if (!*line) return MD_OK;
  const size_t length = end ? (size_t)(end - *line) : in->end - in->begin;
  in->begin += length + (end != NULL);
  (*line)[length] = '\0';
  if (memchr(*line, '\0', length)) return lines_fail(in, "binary data: expected a text file");
  if (length && (*line)[length - 1] == '\r') (*line)[length - 1] = '\0';
  return MD_OK;
}

md_status lines_split(line_reader *in, char *line, int *n)
{
  static const char blanks[] = " \t";
  *n = 0;
  for (char *word = line + strspn(line, blanks); *word;) {
    if (*n == in->room) {
      const int room = in->room ? 2 * in->room : 16;
      char **more = realloc(in->words, (size_t)room * sizeof *more);
      MD_REQUIRE(more, MD_ENOMEM, "out of memory for the words of a line");
      in->words = more;
      in->room = room;
    }
    in->words[(*n)++] = word;
    word += strcspn(word, blanks);
    if (*word) *word++ = '\0';
    word += strspn(word, blanks);
  }
  return MD_OK;
}

md_status lines_double(const line_reader *in, const char *what, const char *word, double *out)
{
  return md_parse_double(word, out) ? lines_fail(in, "%s: %s", what, md_message()) : MD_OK;
}

md_status lines_charge(const line_reader *in, const char *word, double *out)
{
  MD_TRY(lines_double(in, "charge", word, out));
  if (fabs(*out) <= 1e6) return MD_OK;
  return lines_fail(in, "charge: expected -1e6..1e6, not %g", *out);
}

md_status lines_int64(const line_reader *in, const char *what, const char *word, int64_t min,
                      int64_t max, int64_t *out)
{
  return md_parse_int64(word, min, max, out) ? lines_fail(in, "%s: %s", what, md_message()) : MD_OK;
}

md_status lines_fit(const line_reader *in, int64_t n, int64_t line_bytes)
{
  if (n <= in->bytes / line_bytes) return MD_OK;
  return lines_fail(in, "%lld atoms cannot be in a file of %lld bytes", (long long)n,
                    (long long)in->bytes);
}

md_status lines_wrap(const line_reader *in, const md_box *box, double x[3], int32_t image[3])
{
  for (int d = 0; d < 3; d++) {
    const double edge = box->hi[d] - box->lo[d];
    double crossed = floor((x[d] - box->lo[d]) / edge);
    if (!(fabs(crossed + image[d]) <= 1 << 30))
      return lines_fail(in, "%c = %g is too far from the box, %g to %g", 'x' + d, x[d], box->lo[d],
                        box->hi[d]);
    double inside = crossed == 0 ? x[d] : x[d] - crossed * edge;
    if (inside < box->lo[d]) inside = box->lo[d]; /* by rounding */
    if (inside >= box->hi[d]) {
      inside = box->lo[d];
      crossed++;
    }
    x[d] = inside;
    image[d] += (int32_t)crossed;
  }
  return MD_OK;
}
