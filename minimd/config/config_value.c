/* minimd/config/config_value.c - text to values and back, one pair of functions for each type of
 * key. */
#include "minimd/config/config_impl.h"
#include "core/parse/parse.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a message says before the range. */
static const char *const nouns[CONFIG_TYPE_COUNT] = {
    [CONFIG_INTEGER] = "an integer in ",
    [CONFIG_COUNT] = "an integer in ",
    [CONFIG_REAL] = "a number ",
    [CONFIG_FLAG] = "",
    [CONFIG_WORD] = "one of ",
    [CONFIG_CELLS] = "one integer or three in ",
    [CONFIG_BINS] = "a number ",
    [CONFIG_CURVE] = "one of ",
    [CONFIG_PATH] = "",
    [CONFIG_TARGET] = "",
    [CONFIG_RECORDS] = "",
};

/* Forms of a value that a type takes; strings also spell special words. */
static const int kinds[CONFIG_TYPE_COUNT] = {
    [CONFIG_INTEGER] = CONFIG_NUMBER, [CONFIG_COUNT] = CONFIG_NUMBER,
    [CONFIG_REAL] = CONFIG_NUMBER,    [CONFIG_FLAG] = CONFIG_BOOLEAN,
    [CONFIG_WORD] = CONFIG_STRING,    [CONFIG_CELLS] = CONFIG_NUMBER | CONFIG_LIST,
    [CONFIG_BINS] = CONFIG_NUMBER,    [CONFIG_CURVE] = CONFIG_STRING,
    [CONFIG_PATH] = CONFIG_STRING,    [CONFIG_TARGET] = CONFIG_STRING,
    [CONFIG_RECORDS] = CONFIG_GROUPS,
};

static const char *kind_name(config_kind kind)
{
  switch (kind) {
  case CONFIG_STRING:
    return "the string ";
  case CONFIG_BOOLEAN:
    return "the boolean ";
  case CONFIG_LIST:
    return "the list ";
  default:
    return "";
  }
}

static md_status refuse(const config_entry *entry, const char *kind, const char *text)
{
  return MD_FAIL(MD_EINVAL, "expected %s%s, not %s'%.60s'", nouns[entry->rule->type], entry->range,
                 kind, text);
}

