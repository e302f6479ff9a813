/* minimd/config/read_minimd.c - miniMD's fixed format: one quantity or two a line, the rest is
 * comment.
 *
 * Lines: 1, 2 ignored; 3 units; 4 data file; 5 force, lj or eam (potential.file names its file);
 * 6 epsilon sigma (the 13-line dialect has no such line); 7 cells; 8 steps; 9 time step;
 * 10 temperature; 11 density; 12 rebuild period; 13 cutoff and skin; 14 thermo period. */
#include "minimd/config/config_impl.h"
#include "core/parse/parse.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 14, MAX_WORDS = 4, UNITS = 2, DATA_FILE = 3, FORCE = 4, PAIR = 5 };

/* Lines from the sixth on.  Three numbers for one key make a list. */
static const struct {
  const char *what, *keys[2];
  int numbers;
  bool of_lattice; /* without meaning when a data file is named */
} fields[] = {
    {"epsilon and sigma", {"lj.epsilon", "lj.sigma"}, 2, false},
    {"nx, ny and nz", {"system.cells", NULL}, 3, true},
    {"the number of steps", {"run.steps", NULL}, 1, false},
    {"the time step", {"run.dt", NULL}, 1, false},
    {"the initial temperature", {"system.temperature", NULL}, 1, false},
    {"the density", {"system.density", NULL}, 1, true},
    {"steps between list rebuilds", {"neighbor.every", NULL}, 1, false},
    {"the cutoff and the skin", {"lj.cutoff", "neighbor.skin"}, 2, false},
    {"steps between thermo lines", {"run.thermo", NULL}, 1, false},
};

typedef struct {
  char *words[MAX_WORDS]; /* the first ones */
  int n_words;
} fixed_line;

static int leading_numbers(const fixed_line *line)
{
  double value;
  int n = 0;
  while (n < line->n_words && n < MAX_WORDS && !md_parse_double(line->words[n], &value))
    n++;
  return n;
}

static md_status read_field(config *cfg, const char *path, int number, const fixed_line *line,
                            int field, bool from_file)
{
  const int wanted = fields[field].numbers;
  const bool eam = config_get(cfg)->pair == ENGINE_PAIR_EAM;
  MD_REQUIRE(line->n_words >= wanted, MD_EINVAL, "%s:%d: expected %s", path, number,
             fields[field].what);
  if (from_file && fields[field].of_lattice) return MD_OK;
  if (fields[field].keys[1] || wanted == 1) {
    for (int k = 0; k < wanted; k++) {
      const char *key = fields[field].keys[k];
      if (eam && strncmp(key, "lj.", 3) == 0) continue; /* the potential's file has its own */
      MD_TRY(config_put(cfg, path, number, key, CONFIG_DIGITS, line->words[k]));
    }
    return MD_OK;
  }
  char *list;
  MD_REQUIRE(asprintf(&list, "%s,%s,%s", line->words[0], line->words[1], line->words[2]) >= 0,
             MD_ENOMEM, "out of memory for a list");
  const md_status status = config_put(cfg, path, number, fields[field].keys[0], CONFIG_LIST, list);
  free(list);
  return status;
}

/* Lines 3 and 5: one of two words. */
static md_status read_word(config *cfg, const char *path, int number, const fixed_line *line,
                           const char *key, const char *one, const char *other)
{
  const char *found = line->n_words ? line->words[0] : "";
  MD_REQUIRE(strcmp(found, one) == 0 || strcmp(found, other) == 0, MD_EINVAL,
             "%s:%d: expected %s or %s, not '%.60s'", path, number, one, other, found);
  return config_put(cfg, path, number, key, CONFIG_STRING, found);
}

/* The words of the first lines; *extra is the number of the first line with words after them. */
static int split(const config_text *text, fixed_line *lines, int *extra)
{
  char *cursor = text->data, *line;
  int n = 0;
  *extra = 0;
  for (int number = 1; (line = config_text_line(&cursor)); number++) {
    fixed_line found = {0};
    found.n_words = config_text_words(line, found.words, MAX_WORDS);
    if (n < MAX_LINES)
      lines[n++] = found;
    else if (found.n_words && !*extra)
      *extra = number;
  }
  return n;
}

/* Both dialects differ in line 6: epsilon and sigma, or nx, ny and nz already. */
static md_status count_dialect(const char *path, const fixed_line *lines, int *n)
{
  const int numbers = leading_numbers(&lines[PAIR]);
  MD_REQUIRE(numbers == 2 || numbers == 3, MD_EINVAL,
             "%s:%d: expected %s (14-line dialect) or %s (13-line dialect), not %d numbers", path,
             PAIR + 1, fields[0].what, fields[1].what, numbers);
  *n = numbers == 2 ? MAX_LINES : MAX_LINES - 1;
  return MD_OK;
}

md_status read_minimd(config *cfg, config_text *text)
{
  fixed_line lines[MAX_LINES];
  const char *path = text->path;
  int extra, n_dialect = MAX_LINES;
  const int n = split(text, lines, &extra);
  if (n > UNITS)
    MD_TRY(read_word(cfg, path, UNITS + 1, &lines[UNITS], "system.units", "lj", "metal"));
  if (n > FORCE)
    MD_TRY(read_word(cfg, path, FORCE + 1, &lines[FORCE], "potential.style", "lj", "eam"));
  if (n > PAIR) MD_TRY(count_dialect(path, lines, &n_dialect));
  MD_REQUIRE(n >= n_dialect, MD_EINVAL, "%s:%d: the file ends; expected %s", path, n + 1,
             n <= FORCE ? "units (lj), data file (none) and force (lj)"
                        : fields[n - PAIR + MAX_LINES - n_dialect].what);
  MD_REQUIRE(lines[DATA_FILE].n_words, MD_EINVAL, "%s:%d: expected a data file or none", path,
             DATA_FILE + 1);
  const bool from_file = strcmp(lines[DATA_FILE].words[0], "none") != 0;
  if (from_file)
    MD_TRY(config_put(cfg, path, DATA_FILE + 1, "system.read", CONFIG_STRING,
                      lines[DATA_FILE].words[0]));
  else
    MD_TRY(config_put(cfg, path, DATA_FILE + 1, "system.velocity", CONFIG_STRING, "minimd"));
  for (int k = PAIR; k < n_dialect; k++)
    MD_TRY(read_field(cfg, path, k + 1, &lines[k], k - PAIR + MAX_LINES - n_dialect, from_file));
  for (int k = n - 1; k >= n_dialect; k--)
    if (lines[k].n_words) extra = k + 1;
  if (extra)
    MD_TRY(config_warn(cfg, "%s:%d: ignored: this dialect of miniMD's format has %d lines", path,
                       extra, n_dialect));
  return config_describe(cfg, "%s (miniMD fixed format, %d lines)", path, n_dialect);
}
