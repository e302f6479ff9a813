/* minimd/config/read_script.c - see read_script.h. */
#include "minimd/config/read_script.h"
#include "core/parse/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A command may grow by replacing variables, but not without end. */
enum { MAX_COMMAND = 65536 };

void script_begin(script *sc, const config_text *text)
{
  *sc = (script){.path = text->path, .cursor = text->data, .line = 1, .next_line = 1};
}

static void drop_command(script *sc)
{
  free(sc->expanded);
  free(sc->words);
  sc->expanded = NULL;
  sc->words = NULL;
  sc->n_words = 0;
}

void script_end(script *sc)
{
  drop_command(sc);
  for (int k = 0; k < sc->n_variables; k++) {
    free(sc->variables[k].name);
    free(sc->variables[k].value);
  }
  free(sc->variables);
  sc->variables = NULL;
}

/* A line and those it continues on, joined in place: `&` is the last character that prints. */
static char *logical_line(script *sc)
{
  char *begin = sc->cursor, *end;
  if (!*begin) return NULL;
  sc->line = sc->next_line;
  for (;;) {
    end = sc->cursor + strcspn(sc->cursor, "\n");
    char *last = end;
    while (last > sc->cursor && isblank((unsigned char)last[-1]))
      last--;
    const bool goes_on = last > sc->cursor && last[-1] == '&' && *end;
    sc->cursor = *end ? end + 1 : end;
    sc->next_line++;
    if (!goes_on) break;
    last[-1] = *end = ' ';
  }
  *end = '\0';
  return begin;
}

/* Cut a comment: '#' outside quotes. */
static void cut_comment(char *line)
{
  char quote = 0;
  for (char *c = line; *c; c++) {
    if (quote)
      quote = *c == quote ? 0 : quote;
    else if (*c == '"' || *c == '\'')
      quote = *c;
    else if (*c == '#') {
      *c = '\0';
      return;
    }
  }
}

static const char *look_up(const script *sc, const char *name, size_t length)
{
  for (int k = 0; k < sc->n_variables; k++)
    if (strlen(sc->variables[k].name) == length &&
        strncmp(sc->variables[k].name, name, length) == 0)
      return sc->variables[k].value;
  return NULL;
}

