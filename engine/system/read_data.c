/* engine/system/read_data.c - LAMMPS data files: a header of counts and box edges, then sections.
 *
 * Atoms are `id type x y z` (style atomic) or `id type q x y z` (charge), each with three image
 * flags or none; the number of columns tells which. */
#include "engine/system/system_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest line of an atom: "1 1 0 0 0\n". */
enum { LINE_BYTES = 10 };

typedef struct {
  md_text *in;
  system_state *out;
  int64_t n; /* atoms, 0: not yet known */
  bool edges[3], atoms;
  int64_t *by_id; /* [n] atoms by rising id; NULL when they lie so */
  int columns;    /* of the Atoms section */
  char **words;   /* of the present line */
  int n_words;
  char *comment; /* behind '#', or NULL */
} data_file;

/* The next line with words; n_words is 0 at the end of the file. */
static md_status next(data_file *df)
{
  char *line;
  do {
    MD_TRY(md_text_next(df->in, &line));
    df->n_words = 0;
    if (!line) return MD_OK;
    df->comment = strchr(line, '#');
    if (df->comment) *df->comment++ = '\0';
    MD_TRY(md_text_split(df->in, line, &df->n_words));
  } while (df->n_words == 0);
  df->words = df->in->words;
  return MD_OK;
}

/* An entry of a section that has `total`; `count` were read. */
static md_status next_entry(data_file *df, const char *section, int64_t count, int64_t total)
{
  MD_TRY(next(df));
  if (df->n_words && !isalpha((unsigned char)df->words[0][0])) return MD_OK;
  return md_text_fail(df->in, "%s after %lld of %lld lines of %s",
                      df->n_words ? "another section begins" : "the file ends", (long long)count,
                      (long long)total, section);
}

/* The last words of a header line. */
static bool ends_with(const data_file *df, int first, const char *a, const char *b)
{
  return df->n_words > first && strcmp(df->words[first], a) == 0 &&
         (b ? df->n_words == first + 2 && strcmp(df->words[first + 1], b) == 0
            : df->n_words == first + 1);
}

static md_status read_edge(data_file *df, int d)
{
  md_box *box = &df->out->box;
  MD_TRY(md_text_double(df->in, "box", df->words[0], &box->lo[d]));
  MD_TRY(md_text_double(df->in, "box", df->words[1], &box->hi[d]));
  if (!(box->hi[d] > box->lo[d]) || !isfinite(box->hi[d] - box->lo[d]))
    return md_text_fail(df->in, "box: expected %clo < %chi, not %g and %g", 'x' + d, 'x' + d,
                        box->lo[d], box->hi[d]);
  df->edges[d] = true;
  return MD_OK;
}

static md_status read_header_line(data_file *df)
{
  static const char *const edges[3][2] = {{"xlo", "xhi"}, {"ylo", "yhi"}, {"zlo", "zhi"}};
  const char *first = df->words[0];
  int64_t count;
  for (int d = 0; d < 3; d++)
    if (ends_with(df, 2, edges[d][0], edges[d][1])) return read_edge(df, d);
  if (ends_with(df, 1, "atoms", NULL)) {
    MD_TRY(md_text_int64(df->in, "atoms", first, 1, INT64_MAX, &df->n));
    return md_text_fit(df->in, df->n, LINE_BYTES);
  }
  if (ends_with(df, 1, "atom", "types")) {
    MD_TRY(md_text_int64(df->in, "atom types", first, 1, INT32_MAX, &count));
    return count == 1
               ? MD_OK
               : md_text_fail(df->in, "%lld atom types: expected 1, others are not supported",
                              (long long)count);
  }
  if (df->n_words > 3 && strcmp(df->words[3], "xy") == 0)
    return md_text_fail(df->in, "a triclinic box: expected an orthogonal one (no xy xz yz)");
  MD_TRY(md_text_int64(df->in, "header", first, 0, INT64_MAX, &count));
  return count == 0 ? MD_OK : md_text_fail(df->in, "'%s ...': expected atoms only", first);
}

