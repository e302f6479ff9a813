/* minimd/config/config_check.c - conditions between settings, and all of them as an input file or
 * JSON. */
#include "minimd/config/config_impl.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys that describe a lattice, and mean nothing to atoms from a file. */
static const char *const of_lattice[] = {"system.lattice", "system.cells", "system.density",
                                         "system.lattice_constant", "system.charges"};
enum { N_OF_LATTICE = sizeof of_lattice / sizeof *of_lattice };
/* Keys that a potential by tables leaves no meaning. */
static const char *const of_lj[] = {"lj.epsilon", "lj.sigma", "lj.cutoff", "lj.shift", "lj.pairs"};
enum { N_OF_LJ = sizeof of_lj / sizeof *of_lj };

static md_status check_source(const config *cfg)
{
  const engine_spec *values = config_get(cfg);
  const bool minimd = values->velocity == ENGINE_VELOCITY_MINIMD;
  for (int k = 0; values->read && k < N_OF_LATTICE; k++)
    MD_REQUIRE(config_is_default(cfg, of_lattice[k]), MD_EINVAL,
               "%s: %s has no meaning with system.read = \"%s\" (%s): the file holds the atoms",
               config_origin(cfg, of_lattice[k]), of_lattice[k], values->read,
               config_origin(cfg, "system.read"));
  MD_REQUIRE(values->lattice_constant == 0 || config_is_default(cfg, "system.density"), MD_EINVAL,
             "%s: system.density = %g beside system.lattice_constant = %g (%s): expected one of "
             "them",
             config_origin(cfg, "system.density"), values->density, values->lattice_constant,
             config_origin(cfg, "system.lattice_constant"));
  MD_REQUIRE(!minimd || !values->read, MD_EINVAL,
             "%s: system.velocity = \"minimd\" numbers the sites of a lattice; expected \"lammps\" "
             "with system.read",
             config_origin(cfg, "system.velocity"));
  MD_REQUIRE(!minimd || values->lattice == ENGINE_LATTICE_FCC, MD_EINVAL,
             "%s: system.velocity = \"minimd\" numbers the sites of system.lattice = \"fcc\"; "
             "expected \"lammps\" with another lattice",
             config_origin(cfg, "system.velocity"));
  return MD_OK;
}

static md_status check_charges(const config *cfg)
{
  const engine_spec *values = config_get(cfg);
  const bool pairs = engine_has_sublattices(values->lattice);
  MD_REQUIRE(values->charges == 0 || pairs, MD_EINVAL,
             "%s: system.charges = %g: expected system.lattice = \"nacl\", \"cscl\" or \"zns\", "
             "which have two kinds of sites",
             config_origin(cfg, "system.charges"), values->charges);
  MD_REQUIRE(values->charges == 0 || !config_is_default(cfg, "coulomb.method"), MD_EINVAL,
             "%s: system.charges = %g: expected a coulomb.method beside it, \"pme\" or \"none\"",
             config_origin(cfg, "system.charges"), values->charges);
  const bool charged = values->types && engine_types_charged(values->types);
  MD_REQUIRE(!charged || !config_is_default(cfg, "coulomb.method"), MD_EINVAL,
             "%s: species with charges: expected a coulomb.method beside them, \"pme\" or \"none\"",
             config_origin(cfg, "species"));
  if (values->coulomb != ENGINE_COULOMB_PME) return MD_OK;
  MD_REQUIRE(
      values->read || values->charges > 0 || charged, MD_EINVAL,
      "%s: coulomb.method = \"pme\" needs charges: expected system.charges > 0, species with "
      "charges, or a file of atoms that has them",
      config_origin(cfg, "coulomb.method"));
  const int32_t *mesh = values->mesh;
  MD_REQUIRE((mesh[0] > 0) == (mesh[1] > 0) && (mesh[0] > 0) == (mesh[2] > 0), MD_EINVAL,
             "%s: coulomb.mesh = %d, %d, %d: expected all three > 0, or 0: chosen",
             config_origin(cfg, "coulomb.mesh"), mesh[0], mesh[1], mesh[2]);
  return MD_OK;
}

