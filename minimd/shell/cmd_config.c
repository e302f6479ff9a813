/* minimd/shell/cmd_config.c - `minimd config --list`: every setting, from the table itself. */
#include "core/output/output.h"
#include "minimd/shell/commands.h"
#include "minimd/config/config.h"
#include "minimd/shell/options.h"

#include <string.h>

enum { LIST, FORMAT, OUTPUT, N_OPTIONS };

static const char *const columns[] = {"key", "type", "unit", "default", "range", "meaning"};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static void fields(const config_entry *entry, const char **out)
{
  const char *all[N_COLUMNS] = {entry->key,      entry->type,  entry->unit,
                                entry->fallback, entry->range, entry->help};
  memcpy(out, all, sizeof all);
}

/* A CSV field: between quotes where it needs them. */
static void csv_field(const char *text, FILE *stream)
{
  const bool quoted = strpbrk(text, ",\"") != NULL;
  if (quoted) fputc('"', stream);
  for (; *text; text++) {
    if (*text == '"') fputc('"', stream);
    fputc(*text, stream);
  }
  if (quoted) fputc('"', stream);
}

static void list_csv(const config_entry *entries, int n, FILE *stream)
{
  for (int c = 0; c < N_COLUMNS; c++)
    fprintf(stream, "%s%c", columns[c], c + 1 < N_COLUMNS ? ',' : '\n');
  for (int k = 0; k < n; k++) {
    const char *row[N_COLUMNS];
    fields(&entries[k], row);
    for (int c = 0; c < N_COLUMNS; c++) {
      csv_field(row[c], stream);
      fputc(c + 1 < N_COLUMNS ? ',' : '\n', stream);
    }
  }
}

static void list_json(const config_entry *entries, int n, FILE *stream)
{
  md_json json;
  md_json_begin(&json, stream);
  md_json_integer(&json, "schema", OPTIONS_JSON_SCHEMA);
  md_json_open(&json, "keys", '[');
  for (int k = 0; k < n; k++) {
    const char *row[N_COLUMNS];
    fields(&entries[k], row);
    md_json_open(&json, NULL, '{');
    for (int c = 0; c < N_COLUMNS; c++)
      md_json_string(&json, columns[c], row[c]);
    md_json_close(&json, '}');
  }
  md_json_close(&json, ']');
  md_json_end(&json);
}

/* Two lines a key: what it takes, what it means. */
static void list_table(const config_entry *entries, int n, FILE *stream)
{
  fprintf(stream, "%-23s %-20s %-11s %-10s %s\n", "key", "type", "unit", "default", "range");
  for (int k = 0; k < n; k++) {
    const config_entry *e = &entries[k];
    fprintf(stream, "%-23s %-20s %-11s %-10s %s\n%23s %s\n", e->key, e->type,
            *e->unit ? e->unit : "-", *e->fallback ? e->fallback : "-", e->range, "", e->help);
  }
}

md_status cmd_config(int argc, char **argv)
{
  static const option table[N_OPTIONS] = {
      {"list", 'l', NULL, "print key, type, unit, default, range and meaning of every setting"},
      OPTION_FORMAT,
      OPTION_OUTPUT,
  };
  options opts;
  int format = OPTIONS_FORMAT_TABLE;
  md_output out = {0};
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help) {
    options_help(stdout, "minimd config --list", "The settings of an input file.", table,
                 N_OPTIONS);
    options_free(&opts);
    return MD_OK;
  }
  if (!status) status = options_read_format(&opts, FORMAT, &format);
  if (!status && !options_value(&opts, LIST))
    status = MD_FAIL(MD_EINVAL, "config: expected --list; see `minimd config --help`");
  if (!status) status = md_output_open(options_value(&opts, OUTPUT), &out);
  options_free(&opts);
  if (status) return status;
  const config_entry *entries;
  const int n = config_entries(&entries);
  if (format == OPTIONS_FORMAT_CSV) list_csv(entries, n, out.stream);
  if (format == OPTIONS_FORMAT_JSON) list_json(entries, n, out.stream);
  if (format == OPTIONS_FORMAT_TABLE) list_table(entries, n, out.stream);
  return md_output_close(&out);
}
