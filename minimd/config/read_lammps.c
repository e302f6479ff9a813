/* minimd/config/read_lammps.c - the subset of LAMMPS' input language that its bench/in.lj needs.
 *
 * One row of `commands` for each command: how it is written, how many arguments it takes, what it
 * does.  Whatever is not in the table, or written another way, is refused by name. */
#include "minimd/config/read_lammps.h"
#include "core/parse/parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static md_status do_ignore(lammps *in)
{
  return config_warn(in->cfg, "%s:%d: '%s' is ignored", in->sc.path, in->sc.line, in->sc.words[0]);
}

static md_status do_variable(lammps *in)
{
  return script_define(&in->sc);
}

/* Those of LAMMPS' defaults that depend on them, too. */
static md_status do_units(lammps *in)
{
  in->metal = is(in, 0, "metal");
  if (!in->metal && !is(in, 0, "lj")) return unsupported(in, 0);
  if (in->lattice || in->style || in->data) return unsupported(in, -1);
  if (!in->metal) return MD_OK;
  MD_TRY(put(in, "system.units", CONFIG_STRING, in->args[0]));
  MD_TRY(put(in, "neighbor.skin", CONFIG_NUMBER, "2.0"));
  return put(in, "run.dt", CONFIG_NUMBER, "0.001");
}

static md_status do_atom_style(lammps *in)
{
  return is(in, 0, "atomic") || is(in, 0, "charge") ? MD_OK : unsupported(in, 0);
}

static md_status do_newton(lammps *in)
{
  for (int k = 0; k < in->n; k++)
    if (!is(in, k, "on") && !is(in, k, "off")) return unsupported(in, k);
  return put(in, "neighbor.newton", CONFIG_STRING, in->args[0]);
}

static md_status do_lattice(lammps *in)
{
  in->lattice = true;
  MD_TRY(put(in, "system.lattice", CONFIG_STRING, in->args[0]));
  return put(in, in->metal ? "system.lattice_constant" : "system.density", CONFIG_NUMBER,
             in->args[1]);
}

/* region ID block 0 NX 0 NY 0 NZ: whole cells from the origin. */
static md_status do_region(lammps *in)
{
  if (!is(in, 1, "block")) return unsupported(in, 1);
  if (!in->lattice) return missing(in, "lattice");
  if (in->region) return unsupported(in, 0);
  in->cells[0] = '\0';
  for (int d = 0; d < 3; d++) {
    double lo, hi;
    const md_status status = md_parse_double(in->args[2 + 2 * d], &lo);
    if (status || md_parse_double(in->args[3 + 2 * d], &hi)) return at_line(in, MD_EINVAL);
    MD_REQUIRE(lo == 0 && hi >= 1 && hi == floor(hi) && hi <= 100000, MD_EINVAL,
               "%s:%d: region: expected 0 and a whole number of cells in 1..100000, not %.60s and "
               "%.60s",
               in->sc.path, in->sc.line, in->args[2 + 2 * d], in->args[3 + 2 * d]);
    snprintf(in->cells + strlen(in->cells), sizeof in->cells - strlen(in->cells), "%s%d",
             d ? "," : "", (int)hi);
  }
  in->region = strdup(in->args[0]);
  MD_REQUIRE(in->region, MD_ENOMEM, "out of memory for a region");
  return MD_OK;
}

/* velocity all create T SEED loop geom */
static md_status do_velocity(lammps *in)
{
  if (!is(in, 0, "all")) return unsupported(in, 0);
  if (!is(in, 1, "create")) return unsupported(in, 1);
  if (!is(in, 4, "loop") || !is(in, 5, "geom")) return unsupported(in, is(in, 4, "loop") ? 5 : 4);
  if (!in->atoms) return missing(in, in->data ? "read_data" : "create_atoms");
  MD_TRY(lammps_have_masses(in));
  in->velocity = true;
  MD_TRY(put(in, "system.temperature", CONFIG_NUMBER, in->args[2]));
  MD_TRY(put(in, "system.seed", CONFIG_NUMBER, in->args[3]));
  if (in->data) MD_TRY(put(in, "system.keep_velocities", CONFIG_BOOLEAN, "false"));
  return put(in, "system.velocity", CONFIG_STRING, "lammps");
}

static md_status do_neighbor(lammps *in)
{
  if (!is(in, 1, "bin")) return unsupported(in, 1);
  return put(in, "neighbor.skin", CONFIG_NUMBER, in->args[0]);
}

