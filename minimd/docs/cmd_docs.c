/* minimd/docs/cmd_docs.c - `minimd docs`: what can be said about commands, options and settings
 * without writing it a second time.  Every command is asked for its --help, which comes as data. */
#include "core/output/output.h"
#include "minimd/docs/docs.h"
#include "minimd/shell/plot.h"

#include <stdlib.h>
#include <string.h>

enum { FORM, OUTPUT, N_OPTIONS };

#define DOCS_FORMS(X)                                                                              \
  X(MAN, "man") X(BASH, "bash") X(ZSH, "zsh") X(FISH, "fish") X(GUIDE, "guide") X(STYLE, "style")
#define MD_ENUM_(name, word) FORM_##name,
enum { DOCS_FORMS(MD_ENUM_) FORM_COUNT };
#undef MD_ENUM_
#define WORD_(name, word) word,
static const char *const form_words[FORM_COUNT] = {DOCS_FORMS(WORD_)};
#undef WORD_
/* The look of pictures, for scripts of gnuplot. */
static void write_style(const docs_page *pages, int n, FILE *stream)
{
  (void)pages, (void)n;
  fprintf(stream, "# The look of every picture, written by `minimd docs`.\n%s", plot_style);
}

static void (*const writers[FORM_COUNT])(const docs_page *, int, FILE *) = {
    [FORM_MAN] = docs_man,   [FORM_BASH] = docs_bash,   [FORM_ZSH] = docs_zsh,
    [FORM_FISH] = docs_fish, [FORM_GUIDE] = docs_guide, [FORM_STYLE] = write_style};

/* The pages so far; the one that a command is about to hand over comes next. */
static struct {
  docs_page *pages;
  int n;
  bool complete;
  const command *asked;
} book;

/* Some tables live on their command's stack: keep a copy. */
static void take(const options_page *page)
{
  const size_t bytes = (size_t)page->n * sizeof *page->table;
  option *table = malloc(bytes);
  docs_page *pages = realloc(book.pages, ((size_t)book.n + 1) * sizeof *pages);
  if (pages) book.pages = pages;
  if (!table || !pages) {
    free(table);
    book.complete = false;
    return;
  }
  memcpy(table, page->table, bytes);
  pages[book.n] = (docs_page){book.asked, *page};
  pages[book.n++].page.table = table;
}

static md_status ask(const command *from, const char *form)
{
  book.asked = from;
  return command_ask(from, form);
}

static md_status collect(void)
{
  const command *all;
  const int n = commands(&all);
  md_status status = MD_OK;
  book.complete = true;
  options_help_to(take);
  for (int k = 0; !status && k < n; k++) {
    status = ask(&all[k], NULL);
    for (int f = 0; !status && f < COMMAND_FORMS && all[k].forms[f]; f++)
      status = ask(&all[k], all[k].forms[f]);
  }
  options_help_to(NULL);
  if (status) return status;
  MD_REQUIRE(book.complete, MD_ENOMEM, "out of memory for the commands' options");
  return MD_OK;
}

static md_status write_pages(int form, const char *path)
{
  md_output out;
  md_status status = collect();
  if (!status) status = md_output_open(path, &out);
  if (!status) {
    writers[form](book.pages, book.n, out.stream);
    status = md_output_close(&out);
  }
  for (int k = 0; k < book.n; k++)
    free((void *)book.pages[k].page.table);
  free(book.pages);
  book.pages = NULL;
  book.n = 0;
  return status;
}

md_status cmd_docs(int argc, char **argv)
{
  static const option table[N_OPTIONS] = {
      {"form", 0, "man|bash|zsh|fish|guide|style",
       "manual page, completion for a shell, the reference of docs/user-guide.md, or\n"
       "the look of pictures for scripts of gnuplot"},
      OPTION_OUTPUT,
  };
  options opts;
  int form = -1;
  md_status status = options_parse(table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout, "minimd docs --form FORM [-o FILE]",
                 "What the program knows about its commands, options and settings.", table,
                 N_OPTIONS);
  else if (!status)
    status = options_word(&opts, FORM, form_words, FORM_COUNT, &form);
  if (!status && !opts.help && form < 0)
    status = MD_FAIL(MD_EINVAL,
                     "docs: expected --form man, bash, zsh, fish, guide or style; see --help");
  if (!status && !opts.help) status = write_pages(form, options_value(&opts, OUTPUT));
  options_free(&opts);
  return status;
}
