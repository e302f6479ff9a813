/* engine/system.c - the initial state: atoms on a lattice, or from a file.
 *
 * A lattice has n_basis atoms in a cubic cell of edge a = (n_basis / density)^(1/3); site s is atom
 * s % n_basis of cell s / n_basis, x fastest.  Positions are (cell + basis) a, one rounding each,
 * since the velocity generator hashes their bits. */
#include "engine/system_impl.h"
#include "core/processors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void system_state_free(system_state *state)
{
  free(state->x);
  free(state->v);
  free(state->id);
  free(state->image);
  free(state->q);
  memset(state, 0, sizeof *state);
}

/* NULL, with a message, when there is no memory for n items. */
static void *reserve(int64_t n, size_t size, md_status *status)
{
  if (*status) return NULL;
  const size_t bytes = (size_t)n * size;
  void *memory = (uint64_t)n <= SIZE_MAX / size ? malloc(bytes ? bytes : 1) : NULL;
  if (!memory)
    *status = MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms (%.3g GB)", (long long)n,
                      (double)n * (double)size / 1e9);
  return memory;
}

md_status system_reserve(system_state *state, int64_t n, bool v, bool id, bool image)
{
  md_status status = MD_OK;
  state->x = reserve(n, 3 * sizeof *state->x, &status);
  if (v) state->v = reserve(n, 3 * sizeof *state->v, &status);
  if (id) state->id = reserve(n, sizeof *state->id, &status);
  if (image) state->image = reserve(n, 3 * sizeof *state->image, &status);
  state->n = n;
  return status;
}

md_status system_reserve_charges(system_state *state)
{
  md_status status = MD_OK;
  state->q = reserve(state->n, sizeof *state->q, &status);
  return status;
}

int system_team(const engine_spec *spec)
{
  return spec->threads > 0 ? spec->threads : md_processors();
}

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
    out->q[s] = s % n < n / 2 ? spec->charges : -spec->charges;
}

static md_status make_lattice(const engine_spec *spec, system_state *out)
{
  int64_t n;
  system_lattice(spec, &n, &out->box);
  MD_TRY(system_reserve(out, n, true, false, false));
  const double a = lattice_constant(spec);
  double *x = out->x;
#pragma omp parallel for schedule(static) num_threads(system_team(spec))
  for (int64_t s = 0; s < n; s++) {
    double site[3];
    system_site(spec, s, site);
    for (int d = 0; d < 3; d++)
      x[3 * s + d] = site[d] * a;
  }
  if (spec->charges == 0) return MD_OK;
  MD_TRY(system_reserve_charges(out));
  charge_lattice(spec, out);
  return MD_OK;
}

md_status system_read(const char *path, bool header, system_state *out)
{
  *out = (system_state){0};
  md_text in;
  MD_TRY(md_text_open(path, &in));
  /* XYZ: the number of atoms alone on the first line, then a line that is not empty. */
  char *line;
  int words = 0, more = 0;
  md_status status = md_text_next(&in, &line);
  if (!status && !line) status = md_text_fail(&in, "the file is empty");
  if (!status) status = md_text_split(&in, line, &words);
  const bool count = !status && words == 1 && in.words[0][strspn(in.words[0], "0123456789")] == 0;
  if (count) status = md_text_next(&in, &line);
  if (count && !status && line) status = md_text_split(&in, line, &more);
  md_text_rewind(&in);
  if (!status) status = (count && more ? read_xyz : read_data)(&in, header, out);
  md_text_close(&in);
  if (status) system_state_free(out);
  return status;
}

md_status system_size(const engine_spec *spec, int64_t *n, md_box *box)
{
  if (!spec->read) {
    system_lattice(spec, n, box);
    return MD_OK;
  }
  system_state state;
  MD_TRY(system_read(spec->read, true, &state));
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

static md_status from_file(const engine_spec *spec, system_state *out)
{
  MD_TRY(system_read(spec->read, false, out));
  if (strcmp(engine_origin(spec, "system.mass"), "default") != 0)
    MD_TRY(agree(spec, "system.mass", out->mass, spec->mass));
  MD_TRY(agree(spec, "lj.epsilon", out->epsilon, spec->epsilon));
  MD_TRY(agree(spec, "lj.sigma", out->sigma, spec->sigma));
  if (out->v && !spec->keep_velocities) {
    free(out->v);
    out->v = NULL;
  }
  return MD_OK;
}

md_status system_create(const engine_spec *spec, system_state *out)
{
  *out = (system_state){0};
  MD_TRY(md_threads_start(system_team(spec)));
  md_status status = spec->read ? from_file(spec, out) : make_lattice(spec, out);
  const double mass = out->mass > 0 ? out->mass : spec->mass;
  if (!status && (!spec->read || !out->v)) status = system_velocities(spec, mass, out);
  if (status)
    system_state_free(out);
  else
    out->mass = mass;
  return status;
}
