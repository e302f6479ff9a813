/* tests/hostile/fuzz_commands.c - whole commands on one thread: input, plan, one step.
 *
 * A target reads its input once by itself and refuses what takes longer than about a millisecond,
 * by the program's own plans of sizes and memory; then the command runs as main() would run it.
 * Nothing but the file in memory is opened, and nothing is written. */
#include "tests/hostile/fuzz.h"
#include "cachemodel/machine/machine.h"
#include "cachemodel/trace/trace_file.h"
#include "core/output/files.h"
#include "core/output/output.h"
#include "minimd/run/restart.h"
#include "minimd/shell/commands.h"
#include "minimd/spread/spread_case.h"
#include "minimd/stokes/stokes_checkpoint.h"
#include "engine/system/system.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATOMS = 300, SPHERES = 40, ROWS = 300, LINES = 20000, BYTES = 2 << 20, WORDS = 64 };

/* Run a command silently; its words end with NULL. */
static bool run(const char *const *words)
{
  static FILE *nowhere;
  FILE *const output = stdout, *const errors = stderr;
  const command *found;
  char *argv[WORDS + 1];
  int argc = 0;
  for (; argc < WORDS && words[argc]; argc++)
    argv[argc] = (char *)words[argc];
  argv[argc] = NULL;
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  fuzz_need(nowhere != NULL, "/dev/null");
  if (fuzz_told(command_find(argv[0], &found))) return false;
  stdout = stderr = nowhere;
  const md_status status = found->function(argc, argv);
  stdout = output, stderr = errors;
  md_output_release();
  md_file_forget();
  return fuzz_told(status) == MD_OK;
}

/* Whether a run of these settings is short. */
static bool short_run(const config *cfg, int64_t n, const md_box *box)
{
  const engine_spec *values = config_get(cfg);
  const md_ctx plan = {.backend = MD_CPU, .precision = values->precision};
  engine_choice choice;
  if (values->skin < 0 || n > ATOMS || fuzz_told(engine_choose(values, n, box, &choice)))
    return false;
  double edge[3];
  for (int d = 0; d < 3; d++)
    edge[d] = box->hi[d] - box->lo[d];
  return engine_memory(&plan, values, choice.list, (double)n, edge) <= BYTES;
}

#define ONE_THREAD "--quiet", "--backend", "cpu", "--threads", "1"
#define NO_FILES "--set", "output.dump=", "--set", "output.checkpoint="

/* An input file in any language; its lattice. */
static bool run_input(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  config *cfg;
  int64_t n;
  md_box box;
  fuzz_need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = fuzz_told(config_read(cfg, path, CONFIG_FORMAT_AUTO)) == MD_OK &&
                    fuzz_told(config_set(cfg, "device.backend", "cpu", "a test")) == MD_OK &&
                    !config_get(cfg)->read &&
                    fuzz_told(system_size(config_get(cfg), &n, &box)) == MD_OK &&
                    short_run(cfg, n, &box);
  config_destroy(cfg);
  return good &&
         run((const char *[]){"run", "-i", path, "--steps", "1", ONE_THREAD, NO_FILES, NULL});
}

/* Atoms from a LAMMPS data or an XYZ file. */
static bool run_atoms(const uint8_t *data, size_t size)
{
  char pair[128];
  config *cfg;
  int64_t n;
  md_box box;
  snprintf(pair, sizeof pair, "system.read=%s", fuzz_file(data, size));
  fuzz_need(config_create(&cfg) == MD_OK && config_set_pair(cfg, pair) == MD_OK, pair);
  const bool good =
      fuzz_told(system_size(config_get(cfg), &n, &box)) == MD_OK && short_run(cfg, n, &box);
  config_destroy(cfg);
  return good && run((const char *[]){"run", "--set", pair, "--steps", "1", ONE_THREAD, NULL});
}

/* The next step of a run. */
static bool restart_run(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  char steps[32];
  checkpoint from;
  config *cfg;
  if (fuzz_told(checkpoint_read(path, &from))) return false;
  fuzz_need(config_create(&cfg) == MD_OK, "config_create");
  const bool good = fuzz_told(restart_configure(&from, cfg)) == MD_OK &&
                    fuzz_told(config_set(cfg, "device.backend", "cpu", "a test")) == MD_OK &&
                    short_run(cfg, from.state.n, &from.state.box);
  snprintf(steps, sizeof steps, "%" PRId64, from.state.step + (from.state.step < INT64_MAX));
  config_destroy(cfg);
  checkpoint_free(&from);
  return good && run((const char *[]){"run", "--restart", path, "--steps", steps, ONE_THREAD,
                                      NO_FILES, NULL});
}

static md_ctx *context(void)
{
  static md_ctx *ctx;
  const md_ctx_spec spec = {MD_CPU, MD_DOUBLE, 1, false};
  fuzz_need(ctx || md_ctx_create(&spec, &ctx) == MD_OK, "md_ctx_create");
  return ctx;
}

