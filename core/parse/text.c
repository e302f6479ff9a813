/* core/parse/text.c - see text.h. */
#include "core/parse/text.h"
#include "core/output/files.h"
#include "core/parse/parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 1 << 20 };

md_status md_text_open(const char *path, md_text *in)
{
  *in = (md_text){.path = path};
  MD_TRY(md_file_read(path, &in->file));
  struct stat info;
  int error = fstat(fileno(in->file), &info) ? errno : 0;
  if (!error && !S_ISREG(info.st_mode)) error = S_ISDIR(info.st_mode) ? EISDIR : ESPIPE;
  if (error) {
    md_text_close(in);
    return MD_FAIL(MD_EIO, "cannot read '%s': %s", path, strerror(error));
  }
  in->bytes = info.st_size;
  in->most = info.st_size < BLOCK ? (size_t)info.st_size + 1 : BLOCK; /* + 1: its end is seen */
  in->block = malloc(in->most + 1);
  if (!in->block) {
    md_text_close(in);
    return MD_FAIL(MD_ENOMEM, "out of memory for '%s'", path);
  }
  return MD_OK;
}

void md_text_close(md_text *in)
{
  if (in->file) fclose(in->file);
  free(in->block);
  free(in->words);
  *in = (md_text){0};
}

void md_text_rewind(md_text *in)
{
  rewind(in->file);
  in->begin = in->end = 0;
  in->line = 0;
}

md_status md_text_fail(const md_text *in, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return MD_FAIL(MD_EINVAL, "%s:%lld: %s", in->path, (long long)in->line, text);
}

md_status md_text_next(md_text *in, char **line)
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
    if (in->most < BLOCK) return md_text_fail(in, "the file changed while it was read");
    return md_text_fail(in, "a line is longer than %d bytes", BLOCK);
  }
  *line = in->begin < in->end ? in->block + in->begin : NULL;
  if (!*line) return MD_OK;
  const size_t length = end ? (size_t)(end - *line) : in->end - in->begin;
  in->begin += length + (end != NULL);
  (*line)[length] = '\0';
  if (memchr(*line, '\0', length)) return md_text_fail(in, "binary data: expected a text file");
  if (length && (*line)[length - 1] == '\r') (*line)[length - 1] = '\0';
  return MD_OK;
}

md_status md_text_split(md_text *in, char *line, int *n)
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

md_status md_text_double(const md_text *in, const char *what, const char *word, double *out)
{
  return md_parse_double(word, out) ? md_text_fail(in, "%s: %s", what, md_message()) : MD_OK;
}

md_status md_text_int64(const md_text *in, const char *what, const char *word, int64_t min,
                        int64_t max, int64_t *out)
{
  return md_parse_int64(word, min, max, out) ? md_text_fail(in, "%s: %s", what, md_message())
                                             : MD_OK;
}

md_status md_text_fit(const md_text *in, int64_t n, int64_t line_bytes)
{
  if (n <= in->bytes / line_bytes) return MD_OK;
  return md_text_fail(in, "%lld atoms cannot be in a file of %lld bytes", (long long)n,
                      (long long)in->bytes);
}
