/* minimd/config/config_value.c - text to values, one function for each type of key; back:
 * config_value_write.c. */
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
