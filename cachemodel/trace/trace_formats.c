/* cachemodel/trace/trace_formats.c - what a line of each kind of text says (trace_file.h). */
#include "cachemodel/trace/trace_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum { READ, WRITE, MODIFY, FETCH, KINDS } kind;
enum { WORDS = 8, DINERO_BYTES = 4 };

/* A number that begins at *at, which moves behind it. */
static bool scan(const char **at, bool hexadecimal, uint64_t *value)
{
  const bool prefix = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
  const bool hex = hexadecimal || prefix;
  const char *digits = *at + (prefix ? 2 : 0);
  const size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
  char *end;
  errno = 0;
  *value = strtoull(digits, &end, hex ? 16 : 10);
  *at = digits + n;
  return n > 0 && errno == 0;
}

static bool whole(const char *text, bool hexadecimal, uint64_t *value)
{
  return scan(&text, hexadecimal, value) && *text == '\0';
}

/* Sizes are decimal. */
static bool whole_size(const char *text, uint64_t *bytes)
{
  return isdigit((unsigned char)text[0]) && text[1] != 'x' && text[1] != 'X' &&
         whole(text, false, bytes);
}

static bool put(const trace_reader *r, trace_found *found, kind what, uint64_t address,
                uint64_t bytes)
{
  trace_run run = {
      .stream = TRACE_OTHER, .op = TRACE_READ, .count = 1, .address = address, .bytes = 1};
  if (bytes < 1 || bytes > INT32_MAX) return false;
  run.bytes = (int32_t)bytes;
  if (!trace_run_valid(&run)) return false;
  if (what == FETCH && !r->how.instructions) return true;
  if (what != WRITE) found->run[found->n++] = run;
  run.op = TRACE_WRITE;
  if (what == WRITE || what == MODIFY) found->run[found->n++] = run;
  return true;
}

static bool kind_of(const char *word, kind *out)
{
  static const char *const words[][2] = {
      {"r", "w"}, {"read", "write"}, {"l", "s"},           {"load", "store"},
      {"m", "i"}, {"modify", "i"},   {"update", "ifetch"}, {"rw", "fetch"},
  };
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    for (int c = 0; c < 2; c++)
      if (strcasecmp(word, words[k][c]) == 0) {
        *out = k < 4 ? (c ? WRITE : READ) : (c ? FETCH : MODIFY);
        return true;
      }
  return false;
}

/* Words between blanks, at most WORDS; returns how many there are. */
static int split(char *line, char **words)
{
  int n = 0;
  for (char *word = strtok_r(line, " \t", &line); word; word = strtok_r(NULL, " \t", &line)) {
    if (n < WORDS) words[n] = word;
    n++;
  }
  return n;
}

/* address,size,r|w */
static bool parse_own(const trace_reader *r, const char *at, trace_found *found)
{
  uint64_t address, bytes;
  if (!scan(&at, false, &address) || *at++ != ',') return false;
  if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) return false;
  if (!scan(&at, false, &bytes) || *at++ != ',') return false;
  if (strcmp(at, "r") != 0 && strcmp(at, "w") != 0) return false;
  return put(r, found, *at == 'r' ? READ : WRITE, address, bytes);
}

/* DynamoRIO's view tool: "... read 8 byte(s) @ 0x1000 by PC 0x2000"; other lines say nothing. */
static bool parse_view(const trace_reader *r, char *line, char *mark, trace_found *found)
{
  uint64_t address, bytes;
  kind what;
  if (!mark) return true;
  const char *at = mark + strlen(" byte(s) @ ");
  if (!scan(&at, true, &address) || (*at && *at != ' ')) return false;
  *mark = '\0';
  char *size = strrchr(line, ' ');
  if (!size || !whole_size(size + 1, &bytes)) return false;
  while (size > line && size[-1] == ' ')
    size--;
  *size = '\0';
  const char *word = strrchr(line, ' ');
  word = word ? word + 1 : line;
  if (strncmp(word, "prefetch", 8) == 0 || strcmp(word, "non-fetched") == 0) return true;
  return kind_of(word, &what) && put(r, found, what, address, bytes);
}

