/* tests/drive/run_md.h - the rooms put together: a small molecular-dynamics driver. */
#ifndef RUN_MD_H
#define RUN_MD_H

#include "force/force.h"
#include "engine/integrate/integrate.h"
#include "tests/drive/run_lists.h"

typedef struct {
  md_precision precision;
  int threads;
  bool deterministic;
  neighbor_spec list; /* r_list is cut-off plus skin; bin_size 0: half of r_list */
  force_spec force;
  const uint8_t *types;     /* of the atoms of the case, where force.n_types > 1; else NULL */
  const double *mass;       /* [force.n_types], or NULL: 1 */
  const eam_potential *eam; /* NULL: Lennard-Jones; force.r_cut is its cutoff */
  double skin;
  int every; /* steps between rebuilds; 0: when an atom moved half the skin */
  double dt;
} run_spec;

/* Double, one thread, full list, sphere, Hilbert, cut-off 2.5 with linear force shift, dt .005;
 * skin 0.5 and a rebuild every 10 steps, so that no pair is missed at the temperatures here. */
run_spec run_spec_default(void);
/* "mixed half newton morton ...": names the variant in failure messages. */
const char *run_spec_text(const run_spec *spec);

typedef struct {
  run_spec spec;
  md_ctx *ctx;
  md_atoms *atoms;
  comm *cm;
  neighbor_list *list;
  force *fc;
  int64_t step, rebuilds;
} run_md;

/* Atoms of a case with lists and forces.  End with run_md_close. */
run_md run_md_open(const run_spec *spec, const run_case *c, const double *v);
void run_md_close(run_md *md);
/* Migrate, sort, borders, build. */
void run_md_rebuild(run_md *md);
/* Forces of the present positions; tally may be NULL. */
void run_md_force(run_md *md, force_tally *tally);
/* Steps of velocity Verlet with these options. */
void run_md_steps(run_md *md, int64_t steps);

typedef struct {
  double kinetic, potential, total, virial, momentum[3];
} run_energy;
/* Energies of the present state; computes forces, changes nothing else. */
run_energy run_md_energy(run_md *md);

/* State in the order of ids: x unwrapped by the images.  Arrays of [n][3]; any may be NULL. */
void run_md_state(run_md *md, double *x, double *v, double *f);

#endif
