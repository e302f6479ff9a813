/* bench/bench_engine.c - whole time steps of the LJ melt, of mixtures and of copper, one CSV row a
 * case.
 *
 * Melt as bench/in.lj of LAMMPS: cutoff 2.5, skin 0.3, sort and rebuild every 20. Copper as
 * inputs/in.eam with the potential of `minimd potential`: embedded atoms, cutoff 4.95 A, skin 1
 * A, 1600 K at first, 5 fs, sort and rebuild every 20. "two": the melt of two species, half of
 * each, that differ in one epsilon by a thousandth, so that they take the melt's steps;
 * "kob-andersen": 80:20 at density 1.2, each pair cut at 2.5 of its sigma, beside "dense", one kind
 * at that density with a cutoff of 2.5. Each case is set up once, run for `steps` to warm up and
 * melt, then timed `repeats` times over `steps`; the row holds the median. Time is processor
 * time for one CPU thread and wall time otherwise.
 *
 * The floor counts each byte that must cross the memory bus in a step once: list entries,
 * coordinates, forces, and the integrator's reads and writes, which are the forces' where one
 * kernel does both; limit_fraction = floor / measured, with the bandwidth of a large copy
 * measured in the same run. error is |E_pair - exact| / |exact| of the perfect lattice before
 * the first step; exact is the CPU's in double for mixtures, whose atoms are scattered over it.
 * bytes_per_atom is what arrays take, peak_per_atom what the process grew by at most, set-up
 * included (CPU). The floor of copper counts a list twice, and F'. Lists by tiles are measured
 * in two orders of atoms: Hilbert's curve jumps where bins are no power of two, the generalised
 * one does not. peer rows are Debian's `lmp -sf opt` on the same melt and copper. */
#include "bench/bench.h"
#include "engine/engine.h"
#include "minimd/config/config.h"
#include "minimd/shell/commands.h"

#include <malloc.h>
#include <math.h>
#include <unistd.h>

#define SYSTEMS(X)                                                                                 \
  X(MELT, "melt") X(TWO, "two") X(DENSE, "dense") X(MIXTURE, "kob-andersen") X(COPPER, "copper")
#define NAME(name, word) name,
typedef enum { SYSTEMS(NAME) N_SYSTEMS } bench_system;
#undef NAME
#define WORD(name, word) word,
static const char *const system_words[N_SYSTEMS] = {SYSTEMS(WORD)};
#undef WORD

/* Per atom of the perfect lattice: the melt's [epsilon], cutoff 2.5; copper's [eV] by LAMMPS. */
static const double lattice_energy[N_SYSTEMS] = {
    [MELT] = -6.77336805325296, [COPPER] = -110695.083458 / 32000};

/* Sums in a fixed order. */
#define AGAIN "half deterministic"

typedef struct {
  const char *precision, *list;
  int cells, threads, steps;
} bench_case;

