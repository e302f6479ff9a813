/* engine/spec.c - what follows from a specification alone. */
#include "engine/engine_impl.h"

#include <math.h>

const char *engine_origin(const engine_spec *spec, const char *key)
{
  return spec->origin ? spec->origin(spec->source, key) : "default";
}

engine_constants engine_constants_of(const engine_spec *spec)
{
  static const engine_constants units[ENGINE_UNITS_COUNT] = {
      [ENGINE_UNITS_LJ] = {1, 1, 1},
      [ENGINE_UNITS_METAL] = {8.617343e-5, 1.0364269e-4, 1.6021765e6}};
  return units[spec->units];
}

force_lj engine_most(const engine_spec *spec)
{
  if (spec->types) return engine_types_most(spec->types);
  return (force_lj){spec->epsilon, spec->sigma, spec->cutoff};
}

int32_t engine_kinds(const engine_spec *spec)
{
  return spec->types ? spec->types->n : 1;
}

int32_t engine_pair_kinds(const engine_spec *spec)
{
  const int32_t n = engine_kinds(spec);
  for (int32_t k = 1; k < n * n; k++) {
    const force_lj *one = &spec->types->pairs[0], *other = &spec->types->pairs[k];
    if (one->epsilon != other->epsilon || one->sigma != other->sigma || one->r_cut != other->r_cut)
      return n;
  }
  return 1;
}

bool engine_has_sublattices(engine_lattice lattice)
{
  return lattice == ENGINE_LATTICE_NACL || lattice == ENGINE_LATTICE_CSCL ||
         lattice == ENGINE_LATTICE_ZNS;
}

double engine_reach(const engine_spec *spec)
{
  if (spec->eam) return spec->eam->cutoff;
  const bool charged = spec->coulomb == ENGINE_COULOMB_PME;
  const double cutoff = engine_most(spec).r_cut;
  return charged ? fmax(cutoff, spec->coulomb_cutoff) : cutoff;
}

neighbor_spec engine_list_spec(const engine_spec *spec, neighbor_kind kind)
{
  const double r_list = engine_reach(spec) + spec->skin;
  return (neighbor_spec){
      .kind = kind,
      .stencil = spec->stencil,
      .newton = spec->newton,
      .r_list = r_list,
      .bin_size = spec->bin_size > 0 ? spec->bin_size : r_list / -spec->bin_size,
      .order = spec->curve,
  };
}
