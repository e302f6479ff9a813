/* engine/system/read_xyz.c - extended XYZ, the first frame.
 *
 * Line 1: number of atoms.  Line 2: key=value pairs; Lattice="ax ay az bx by bz cx cy cz" (diagonal
 * here), Origin="x y z", pbc="T T T", Properties=name:type:columns:...  Then a line for each atom.
 * Of the properties, species or type must be the same for all, or species be names of kinds of
 * atoms; pos is wanted, velo (or vel, velocity, velocities), id, mass (masses) and charge (q) are
 * used; other columns are skipped. */
#include "engine/system/system_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest line of an atom: "0 0 0\n". */
enum { LINE_BYTES = 6 };

typedef enum { SPECIES, TYPE, POS, VELO, ID, MASS, CHARGE, MOMENTA, PROPERTY_COUNT } property;
static const struct {
  const char *names[4];
  property what;
  char type;
  int columns;
} properties[] = {
    {{"species", "element", "name", NULL}, SPECIES, 'S', 1},
    {{"type", "types", "Z", NULL}, TYPE, 'I', 1},
    {{"pos", "position", "positions", NULL}, POS, 'R', 3},
    {{"velo", "vel", "velocity", "velocities"}, VELO, 'R', 3},
    {{"id", "ids", NULL, NULL}, ID, 'I', 1},
    {{"mass", "masses", NULL, NULL}, MASS, 'R', 1},
    {{"charge", "charges", "q", "initial_charges"}, CHARGE, 'R', 1},
    {{"momenta", "momentum", NULL, NULL}, MOMENTA, 'R', 3},
};
enum { N_PROPERTIES = sizeof properties / sizeof *properties };

typedef struct {
  md_text *in;
  system_state *out;
  const engine_types *types;  /* NULL: one kind */
  int column[PROPERTY_COUNT]; /* where a property begins, -1: absent */
  int columns;                /* of a line */
  char *kind[2];              /* SPECIES and TYPE of the first atom */
} xyz_file;

/* Value of key= in the comment line, copied without quotes; NULL when absent. */
static md_status get_value(const md_text *in, const char *line, const char *key, char **out)
{
  const size_t length = strlen(key);
  *out = NULL;
  for (const char *c = line; *c;) {
    c += strspn(c, " \t");
    const bool found = strncmp(c, key, length) == 0 && c[length] == '=';
    c += strcspn(c, "= \t");
    if (*c != '=') continue;
    c++;
    char quote = *c == '"' || *c == '\'' || *c == '{' ? *c++ : 0;
    if (quote == '{') quote = '}';
    const char stop[] = {quote ? quote : ' ', quote ? '\0' : '\t', '\0'};
    const size_t size = strcspn(c, stop);
    if (quote && !c[size]) return md_text_fail(in, "expected %c to end a value", quote);
    if (found) {
      *out = strndup(c, size);
      MD_REQUIRE(*out, MD_ENOMEM, "out of memory for a value");
      return MD_OK;
    }
    c += size; /* a closing quote is skipped as a key */
  }
  return MD_OK;
}

/* Exactly n numbers. */
static md_status get_numbers(md_text *in, const char *key, char *text, int n, double *out)
{
  int words;
  MD_TRY(md_text_split(in, text, &words));
  if (words != n) return md_text_fail(in, "%s: expected %d numbers, not %d", key, n, words);
  for (int k = 0; k < n; k++)
    MD_TRY(md_text_double(in, key, in->words[k], &out[k]));
  return MD_OK;
}

