/* cachemodel/trace/trace_text.c - traces of other programs, line by line; what a line says:
 * trace_formats.c. */
#include "cachemodel/trace/trace_impl.h"
#include "core/parse/parse.h"

#include <string.h>

#define WORD(name, word, ...) word,
const char *const trace_format_words[TRACE_FORMAT_COUNT] = {TRACE_FORMATS(WORD)};
#undef WORD
#define EXPECTED(name, word, expected) expected,
static const char *const expected_words[TRACE_FORMAT_COUNT] = {TRACE_FORMATS(EXPECTED)};
#undef EXPECTED

/* The first line that says something: the kind, where nobody says, and the header of a CSV file.
 * *header: it holds no access. */
static md_status begin(trace_reader *r, bool *header)
{
  trace_format *format = &r->how.format;
  if (*format == TRACE_FORMAT_AUTO) *format = trace_detect(r->line);
  *header = *format == TRACE_FORMAT_CSV;
  MD_REQUIRE(!*header || trace_read_header(r->line, &r->columns), MD_EINVAL,
             "'%s', line %" PRId64 ": expected a header with one column `address` and at most one "
             "each of `size` and `op`, not '%.60s'",
             r->path, r->line_number, r->line);
  return MD_OK;
}

/* The next line's accesses into r->found; *got is false at the end of the file. */
static md_status next_line(trace_reader *r, bool *got)
{
  const md_status status = md_line_read(r->stream, &r->line, &r->line_room, got);
  r->line_number++;
  r->found.n = r->next_found = 0;
  if (status)
    return MD_FAIL(status, "'%s', line %" PRId64 ": %s", r->path, r->line_number, md_message());
  MD_REQUIRE(
      *got || r->count > 0, MD_EINVAL, "'%s' holds no accesses: expected lines %s", r->path,
      expected_words[r->how.format == TRACE_FORMAT_AUTO ? TRACE_FORMAT_TEXT : r->how.format]);
  if (!*got) return MD_OK;
  size_t length = strlen(r->line);
  while (length > 0 && memchr(" \t\r", r->line[length - 1], 3))
    r->line[--length] = '\0';
  if (length == 0 || r->line[0] == '#') return MD_OK;
  bool header = false;
  if (!r->begun) MD_TRY(begin(r, &header));
  r->begun = true;
  if (header) return MD_OK;
  char quoted[64];
  snprintf(quoted, sizeof quoted, "%.60s", r->line);
  MD_REQUIRE(trace_parse(r, r->line, &r->found), MD_EINVAL,
             "'%s', line %" PRId64 ": expected %s, not '%s'", r->path, r->line_number,
             expected_words[r->how.format], quoted);
  r->count += r->found.n;
  return MD_OK;
}

md_status trace_read_text(trace_reader *r, int64_t room, trace_run *runs, int64_t *n)
{
  *n = 0;
  bool got = true;
  while (*n < room) {
    if (r->next_found < r->found.n) {
      runs[(*n)++] = r->found.run[r->next_found++];
      continue;
    }
    MD_TRY(next_line(r, &got));
    if (!got) break;
  }
  return MD_OK;
}
