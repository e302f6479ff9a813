/* minimd/shell/options.c - see options.h. */
#include "minimd/shell/options.h"
#include "comm/gpus.h"
#include "core/output/files.h"
#include "core/parse/parse.h"

#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const options_format_words[OPTIONS_FORMAT_COUNT] = {OPTIONS_FORMATS(WORD)};
#undef WORD

static md_status unknown(const option *table, int n, const char *arg)
{
  const char **names = malloc((size_t)(n + 1) * sizeof *names);
  MD_REQUIRE(names, MD_ENOMEM, "out of memory for %d names", n);
  for (int k = 0; k < n; k++)
    names[k] = table[k].name;
  names[n] = "help";
  const char *word = arg + strspn(arg, "-");
  char *name = strndup(word, strcspn(word, "="));
  const char *nearest = name ? md_nearest(name, names, n + 1) : NULL;
  free(name);
  free(names);
  if (nearest)
    return MD_FAIL(MD_EINVAL, "unknown option '%.80s'; did you mean '--%s'?", arg, nearest);
  return MD_FAIL(MD_EINVAL, "unknown option '%.80s'; see --help", arg);
}

/* Index of the option that arg names, or -1; *attached is its value in the same word, or NULL. */
static int find(const option *table, int n, const char *arg, const char **attached)
{
  *attached = NULL;
  for (int k = 0; k < n; k++) {
    if (arg[1] == '-') {
      const size_t length = strcspn(arg + 2, "=");
      if (strlen(table[k].name) != length || strncmp(arg + 2, table[k].name, length) != 0) continue;
      if (arg[2 + length] == '=') *attached = arg + 3 + length;
      return k;
    }
    if (table[k].letter && arg[1] == table[k].letter) {
      if (arg[2]) *attached = arg + 2;
      return k;
    }
  }
  return -1;
}

/* `-` and `-1.5` are values; `-o` and `--size` are not. */
static bool is_option(const char *arg)
{
  return arg[0] == '-' && arg[1] != '\0' && !strchr("0123456789.", arg[1]);
}

md_status options_parse(const option *table, int n, int argc, char **argv, options *out)
{
  *out = (options){table, n, NULL, 0, false};
  out->found = calloc((size_t)argc + 1, sizeof *out->found);
  MD_REQUIRE(out->found, MD_ENOMEM, "out of memory for %d arguments", argc);
  for (int a = 1; a < argc; a++) {
    const char *arg = argv[a], *value;
    MD_REQUIRE(is_option(arg), MD_EINVAL, "unexpected argument '%.80s'; see --help", arg);
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
      out->help = true;
      continue;
    }
    const int k = find(table, n, arg, &value);
    if (k < 0) return unknown(table, n, arg);
    if (!table[k].value) {
      MD_REQUIRE(!value, MD_EINVAL, "--%s takes no value, but '%.80s' was given", table[k].name,
                 arg);
      value = "";
    } else if (!value) {
      MD_REQUIRE(a + 1 < argc && !is_option(argv[a + 1]), MD_EINVAL, "--%s needs a value: --%s %s",
                 table[k].name, table[k].name, table[k].value);
      value = argv[++a];
    }
    MD_REQUIRE(!table[k].value || *value, MD_EINVAL, "--%s: the value is empty; expected %s",
               table[k].name, table[k].value);
    MD_REQUIRE(strcmp(table[k].name, "input") != 0 || !options_value(out, k), MD_EINVAL,
               "--input was given twice, '%.80s' and '%.80s': expected one", options_value(out, k),
               value);
    out->found[out->n_found++] = (struct options_found){k, value};
  }
  for (int k = 0; k < n; k++)
    if (strcmp(table[k].name, "output") == 0 || strcmp(table[k].name, "plot") == 0)
      MD_TRY(options_writes(out, k));
  return MD_OK;
}