/* Up to the first section, whose title is the present line then; n_words 0 at the end. */
static md_status read_header(data_file *df)
{
  char *title;
  MD_TRY(md_text_next(df->in, &title)); /* a comment, in which write_data tells the units */
  const char *units = title ? strstr(title, "units = ") : NULL;
  df->out->metal = units && strncmp(units + 8, "metal", 5) == 0;
  df->out->lj = units && strncmp(units + 8, "lj", 2) == 0;
  if (units && !df->out->metal && !df->out->lj)
    return md_text_fail(df->in, "'%.20s': expected units = lj or units = metal", units);
  for (;;) {
    MD_TRY(next(df));
    if (df->n_words == 0 || isalpha((unsigned char)df->words[0][0])) break;
    MD_TRY(read_header_line(df));
  }
  if (df->n == 0) return md_text_fail(df->in, "expected 'N atoms' in the header");
  for (int d = 0; d < 3; d++)
    if (!df->edges[d])
      return md_text_fail(df->in, "expected '%clo %chi' in the header", 'x' + d, 'x' + d);
  df->out->n = df->n;
  return MD_OK;
}

/* Column k holds a type, which must be the only one. */
static md_status check_type(const data_file *df, int k)
{
  int64_t type;
  return md_text_int64(df->in, "atom type", df->words[k], 1, 1, &type);
}

static md_status read_masses(data_file *df)
{
  MD_TRY(next_entry(df, "Masses", 0, 1));
  if (df->n_words != 2) return md_text_fail(df->in, "expected 'type mass'");
  MD_TRY(check_type(df, 0));
  MD_TRY(md_text_double(df->in, "mass", df->words[1], &df->out->mass));
  return df->out->mass > 0 ? MD_OK : md_text_fail(df->in, "expected a mass > 0");
}

static md_status read_coeffs(data_file *df)
{
  system_state *out = df->out;
  if (df->comment && !strstr(df->comment, "lj/cut"))
    return md_text_fail(df->in, "Pair Coeffs of '%.40s': expected lj/cut", df->comment);
  MD_TRY(next_entry(df, "Pair Coeffs", 0, 1));
  if (df->n_words < 3) return md_text_fail(df->in, "expected 'type epsilon sigma'");
  MD_TRY(check_type(df, 0));
  MD_TRY(md_text_double(df->in, "epsilon", df->words[1], &out->epsilon));
  MD_TRY(md_text_double(df->in, "sigma", df->words[2], &out->sigma));
  return out->epsilon > 0 && out->sigma > 0
             ? MD_OK
             : md_text_fail(df->in, "expected epsilon and sigma > 0");
}

/* The style of a section's comment, or of its first line, and whether there are image flags. */
static md_status check_columns(data_file *df, const char *style)
{
  const int n = df->n_words;
  const bool atomic = n == 5 || n == 8, charge = n == 6 || n == 9;
  const bool agrees = style[0] == '\0' || (atomic && strcmp(style, "atomic") == 0) ||
                      (charge && strcmp(style, "charge") == 0);
  if (df->columns == 0 && (atomic || charge) && agrees) df->columns = n;
  if (df->columns == n) return MD_OK;
  return md_text_fail(
      df->in,
      "%d columns: expected 5 or 8 (id type x y z [ix iy iz], style atomic) or 6 or "
      "9 (id type q x y z [ix iy iz], charge)%s%s",
      n, style[0] ? ", as the title says " : "", style);
}

