/* minimd/shell/docs.h - manual page, shell completion and reference, from the program's tables. */
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
void docs_guide(const docs_page *pages, int n, FILE *stream); /* Markdown */

MD_END_C
#endif
