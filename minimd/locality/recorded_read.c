/* minimd/locality/recorded_read.c - regions and capacities from text (recorded.h). */
#include "core/parse/parse.h"
#include "minimd/locality/recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool read_address(const char *text, uint64_t *out)
{
  const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char *digits = text + (hex ? 2 : 0);
  char *end;
  errno = 0;
  *out = strtoull(digits, &end, hex ? 16 : 10);
  return errno == 0 && end > digits && *end == '\0' &&
         strspn(digits, "0123456789abcdefABCDEF") == (size_t)(end - digits);
}

/* `name=start-end`; text is cut. */
static md_status read_region(char *text, recorded_region *out)
{
  char quoted[64];
  snprintf(quoted, sizeof quoted, "%.60s", text);
  char *start = strchr(text, '='), *end = start ? strchr(start, '-') : NULL;
  bool good = start && end && start > text;
  if (good) {
    *start++ = *end++ = '\0';
    good =
        read_address(start, &out->start) && read_address(end, &out->end) && out->start < out->end;
  }
  MD_REQUIRE(good, MD_EINVAL,
             "expected name=start-end with start < end, as x=0x1000-0x2000, not '%s'", quoted);
  MD_REQUIRE(strcmp(text, "all") != 0 && strcmp(text, "other") != 0, MD_EINVAL,
             "the name '%s' stands for what is in no region, or for the sum: expected another",
             text);
  out->name = strdup(text);
  MD_REQUIRE(out->name, MD_ENOMEM, "out of memory for regions");
  return MD_OK;
}

static md_status check_apart(const recorded_region *regions, int n)
{
  const recorded_region *last = &regions[n - 1];
  for (int k = 0; k < n - 1; k++) {
    MD_REQUIRE(strcmp(regions[k].name, last->name) != 0, MD_EINVAL, "two regions are called '%s'",
               last->name);
    MD_REQUIRE(regions[k].end <= last->start || last->end <= regions[k].start, MD_EINVAL,
               "regions '%s' and '%s' overlap", regions[k].name, last->name);
  }
  return MD_OK;
}

md_status recorded_regions_read(const char *text, recorded_region **out, int *n)
{
  char **items;
  int count;
  *out = NULL;
  *n = 0;
  MD_TRY(md_parse_list(text, "regions", &items, &count));
  recorded_region *regions = calloc((size_t)count, sizeof *regions);
  md_status status = regions ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for regions");
  for (int k = 0; !status && k < count; k++) {
    status = read_region(items[k], &regions[k]);
    if (!status) status = check_apart(regions, k + 1);
  }
  free(items);
  if (status) {
    recorded_regions_free(regions, regions ? count : 0);
    return status;
  }
  *out = regions;
  *n = count;
  return MD_OK;
}

void recorded_regions_free(recorded_region *regions, int n)
{
  for (int k = 0; k < n; k++)
    free(regions[k].name);
  free(regions);
}

md_status recorded_capacity(const char *text, int64_t line_bytes, int64_t *lines)
{
  static const char *const units[][2] = {{"B", "B"}, {"KB", "KiB"}, {"MB", "MiB"}, {"GB", "GiB"}};
  const size_t digits = strspn(text, "0123456789");
  if (text[digits] == '\0') return md_parse_int64(text, 1, INT64_MAX, lines);
  int unit = 0;
  while (unit < 4 && strcasecmp(text + digits, units[unit][0]) != 0 &&
         strcasecmp(text + digits, units[unit][1]) != 0)
    unit++;
  MD_REQUIRE(unit < 4 && digits > 0, MD_EINVAL,
             "expected lines, or bytes with a unit as 32KB, not '%.60s'", text);
  char number[32] = "";
  MD_REQUIRE(digits < sizeof number, MD_EINVAL, "'%.60s' is more than any cache holds", text);
  memcpy(number, text, digits);
  int64_t bytes;
  MD_TRY(md_parse_int64(number, 1, INT64_MAX >> (10 * unit), &bytes));
  bytes <<= 10 * unit;
  MD_REQUIRE(bytes % line_bytes == 0, MD_EINVAL,
             "'%.60s' is no whole number of lines of %lld bytes", text, (long long)line_bytes);
  *lines = bytes / line_bytes;
  return MD_OK;
}
