/* minimd/config/read_script.h - commands of a LAMMPS input: logical lines, variables, words. */
#ifndef READ_SCRIPT_H
#define READ_SCRIPT_H

#include "minimd/config/config_impl.h"

typedef struct {
  char *name, *value;
} script_variable;

typedef struct {
  const char *path;
  char *cursor;   /* into the text */
  int line;       /* where the present command begins */
  int next_line;  /* where the next one does */
  char *expanded; /* the present command, variables replaced; words point into it */
  char **words;   /* [n_words] */
  int n_words;
  script_variable *variables;
  int n_variables;
} script;

void script_begin(script *sc, const config_text *text);
void script_end(script *sc);

/* The next command that is not empty: words[0] and its arguments; n_words is 0 at the end.
 * Joins lines at `&`, drops `#` comments, replaces $x and ${name}, strips quotes.
 * Errors: MD_EINVAL (names file, line, variable), MD_ENOMEM. */
md_status script_next(script *sc);

/* Execute the present command `variable NAME index VALUE...` or `variable NAME equal EXPRESSION`.
 */
md_status script_define(script *sc);

/* + - * / and parentheses over numbers.  Errors: MD_EINVAL (quotes what it could not read). */
md_status script_evaluate(const char *expression, double *out);

#endif
