/* minimd/stokes/stokes_settings.c - see stokes_settings.h. */
#include "minimd/stokes/stokes_settings.h"
#include "core/parse/parse.h"
#include "stokes/mobility/rpy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const option stokes_option_table[STOKES_OPTION_COUNT] = {
    {"input", 'i', "FILE", "spheres, extended XYZ with radii, as `minimd pack` writes [Angstrom]"},
    {"hydrodynamics", 0, "lubrication|rpy|full",
     "what moves spheres: lubrication between near ones, the flow that all make\nfor all "
     "(Rotne-Prager-Yamakawa mobility) (lubrication)"},
    {"lambda", 0, "N", "rpy: steps that share a mobility, 1 to 64 (16)"},
    {"force", 0, "FX,FY,FZ", "rpy, full: force on each sphere [kT/A] (0,0,0)"},
    {"algorithm", 0, "original|mrhs", "Algorithm 1 or 2 of [Liu] (mrhs)"},
    {"rhs", 0, "M|auto",
     "right-hand sides of mrhs, 1 to 64; auto: from the model, with what this\nmachine and a first "
     "solve measure (16)"},
    {"guess", 0, "solve|series",
     "how mrhs makes its guesses: a block solve for m forces ([Liu]), or a\nseries of R^-1/2, "
     "ten times less exact than --root-tolerance,\nwhich takes less time and goes with --root "
     "chebyshev only (solve)"},
    {"replicas", 0, "K",
     "noises on one matrix in each step, 1 to 64, solved for at once: diffusion by\nprobing; the "
     "spheres move by the first, and by `original` (1)"},
    {"steps", 0, "N", "time steps (16)"},
    {"dt", 0, "X", "time step [ps] (2)"},
    OPTION_SEED("the Brownian forces"),
    {"gap-cut", 0, "X", "pairs with a gap below this resist; 2 gives [Liu]'s matrices (0.5)"},
    {"gap-min", 0, "X", "smaller gaps count as this (0.001)"},
    {"far-field", 0, "X", "c of mu_F = 6 pi eta a c (1)"},
    {"viscosity", 0, "X", "[kT ps / A^3] (0.2162, water at 298.15 K)"},
    {"method", 0, "iterative|cholesky",
     "cholesky: dense factors, for `original` and at most 2000 spheres (iterative)"},
    {"tolerance", 0, "X", "of solutions (1e-6)"},
    {"guess-tolerance", 0, "X", "of the guesses of mrhs (1e-4; [Liu]: that of solutions)"},
    {"root", 0, "pairs|chebyshev|lanczos|cholesky",
     "how Brownian forces are made: pair by pair, exactly; by a square root of R;\nor by dense "
     "factors, for at most 2000 spheres (pairs; with --guess series\nchebyshev, with --method "
     "cholesky cholesky)"},
    {"root-tolerance", 0, "X",
     "of Brownian forces by chebyshev or lanczos; rpy, full: of the mobility\n(1e-3; with --force "
     "1e-5)"},
    {"preconditioner", 0, "none|jacobi", "of the iterative solvers (none)"},
    {"max-iterations", 0, "N", "of a solve, and order of a square root (5000)"},
    {"storage", 0, "bcrs|single|pair", "of the matrix (bcrs)"},
    OPTION_BACKEND("cpu|gpu", "cpu"),
    OPTION_DEVICE,
    OPTION_THREADS,
    {"deterministic", 0, NULL,
     "the same numbers for any number of threads and ranks (always so here)"},
    {"trajectory", 0, "FILE", "write frames of extended XYZ with radii, one after the other"},
    {"trajectory-every", 0, "N", "steps from frame to frame (1)"},
    {"checkpoint", 0, "FILE",
     "state to restart from, written at the end; the one before stays as\nFILE.prev"},
    {"checkpoint-every", 0, "N", "steps between checkpoints; 0: at the end only (0)"},
    {"restart", 0, "FILE",
     "go on from a checkpoint, with its settings; --steps is the step to reach,\ncounted from the "
     "first "
     "start"},
    {"model", 0, NULL,
     "instead: how long a step would take with 1 to 64 right-hand sides, from\nwhat this machine "
     "and a first solve measure"},
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

stokes_settings stokes_settings_defaults(void)
{
  return (stokes_settings){
      .spec = stokes_run_defaults(), .backend = MD_CPU, .steps = 16, .trajectory_every = 1};
}

