/* minimd/shell/options.h - the command line of every sub-command, from one table each.
 *
 * `--name value`, `--name=value`, `-x value`, `-xvalue`.  An unknown option, a missing or unwanted
 * value or a stray word fails before anything else is done; of several, the last counts, but a
 * second --input is an error. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "core/md.h"
#include <stdio.h>

MD_BEGIN_C

typedef struct {
  const char *name;  /* long name without dashes */
  char letter;       /* short name, or 0 */
  const char *value; /* what --help calls the value; NULL: a flag */
  const char *help;  /* one sentence; may hold line ends */
} option;

typedef struct {
  const option *table;
  int n;
  struct options_found {
    int index;         /* into table */
    const char *value; /* "" for a flag; points into argv */
  } * found;           /* in the order given, for options that may be repeated */
  int n_found;
  bool help; /* --help or -h was given */
} options;

/* Read argv[1 .. argc), and claim the files of --output and --plot.  Free with options_free, also
 * after a failure.
 * Errors: MD_EINVAL (names the argument and the nearest known option), MD_ENOMEM. */
md_status options_parse(const option *table, int n, int argc, char **argv, options *out);
void options_free(options *opts);
/* The value of option `index`, if it is given, names a file that this command writes.
 * Errors: those of md_file_claim. */
md_status options_writes(const options *opts, int index);

/* Print usage, what it does, and the table. */
void options_help(FILE *stream, const char *usage, const char *about, const option *table, int n);

/* The same as data; what it points at lives as long as the call. */
typedef struct {
  const char *usage, *about;
  const option *table;
  int n;
} options_page;
/* From now on options_help() hands pages to take and prints nothing; NULL: it prints again. */
void options_help_to(void (*take)(const options_page *page));

/* The last value of option `index`, or NULL when it was not given. */
const char *options_value(const options *opts, int index);

/* The last value in its type; *out is unchanged when the option was not given.
 * Errors: MD_EINVAL (names the option, the value and what was expected). */
md_status options_integer(const options *opts, int index, int64_t min, int64_t max, int64_t *out);
md_status options_number(const options *opts, int index, double min, double max, double *out);
md_status options_word(const options *opts, int index, const char *const *words, int n, int *out);

/* Compute on the device that option `index` (OPTION_DEVICE) names; without it several ranks of a
 * host take devices in turn.  `gpu`: whether a device computes, else the number is only checked.
 * Errors: MD_EINVAL, MD_ENOGPU. */
md_status options_device(const options *opts, int index, bool gpu);

/* Put "--name: " before the present message; returns status. */
md_status options_blame(const options *opts, int index, md_status status);

/* Version of all JSON that the program writes: 2 has settings as numbers, booleans, lists and
 * strings, where 1 had text. */
enum { OPTIONS_JSON_SCHEMA = 2 };

/* How results are printed. */
#define OPTIONS_FORMATS(X) X(TABLE, "table") X(CSV, "csv") X(JSON, "json")
#define MD_ENUM_(name, word) OPTIONS_FORMAT_##name,
typedef enum { OPTIONS_FORMATS(MD_ENUM_) OPTIONS_FORMAT_COUNT } options_format;
#undef MD_ENUM_
extern const char *const options_format_words[OPTIONS_FORMAT_COUNT];
/* The options of OPTION_FORMAT, OPTION_THREADS and OPTION_SEED: *format is an options_format.
 * Errors: as above. */
md_status options_read_format(const options *opts, int index, int *format);
md_status options_read_threads(const options *opts, int index, int64_t *threads);
md_status options_read_seed(const options *opts, int index, uint64_t *seed);

/* Rows that most sub-commands share; `word` is what holds where the option is not given. */
#define OPTION_OUTPUT                                                                              \
  {                                                                                                \
    "output", 'o', "FILE", "write results to FILE instead of standard output"                      \
  }
#define OPTION_DEVICE                                                                              \
  {                                                                                                \
    "device", 0, "N", "CUDA device to compute on, 0 the first"                                     \
  }
#define OPTION_FORMAT OPTION_FORMAT_OR("table")
#define OPTION_FORMAT_OR(word)                                                                     \
  {                                                                                                \
    "format", 0, "table|csv|json", "how results are printed (" word ")"                            \
  }
#define OPTION_THREADS                                                                             \
  {                                                                                                \
    "threads", 0, "N", "OpenMP threads (all)"                                                      \
  }
#define OPTION_SEED(what)                                                                          \
  {                                                                                                \
    "seed", 0, "N", "of " what " (1)"                                                              \
  }
#define OPTION_BACKEND(words, word)                                                                \
  {                                                                                                \
    "backend", 0, words, "where to compute (" word ")"                                             \
  }
#define OPTION_PLOT                                                                                \
  {                                                                                                \
    "plot", 0, "FILE",                                                                             \
        "also draw FILE with gnuplot: .png, .svg, .pdf, or .html, with the table beside it"        \
  }
#define OPTION_QUIET                                                                               \
  {                                                                                                \
    "quiet", 0, NULL, "no progress on standard error"                                              \
  }

MD_END_C
#endif
