/* engine/system/system_lattice.c - atoms on a lattice.
 *
 * A lattice has n_basis atoms in a cubic cell of edge a, which is given or (n_basis /
 * density)^(1/3); site s is atom s % n_basis of cell s / n_basis, x fastest.  Positions are (cell +
 * basis) a, one rounding each, since the velocity generator hashes their bits. */
#include "engine/system/system_impl.h"

#include <math.h>

/* Basis atoms in quarters of the cell's edge. */
typedef struct {
  int n;
  int8_t quarter[8][3];
} basis;

#define FCC_                                                                                       \
  {0, 0, 0}, {2, 2, 0}, {2, 0, 2},                                                                 \
  {                                                                                                \
    0, 2, 2                                                                                        \
  }
#define FCC_QUARTER_                                                                               \
  {1, 1, 1}, {3, 3, 1}, {3, 1, 3},                                                                 \
  {                                                                                                \
    1, 3, 3                                                                                        \
  }
#define FCC_HALF_                                                                                  \
  {2, 0, 0}, {0, 2, 0}, {0, 0, 2},                                                                 \
  {                                                                                                \
    2, 2, 2                                                                                        \
  }
static const basis bases[ENGINE_LATTICE_COUNT] = {
    [ENGINE_LATTICE_FCC] = {4, {FCC_}},
    [ENGINE_LATTICE_BCC] = {2, {{0, 0, 0}, {2, 2, 2}}},
    [ENGINE_LATTICE_SC] = {1, {{0, 0, 0}}},
    [ENGINE_LATTICE_DIAMOND] = {8, {FCC_, FCC_QUARTER_}},
    [ENGINE_LATTICE_NACL] = {8, {FCC_, FCC_HALF_}},
    [ENGINE_LATTICE_CSCL] = {2, {{0, 0, 0}, {2, 2, 2}}},
    [ENGINE_LATTICE_ZNS] = {8, {FCC_, FCC_QUARTER_}},
};

void system_site(const engine_spec *spec, int64_t s, double *site)
{
  const basis *cell = &bases[spec->lattice];
  const int8_t *quarter = cell->quarter[s % cell->n];
  s /= cell->n;
  for (int d = 0; d < 3; d++) {
    site[d] = (double)(s % spec->cells[d]) + 0.25 * quarter[d];
    s /= spec->cells[d];
  }
}

/* pow, not cbrt: the bits of the lattice constant are those of the programs we compare with. */
static double lattice_constant(const engine_spec *spec)
{
  if (spec->lattice_constant > 0) return spec->lattice_constant;
  return pow(bases[spec->lattice].n / spec->density, 1.0 / 3.0);
}

void system_lattice(const engine_spec *spec, int64_t *n, md_box *box)
{
  const double a = lattice_constant(spec);
  *n = bases[spec->lattice].n;
  for (int d = 0; d < 3; d++) {
    *n *= spec->cells[d];
    box->lo[d] = 0;
    box->hi[d] = spec->cells[d] * a;
  }
}

/* The first half of the basis has one sign, the rest the other. */
static void charge_lattice(const engine_spec *spec, system_state *out)
{
  const int n = bases[spec->lattice].n;
  for (int64_t s = 0; s < out->n; s++)
    out->q[s] = (out->first + s) % n < n / 2 ? spec->charges : -spec->charges;
}

md_status system_make_lattice(const engine_spec *spec, system_state *out)
{
  system_lattice(spec, &out->all, &out->box);
  MD_TRY(system_reserve_block(out, true, false, false));
  const int64_t n = out->n;
  const double a = lattice_constant(spec);
  double *x = out->x;
#pragma omp parallel for schedule(static) num_threads(system_team(spec))
  for (int64_t s = 0; s < n; s++) {
    double site[3];
    system_site(spec, out->first + s, site);
    for (int d = 0; d < 3; d++)
      x[3 * s + d] = site[d] * a;
  }
  if (engine_kinds(spec) > 1) {
    MD_TRY(system_reserve_types(out));
    engine_types_place(spec->types, engine_has_sublattices(spec->lattice), bases[spec->lattice].n,
                       out->all, spec->seed, out->first, n, out->type);
  }
  if (spec->charges == 0) return MD_OK;
  MD_TRY(system_reserve_charges(out));
  charge_lattice(spec, out);
  return MD_OK;
}
