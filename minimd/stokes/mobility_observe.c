/* minimd/stokes/mobility_observe.c - see mobility_observe.h.
 *
 * A row is made of samples: random signs of diffusion; axes of sedimentation; axes of H(q), each
 * with a cosine and a sine.  Its value is the power of all samples over that of spheres alone, its
 * error the standard error of the samples' own values.
 *
 * A sphere in a periodic box feels its images: in a cube of edge L, with N spheres at the occupancy
 * phi, D_s / D_0 is too small by 2.8373 a / L - 4 pi / 3 (a / L)^3 = 1.7601 (phi / N)^(1/3) - phi /
 * N and H(q) by S(q) times that, if what is between images is fluid of the viscosity eta; of
 * suspensions it is eta_0 / eta times that (Ladd, J. Chem. Phys. 93, 3484 (1990)). */
#include "minimd/stokes/mobility_observe.h"
#include "core/time/timer.h"
#include "minimd/shell/table.h"
#include "stokes/step/response.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  mobility_observable what;
  double target; /* of hq: wave number */
  int samples, patterns;
  int first; /* of its patterns */
} row_plan;

typedef struct {
  const mobility_request *asked;
  const stokes_packing *spheres;
  row_plan *row; /* [n_rows] */
  int n_rows;
  stokes_pattern *pattern; /* [n_patterns] */
  stokes_answer *answer;
  int n_patterns;
  double radius, inverse; /* means of a and of 1 / a */
} plan;

/* Whole periods along an axis whose wave is nearest to the target, one at least. */
static int periods_of(const plan *p, double target, int axis)
{
  return (int)fmax(1, round(target / p->radius * p->spheres->box[axis] / (2 * M_PI)));
}

static void add_row(plan *p, mobility_observable what, double target)
{
  const bool random = what == MOBILITY_DIFFUSION;
  const int samples = random ? (int)p->asked->probes : 3, kinds = what == MOBILITY_HQ ? 2 : 1;
  p->row[p->n_rows++] = (row_plan){what, target, samples, samples * kinds, p->n_patterns};
  for (int k = 0; k < samples; k++)
    for (int kind = 0; kind < kinds; kind++)
      p->pattern[p->n_patterns++] =
          random ? (stokes_pattern){.kind = STOKES_SIGNS,
                                    .seed = p->asked->seed,
                                    .number = (uint64_t)k}
                 : (stokes_pattern){.kind = kind ? STOKES_SINE : STOKES_COSINE,
                                    .axis = k,
                                    .periods = what == MOBILITY_HQ ? periods_of(p, target, k) : 0};
}

static md_status make_plan(plan *p)
{
  const mobility_request *asked = p->asked;
  const int64_t n = p->spheres->n;
  const size_t rows = 2 + (size_t)asked->n_waves;
  const size_t patterns = (size_t)asked->probes + 3 + 6 * (size_t)asked->n_waves;
  for (int64_t i = 0; i < n; i++) {
    p->radius += p->spheres->x[4 * i + 3] / (double)n;
    p->inverse += 1 / p->spheres->x[4 * i + 3] / (double)n;
  }
  p->row = calloc(rows, sizeof *p->row);
  p->pattern = calloc(patterns, sizeof *p->pattern);
  p->answer = calloc(patterns, sizeof *p->answer);
  MD_REQUIRE(p->row && p->pattern && p->answer, MD_ENOMEM, "out of memory for %zu patterns",
             patterns);
  if (asked->observe[MOBILITY_DIFFUSION]) add_row(p, MOBILITY_DIFFUSION, 0);
  if (asked->observe[MOBILITY_SEDIMENTATION]) add_row(p, MOBILITY_SEDIMENTATION, 0);
  for (int k = 0; asked->observe[MOBILITY_HQ] && k < asked->n_waves; k++)
    add_row(p, MOBILITY_HQ, asked->waves[k]);
  return MD_OK;
}

static md_status measure(const plan *p, const row_plan *row, stokes_response *response,
                         stokes_outcome *outcome, double *seconds)
{
  const double began = md_wall_seconds();
  MD_TRY(stokes_response_ask(response, row->patterns, p->pattern + row->first,
                             p->answer + row->first, outcome));
  *seconds = md_wall_seconds() - began;
  return MD_OK;
}