static md_status read_hydrodynamics(const options *opts, stokes_run_spec *spec)
{
  const char *text = options_value(opts, STOKES_OPTION_FORCE);
  int word = spec->hydrodynamics, n = 0;
  int64_t lambda = spec->lambda;
  MD_TRY(options_word(opts, STOKES_OPTION_HYDRODYNAMICS, stokes_hydrodynamics_words,
                      STOKES_HYDRODYNAMICS_COUNT, &word));
  MD_TRY(options_integer(opts, STOKES_OPTION_LAMBDA, 1, STOKES_VECTORS, &lambda));
  spec->hydrodynamics = (stokes_hydrodynamics)word;
  spec->lambda = (int)lambda;
  if (!text) return MD_OK;
  char **items;
  MD_TRY(options_blame(opts, STOKES_OPTION_FORCE, md_parse_list(text, "components", &items, &n)));
  md_status status = n == 3 ? MD_OK : MD_FAIL(MD_EINVAL, "expected FX,FY,FZ, not '%.60s'", text);
  for (int d = 0; d < 3 && !status; d++)
    status = md_parse_double(items[d], &spec->drive[d]);
  free(items);
  return options_blame(opts, STOKES_OPTION_FORCE, status);
}

/* Options that do not go with all hydrodynamics, and with which they do. */
enum {
  NEAR = 1 << STOKES_HYDRODYNAMICS_LUBRICATION,
  FAR = 1 << STOKES_HYDRODYNAMICS_RPY,
  BOTH = 1 << STOKES_HYDRODYNAMICS_FULL
};
static const struct {
  int option, with;
} only_with[] = {{STOKES_OPTION_ALGORITHM, NEAR},
                 {STOKES_OPTION_RHS, NEAR},
                 {STOKES_OPTION_GUESS, NEAR},
                 {STOKES_OPTION_METHOD, NEAR},
                 {STOKES_OPTION_TOLERANCE, NEAR | BOTH},
                 {STOKES_OPTION_GUESS_TOLERANCE, NEAR},
                 {STOKES_OPTION_ROOT, NEAR},
                 {STOKES_OPTION_STORAGE, NEAR},
                 {STOKES_OPTION_PRECONDITIONER, NEAR},
                 {STOKES_OPTION_FAR_FIELD, NEAR},
                 {STOKES_OPTION_MODEL, NEAR},
                 {STOKES_OPTION_REPLICAS, NEAR},
                 {STOKES_OPTION_PLOT, NEAR},
                 {STOKES_OPTION_LAMBDA, FAR},
                 {STOKES_OPTION_FORCE, FAR | BOTH}};

md_status stokes_settings_agree(const options *opts, const stokes_settings *settings)
{
  const int kind = settings->spec.hydrodynamics;
  for (size_t k = 0; k < sizeof only_with / sizeof *only_with; k++) {
    const int with = only_with[k].with;
    const char *words = with == NEAR  ? "lubrication"
                        : with == FAR ? "rpy"
                        : with & NEAR ? "lubrication or full"
                                      : "rpy or full";
    MD_REQUIRE(with >> kind & 1 || !options_value(opts, only_with[k].option), MD_EINVAL,
               "--%s goes with --hydrodynamics %s only",
               stokes_option_table[only_with[k].option].name, words);
  }
  return MD_OK;
}

static md_status read_words(const options *opts, stokes_settings *out)
{
  stokes_run_spec *spec = &out->spec;
  int algorithm = spec->algorithm, method = spec->method, force = spec->force;
  int preconditioner = spec->preconditioner, storage = spec->storage, guess = spec->guess;
  MD_TRY(
      options_word(opts, STOKES_OPTION_BACKEND, md_backend_words, MD_BACKEND_COUNT, &out->backend));
  MD_TRY(options_device(opts, STOKES_OPTION_DEVICE, out->backend == MD_GPU));
  MD_TRY(options_word(opts, STOKES_OPTION_ALGORITHM, stokes_algorithm_words, STOKES_ALGORITHM_COUNT,
                      &algorithm));
  MD_TRY(options_word(opts, STOKES_OPTION_GUESS, stokes_guess_words, STOKES_GUESS_COUNT, &guess));
  MD_TRY(
      options_word(opts, STOKES_OPTION_METHOD, stokes_method_words, STOKES_METHOD_COUNT, &method));
  MD_TRY(options_word(opts, STOKES_OPTION_ROOT, stokes_force_words, STOKES_FORCE_COUNT, &force));
  MD_TRY(options_word(opts, STOKES_OPTION_PRECONDITIONER, stokes_preconditioner_words,
                      STOKES_PRECONDITIONER_COUNT, &preconditioner));
  MD_TRY(options_word(opts, STOKES_OPTION_STORAGE, stokes_storage_words, STOKES_STORAGE_COUNT,
                      &storage));
  spec->algorithm = (stokes_algorithm)algorithm;
  spec->guess = (stokes_guess)guess;
  spec->method = (stokes_method)method;
  spec->force = (stokes_force)force;
  spec->preconditioner = (stokes_preconditioner)preconditioner;
  spec->storage = (stokes_storage)storage;
  return MD_OK;
}

