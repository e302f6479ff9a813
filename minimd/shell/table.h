/* minimd/shell/table.h - rows of results as an aligned table, CSV or JSON, written as they come.
 *
 * JSON: {"schema": 2, "command": ..., "configuration": {options, typed as their help says},
 * "config": {settings of the runs, if there are any}, "provenance": {...}, "rows": [...]} */
#ifndef TABLE_H
#define TABLE_H

#include "core/output/output.h"
#include "minimd/config/config.h"
#include "minimd/shell/options.h"

MD_BEGIN_C

typedef struct {
  const char *name;
  int width;  /* of the aligned table, at least; negative: aligned to the left */
  int digits; /* of real numbers: after the decimal point, or significant ones if negative; JSON has
               * all of them */
} table_column;

typedef struct {
  FILE *stream;
  options_format format;
  const table_column *columns;
  int n, at; /* columns; the one to be written next */
  md_json json;
  FILE *page; /* the same rows for a picture's page; NULL: there is none */
} table;

/* Where the rows of a table come from. */
typedef struct {
  const char *command;
  const options *opts;
  const config *cfg; /* of runs; NULL: there are none */
  md_backend backend;
  const char *verdict; /* what the rows say, JSON only; NULL: nothing */
} table_source;

/* Print what comes before the rows.  columns must outlive the table. */
void table_begin_from(table *t, FILE *stream, options_format format, const table_source *source,
                      const table_column *columns, int n);
/* The same without runs. */
void table_begin(table *t, FILE *stream, options_format format, const char *command,
                 const options *opts, const table_column *columns, int n);
/* The next cell of a row; a row ends with its last cell. */
void table_text(table *t, const char *value);
void table_integer(table *t, int64_t value);
/* NaN: an empty cell of CSV, "-" in the aligned table, null in JSON. */
void table_real(table *t, double value);
void table_end(table *t);
/* What a command says beneath its rows: lines (NULL: none), and members of the JSON object. */
typedef struct {
  void (*lines)(const void *report, FILE *stream);
  void (*members)(const void *report, md_json *json);
} table_notes;
/* table_end, and notes: beneath CSV they go to stderr, unless quiet. */
void table_end_with(table *t, const table_notes *notes, const void *report, bool quiet);

/* As HTML the tables of a command whose --plot is a page; once. */
void table_write_page(FILE *stream);
/* Add rows of HTML, of which a copy is kept, to what that prints. */
void table_keep_page(const char *rows);

MD_END_C
#endif