static md_status read_box(xyz_file *xyz, char *lattice, char *origin, char *pbc)
{
  md_box *box = &xyz->out->box;
  double edges[9] = {0}, lo[3] = {0};
  if (!lattice) return md_text_fail(xyz->in, "expected Lattice=\"ax ay az bx by bz cx cy cz\"");
  MD_TRY(get_numbers(xyz->in, "Lattice", lattice, 9, edges));
  if (origin) MD_TRY(get_numbers(xyz->in, "Origin", origin, 3, lo));
  for (int k = 0; k < 9; k++)
    if (k % 4 ? edges[k] != 0 : !(edges[k] > 0))
      return md_text_fail(xyz->in, "Lattice: expected an orthogonal box, edges > 0 and all else 0");
  for (int d = 0; d < 3; d++) {
    box->lo[d] = lo[d];
    box->hi[d] = lo[d] + edges[4 * d];
    if (!(box->hi[d] > box->lo[d]))
      return md_text_fail(xyz->in, "Lattice: an edge is lost beside Origin");
  }
  if (pbc && strpbrk(pbc, "Ff0")) return md_text_fail(xyz->in, "pbc: expected \"T T T\"");
  return MD_OK;
}

/* One name:type:columns of Properties; item is its three words. */
static md_status add_property(xyz_file *xyz, char *const item[3])
{
  int64_t columns;
  MD_TRY(md_text_int64(xyz->in, "Properties", item[2], 1, 1000, &columns));
  for (int k = 0; k < N_PROPERTIES; k++)
    for (int a = 0; a < 4 && properties[k].names[a]; a++) {
      if (strcmp(item[0], properties[k].names[a]) != 0) continue;
      const property what = properties[k].what;
      if (strlen(item[1]) != 1 || item[1][0] != properties[k].type ||
          columns != properties[k].columns)
        return md_text_fail(xyz->in, "Properties: expected %s:%c:%d, not %s:%s:%s", item[0],
                            properties[k].type, properties[k].columns, item[0], item[1], item[2]);
      if (what == MOMENTA)
        return md_text_fail(xyz->in, "Properties: momenta are not supported; expected velo");
      if (xyz->column[what] >= 0)
        return md_text_fail(xyz->in, "Properties: '%s' appears twice", item[0]);
      xyz->column[what] = xyz->columns;
    }
  xyz->columns += (int)columns;
  return MD_OK;
}

static md_status read_properties(xyz_file *xyz, char *text)
{
  char *item[3];
  int n = 0;
  for (int k = 0; k < PROPERTY_COUNT; k++)
    xyz->column[k] = -1;
  xyz->columns = 0;
  for (char *rest = text, *word; (word = strsep(&rest, ":"));) {
    item[n++] = word;
    if (n < 3) continue;
    MD_TRY(add_property(xyz, item));
    n = 0;
  }
  if (n)
    return md_text_fail(xyz->in, "Properties: expected name:type:columns, not '%.40s'", item[0]);
  if (xyz->column[POS] < 0) return md_text_fail(xyz->in, "Properties: expected pos:R:3");
  return MD_OK;
}

static md_status read_comment(xyz_file *xyz)
{
  static const char *const keys[4] = {"Lattice", "Origin", "pbc", "Properties"};
  char *line, *values[4] = {NULL};
  MD_TRY(md_text_next(xyz->in, &line));
  if (!line) return md_text_fail(xyz->in, "the file ends; expected Lattice=\"...\"");
  md_status status = MD_OK;
  for (int k = 0; k < 4 && !status; k++)
    status = get_value(xyz->in, line, keys[k], &values[k]);
  if (!status) status = read_box(xyz, values[0], values[1], values[2]);
  char usual[] = "species:S:1:pos:R:3";
  if (!status) status = read_properties(xyz, values[3] ? values[3] : usual);
  for (int k = 0; k < 4; k++)
    free(values[k]);
  return status;
}

/* The atom's kind is one of several. */
static md_status find_kind(xyz_file *xyz, char *const *words, int64_t i)
{
  const engine_types *types = xyz->types;
  int32_t kind = 0;
  if (xyz->column[SPECIES] >= 0)
    MD_TRY(read_kind(xyz->in, types, words[xyz->column[SPECIES]], &kind));
  else if (types->n > 1)
    return md_text_fail(xyz->in, "Properties: expected species:S:1 for %d species", types->n);
  if (xyz->out->type) xyz->out->type[i] = (uint8_t)kind;
  if (xyz->column[MASS] < 0) return MD_OK;
  double mass;
  MD_TRY(md_text_double(xyz->in, "mass", words[xyz->column[MASS]], &mass));
  return read_agrees(xyz->in, "the mass", mass, types->species[kind].mass);
}