/* The root where none is asked for: guesses from a series need Chebyshev's, and dense factors serve
 * for forces too. */
static void imply_root(const options *opts, stokes_settings *out)
{
  stokes_run_spec *spec = &out->spec;
  const char *guess = options_value(opts, STOKES_OPTION_GUESS);
  out->root_implied = false;
  if (options_value(opts, STOKES_OPTION_ROOT)) return;
  if (guess && spec->guess == STOKES_GUESS_SERIES) {
    out->root_implied = spec->force != STOKES_FORCE_CHEBYSHEV;
    spec->force = STOKES_FORCE_CHEBYSHEV;
  } else if (options_value(opts, STOKES_OPTION_METHOD) && spec->method == STOKES_CHOLESKY) {
    spec->force = STOKES_FORCE_CHOLESKY;
  }
}

/* Noises on one matrix make no guesses, and no state to go on from. */
static md_status read_replicas(const options *opts, stokes_run_spec *spec)
{
  static const int not_with[] = {STOKES_OPTION_TRAJECTORY, STOKES_OPTION_CHECKPOINT,
                                 STOKES_OPTION_RESTART,    STOKES_OPTION_RHS,
                                 STOKES_OPTION_GUESS,      STOKES_OPTION_MODEL};
  int64_t replicas = spec->replicas;
  MD_TRY(options_integer(opts, STOKES_OPTION_REPLICAS, 1, STOKES_VECTORS, &replicas));
  spec->replicas = (int)replicas;
  if (replicas == 1) return MD_OK;
  for (size_t k = 0; k < sizeof not_with / sizeof *not_with; k++)
    MD_REQUIRE(!options_value(opts, not_with[k]), MD_EINVAL,
               "--%s does not go with several --replicas", stokes_option_table[not_with[k]].name);
  MD_REQUIRE(!options_value(opts, STOKES_OPTION_ALGORITHM) || spec->algorithm == STOKES_ORIGINAL,
             MD_EINVAL, "several --replicas go with --algorithm original only");
  MD_REQUIRE(spec->force == STOKES_FORCE_PAIRS && spec->method == STOKES_ITERATIVE, MD_EINVAL,
             "several --replicas go with --root pairs and --method iterative only");
  spec->algorithm = STOKES_ORIGINAL;
  return MD_OK;
}

static md_status read_counts(const options *opts, stokes_settings *out)
{
  stokes_run_spec *spec = &out->spec;
  const char *rhs = options_value(opts, STOKES_OPTION_RHS);
  int64_t vectors = spec->vectors, most = spec->most;
  if (rhs) out->automatic = strcmp(rhs, "auto") == 0;
  if (!out->automatic)
    MD_TRY(options_integer(opts, STOKES_OPTION_RHS, 1, STOKES_VECTORS, &vectors));
  const char *steps = options_value(opts, STOKES_OPTION_STEPS);
  if (steps)
    MD_TRY(
        options_blame(opts, STOKES_OPTION_STEPS, md_parse_count(steps, 1, INT32_MAX, &out->steps)));
  MD_TRY(options_integer(opts, STOKES_OPTION_MOST, 1, 1000000, &most));
  MD_TRY(options_read_threads(opts, STOKES_OPTION_THREADS, &out->threads));
  MD_TRY(
      options_integer(opts, STOKES_OPTION_TRAJECTORY_EVERY, 1, INT32_MAX, &out->trajectory_every));
  MD_TRY(
      options_integer(opts, STOKES_OPTION_CHECKPOINT_EVERY, 0, INT32_MAX, &out->checkpoint_every));
  MD_TRY(options_read_seed(opts, STOKES_OPTION_SEED, &spec->seed));
  spec->vectors = (int)vectors;
  spec->most = (int)most;
  return MD_OK;
}

