/* engine/types.c - kinds of atoms: see types.h. */
#include "engine/engine_impl.h"
#include "ordering/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

md_status engine_types_create(int32_t n, engine_types *out)
{
  *out = (engine_types){0};
  MD_REQUIRE(n >= 1 && n <= MD_TYPES, MD_EINVAL, "%d kinds of atoms: expected 1..%d", n, MD_TYPES);
  out->species = calloc((size_t)n, sizeof *out->species);
  out->pairs = calloc((size_t)n * (size_t)n, sizeof *out->pairs);
  out->n = n;
  if (out->species && out->pairs) return MD_OK;
  engine_types_free(out);
  return MD_FAIL(MD_ENOMEM, "out of memory for %d kinds of atoms", n);
}

void engine_types_free(engine_types *types)
{
  free(types->species);
  free(types->pairs);
  *types = (engine_types){0};
}

int32_t engine_types_find(const engine_types *types, const char *name)
{
  for (int32_t t = 0; t < types->n; t++)
    if (strcmp(types->species[t].name, name) == 0) return t;
  return -1;
}

bool engine_types_charged(const engine_types *types)
{
  for (int32_t t = 0; t < types->n; t++)
    if (types->species[t].charge != 0) return true;
  return false;
}

static void put_pair(engine_types *types, int32_t i, int32_t j, force_lj lj)
{
  types->pairs[i * types->n + j] = types->pairs[j * types->n + i] = lj;
}

void engine_types_mix(engine_types *types, force_mix mix, const force_lj *usual,
                      const engine_given *given, int32_t n_given)
{
  const int32_t n = types->n;
  for (int32_t i = 0; i < n; i++)
    put_pair(types, i, i, *usual);
  for (int32_t k = 0; k < n_given; k++)
    if (given[k].i == given[k].j) put_pair(types, given[k].i, given[k].j, given[k].lj);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++)
      put_pair(types, i, j, force_lj_mix(mix, &types->pairs[i * n + i], &types->pairs[j * n + j]));
  for (int32_t k = 0; k < n_given; k++)
    put_pair(types, given[k].i, given[k].j, given[k].lj);
}

force_lj engine_types_most(const engine_types *types)
{
  force_lj most = {0, 0, 0};
  for (int32_t k = 0; k < types->n * types->n; k++) {
    const force_lj *pair = &types->pairs[k];
    most.epsilon = fmax(most.epsilon, pair->epsilon);
    most.sigma = fmax(most.sigma, pair->sigma);
    most.r_cut = fmax(most.r_cut, pair->r_cut);
  }
  return most;
}

void engine_types_place(const engine_types *types, bool sublattices, int32_t n_basis, int64_t all,
                        int32_t seed, int64_t first, int64_t n, uint8_t *type)
{
  int64_t until[MD_TYPES] = {0}; /* shuffled places of the types up to this one */
  double sum = 0;
  for (int32_t t = 0; t < types->n; t++) {
    sum += types->species[t].fraction;
    until[t] = t == types->n - 1 ? all : llround(sum * (double)all);
  }
  for (int64_t s = 0; s < n; s++) {
    int32_t t = 0;
    if (sublattices) {
      t = (first + s) % n_basis >= n_basis / 2;
    } else {
      const int64_t place =
          (int64_t)shuffle_place((uint64_t)all, (uint64_t)seed, (uint64_t)(first + s));
      while (place >= until[t])
        t++;
    }
    type[s] = (uint8_t)t;
  }
}

void engine_set_masses(engine *sim, double mass)
{
  const engine_types *types = sim->spec->types;
  sim->mass = mass;
  for (int32_t t = 0; t < sim->atoms->n_types; t++)
    sim->relative[t] = types ? types->species[t].mass / mass : 1;
}

bool engine_masses_alike(const engine *sim)
{
  for (int32_t t = 1; t < sim->atoms->n_types; t++)
    if (sim->relative[t] != sim->relative[0]) return false;
  return true;
}