static const bench_case cpu_melt[] = {
    {"double", "full", 32, 1, 40},
    {"mixed", "full", 32, 1, 40},
    {"single", "full", 32, 1, 40},
    {"double", "half", 32, 1, 40},
    {"mixed", "half", 32, 1, 40},
    {"single", "half", 32, 1, 40},
    {"double", "full", 32, 0, 40},
    {"mixed", "full", 32, 0, 40},
    {"single", "full", 32, 0, 40},
    {"double", "half", 32, 0, 40},
    {"double", "full", 60, 0, 20},
    {"double", AGAIN, 32, 1, 40},
    {0},
};
static const bench_case cpu_copper[] = {
    {"double", "full", 20, 1, 40},
    {"mixed", "full", 20, 1, 40},
    {"single", "full", 20, 1, 40},
    {"double", "half", 20, 1, 40},
    {"double", "full", 64, 0, 20},
    {"single", "full", 64, 0, 20},
    {0},
};
static const bench_case cpu_mixture[] = {
    {"double", "full", 32, 1, 40},
    {"single", "full", 32, 1, 40},
    {0},
};
static const bench_case gpu_melt[] = {
    {"single", "tile", 32, 0, 400},
    {"single", "tile", 64, 0, 200},
    {"single", "tile", 128, 0, 60},
    {"mixed", "tile", 32, 0, 400},
    {"mixed", "tile", 64, 0, 200},
    {"mixed", "tile", 128, 0, 60},
    {"double", "tile", 32, 0, 400},
    {"double", "tile", 64, 0, 200},
    {"double", "tile", 128, 0, 60},
    {"single", "full", 32, 0, 400},
    {"single", "full", 64, 0, 200},
    {"single", "full", 128, 0, 60},
    {"mixed", "full", 32, 0, 400},
    {"mixed", "full", 64, 0, 200},
    {"mixed", "full", 128, 0, 60},
    {"double", "full", 32, 0, 400},
    {"double", "full", 64, 0, 200},
    {"double", "full", 128, 0, 60},
    {"single", "half", 32, 0, 400},
    {"single", "half", 64, 0, 200},
    {"single", "half", 128, 0, 60},
    {"double", "half", 32, 0, 400},
    {"double", "half", 64, 0, 200},
    {"double", "half", 128, 0, 60},
    {"single", AGAIN, 32, 0, 400},
    {"single", AGAIN, 64, 0, 200},
    {"double", AGAIN, 32, 0, 400},
    {"double", AGAIN, 64, 0, 200},
    {0},
};
static const bench_case gpu_copper[] = {
    {"single", "tile", 20, 0, 400},
    {"single", "tile", 64, 0, 200},
    {"mixed", "tile", 20, 0, 400},
    {"mixed", "tile", 64, 0, 200},
    {"double", "tile", 20, 0, 400},
    {"double", "tile", 64, 0, 200},
    {"single", "full", 20, 0, 400},
    {"single", "full", 64, 0, 200},
    {"double", "full", 20, 0, 400},
    {"double", "full", 64, 0, 200},
    {0},
};

static const bench_case gpu_mixture[] = {
    {"single", "tile", 32, 0, 400}, {"single", "tile", 64, 0, 200},
    {"mixed", "tile", 32, 0, 400},  {"mixed", "tile", 64, 0, 200},
    {"double", "tile", 32, 0, 400}, {"double", "tile", 64, 0, 200},
    {"single", "full", 64, 0, 200}, {"double", "full", 64, 0, 200},
    {"single", "half", 64, 0, 200}, {0},
};

enum { REPEATS = 5, SETTINGS = 8, MOST_CELLS = 128 };

static char potential[] = "/tmp/minimd-bench-XXXXXX";

/* The potential of all copper, as long as the program runs. */
static void remove_potential(void)
{
  unlink(potential);
}
static void write_potential(void)
{
  char *argv[] = {"potential", "-o", potential};
  const int file = mkstemp(potential);
  if (file < 0 || close(file)) bench_stop(MD_FAIL(MD_EIO, "cannot write %s", potential));
  atexit(remove_potential);
  bench_stop(cmd_potential(3, argv));
}

