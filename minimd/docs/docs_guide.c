/* minimd/docs/docs_guide.c - the reference of docs/user-guide.md: commands, options, settings. */
#include "minimd/config/config.h"
#include "minimd/docs/docs.h"

/* Text of one cell: a line end is a space, a bar does not end the cell. */
static void cell(FILE *stream, const char *words)
{
  for (const char *c = words; *c; c++) {
    if (*c == '|') fputc('\\', stream);
    fputc(*c == '\n' ? ' ' : *c, stream);
  }
}

static void code(FILE *stream, const char *words)
{
  if (!*words) return;
  fputc('`', stream);
  cell(stream, words);
  fputc('`', stream);
}

static void write_option(FILE *stream, const option *o)
{
  fputs("| `", stream);
  if (o->letter) fprintf(stream, "-%c, ", o->letter);
  fprintf(stream, "--%s", o->name);
  if (o->value) fputc(' ', stream);
  if (o->value) cell(stream, o->value);
  fputs("` | ", stream);
  cell(stream, o->help);
  fputs(" |\n", stream);
}

static void write_command(FILE *stream, const docs_page *p, bool another_form)
{
  if (!another_form) fprintf(stream, "\n### minimd %s: %s\n", p->command->name, p->command->help);
  fprintf(stream, "\n```\n%s\n\n%s\n```\n\n| option | meaning |\n|---|---|\n", p->page.usage,
          p->page.about);
  for (int k = 0; k < p->page.n; k++)
    write_option(stream, &p->page.table[k]);
}

static void write_settings(FILE *stream)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  fputs("\n## Reference: settings\n\n| key | type | unit | default | range | meaning |\n"
        "|---|---|---|---|---|---|\n",
        stream);
  for (int k = 0; k < n; k++) {
    const config_entry *e = &entries[k];
    fputs("| ", stream);
    code(stream, e->key);
    const char *const plain[] = {e->type, e->unit};
    for (int c = 0; c < 2; c++) {
      fputs(" | ", stream);
      cell(stream, plain[c]);
    }
    fputs(" | ", stream);
    code(stream, e->fallback);
    fputs(" | ", stream);
    cell(stream, e->range);
    fputs(" | ", stream);
    cell(stream, e->help);
    fputs(" |\n", stream);
  }
}

void docs_guide(const docs_page *pages, int n, FILE *stream)
{
  write_settings(stream);
  fputs("\n## Reference: commands\n\nEvery command also has `-h, --help`.\n", stream);
  for (int k = 0; k < n; k++)
    write_command(stream, &pages[k], k > 0 && pages[k].command == pages[k - 1].command);
}