/* Whether all spheres are asked to be pushed the same way. */
static bool is_driven(const options *opts, const stokes_run_spec *spec)
{
  const double *drive = spec->drive;
  return options_value(opts, STOKES_OPTION_FORCE) &&
         (drive[0] != 0 || drive[1] != 0 || drive[2] != 0);
}

static md_status read_numbers(const options *opts, stokes_run_spec *spec)
{
  MD_TRY(options_number(opts, STOKES_OPTION_DT, 1e-12, 1e12, &spec->dt));
  MD_TRY(options_number(opts, STOKES_OPTION_GAP_CUT, 1e-6, 100, &spec->law.gap_cut));
  MD_TRY(options_number(opts, STOKES_OPTION_GAP_MIN, 1e-12, 1, &spec->law.gap_min));
  MD_TRY(options_number(opts, STOKES_OPTION_FAR_FIELD, 1e-6, 1e6, &spec->law.far_field));
  MD_TRY(options_number(opts, STOKES_OPTION_VISCOSITY, 1e-12, 1e12, &spec->viscosity));
  MD_TRY(options_number(opts, STOKES_OPTION_TOLERANCE, 1e-14, 0.5, &spec->tolerance));
  MD_TRY(options_number(opts, STOKES_OPTION_GUESS_TOLERANCE, 1e-14, 0.5, &spec->guess_tolerance));
  if (is_driven(opts, spec)) spec->root_tolerance = RPY_TOLERANCE_ALIKE;
  return options_number(opts, STOKES_OPTION_ROOT_TOLERANCE, 1e-13, 0.5, &spec->root_tolerance);
}

md_status stokes_settings_read(const options *opts, stokes_settings *out)
{
  const char *trajectory = options_value(opts, STOKES_OPTION_TRAJECTORY);
  const char *checkpoint = options_value(opts, STOKES_OPTION_CHECKPOINT);
  if (trajectory) out->trajectory = trajectory;
  if (checkpoint) out->checkpoint = checkpoint;
  MD_TRY(read_hydrodynamics(opts, &out->spec));
  MD_TRY(read_words(opts, out));
  imply_root(opts, out);
  MD_TRY(read_replicas(opts, &out->spec));
  MD_TRY(read_counts(opts, out));
  return read_numbers(opts, &out->spec);
}

static void put_text(FILE *stream, int index, const char *value)
{
  fprintf(stream, "--%s=%s%c", stokes_option_table[index].name, value, '\0');
}

static void put_integer(FILE *stream, int index, int64_t value)
{
  fprintf(stream, "--%s=%" PRId64 "%c", stokes_option_table[index].name, value, '\0');
}

static void put_number(FILE *stream, int index, double value)
{
  fprintf(stream, "--%s=%.17g%c", stokes_option_table[index].name, value, '\0');
}

