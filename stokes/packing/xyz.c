/* stokes/packing/xyz.c - packings as extended XYZ: what is written reads back to the last bit. */
#include "stokes/packing/packing.h"
#include "core/output/output.h"
#include "core/parse/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void stokes_packing_print(const stokes_packing *packing, FILE *stream)
{
  const double *box = packing->box;
  fprintf(stream,
          "%" PRId64 "\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" pbc=\"T T T\" "
          "Properties=species:S:1:pos:R:3:radius:R:1\n",
          packing->n, box[0], box[1], box[2]);
  for (int64_t i = 0; i < packing->n; i++) {
    const double *x = packing->x + 4 * i;
    fprintf(stream, "S %.17g %.17g %.17g %.17g\n", x[0], x[1], x[2], x[3]);
  }
}

/* The value of `key=value`, `key="value"` or `key={value}` in the comment line, cut off in place;
 * NULL without. */
static char *property(char *line, const char *key)
{
  const size_t length = strlen(key);
  for (char *at = line; (at = strstr(at, key)); at += length) {
    if ((at != line && at[-1] != ' ' && at[-1] != '\t') || at[length] != '=') continue;
    char *value = at + length + 1;
    const char *end = *value == '"' ? "\"" : *value == '{' ? "}" : " \t";
    if (*value == '"' || *value == '{') value++;
    value[strcspn(value, end)] = '\0';
    return value;
  }
  return NULL;
}

static md_status parse_lattice(char *text, double *box)
{
  double cell[9];
  char *rest = NULL, *word = text ? strtok_r(text, " \t", &rest) : NULL;
  int n = 0;
  for (; word; word = strtok_r(NULL, " \t", &rest), n++)
    if (n < 9) MD_TRY(md_parse_double(word, &cell[n]));
  MD_REQUIRE(n == 9, MD_EINVAL, "expected Lattice=\"Lx 0 0 0 Ly 0 0 0 Lz\"");
  for (int k = 0; k < 9; k++)
    MD_REQUIRE(k % 4 == 0 ? cell[k] > 0 : cell[k] == 0, MD_EINVAL,
               "Lattice: expected a box with right angles along the axes");
  for (int d = 0; d < 3; d++) {
    box[d] = cell[4 * d];
    MD_REQUIRE(box[d] >= STOKES_LENGTH_MIN && box[d] <= STOKES_LENGTH_MAX, MD_EINVAL,
               "Lattice: expected edges in %g..%g, not %g", STOKES_LENGTH_MIN, STOKES_LENGTH_MAX,
               box[d]);
  }
  return MD_OK;
}

typedef struct {
  int n, pos, radius; /* columns; first column of pos; column of radius */
} columns;

/* `name:type:count:...` */
static md_status parse_properties(char *text, columns *out)
{
  *out = (columns){0, -1, -1};
  char *rest = NULL, *name = text ? strtok_r(text, ":", &rest) : NULL;
  for (; name; name = strtok_r(NULL, ":", &rest)) {
    const char *type = strtok_r(NULL, ":", &rest), *count = strtok_r(NULL, ":", &rest);
    int64_t width;
    MD_REQUIRE(type && count, MD_EINVAL, "Properties: expected name:type:count:...");
    MD_TRY(md_parse_int64(count, 1, 1000, &width));
    if (strcmp(name, "pos") == 0 && width == 3) out->pos = out->n;
    if (strcmp(name, "radius") == 0 && width == 1) out->radius = out->n;
    out->n += (int)width;
  }
  MD_REQUIRE(out->pos >= 0 && out->radius >= 0, MD_EINVAL,
             "expected Properties=...:pos:R:3:radius:R:1");
  return MD_OK;
}

static md_status parse_sphere(char *line, const columns *col, stokes_radius_range *seen, double *x)
{
  char *rest = NULL, *word = strtok_r(line, " \t", &rest);
  int n = 0;
  for (; word; word = strtok_r(NULL, " \t", &rest), n++) {
    const int d = n - col->pos;
    if (d >= 0 && d < 3) MD_TRY(md_parse_double(word, &x[d]));
    if (n == col->radius) MD_TRY(md_parse_double(word, &x[3]));
  }
  MD_REQUIRE(n == col->n, MD_EINVAL, "expected %d columns, found %d", col->n, n);
  return stokes_radius_admit(seen, x[3]);
}

static md_status read_header(md_lines *in, int64_t *n, double *box, columns *col)
{
  MD_TRY(md_lines_need(in, "the number of spheres"));
  char *count = in->line + strspn(in->line, " \t");
  for (char *end = count + strlen(count); end > count && strchr(" \t", end[-1]); end--)
    end[-1] = '\0';
  if (md_parse_int64(count, 1, INT32_MAX, n)) return md_lines_blame(in, MD_EINVAL);
  MD_TRY(md_lines_need(in, "Lattice and Properties"));
  char *copy = strdup(in->line);
  MD_REQUIRE(copy, MD_ENOMEM, "out of memory for a line");
  md_status status = parse_lattice(property(copy, "Lattice"), box);
  free(copy);
  if (!status) status = parse_properties(property(in->line, "Properties"), col);
  return status ? md_lines_blame(in, status) : MD_OK;
}

/* n spheres.  Room grows with what is read: a header may promise more than the file holds. */
static md_status read_spheres(md_lines *in, const columns *col, int64_t n, stokes_packing *out)
{
  stokes_radius_range seen = {0};
  for (int64_t i = 0, room = 0; i < n; i++) {
    MD_TRY(md_lines_need(in, "a sphere"));
    if (i == room) {
      room = room ? 2 * room : 1024;
      if (room > n) room = n;
      double *more = realloc(out->x, (size_t)room * 4 * sizeof *more);
      MD_REQUIRE(more, MD_ENOMEM, "out of memory for %" PRId64 " spheres", room);
      out->x = more;
    }
    out->n = i + 1;
    const md_status status = parse_sphere(in->line, col, &seen, out->x + 4 * i);
    if (status) return md_lines_blame(in, status);
  }
  return MD_OK;
}

static md_status read_all(md_lines *in, stokes_packing *out)
{
  int64_t n;
  columns col;
  MD_TRY(read_header(in, &n, out->box, &col));
  MD_TRY(read_spheres(in, &col, n, out));
  for (bool got = true; got;) {
    MD_TRY(md_lines_next(in, &got));
    MD_REQUIRE(!got || in->line[strspn(in->line, " \t\r")] == '\0', MD_EINVAL,
               "%s:%" PRId64 ": text after the last of %" PRId64 " spheres", in->path, in->number,
               n);
  }
  const md_status status = stokes_packing_values(out);
  return status ? MD_FAIL(status, "%s: %s", in->path, md_message()) : MD_OK;
}

md_status stokes_packing_read(const char *path, stokes_packing *out)
{
  *out = (stokes_packing){0};
  md_lines in;
  MD_TRY(md_lines_open(&in, path));
  const md_status status = read_all(&in, out);
  md_lines_close(&in);
  if (status) stokes_packing_free(out);
  return status;
}
