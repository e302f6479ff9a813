/* engine/system/read_xyz.c - extended XYZ, the first frame.
 *
 * Line 1: number of atoms.  Line 2: key=value pairs; Lattice="ax ay az bx by bz cx cy cz",
 * Origin="x y z", pbc="T T T", Properties=name:type:columns:...  Then a line for each atom.
 * Of the properties, species or type must be the same for all, or species be names of kinds of
 * atoms; pos is wanted, velo (or vel, velocity, velocities) or momenta, id, mass (masses) and
 * charge (q, initial_charges) are used; other columns are skipped.
 *
 * The vectors of Lattice are at right angles and may point anywhere.  Positions, velocities and
 * Origin become components along them, x' = R x with the unit vectors as rows of R, so that the box
 * lies along the axes: a rotation, or its mirror image where the vectors are left-handed, which
 * forces between pairs do not tell apart.  Vectors along axes, in whatever order and sense, have
 * rows of 0 and 1 or -1, and R x is exact. */
#include "engine/system/system_impl.h"
#include "comm/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest line of an atom: "0 0 0\n". */
enum { LINE_BYTES = 6 };
/* Cosine up to which two vectors are at right angles: those of files with six digits. */
static const double SKEW = 1e-6;

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
  double along[3][3];         /* unit vectors of Lattice */
  bool turned;                /* they are not those of the axes */
  char *kind[2];              /* SPECIES and TYPE of the first atom */
} xyz_file;

/* The key or value at *c, which moves behind it: up to a blank, or between quotes, in which a
 * backslash takes the next character as it is, or brackets, which may hold others. */
static md_status take_word(const md_text *in, const char **c, const char *stops, char *to)
{
  static const char opening[] = "\"'{[", closing[] = "\"'}]";
  const char *kind = **c ? strchr(opening, **c) : NULL;
  if (!kind) {
    const size_t length = strcspn(*c, stops);
    memcpy(to, *c, length);
    to[length] = '\0';
    *c += length;
    return MD_OK;
  }
  const char open = *kind, close = closing[kind - opening];
  ++*c;
  for (int depth = 1; **c; ++*c) {
    if (**c == close && --depth == 0) {
      ++*c;
      *to = '\0';
      return MD_OK;
    }
    depth += **c == open;
    if (open == close && **c == '\\' && (*c)[1]) ++*c;
    *to++ = **c;
  }
  return md_text_fail(in, "expected %c to end a value", close);
}