static md_status do_neigh_modify(lammps *in)
{
  in->modified_at = in->sc.line;
  for (int k = 0; k < in->n; k += 2) {
    MD_REQUIRE(k + 1 < in->n, MD_EINVAL, "%s:%d: neigh_modify %.60s: a value is missing",
               in->sc.path, in->sc.line, in->args[k]);
    md_status status = MD_OK;
    if (is(in, k, "every"))
      status = md_parse_int64(in->args[k + 1], 1, INT32_MAX, &in->every);
    else if (is(in, k, "delay"))
      status = md_parse_int64(in->args[k + 1], 0, INT32_MAX, &in->delay);
    else if (is(in, k, "check") && (is(in, k + 1, "yes") || is(in, k + 1, "no")))
      in->check = is(in, k + 1, "yes");
    else if (is(in, k, "binsize"))
      MD_TRY(put(in, "neighbor.bin_size", CONFIG_NUMBER, in->args[k + 1]));
    else
      return unsupported(in, k);
    if (status)
      return MD_FAIL(status, "%s:%d: neigh_modify %s: %s", in->sc.path, in->sc.line, in->args[k],
                     md_message());
  }
  return MD_OK;
}

static md_status do_fix(lammps *in)
{
  if (in->n < 3 || !is(in, 2, "nve")) return unsupported(in, in->n < 3 ? -1 : 2);
  if (!is(in, 1, "all")) return unsupported(in, 1);
  if (in->n > 3) return unsupported(in, 3);
  in->nve = true;
  return MD_OK;
}

static md_status do_timestep(lammps *in)
{
  return put(in, "run.dt", CONFIG_NUMBER, in->args[0]);
}

static md_status do_thermo(lammps *in)
{
  return put(in, "run.thermo", CONFIG_NUMBER, in->args[0]);
}

/* How many digits are printed is ours to say. */
static md_status do_thermo_modify(lammps *in)
{
  return is(in, 0, "format") ? do_ignore(in) : unsupported(in, 0);
}

/* LAMMPS rebuilds at multiples of `every` once `delay` steps have passed, or when, checked then, an
 * atom has moved half the skin; we check in every step and so miss no pair. */
static md_status set_rebuild(lammps *in)
{
  const char *path = in->sc.path, *key = "neighbor.every";
  const int line = in->modified_at ? in->modified_at : in->sc.line;
  if (in->check) {
    MD_REQUIRE(in->every == 1, MD_EINVAL,
               "%s:%d: 'neigh_modify check yes' with every %" PRId64
               " is outside the supported subset; expected every 1, or check no",
               path, line, in->every);
    return config_put(in->cfg, path, line, key, CONFIG_STRING, "check");
  }
  const int64_t periods = in->delay > in->every ? (in->delay + in->every - 1) / in->every : 1;
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, periods * in->every);
  return config_put(in->cfg, path, line, key, CONFIG_NUMBER, text);
}

static md_status do_run(lammps *in)
{
  if (!in->atoms) return missing(in, "create_atoms 1 box");
  MD_TRY(lammps_have_masses(in));
  if (!in->style) return missing(in, "pair_style lj/cut|eam|eam/alloy");
  MD_TRY(lammps_have_coeffs(in));
  if (!in->nve) return missing(in, "fix ID all nve"); /* nothing would move */
  MD_TRY(lammps_put_types(in));
  MD_TRY(set_rebuild(in));
  if (!in->velocity) MD_TRY(put(in, "system.temperature", CONFIG_NUMBER, "0"));
  in->run = true;
  return put(in, "run.steps", CONFIG_DIGITS, in->args[0]);
}

