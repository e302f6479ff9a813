/* stokes/packing/pack_impl.h - the steps of making a packing: push apart, walk, compare with
 * theory. */
#ifndef STOKES_PACK_IMPL_H
#define STOKES_PACK_IMPL_H

#include "stokes/packing/packing.h"
#include "stokes/pairs/pairs.h"

MD_BEGIN_C

static inline stokes_view pack_view(const stokes_packing *p)
{
  return (stokes_view){p->n, {p->box[0], p->box[1], p->box[2]}, p->x};
}

/* Push every pair closer than `gap` apart, visiting all pairs spec->iterations times at most;
 * used: how often.  Errors: MD_ENUMERIC (pairs are left: says how many), MD_ENOMEM, those of
 * stokes_pairs_update. */
md_status pack_relax(md_ctx *ctx, const stokes_pack_spec *spec, double gap, stokes_packing *packing,
                     int *used);

/* Hard spheres in a cube, moved by event chains. */
typedef struct pack_chains pack_chains;

/* The packing must not overlap; it is copied.  size: NULL, or [n], a number 0 .. n_sizes - 1 for
 * each sphere, by which steps are told apart; it must outlive the chains.  Errors: MD_ENOMEM. */
md_status pack_chains_create(const stokes_packing *packing, const int32_t *size, int n_sizes,
                             pack_chains **out);
void pack_chains_destroy(pack_chains *chains); /* NULL is allowed */
/* Chain number `number` of a seed; adds its steps between centres that touch to *steps.
 * Errors: MD_ENOMEM. */
md_status pack_chains_run(pack_chains *chains, uint64_t seed, uint64_t number, double length,
                          double *steps);
/* Sums of steps so far, [n_sizes][n_sizes]: from the first to the second; NULL without sizes. */
double *pack_chains_steps(const pack_chains *chains);
/* Where the spheres are now, x [n][4], within the box. */
void pack_chains_read(const pack_chains *chains, double *x);

/* Walk until Z is stationary or for spec->sweeps; fills what the report says of the walk.
 * Errors: MD_ENOMEM. */
md_status pack_walk(const stokes_pack_spec *spec, stokes_packing *packing,
                    stokes_pack_report *report);

/* A fluid of hard spheres by theory. */
typedef struct {
  double rho, z;
  double free_path;   /* mean path of a sphere between two events */
  double sigma_cubed; /* mean over pairs of the contact distance, to the third */
  double by_q[3];     /* contact value as a polynomial in q */
} pack_fluid;
pack_fluid pack_fluid_of(const stokes_packing *packing);
/* Contact value of the pair distribution of spheres with radii a and b. */
double pack_fluid_contact(const pack_fluid *fluid, double a, double b);
/* The same, averaged over pairs by how much they matter to Z: (Z - 1) / (2 pi/3 rho <sigma^3>). */
double pack_fluid_value(const pack_fluid *fluid, double z);
/* Expected smallest gap of n spheres. */
double pack_fluid_gap(double z, int64_t n);

/* Sizes that deviate by less are one size; above which occupancy that freezes. */
#define PACK_ONE_SIZE 0.06
#define PACK_FREEZES 0.54

/* How wide sizes are spread, and the occupancy at which they jam at random. */
typedef struct {
  double deviation; /* standard deviation of the radii over their mean */
  double limit;
} pack_spread;
pack_spread pack_spread_of(const stokes_radii *radii);

MD_END_C
#endif
