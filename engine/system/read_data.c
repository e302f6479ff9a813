/* engine/system/read_data.c - LAMMPS data files: a header of counts and box edges, then sections.
 *
 * Atoms are `id type x y z` (style atomic) or `id type q x y z` (charge), each with three image
 * flags or none; the number of columns tells which. */
#include "comm/world.h"
#include "engine/system/read_data_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest line of an atom: "1 1 0 0 0\n". */
enum { LINE_BYTES = 10 };

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

/* Titles begin with a letter; so do the labels of types. */
md_status read_data_entry(data_file *df, const char *section, int64_t count, int64_t total)
{
  MD_TRY(next(df));
  const char *first = df->n_words ? df->words[0] : "";
  if (df->n_words && !isalpha((unsigned char)first[0])) return MD_OK;
  if (*first && df->types && engine_types_find(df->types, first) >= 0) return MD_OK;
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
    const int64_t most = df->types ? df->types->n : 1;
    MD_TRY(md_text_int64(df->in, "atom types", first, 1, df->found ? MD_TYPES : INT32_MAX, &count));
    df->n_types = count;
    if (df->found) return MD_OK;
    return count <= most
               ? MD_OK
               : md_text_fail(df->in,
                              "%lld atom types: expected as many in the setting species, not %lld",
                              (long long)count, (long long)most);
  }
  if (df->n_words > 3 && strcmp(df->words[3], "xy") == 0)
    return md_text_fail(df->in, "a triclinic box: expected an orthogonal one (no xy xz yz)");
  if (df->n_words == 4 && strcmp(df->words[3], "avec") == 0)
    return md_text_fail(df->in, "box vectors: expected xlo xhi, ylo yhi, zlo zhi, not avec bvec "
                                "cvec (OVITO: restricted triclinic)");
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
  df->out->n = df->out->all = df->n;
  return MD_OK;
}

/* Column k holds a type, by number or by its label, of this kind. */
static md_status get_type(const data_file *df, int k, int32_t *kind)
{
  int64_t type;
  if (df->types && isalpha((unsigned char)df->words[k][0]))
    return read_kind(df->in, df->types, df->words[k], kind);
  MD_TRY(md_text_int64(df->in, "atom type", df->words[k], 1, df->n_types, &type));
  *kind = df->kind_of[type - 1];
  return MD_OK;
}

/* A kind found has this name. */
static md_status name_kind(data_file *df, int64_t kind, const char *name)
{
  engine_species *to = &df->found->species[kind];
  if (strlen(name) >= sizeof to->name || strpbrk(name, "\"\\"))
    return md_text_fail(df->in, "'%.40s': expected a label of 1..%d characters without quotes",
                        name, ENGINE_NAME - 1);
  snprintf(to->name, sizeof to->name, "%s", name);
  return MD_OK;
}

/* Many programs write the name of a type behind its mass. */
static md_status name_by_comment(data_file *df, int32_t kind)
{
  char name[ENGINE_NAME], more[2];
  if (df->labelled || !df->comment || sscanf(df->comment, "%31s %1s", name, more) != 1)
    return MD_OK;
  const bool new = engine_types_find(df->found, name) < 0;
  return new && !strpbrk(name, "\"\\") ? name_kind(df, kind, name) : MD_OK;
}

static md_status read_labels(data_file *df)
{
  df->labelled = true;
  for (int64_t k = 0; k < df->n_types; k++) {
    int64_t type;
    int32_t kind = 0;
    MD_TRY(read_data_entry(df, "Atom Type Labels", k, df->n_types));
    if (df->n_words != 2) return md_text_fail(df->in, "expected 'type label'");
    MD_TRY(md_text_int64(df->in, "atom type", df->words[0], 1, df->n_types, &type));
    if (df->found) MD_TRY(name_kind(df, type - 1, df->words[1]));
    if (df->types) MD_TRY(read_kind(df->in, df->types, df->words[1], &kind));
    df->kind_of[type - 1] = (uint8_t)kind;
  }
  return MD_OK;
}

