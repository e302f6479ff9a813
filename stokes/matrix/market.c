/* stokes/matrix/market.c - matrices of 3 x 3 blocks as MatrixMarket files.
 *
 * Entries are sorted by block and gathered; elements that a file leaves out of a block are zero. */
#include "core/output/output.h"
#include "core/parse/parse.h"
#include "core/sizes.h"
#include "stokes/matrix/matrix.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int32_t row, column; /* scalar, 0-based */
  double value;
} entry;

typedef struct {
  md_lines lines;
  bool symmetric, integer;
  int64_t n_rows; /* block rows */
  int64_t n;      /* entries read, mirrored ones included */
  int64_t most;   /* for so many there is room */
  entry *entries;
} market;

static bool holds_nothing(const char *line)
{
  return line[0] == '%' || line[strspn(line, " \t\r\n")] == '\0';
}

/* The next line that is no comment. */
static md_status next_line(md_lines *in, const char *expected)
{
  do
    MD_TRY(md_lines_need(in, expected));
  while (holds_nothing(in->line));
  return MD_OK;
}

static md_status read_banner(market *in)
{
  bool got;
  MD_TRY(md_lines_next(&in->lines, &got));
  char words[4][16] = {{0}};
  if (got)
    (void)sscanf(in->lines.line, "%%%%MatrixMarket %15s %15s %15s %15s", words[0], words[1],
                 words[2], words[3]);
  for (int k = 0; k < 4; k++)
    for (char *c = words[k]; *c; c++)
      *c = (char)tolower((unsigned char)*c);
  in->integer = strcmp(words[2], "integer") == 0;
  in->symmetric = strcmp(words[3], "symmetric") == 0;
  const bool good = strcmp(words[0], "matrix") == 0 && strcmp(words[1], "coordinate") == 0 &&
                    (strcmp(words[2], "real") == 0 || in->integer) &&
                    (in->symmetric || strcmp(words[3], "general") == 0);
  MD_REQUIRE(good, MD_EINVAL,
             "%s:1: expected '%%%%MatrixMarket matrix coordinate real|integer general|symmetric'",
             in->lines.path);
  return MD_OK;
}

/* Cut the line into exactly n words. */
static md_status split(char *line, int n, char **word)
{
  char *rest = NULL, *next = strtok_r(line, " \t\r\n", &rest);
  int found = 0;
  for (; next; next = strtok_r(NULL, " \t\r\n", &rest))
    if (found++ < n) word[found - 1] = next;
  MD_REQUIRE(found == n, MD_EINVAL, "expected %d numbers, found %d", n, found);
  return MD_OK;
}

static md_status parse_sizes(market *in, int64_t *entries)
{
  char *word[3];
  int64_t rows, columns;
  MD_TRY(split(in->lines.line, 3, word));
  MD_TRY(md_parse_int64(word[0], 1, INT64_MAX, &rows));
  MD_TRY(md_parse_int64(word[1], 1, INT64_MAX, &columns));
  MD_TRY(md_parse_int64(word[2], 0, INT64_MAX / (int64_t)sizeof(entry) / 2, entries));
  MD_REQUIRE(rows == columns, MD_EINVAL,
             "the matrix is %" PRId64 " x %" PRId64 ", expected a square one", rows, columns);
  MD_REQUIRE(rows % 3 == 0, MD_EINVAL,
             "the matrix has %" PRId64 " rows, expected a multiple of 3 for 3 x 3 blocks", rows);
  MD_REQUIRE(rows <= INT32_MAX, MD_ECAPACITY, "the matrix has %" PRId64 " rows, at most %d fit",
             rows, INT32_MAX);
  const int64_t blocks = in->symmetric ? md_size_times(*entries, 2) : *entries;
  MD_REQUIRE(rows / 3 <= blocks, MD_EINVAL,
             "the matrix has %" PRId64 " rows and %" PRId64
             " entries, expected one in every 3 rows at least",
             rows, *entries);
  in->n_rows = rows / 3;
  return MD_OK;
}

/* Room for two more entries: what the sizes line promises may not be there. */
static md_status reserve(market *in)
{
  if (in->n + 2 <= in->most) return MD_OK;
  const int64_t most = in->most ? 2 * in->most : 1024;
  entry *more = realloc(in->entries, (size_t)most * sizeof *more);
  MD_REQUIRE(more, MD_ENOMEM, "out of memory for %" PRId64 " entries", most);
  in->entries = more;
  in->most = most;
  return MD_OK;
}