static bool short_stokes(const stokes_run_spec *spec, const stokes_packing *spheres)
{
  enum { RIGHT_HAND_SIDES = 8, ITERATIONS = 100 };
  return spheres->n <= SPHERES && spec->vectors <= RIGHT_HAND_SIDES && spec->most <= ITERATIONS &&
         stokes_run_bytes(spec, spheres->n, stokes_packing_occupancy(spheres)) <= BYTES;
}

static bool run_stokes(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  stokes_run_spec spec = stokes_run_defaults();
  stokes_packing spheres;
  spec.vectors = 2, spec.most = 100;
  if (fuzz_told(stokes_packing_read(path, &spheres))) return false;
  const bool good = short_stokes(&spec, &spheres);
  stokes_packing_free(&spheres);
  return good && run((const char *[]){"stokes", "-i", path, "--steps", "1", "--rhs", "2",
                                      "--max-iterations", "100", ONE_THREAD, NULL});
}

/* The next step from a checkpoint, which names files that the command writes: without these. */
static bool restart_stokes(const uint8_t *data, size_t size)
{
  stokes_checkpoint from;
  stokes_run *run_on = NULL;
  stokes_step row;
  stokes_settings settings = stokes_settings_defaults();
  if (fuzz_told(stokes_checkpoint_read(fuzz_file(data, size), &from))) return false;
  const bool good =
      fuzz_told(stokes_settings_read_words(from.words, &settings)) == MD_OK &&
      short_stokes(&settings.spec, &from.state.spheres) &&
      fuzz_told(stokes_run_restore(context(), &settings.spec, &from.state, &run_on)) == MD_OK &&
      fuzz_told(stokes_run_step(run_on, &row)) == MD_OK;
  stokes_run_destroy(run_on);
  stokes_checkpoint_free(&from);
  return good;
}

/* Spheres of these sizes. */
static bool run_pack(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  return run((const char *[]){"pack", "--radii", path, "--particles", "20", "--occupancy", "0.2",
                              "--sweeps", "20", "--iterations", "50", "--threads", "1", "-o", "-",
                              "--quiet", NULL});
}

/* A matrix times one and three vectors, by rows. */
static void multiply(md_ctx *ctx, const stokes_blocks *blocks)
{
  enum { WIDEST = 3 };
  const size_t rows = 3 * (size_t)blocks->n_rows, room = rows * WIDEST + 1;
  double *x = calloc(2 * room, sizeof *x), *y = x ? x + room : NULL;
  stokes_matrix *matrix;
  fuzz_need(x && stokes_matrix_create(ctx, STOKES_BCRS, &matrix) == MD_OK, "no matrix");
  for (size_t k = 0; k < room; k++)
    x[k] = 1 / (1 + (double)k);
  for (int m = 1; m <= WIDEST; m += 2) {
    if (fuzz_told(stokes_matrix_set(matrix, blocks, m))) break;
    fuzz_need(fuzz_told(stokes_matrix_multiply(matrix, m, x, y)) == MD_OK, "no product");
    for (int64_t i = 0; i < blocks->n_rows; i++)
      for (int d = 0; d < 3 * m; d++) {
        double sum = 0, most = 0;
        for (int64_t p = blocks->start[i]; p < blocks->start[i + 1]; p++)
          for (int q = 0; q < 3; q++) {
            const double term = blocks->block[9 * p + 3 * (d / m) + q] *
                                x[(3 * (int64_t)blocks->column[p] + q) * m + d % m];
            sum += term, most += fabs(term);
          }
        fuzz_need(!isfinite(most) || fabs(sum - y[3 * i * m + d]) <= 1e-12 * most + 1e-300,
                  "a wrong product");
      }
  }
  stokes_matrix_destroy(matrix);
  free(x);
}

/* What `gspmv --matrix` does but for its clocks. */
static bool run_gspmv(const uint8_t *data, size_t size)
{
  stokes_blocks blocks;
  if (fuzz_told(stokes_blocks_read(fuzz_file(data, size), &blocks))) return false;
  const bool few = blocks.n_rows <= ROWS;
  if (few) multiply(context(), &blocks);
  stokes_blocks_free(&blocks);
  return few;
}

static void spread_by(const spread_spec *spec, const spread_case *particles, const double *exact)
{
  enum { POINTS = 8 * 8 * 8 };
  spread_plan *plan;
  double mesh[2 * POINTS], most = 0;
  fuzz_need(fuzz_told(spread_create(context(), spec, &plan)) == MD_OK, "spread_create");
  if (fuzz_told(spread_set_positions(plan, particles->n, particles->x, 3)) == MD_OK) {
    fuzz_need(fuzz_told(spread_charges(plan, particles->q, mesh)) == MD_OK, "spread_charges");
    for (int64_t k = 0; k < 2 * particles->n; k++)
      most += fabs(particles->q[k]);
    for (int k = 0; k < 2 * POINTS; k++)
      fuzz_need(!isfinite(most) || fabs(mesh[k] - exact[k]) <= 1e-12 * most, "a wrong mesh");
  }
  spread_destroy(plan);
}