/* Values of the keys in the comment line, NULL where they are not there.  word: room for any. */
static md_status find_values(const md_text *in, const char *line, char *word, int n,
                             const char *const *keys, char **values)
{
  static const char blanks[] = " \t";
  for (const char *c = line + strspn(line, blanks); *c; c += strspn(c, blanks)) {
    MD_TRY(take_word(in, &c, "= \t", word));
    const char *next = c + strspn(c, blanks);
    if (*next != '=') continue;
    const int found = md_word_index(word, keys, n);
    c = next + 1 + strspn(next + 1, blanks);
    MD_TRY(take_word(in, &c, blanks, word));
    if (found < 0) continue;
    if (values[found]) return md_text_fail(in, "%s appears twice", keys[found]);
    values[found] = strdup(word);
    MD_REQUIRE(values[found], MD_ENOMEM, "out of memory for a value");
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

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Components along the vectors of Lattice. */
static void turn(const xyz_file *xyz, double v[3])
{
  const double was[3] = {v[0], v[1], v[2]};
  for (int d = 0; d < 3 && xyz->turned; d++) /* -0 stays */
    v[d] = dot(xyz->along[d], was);
}

static md_status read_box(xyz_file *xyz, char *lattice, char *origin, char *pbc)
{
  md_box *box = &xyz->out->box;
  double edges[3][3] = {{0}}, length[3];
  memset(box, 0, sizeof *box);
  if (!lattice) return md_text_fail(xyz->in, "expected Lattice=\"ax ay az bx by bz cx cy cz\"");
  MD_TRY(get_numbers(xyz->in, "Lattice", lattice, 9, edges[0]));
  if (origin) MD_TRY(get_numbers(xyz->in, "Origin", origin, 3, box->lo));
  for (int d = 0; d < 3; d++) {
    length[d] = sqrt(dot(edges[d], edges[d]));
    if (!(length[d] > 0) || !isfinite(length[d]))
      return md_text_fail(xyz->in, "Lattice: expected three vectors with a length");
    for (int k = 0; k < 3; k++) {
      xyz->along[d][k] = edges[d][k] / length[d];
      xyz->turned = xyz->turned || xyz->along[d][k] != (d == k);
    }
    for (int e = 0; e < d; e++)
      if (fabs(dot(xyz->along[d], xyz->along[e])) > SKEW)
        return md_text_fail(xyz->in,
                            "Lattice: expected an orthogonal box, vectors at right angles");
  }
  turn(xyz, box->lo);
  for (int d = 0; d < 3; d++) {
    box->hi[d] = box->lo[d] + length[d];
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
  if (xyz->column[VELO] >= 0 && xyz->column[MOMENTA] >= 0)
    return md_text_fail(xyz->in, "Properties: expected velocities or momenta, not both");
  xyz->out->momenta = xyz->column[MOMENTA] >= 0;
  return MD_OK;
}

static md_status read_comment(xyz_file *xyz)
{
  static const char *const keys[4] = {"Lattice", "Origin", "pbc", "Properties"};
  char *line, *values[4] = {NULL};
  MD_TRY(md_text_next(xyz->in, &line));
  if (!line) return md_text_fail(xyz->in, "the file ends; expected Lattice=\"...\"");
  char *word = malloc(strlen(line) + 1);
  md_status status = word ? find_values(xyz->in, line, word, 4, keys, values)
                          : MD_FAIL(MD_ENOMEM, "out of memory for a value");
  free(word);
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

static md_status read_atom(xyz_file *xyz, int64_t k)
{
  static const char *const axes[3] = {"x", "y", "z"}, *const rates[3] = {"vx", "vy", "vz"};
  system_state *out = xyz->out;
  char *line;
  int n;
  MD_TRY(md_text_next(xyz->in, &line));
  if (!line)
    return md_text_fail(xyz->in, "the file ends after %lld of %lld atoms", (long long)k,
                        (long long)out->all);
  MD_TRY(md_text_split(xyz->in, line, &n));
  char *const *words = xyz->in->words;
  if (n != xyz->columns)
    return md_text_fail(xyz->in, "%d columns: expected %d, as Properties says", n, xyz->columns);
  if (!xyz->types) MD_TRY(check_kind(xyz, words)); /* that of all atoms */
  const int64_t i = read_place(out, k);
  if (i < 0) return MD_OK;
  if (xyz->types) MD_TRY(find_kind(xyz, words, i));
  if (out->id)
    MD_TRY(md_text_int64(xyz->in, "id", words[xyz->column[ID]], 1, INT64_MAX, &out->id[i]));
  if (out->q) MD_TRY(read_charge(xyz->in, words[xyz->column[CHARGE]], &out->q[i]));
  const int rate = xyz->column[out->momenta ? MOMENTA : VELO];
  for (int d = 0; d < 3; d++) {
    out->image[3 * i + d] = 0;
    MD_TRY(md_text_double(xyz->in, axes[d], words[xyz->column[POS] + d], &out->x[3 * i + d]));
    if (out->v) MD_TRY(md_text_double(xyz->in, rates[d], words[rate + d], &out->v[3 * i + d]));
  }
  turn(xyz, &out->x[3 * i]);
  if (out->v) turn(xyz, &out->v[3 * i]);
  return read_wrap(xyz->in, &out->box, &out->x[3 * i], &out->image[3 * i]);
}

static md_status read_atoms(xyz_file *xyz)
{
  system_state *out = xyz->out;
  const bool moving = xyz->column[VELO] >= 0 || out->momenta;
  md_status status = system_reserve_block(out, moving, xyz->column[ID] >= 0, true);
  if (!status && xyz->column[CHARGE] >= 0) status = system_reserve_charges(out);
  if (!status && xyz->types && xyz->types->n > 1) status = system_reserve_types(out);
  for (int64_t k = 0; !status && k < out->all; k++)
    status = read_atom(xyz, k);
  status = read_agree(xyz->in, status);
  int64_t *by_id = NULL;
  if (!status && out->id) status = system_rank_ids(xyz->in, out, &by_id);
  free(by_id);
  return status;
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
  out->all = out->n;
  md_status status = read_comment(&xyz);
  if (!header) status = world_agree(status);
  if (!header && !status) status = read_atoms(&xyz);
  for (int k = SPECIES; k <= TYPE; k++)
    free(xyz.kind[k]);
  return status;
}
