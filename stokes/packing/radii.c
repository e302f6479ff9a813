/* stokes/packing/radii.c - the sizes of spheres: what they may be, a table or a file. */
#include "core/parse/parse.h"
#include "stokes/packing/packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [Liu] Table IV: proteins of Escherichia coli, radius [Angstrom] and share [%]. */
static const double ecoli[][2] = {{115.24, 2.43}, {85.23, 3.16}, {66.49, 6.55},  {49.16, 0.97},
                                  {45.43, 0.49},  {43.06, 3.64}, {42.48, 2.91},  {39.16, 2.67},
                                  {36.76, 8.01},  {35.94, 8.01}, {31.71, 10.92}, {27.77, 25.97},
                                  {25.75, 8.25},  {24.01, 9.95}, {21.42, 6.07}};

void stokes_radii_free(stokes_radii *radii)
{
  free(radii->radius);
  free(radii->fraction);
  *radii = (stokes_radii){0};
}

md_status stokes_radius_admit(stokes_radius_range *seen, double radius)
{
  MD_REQUIRE(radius > 0, MD_EINVAL, "a radius must be > 0, not %g", radius);
  MD_REQUIRE(radius >= STOKES_LENGTH_MIN && radius <= STOKES_LENGTH_MAX, MD_EINVAL,
             "a radius must be in %g..%g, not %g", STOKES_LENGTH_MIN, STOKES_LENGTH_MAX, radius);
  const bool first = seen->least == 0;
  const stokes_radius_range now = {first ? radius : fmin(seen->least, radius),
                                   fmax(seen->most, radius)};
  MD_REQUIRE(now.most <= STOKES_RATIO_MAX * now.least, MD_EINVAL,
             "the radii %g and %g differ by more than a factor of %g", now.least, now.most,
             STOKES_RATIO_MAX);
  *seen = now;
  return MD_OK;
}

static md_status append(stokes_radii *radii, double radius, double fraction)
{
  const size_t bytes = ((size_t)radii->n + 1) * sizeof(double);
  double *r = realloc(radii->radius, bytes);
  if (r) radii->radius = r;
  double *f = realloc(radii->fraction, bytes);
  if (f) radii->fraction = f;
  MD_REQUIRE(r && f, MD_ENOMEM, "out of memory for %d radii", radii->n + 1);
  r[radii->n] = radius;
  f[radii->n++] = fraction;
  return MD_OK;
}

static char *trim(char *text)
{
  text += strspn(text, " \t\r\n");
  size_t length = strlen(text);
  while (length > 0 && strchr(" \t\r\n", text[length - 1]))
    text[--length] = '\0';
  return text;
}

/* Their sum and shares stay finite. */
#define FRACTION_MIN 1e-12
#define FRACTION_MAX 1e12

/* `radius,fraction`, both > 0. */
static md_status read_line(char *line, stokes_radius_range *seen, stokes_radii *out)
{
  char *comma = strchr(line, ',');
  MD_REQUIRE(comma, MD_EINVAL, "expected radius,fraction, not '%.60s'", line);
  *comma = '\0';
  double radius, fraction;
  MD_TRY(md_parse_double(trim(line), &radius));
  MD_TRY(md_parse_double(trim(comma + 1), &fraction));
  MD_TRY(stokes_radius_admit(seen, radius));
  MD_REQUIRE(fraction > 0, MD_EINVAL, "a fraction must be > 0, not %g", fraction);
  MD_REQUIRE(fraction >= FRACTION_MIN && fraction <= FRACTION_MAX, MD_EINVAL,
             "a fraction must be in %g..%g, not %g", FRACTION_MIN, FRACTION_MAX, fraction);
  return append(out, radius, fraction);
}

static md_status read_lines(md_lines *in, stokes_radii *out)
{
  stokes_radius_range seen = {0};
  for (;;) {
    bool got;
    MD_TRY(md_lines_next(in, &got));
    if (!got) break;
    in->line[strcspn(in->line, "#")] = '\0';
    char *text = trim(in->line);
    const md_status status = *text ? read_line(text, &seen, out) : MD_OK;
    if (status) return md_lines_blame(in, status);
  }
  MD_REQUIRE(out->n > 0, MD_EINVAL, "%s: expected a line radius,fraction for each size", in->path);
  return MD_OK;
}

static md_status read_named(const char *name, stokes_radii *out)
{
  if (strcmp(name, "ecoli") == 0) {
    for (size_t k = 0; k < sizeof ecoli / sizeof *ecoli; k++)
      MD_TRY(append(out, ecoli[k][0], ecoli[k][1]));
    return MD_OK;
  }
  md_lines in;
  md_status status = md_lines_open(&in, name);
  if (status)
    return MD_FAIL(status, "%s (expected a file of radii, or the word ecoli)", md_message());
  status = read_lines(&in, out);
  md_lines_close(&in);
  return status;
}

md_status stokes_radii_read(const char *name, stokes_radii *out)
{
  *out = (stokes_radii){0};
  const md_status status = read_named(name, out);
  if (status) {
    stokes_radii_free(out);
    return status;
  }
  double sum = 0;
  for (int k = 0; k < out->n; k++)
    sum += out->fraction[k];
  for (int k = 0; k < out->n; k++)
    out->fraction[k] /= sum;
  return MD_OK;
}
