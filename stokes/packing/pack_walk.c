/* stokes/packing/pack_walk.c - event chains until Z is stationary, and what they measure. */
#include "stokes/packing/pack_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
  CHAIN = 100,  /* mean free paths that a chain is long */
  BLOCKS = 8,   /* of the second half of a walk: their scatter gives the error */
  PATIENCE = 20 /* times the sweeps that usually suffice */
};

typedef struct {
  const stokes_pack_spec *spec;
  pack_chains *chains;
  double length;   /* of a chain */
  double *rates;   /* [sweeps]: Z - 1 in each */
  int64_t sweeps;  /* so far */
  int64_t chain;   /* so far */
  double z, error; /* of the second half */
  bool stationary;
} walker;

/* A sweep of n spheres has n / CHAIN chains; where that is no whole number, some have one more. */
static md_status sweep(pack_chains *chains, uint64_t seed, int64_t n, int64_t number, double length,
                       double *rate)
{
  const double each = fmax((double)n / CHAIN, 1);
  const int64_t first = (int64_t)(each * (double)number);
  const int64_t last = (int64_t)(each * (double)(number + 1));
  *rate = 0;
  for (int64_t k = first; k < last; k++)
    MD_TRY(pack_chains_run(chains, seed, (uint64_t)k, length, rate));
  *rate /= length * (double)(last - first);
  return MD_OK;
}

static double mean_of(const walker *w, int64_t first, int64_t last)
{
  double sum = 0;
  for (int64_t k = first; k < last; k++)
    sum += w->rates[k];
  return sum / (double)(last - first);
}

/* Z and its error over the second half; was it the same in the quarter before? */
static void measure(walker *w)
{
  const int64_t n = w->sweeps, half = n / 2, width = half / BLOCKS;
  w->z = w->error = NAN;
  if (width < 1) return;
  const double mean = mean_of(w, n - half, n);
  double square = 0;
  for (int b = 0; b < BLOCKS; b++) {
    const double off = mean_of(w, n - (b + 1) * width, n - b * width) - mean;
    square += off * off;
  }
  w->z = 1 + mean;
  w->error = sqrt(square / (BLOCKS * (BLOCKS - 1)));
  const double before = mean_of(w, half / 2, half);
  w->stationary = fabs(before - mean) <= 3 * sqrt(3) * w->error; /* twice the variance, and once */
}

static md_status grow(walker *w, int64_t *room)
{
  if (w->sweeps < *room) return MD_OK;
  *room = *room ? 2 * *room : 256;
  double *more = realloc(w->rates, (size_t)*room * sizeof *more);
  MD_REQUIRE(more, MD_ENOMEM, "out of memory for %" PRId64 " sweeps", *room);
  w->rates = more;
  return MD_OK;
}

/* Look whether Z is stationary after `least` sweeps and whenever they have grown by an eighth. */
static md_status walk(walker *w, int64_t least, int64_t most)
{
  int64_t room = 0, look = least;
  while (w->sweeps < most && !w->stationary) {
    MD_TRY(grow(w, &room));
    MD_TRY(sweep(w->chains, w->spec->seed, w->spec->n, w->sweeps, w->length, &w->rates[w->sweeps]));
    w->sweeps++;
    if (w->spec->progress)
      w->spec->progress(w->spec->watcher, w->sweeps, look < most ? look : most);
    if (w->sweeps < look) continue;
    measure(w);
    look += look / 8 + 1;
  }
  if (w->stationary) return MD_OK;
  measure(w);
  w->stationary = false; /* too early to tell */
  return MD_OK;
}

static int64_t usual_sweeps(double z)
{
  return (int64_t)ceil(100 * fmax(1, pow(z / 4, 1.4)));
}

