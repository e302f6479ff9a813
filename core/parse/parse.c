/* core/parse/parse.c - see parse.h. */
#include "core/parse/parse.h"
#include "core/output/files.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quoted text is cut here, so that a message stays one line that can be read. */
#define QUOTED "'%.60s'"

/* Room for one more byte, and a NUL behind it. */
static md_status reserve_byte(char **line, size_t *room, size_t length)
{
  MD_REQUIRE(length < MD_LINE_MOST, MD_EINVAL, "a line is longer than %d bytes", MD_LINE_MOST);
  if (length + 2 <= *room) return MD_OK;
  const size_t wanted = *room ? 2 * *room : 128;
  char *more = realloc(*line, wanted);
  MD_REQUIRE(more, MD_ENOMEM, "out of memory for a line");
  *line = more;
  *room = wanted;
  return MD_OK;
}

md_status md_line_read(FILE *stream, char **line, size_t *room, bool *got)
{
  size_t length = 0;
  int c;
  *got = false;
  MD_TRY(reserve_byte(line, room, 0));
  while ((c = getc_unlocked(stream)) != EOF && c != '\n') {
    MD_TRY(reserve_byte(line, room, length));
    MD_REQUIRE(c, MD_EINVAL, "binary data: expected a text file");
    (*line)[length++] = (char)c;
  }
  MD_REQUIRE(!ferror(stream), MD_EIO, "cannot be read: %s", strerror(errno));
  *got = c == '\n' || length > 0;
  if (length > 0 && (*line)[length - 1] == '\r') length--;
  (*line)[length] = '\0';
  return MD_OK;
}

md_status md_lines_open(md_lines *in, const char *path)
{
  *in = (md_lines){.path = path};
  return md_file_read(path, &in->stream);
}

void md_lines_close(md_lines *in)
{
  free(in->line);
  if (in->stream) fclose(in->stream);
  *in = (md_lines){0};
}

md_status md_lines_next(md_lines *in, bool *got)
{
  in->number++;
  const md_status status = md_line_read(in->stream, &in->line, &in->room, got);
  return status ? md_lines_blame(in, status) : MD_OK;
}

md_status md_lines_need(md_lines *in, const char *expected)
{
  bool got;
  MD_TRY(md_lines_next(in, &got));
  MD_REQUIRE(got, MD_EINVAL, "%s:%" PRId64 ": the file ends, expected %s", in->path, in->number,
             expected);
  return MD_OK;
}

bool md_escapes_nul(const char *string, const char *end)
{
  for (; string + 3 < end; string += *string == '\\' ? 2 : 1)
    if (strncmp(string, "\\x00", 4) == 0) return true;
  return false;
}

md_status md_parse_double(const char *text, double *out)
{
  /* strtod would skip spaces and accept hexadecimal, nan and inf. */
  const size_t length = strlen(text);
  const bool decimal = length > 0 && strspn(text, "0123456789+-.eE") == length;
  char *end = NULL;
  errno = 0;
  const double value = decimal ? strtod(text, &end) : 0;
  MD_REQUIRE(decimal && end == text + length, MD_EINVAL, "expected a finite number, not " QUOTED,
             text);
  MD_REQUIRE(errno != ERANGE && isfinite(value), MD_EINVAL,
             "expected a number within the range of a double, not " QUOTED, text);
  *out = value;
  return MD_OK;
}

