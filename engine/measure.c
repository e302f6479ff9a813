/* engine/measure.c - the thermo line of a state, and runs that went wrong. */
#include "comm/world.h"
#include "engine/engine_impl.h"
#include "engine/integrate/integrate.h"

#include <math.h>
#include <stdlib.h>

/* The atom to blame: one whose velocity is no number, else the fastest. */
static md_status find_fastest(const engine *sim, int64_t *id, double *speed)
{
  const int64_t n = sim->atoms->n;
  double *v = malloc((size_t)(n + 1) * 3 * sizeof *v), most = -1;
  int64_t *ids = malloc((size_t)(n + 1) * sizeof *ids);
  md_status status = v && ids ? md_atoms_get(sim->atoms, NULL, v, NULL, ids, NULL)
                              : MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms", (long long)n);
  for (int64_t i = 0; i < n && !status; i++) {
    const double sq =
        v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2];
    if (sq <= most) continue;
    most = isnan(sq) ? INFINITY : sq;
    *id = ids[i];
  }
  *speed = most >= 0 ? sqrt(most) : -1;
  free(v);
  free(ids);
  return status;
}

/* The same of all ranks. */
static md_status find_fastest_of_all(const engine *sim, int64_t *id, double *speed)
{
  struct {
    int64_t id;
    double speed;
  } mine = {0, -1}, *all = malloc((size_t)world_count() * sizeof mine);
  md_status status = all ? find_fastest(sim, &mine.id, &mine.speed)
                         : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", world_count());
  status = world_agree(status);
  if (!status) {
    world_gather(&mine, sizeof mine, all);
    for (int r = 0; r < world_count(); r++)
      if (r == 0 || all[r].speed > *speed) *id = all[r].id, *speed = all[r].speed;
  }
  free(all);
  return status;
}

/* Stop what went wrong before it fills a disk. */
static md_status watch(engine *sim, const engine_thermo *now)
{
  const double t = now->temperature;
  if (sim->first_temperature < 0) sim->first_temperature = t;
  const double epsilon = engine_most(sim->spec).epsilon / engine_constants_of(sim->spec).k_b;
  const double start = fmax(sim->first_temperature, epsilon);
  const bool finite = isfinite(now->e_total) && isfinite(now->pressure);
  if (finite && t <= ENGINE_RUNAWAY * start) return MD_OK;
  int64_t id = 0;
  double speed = 0;
  MD_TRY(find_fastest_of_all(sim, &id, &speed));
  if (!finite)
    return MD_FAIL(
        MD_ENUMERIC,
        "energy or pressure is not finite at step %lld (atom %lld moves at %g): the time "
        "step %g may be too long, or atoms overlap",
        (long long)sim->step, (long long)id, speed, sim->spec->dt);
  return MD_FAIL(
      MD_ENUMERIC,
      "the temperature ran away at step %lld, from %g to %g (atom %lld moves at %g): the "
      "time step %g may be too long, or atoms overlap",
      (long long)sim->step, sim->first_temperature, t, (long long)id, speed, sim->spec->dt);
}

/* Over ranks, without rounding. */
static void sum_exactly(const engine *sim, const integrate_sums *sums, double total[3])
{
  if (world_count() == 1) return; /* it has been */
  exact_sum all[3] = {sums->exact, sim->tally.exact[0], sim->tally.exact[1]};
  for (int k = 0; k < 3; k++)
    exact_carry(&all[k]);
  world_sum((int64_t *)all, 3 * EXACT_WORDS);
  for (int k = 0; k < 3; k++)
    total[k] = exact_value(&all[k]);
}

md_status engine_measure(engine *sim, engine_thermo *out)
{
  md_phase_begin(sim->ctx, MD_PHASE_THERMO);
  integrate_sums sums;
  const md_status status =
      integrate_sum(sim->atoms, sim->atoms->n_types > 1 ? sim->relative : NULL, &sums);
  md_phase_end(sim->ctx, MD_PHASE_THERMO);
  MD_TRY(status);
  double total[3] = {sums.v_sq, sim->tally.energy, sim->tally.virial};
  if (sim->tally.is_exact)
    sum_exactly(sim, &sums, total);
  else
    MD_TRY(comm_sum(sim->cm, total, 3));
  const double n = (double)sim->atoms->n_total, freedom = n > 1 ? 3 * n - 3 : 3;
  double volume = 1;
  for (int d = 0; d < 3; d++)
    volume *= sim->atoms->box.hi[d] - sim->atoms->box.lo[d];
  const engine_constants units = engine_constants_of(sim->spec);
  /* Twice the kinetic energy = freedom * k_B T. */
  const double kinetic = sim->mass * units.inertia * total[0];
  *out = (engine_thermo){
      .step = sim->step,
      .temperature = kinetic / (freedom * units.k_b),
      .e_pair = total[1] / n,
      .e_total = (total[1] + 0.5 * kinetic) / n,
      .pressure = (kinetic + total[2]) / (3 * volume) * units.bar,
  };
  return world_agree(watch(sim, out));
}