/* DynamoRIO's memtrace sample: "address: size, r|w", or the opcode of an instruction. */
static bool parse_sample(const trace_reader *r, char **words, int n, trace_found *found)
{
  uint64_t address, bytes;
  const size_t colon = strlen(words[0]) - 1, comma = strlen(words[1]) - 1;
  kind what = FETCH;
  if (n != 3 || words[0][colon] != ':' || words[1][comma] != ',') return false;
  words[0][colon] = words[1][comma] = '\0';
  if (!whole(words[0], true, &address) || !whole_size(words[1], &bytes)) return false;
  if (strcmp(words[2], "r") == 0) what = READ;
  if (strcmp(words[2], "w") == 0) what = WRITE;
  return put(r, found, what, address, bytes);
}

/* [PC:] R|W address [size], or address R|W [size]. */
static bool parse_words(const trace_reader *r, char **words, int n, trace_found *found)
{
  uint64_t address, bytes = 1, counter;
  kind what;
  const size_t last = strlen(words[0]) - 1;
  if (words[0][last] == ':') {
    words[0][last] = '\0';
    if (!whole(words[0], true, &counter)) return false;
    words++;
    n--;
  }
  if (n < 2 || n > 3) return false;
  const int at = kind_of(words[0], &what) ? 1 : 0;
  if (at == 0 && !kind_of(words[1], &what)) return false;
  if (!whole(words[at], false, &address)) return false;
  if (n == 3 && !whole_size(words[2], &bytes)) return false;
  return put(r, found, what, address, bytes);
}

static bool parse_text(trace_reader *r, char *line, trace_found *found)
{
  char *words[WORDS];
  if (parse_own(r, line, found)) return true;
  if (strncmp(line, "Format: ", 8) == 0) return true; /* the memtrace sample's header */
  char *mark = strstr(line, " byte(s) @ ");
  r->view = r->view || mark || strncmp(line, "Output format:", 14) == 0;
  if (r->view) return parse_view(r, line, mark, found);
  const int n = split(line, words);
  if (n < 2 || n > 4) return false;
  const size_t comma = strlen(words[1]) - 1;
  if (words[1][comma] == ',') return parse_sample(r, words, n, found);
  return parse_words(r, words, n, found);
}

static bool is_lackey(const char *line)
{
  if (strncmp(line, "==", 2) == 0 || strncmp(line, "--", 2) == 0) return true;
  if (strncmp(line, "I  ", 3) != 0 && strncmp(line, " L ", 3) != 0 &&
      strncmp(line, " S ", 3) != 0 && strncmp(line, " M ", 3) != 0)
    return false;
  const char *at = line + 3;
  uint64_t address;
  return scan(&at, true, &address) && *at == ',';
}

/* I  address,size; ` L`, ` S` and ` M` likewise; what valgrind says besides. */
static bool parse_lackey(const trace_reader *r, const char *line, trace_found *found)
{
  uint64_t address, bytes;
  kind what;
  if (!is_lackey(line)) return false;
  if (*line == '=' || *line == '-') return true;
  const char word[] = {line[line[0] == ' '], '\0'}, *at = line + 3;
  if (!scan(&at, true, &address) || *at++ != ',' || !whole_size(at, &bytes)) return false;
  return kind_of(word, &what) && put(r, found, what, address, bytes);
}

/* The traditional form ignores what follows the address. */
static bool parse_dinero(const trace_reader *r, char *line, trace_found *found)
{
  static const kind labels[] = {READ, WRITE, FETCH};
  char *words[WORDS];
  uint64_t address, bytes = DINERO_BYTES;
  const int n = split(line, words);
  if (n < 2 || strlen(words[0]) != 1 || !whole(words[1], true, &address)) return false;
  const char label = words[0][0];
  if (label >= '0' && label <= '2') return put(r, found, labels[label - '0'], address, bytes);
  kind what;
  if (!strchr("rwim", label) || !kind_of(words[0], &what)) return false;
  return n >= 3 && whole_size(words[2], &bytes) && put(r, found, what, address, bytes);
}

