/* minimd/docs/docs_man.c - minimd(1), in the macros of man(7). */
#include "minimd/config/config.h"
#include "minimd/docs/docs.h"
#include "minimd/shell/provenance.h"

#include <string.h>

/* Text of the user's eye, as roff: a dash is a dash, and no line is taken for a request. */
static void text(FILE *stream, const char *words)
{
  bool first = true;
  for (const char *c = words; *c; c++) {
    if (first && (*c == '.' || *c == '\'')) fputs("\\&", stream);
    if (*c == '\\')
      fputs("\\e", stream);
    else if (*c == '-')
      fputs("\\-", stream);
    else
      fputc(*c, stream);
    first = *c == '\n';
  }
}

static void line(FILE *stream, const char *words)
{
  text(stream, words);
  fputc('\n', stream);
}

static void write_option(FILE *stream, const option *o)
{
  fputs(".TP\n\\fB", stream);
  if (o->letter) fprintf(stream, "\\-%c\\fR, \\fB", o->letter);
  fputs("\\-\\-", stream);
  text(stream, o->name);
  fputs("\\fR", stream);
  if (o->value) {
    fputs(" \\fI", stream);
    text(stream, o->value);
    fputs("\\fR", stream);
  }
  fputc('\n', stream);
  line(stream, o->help);
}

static void write_command(FILE *stream, const docs_page *p, bool another_form)
{
  if (!another_form) fprintf(stream, ".SS minimd %s\n", p->command->name);
  fputs(".nf\n", stream);
  line(stream, p->page.usage);
  fputs(".fi\n.PP\n", stream);
  line(stream, p->page.about);
  for (int k = 0; k < p->page.n; k++)
    write_option(stream, &p->page.table[k]);
}

static void write_settings(FILE *stream)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  for (int k = 0; k < n; k++) {
    const config_entry *e = &entries[k];
    fputs(".TP\n\\fB", stream);
    text(stream, e->key);
    fputs("\\fR (", stream);
    text(stream, e->type);
    if (*e->unit) text(stream, ", ");
    text(stream, e->unit);
    fputs(")\n", stream);
    line(stream, e->help);
    fputs(".br\n", stream);
    text(stream, e->range);
    text(stream, *e->fallback ? "; default " : "; default: none");
    line(stream, e->fallback);
  }
}

void docs_man(const docs_page *pages, int n, FILE *stream)
{
  fputs(".TH MINIMD 1 \"\" minimd \"User Commands\"\n"
        ".SH NAME\nminimd \\- see, predict and beat the cost of data order in memory\n"
        ".SH SYNOPSIS\n.B minimd\n[\\fICOMMAND\\fR] [\\fIoptions\\fR]\n"
        ".SH DESCRIPTION\nA molecular\\-dynamics mini\\-app: how fast is a Lennard\\-Jones fluid, "
        "how "
        "does the\norder of its data in memory change that, and why.\nWithout a command it runs "
        "molecular dynamics.\nResults go to standard output, progress and messages to standard "
        "error.\nEvery command knows \\fB\\-h\\fR, \\fB\\-\\-help\\fR; \\fBminimd "
        "\\-\\-version\\fR prints version and commit.\n.SH COMMANDS\n",
        stream);
  for (int k = 0; k < n; k++)
    write_command(stream, &pages[k], k > 0 && pages[k].command == pages[k - 1].command);
  fputs(".SH SETTINGS\nKeys of an input file and of \\fB\\-\\-set\\fR.  Defaults < input file < "
        "\\-\\-set < named options.\n",
        stream);
  write_settings(stream);
  fputs(".SH EXIT STATUS\n", stream);
  line(stream, COMMAND_EXIT_CODES ".");
  fputs(".SH ENVIRONMENT\n.TP\n.B MINIMD_ISA\nportable, avx2 or avx512: instruction set to use, if "
        "the processor has it.\n",
        stream);
  fputs(".SH REFERENCES\n.nf\n", stream);
  line(stream, COMMAND_PAPERS);
  fputs(".fi\n", stream);
}