/* 010 would be ten to some readers and eight to others. */
static bool leading_zero(const char *text)
{
  text += *text == '+' || *text == '-';
  return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

static bool in_range(const config_rule *rule, double value)
{
  return (rule->open ? value > rule->min : value >= rule->min) && value <= rule->max;
}

static md_status parse_integer(const config_entry *entry, const char *text, int64_t *out)
{
  MD_REQUIRE(!leading_zero(text), MD_EINVAL,
             "an integer with a leading zero may be decimal or octal: write it without, not "
             "'%.60s'",
             text);
  const config_rule *rule = entry->rule;
  if ((rule->type == CONFIG_COUNT ? md_parse_count : md_parse_int64)(text, (int64_t)rule->min,
                                                                     (int64_t)rule->max, out))
    return refuse(entry, "", text);
  return MD_OK;
}

static md_status parse_real(const config_entry *entry, const char *text, double *out)
{
  MD_REQUIRE(!leading_zero(text), MD_EINVAL, "write the number without a leading zero, not '%.60s'",
             text);
  double value;
  MD_TRY(md_parse_double(text, &value));
  if (!in_range(entry->rule, value)) return refuse(entry, "", text);
  *out = value;
  return MD_OK;
}

static md_status read_integer(const config_entry *entry, const char *text, void *field)
{
  const config_rule *rule = entry->rule;
  int64_t value = rule->meaning;
  if (!rule->special || strcmp(text, rule->special) != 0)
    MD_TRY(parse_integer(entry, text, &value));
  if (rule->size == sizeof(int64_t))
    *(int64_t *)field = value;
  else
    *(int32_t *)field = (int32_t)value;
  return MD_OK;
}

static md_status read_real(const config_entry *entry, const char *text, void *field)
{
  const config_rule *rule = entry->rule;
  if (rule->special && strcmp(text, rule->special) == 0) {
    *(double *)field = rule->meaning;
    return MD_OK;
  }
  return parse_real(entry, text, field);
}

static md_status read_flag(const config_entry *entry, const char *text, void *field)
{
  const bool on = strcmp(text, "true") == 0 || strcmp(text, "on") == 0;
  const bool off = strcmp(text, "false") == 0 || strcmp(text, "off") == 0;
  if (!on && !off) return refuse(entry, "", text);
  *(bool *)field = on;
  return MD_OK;
}

static md_status read_word(const config_entry *entry, const char *text, void *field)
{
  const config_rule *rule = entry->rule;
  if (rule->special && strcmp(text, rule->special) == 0) {
    *(int32_t *)field = rule->meaning;
    return MD_OK;
  }
  const int word = md_word_index(text, rule->words, rule->n_words);
  if (word < 0) {
    const char *near = md_nearest(text, rule->words, rule->n_words);
    return MD_FAIL(MD_EINVAL, "expected one of %s, not '%.60s'%s%s%s", entry->range, text,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  *(int32_t *)field = word;
  return MD_OK;
}

static md_status read_cells(const config_entry *entry, const char *text, void *field)
{
  char **items;
  int n;
  MD_TRY(md_parse_list(text, "one integer or three", &items, &n));
  int64_t cells[3] = {0};
  md_status status = n == 1 || n == 3 ? MD_OK : refuse(entry, "", text);
  for (int d = 0; d < 3 && !status; d++)
    status = parse_integer(entry, items[n == 3 ? d : 0], &cells[d]);
  free(items);
  for (int d = 0; d < 3 && !status; d++)
    ((int32_t *)field)[d] = (int32_t)cells[d];
  return status;
}

static md_status read_bins(const config_entry *entry, const char *text, void *field)
{
  double value;
  if (text[0] == '/') {
    if (md_parse_double(text + 1, &value) || value < CONFIG_BINS_LEAST || value > CONFIG_BINS_MOST)
      return refuse(entry, "", text);
    value = -value;
  } else {
    MD_TRY(parse_real(entry, text, &value));
  }
  *(double *)field = value;
  return MD_OK;
}

static md_status read_curve(const config_entry *entry, const char *text, void *field)
{
  (void)entry;
  return ordering_parse(text, field);
}

static md_status read_path(const config_entry *entry, const char *text, void *field)
{
  (void)entry;
  const size_t length = strlen(text);
  MD_REQUIRE(length < PATH_MAX, MD_EINVAL, "expected a file name shorter than %d bytes, not %zu",
             PATH_MAX, length);
  char *path = length ? strdup(text) : NULL;
  MD_REQUIRE(path || !length, MD_ENOMEM, "out of memory for a file name");
  free(*(char **)field);
  *(char **)field = path;
  return MD_OK;
}

static md_status read_records(const config_entry *entry, const char *text, void *field)
{
  MD_REQUIRE(strlen(text) < CONFIG_TEXT_SIZE, MD_EINVAL, "expected fewer than %d bytes, not %zu",
             CONFIG_TEXT_SIZE, strlen(text));
  int groups;
  MD_TRY(config_check_records(entry->key, text, &groups));
  char *copy = groups ? strdup(text) : NULL;
  MD_REQUIRE(copy || !groups, MD_ENOMEM, "out of memory for settings");
  free(*(char **)field);
  *(char **)field = copy;
  return MD_OK;
}

md_status config_value_read(const config_entry *entry, config_kind kind, const char *text,
                            config_values *values)
{
  static md_status (*const read[CONFIG_TYPE_COUNT])(const config_entry *, const char *, void *) = {
      [CONFIG_INTEGER] = read_integer, [CONFIG_COUNT] = read_integer,   [CONFIG_REAL] = read_real,
      [CONFIG_FLAG] = read_flag,       [CONFIG_WORD] = read_word,       [CONFIG_CELLS] = read_cells,
      [CONFIG_BINS] = read_bins,       [CONFIG_CURVE] = read_curve,     [CONFIG_PATH] = read_path,
      [CONFIG_TARGET] = read_path,     [CONFIG_RECORDS] = read_records,
  };
  const config_rule *rule = entry->rule;
  if (kind == CONFIG_DIGITS) {
    if (rule->type == CONFIG_COUNT && strpbrk(text, "eE")) return refuse(entry, "", text);
    kind = CONFIG_NUMBER;
  }
  const bool spelt = kind == CONFIG_STRING &&
                     ((rule->special && strcmp(text, rule->special) == 0) ||
                      (rule->type == CONFIG_BINS && text[0] == '/') || rule->type == CONFIG_FLAG);
  const bool number = kind != CONFIG_NUMBER || (text[0] && strchr("0123456789+-.", text[0]));
  if (kind != CONFIG_ANY && (!(kinds[rule->type] & kind) || !number) && !spelt)
    return refuse(entry, kind_name(kind), text);
  return read[rule->type](entry, text, (char *)values + rule->offset);
}

/* The shortest text that reads back as the same number. */
static size_t write_number(double value, char *text, size_t size)
{
  char digits[32];
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  return (size_t)snprintf(text, size, "%s", digits);
}

static size_t write_quoted(const char *value, char *text, size_t size)
{
  size_t used = 0;
  const size_t length = strlen(value);
  for (size_t k = 0; k < length + 2; k++) {
    const char c = k == 0 || k == length + 1 ? '"' : value[k - 1];
    const bool escape = k > 0 && k <= length && (c == '"' || c == '\\');
    if (escape && used < size) text[used] = '\\';
    used += escape;
    if (used < size) text[used] = c;
    used++;
  }
  if (size) text[used < size ? used : size - 1] = '\0';
  return used;
}

static int64_t get_integer(const config_rule *rule, const void *field)
{
  return rule->size == sizeof(int64_t) ? *(const int64_t *)field : *(const int32_t *)field;
}

static size_t write_integer(const config_rule *rule, const void *field, char *text, size_t size)
{
  const int64_t value = get_integer(rule, field);
  if (rule->special && value == rule->meaning) return write_quoted(rule->special, text, size);
  const char *wide = value > INT32_MAX ? "L" : ""; /* libconfig asks for it */
  return (size_t)snprintf(text, size, "%" PRId64 "%s", value, wide);
}

static size_t write_real(const config_rule *rule, const void *field, char *text, size_t size)
{
  const double value = *(const double *)field;
  if (rule->special && value == rule->meaning) return write_quoted(rule->special, text, size);
  return write_number(value, text, size);
}

static size_t write_flag(const config_rule *rule, const void *field, char *text, size_t size)
{
  (void)rule;
  return (size_t)snprintf(text, size, "%s", *(const bool *)field ? "true" : "false");
}

static size_t write_word(const config_rule *rule, const void *field, char *text, size_t size)
{
  const int64_t value = get_integer(rule, field);
  const bool special = rule->special && value == rule->meaning;
  return write_quoted(special ? rule->special : rule->words[value], text, size);
}

static size_t write_cells(const config_rule *rule, const void *field, char *text, size_t size)
{
  (void)rule;
  const int32_t *cells = field;
  return (size_t)snprintf(text, size, "[%d, %d, %d]", cells[0], cells[1], cells[2]);
}

static size_t write_bins(const config_rule *rule, const void *field, char *text, size_t size)
{
  const double value = *(const double *)field;
  if (value > 0) return write_real(rule, field, text, size);
  char word[40] = "/";
  write_number(-value, word + 1, sizeof word - 1);
  return write_quoted(word, text, size);
}

static size_t write_curve(const config_rule *rule, const void *field, char *text, size_t size)
{
  (void)rule;
  char word[256];
  ordering_format(field, word, sizeof word);
  return write_quoted(word, text, size);
}

static size_t write_path(const config_rule *rule, const void *field, char *text, size_t size)
{
  (void)rule;
  const char *path = *(char *const *)field;
  return write_quoted(path ? path : "", text, size);
}

static size_t write_records(const config_rule *rule, const void *field, char *text, size_t size)
{
  (void)rule;
  const char *records = *(char *const *)field;
  return (size_t)snprintf(text, size, "%s", records ? records : "( )");
}

size_t config_value_write(const config_entry *entry, const config_values *values, char *text,
                          size_t size)
{
  static size_t (*const write[CONFIG_TYPE_COUNT])(const config_rule *, const void *, char *,
                                                  size_t) = {
      [CONFIG_INTEGER] = write_integer, [CONFIG_COUNT] = write_integer,
      [CONFIG_REAL] = write_real,       [CONFIG_FLAG] = write_flag,
      [CONFIG_WORD] = write_word,       [CONFIG_CELLS] = write_cells,
      [CONFIG_BINS] = write_bins,       [CONFIG_CURVE] = write_curve,
      [CONFIG_PATH] = write_path,       [CONFIG_TARGET] = write_path,
      [CONFIG_RECORDS] = write_records,
  };
  const config_rule *rule = entry->rule;
  return write[rule->type](rule, (const char *)values + rule->offset, text, size);
}

static bool is_special(const config_rule *rule, const void *field)
{
  if (!rule->special) return false;
  if (rule->type == CONFIG_REAL) return *(const double *)field == rule->meaning;
  return get_integer(rule, field) == rule->meaning;
}

static void json_cells(const int32_t *cells, md_json *json, const char *name)
{
  md_json_open(json, name, '[');
  for (int d = 0; d < 3; d++)
    md_json_integer(json, NULL, cells[d]);
  md_json_close(json, ']');
}

static void json_bins(double value, md_json *json, const char *name)
{
  char word[40] = "/";
  write_number(-value, word + 1, sizeof word - 1);
  if (value > 0)
    md_json_number(json, name, value);
  else
    md_json_string(json, name, word);
}

static void json_curve(const ordering *curve, md_json *json, const char *name)
{
  char word[256];
  ordering_format(curve, word, sizeof word);
  md_json_string(json, name, word);
}

void config_value_json(const config_entry *entry, const config_values *values, md_json *json,
                       const char *name)
{
  const config_rule *rule = entry->rule;
  const void *field = (const char *)values + rule->offset;
  if (is_special(rule, field)) {
    md_json_string(json, name, rule->special);
    return;
  }
  switch (rule->type) {
  case CONFIG_INTEGER:
  case CONFIG_COUNT:
    md_json_integer(json, name, get_integer(rule, field));
    break;
  case CONFIG_REAL:
    md_json_number(json, name, *(const double *)field);
    break;
  case CONFIG_FLAG:
    md_json_bool(json, name, *(const bool *)field);
    break;
  case CONFIG_WORD:
    md_json_string(json, name, rule->words[get_integer(rule, field)]);
    break;
  case CONFIG_CELLS:
    json_cells(field, json, name);
    break;
  case CONFIG_BINS:
    json_bins(*(const double *)field, json, name);
    break;
  case CONFIG_CURVE:
    json_curve(field, json, name);
    break;
  default: /* a file name or records; "": none */
    md_json_string(json, name, *(char *const *)field ? *(char *const *)field : "");
  }
}