/* What a system has beside the melt's settings. */
static void set_system(config *cfg, bench_system system)
{
  static const char *const settings[N_SYSTEMS][SETTINGS][2] = {
      [TWO] = {{"species", "({name=\"A\";},{name=\"B\";})"},
               {"lj.pairs", "({types=[\"A\",\"B\"];epsilon=1.001;sigma=1.0;cutoff=2.5;})"}},
      [DENSE] = {{"system.density", "1.2"},
                 {"system.temperature", "2"},
                 {"run.dt", "0.003"},
                 {"lj.shift", "energy"}},
      [MIXTURE] = {{"system.density", "1.2"},
                   {"system.temperature", "2"},
                   {"run.dt", "0.003"},
                   {"lj.shift", "energy"},
                   {"species", "({name=\"A\";fraction=0.8;},{name=\"B\";fraction=0.2;})"},
                   {"lj.pairs", "({types=[\"A\",\"A\"];epsilon=1.0;sigma=1.0;cutoff=2.5;},"
                                "{types=[\"A\",\"B\"];epsilon=1.5;sigma=0.8;cutoff=2.0;},"
                                "{types=[\"B\",\"B\"];epsilon=0.5;sigma=0.88;cutoff=2.2;})"}},
      [COPPER] = {{"system.units", "metal"},
                  {"system.lattice_constant", "3.615"},
                  {"system.temperature", "1600"},
                  {"system.seed", "376847"},
                  {"potential.style", "eam"},
                  {"potential.file", potential},
                  {"neighbor.skin", "1"},
                  {"neighbor.every", "20"}}};
  for (int k = 0; k < SETTINGS && settings[system][k][0]; k++)
    bench_stop(config_set(cfg, settings[system][k][0], settings[system][k][1], "bench"));
  bench_stop(config_check(cfg));
}

static config *make_config(const bench_case *c, bench_system system, const char *order,
                           md_backend backend)
{
  config *cfg;
  char cells[16], threads[16];
  snprintf(cells, sizeof cells, "%d", c->cells);
  snprintf(threads, sizeof threads, c->threads ? "%d" : "all", c->threads);
  bench_stop(config_create(&cfg));
  bench_stop(config_set(cfg, "system.cells", cells, "bench"));
  bench_stop(config_set(cfg, "device.precision", c->precision, "bench"));
  bench_stop(config_set(cfg, "device.backend", md_backend_words[backend], "bench"));
  bench_stop(config_set(cfg, "device.threads", threads, "bench"));
  const bool again = strcmp(c->list, AGAIN) == 0;
  bench_stop(config_set(cfg, "neighbor.list", again ? "half" : c->list, "bench"));
  bench_stop(config_set(cfg, "device.deterministic", again ? "true" : "false", "bench"));
  bench_stop(config_set(cfg, "order.curve", order, "bench"));
  set_system(cfg, system);
  return cfg;
}

/* Bytes of one atom and step that no program can avoid moving. */
static double floor_bytes(const engine *sim)
{
  const neighbor_view *view = neighbor_list_view(sim->list);
  const md_precision precision = sim->ctx->precision;
  const double state = 4 * (double)md_state_size(precision);
  const double pull = 4 * (double)md_real_size(precision);
  const double coord = 4 * (double)md_coord_size(precision);
  const double passes = sim->spec->eam ? 2 : 1, slope = sim->spec->eam ? pull / 2 : 0;
  const double entries = passes * (double)view->n_entries / (double)view->n_rows;
  if (view->kind == NEIGHBOR_TILE) /* 16-bit entries; x and v read and written, f never */
    return 2 * entries + 4 * state + slope + (precision == MD_MIXED ? 2 * coord : 0);
  return 4 * entries                     /* list */
         + passes * coord + slope + pull /* force kernels */
         + 4 * state + pull              /* x, v read and written; f read */
         + (precision == MD_MIXED ? coord : 0);
}

/* A line of /proc/self/status in bytes; 0 where there is none. */
static double status_bytes(const char *name)
{
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  double kilobytes = 0;
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) kilobytes = strtod(line + strlen(name), NULL);
  if (file) fclose(file);
  return kilobytes * 1024;
}

/* Forget the largest size so far; returns the present one. */
static double restart_peak(void)
{
  malloc_trim(0);
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (file) {
    fputs("5", file);
    fclose(file);
  }
  return status_bytes("VmRSS:");
}

static double phase_share(const engine *sim, md_phase phase, double wall)
{
  return md_phase_seconds(sim->ctx, phase) / wall;
}

