/* minimd/docs/docs_words.c - what shells complete: commands, their options, and values that are
 * words, orderings, lists, settings or files. */
#include "minimd/config/config.h"
#include "minimd/docs/docs.h"

#include <string.h>

static void write_keys(FILE *stream)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  for (int k = 0; k < n; k++)
    fprintf(stream, "%s%s=", k ? " " : "", entries[k].key);
}

/* The words of `one|two[:K]|FILE|N`: those in lower case, as far as they are fixed, and FILE. */
static void write_choice(const char *value, FILE *stream)
{
  const char *space = "";
  while (*value) {
    const size_t length = strcspn(value, "|");
    const size_t letters = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const bool word = letters > 0 && (letters == length || value[letters] == '[');
    const bool file = length == 4 && strncmp(value, "FILE", 4) == 0;
    if (word || file) {
      fprintf(stream, "%s%.*s", space, (int)(word ? letters : length), value);
      space = " ";
    }
    value += length + (value[length] == '|');
  }
}

static void write_words(const char *const *words, int n, FILE *stream)
{
  for (int k = 0; k < n; k++)
    fprintf(stream, "%s%s", k ? " " : "", words[k]);
}

void docs_values(const option *o, FILE *stream)
{
  const bool list = strncmp(o->value, "LIST", 4) == 0, order = strcmp(o->name, "order") == 0;
  if (list) fputs("LIST ", stream);
  if (order && (list || strcmp(o->value, "ORDER") == 0))
    write_words(ordering_words, ORDERING_COUNT, stream);
  else if (list && strcmp(o->name, "list") == 0)
    write_words(neighbor_list_words, NEIGHBOR_LIST_COUNT, stream);
  else if (strcmp(o->name, "set") == 0)
    write_keys(stream);
  else
    write_choice(o->value, stream);
}

/* What follows an option: a case that prints its words, empty where nothing can be guessed. */
static void write_value(const command *of, const option *o, FILE *stream)
{
  fprintf(stream, "    %s:--%s", of->name, o->name);
  if (o->letter) fprintf(stream, " | %s:-%c", of->name, o->letter);
  fputs(") echo '", stream);
  docs_values(o, stream);
  fputs("' ;;\n", stream);
}

bool docs_seen(const docs_page *pages, int p, const char *name)
{
  for (int q = p - 1; q >= 0 && pages[q].command == pages[p].command; q--)
    for (int k = 0; k < pages[q].page.n; k++)
      if (strcmp(pages[q].page.table[k].name, name) == 0) return true;
  return false;
}

static void write_options(const docs_page *pages, int n, FILE *stream)
{
  fputs("\n_minimd_options()\n{\n  case $1 in\n", stream);
  for (int p = 0; p < n; p++) {
    const bool first = p == 0 || pages[p].command != pages[p - 1].command;
    const bool last = p + 1 == n || pages[p].command != pages[p + 1].command;
    if (first) fprintf(stream, "    %s) echo '--help", pages[p].command->name);
    for (int k = 0; k < pages[p].page.n; k++)
      if (!docs_seen(pages, p, pages[p].page.table[k].name))
        fprintf(stream, " --%s", pages[p].page.table[k].name);
    if (last) fputs("' ;;\n", stream);
  }
  fputs("  esac\n}\n", stream);
}

void docs_words(const docs_page *pages, int n, FILE *stream)
{
  const command *all;
  const int n_commands = commands(&all);
  fputs("_minimd_commands()\n{\n  echo '", stream);
  for (int k = 0; k < n_commands; k++)
    fprintf(stream, "%s%s", k ? " " : "", all[k].name);
  fputs("'\n}\n", stream);
  write_options(pages, n, stream);
  fputs("\n# The words that may follow an option; fails where none follows.\n"
        "_minimd_values()\n{\n  case $1:$2 in\n",
        stream);
  for (int p = 0; p < n; p++)
    for (int k = 0; k < pages[p].page.n; k++) {
      const option *o = &pages[p].page.table[k];
      if (o->value && !docs_seen(pages, p, o->name)) write_value(pages[p].command, o, stream);
    }
  fputs("    *) return 1 ;;\n  esac\n}\n", stream);
}