static md_status unknown_variable(const script *sc, const char *name, size_t length)
{
  const char **names = malloc((size_t)(sc->n_variables + 1) * sizeof *names);
  char *word = strndup(name, length);
  md_status status = MD_ENOMEM;
  if (names && word) {
    for (int k = 0; k < sc->n_variables; k++)
      names[k] = sc->variables[k].name;
    const char *near = md_nearest(word, names, sc->n_variables);
    status = MD_FAIL(MD_EINVAL, "%s:%d: no variable '%.60s'%s%s%s", sc->path, sc->line, word,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  } else {
    MD_FAIL(status, "out of memory for a variable");
  }
  free(names);
  free(word);
  return status;
}

/* Write the value of the variable at *c, which points behind `$`, and move behind its name. */
static md_status replace(const script *sc, const char **c, FILE *to)
{
  const char *name = *c;
  size_t length = 1;
  if (*name == '{') {
    name++;
    length = strcspn(name, "}");
    MD_REQUIRE(name[length] == '}', MD_EINVAL, "%s:%d: expected '}' after '${%.60s'", sc->path,
               sc->line, name);
    *c = name + length + 1;
  } else {
    MD_REQUIRE(isalnum((unsigned char)*name), MD_EINVAL,
               "%s:%d: expected $x or ${name}; '$%.1s' is outside the supported subset", sc->path,
               sc->line, name);
    *c = name + 1;
  }
  const char *value = look_up(sc, name, length);
  if (!value) return unknown_variable(sc, name, length);
  fputs(value, to);
  return MD_OK;
}

static md_status expand(script *sc, const char *line)
{
  size_t size = 0;
  FILE *to = open_memstream(&sc->expanded, &size);
  MD_REQUIRE(to, MD_ENOMEM, "out of memory for a command");
  md_status status = MD_OK;
  while (*line && !status) {
    const char c = *line++;
    if (c == '$')
      status = replace(sc, &line, to);
    else
      fputc(c, to);
    if (!status && ftell(to) > MAX_COMMAND)
      status = MD_FAIL(MD_EINVAL, "%s:%d: with its variables the command is longer than %d bytes",
                       sc->path, sc->line, MAX_COMMAND);
  }
  fclose(to);
  MD_REQUIRE(status || sc->expanded, MD_ENOMEM, "out of memory for a command");
  return status;
}

/* Cut the expanded command into words; quotes hold blanks together and are dropped. */
static md_status split(script *sc)
{
  sc->words = malloc((strlen(sc->expanded) / 2 + 1) * sizeof *sc->words);
  MD_REQUIRE(sc->words, MD_ENOMEM, "out of memory for a command");
  for (char *c = sc->expanded;;) {
    while (isspace((unsigned char)*c))
      c++;
    if (!*c) return MD_OK;
    const char quote = *c == '"' || *c == '\'' ? *c++ : 0;
    sc->words[sc->n_words++] = c;
    while (*c && (quote ? *c != quote : !isspace((unsigned char)*c)))
      c++;
    MD_REQUIRE(!quote || *c, MD_EINVAL, "%s:%d: expected %c to end the text that begins with %c",
               sc->path, sc->line, quote, quote);
    if (*c) *c++ = '\0';
  }
}

md_status script_next(script *sc)
{
  char *line;
  do {
    drop_command(sc);
    line = logical_line(sc);
    if (!line) return MD_OK;
    cut_comment(line);
    MD_TRY(expand(sc, line));
    MD_TRY(split(sc));
  } while (sc->n_words == 0);
  return MD_OK;
}

static md_status store(script *sc, const char *name, const char *value)
{
  for (int k = 0; k < sc->n_variables; k++)
    if (strcmp(sc->variables[k].name, name) == 0) {
      char *copy = strdup(value);
      MD_REQUIRE(copy, MD_ENOMEM, "out of memory for a variable");
      free(sc->variables[k].value);
      sc->variables[k].value = copy;
      return MD_OK;
    }
  script_variable *more =
      realloc(sc->variables, (size_t)(sc->n_variables + 1) * sizeof *sc->variables);
  if (more) sc->variables = more;
  const script_variable added = {more ? strdup(name) : NULL, more ? strdup(value) : NULL};
  if (!added.name || !added.value) {
    free(added.name);
    free(added.value);
    return MD_FAIL(MD_ENOMEM, "out of memory for a variable");
  }
  sc->variables[sc->n_variables++] = added;
  return MD_OK;
}

md_status script_define(script *sc)
{
  MD_REQUIRE(sc->n_words >= 4, MD_EINVAL,
             "%s:%d: expected variable NAME index VALUE or variable NAME equal EXPRESSION",
             sc->path, sc->line);
  const char *name = sc->words[1], *style = sc->words[2];
  MD_REQUIRE(
      name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0',
      MD_EINVAL, "%s:%d: expected a variable name of letters, digits and _, not '%.60s'", sc->path,
      sc->line, name);
  if (strcmp(style, "index") == 0) /* the first definition stands, as in LAMMPS */
    return look_up(sc, name, strlen(name)) ? MD_OK : store(sc, name, sc->words[3]);
  MD_REQUIRE(strcmp(style, "equal") == 0, MD_EINVAL,
             "%s:%d: 'variable %.60s' is outside the supported subset", sc->path, sc->line, style);
  MD_REQUIRE(sc->n_words == 4, MD_EINVAL, "%s:%d: expected an expression without blanks", sc->path,
             sc->line);
  double value;
  const md_status status = script_evaluate(sc->words[3], &value);
  if (status)
    return MD_FAIL(status, "%s:%d: variable %.60s: %s", sc->path, sc->line, name, md_message());
  char text[32];
  snprintf(text, sizeof text, "%.15g", value);
  return store(sc, name, text);
}
