/* core/parse/text.h - large text files, line by line, and the numbers in them. */
#ifndef TEXT_H
#define TEXT_H

#include "core/md.h"
#include <stdio.h>

MD_BEGIN_C

/* A text file of any size, one line at a time. */
typedef struct {
  const char *path;
  FILE *file;
  int64_t bytes; /* of the whole file */
  int64_t line;  /* number of the last line given */
  char *block;   /* [most + 1]: text read; lines are given in place */
  size_t most;
  size_t begin, end;
  char **words; /* of the last line, see read_words */
  int room;
} md_text;
md_status md_text_open(const char *path, md_text *in);
void md_text_close(md_text *in);
void md_text_rewind(md_text *in);
/* The next line, without its end; valid until the next call.  NULL at the end of the file.
 * Errors: MD_EIO, MD_EINVAL (binary data, a line over 1 MB). */
md_status md_text_next(md_text *in, char **line);
/* Split the line at blanks into in->words. */
md_status md_text_split(md_text *in, char *line, int *n);
/* Fail with "file:line: " and a message. */
md_status md_text_fail(const md_text *in, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A number, named `what` in messages. */
md_status md_text_double(const md_text *in, const char *what, const char *word, double *out);
md_status md_text_int64(const md_text *in, const char *what, const char *word, int64_t min,
                        int64_t max, int64_t *out);
/* n items of at least line_bytes each must fit the file.  Checked before memory is taken. */
md_status md_text_fit(const md_text *in, int64_t n, int64_t line_bytes);

MD_END_C
#endif