/* A potential by tables: of which file, in its units, and nothing beside it. */
static md_status check_potential(const config *cfg)
{
  const engine_spec *values = config_get(cfg);
  const bool eam = values->pair == ENGINE_PAIR_EAM;
  MD_REQUIRE(values->units == ENGINE_UNITS_LJ || values->coulomb == ENGINE_COULOMB_NONE, MD_EINVAL,
             "%s: coulomb.method = \"pme\": expected \"none\" with system.units = \"metal\" (%s), "
             "where charges are not supported",
             config_origin(cfg, "coulomb.method"), config_origin(cfg, "system.units"));
  MD_REQUIRE(
      eam || !values->potential, MD_EINVAL,
      "%s: potential.file = \"%s\": expected potential.style = \"eam\" (--pair eam) beside it",
      config_origin(cfg, "potential.file"), values->potential);
  if (!eam) return MD_OK;
  MD_REQUIRE(
      !values->types, MD_EINVAL,
      "%s: species: expected potential.style = \"lj\" beside them; an \"eam\" is of one kind "
      "of atom, that of potential.file",
      config_origin(cfg, "species"));
  const char *origin = config_origin(cfg, "potential.style");
  MD_REQUIRE(values->potential, MD_EINVAL,
             "%s: potential.style = \"eam\": expected a potential.file (--potential FILE); `minimd "
             "potential` writes one of copper",
             origin);
  MD_REQUIRE(values->units == ENGINE_UNITS_METAL, MD_EINVAL,
             "%s: potential.style = \"eam\": expected system.units = \"metal\", which its tables "
             "are in",
             origin);
  for (int k = 0; k < N_OF_LJ; k++)
    MD_REQUIRE(config_is_default(cfg, of_lj[k]), MD_EINVAL,
               "%s: %s has no meaning with potential.style = \"eam\" (%s): cutoff and energies are "
               "those of potential.file",
               config_origin(cfg, of_lj[k]), of_lj[k], origin);
  MD_REQUIRE(values->backend != ENGINE_BACKEND_GPU || values->list != NEIGHBOR_HALF, MD_EINVAL,
             "%s: neighbor.list = \"half\": expected \"full\" or \"tile\" with potential.style = "
             "\"eam\" (%s) on the GPU, where both passes would add to other atoms atomically",
             config_origin(cfg, "neighbor.list"), origin);
  return MD_OK;
}

/* A skin that is to be measured needs a cost that depends on it, and a run that may differ. */
static md_status check_skin(const config *cfg)
{
  const engine_spec *values = config_get(cfg);
  if (values->skin >= 0) return MD_OK;
  MD_REQUIRE(values->every == 0, MD_EINVAL,
             "%s: neighbor.skin = \"auto\": expected neighbor.every = \"check\" (--rebuild check), "
             "not %d (%s)",
             config_origin(cfg, "neighbor.skin"), values->every,
             config_origin(cfg, "neighbor.every"));
  MD_REQUIRE(
      !values->deterministic, MD_EINVAL,
      "%s: neighbor.skin = \"auto\": expected a number with device.deterministic (%s), since "
      "measured times differ from run to run",
      config_origin(cfg, "neighbor.skin"), config_origin(cfg, "device.deterministic"));
  return MD_OK;
}

md_status config_check(config *cfg)
{
  const engine_spec *values = config_get(cfg);
  MD_TRY(check_source(cfg));
  MD_TRY(config_read_types(cfg));
  MD_TRY(check_charges(cfg));
  MD_TRY(check_potential(cfg));
  MD_TRY(config_read_potential(cfg));
  MD_REQUIRE(
      values->sort_every <= 0 || values->every == 0 || values->sort_every % values->every == 0,
      MD_EINVAL, "%s: order.sort_every = %d: expected a multiple of neighbor.every = %d (%s)",
      config_origin(cfg, "order.sort_every"), values->sort_every, values->every,
      config_origin(cfg, "neighbor.every"));
  MD_REQUIRE(values->block_size % 32 == 0, MD_EINVAL,
             "%s: device.block_size = %d: expected a multiple of 32",
             config_origin(cfg, "device.block_size"), values->block_size);
  MD_TRY(check_skin(cfg));
  const double r_list = engine_reach(values) + fmax(values->skin, 0);
  MD_REQUIRE(values->bin_size < 0 || values->bin_size * CONFIG_BINS_MOST >= r_list, MD_EINVAL,
             "%s: neighbor.bin_size = %g: expected at least %g, a %dth of cutoff + skin",
             config_origin(cfg, "neighbor.bin_size"), values->bin_size, r_list / CONFIG_BINS_MOST,
             CONFIG_BINS_MOST);
  return MD_OK;
}