enum { ANY = 1000000 };
static const struct {
  const char *name;
  md_status (*function)(lammps *in);
  int least, most; /* arguments */
  const char *usage;
} commands[] = {
    {"variable", do_variable, 0, ANY, "variable NAME index|equal ..."},
    {"package", do_ignore, 0, ANY, ""},
    {"suffix", do_ignore, 0, ANY, ""},
    {"units", do_units, 1, 1, "units lj|metal, before lattice, pair_style and read_data"},
    {"atom_style", do_atom_style, 1, 1, "atom_style atomic|charge"},
    {"newton", do_newton, 1, 2, "newton on|off"},
    {"lattice", do_lattice, 2, 2, "lattice STYLE DENSITY, or in metal units the lattice constant"},
    {"region", do_region, 8, 8, "one region ID block 0 NX 0 NY 0 NZ"},
    {"create_box", lammps_create_box, 2, 2, "one create_box TYPES REGION"},
    {"create_atoms", lammps_create_atoms, 2, 2, "one create_atoms TYPE box"},
    {"read_data", lammps_read_data, 1, 1, "one read_data FILE and no create_box"},
    {"mass", lammps_mass, 2, 2, "mass TYPES MASS before velocity"},
    {"set", lammps_set, 4, ANY,
     "several types of a lattice, and set type TYPES or group all: type TYPE, type/fraction TYPE "
     "PART SEED, before charges and velocity, or charge Q"},
    {"velocity", do_velocity, 6, 6, "velocity all create T SEED loop geom"},
    {"pair_style", lammps_pair_style, 1, ANY, "pair_style lj/cut CUTOFF | eam | eam/alloy"},
    {"pair_coeff", lammps_pair_coeff, 3, 5,
     "pair_coeff TYPES TYPES EPSILON SIGMA [CUTOFF], or of eam * * FILE [ELEMENT]"},
    {"pair_modify", lammps_pair_modify, 2, ANY,
     "pair_modify mix geometric|arithmetic or shift yes|no, of pair_style lj/cut"},
    {"neighbor", do_neighbor, 2, 2, "neighbor SKIN bin"},
    {"neigh_modify", do_neigh_modify, 2, ANY, "neigh_modify every|delay|check|binsize VALUE ..."},
    {"fix", do_fix, 1, ANY, "fix ID all nve"},
    {"timestep", do_timestep, 1, 1, "timestep DT"},
    {"thermo", do_thermo, 1, 1, "thermo STEPS"},
    {"thermo_modify", do_thermo_modify, 2, ANY, "thermo_modify format ..."},
    {"run", do_run, 1, 1, "run STEPS"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

/* Commands outside the subset that an input may begin with. */
static const char *const others[] = {
    "angle_style", "atom_modify",  "bond_style", "boundary",     "box",       "clear",
    "compute",     "dimension",    "dump",       "echo",         "group",     "if",
    "include",     "jump",         "label",      "kspace_style", "log",       "minimize",
    "partition",   "print",        "processors", "read_restart", "run_style", "shell",
    "timer",       "thermo_style", "uncompute",  "unfix"};
enum { N_OTHERS = sizeof others / sizeof *others };

bool read_lammps_knows(const char *word, size_t length)
{
  for (int k = 0; k < N_COMMANDS + N_OTHERS; k++) {
    const char *name = k < N_COMMANDS ? commands[k].name : others[k - N_COMMANDS];
    if (strlen(name) == length && strncmp(name, word, length) == 0) return true;
  }
  return false;
}

/* A command that is not in the table. */
static md_status unknown_command(const script *sc)
{
  const char *names[N_COMMANDS];
  for (int k = 0; k < N_COMMANDS; k++)
    names[k] = commands[k].name;
  const char *near = md_nearest(sc->words[0], names, N_COMMANDS);
  return MD_FAIL(MD_EINVAL, "%s:%d: '%.60s' is outside the supported subset%s%s%s", sc->path,
                 sc->line, sc->words[0], near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
}

/* A command with more or fewer arguments than its one form has. */
static md_status wrong_count(const script *sc, const char *usage)
{
  char whole[80] = "";
  for (int k = 0; k < sc->n_words; k++) {
    const size_t used = strlen(whole);
    snprintf(whole + used, sizeof whole - used, k ? " %s" : "%s", sc->words[k]);
  }
  return MD_FAIL(MD_EINVAL, "%s:%d: '%s' is outside the supported subset; expected %s", sc->path,
                 sc->line, whole, usage);
}

static md_status execute(lammps *in)
{
  const script *sc = &in->sc;
  in->args = sc->words + 1;
  in->n = sc->n_words - 1;
  for (int k = 0; k < N_COMMANDS; k++) {
    if (strcmp(sc->words[0], commands[k].name) != 0) continue;
    in->usage = commands[k].usage;
    MD_REQUIRE(!in->run, MD_EINVAL,
               "%s:%d: '%s' after 'run' is outside the supported subset; expected one run, last",
               sc->path, sc->line, commands[k].name);
    if (in->n < commands[k].least || in->n > commands[k].most) return wrong_count(sc, in->usage);
    return commands[k].function(in);
  }
  return unknown_command(sc);
}

md_status read_lammps(config *cfg, config_text *text)
{
  lammps in = {.cfg = cfg, .every = 1, .check = true};
  script_begin(&in.sc, text);
  md_status status;
  do {
    status = script_next(&in.sc);
    if (!status && in.sc.n_words) status = execute(&in);
  } while (!status && in.sc.n_words);
  if (!status && !in.run)
    status =
        MD_FAIL(MD_EINVAL, "%s:%d: the input ends; expected 'run STEPS'", text->path, in.sc.line);
  if (!status) status = config_describe(cfg, "%s (LAMMPS subset)", text->path);
  script_end(&in.sc);
  engine_types_free(&in.types);
  free(in.region);
  return status;
}