/* A cell without the blanks and quotes around it. */
static char *trim(char *cell)
{
  while (*cell == ' ' || *cell == '"')
    cell++;
  size_t n = strlen(cell);
  while (n > 0 && (cell[n - 1] == ' ' || cell[n - 1] == '"'))
    cell[--n] = '\0';
  return cell;
}

static bool is_one_of(const char *word, const char *const *words)
{
  for (; *words; words++)
    if (strcasecmp(word, *words) == 0) return true;
  return false;
}

bool trace_read_header(const char *line, trace_columns *out)
{
  static const char *const addresses[] = {"address", "addr",         "vaddr", "virtual_address",
                                          "ea",      "data_address", NULL};
  static const char *const sizes[] = {"size", "bytes", "length", "width", "data_size", NULL};
  static const char *const ops[] = {"op",   "operation", "type",        "rw", "r/w",
                                    "kind", "access",    "access_type", NULL};
  *out = (trace_columns){strchr(line, ';') ? ';' : strchr(line, '\t') ? '\t' : ',', -1, -1, -1};
  const char ends[] = {out->separator, '\0'};
  char *copy = strdup(line), *rest = copy, *cell;
  bool good = copy != NULL;
  for (int k = 0; good && (cell = strsep(&rest, ends)); k++) {
    cell = trim(cell);
    int *column = is_one_of(cell, addresses) ? &out->address
                  : is_one_of(cell, sizes)   ? &out->size
                  : is_one_of(cell, ops)     ? &out->op
                                             : NULL;
    good = !column || *column < 0;
    if (column) *column = k;
  }
  free(copy);
  return good && out->address >= 0;
}

static bool parse_csv(const trace_reader *r, char *line, trace_found *found)
{
  const trace_columns *c = &r->columns;
  const char ends[] = {c->separator, '\0'};
  uint64_t address = 0, bytes = 1;
  kind what = READ;
  char *cell;
  int k = 0;
  for (; (cell = strsep(&line, ends)); k++) {
    cell = trim(cell);
    if (k == c->address && !whole(cell, false, &address)) return false;
    if (k == c->size && !whole_size(cell, &bytes)) return false;
    if (k == c->op && !kind_of(cell, &what)) return false;
  }
  if (k <= c->address || k <= c->size || k <= c->op) return false;
  return put(r, found, what, address, bytes);
}

bool trace_parse(trace_reader *r, char *line, trace_found *found)
{
  switch (r->how.format) {
  case TRACE_FORMAT_TEXT:
    return parse_text(r, line, found);
  case TRACE_FORMAT_LACKEY:
    return parse_lackey(r, line, found);
  case TRACE_FORMAT_DINERO:
    return parse_dinero(r, line, found);
  case TRACE_FORMAT_CSV:
    return parse_csv(r, line, found);
  default:
    return false;
  }
}

/* Letters with three words are text, where numbers have 0x: `r 10 4` reads as 10, not 16. */
trace_format trace_detect(const char *line)
{
  trace_columns columns;
  uint64_t address;
  if (is_lackey(line)) return TRACE_FORMAT_LACKEY;
  const bool label = line[0] >= '0' && line[0] <= '2' && (line[1] == ' ' || line[1] == '\t');
  const char *at = line + (label ? 2 : 0);
  if (label && scan(&at, true, &address) && (*at == '\0' || *at == ' ')) return TRACE_FORMAT_DINERO;
  if (trace_read_header(line, &columns)) return TRACE_FORMAT_CSV;
  return TRACE_FORMAT_TEXT;
}