/* What `spread` does, by each method, but for its clocks. */
static bool run_spread(const uint8_t *data, size_t size)
{
  spread_spec spec = {.hi = {4, 4, 4}, .mesh = {8, 8, 8}, .order = 4, .vectors = 2};
  spread_case particles;
  double exact[2 * 8 * 8 * 8];
  if (fuzz_told(spread_case_read(&spec, MD_DOUBLE, 1, fuzz_file(data, size), 1, &particles)))
    return false;
  const bool few = particles.n <= ATOMS;
  for (int v = 0; few && v < 2; v++)
    spread_case_direct(&spec, &particles, v, 1, exact + v * 8 * 8 * 8);
  for (int m = 1; few && m < SPREAD_METHOD_COUNT; m++) {
    spec.method = (spread_method)m;
    if (spread_method_on(spec.method, MD_CPU)) spread_by(&spec, &particles, exact);
  }
  spread_case_free(&particles);
  return few;
}

/* Lines of 64 bytes that a trace touches, or too many; a trace that ends in an error is short. */
static int64_t trace_length(const char *path)
{
  enum { ROOM = 64, LINE = 64 };
  trace_reader *reader;
  trace_run runs[ROOM];
  int64_t lines = 0, n = 1;
  if (fuzz_told(trace_reader_open(path, NULL, &reader))) return 0;
  while (n > 0 && lines <= LINES && !fuzz_told(trace_read(reader, ROOM, runs, &n)))
    for (int64_t k = 0; k < n && lines <= LINES; k++)
      lines += runs[k].count > LINES ? LINES + 1 : runs[k].count * (2 + runs[k].bytes / LINE);
  trace_reader_close(reader);
  return lines;
}

static bool model_trace(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  return trace_length(path) <= LINES &&
         run((const char *[]){"cachemodel", "--trace", path, "--capacity", "all", NULL});
}

/* The force kernel of a few atoms on the machine that a file describes. */
static bool model_machine(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  machine m;
  if (fuzz_told(machine_find(path, &m))) return false;
  double lines = 0;
  for (int k = 0; k < m.n_levels; k++)
    lines += (double)m.level[k].bytes / m.level[k].sector *
             (k == 0 && m.kind == MACHINE_GPU ? m.multiprocessors : 1);
  return lines <= LINES &&
         run((const char *[]){"cachemodel", "--machine", path, "--cells", "2", "--cutoff", "1.2",
                              "--steps", "0", "--warm", "--threads", "1", "--quiet", NULL});
}

/* Whether a word can name a file that is there or is to be written. */
static bool touches_files(const char *word)
{
  return strchr(word, '/') || strncmp(word, "-o", 2) == 0 || strncmp(word, "--output", 8) == 0 ||
         strncmp(word, "--plot", 6) == 0;
}

/* A number of two digits or more, so that a grid is large or is refused. */
static bool large_number(const char *word)
{
  for (; *word; word++)
    if (strspn(word, "0123456789") > 1) return true;
  return false;
}

/* A line a word.  Commands without input run whole, `run` with --check; of the others, the options
 * are read. */
static bool command_words(const uint8_t *data, size_t size)
{
  enum { LONGEST = 200 };
  static const char *const whole[] = {"config", "convert", "ordering"};
  const char *words[WORDS + 1] = {""};
  char *text = fuzz_text(data, size < LONGEST ? size : LONGEST), *rest = NULL;
  int n = 0;
  bool good = true, ends = false;
  for (char *word = strtok_r(text, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest)) {
    good = good && n < WORDS - 1 && !touches_files(word);
    if (good) words[n++] = word;
  }
  good = good && n > 0;
  for (int k = 0; good && k < 3; k++)
    ends = ends || strcmp(words[0], whole[k]) == 0;
  for (int k = 1; good && strcmp(words[0], "ordering") == 0 && k < n; k++)
    good = !large_number(words[k]);
  if (good && !ends) words[n++] = strcmp(words[0], "run") == 0 ? "--check" : "--nothing";
  words[n] = NULL;
  good = good && run(words);
  free(text);
  return good;
}

const fuzz_target fuzz_commands[] = {{"command_run", run_input, NULL},
                                     {"command_atoms", run_atoms, NULL},
                                     {"command_restart", restart_run, fuzz_seal_sections},
                                     {"command_stokes", run_stokes, NULL},
                                     {"command_stokes_restart", restart_stokes, fuzz_seal_sections},
                                     {"command_pack", run_pack, NULL},
                                     {"command_gspmv", run_gspmv, NULL},
                                     {"command_spread", run_spread, NULL},
                                     {"command_trace", model_trace, fuzz_seal_trace},
                                     {"command_machine", model_machine, NULL},
                                     {"command_words", command_words, NULL},
                                     {0}};