/* True when writing the key would change nothing, or be refused. */
static bool has_no_effect(const config *cfg, const char *key)
{
  const engine_spec *values = config_get(cfg);
  const config_kinds *kinds = &config_all(cfg)->kinds;
  const bool charged = values->coulomb == ENGINE_COULOMB_PME;
  const bool named =
      values->types && engine_types_charged(values->types) &&
      strcmp(key, "coulomb.method") == 0; /* it must be said of species with charges */
  if (!charged && (strncmp(key, "coulomb.", 8) == 0 || strcmp(key, "system.charges") == 0))
    return !named;
  if (kinds->species && (strcmp(key, "system.mass") == 0 || strcmp(key, "system.charges") == 0))
    return true;
  if (!kinds->species && (strcmp(key, "species") == 0 || strcmp(key, "lj.mix") == 0)) return true;
  if (!kinds->pairs && strcmp(key, "lj.pairs") == 0) return true;
  if (values->pair == ENGINE_PAIR_EAM && strncmp(key, "lj.", 3) == 0) return true;
  if (values->pair == ENGINE_PAIR_LJ && strncmp(key, "potential.", 10) == 0) return true;
  if (strcmp(key, values->lattice_constant > 0 ? "system.density" : "system.lattice_constant") == 0)
    return true;
  if (!values->read)
    return strcmp(key, "system.read") == 0 || strcmp(key, "system.keep_velocities") == 0;
  for (int k = 0; k < N_OF_LATTICE; k++)
    if (strcmp(key, of_lattice[k]) == 0) return true;
  /* A default gives way to the file's mass, a setting does not. */
  return strcmp(key, "system.mass") == 0 && config_is_default(cfg, key);
}

static void write_setting(const config *cfg, const config_entry *entry, FILE *stream)
{
  config_values values = *config_all(cfg);
  char **path =
      strcmp(entry->key, "potential.file") ? &values.engine.read : &values.engine.potential;
  char *absolute = *path ? realpath(*path, NULL) : NULL;
  if (absolute) *path = absolute;
  static char text[CONFIG_TEXT_SIZE]; /* too much for a small stack */
  config_value_write(entry, &values, text, sizeof text);
  const char *dot = strchr(entry->key, '.');
  const int used =
      fprintf(stream, dot ? "  %s = %s;" : "\n%s = %s;", dot ? dot + 1 : entry->key, text);
  fprintf(stream, "%*s # %s%s%s%s\n", used < 32 ? 32 - used : 0, "", *entry->unit ? "[" : "",
          entry->unit, *entry->unit ? "] " : "", entry->help);
  free(absolute);
}

void config_write(const config *cfg, FILE *stream)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  const char *open = NULL; /* a key of the group that is being written */
  fprintf(stream, "# %s\n", config_reading(cfg));
  for (int k = 0; k < n; k++) {
    const char *key = entries[k].key;
    const size_t group = strcspn(key, ".");
    if (has_no_effect(cfg, key)) continue;
    if (open && strncmp(key, open, group + 1) != 0) {
      fputs("};\n", stream);
      open = NULL;
    }
    if (!open && key[group]) {
      fprintf(stream, "\n%.*s: {\n", (int)group, key);
      open = key;
    }
    write_setting(cfg, &entries[k], stream);
  }
  if (open) fputs("};\n", stream);
}

void config_json(const config *cfg, md_json *json)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  for (int k = 0; k < n; k++) {
    md_json_open(json, entries[k].key, '{');
    config_value_json(&entries[k], config_all(cfg), json, "value");
    md_json_string(json, "origin", config_origin(cfg, entries[k].key));
    md_json_close(json, '}');
  }
}
