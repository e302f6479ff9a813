/* minimd/stokes/mobility_request.c - see mobility_request.h. */
#include "minimd/stokes/mobility_request.h"
#include "core/parse/parse.h"
#include "minimd/shell/plot.h"
#include "stokes/mobility/rpy.h"

#include <stdlib.h>
#include <string.h>

const option mobility_option_table[MOBILITY_OPTION_COUNT] = {
    {"input", 'i', "FILE", "spheres, extended XYZ with radii, as `minimd pack` writes"},
    {"case", 0, "FILE",
     "instead: spheres, forces and velocities, comma-separated; the error is that against\nthe "
     "file's velocities"},
    {"tolerance", 0, "E",
     "root mean square error of velocities under random forces, relative to them,\n1e-12..0.1 "
     "(1e-3); with --observe also of solutions\n(1e-5, since errors under forces that are "
     "alike add up)"},
    {"vectors", 0, "LIST",
     "how many vectors at once, separated by commas (1,4,16); with --observe one\nnumber (16)"},
    {"check", 0, NULL, "compare with the straight sum: all vectors up to 4, at 100 spheres"},
    {"map", 0, NULL, "measure nine splits between near and far for each number of vectors"},
    {"moves", 0, NULL, "choose splits for spheres that are set anew before each product"},
    {"observe", 0, "LIST",
     "instead of times: diffusion, sedimentation, hq, separated by commas; short-time\n"
     "self-diffusion, velocity under one force on all, hydrodynamic function"},
    {"hydrodynamics", 0, "lubrication|rpy|full",
     "of --observe: between near spheres, at any distance, or both (rpy)"},
    {"probes", 0, "N", "random forces on all spheres that measure diffusion (16)"},
    {"waves", 0, "LIST",
     "wave numbers of hq, times the mean radius; those that fit into the box and are\nnearest are "
     "taken (0.5,1,1.5,2,2.5,3,3.5,4,4.5,5,5.5,6)"},
    {"gap-cut", 0, "X",
     "lubrication, full: pairs with a gap 2 r / (a_i + a_j) - 2 below this resist (0.5)"},
    {"gap-min", 0, "X", "lubrication, full: smaller gaps count as this (1e-3)"},
    {"viscosity", 0, "X", "of the fluid (1)"},
    OPTION_BACKEND("auto|cpu|gpu", "auto"),
    OPTION_DEVICE,
    {"precision", 0, "single|double",
     "of near blocks and mesh; vectors are double (single where the tolerance is 1e-4 or more)"},
    {"repeat", 0, "N", "products timed for each row; the median counts (5)"},
    OPTION_SEED("the random forces"),
    OPTION_THREADS,
    {"deterministic", 0, NULL, "bit-identical reruns: splits are chosen from usual times"},
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

#define WORD(name, word) word,
const char *const mobility_observable_words[] = {MOBILITY_OBSERVABLES(WORD)};
#undef WORD

static md_status read_vectors(mobility_request *r)
{
  const char *text = options_value(r->opts, MOBILITY_VECTORS);
  const char *usual = r->observes ? "16" : "1,4,16";
  const int64_t most = r->observes ? STOKES_VECTORS : STOKES_COLUMNS;
  char **words;
  MD_TRY(options_blame(r->opts, MOBILITY_VECTORS,
                       md_parse_list(text ? text : usual, "vectors", &words, &r->n_vectors)));
  r->vectors = calloc((size_t)r->n_vectors, sizeof *r->vectors);
  md_status status =
      r->vectors ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %d rows", r->n_vectors);
  for (int k = 0; !status && k < r->n_vectors; k++) {
    int64_t number = 0;
    status = options_blame(r->opts, MOBILITY_VECTORS, md_parse_int64(words[k], 1, most, &number));
    r->vectors[k] = (int)number;
  }
  free(words);
  MD_REQUIRE(status || !r->observes || r->n_vectors == 1, MD_EINVAL,
             "--vectors: expected one number with --observe, not %d", r->n_vectors);
  return status;
}

static md_status read_where(mobility_request *r)
{
  static const char *const backends[] = {"auto", "cpu", "gpu"};
  static const char *const precisions[] = {"single", "double"};
  int backend = 0, precision = r->tolerance >= 1e-4 ? 0 : 1;
  int64_t threads = 0;
  MD_TRY(options_word(r->opts, MOBILITY_BACKEND, backends, 3, &backend));
  MD_TRY(options_device(r->opts, MOBILITY_DEVICE, backend != 1));
  MD_TRY(options_word(r->opts, MOBILITY_PRECISION, precisions, 2, &precision));
  MD_REQUIRE(precision == 1 || r->tolerance >= RPY_SINGLE, MD_EINVAL,
             "--precision single: a tolerance of %g needs double, single allows %g or more",
             r->tolerance, RPY_SINGLE);
  MD_TRY(options_read_threads(r->opts, MOBILITY_THREADS, &threads));
  const bool gpu = backend == 2 || (backend == 0 && md_gpu_available());
  r->where = (md_ctx_spec){gpu ? MD_GPU : MD_CPU, precision ? MD_DOUBLE : MD_MIXED, (int)threads,
                           options_value(r->opts, MOBILITY_DETERMINISTIC) != NULL};
  return MD_OK;
}

static md_status read_observables(mobility_request *r)
{
  const char *text = options_value(r->opts, MOBILITY_OBSERVE);
  char **words;
  int n;
  if (!text) return MD_OK;
  MD_TRY(options_blame(r->opts, MOBILITY_OBSERVE, md_parse_list(text, "observables", &words, &n)));
  md_status status = MD_OK;
  for (int k = 0; !status && k < n; k++) {
    int which = 0;
    while (which < MOBILITY_OBSERVABLE_COUNT &&
           strcmp(words[k], mobility_observable_words[which]) != 0)
      which++;
    if (which < MOBILITY_OBSERVABLE_COUNT)
      r->observe[which] = true;
    else
      status = MD_FAIL(MD_EINVAL, "expected diffusion, sedimentation or hq, not '%.60s'", words[k]);
  }
  free(words);
  r->observes = true;
  return options_blame(r->opts, MOBILITY_OBSERVE, status);
}

static md_status read_waves(mobility_request *r)
{
  const char *text = options_value(r->opts, MOBILITY_WAVES);
  const char *usual = "0.5,1,1.5,2,2.5,3,3.5,4,4.5,5,5.5,6";
  char **words;
  MD_TRY(options_blame(r->opts, MOBILITY_WAVES,
                       md_parse_list(text ? text : usual, "wave numbers", &words, &r->n_waves)));
  r->waves = calloc((size_t)r->n_waves, sizeof *r->waves);
  md_status status =
      r->waves ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %d waves", r->n_waves);
  for (int k = 0; !status && k < r->n_waves; k++) {
    status = md_parse_double(words[k], &r->waves[k]);
    if (!status && !(r->waves[k] > 0 && r->waves[k] <= 1000))
      status = MD_FAIL(MD_EINVAL, "expected numbers above 0, at most 1000, not '%.60s'", words[k]);
  }
  free(words);
  return options_blame(r->opts, MOBILITY_WAVES, status);
}

/* Options of times and of what is observed do not mix. */
static md_status check_mix(const mobility_request *r)
{
  static const int of_times[] = {MOBILITY_CASE,  MOBILITY_CHECK,  MOBILITY_MAP,
                                 MOBILITY_MOVES, MOBILITY_REPEAT, MOBILITY_PLOT};
  static const int of_observe[] = {MOBILITY_HYDRODYNAMICS, MOBILITY_PROBES, MOBILITY_WAVES,
                                   MOBILITY_GAP_CUT, MOBILITY_GAP_MIN};
  for (size_t k = 0; r->observes && k < sizeof of_times / sizeof *of_times; k++)
    MD_REQUIRE(!options_value(r->opts, of_times[k]), MD_EINVAL, "--%s does not go with --observe",
               mobility_option_table[of_times[k]].name);
  for (size_t k = 0; !r->observes && k < sizeof of_observe / sizeof *of_observe; k++)
    MD_REQUIRE(!options_value(r->opts, of_observe[k]), MD_EINVAL, "--%s goes with --observe only",
               mobility_option_table[of_observe[k]].name);
  return MD_OK;
}

static md_status read_case(mobility_request *r)
{
  const bool given = options_value(r->opts, MOBILITY_CASE);
  MD_REQUIRE(!options_value(r->opts, MOBILITY_INPUT) != !given, MD_EINVAL,
             "expected spheres: -i FILE, or --case FILE; see --help");
  MD_REQUIRE(!given || (!options_value(r->opts, MOBILITY_VECTORS) && !r->check && !r->map &&
                        !options_value(r->opts, MOBILITY_VISCOSITY)),
             MD_EINVAL,
             "--case: the file has vectors, viscosity and velocities to compare with, so that "
             "--vectors, --viscosity, --check and --map do not go with it");
  return MD_OK;
}

md_status mobility_request_read(const options *opts, mobility_request *r)
{
  const stokes_resistance law = stokes_run_defaults().law;
  int hydrodynamics = STOKES_HYDRODYNAMICS_RPY;
  *r = (mobility_request){.opts = opts,
                          .tolerance = 1e-3,
                          .viscosity = 1,
                          .repeat = 5,
                          .seed = 1,
                          .probes = 16,
                          .law = law,
                          .quiet = options_value(opts, MOBILITY_QUIET),
                          .check = options_value(opts, MOBILITY_CHECK),
                          .map = options_value(opts, MOBILITY_MAP)};
  MD_TRY(read_observables(r));
  if (r->observes) r->tolerance = RPY_TOLERANCE_ALIKE;
  MD_TRY(read_case(r));
  MD_TRY(check_mix(r));
  MD_TRY(options_read_format(opts, MOBILITY_FORMAT, &r->format));
  MD_TRY(options_number(opts, MOBILITY_TOLERANCE, RPY_TOLERANCE_MIN, RPY_TOLERANCE_MAX,
                        &r->tolerance));
  MD_TRY(options_number(opts, MOBILITY_VISCOSITY, 1e-100, 1e100, &r->viscosity));
  MD_TRY(options_integer(opts, MOBILITY_REPEAT, 1, 1000000, &r->repeat));
  MD_TRY(options_integer(opts, MOBILITY_PROBES, 1, 1000000, &r->probes));
  MD_TRY(options_number(opts, MOBILITY_GAP_CUT, 1e-6, 100, &r->law.gap_cut));
  MD_TRY(options_number(opts, MOBILITY_GAP_MIN, 1e-12, 1, &r->law.gap_min));
  MD_TRY(options_read_seed(opts, MOBILITY_SEED, &r->seed));
  MD_TRY(options_word(opts, MOBILITY_HYDRODYNAMICS, stokes_hydrodynamics_words,
                      STOKES_HYDRODYNAMICS_COUNT, &hydrodynamics));
  r->hydrodynamics = (stokes_hydrodynamics)hydrodynamics;
  if (options_value(opts, MOBILITY_PLOT)) MD_TRY(plot_check(options_value(opts, MOBILITY_PLOT)));
  MD_TRY(read_vectors(r));
  MD_TRY(read_waves(r));
  return read_where(r);
}

void mobility_request_free(mobility_request *r)
{
  free(r->vectors);
  free(r->waves);
}