static md_status parse_entry(market *in)
{
  char *word[3];
  int64_t row, column;
  entry e;
  MD_TRY(split(in->lines.line, 3, word));
  MD_TRY(md_parse_int64(word[0], 1, 3 * in->n_rows, &row));
  MD_TRY(md_parse_int64(word[1], 1, 3 * in->n_rows, &column));
  if (in->integer) {
    int64_t value;
    MD_TRY(md_parse_int64(word[2], INT64_MIN, INT64_MAX, &value));
    e.value = (double)value;
  } else {
    MD_TRY(md_parse_double(word[2], &e.value));
  }
  MD_REQUIRE(!in->symmetric || row >= column, MD_EINVAL,
             "an entry above the diagonal of a symmetric matrix");
  MD_TRY(reserve(in));
  e.row = (int32_t)(row - 1);
  e.column = (int32_t)(column - 1);
  in->entries[in->n++] = e;
  if (in->symmetric && row != column) in->entries[in->n++] = (entry){e.column, e.row, e.value};
  return MD_OK;
}

static md_status read_entries(market *in)
{
  MD_TRY(read_banner(in));
  MD_TRY(next_line(&in->lines, "rows, columns and entries"));
  int64_t entries;
  md_status status = parse_sizes(in, &entries);
  if (status) return md_lines_blame(&in->lines, status);
  for (int64_t k = 0; k < entries; k++) {
    MD_TRY(next_line(&in->lines, "an entry"));
    status = parse_entry(in);
    if (status) return md_lines_blame(&in->lines, status);
  }
  for (bool got = true; got;) {
    MD_TRY(md_lines_next(&in->lines, &got));
    MD_REQUIRE(!got || holds_nothing(in->lines.line), MD_EINVAL,
               "%s:%" PRId64 ": text after the last of %" PRId64 " entries", in->lines.path,
               in->lines.number, entries);
  }
  return MD_OK;
}

/* Block row, block column, place in the block. */
static int compare(const void *a, const void *b)
{
  const entry *p = a, *q = b;
  const int32_t keys[4][2] = {{p->row / 3, q->row / 3},
                              {p->column / 3, q->column / 3},
                              {p->row, q->row},
                              {p->column, q->column}};
  for (int k = 0; k < 4; k++)
    if (keys[k][0] != keys[k][1]) return keys[k][0] < keys[k][1] ? -1 : 1;
  return 0;
}

static bool same_block(const entry *a, const entry *b)
{
  return a->row / 3 == b->row / 3 && a->column / 3 == b->column / 3;
}

static md_status gather(const market *in, stokes_blocks *out)
{
  const entry *e = in->entries;
  for (int64_t k = 1; k < in->n; k++) {
    MD_REQUIRE(compare(&e[k - 1], &e[k]) != 0, MD_EINVAL, "%s: entry (%d, %d) is given twice",
               in->lines.path, e[k].row + 1, e[k].column + 1);
    out->n_blocks += !same_block(&e[k - 1], &e[k]);
  }
  out->n_blocks += in->n > 0;
  out->n_rows = in->n_rows;
  out->start = calloc((size_t)out->n_rows + 1, sizeof *out->start);
  out->column = malloc((size_t)(out->n_blocks + 1) * sizeof *out->column);
  out->block = calloc((size_t)out->n_blocks * 9 + 1, sizeof *out->block);
  MD_REQUIRE(out->start && out->column && out->block, MD_ENOMEM,
             "%s: out of memory for %" PRId64 " blocks", in->lines.path, out->n_blocks);
  int64_t at = -1;
  for (int64_t k = 0; k < in->n; k++) {
    if (k == 0 || !same_block(&e[k - 1], &e[k])) {
      out->column[++at] = e[k].column / 3;
      out->start[e[k].row / 3 + 1]++;
    }
    out->block[9 * at + 3 * (e[k].row % 3) + e[k].column % 3] = e[k].value;
  }
  for (int64_t i = 0; i < out->n_rows; i++)
    out->start[i + 1] += out->start[i];
  return MD_OK;
}

md_status stokes_blocks_read(const char *path, stokes_blocks *out)
{
  *out = (stokes_blocks){0};
  market in = {0};
  MD_TRY(md_lines_open(&in.lines, path));
  md_status status = read_entries(&in);
  if (!status) {
    if (in.n > 0) qsort(in.entries, (size_t)in.n, sizeof *in.entries, compare);
    status = gather(&in, out);
  }
  md_lines_close(&in.lines);
  free(in.entries);
  if (status) stokes_blocks_free(out);
  return status;
}

md_status stokes_blocks_write(const stokes_blocks *blocks, const char *path)
{
  md_output out;
  MD_TRY(md_output_open(path, &out));
  fprintf(out.stream,
          "%%%%MatrixMarket matrix coordinate real general\n%" PRId64 " %" PRId64 " %" PRId64 "\n",
          3 * blocks->n_rows, 3 * blocks->n_rows, 9 * blocks->n_blocks);
  for (int64_t i = 0; i < blocks->n_rows; i++)
    for (int64_t p = blocks->start[i]; p < blocks->start[i + 1]; p++)
      for (int k = 0; k < 9; k++)
        fprintf(out.stream, "%" PRId64 " %d %.17g\n", 3 * i + k / 3 + 1,
                3 * blocks->column[p] + k % 3 + 1, blocks->block[9 * p + k]);
  return md_output_close(&out);
}
