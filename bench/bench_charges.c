/* bench/bench_charges.c - whole time steps of a molten salt, one CSV row a case.
 *
 * The salt of inputs/in.nacl: half the ions +3 and half -3, density 0.6, Lennard-Jones cores,
 * smooth PME.  Each case is set up once, runs until the lattice has melted, and is timed `repeats`
 * times over `steps`, with the rebuilds that fall in them; the row holds the median.
 *
 * Cutoff, order, skin and list of a case are those that measured fastest for its size among
 * settings of the same tolerance.  error: root mean square force error that is expected of alpha,
 * cutoff and mesh (spread/pme.h; tests hold the estimate to measured errors).  Phases are us a
 * step; on a GPU the mesh works beside the pair forces, and `coulomb` is what is left of it when
 * those are done. */
#include "bench/bench.h"
#include "engine/engine.h"
#include "minimd/config/config.h"

#include <math.h>

enum { REPEATS = 5 };

typedef struct {
  const char *precision, *list;
  int cells, order;
  double cutoff, skin;
  int threads, steps;
} bench_case;

static const bench_case on_cpu[] = {
    {"double", "full", 8, 6, 3.5, 0.3, 1, 40},
    {"single", "full", 8, 6, 3.5, 0.3, 1, 40},
    {"double", "full", 16, 6, 3.5, 0.3, 0, 20},
    {"single", "full", 16, 6, 3.5, 0.3, 0, 20},
    {0},
};
static const bench_case on_gpu[] = {
    {"single", "full", 8, 6, 3.5, 0.6, 0, 1000},
    {"double", "full", 8, 6, 3.5, 0.6, 0, 1000},
    {"single", "tile", 16, 8, 3.5, 0.4, 0, 1000},
    {"double", "tile", 16, 8, 3.5, 0.3, 0, 1000},
    {"single", "tile", 40, 8, 3.5, 0.3, 0, 200},
    {"double", "tile", 40, 8, 3.5, 0.3, 0, 200},
    {0},
};

static void set(config *cfg, const char *key, const char *format, double value)
{
  char text[64];
  snprintf(text, sizeof text, format, value);
  bench_stop(config_set(cfg, key, text, "bench"));
}

static config *make_config(const bench_case *c, md_backend backend)
{
  static const char *const settings[][2] = {
      {"system.lattice", "nacl"}, {"system.density", "0.6"},     {"system.temperature", "12"},
      {"system.charges", "3"},    {"lj.cutoff", "2.5"},          {"lj.shift", "force"},
      {"coulomb.method", "pme"},  {"coulomb.tolerance", "1e-3"}, {"neighbor.every", "check"},
      {"run.dt", "0.001"}};
  config *cfg;
  bench_stop(config_create(&cfg));
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
    bench_stop(config_set(cfg, settings[k][0], settings[k][1], "bench"));
  bench_stop(config_set(cfg, "device.backend", md_backend_words[backend], "bench"));
  bench_stop(config_set(cfg, "device.precision", c->precision, "bench"));
  bench_stop(config_set(cfg, "neighbor.list", c->list, "bench"));
  set(cfg, "system.cells", "%.0f", c->cells);
  set(cfg, "coulomb.order", "%.0f", c->order);
  set(cfg, "coulomb.cutoff", "%g", c->cutoff);
  set(cfg, "neighbor.skin", "%g", c->skin);
  if (c->threads) set(cfg, "device.threads", "%.0f", c->threads);
  bench_stop(config_check(cfg));
  return cfg;
}

/* The last columns. */
static const md_phase phases[] = {MD_PHASE_FORCE,  MD_PHASE_COULOMB, MD_PHASE_NEIGHBOR,
                                  MD_PHASE_GHOSTS, MD_PHASE_SORT,    MD_PHASE_INTEGRATE};
enum { N_PHASES = sizeof phases / sizeof *phases };

static void print_row(const bench_case *c, const engine *sim, double step, int64_t rebuilds)
{
  const pme_problem *p = &sim->charges;
  const double n = (double)sim->atoms->n_total, timed = (double)c->steps * REPEATS;
  pme_report mesh;
  pme_describe(sim->mesh, &mesh);
  bench_origin(stdout, sim->ctx->backend);
  printf("%s,%s,%s,%.0f,%d,%d,%d,%g,%.6g,%d,%d,%d,%d,%s,%g,%.3g,%.6g,%.1f,%.4f",
         md_backend_words[sim->ctx->backend], c->precision, c->list, n, sim->ctx->threads, c->steps,
         REPEATS, p->r_cut, p->alpha, p->order, p->mesh[0], p->mesh[1], p->mesh[2],
         spread_method_words[mesh.spread.method], c->skin,
         hypot(pme_real_error(p), pme_mesh_error(p)), step, n / step / 1e6,
         (double)rebuilds / timed);
  for (int k = 0; k < N_PHASES; k++)
    printf(",%.2f", 1e6 * md_phase_seconds(sim->ctx, phases[k]) / timed);
  putchar('\n');
  fflush(stdout);
}

static void run_case(const bench_case *c, md_backend backend)
{
  config *cfg = make_config(c, backend);
  engine *sim;
  bench_stop(engine_create(config_get(cfg), &sim));
  const bool processor_time = backend == MD_CPU && c->threads == 1;
  double seconds[REPEATS];
  int64_t rebuilds = 0;
  bench_stop(engine_steps(sim, 200)); /* melts */
  for (int k = -1; k < REPEATS; k++) {
    bench_stop(md_ctx_sync(sim->ctx));
    if (k == 0) md_timer_reset(sim->ctx), rebuilds = sim->rebuilds;
    const double at = md_wall_seconds(), cpu = md_cpu_seconds();
    bench_stop(engine_steps(sim, c->steps));
    bench_stop(md_ctx_sync(sim->ctx));
    if (k >= 0) seconds[k] = processor_time ? md_cpu_seconds() - cpu : md_wall_seconds() - at;
  }
  print_row(c, sim, bench_median(seconds, REPEATS) / c->steps, sim->rebuilds - rebuilds);
  engine_destroy(sim);
  config_destroy(cfg);
}

int main(int argc, char **argv)
{
  const bool gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
  printf("date,commit,machine,backend,precision,list,ions,threads,steps,repeats,cutoff,alpha,order,"
         "mesh_x,mesh_y,mesh_z,spread,skin,error,step_s,m_ion_steps_per_s,rebuilds_per_step");
  for (int k = 0; k < N_PHASES; k++)
    printf(",%s_us", md_phase_words[phases[k]]);
  putchar('\n');
  for (const bench_case *c = gpu ? on_gpu : on_cpu; c->list; c++)
    run_case(c, gpu ? MD_GPU : MD_CPU);
  return 0;
}