/* Energy of an atom of the perfect lattice; a mixture's is computed once for each size. */
static double exact_energy(const bench_case *c, bench_system system)
{
  static double known[N_SYSTEMS][MOST_CELLS + 1];
  double *energy = &known[system][c->cells];
  if (lattice_energy[system] != 0) return lattice_energy[system];
  if (*energy != 0) return *energy;
  config *cfg =
      make_config(&(bench_case){"double", "full", c->cells, 0, 0}, system, "hilbert", MD_CPU);
  engine *sim;
  engine_thermo start;
  bench_stop(engine_create(config_get(cfg), &sim));
  bench_stop(engine_measure(sim, &start));
  engine_destroy(sim);
  config_destroy(cfg);
  return *energy = start.e_pair;
}

static void run_case(const bench_case *c, bench_system system, const char *order,
                     md_backend backend, double bandwidth)
{
  const double exact = exact_energy(c, system);
  config *cfg = make_config(c, system, order, backend);
  engine *sim;
  engine_thermo start;
  const double resident = restart_peak();
  const double began = md_wall_seconds();
  bench_stop(engine_create(config_get(cfg), &sim));
  bench_stop(engine_measure(sim, &start));
  const double setup = md_wall_seconds() - began;
  const bool processor_time = backend == MD_CPU && c->threads == 1;
  double seconds[REPEATS], wall = 0;
  for (int k = -1; k < REPEATS; k++) {
    bench_stop(md_ctx_sync(sim->ctx));
    if (k == 0) md_timer_reset(sim->ctx);
    const double at = md_wall_seconds(), cpu = md_cpu_seconds();
    bench_stop(engine_steps(sim, c->steps));
    bench_stop(md_ctx_sync(sim->ctx));
    if (k < 0) continue;
    wall += md_wall_seconds() - at;
    seconds[k] = processor_time ? md_cpu_seconds() - cpu : md_wall_seconds() - at;
  }
  const double n = (double)sim->atoms->n_total;
  const double step = bench_median(seconds, REPEATS) / c->steps;
  const double floor_time = floor_bytes(sim) * n / bandwidth;
  bench_origin(stdout, backend);
  printf("minimd,%s,%s,%s,%.0f,%d,%d,%d,%.6g,%.6g,%.1f,%.6g,%.4f,%.4f,%.4f,%.4f,%.3g,%.1f,",
         md_backend_words[backend], c->precision, c->list, n, sim->ctx->threads, c->steps, REPEATS,
         setup, step, n / step / 1e6, floor_bytes(sim), floor_time / step,
         phase_share(sim, MD_PHASE_FORCE, wall), phase_share(sim, MD_PHASE_NEIGHBOR, wall),
         phase_share(sim, MD_PHASE_SORT, wall), fabs(start.e_pair / exact - 1),
         (double)sim->ctx->bytes_allocated / n);
  if (backend == MD_CPU) printf("%.1f", (status_bytes("VmHWM:") - resident) / n);
  printf(",%s,%s\n", order, system_words[system]);
  fflush(stdout);
  engine_destroy(sim);
  config_destroy(cfg);
}

/* The melt or copper, as LAMMPS reads it, to a script of its own. */
static void write_lammps(FILE *script, int cells, int steps, bench_system system)
{
  const bool copper = system == COPPER;
  fprintf(script,
          "units %s\natom_style atomic\nlattice fcc %s\n"
          "region box block 0 %d 0 %d 0 %d\ncreate_box 1 box\ncreate_atoms 1 box\n",
          copper ? "metal" : "lj", copper ? "3.615" : "0.8442", cells, cells, cells);
  if (copper)
    fprintf(script,
            "pair_style eam/alloy\npair_coeff * * %s Cu\n"
            "velocity all create 1600.0 376847 loop geom\nneighbor 1.0 bin\ntimestep 0.005\n",
            potential);
  else
    fputs("mass 1 1.0\nvelocity all create 1.44 87287 loop geom\npair_style lj/cut 2.5\n"
          "pair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin\n",
          script);
  fprintf(script, "neigh_modify delay 0 every 20 check no\nfix 1 all nve\nrun %d\nrun %d\n", steps,
          steps);
}

