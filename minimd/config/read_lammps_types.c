/* minimd/config/read_lammps_types.c - create_box, create_atoms, mass and set: how many types of
 * atoms there are and what each is.
 *
 * One type sets system.mass and lj.*, line by line.  Several are collected and become `species` and
 * `lj.pairs` when they are run; their names are their numbers, or the labels of a data file. */
#include "core/parse/parse.h"
#include "minimd/config/read_lammps.h"

#include <ctype.h>

md_status lammps_number(const lammps *in, const char *list, const char *key, const char *text,
                        double *out)
{
  const char *form = strcmp(list, "species") ? "( { types = [ \"A\", \"A\" ]; %s = %.17g; } )"
                                             : "( { name = \"A\"; %s = %.17g; } )";
  char group[128];
  int groups;
  md_status status = md_parse_double(text, out);
  if (status)
    MD_FAIL(status, "%s: %s", key, md_message());
  else {
    snprintf(group, sizeof group, form, key, *out);
    status = config_check_records(list, group, &groups);
  }
  return status ? at_line(in, status) : MD_OK;
}

/* One end of a range, which ends at *end. */
static md_status read_end(const char *text, int64_t most, int32_t *out, char **end)
{
  MD_REQUIRE(isdigit((unsigned char)*text), MD_EINVAL, "expected a type");
  const long long type = strtoll(text, end, 10);
  MD_REQUIRE(type >= 1 && type <= most, MD_EINVAL, "no type %lld", type);
  *out = (int32_t)type;
  return MD_OK;
}

/* I, *, I*, *J or I*J. */
static md_status read_range(const char *text, int32_t n, int32_t *lo, int32_t *hi)
{
  char *end = (char *)text;
  *lo = 1, *hi = n;
  if (*text != '*') MD_TRY(read_end(text, n, lo, &end));
  if (*end != '*')
    *hi = *lo;
  else if (*++end)
    MD_TRY(read_end(end, n, hi, &end));
  MD_REQUIRE(!*end && *lo <= *hi, MD_EINVAL, "expected a range");
  return MD_OK;
}

md_status lammps_types(const lammps *in, int k, int32_t *lo, int32_t *hi)
{
  const int32_t n = in->types.n ? in->types.n : 1;
  *lo = *hi = in->types.n ? engine_types_find(&in->types, in->args[k]) + 1 : 0;
  if (*lo || read_range(in->args[k], n, lo, hi) == MD_OK) return MD_OK;
  return MD_FAIL(MD_EINVAL,
                 "%s:%d: '%.60s %.60s' is outside the supported subset; expected a type in 1..%d, "
                 "or a range of them such as 1*%d",
                 in->sc.path, in->sc.line, in->sc.words[0], in->args[k], n, n);
}

md_status lammps_create_box(lammps *in)
{
  int64_t n;
  const md_status status = md_parse_int64(in->args[0], 1, MD_TYPES, &n);
  if (status)
    return MD_FAIL(status, "%s:%d: create_box: '%.60s' atom types: expected 1..%d", in->sc.path,
                   in->sc.line, in->args[0], MD_TYPES);
  if (!in->region) return missing(in, "region");
  MD_REQUIRE(is(in, 1, in->region), MD_EINVAL,
             "%s:%d: create_box: no region '%.60s'; expected '%s'", in->sc.path, in->sc.line,
             in->args[1], in->region);
  if (in->box || in->data) return unsupported(in, -1);
  in->box = true;
  if (n > 1) MD_TRY(engine_types_create((int32_t)n, &in->types));
  for (int32_t t = 0; t < in->types.n; t++)
    snprintf(in->types.species[t].name, ENGINE_NAME, "%d", t + 1);
  return put(in, "system.cells", CONFIG_LIST, in->cells);
}

md_status lammps_create_atoms(lammps *in)
{
  int32_t type, last;
  if (!in->box) return missing(in, "create_box");
  if (in->atoms) return unsupported(in, -1);
  MD_TRY(lammps_types(in, 0, &type, &last));
  if (type != last) return unsupported(in, 0);
  if (!is(in, 1, "box")) return unsupported(in, 1);
  in->atoms = true;
  if (in->types.n) in->types.species[type - 1].fraction = 1;
  return MD_OK;
}

/* The file holds the masses, or the default counts where it has one type. */
md_status lammps_read_data(lammps *in)
{
  if (in->box || in->data) return unsupported(in, -1);
  in->data = in->atoms = in->mass = true;
  MD_TRY(put(in, "system.read", CONFIG_STRING, in->args[0]));
  return config_file_types(in->cfg, &in->types);
}

