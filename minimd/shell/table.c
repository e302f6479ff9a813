/* minimd/shell/table.c - see table.h. */
#include "minimd/shell/table.h"
#include "core/parse/parse.h"
#include "core/hardware/processors.h"
#include "core/output/quote.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the page of a picture will show: whole tables, and the rows so far of one. */
static char *page_tables, *page_rows;
static size_t page_size;

void table_keep_page(const char *rows)
{
  char *all = NULL;
  if (asprintf(&all, "%s<table>\n%s</table>\n", page_tables ? page_tables : "", rows) < 0) return;
  free(page_tables);
  page_tables = all;
}

void table_write_page(FILE *stream)
{
  if (page_tables) fputs(page_tables, stream);
  free(page_tables);
  page_tables = NULL;
}

static void page_cell(table *t, const char *tag, const char *text)
{
  if (!t->page) return;
  if (t->at == 0) fputs("<tr>", t->page);
  fprintf(t->page, "<%s>", tag);
  for (const char *c = text; *c; c++)
    if (*c == '<' || *c == '>' || *c == '&')
      fprintf(t->page, "&#%d;", *c);
    else
      fputc(*c, t->page);
  fprintf(t->page, "</%.2s>", tag);
  if (t->at + 1 == t->n) fputs("</tr>\n", t->page);
}

static void page_begin(table *t, const options *opts)
{
  const char *picture = NULL;
  for (int k = 0; k < opts->n; k++)
    if (strcmp(opts->table[k].name, "plot") == 0) picture = options_value(opts, k);
  if (!plot_is_page(picture)) return;
  t->page = open_memstream(&page_rows, &page_size);
  for (; t->at < t->n; t->at++)
    page_cell(t, "th", t->columns[t->at].name);
  t->at = 0;
}

static int width_of(const table_column *c)
{
  const int name = (int)strlen(c->name);
  return c->width < 0 ? (-name < c->width ? -name : c->width) : name > c->width ? name : c->width;
}

/* One item of an option's value. */
static void json_item(md_json *json, const char *key, const char *text)
{
  int64_t integer;
  double number;
  if (md_parse_int64(text, INT64_MIN, INT64_MAX, &integer) == MD_OK)
    md_json_integer(json, key, integer);
  else if (md_parse_double(text, &number) == MD_OK)
    md_json_number(json, key, number);
  else
    md_json_string(json, key, text);
}

/* The value of an option with the type that its help tells: `form` is N, X, LIST, FILE ... */
static void json_option(md_json *json, const char *key, const char *form, const char *value)
{
  static const char *const numeric[] = {"N", "X", "M",   "B", "W",  "R",   "V",
                                        "P", "L", "PHI", "K", "NX", "LIST"};
  const int n_numeric = sizeof numeric / sizeof *numeric;
  char word[8];
  snprintf(word, sizeof word, "%.*s", (int)strcspn(form, "[|"), form);
  const bool list = strcmp(word, "LIST") == 0;
  char **items;
  int n;
  if (strcmp(form, "on|off") == 0) {
    md_json_bool(json, key, strcmp(value, "on") == 0);
  } else if (md_word_index(word, numeric, n_numeric) < 0 ||
             md_parse_list(value, key, &items, &n) != MD_OK) {
    md_json_string(json, key, value);
  } else {
    if (list || n > 1) md_json_open(json, key, '[');
    for (int k = 0; k < n; k++)
      json_item(json, list || n > 1 ? NULL : key, items[k]);
    if (list || n > 1) md_json_close(json, ']');
    free(items);
  }
}

static void json_head(table *t, const table_source *source)
{
  const options *opts = source->opts;
  const int threads = source->cfg ? config_get(source->cfg)->threads : 0;
  const md_ctx ctx = {.backend = source->backend,
                      .isa = md_isa_detect(),
                      .threads = threads ? threads : md_processors()};
  md_json *json = &t->json;
  md_json_begin(json, t->stream);
  md_json_integer(json, "schema", OPTIONS_JSON_SCHEMA);
  md_json_string(json, "command", source->command);
  md_json_open(json, "configuration", '{');
  for (int k = 0; k < opts->n; k++) {
    const char *value = options_value(opts, k);
    if (value && opts->table[k].value)
      json_option(json, opts->table[k].name, opts->table[k].value, value);
    if (!opts->table[k].value) md_json_bool(json, opts->table[k].name, value != NULL);
  }
  md_json_close(json, '}');
  if (source->cfg) {
    md_json_open(json, "config", '{');
    config_json(source->cfg, json);
    md_json_close(json, '}');
  }
  provenance_json(json, &ctx);
  if (source->verdict) md_json_string(json, "verdict", source->verdict);
  md_json_open(json, "rows", '[');
}