md_status pack_walk(const stokes_pack_spec *spec, stokes_packing *packing,
                    stokes_pack_report *report)
{
  const pack_fluid fluid = pack_fluid_of(packing);
  const int64_t least = usual_sweeps(fluid.z);
  walker w = {.spec = spec, .length = CHAIN * fluid.free_path};
  MD_TRY(pack_chains_create(packing, NULL, 0, &w.chains));
  const md_status status = walk(&w, least, spec->sweeps < 0 ? PATIENCE * least : spec->sweeps);
  if (!status) pack_chains_read(w.chains, packing->x);
  pack_chains_destroy(w.chains);
  free(w.rates);
  report->sweeps = w.sweeps;
  report->sweeps_usual = least;
  report->stationary = w.stationary;
  report->z = w.z;
  report->z_error = w.error;
  report->z_theory = fluid.z;
  report->g = pack_fluid_value(&fluid, w.z);
  report->g_theory = pack_fluid_value(&fluid, fluid.z);
  report->gap_expected = pack_fluid_gap(w.z, packing->n);
  return status;
}

/* The size of every sphere, and how common sizes are. */
static md_status find_sizes(const stokes_radii *radii, const stokes_packing *packing, int32_t *size,
                            double *share)
{
  for (int64_t i = 0; i < packing->n; i++) {
    int k = 0;
    while (k < radii->n && radii->radius[k] != packing->x[4 * i + 3])
      k++;
    MD_REQUIRE(k < radii->n, MD_EINVAL, "sphere %" PRId64 " has the radius %g, which is not listed",
               i + 1, packing->x[4 * i + 3]);
    size[i] = k;
    share[k] += 1 / (double)packing->n;
  }
  return MD_OK;
}

/* g_ab = (D_ab + D_ba) / ((2 - delta_ab) (2 pi/3) rho x_a x_b (a + b)^3 path), D: sums of steps. */
static void contact_values(const stokes_radii *radii, const pack_fluid *fluid, const double *steps,
                           const double *share, double path, double *g, double *g_theory)
{
  const int n = radii->n;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      const double sigma = radii->radius[a] + radii->radius[b];
      const double pairs = 2 * 3.141592653589793 / 3 * fluid->rho * share[a] * share[b] * path *
                           sigma * sigma * sigma;
      const double both = (steps[a * n + b] + steps[b * n + a]) / 2;
      g[a * n + b] = pairs > 0 ? both / pairs : NAN;
      g_theory[a * n + b] = pack_fluid_contact(fluid, radii->radius[a], radii->radius[b]);
    }
}

static md_status measure_contacts(const stokes_radii *radii, const stokes_packing *packing,
                                  uint64_t seed, int64_t sweeps, int32_t *size, double *share,
                                  double *g, double *g_theory)
{
  const pack_fluid fluid = pack_fluid_of(packing);
  const double length = CHAIN * fluid.free_path;
  pack_chains *chains;
  int64_t all = 0;
  md_status status = MD_OK;
  MD_TRY(find_sizes(radii, packing, size, share));
  MD_TRY(pack_chains_create(packing, size, radii->n, &chains));
  for (; all < sweeps && !status; all++) {
    double rate;
    status = sweep(chains, seed, packing->n, all, length, &rate);
  }
  const double path = length * floor(fmax((double)packing->n / CHAIN, 1) * (double)sweeps);
  if (!status) contact_values(radii, &fluid, pack_chains_steps(chains), share, path, g, g_theory);
  pack_chains_destroy(chains);
  return status;
}

md_status stokes_contacts(const stokes_radii *radii, const stokes_packing *packing, uint64_t seed,
                          int64_t sweeps, double *g, double *g_theory)
{
  MD_REQUIRE(packing->box[0] == packing->box[1] && packing->box[0] == packing->box[2], MD_EINVAL,
             "event chains need a cube, not %g x %g x %g", packing->box[0], packing->box[1],
             packing->box[2]);
  int32_t *size = malloc((size_t)packing->n * sizeof *size);
  double *share = calloc((size_t)radii->n, sizeof *share);
  md_status status = MD_ENOMEM;
  if (size && share)
    status = measure_contacts(radii, packing, seed, sweeps, size, share, g, g_theory);
  else
    status = MD_FAIL(MD_ENOMEM, "out of memory for %" PRId64 " spheres", packing->n);
  free(size);
  free(share);
  return status;
}