static md_status read_atom(data_file *df, int64_t i)
{
  static const char *const axes[3] = {"x", "y", "z"}, *const flags[3] = {"ix", "iy", "iz"};
  system_state *out = df->out;
  const bool charge = df->columns % 3 == 0, image = df->columns > 6;
  MD_TRY(md_text_int64(df->in, "id", df->words[0], 1, INT64_MAX, &out->id[i]));
  MD_TRY(check_type(df, 1));
  if (charge && !out->q) MD_TRY(system_reserve_charges(out));
  if (charge) MD_TRY(read_charge(df->in, df->words[2], &out->q[i]));
  for (int d = 0; d < 3; d++) {
    int64_t crossed = 0;
    MD_TRY(md_text_double(df->in, axes[d], df->words[2 + charge + d], &out->x[3 * i + d]));
    if (image)
      MD_TRY(md_text_int64(df->in, flags[d], df->words[5 + charge + d], -(1 << 30), 1 << 30,
                           &crossed));
    out->image[3 * i + d] = (int32_t)crossed;
  }
  return read_wrap(df->in, &out->box, &out->x[3 * i], &out->image[3 * i]);
}

static md_status read_atoms(data_file *df)
{
  char style[16] = "";
  if (df->comment && sscanf(df->comment, "%15s", style) != 1) style[0] = '\0';
  MD_TRY(system_reserve(df->out, df->n, false, true, true));
  df->atoms = true;
  for (int64_t i = 0; i < df->n; i++) {
    MD_TRY(next_entry(df, "Atoms", i, df->n));
    MD_TRY(check_columns(df, style));
    MD_TRY(read_atom(df, i));
  }
  return system_rank_ids(df->in, df->out, &df->by_id);
}

static md_status read_velocities(data_file *df)
{
  static const char *const axes[3] = {"vx", "vy", "vz"};
  if (!df->atoms) return md_text_fail(df->in, "expected Atoms before Velocities");
  double *v = df->out->v = calloc((size_t)df->n, 3 * sizeof *v);
  MD_REQUIRE(v, MD_ENOMEM, "out of memory for %lld velocities", (long long)df->n);
  for (int64_t k = 0; k < 3 * df->n; k++)
    v[k] = NAN; /* not given yet */
  for (int64_t k = 0; k < df->n; k++) {
    int64_t id = 0;
    MD_TRY(next_entry(df, "Velocities", k, df->n));
    if (df->n_words != 4) return md_text_fail(df->in, "expected 'id vx vy vz'");
    MD_TRY(md_text_int64(df->in, "id", df->words[0], 1, INT64_MAX, &id));
    const bool alike = df->out->id[k] == id; /* both sections in one order */
    const int64_t i = alike ? k : system_find_id(df->out, df->by_id, id);
    if (i < 0) return md_text_fail(df->in, "no atom has id %lld", (long long)id);
    if (!isnan(v[3 * i])) return md_text_fail(df->in, "two velocities of id %lld", (long long)id);
    for (int d = 0; d < 3; d++)
      MD_TRY(md_text_double(df->in, axes[d], df->words[1 + d], &v[3 * i + d]));
  }
  return MD_OK;
}

static md_status read_section(data_file *df)
{
  const char *first = df->words[0], *second = df->n_words > 1 ? df->words[1] : "";
  if (df->n_words == 1 && strcmp(first, "Masses") == 0) return read_masses(df);
  if (df->n_words == 1 && strcmp(first, "Atoms") == 0 && !df->atoms) return read_atoms(df);
  if (df->n_words == 1 && strcmp(first, "Velocities") == 0 && !df->out->v)
    return read_velocities(df);
  if (df->n_words == 2 && strcmp(first, "Pair") == 0 && strcmp(second, "Coeffs") == 0)
    return read_coeffs(df);
  return md_text_fail(
      df->in,
      "'%.40s%s%.40s': expected one of Masses, Pair Coeffs, Atoms, Velocities, each "
      "once",
      first, *second ? " " : "", second);
}

md_status read_data(md_text *in, bool header, system_state *out)
{
  data_file df = {.in = in, .out = out};
  md_status status = read_header(&df);
  while (!header && !status && df.n_words) {
    status = read_section(&df);
    if (!status) status = next(&df);
  }
  if (!header && !status && !df.atoms) status = md_text_fail(in, "expected a section 'Atoms'");
  free(df.by_id);
  return status;
}
