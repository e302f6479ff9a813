/* minimd/config/config_value_write.c - values to text that config_value.c reads, and to JSON, one
 * function for each type of key. */
#include "minimd/config/config_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t config_number_write(double value, char *text, size_t size)
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
  return config_number_write(value, text, size);
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
  config_number_write(-value, word + 1, sizeof word - 1);
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
  config_number_write(-value, word + 1, sizeof word - 1);
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
