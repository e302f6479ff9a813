/* cachemodel/trace/trace_text.c - traces of other programs: lines `address,size,r|w`. */
#include "cachemodel/trace/trace_impl.h"
#include "core/parse/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An unsigned number up to the comma; *at moves behind it. */
static bool read_field(char **at, bool hexadecimal, uint64_t *value)
{
  const bool hex = hexadecimal && (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
  const char *digits = *at + (hex ? 2 : 0);
  if (digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")] != ',') return false;
  if (*digits == ',') return false;
  char *end;
  errno = 0;
  *value = strtoull(digits, &end, hex ? 16 : 10);
  *at = end + 1;
  return errno == 0;
}

static bool read_access(char *text, trace_run *run)
{
  uint64_t bytes;
  *run = (trace_run){.stream = TRACE_OTHER, .count = 1};
  if (!read_field(&text, true, &run->address) || !read_field(&text, false, &bytes)) return false;
  if (bytes > INT32_MAX) return false;
  run->bytes = (int32_t)bytes;
  if (strcmp(text, "r") != 0 && strcmp(text, "w") != 0) return false;
  run->op = *text == 'r' ? TRACE_READ : TRACE_WRITE;
  return trace_run_valid(run);
}

md_status trace_read_text(trace_reader *r, int64_t room, trace_run *runs, int64_t *n)
{
  *n = 0;
  while (*n < room) {
    bool got;
    const md_status status = md_line_read(r->stream, &r->line, &r->line_room, &got);
    r->line_number++;
    if (status)
      return MD_FAIL(status, "'%s', line %" PRId64 ": %s", r->path, r->line_number, md_message());
    MD_REQUIRE(got || r->count > 0, MD_EINVAL,
               "'%s' holds no accesses: expected lines `address,size,r|w`", r->path);
    if (!got) return MD_OK;
    size_t length = strlen(r->line);
    while (length > 0 && memchr(" \t\r", r->line[length - 1], 3))
      r->line[--length] = '\0';
    if (length == 0 || r->line[0] == '#') continue;
    MD_REQUIRE(read_access(r->line, &runs[*n]), MD_EINVAL,
               "'%s', line %" PRId64 ": expected `address,size,r|w`, not '%.60s'", r->path,
               r->line_number, r->line);
    (*n)++;
    r->count++;
  }
  return MD_OK;
}
