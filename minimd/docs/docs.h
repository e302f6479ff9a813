/* minimd/docs/docs.h - manual page, shell completion and reference, from the program's tables. */
#ifndef DOCS_H
#define DOCS_H

#include "minimd/shell/commands.h"
#include "minimd/shell/options.h"
#include <stdio.h>

MD_BEGIN_C

typedef struct {
  const command *command; /* several pages in a row may be forms of one */
  options_page page;
} docs_page;

void docs_man(const docs_page *pages, int n, FILE *stream);   /* roff, macros of man(7) */
void docs_bash(const docs_page *pages, int n, FILE *stream);  /* for bash-completion or `source` */
void docs_zsh(const docs_page *pages, int n, FILE *stream);   /* a function for fpath */
void docs_fish(const docs_page *pages, int n, FILE *stream);  /* lines of `complete` */
void docs_guide(const docs_page *pages, int n, FILE *stream); /* Markdown */

/* Functions of a POSIX shell that bash and zsh share: _minimd_commands, _minimd_options COMMAND and
 * _minimd_values COMMAND OPTION print words; among values FILE stands for files, LIST for a list of
 * words between commas. */
void docs_words(const docs_page *pages, int n, FILE *stream);
/* The words that may be values of an option, as _minimd_values prints them. */
void docs_values(const option *o, FILE *stream);
/* True if an earlier form of the command has an option of this name. */
bool docs_seen(const docs_page *pages, int p, const char *name);

MD_END_C
#endif
