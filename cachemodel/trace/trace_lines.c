/* cachemodel/trace/trace_lines.c - dense numbers for the lines that a trace touches: a hash table
 * of their groups with open addressing, so that memory is proportional to the distinct groups, 12
 * to 36 bytes each. */
#include "cachemodel/trace/trace_file.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t line;   /* of groups here and below: groups are numbered as if each were a line */
  uint32_t number; /* + 1; 0: empty */
} slot;

struct trace_lines {
  uint64_t line_bytes, group;
  slot *slots; /* [1 << bits] */
  int bits;
  uint64_t count;
  uint64_t recent; /* the line that was asked for last, and its number */
  uint32_t recent_number;
};

enum { FIRST_BITS = 12 };

md_status trace_lines_create(int64_t line_bytes, int64_t group, trace_lines **out)
{
  *out = NULL;
  MD_REQUIRE(line_bytes >= 1 && group >= 1, MD_EINVAL,
             "lines of %lld bytes in groups of %lld: expected at least 1", (long long)line_bytes,
             (long long)group);
  trace_lines *lines = calloc(1, sizeof *lines);
  if (lines) lines->slots = calloc((size_t)1 << FIRST_BITS, sizeof(slot));
  if (!lines || !lines->slots) {
    free(lines);
    return MD_FAIL(MD_ENOMEM, "out of memory for a trace");
  }
  lines->line_bytes = (uint64_t)line_bytes;
  lines->group = (uint64_t)group;
  lines->bits = FIRST_BITS;
  *out = lines;
  return MD_OK;
}

void trace_lines_destroy(trace_lines *lines)
{
  if (!lines) return;
  free(lines->slots);
  free(lines);
}

/* The slot of a line, or the empty slot where it belongs. */
static slot *find(slot *slots, int bits, uint64_t line)
{
  const uint64_t mask = ((uint64_t)1 << bits) - 1;
  uint64_t at = line * 0x9e3779b97f4a7c15u >> (64 - bits);
  while (slots[at].number && slots[at].line != line)
    at = (at + 1) & mask;
  return &slots[at];
}

static md_status grow(trace_lines *lines)
{
  slot *bigger = calloc((size_t)2 << lines->bits, sizeof *bigger);
  MD_REQUIRE(bigger, MD_ENOMEM, "out of memory for %llu lines of a trace",
             (unsigned long long)lines->count);
  for (uint64_t k = 0; k < (uint64_t)1 << lines->bits; k++)
    if (lines->slots[k].number)
      *find(bigger, lines->bits + 1, lines->slots[k].line) = lines->slots[k];
  free(lines->slots);
  lines->slots = bigger;
  lines->bits++;
  return MD_OK;
}

static md_status number_of(trace_lines *lines, uint64_t line, uint32_t *number)
{
  if (lines->recent_number && lines->recent == line) {
    *number = lines->recent_number - 1;
    return MD_OK;
  }
  slot *s = find(lines->slots, lines->bits, line);
  if (!s->number) {
    MD_REQUIRE(lines->count < (UINT32_MAX - 1) / lines->group, MD_ECAPACITY,
               "the trace touches more than %u distinct lines: use longer lines", UINT32_MAX - 1);
    *s = (slot){line, (uint32_t)++lines->count};
    if (lines->count > (uint64_t)3 << (lines->bits - 2)) {
      const uint32_t made = s->number;
      MD_TRY(grow(lines));
      *number = made - 1;
      return MD_OK;
    }
  }
  lines->recent = line;
  lines->recent_number = s->number;
  *number = s->number - 1;
  return MD_OK;
}

md_status trace_lines_of(trace_lines *lines, const trace_run *run, int64_t *from, int64_t room,
                         uint32_t *line, int64_t *n)
{
  *n = 0;
  const uint64_t size = lines->line_bytes;
  for (; *from < run->count; (*from)++) {
    const uint64_t address = run->address + (uint64_t)run->stride * (uint64_t)*from;
    const uint64_t first = address / size, last = (address + (uint64_t)run->bytes - 1) / size;
    if (last - first >= (uint64_t)(room - *n)) {
      MD_REQUIRE(*n > 0, MD_ECAPACITY, "one access of %d bytes touches more than %lld lines",
                 run->bytes, (long long)room);
      return MD_OK;
    }
    for (uint64_t l = first; l <= last; l++) {
      uint32_t group;
      MD_TRY(number_of(lines, l / lines->group, &group));
      line[(*n)++] = (uint32_t)(group * lines->group + l % lines->group);
    }
  }
  return MD_OK;
}
