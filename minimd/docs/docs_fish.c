/* minimd/docs/docs_fish.c - completion for fish: a line for each command and option. */
#include "minimd/docs/docs.h"

#include <stdlib.h>
#include <string.h>

/* The first line of a help text, between quotes. */
static void quoted(FILE *stream, const char *text)
{
  fputc('\'', stream);
  for (const char *c = text; *c && *c != '\n'; c++) {
    if (*c == '\'' || *c == '\\') fputc('\\', stream);
    fputc(*c, stream);
  }
  fputc('\'', stream);
}

/* The options of a run complete without a command, too. */
static void condition(FILE *stream, const command *of)
{
  const command *all;
  const int n = commands(&all);
  if (of != all) {
    fprintf(stream, "-n '__fish_seen_subcommand_from %s'", of->name);
    return;
  }
  fputs("-n 'not __fish_seen_subcommand_from", stream);
  for (int k = 1; k < n; k++)
    fprintf(stream, " %s", all[k].name);
  fputc('\'', stream);
}

/* Values: words, words of a list, files. */
static void values(FILE *stream, const option *o)
{
  char *words = NULL;
  size_t size;
  FILE *memory = open_memstream(&words, &size);
  if (!memory) return;
  docs_values(o, memory);
  fclose(memory);
  const bool list = words && strncmp(words, "LIST ", 5) == 0;
  char *file = words ? strstr(words, "FILE") : NULL;
  if (file) memset(file, ' ', 4);
  fputs(file ? " -r -F" : " -x", stream);
  if (list)
    fprintf(stream, " -a '(__fish_complete_list , \"string split \\\" \\\" \\\"%s\\\"\")'",
            words + 5);
  else if (words && strspn(words, " ") < strlen(words))
    fprintf(stream, " -a '%s'", words);
  free(words);
}

void docs_fish(const docs_page *pages, int n, FILE *stream)
{
  const command *all;
  const int n_commands = commands(&all);
  fputs("# Completion of minimd for fish, written by `minimd docs`.\ncomplete -c minimd -f\n"
        "complete -c minimd -l help -d 'what a command is for, and its options'\n"
        "complete -c minimd -n __fish_use_subcommand -l version -d 'which version this is'\n",
        stream);
  for (int k = 0; k < n_commands; k++) {
    fprintf(stream, "complete -c minimd -n __fish_use_subcommand -a %s -d ", all[k].name);
    quoted(stream, all[k].help);
    fprintf(stream, "\ncomplete -c minimd -n '__fish_seen_subcommand_from help' -a %s\n",
            all[k].name);
  }
  for (int p = 0; p < n; p++)
    for (int k = 0; k < pages[p].page.n; k++) {
      const option *o = &pages[p].page.table[k];
      if (docs_seen(pages, p, o->name)) continue;
      fputs("complete -c minimd ", stream);
      condition(stream, pages[p].command);
      fprintf(stream, " -l %s", o->name);
      if (o->letter) fprintf(stream, " -s %c", o->letter);
      if (o->value) values(stream, o);
      fputs(" -d ", stream);
      quoted(stream, o->help);
      fputc('\n', stream);
    }
}