md_status lammps_mass(lammps *in)
{
  int32_t lo, hi;
  double mass;
  if (!in->box && !in->data) return missing(in, "create_box");
  if (in->velocity) return unsupported(in, -1); /* the velocities would be those of other masses */
  MD_TRY(lammps_types(in, 0, &lo, &hi));
  in->mass = true;
  if (!in->types.n) return put(in, "system.mass", CONFIG_NUMBER, in->args[1]);
  MD_TRY(lammps_number(in, "species", "mass", in->args[1], &mass));
  for (int32_t t = lo; t <= hi; t++)
    in->types.species[t - 1].mass = mass;
  return MD_OK;
}

md_status lammps_have_masses(const lammps *in)
{
  char command[32] = "mass";
  bool known = in->types.n || in->mass;
  for (int32_t t = in->types.n; t >= 1; t--) {
    if (in->types.species[t - 1].mass > 0) continue;
    snprintf(command, sizeof command, "mass %d", t);
    known = false;
  }
  return known ? MD_OK : missing(in, command);
}

/* So much of the atoms of types lo..hi become type `to`. */
static void move_types(lammps *in, int32_t lo, int32_t hi, int32_t to, double part)
{
  double moved = 0;
  for (int32_t t = lo; t <= hi; t++) {
    double *fraction = &in->types.species[t - 1].fraction;
    moved += part * *fraction;
    *fraction -= part * *fraction;
  }
  in->types.species[to - 1].fraction += moved;
}

/* set ... type J, or type/fraction J F SEED; *k: its first word, then the one behind it. */
static md_status set_type(lammps *in, int32_t lo, int32_t hi, int *k)
{
  int32_t to, last;
  double part = 1;
  const bool some = is(in, *k, "type/fraction");
  if (in->velocity || in->charged || *k + (some ? 3 : 1) >= in->n) return unsupported(in, *k);
  MD_TRY(lammps_types(in, *k + 1, &to, &last));
  if (to != last) return unsupported(in, *k + 1);
  if (some) {
    int64_t seed;
    MD_TRY(lammps_number(in, "species", "fraction", in->args[*k + 2], &part));
    const md_status status = md_parse_int64(in->args[*k + 3], 1, INT32_MAX, &seed);
    if (status) return at_line(in, status);
    MD_TRY(config_warn(in->cfg,
                       "%s:%d: the atoms that become type %d are not those of LAMMPS: their number "
                       "is exact, and which they are follows from the seed of 'velocity'",
                       in->sc.path, in->sc.line, to));
  }
  move_types(in, lo, hi, to, part);
  *k += some ? 4 : 2;
  return MD_OK;
}

static md_status set_charge(lammps *in, int32_t lo, int32_t hi, int *k)
{
  double charge;
  if (*k + 1 >= in->n) return unsupported(in, *k);
  MD_TRY(lammps_number(in, "species", "charge", in->args[*k + 1], &charge));
  for (int32_t t = lo; t <= hi; t++)
    in->types.species[t - 1].charge = charge;
  in->charged = true;
  *k += 2;
  return MD_OK;
}

/* set type I | group all KEYWORD VALUES ...: of a lattice's atoms only; a data file has their types
 * and charges. */
md_status lammps_set(lammps *in)
{
  int32_t lo = 1, hi = in->types.n;
  if (in->data) return unsupported(in, -1);
  if (!in->atoms) return missing(in, "create_atoms");
  if (!in->types.n) return unsupported(in, -1);
  if (is(in, 0, "type"))
    MD_TRY(lammps_types(in, 1, &lo, &hi));
  else if (!is(in, 0, "group") || !is(in, 1, "all"))
    return unsupported(in, is(in, 0, "group") ? 1 : 0);
  for (int k = 2; k < in->n;) {
    if (is(in, k, "type") || is(in, k, "type/fraction"))
      MD_TRY(set_type(in, lo, hi, &k));
    else if (is(in, k, "charge"))
      MD_TRY(set_charge(in, lo, hi, &k));
    else
      return unsupported(in, k);
  }
  return MD_OK;
}

/* Charges have no effect on lj/cut, as in LAMMPS, until a setting says else. */
md_status lammps_put_types(lammps *in)
{
  if (!in->types.n) return MD_OK;
  for (int32_t t = 0; in->data && t < in->types.n; t++)
    in->types.species[t].fraction = -1;
  if (engine_types_charged(&in->types)) MD_TRY(put(in, "coulomb.method", CONFIG_STRING, "none"));
  MD_TRY(config_put_species(in->cfg, in->sc.path, in->sc.line, &in->types));
  return config_put_pairs(in->cfg, in->sc.path, in->sc.line, &in->types);
}