/* An optional sign, then digits only. */
static bool is_integer(const char *text)
{
  const char *digits = text + (*text == '+' || *text == '-');
  return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

md_status md_parse_int64(const char *text, int64_t min, int64_t max, int64_t *out)
{
  errno = 0;
  const bool integer = is_integer(text);
  const int64_t value = integer ? strtoll(text, NULL, 10) : 0;
  if (!integer || errno == ERANGE || value < min || value > max) {
    if (min == INT64_MIN && max == INT64_MAX)
      return MD_FAIL(MD_EINVAL, "expected an integer, not " QUOTED, text);
    if (max == INT64_MAX)
      return MD_FAIL(MD_EINVAL, "expected an integer >= %" PRId64 ", not " QUOTED, min, text);
    return MD_FAIL(MD_EINVAL, "expected an integer in %" PRId64 "..%" PRId64 ", not " QUOTED, min,
                   max, text);
  }
  *out = value;
  return MD_OK;
}

/* Append a digit; false when the value does not fit. */
static bool push_digit(int64_t *value, int digit)
{
  return !__builtin_mul_overflow(*value, 10, value) &&
         !__builtin_add_overflow(*value, digit, value);
}

/* digits[.digits]e[+]digits, the value of which is an integer that fits.  Digits behind the point
 * take one each from the exponent; zeros at their end take none. */
static bool scale(const char *text, int64_t *value)
{
  const size_t whole = strspn(text, "0123456789");
  const char *fraction = text + whole + (text[whole] == '.');
  size_t places = text[whole] == '.' ? strspn(fraction, "0123456789") : 0;
  const char *power = fraction + places;
  if (whole == 0 || (text[whole] == '.' && places == 0) || (*power != 'e' && *power != 'E'))
    return false;
  power += power[1] == '+' ? 2 : 1;
  if (!is_integer(power) || *power == '-' || *power == '+') return false;
  while (places > 0 && fraction[places - 1] == '0')
    places--;
  bool fits = true;
  *value = 0;
  for (size_t k = 0; k < whole; k++)
    fits = fits && push_digit(value, text[k] - '0');
  for (size_t k = 0; k < places; k++)
    fits = fits && push_digit(value, fraction[k] - '0');
  errno = 0;
  const unsigned long long tens = strtoull(power, NULL, 10);
  if (!fits || tens < places) return false;
  for (unsigned long long k = places; k < tens && fits && *value > 0; k++)
    fits = push_digit(value, 0);
  return fits;
}

md_status md_parse_count(const char *text, int64_t min, int64_t max, int64_t *out)
{
  int64_t value;
  if (is_integer(text) || !scale(text, &value) || value < min || value > max)
    return md_parse_int64(text, min, max, out);
  *out = value;
  return MD_OK;
}

md_status md_parse_uint64(const char *text, uint64_t *out)
{
  errno = 0;
  const bool integer = is_integer(text) && *text != '-';
  const uint64_t value = integer ? strtoull(text, NULL, 10) : 0;
  MD_REQUIRE(integer && errno != ERANGE, MD_EINVAL,
             "expected an integer in 0..%" PRIu64 ", not " QUOTED, UINT64_MAX, text);
  *out = value;
  return MD_OK;
}

static void append(char *text, size_t size, const char *more)
{
  const size_t used = strlen(text);
  strncat(text, more, size - used - 1);
}

md_status md_parse_word(const char *text, const char *const *words, int n, int *out)
{
  const int k = md_word_index(text, words, n);
  if (k >= 0) {
    *out = k;
    return MD_OK;
  }
  char all[1024] = "";
  for (int w = 0; w < n; w++) {
    append(all, sizeof all, w ? ", " : "");
    append(all, sizeof all, words[w]);
  }
  const char *nearest = md_nearest(text, words, n);
  return MD_FAIL(MD_EINVAL, "expected one of %s, not " QUOTED "%s%s%s", all, text,
                 nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Levenshtein's distance; row holds strlen(b) + 1 entries. */
static size_t edit_distance(const char *a, const char *b, size_t *row)
{
  const size_t n = strlen(b);
  for (size_t j = 0; j <= n; j++)
    row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < n; j++) {
      size_t best = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      if (best > row[j] + 1) best = row[j] + 1;
      if (best > diagonal + 1) best = diagonal + 1;
      row[j + 1] = best;
    }
  }
  return row[n];
}

const char *md_nearest(const char *text, const char *const *words, int n)
{
  const size_t length = strlen(text);
  const char *nearest = NULL;
  size_t least = SIZE_MAX;
  for (int k = 0; k < n; k++) {
    const size_t size = strlen(words[k]);
    const size_t allowed = (size + 2) / 3;
    const bool begun = length >= 2 && strncmp(text, words[k], length) == 0;
    if (!begun && (length > size + allowed || size > length + allowed)) continue;
    size_t *row = malloc((size + 1) * sizeof *row);
    if (!row) return NULL;
    const size_t distance = edit_distance(text, words[k], row);
    free(row);
    if ((begun || distance <= allowed) && distance < least) {
      least = distance;
      nearest = words[k];
    }
  }
  return nearest;
}

md_status md_parse_list(const char *text, const char *what, char ***items, int *n)
{
  size_t count = 1;
  for (const char *c = text; *c; c++)
    count += *c == ',';
  const size_t length = strlen(text);
  char **list = count < INT32_MAX ? malloc(count * sizeof *list + length + 1) : NULL;
  MD_REQUIRE(list, MD_ENOMEM, "out of memory for a list of %zu items", count);
  char *word = (char *)(list + count);
  memcpy(word, text, length + 1);
  for (size_t k = 0; k < count; k++) {
    list[k] = word;
    word += strcspn(word, ",");
    *word++ = '\0';
    if (!*list[k]) {
      free(list);
      return MD_FAIL(MD_EINVAL, "expected %s separated by commas, not " QUOTED, what, text);
    }
  }
  *items = list;
  *n = (int)count;
  return MD_OK;
}
