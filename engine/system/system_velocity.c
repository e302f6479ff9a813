/* engine/system/system_velocity.c - initial velocities, as LAMMPS or miniMD make them.
 *
 * Both draw three numbers for each atom from a Park-Miller generator whose seed belongs to the
 * place of the atom alone, so that the result depends neither on the order of atoms nor on threads:
 *   lammps  seed = hash of the user's seed and of the bits of x, y and z; v = u - 1/2, / sqrt(m)
 *   minimd  seed = number of the site on the half-cell lattice, k(2ny)(2nx) + j(2nx) + i + 1; v = u
 * Sums are taken over SYSTEM_PART atoms, then over these parts in order, whoever has them.
 * Then the momentum is removed and all are scaled to the temperature sum m v^2 / (3n - 3).  Sums
 * have masses relative to the first kind of atom: 1, exactly, where all are alike.
 * miniMD's neighbouring seeds make neighbours' velocities alike; that is its physics. */
#include "engine/system/system_impl.h"
#include "comm/world.h"
#include "core/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One-at-a-time hash of the low `bytes` bytes, lowest first, each as a signed char. */
static uint32_t hash_bytes(uint32_t hash, uint64_t bits, int bytes)
{
  for (int k = 0; k < bytes; k++) {
    hash += (uint32_t)(int32_t)(int8_t)(bits >> 8 * k);
    hash += hash << 10;
    hash ^= hash >> 6;
  }
  return hash;
}

static void discard(int32_t *seed)
{
  for (int k = 0; k < 5; k++)
    random_park_miller(seed);
}

static void lammps_velocity(int32_t seed, double inv_sqrt_mass, const double *x, double *v)
{
  uint32_t hash = hash_bytes(0, (uint32_t)seed, 4);
  for (int d = 0; d < 3; d++) {
    uint64_t bits;
    memcpy(&bits, &x[d], sizeof bits);
    hash = hash_bytes(hash, bits, 8);
  }
  hash += hash << 3;
  hash ^= hash >> 11;
  hash += hash << 15;
  int32_t s = (int32_t)(hash & 0x7ffffff);
  if (s == 0) s = 1;
  discard(&s);
  for (int d = 0; d < 3; d++)
    v[d] = (random_park_miller(&s) - 0.5) * inv_sqrt_mass;
}

static void minimd_velocity(const engine_spec *spec, int64_t s, double *v)
{
  double site[3];
  system_site(spec, s, site);
  const int64_t nx = 2 * (int64_t)spec->cells[0], ny = 2 * (int64_t)spec->cells[1];
  const int64_t i = (int64_t)(2 * site[0]), j = (int64_t)(2 * site[1]), k = (int64_t)(2 * site[2]);
  int32_t seed = (int32_t)(((k * ny + j) * nx + i + 1) % 2147483647);
  if (seed == 0) seed = 1;
  for (int d = 0; d < 3; d++) {
    discard(&seed);
    v[d] = random_park_miller(&seed);
  }
}

/* Relative masses of kinds of atoms. */
typedef struct {
  const uint8_t *type; /* NULL: all are of the first kind */
  double of[MD_TYPES];
} masses;

static masses masses_of(const engine_spec *spec, double mass, const system_state *state)
{
  masses m = {.type = state->type, .of = {1}};
  for (int32_t t = 0; state->type && t < spec->types->n; t++)
    m.of[t] = spec->types->species[t].mass / mass;
  return m;
}

static double relative_of(const masses *m, int64_t i)
{
  return m->of[m->type ? m->type[i] : 0];
}

/* sums[part] = sum of m v (3), m v^2 (1), m (1); total in the order of the parts, of all ranks. */
enum { SUMS = 5 };
static void add_up(const system_state *state, const masses *m, int team, double (*sums)[SUMS],
                   double *total)
{
  const int64_t n = state->n, parts = (state->all + SYSTEM_PART - 1) / SYSTEM_PART;
  const int64_t first = state->first / SYSTEM_PART, mine = (n + SYSTEM_PART - 1) / SYSTEM_PART;
  const double *v = state->v;
  memset(sums, 0, (size_t)parts * sizeof *sums);
#pragma omp parallel for schedule(static) num_threads(team)
  for (int64_t p = 0; p < mine; p++) {
    double sum[SUMS] = {0};
    for (int64_t i = p * SYSTEM_PART; i < n && i < (p + 1) * SYSTEM_PART; i++) {
      const double mass = relative_of(m, i);
      for (int d = 0; d < 3; d++) {
        sum[d] += mass * v[3 * i + d];
        sum[3] += mass * v[3 * i + d] * v[3 * i + d];
      }
      sum[4] += mass;
    }
    memcpy(sums[first + p], sum, sizeof sum);
  }
  world_sum((void *)sums, SUMS * parts); /* zero bits on all ranks but one */
  memset(total, 0, SUMS * sizeof *total);
  for (int64_t p = 0; p < parts; p++)
    for (int c = 0; c < SUMS; c++)
      total[c] += sums[p][c];
}

/* Room for velocities and sums on all ranks, or an error of all. */
static md_status reserve(system_state *state, double (**sums)[SUMS])
{
  if (!state->v) state->v = malloc((size_t)state->n * 3 * sizeof *state->v + 1);
  *sums = malloc((size_t)(state->all / SYSTEM_PART + 1) * sizeof **sums);
  const md_status status =
      state->v && *sums ? MD_OK
                        : MD_FAIL(MD_ENOMEM, "out of memory for the velocities of %lld atoms",
                                  (long long)state->n);
  return world_agree(status);
}

static void draw(const engine_spec *spec, double mass, const masses *m, int team,
                 system_state *state)
{
  const double *x = state->x;
  double *v = state->v;
  const bool minimd = spec->velocity == ENGINE_VELOCITY_MINIMD;
#pragma omp parallel for schedule(static) num_threads(team)
  for (int64_t i = 0; i < state->n; i++) {
    if (minimd)
      minimd_velocity(spec, state->first + i, &v[3 * i]);
    else
      lammps_velocity(spec->seed, 1 / sqrt(mass * relative_of(m, i)), &x[3 * i], &v[3 * i]);
  }
}

md_status system_velocities(const engine_spec *spec, double mass, system_state *state)
{
  const int team = system_team(spec);
  const masses m = masses_of(spec, mass, state);
  double(*sums)[SUMS], total[SUMS];
  const md_status status = reserve(state, &sums);
  if (status) {
    free(sums);
    return status;
  }
  draw(spec, mass, &m, team, state);
  add_up(state, &m, team, sums, total);
  const double all = (double)state->all, heavy = total[4];
  const double mean[3] = {total[0] / heavy, total[1] / heavy, total[2] / heavy};
  double *v = state->v;
#pragma omp parallel for schedule(static) num_threads(team)
  for (int64_t i = 0; i < state->n; i++)
    for (int d = 0; d < 3; d++)
      v[3 * i + d] -= mean[d];
  add_up(state, &m, team, sums, total);
  free(sums);
  /* A single atom has no velocity once its momentum is removed. */
  const engine_constants units = engine_constants_of(spec);
  const double freedom = 3.0 * all - 3;
  const double temperature = all > 1 ? mass * units.inertia * total[3] / (freedom * units.k_b) : 0;
  const double scale = temperature > 0 ? sqrt(spec->temperature / temperature) : 0;
#pragma omp parallel for schedule(static) num_threads(team)
  for (int64_t i = 0; i < 3 * state->n; i++)
    v[i] *= scale;
  return MD_OK;
}