/* All atoms are of one kind. */
static md_status check_kind(xyz_file *xyz, char *const *words)
{
  system_state *out = xyz->out;
  const int mass = xyz->column[MASS];
  for (int k = SPECIES; k <= TYPE; k++) {
    if (xyz->column[k] < 0) continue;
    const char *word = words[xyz->column[k]];
    if (!xyz->kind[k]) xyz->kind[k] = strdup(word);
    MD_REQUIRE(xyz->kind[k], MD_ENOMEM, "out of memory for a species");
    if (strcmp(word, xyz->kind[k]) != 0)
      return md_text_fail(
          xyz->in,
          "'%.20s' beside '%.20s': expected one species of atoms, or the names of all "
          "in the setting species",
          word, xyz->kind[k]);
  }
  if (mass < 0) return MD_OK;
  double value;
  MD_TRY(md_text_double(xyz->in, "mass", words[mass], &value));
  if (!(value > 0)) return md_text_fail(xyz->in, "expected a mass > 0, not %g", value);
  if (out->mass > 0 && value != out->mass)
    return md_text_fail(xyz->in, "mass %g beside %g: expected one mass", value, out->mass);
  out->mass = value;
  return MD_OK;
}

static md_status read_atom(xyz_file *xyz, int64_t i)
{
  static const char *const axes[3] = {"x", "y", "z"}, *const rates[3] = {"vx", "vy", "vz"};
  system_state *out = xyz->out;
  char *line;
  int n;
  MD_TRY(md_text_next(xyz->in, &line));
  if (!line)
    return md_text_fail(xyz->in, "the file ends after %lld of %lld atoms", (long long)i,
                        (long long)out->n);
  MD_TRY(md_text_split(xyz->in, line, &n));
  char *const *words = xyz->in->words;
  if (n != xyz->columns)
    return md_text_fail(xyz->in, "%d columns: expected %d, as Properties says", n, xyz->columns);
  MD_TRY(xyz->types ? find_kind(xyz, words, i) : check_kind(xyz, words));
  if (out->id)
    MD_TRY(md_text_int64(xyz->in, "id", words[xyz->column[ID]], 1, INT64_MAX, &out->id[i]));
  if (out->q) MD_TRY(read_charge(xyz->in, words[xyz->column[CHARGE]], &out->q[i]));
  for (int d = 0; d < 3; d++) {
    out->image[3 * i + d] = 0;
    MD_TRY(md_text_double(xyz->in, axes[d], words[xyz->column[POS] + d], &out->x[3 * i + d]));
    if (out->v)
      MD_TRY(md_text_double(xyz->in, rates[d], words[xyz->column[VELO] + d], &out->v[3 * i + d]));
  }
  return read_wrap(xyz->in, &out->box, &out->x[3 * i], &out->image[3 * i]);
}

md_status read_xyz(md_text *in, bool header, const engine_types *types, system_state *out)
{
  xyz_file xyz = {.in = in, .out = out, .types = types};
  char *line;
  int words;
  MD_TRY(md_text_next(in, &line));
  MD_TRY(md_text_split(in, line, &words));
  MD_TRY(md_text_int64(in, "number of atoms", in->words[0], 1, INT64_MAX, &out->n));
  MD_TRY(md_text_fit(in, out->n, LINE_BYTES));
  md_status status = read_comment(&xyz);
  if (!status && !header)
    status = system_reserve(out, out->n, xyz.column[VELO] >= 0, xyz.column[ID] >= 0, true);
  if (!status && !header && xyz.column[CHARGE] >= 0) status = system_reserve_charges(out);
  if (!status && !header && types && types->n > 1) status = system_reserve_types(out);
  for (int64_t i = 0; !header && !status && i < out->n; i++)
    status = read_atom(&xyz, i);
  int64_t *by_id = NULL;
  if (!status && out->id) status = system_rank_ids(in, out, &by_id);
  free(by_id);
  for (int k = SPECIES; k <= TYPE; k++)
    free(xyz.kind[k]);
  return status;
}