static md_status read_masses(data_file *df)
{
  for (int64_t k = 0; k < df->n_types; k++) {
    double mass;
    int32_t kind;
    MD_TRY(read_data_entry(df, "Masses", k, df->n_types));
    if (df->n_words != 2) return md_text_fail(df->in, "expected 'type mass'");
    MD_TRY(get_type(df, 0, &kind));
    MD_TRY(md_text_double(df->in, "mass", df->words[1], &mass));
    if (!(mass > 0)) return md_text_fail(df->in, "expected a mass > 0");
    if (df->found) {
      df->found->species[kind].mass = mass;
      MD_TRY(name_by_comment(df, kind));
    } else if (df->types)
      MD_TRY(read_agrees(df->in, "the mass", mass, df->types->species[kind].mass));
    else
      df->out->mass = mass;
  }
  return MD_OK;
}

/* What a line says of two kinds, where no cutoff is said 0, must be what was set. */
static md_status put_pair(data_file *df, int32_t i, int32_t j, force_lj lj)
{
  if (!df->types) {
    df->out->epsilon = lj.epsilon, df->out->sigma = lj.sigma, df->out->cutoff = lj.r_cut;
    return MD_OK;
  }
  const int32_t n = df->types->n;
  if (df->found) {
    df->found->pairs[i * n + j] = df->found->pairs[j * n + i] = lj;
    return MD_OK;
  }
  const force_lj *pair = &df->types->pairs[i * n + j];
  MD_TRY(read_agrees(df->in, "epsilon", lj.epsilon, pair->epsilon));
  MD_TRY(read_agrees(df->in, "sigma", lj.sigma, pair->sigma));
  return lj.r_cut > 0 ? read_agrees(df->in, "the cutoff", lj.r_cut, pair->r_cut) : MD_OK;
}

/* Lines `type epsilon sigma [cutoff]`, or for each two types `type type epsilon sigma [cutoff]`, of
 * what. */