/* What the bits of a step depend on. */
static void put_physics(FILE *stream, const stokes_settings *settings)
{
  const stokes_run_spec *spec = &settings->spec;
  put_text(stream, STOKES_OPTION_HYDRODYNAMICS, stokes_hydrodynamics_words[spec->hydrodynamics]);
  put_integer(stream, STOKES_OPTION_LAMBDA, spec->lambda);
  fprintf(stream, "--%s=%.17g,%.17g,%.17g%c", stokes_option_table[STOKES_OPTION_FORCE].name,
          spec->drive[0], spec->drive[1], spec->drive[2], '\0');
  put_text(stream, STOKES_OPTION_ALGORITHM, stokes_algorithm_words[spec->algorithm]);
  put_integer(stream, STOKES_OPTION_RHS, spec->vectors);
  put_text(stream, STOKES_OPTION_GUESS, stokes_guess_words[spec->guess]);
  put_number(stream, STOKES_OPTION_DT, spec->dt);
  fprintf(stream, "--%s=%" PRIu64 "%c", stokes_option_table[STOKES_OPTION_SEED].name, spec->seed,
          '\0');
  put_number(stream, STOKES_OPTION_GAP_CUT, spec->law.gap_cut);
  put_number(stream, STOKES_OPTION_GAP_MIN, spec->law.gap_min);
  put_number(stream, STOKES_OPTION_FAR_FIELD, spec->law.far_field);
  put_number(stream, STOKES_OPTION_VISCOSITY, spec->viscosity);
  put_text(stream, STOKES_OPTION_METHOD, stokes_method_words[spec->method]);
  put_number(stream, STOKES_OPTION_TOLERANCE, spec->tolerance);
  put_number(stream, STOKES_OPTION_GUESS_TOLERANCE, spec->guess_tolerance);
  put_text(stream, STOKES_OPTION_ROOT, stokes_force_words[spec->force]);
  put_number(stream, STOKES_OPTION_ROOT_TOLERANCE, spec->root_tolerance);
  put_text(stream, STOKES_OPTION_PRECONDITIONER, stokes_preconditioner_words[spec->preconditioner]);
  put_integer(stream, STOKES_OPTION_MOST, spec->most);
  put_text(stream, STOKES_OPTION_STORAGE, stokes_storage_words[spec->storage]);
  put_text(stream, STOKES_OPTION_BACKEND, md_backend_words[settings->backend]);
}

static void put_saves(FILE *stream, const stokes_settings *settings)
{
  put_integer(stream, STOKES_OPTION_STEPS, settings->steps);
  put_integer(stream, STOKES_OPTION_TRAJECTORY_EVERY, settings->trajectory_every);
  put_integer(stream, STOKES_OPTION_CHECKPOINT_EVERY, settings->checkpoint_every);
  if (settings->trajectory) put_text(stream, STOKES_OPTION_TRAJECTORY, settings->trajectory);
  if (settings->checkpoint) put_text(stream, STOKES_OPTION_CHECKPOINT, settings->checkpoint);
}

md_status stokes_settings_words(const stokes_settings *settings, char **out, size_t *bytes)
{
  *out = NULL;
  FILE *stream = open_memstream(out, bytes);
  MD_REQUIRE(stream, MD_ENOMEM, "out of memory for settings");
  put_physics(stream, settings);
  put_saves(stream, settings);
  MD_REQUIRE(fclose(stream) == 0, MD_ENOMEM, "out of memory for settings");
  return MD_OK;
}

md_status stokes_settings_read_words(char *words, stokes_settings *out)
{
  static char command[] = "stokes";
  int n = 1;
  for (char *word = words; *word; word += strlen(word) + 1)
    n++;
  char **list = malloc((size_t)n * sizeof *list);
  MD_REQUIRE(list, MD_ENOMEM, "out of memory for settings");
  list[0] = command;
  char *word = words;
  for (int k = 1; k < n; k++, word += strlen(word) + 1)
    list[k] = word;
  options opts;
  md_status status = options_parse(stokes_option_table, STOKES_OPTION_COUNT, n, list, &opts);
  if (!status) status = stokes_settings_read(&opts, out);
  options_free(&opts);
  free(list);
  return status;
}

static md_status physics_words(const stokes_settings *settings, char **out)
{
  size_t bytes;
  FILE *stream = open_memstream(out, &bytes);
  MD_REQUIRE(stream, MD_ENOMEM, "out of memory for settings");
  put_physics(stream, settings);
  MD_REQUIRE(fclose(stream) == 0, MD_ENOMEM, "out of memory for settings");
  return MD_OK;
}

/* The option that a word `--name=value` sets. */
static const char *name_of(const char *word)
{
  for (int k = 0; k < STOKES_OPTION_COUNT; k++) {
    const char *name = stokes_option_table[k].name;
    const size_t length = strlen(name);
    if (strncmp(word + 2, name, length) == 0 && word[2 + length] == '=') return name;
  }
  return NULL;
}

md_status stokes_settings_differ(const stokes_settings *a, const stokes_settings *b,
                                 const char **out)
{
  char *first = NULL, *second = NULL;
  *out = NULL;
  md_status status = physics_words(a, &first);
  if (!status) status = physics_words(b, &second);
  const char *one = first, *two = second;
  while (!status && *one && !*out) {
    if (strcmp(one, two) != 0) *out = name_of(one);
    one += strlen(one) + 1;
    two += strlen(two) + 1;
  }
  free(first);
  free(second);
  return status;
}