/* Debian's LAMMPS with its `opt` package, one process: "Loop time of T on 1 procs for S steps" and
 * the share of a processor it got, so that this too is processor time. */
static void run_lammps(int cells, int steps, bench_system kind)
{
  if (system("command -v lmp >/dev/null 2>&1") != 0) {
    fputs("bench: lmp is not installed, no LAMMPS row (Debian package lammps)\n", stderr);
    return;
  }
  char script[1024] = "", call[1280];
  FILE *text = fmemopen(script, sizeof script, "w");
  if (!text) bench_stop(MD_FAIL(MD_ENOMEM, "out of memory for a script of LAMMPS"));
  write_lammps(text, cells, steps, kind);
  fclose(text);
  snprintf(call, sizeof call,
           "OMP_NUM_THREADS=1 lmp -sf opt -log none 2>/dev/null <<'END'\n%sEND\n", script);
  double seconds[REPEATS];
  for (int k = 0; k < REPEATS; k++) {
    FILE *pipe = popen(call, "r");
    char line[512];
    double loop = 0, percent = 0;
    while (pipe && fgets(line, sizeof line, pipe)) {
      (void)sscanf(line, "Loop time of %lf", &loop);
      if (strstr(line, "% CPU use")) percent = strtod(line, NULL);
    }
    if (!pipe || pclose(pipe) != 0 || !(loop * percent > 0)) {
      fputs("bench: lmp failed, no LAMMPS row\n", stderr);
      return;
    }
    seconds[k] = loop * percent / 100;
  }
  const double n = 4.0 * cells * cells * cells, step = bench_median(seconds, REPEATS) / steps;
  bench_origin(stdout, MD_CPU);
  printf("lammps-opt,cpu,double,half,%.0f,1,%d,%d,,%.6g,%.2f,,,,,,,,,,%s\n", n, steps, REPEATS,
         step, n / step / 1e6, system_words[kind]);
  fflush(stdout);
}

static void run_cases(const bench_case *cases, bench_system system, md_backend backend,
                      double bandwidth)
{
  for (const bench_case *c = cases; c->list; c++) {
    run_case(c, system, "hilbert", backend, bandwidth);
    if (strcmp(c->list, "tile") == 0) run_case(c, system, "gilbert", backend, bandwidth);
  }
}

int main(int argc, char **argv)
{
  const bool gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
  mallopt(M_MMAP_THRESHOLD, 1 << 17); /* arrays of one case leave no holes for the next */
  const md_backend backend = gpu ? MD_GPU : MD_CPU;
  const md_ctx_spec spec = {backend, MD_DOUBLE, 0, false};
  md_ctx *ctx;
  bench_stop(md_ctx_create(&spec, &ctx));
  const double bandwidth = bench_bandwidth(ctx);
  md_ctx_destroy(ctx);
  printf("date,commit,machine,program,backend,precision,list,atoms,threads,steps,repeats,setup_s,"
         "step_s,m_atom_steps_per_s,floor_bytes_per_atom,limit_fraction,force_share,neighbor_share,"
         "sort_share,error,bytes_per_atom,peak_per_atom,order,system\n");
  write_potential();
  if (!gpu) run_lammps(32, cpu_melt[0].steps, MELT);
  run_cases(gpu ? gpu_melt : cpu_melt, MELT, backend, bandwidth);
  for (bench_system system = TWO; system <= MIXTURE; system++)
    run_cases(gpu ? gpu_mixture : cpu_mixture, system, backend, bandwidth);
  if (!gpu) run_lammps(20, cpu_copper[0].steps, COPPER);
  run_cases(gpu ? gpu_copper : cpu_copper, COPPER, backend, bandwidth);
  return 0;
}
