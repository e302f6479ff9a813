/* minimd/locality/profile_csv.c - see profile_csv.h. */
#include "minimd/locality/profile_csv.h"
#include "core/parse/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line of the table. */
typedef struct {
  char **field; /* [n], into text */
  int n, room;
  char *text;
} record;

static void record_free(record *r)
{
  free(r->field);
  free(r->text);
  *r = (record){0};
}

static md_status add_field(record *r, char *field)
{
  if (r->n == r->room) {
    const int room = r->room ? 2 * r->room : 64;
    char **more = realloc(r->field, (size_t)room * sizeof *more);
    MD_REQUIRE(more, MD_ENOMEM, "out of memory for a profile");
    r->field = more;
    r->room = room;
  }
  r->field[r->n++] = field;
  return MD_OK;
}

/* Bytes up to the end of the record that begins here; quotes may hold line ends. */
static size_t record_length(const char *at)
{
  bool quoted = false;
  const char *c = at;
  for (; *c && (quoted || *c != '\n'); c++)
    if (*c == '"') quoted = !quoted;
  return (size_t)(c - at);
}

/* The record at *at, which moves behind its line end. */
static md_status read_record(const char **at, record *r)
{
  const size_t length = record_length(*at);
  char *to = realloc(r->text, length + 1);
  MD_REQUIRE(to, MD_ENOMEM, "out of memory for a profile");
  r->text = to;
  r->n = 0;
  MD_TRY(add_field(r, to));
  bool quoted = false;
  const char *c = *at, *const end = *at + length;
  for (; c < end; c++) {
    if (*c == '"' && quoted && c[1] == '"') {
      *to++ = *c++;
    } else if (*c == '"') {
      quoted = !quoted;
    } else if (*c == ',' && !quoted) {
      *to++ = '\0';
      MD_TRY(add_field(r, to));
    } else if (quoted || *c != '\r') {
      *to++ = *c;
    }
  }
  *to = '\0';
  MD_REQUIRE(*end == '\n', MD_EIO, "the profiler's table ends within a line: it is cut off");
  *at = end + 1;
  return MD_OK;
}

static int find_field(const record *r, const char *name)
{
  for (int k = 0; k < r->n; k++)
    if (strcmp(r->field[k], name) == 0) return k;
  return -1;
}

static const char *field_of(const record *r, int k)
{
  return k >= 0 && k < r->n ? r->field[k] : "";
}

/* A number with or without separators between its thousands; NaN for anything else. */
static double number_of(const char *text)
{
  char digits[64];
  size_t n = 0;
  const char *const whole = text + strcspn(text, ".eE");
  for (const char *c = text; *c; c++) {
    if (*c == ',' && c < whole) {
      if (n == 0 || strspn(c + 1, "0123456789") != 3) return NAN;
      continue;
    }
    if (*c == '%' && c[1] == '\0') break; /* nvprof's 57.12% */
    if (n + 1 == sizeof digits) return NAN;
    digits[n++] = *c;
  }
  digits[n] = '\0';
  double value;
  return md_parse_double(digits, &value) ? NAN : value;
}

/* What one of a unit is in nanoseconds, bytes or counts: Mbyte 1e6, us 1e3, % 1. */
static double unit_of(const char *unit)
{
  static const struct {
    const char *word;
    double factor;
  } times[] = {{"nsecond", 1}, {"usecond", 1e3}, {"msecond", 1e6}, {"second", 1e9},
               {"ns", 1},      {"us", 1e3},      {"ms", 1e6},      {"s", 1e9}};
  static const char *const counts[] = {"byte", "sector", "cycle", "inst", "request", "warp"};
  static const char prefixes[] = "KMGT";
  for (size_t k = 0; k < sizeof times / sizeof *times; k++)
    if (strcmp(unit, times[k].word) == 0) return times[k].factor;
  const char *const prefix = *unit ? strchr(prefixes, *unit) : NULL;
  for (size_t k = 0; prefix && k < sizeof counts / sizeof *counts; k++)
    if (strcmp(unit + 1, counts[k]) == 0) return pow(1000, (double)(prefix - prefixes) + 1);
  return 1;
}

