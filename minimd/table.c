/* minimd/table.c - see table.h. */
#include "minimd/table.h"
#include "core/quote.h"
#include "minimd/provenance.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static int width_of(const table_column *c)
{
  const int name = (int)strlen(c->name);
  return c->width < 0 ? (-name < c->width ? -name : c->width) : name > c->width ? name : c->width;
}

static void json_head(table *t, const table_source *source)
{
  const options *opts = source->opts;
  const int threads = source->cfg ? config_get(source->cfg)->threads : 0;
  const md_ctx ctx = {.backend = source->backend,
                      .isa = md_isa_detect(),
                      .threads = threads ? threads : omp_get_max_threads()};
  md_json *json = &t->json;
  md_json_begin(json, t->stream);
  md_json_integer(json, "schema", 1);
  md_json_string(json, "command", source->command);
  md_json_open(json, "configuration", '{');
  for (int k = 0; k < opts->n; k++) {
    const char *value = options_value(opts, k);
    if (value && opts->table[k].value) md_json_string(json, opts->table[k].name, value);
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
  end_cell(t);
}

void table_integer(table *t, int64_t value)
{
  const char *key = begin_cell(t);
  if (t->format == OPTIONS_FORMAT_JSON)
    md_json_integer(&t->json, key, value);
  else
    fprintf(t->stream, "%*" PRId64, cell_width(t), value);
  end_cell(t);
}

void table_real(table *t, double value)
{
  const int digits = t->columns[t->at].digits;
  const char *key = begin_cell(t);
  if (t->format == OPTIONS_FORMAT_JSON)
    md_json_number(&t->json, key, value);
  else if (isnan(value))
    fprintf(t->stream, "%*s", cell_width(t), t->format == OPTIONS_FORMAT_TABLE ? "-" : "");
  else if (digits < 0)
    fprintf(t->stream, "%*.*g", cell_width(t), -digits, value);
  else
    fprintf(t->stream, "%*.*f", cell_width(t), digits, value);
  end_cell(t);
}

void table_end(table *t)
{
  if (t->format != OPTIONS_FORMAT_JSON) return;
  md_json_close(&t->json, ']');
  md_json_end(&t->json);
}