md_status options_writes(const options *opts, int index)
{
  char *what;
  MD_REQUIRE(asprintf(&what, "--%s", opts->table[index].name) >= 0, MD_ENOMEM,
             "out of memory for a file name");
  const md_status status = md_file_claim(options_value(opts, index), MD_FILE_OUTPUT, what);
  free(what);
  return status;
}

void options_free(options *opts)
{
  free(opts->found);
  opts->found = NULL;
  opts->n_found = 0;
}

enum { HELP_COLUMN = 30 };

/* One row of --help; text on further lines is indented alike. */
static void help_row(FILE *stream, const option *o)
{
  const char letter[] = {o->letter ? '-' : ' ', o->letter ? o->letter : ' ', o->letter ? ',' : ' ',
                         '\0'};
  const int used = fprintf(stream, "  %s --%s%s%s", letter, o->name, o->value ? " " : "",
                           o->value ? o->value : "");
  if (used >= HELP_COLUMN)
    fprintf(stream, "\n%*s", HELP_COLUMN, "");
  else
    fprintf(stream, "%*s", HELP_COLUMN - used, "");
  for (const char *c = o->help; *c; c++) {
    fputc(*c, stream);
    if (*c == '\n') fprintf(stream, "%*s", HELP_COLUMN, "");
  }
  fputc('\n', stream);
}

static void (*take_page)(const options_page *page);

void options_help_to(void (*take)(const options_page *page))
{
  take_page = take;
}

void options_help(FILE *stream, const char *usage, const char *about, const option *table, int n)
{
  if (take_page) {
    take_page(&(options_page){usage, about, table, n});
    return;
  }
  static const option help = {"help", 'h', NULL, "print this text"};
  fprintf(stream, "usage: %s\n\n%s\n\noptions:\n", usage, about);
  for (int k = 0; k < n; k++)
    help_row(stream, &table[k]);
  help_row(stream, &help);
}

const char *options_value(const options *opts, int index)
{
  for (int k = opts->n_found - 1; k >= 0; k--)
    if (opts->found[k].index == index) return opts->found[k].value;
  return NULL;
}

md_status options_blame(const options *opts, int index, md_status status)
{
  if (!status) return status;
  return MD_FAIL(status, "--%s: %s", opts->table[index].name, md_message());
}

md_status options_integer(const options *opts, int index, int64_t min, int64_t max, int64_t *out)
{
  const char *text = options_value(opts, index);
  return text ? options_blame(opts, index, md_parse_int64(text, min, max, out)) : MD_OK;
}

md_status options_device(const options *opts, int index, bool gpu)
{
  int64_t device = -1;
  MD_TRY(options_integer(opts, index, 0, 1023, &device));
  return gpu ? gpus_choose((int)device) : MD_OK;
}

md_status options_number(const options *opts, int index, double min, double max, double *out)
{
  const char *text = options_value(opts, index);
  if (!text) return MD_OK;
  double value;
  MD_TRY(options_blame(opts, index, md_parse_double(text, &value)));
  MD_REQUIRE(value >= min && value <= max, MD_EINVAL,
             "--%s: expected a number in %g..%g, not '%.60s'", opts->table[index].name, min, max,
             text);
  *out = value;
  return MD_OK;
}

md_status options_word(const options *opts, int index, const char *const *words, int n, int *out)
{
  const char *text = options_value(opts, index);
  return text ? options_blame(opts, index, md_parse_word(text, words, n, out)) : MD_OK;
}

md_status options_read_format(const options *opts, int index, int *format)
{
  return options_word(opts, index, options_format_words, OPTIONS_FORMAT_COUNT, format);
}

md_status options_read_threads(const options *opts, int index, int64_t *threads)
{
  return options_integer(opts, index, 1, 1024, threads);
}

md_status options_read_seed(const options *opts, int index, uint64_t *seed)
{
  const char *text = options_value(opts, index);
  return text ? options_blame(opts, index, md_parse_uint64(text, seed)) : MD_OK;
}