/* How the header says the lines are to be read. */
typedef enum { NO_TABLE, BY_LAUNCH, BY_METRIC, SUMMARY } form;

static form form_of(const record *header)
{
  const bool metrics = find_field(header, "Metric Name") >= 0;
  if (find_field(header, "ID") >= 0 && find_field(header, "Kernel Name") >= 0) {
    if (!metrics) return BY_LAUNCH;
    return find_field(header, "Metric Value") >= 0 ? BY_METRIC : NO_TABLE;
  }
  return metrics && find_field(header, "Avg") >= 0 ? SUMMARY : NO_TABLE;
}

typedef struct {
  const char *const *metrics;
  form how;
  record header, units, line;
  char *launch; /* the profiler's number of the one before */
  int64_t room; /* of out->value, in launches */
  profile_values *out;
} reader;

/* The launch that a line belongs to becomes the last one. */
static md_status count_launch(reader *r, const char *id)
{
  profile_values *out = r->out;
  if (r->launch && strcmp(r->launch, id) == 0) return MD_OK;
  free(r->launch);
  r->launch = strdup(id);
  MD_REQUIRE(r->launch, MD_ENOMEM, "out of memory for a profile");
  if (out->launches == r->room) {
    const int64_t room = r->room ? 2 * r->room : 16;
    double *more = realloc(out->value, (size_t)(room * out->n) * sizeof *more);
    MD_REQUIRE(more, MD_ENOMEM, "out of memory for a profile");
    out->value = more;
    r->room = room;
  }
  for (int k = 0; k < out->n; k++)
    out->value[out->launches * out->n + k] = NAN;
  out->launches++;
  return MD_OK;
}

static void set_value(reader *r, const char *metric, const char *unit, const char *number)
{
  const int k = md_word_index(metric, r->metrics, r->out->n);
  if (k >= 0)
    r->out->value[(r->out->launches - 1) * r->out->n + k] = unit_of(unit) * number_of(number);
}

static md_status read_line(reader *r)
{
  const record *header = &r->header, *line = &r->line;
  MD_REQUIRE(line->n == header->n, MD_EIO,
             "a line of the profiler's table has %d fields, its header %d: it is cut off", line->n,
             header->n);
  const char *id = r->how == SUMMARY ? "" : field_of(line, find_field(header, "ID"));
  MD_TRY(count_launch(r, id));
  if (r->how == BY_LAUNCH) {
    for (int k = 0; k < line->n; k++)
      set_value(r, header->field[k], field_of(&r->units, k), line->field[k]);
  } else {
    const char *value = r->how == SUMMARY ? "Avg" : "Metric Value";
    set_value(r, field_of(line, find_field(header, "Metric Name")),
              field_of(line, find_field(header, "Metric Unit")),
              field_of(line, find_field(header, value)));
  }
  return MD_OK;
}

static md_status read_table(reader *r, const char *text)
{
  while (*text) {
    if (*text != '"') {
      text += strcspn(text, "\n");
      text += *text != '\0';
      continue;
    }
    MD_TRY(read_record(&text, &r->line));
    const form header = form_of(&r->line);
    record *const to = header != NO_TABLE ? &r->header : &r->units;
    const bool units =
        r->how == BY_LAUNCH && *field_of(&r->line, find_field(&r->header, "ID")) == '\0';
    if (header != NO_TABLE || units) {
      const record t = *to;
      *to = r->line;
      r->line = t;
      if (header != NO_TABLE) r->how = header;
    } else if (r->how != NO_TABLE) {
      MD_TRY(read_line(r));
    }
  }
  MD_REQUIRE(r->how != NO_TABLE, MD_EIO, "the profiler printed no table of metrics");
  return MD_OK;
}

md_status profile_csv_read(const char *text, const char *const *metrics, int n, profile_values *out)
{
  reader r = {.metrics = metrics, .out = out};
  *out = (profile_values){.n = n};
  const md_status status = read_table(&r, text);
  record_free(&r.header);
  record_free(&r.units);
  record_free(&r.line);
  free(r.launch);
  if (status) profile_values_free(out);
  return status;
}

void profile_values_free(profile_values *values)
{
  free(values->value);
  *values = (profile_values){0};
}
