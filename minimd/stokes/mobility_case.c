/* minimd/stokes/mobility_case.c - see mobility_case.h. */
#include "minimd/stokes/mobility_case.h"
#include "core/parse/parse.h"
#include "stokes/normal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A file being read: the numbers of its rows. */
typedef struct {
  md_lines in;
  int columns;
  int64_t n, room;
  double *row; /* [room][columns] */
} reader;

static md_status read_head(reader *r, mobility_case *out)
{
  double v[4];
  char rest;
  MD_TRY(md_lines_need(&r->in, "'# box LX LY LZ viscosity ETA'"));
  const int found =
      sscanf(r->in.line, "# box %lf %lf %lf viscosity %lf %c", &v[0], &v[1], &v[2], &v[3], &rest);
  if (found != 4)
    return md_lines_blame(&r->in, MD_FAIL(MD_EINVAL,
                                          "expected '# box LX LY LZ viscosity ETA', not "
                                          "'%.60s'",
                                          r->in.line));
  memcpy(out->spheres.box, v, sizeof out->spheres.box);
  out->viscosity = v[3];
  MD_TRY(md_lines_need(&r->in, "the names of columns"));
  r->columns = 1;
  for (const char *at = r->in.line; *at; at++)
    r->columns += *at == ',';
  if (r->columns < 10 || (r->columns - 4) % 6 != 0)
    return md_lines_blame(&r->in, MD_FAIL(MD_EINVAL,
                                          "expected 4 + 6 m columns: x,y,z,radius, m forces and m "
                                          "velocities, not %d",
                                          r->columns));
  out->m = (r->columns - 4) / 6;
  return MD_OK;
}

static md_status grow(reader *r)
{
  if (r->n < r->room) return MD_OK;
  const int64_t room = r->room ? 2 * r->room : 256;
  double *row = realloc(r->row, (size_t)room * (size_t)r->columns * sizeof *row);
  MD_REQUIRE(row, MD_ENOMEM, "out of memory for %" PRId64 " spheres", room);
  r->row = row;
  r->room = room;
  return MD_OK;
}

static md_status read_row(reader *r)
{
  char **words;
  int n;
  MD_TRY(md_parse_list(r->in.line, "the row", &words, &n));
  md_status status =
      n == r->columns ? MD_OK : MD_FAIL(MD_EINVAL, "expected %d numbers, not %d", r->columns, n);
  for (int k = 0; !status && k < n; k++)
    status = md_parse_double(words[k], &r->row[r->n * r->columns + k]);
  free(words);
  r->n += !status;
  return status;
}

static md_status read_rows(reader *r)
{
  for (;;) {
    bool got;
    MD_TRY(md_lines_next(&r->in, &got));
    if (!got) break;
    MD_TRY(grow(r));
    const md_status status = read_row(r);
    if (status) return md_lines_blame(&r->in, status);
  }
  if (r->n > 0) return MD_OK;
  return md_lines_blame(&r->in, MD_FAIL(MD_EINVAL, "expected a row for each sphere"));
}

static md_status reserve(int64_t n, int m, double **f, double **u)
{
  const size_t bytes = (size_t)n * 3 * (size_t)m * sizeof(double);
  *f = malloc(bytes);
  if (u) *u = malloc(bytes);
  MD_REQUIRE(*f && (!u || *u), MD_ENOMEM, "out of memory for %d forces on %" PRId64 " spheres", m,
             n);
  return MD_OK;
}

static md_status take_rows(const reader *r, mobility_case *out)
{
  const double box[3] = {out->spheres.box[0], out->spheres.box[1], out->spheres.box[2]};
  const int m = out->m;
  MD_TRY(stokes_packing_create(r->n, &out->spheres));
  memcpy(out->spheres.box, box, sizeof box);
  MD_TRY(reserve(r->n, m, &out->f, &out->u));
  for (int64_t i = 0; i < r->n; i++) {
    const double *row = r->row + i * r->columns;
    memcpy(out->spheres.x + 4 * i, row, 4 * sizeof *row);
    for (int d = 0; d < 3; d++)
      for (int c = 0; c < m; c++) {
        out->f[(3 * i + d) * m + c] = row[4 + 3 * c + d];
        out->u[(3 * i + d) * m + c] = row[4 + 3 * m + 3 * c + d];
      }
  }
  return MD_OK;
}

md_status mobility_case_read(const char *path, mobility_case *out)
{
  reader r = {.n = 0};
  *out = (mobility_case){.m = 0};
  MD_TRY(md_lines_open(&r.in, path));
  md_status status = read_head(&r, out);
  if (!status) status = read_rows(&r);
  if (!status) status = take_rows(&r, out);
  if (!status) status = stokes_packing_values(&out->spheres);
  md_lines_close(&r.in);
  free(r.row);
  if (status) mobility_case_free(out);
  return status;
}

md_status mobility_case_open(const char *path, double viscosity, int threads, mobility_case *out)
{
  md_ctx *host = NULL;
  *out = (mobility_case){.viscosity = viscosity};
  MD_TRY(stokes_packing_read(path, &out->spheres));
  md_status status = stokes_packing_values(&out->spheres);
  if (!status) status = md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, threads, false}, &host);
  if (!status)
    status = stokes_packing_sort(host, &out->spheres, &(ordering){.kind = ORDERING_HILBERT}, NULL);
  if (host) md_ctx_destroy(host);
  if (status) mobility_case_free(out);
  return status;
}

md_status mobility_case_force(mobility_case *c, int m, uint64_t seed)
{
  free(c->f);
  c->f = NULL;
  MD_TRY(reserve(c->spheres.n, m, &c->f, NULL));
  c->m = m;
  for (int64_t i = 0; i < c->spheres.n; i++)
    for (int k = 0; k < m; k++) {
      double z[3];
      normal_three(seed, NORMAL_PROBE, (uint64_t)i, (uint64_t)k, z);
      for (int d = 0; d < 3; d++)
        c->f[(3 * i + d) * m + k] = z[d];
    }
  return MD_OK;
}

void mobility_case_free(mobility_case *c)
{
  stokes_packing_free(&c->spheres);
  free(c->f);
  free(c->u);
  *c = (mobility_case){.m = 0};
}