void table_begin_from(table *t, FILE *stream, options_format format, const table_source *source,
                      const table_column *columns, int n)
{
  *t = (table){.stream = stream, .format = format, .columns = columns, .n = n};
  page_begin(t, source->opts);
  if (format == OPTIONS_FORMAT_JSON) {
    json_head(t, source);
    return;
  }
  for (int c = 0; c < n; c++)
    if (format == OPTIONS_FORMAT_CSV)
      fprintf(stream, "%s%s", c ? "," : "", columns[c].name);
    else
      fprintf(stream, "%s%*s", c ? "  " : "", width_of(&columns[c]), columns[c].name);
  fputc('\n', stream);
}

void table_begin(table *t, FILE *stream, options_format format, const char *command,
                 const options *opts, const table_column *columns, int n)
{
  const table_source source = {command, opts, NULL, MD_CPU, NULL};
  table_begin_from(t, stream, format, &source, columns, n);
}

/* What separates a cell from the one before; returns the key of a JSON cell. */
static const char *begin_cell(table *t)
{
  if (t->format == OPTIONS_FORMAT_JSON && t->at == 0) md_json_open(&t->json, NULL, '{');
  if (t->format == OPTIONS_FORMAT_CSV && t->at > 0) fputc(',', t->stream);
  if (t->format == OPTIONS_FORMAT_TABLE && t->at > 0) fputs("  ", t->stream);
  return t->columns[t->at].name;
}

static void end_cell(table *t)
{
  if (++t->at < t->n) return;
  t->at = 0;
  if (t->format == OPTIONS_FORMAT_JSON)
    md_json_close(&t->json, '}');
  else
    fputc('\n', t->stream);
}

static int cell_width(const table *t)
{
  return t->format == OPTIONS_FORMAT_TABLE ? width_of(&t->columns[t->at]) : 0;
}

void table_text(table *t, const char *value)
{
  const char *key = begin_cell(t);
  if (t->format == OPTIONS_FORMAT_JSON)
    md_json_string(&t->json, key, value);
  else if (t->format == OPTIONS_FORMAT_CSV)
    md_quote_csv(t->stream, value);
  else
    fprintf(t->stream, "%*s", cell_width(t), value);
  page_cell(t, "td", value);
  end_cell(t);
}

void table_integer(table *t, int64_t value)
{
  const char *key = begin_cell(t);
  if (t->format == OPTIONS_FORMAT_JSON)
    md_json_integer(&t->json, key, value);
  else
    fprintf(t->stream, "%*" PRId64, cell_width(t), value);
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, value);
  page_cell(t, "td class=n", text);
  end_cell(t);
}

void table_real(table *t, double value)
{
  const int digits = t->columns[t->at].digits;
  const char *key = begin_cell(t);
  char text[512];
  snprintf(text, sizeof text, digits < 0 ? "%.*g" : "%.*f", digits < 0 ? -digits : digits, value);
  if (t->format == OPTIONS_FORMAT_JSON)
    md_json_number(&t->json, key, value);
  else if (isnan(value))
    fprintf(t->stream, "%*s", cell_width(t), t->format == OPTIONS_FORMAT_TABLE ? "-" : "");
  else
    fprintf(t->stream, "%*s", cell_width(t), text);
  page_cell(t, "td class=n", isnan(value) ? "" : text);
  end_cell(t);
}

void table_end_with(table *t, const table_notes *notes, const void *report, bool quiet)
{
  if (t->page) {
    fclose(t->page);
    table_keep_page(page_rows);
    free(page_rows);
    t->page = NULL;
  }
  if (t->format == OPTIONS_FORMAT_JSON) {
    md_json_close(&t->json, ']');
    if (notes) notes->members(report, &t->json);
    md_json_end(&t->json);
  } else if (notes && notes->lines && (t->format == OPTIONS_FORMAT_TABLE || !quiet))
    notes->lines(report, t->format == OPTIONS_FORMAT_TABLE ? t->stream : stderr);
}

void table_end(table *t)
{
  table_end_with(t, NULL, NULL, true);
}
