/* engine/system/system.c - the initial state: atoms on a lattice, or from a file. */
#include "engine/system/system_impl.h"
#include "comm/world.h"
#include "core/hardware/processors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef md_status read_fn(md_text *in, bool header, const engine_types *types, system_state *out);

/* Open a file of atoms, and tell what reads it. */
static md_status open_atoms(const char *path, md_text *in, read_fn **read)
{
  MD_TRY(md_text_open(path, in));
  /* XYZ: the number of atoms alone on the first line, then a line that is not empty. */
  char *line;
  int words = 0, more = 0;
  md_status status = md_text_next(in, &line);
  if (!status && !line) status = md_text_fail(in, "the file is empty");
  if (!status) status = md_text_split(in, line, &words);
  const bool count = !status && words == 1 && in->words[0][strspn(in->words[0], "0123456789")] == 0;
  if (count) status = md_text_next(in, &line);
  if (count && !status && line) status = md_text_split(in, line, &more);
  md_text_rewind(in);
  *read = count && more ? read_xyz : read_data;
  if (status) md_text_close(in);
  return status;
}

md_status system_read(const char *path, bool header, const engine_types *types, system_state *out)
{
  *out = (system_state){0};
  md_text in;
  read_fn *read;
  MD_TRY(open_atoms(path, &in, &read));
  const md_status status = read(&in, header, types, out);
  md_text_close(&in);
  if (status) system_state_free(out);
  return status;
}

md_status system_read_types(const char *path, engine_types *out)
{
  *out = (engine_types){0};
  md_text in;
  read_fn *read;
  MD_TRY(open_atoms(path, &in, &read));
  const md_status status = read == read_data ? read_data_types(&in, out) : MD_OK;
  md_text_close(&in);
  return status;
}

md_status system_size(const engine_spec *spec, int64_t *n, md_box *box)
{
  if (!spec->read) {
    system_lattice(spec, n, box);
    return MD_OK;
  }
  system_state state;
  MD_TRY(system_read(spec->read, true, spec->types, &state));
  *n = state.n;
  *box = state.box;
  return MD_OK;
}

/* What a file says must not differ from what was set. */
static md_status agree(const engine_spec *spec, const char *key, double found, double set)
{
  MD_REQUIRE(found == 0 || found == set, MD_EINVAL,
             "%s: the file says %g for %s, which is %g (%s); set %s = %g", spec->read, found, key,
             set, engine_origin(spec, key), key, found);
  return MD_OK;
}

/* Momenta are in units that agree: p^2 / m is an energy, as in a file of ASE. */
static md_status divide_by_masses(const engine_spec *spec, system_state *state)
{
  const engine_types *types = spec->types;
  const double root = sqrt(engine_constants_of(spec).inertia);
  MD_REQUIRE(types || state->mass > 0 || spec->eam ||
                 strcmp(engine_origin(spec, "system.mass"), "default") != 0,
             MD_EINVAL, "%s: momenta: expected a column mass, or system.mass or species beside it",
             spec->read);
  for (int64_t i = 0; i < state->n; i++) {
    const double mass = types             ? types->species[state->type ? state->type[i] : 0].mass
                        : state->mass > 0 ? state->mass
                                          : spec->mass;
    for (int d = 0; d < 3; d++)
      state->v[3 * i + d] /= mass * root;
  }
  state->momenta = false;
  return MD_OK;
}

static md_status from_file(const engine_spec *spec, system_state *out)
{
  MD_TRY(system_read(spec->read, false, spec->types, out));
  if (strcmp(engine_origin(spec, "system.mass"), "default") != 0)
    MD_TRY(agree(spec, "system.mass", out->mass, spec->mass));
  MD_REQUIRE(!(spec->units == ENGINE_UNITS_METAL ? out->lj : out->metal), MD_EINVAL,
             "%s: the file is in units %s; set system.units = \"%s\"", spec->read,
             out->lj ? "lj" : "metal", out->lj ? "lj" : "metal");
  if (spec->pair == ENGINE_PAIR_LJ && !spec->types) {
    MD_TRY(agree(spec, "lj.epsilon", out->epsilon, spec->epsilon));
    MD_TRY(agree(spec, "lj.sigma", out->sigma, spec->sigma));
    MD_TRY(agree(spec, "lj.cutoff", out->cutoff, spec->cutoff));
  }
  if (out->v && !spec->keep_velocities) {
    free(out->v);
    out->v = NULL;
  }
  return out->v && out->momenta ? divide_by_masses(spec, out) : MD_OK;
}

/* Charges of kinds of atoms, where there are any and the source has none. */
static md_status charge(const engine_spec *spec, system_state *state)
{
  if (state->q || !spec->types || !engine_types_charged(spec->types)) return MD_OK;
  MD_TRY(system_reserve_charges(state));
  for (int64_t i = 0; i < state->n; i++)
    state->q[i] = spec->types->species[state->type ? state->type[i] : 0].charge;
  return MD_OK;
}

md_status system_create(const engine_spec *spec, system_state *out)
{
  *out = (system_state){0};
  md_status status = md_threads_start(system_team(spec));
  if (!status) status = spec->read ? from_file(spec, out) : system_make_lattice(spec, out);
  if (!status) status = charge(spec, out);
  status = world_agree(status);
  const double mass = spec->types     ? spec->types->species[0].mass
                      : out->mass > 0 ? out->mass
                                      : spec->mass;
  if (!status && (!spec->read || !out->v)) status = system_velocities(spec, mass, out);
  if (status) {
    system_state_free(out);
    return status;
  }
  out->mass = mass;
  return MD_OK;
}
