/* core/parse/parse.h - lines, numbers and words from untrusted text.
 *
 * Numbers are decimal, in the C locale, and take up the whole text: no spaces, no trailing junk
 * (`10x`, `0,84`), no hexadecimal, no NaN or infinity.  Each failure leaves *out unchanged and a
 * message that quotes the text and says what was expected; callers add the name of the setting. */
#ifndef PARSE_H
#define PARSE_H

#include "core/md.h"
#include <inttypes.h>
#include <stdio.h>

MD_BEGIN_C

/* The next line of a stream, without its end, at *line, which grows by realloc and has *room bytes;
 * *got is false behind the last.  Errors: MD_EINVAL (longer than MD_LINE_MOST; a NUL, which no text
 * has), MD_EIO, MD_ENOMEM. */
enum { MD_LINE_MOST = 1 << 20 };
md_status md_line_read(FILE *stream, char **line, size_t *room, bool *got);

/* A text file that is read line by line, and where its reader is: for messages `path:number:
 * ...`. */
typedef struct {
  FILE *stream;
  const char *path; /* kept */
  char *line;       /* the present one */
  size_t room;
  int64_t number; /* of the present line, from 1 */
} md_lines;

/* Errors: MD_EIO. */
md_status md_lines_open(md_lines *in, const char *path);
void md_lines_close(md_lines *in);
/* The next line; *got is false behind the last.  Errors: those of md_line_read, with the place. */
md_status md_lines_next(md_lines *in, bool *got);
/* The next line, which must be there.  expected: what it holds.  Errors: MD_EINVAL beside these. */
md_status md_lines_need(md_lines *in, const char *expected);
/* The present message with the place before it. */
static inline md_status md_lines_blame(const md_lines *in, md_status status)
{
  return MD_FAIL(status, "%s:%" PRId64 ": %s", in->path, in->number, md_message());
}

/* Whether a string of libconfig, from its first quote on, up to `end`, holds the escape of a NUL,
 * which would end it early. */
bool md_escapes_nul(const char *string, const char *end);

/* A finite number.  Errors: MD_EINVAL (no number, or beyond the range of a double). */
md_status md_parse_double(const char *text, double *out);

/* An integer in min..max.  `3.0` and `1e6` are not integers.  Errors: MD_EINVAL. */
md_status md_parse_int64(const char *text, int64_t min, int64_t max, int64_t *out);

/* An integer in min..max that may have an exponent: `1e6`, `2.5e3`; not `1.5e0`, `1e-3`, `10.`.
 * Exact, whatever its size.  Errors: MD_EINVAL. */
md_status md_parse_count(const char *text, int64_t min, int64_t max, int64_t *out);

/* The whole range of a seed.  Errors: MD_EINVAL. */
md_status md_parse_uint64(const char *text, uint64_t *out);

/* One of words[n].  Errors: MD_EINVAL (lists the words and names the nearest). */
md_status md_parse_word(const char *text, const char *const *words, int n, int *out);

/* The word a user probably meant: within an edit distance of a third of its length, or begun by the
 * text; NULL when none is that near. */
const char *md_nearest(const char *text, const char *const *words, int n);

/* Split `a,b,c` at every comma into n items behind one pointer; free(*items).  what names the list
 * in messages.  Errors: MD_EINVAL (an item is empty), MD_ENOMEM. */
md_status md_parse_list(const char *text, const char *what, char ***items, int *n);

MD_END_C
#endif