/* Mean over samples, and its standard error; NaN with one sample. */
static void statistics(const plan *p, const row_plan *row, double *mean, double *error)
{
  const int kinds = row->patterns / row->samples;
  double power = 0, alone = 0, squares = 0;
  for (int k = 0; k < row->patterns; k++) {
    power += p->answer[row->first + k].power;
    alone += p->answer[row->first + k].alone;
  }
  *mean = power / alone;
  for (int k = 0; k < row->samples; k++) {
    double of_power = 0, of_alone = 0;
    for (int kind = 0; kind < kinds; kind++) {
      of_power += p->answer[row->first + k * kinds + kind].power;
      of_alone += p->answer[row->first + k * kinds + kind].alone;
    }
    squares += pow(of_power / of_alone - *mean, 2);
  }
  *error = sqrt(squares / (row->samples - 1.0) / row->samples);
}

/* Mean wave number of a row of hq, and S(q). */
static void describe_wave(const plan *p, const row_plan *row, double *wave, double *structure)
{
  *wave = *structure = NAN;
  if (row->what != MOBILITY_HQ) return;
  *wave = *structure = 0;
  for (int k = 0; k < row->patterns; k++) {
    const stokes_pattern *pattern = &p->pattern[row->first + k];
    const double sum = p->answer[row->first + k].sum;
    *wave += 2 * M_PI * pattern->periods / p->spheres->box[pattern->axis] / row->patterns;
    *structure += sum * sum / (double)p->spheres->n / row->samples;
  }
}

/* What is to be added for an infinite suspension whose viscosity is that of the fluid; NaN: not
 * known. */
static double finite_size(const plan *p, const row_plan *row, double structure)
{
  const double *box = p->spheres->box;
  if (p->asked->hydrodynamics == STOKES_HYDRODYNAMICS_LUBRICATION) return 0;
  if (row->what == MOBILITY_SEDIMENTATION || box[0] != box[1] || box[0] != box[2]) return NAN;
  const bool hq = row->what == MOBILITY_HQ;
  const double x = (hq ? 1 / p->inverse : p->radius) / box[0];
  return (hq ? structure : 1) * (2.8372974794806195 * x - 4 * M_PI / 3 * x * x * x);
}

static void print_row(const plan *p, const row_plan *row, const stokes_outcome *outcome,
                      double seconds, table *t)
{
  double value, error, wave, structure;
  statistics(p, row, &value, &error);
  describe_wave(p, row, &wave, &structure);
  table_integer(t, p->spheres->n);
  table_real(t, stokes_packing_occupancy(p->spheres));
  table_text(t, stokes_hydrodynamics_words[p->asked->hydrodynamics]);
  table_text(t, mobility_observable_words[row->what]);
  table_real(t, wave);
  table_real(t, structure);
  table_real(t, value);
  table_real(t, error);
  table_real(t, finite_size(p, row, structure));
  table_integer(t, row->patterns);
  table_integer(t, outcome->iterations);
  table_real(t, seconds);
}

static md_status print_all(const plan *p, stokes_response *response, table *t)
{
  for (int k = 0; k < p->n_rows; k++) {
    stokes_outcome outcome;
    double seconds = 0;
    MD_TRY(measure(p, &p->row[k], response, &outcome, &seconds));
    print_row(p, &p->row[k], &outcome, seconds, t);
  }
  return MD_OK;
}

static md_status run(plan *p, md_ctx *ctx, FILE *stream)
{
  static const table_column columns[] = {
      {"particles", 9, 0},    {"occupancy", 9, -6},  {"hydrodynamics", -13, 0},
      {"observable", -13, 0}, {"wave", 10, -6},      {"structure", 10, -6},
      {"value", 10, -6},      {"error", 9, -3},      {"finite_size", 11, -6},
      {"vectors", 7, 0},      {"iterations", 10, 0}, {"time_s", 9, -4}};
  const mobility_request *asked = p->asked;
  const stokes_response_spec spec = {.hydrodynamics = asked->hydrodynamics,
                                     .viscosity = asked->viscosity,
                                     .tolerance = asked->tolerance,
                                     .law = asked->law,
                                     .most = stokes_run_defaults().most,
                                     .vectors = asked->vectors[0]};
  stokes_response *response;
  table t;
  MD_TRY(make_plan(p));
  MD_TRY(stokes_response_create(ctx, &spec, p->spheres, &response));
  table_begin(&t, stream, (options_format)asked->format, "mobility", asked->opts, columns,
              sizeof columns / sizeof *columns);
  const md_status status = print_all(p, response, &t);
  if (!status) table_end(&t);
  stokes_response_destroy(response);
  return status;
}

md_status mobility_observe(const mobility_request *asked, md_ctx *ctx,
                           const stokes_packing *spheres, FILE *stream)
{
  plan p = {.asked = asked, .spheres = spheres};
  const md_status status = run(&p, ctx, stream);
  free(p.row);
  free(p.pattern);
  free(p.answer);
  return status;
}