static md_status read_coeffs(data_file *df, const char *what, int n_kinds)
{
  const int64_t n = df->n_types, total = n_kinds == 1 ? n : n * (n + 1) / 2;
  if (df->comment && !strstr(df->comment, "lj/cut"))
    return md_text_fail(df->in, "%s of '%.40s': expected lj/cut", what, df->comment);
  for (int64_t k = 0; k < total; k++) {
    int32_t i, j;
    force_lj lj = {0};
    MD_TRY(read_data_entry(df, what, k, total));
    char *const *values = df->words + n_kinds;
    const bool cutoff = df->n_words == n_kinds + 3;
    if (!cutoff && df->n_words != n_kinds + 2)
      return md_text_fail(df->in, "expected '%s epsilon sigma [cutoff]'",
                          n_kinds == 1 ? "type" : "type type");
    MD_TRY(get_type(df, 0, &i));
    MD_TRY(get_type(df, n_kinds - 1, &j));
    MD_TRY(md_text_double(df->in, "epsilon", values[0], &lj.epsilon));
    MD_TRY(md_text_double(df->in, "sigma", values[1], &lj.sigma));
    if (cutoff) MD_TRY(md_text_double(df->in, "cutoff", values[2], &lj.r_cut));
    if (!(lj.epsilon > 0 && lj.sigma > 0 && (lj.r_cut > 0 || !cutoff)))
      return md_text_fail(df->in, "expected epsilon and sigma > 0, and a cutoff > 0 or none");
    MD_TRY(put_pair(df, i, j, lj));
  }
  return MD_OK;
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

static md_status read_atom(data_file *df, int64_t k)
{
  static const char *const axes[3] = {"x", "y", "z"}, *const flags[3] = {"ix", "iy", "iz"};
  system_state *out = df->out;
  const bool charge = df->columns % 3 == 0, image = df->columns > 6;
  const int64_t i = read_place(out, k);
  if (charge && !out->q) MD_TRY(system_reserve_charges(out));
  if (i < 0) return MD_OK;
  MD_TRY(md_text_int64(df->in, "id", df->words[0], 1, INT64_MAX, &out->id[i]));
  int32_t kind;
  MD_TRY(get_type(df, 1, &kind));
  if (out->type) out->type[i] = (uint8_t)kind;
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
  md_status status = system_reserve_block(df->out, false, true, true);
  if (!status && df->types && df->types->n > 1) status = system_reserve_types(df->out);
  df->atoms = true;
  for (int64_t k = 0; k < df->n && !status; k++) {
    status = read_data_entry(df, "Atoms", k, df->n);
    if (!status) status = check_columns(df, style);
    if (!status) status = read_atom(df, k);
  }
  MD_TRY(read_agree(df->in, status));
  return system_rank_ids(df->in, df->out, &df->by_id);
}

static md_status read_section(data_file *df)
{
  const char *first = df->words[0], *second = df->n_words > 1 ? df->words[1] : "";
  if (df->n_words == 1 && strcmp(first, "Masses") == 0) return read_masses(df);
  if (df->n_words == 1 && strcmp(first, "Atoms") == 0 && !df->atoms) return read_atoms(df);
  if (df->n_words == 1 && strcmp(first, "Velocities") == 0 && !df->out->v)
    return read_data_velocities(df);
  if (df->n_words == 2 && strcmp(first, "Pair") == 0 && strcmp(second, "Coeffs") == 0)
    return read_coeffs(df, "Pair Coeffs", 1);
  if (df->n_words == 2 && strcmp(first, "PairIJ") == 0 && strcmp(second, "Coeffs") == 0)
    return read_coeffs(df, "PairIJ Coeffs", 2);
  if (df->n_words == 3 && strcmp(first, "Atom") == 0 && strcmp(second, "Type") == 0)
    return read_labels(df);
  return md_text_fail(
      df->in,
      "'%.40s%s%.40s': expected one of Atom Type Labels, Masses, Pair Coeffs, PairIJ Coeffs, "
      "Atoms, Velocities, each once",
      first, *second ? " " : "", second);
}

static data_file data_begin(md_text *in, const engine_types *types, system_state *out)
{
  data_file df = {.in = in, .out = out, .types = types, .n_types = 1};
  for (int t = 0; t < MD_TYPES; t++)
    df.kind_of[t] = (uint8_t)t; /* the first type is the first kind, unless labels say else */
  return df;
}

md_status read_data(md_text *in, bool header, const engine_types *types, system_state *out)
{
  data_file df = data_begin(in, types, out);
  md_status status = read_header(&df);
  if (!header) status = world_agree(status);
  while (!header && !status && df.n_words) {
    status = read_section(&df);
    if (!status) status = next(&df);
    status = world_agree(status);
  }
  if (!header && !status && !df.atoms) status = md_text_fail(in, "expected a section 'Atoms'");
  free(df.by_id);
  return status;
}

/* Types without a name of their own have their number. */
static void number_kinds(engine_types *types)
{
  if (engine_types_find(types, "") < 0) return;
  for (int32_t t = 0; t < types->n; t++)
    snprintf(types->species[t].name, sizeof types->species[t].name, "%d", t + 1);
}

md_status read_data_types(md_text *in, engine_types *out)
{
  system_state head = {0};
  data_file df = data_begin(in, out, &head);
  df.found = out;
  MD_TRY(read_header(&df));
  MD_TRY(engine_types_create((int32_t)df.n_types, out));
  for (int32_t t = 0; t < out->n; t++)
    out->species[t].fraction = -1;
  md_status status = MD_OK;
  while (!status && df.n_words && strcmp(df.words[0], "Atoms") != 0 &&
         strcmp(df.words[0], "Velocities") != 0) {
    status = read_section(&df);
    if (!status) status = next(&df);
  }
  number_kinds(out);
  if (status || out->n == 1) engine_types_free(out);
  return status;
}
