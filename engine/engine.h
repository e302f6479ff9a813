/* engine/engine.h - one molecular-dynamics system and its time step.
 *
 * The engine owns the context and every object a run needs, from a configuration.  With several
 * ranks (comm/world.h) all of them call its functions together, each has its part of
 * the atoms, and an error of one is that of all; everything that crosses a process border goes
 * through comm/. */
#ifndef ENGINE_H
#define ENGINE_H

#include "comm/comm.h"
#include "core/time/timer.h"
#include "force/force.h"
#include "engine/spec.h"
#include "neighbor/neighbor.h"
#include "spread/pme.h"

MD_BEGIN_C

/* One line of the thermo table, in the units of the run; energies per atom, pressure with the
 * kinetic part. */
typedef struct {
  int64_t step;
  double temperature, e_pair, e_total, pressure;
} engine_thermo;

/* The lists that rebuilds of a run replaced, since its first start.
 *
 * A list holds every pair within the cutoff while no atom is further than half the skin from where
 * it was at the build.  What counts are the last forces that were computed with the list, one step
 * before the rebuild: where an atom had gone further by then, the rebuild came too late and is
 * dangerous, since pairs may have been missed.  With "check" none is: the step at which an atom has
 * gone further rebuilds before it computes forces.  With a fixed period, atoms that went further
 * and came back within it are not seen. */
typedef struct {
  int64_t ended, dangerous;
  double moved;     /* the largest displacement then, of all of them [length] */
  int64_t moved_at; /* step of the rebuild that replaced that list */
} engine_lists;

/* Settings that the configuration leaves to the program, and why. */
typedef struct {
  md_backend backend;
  neighbor_kind list;
  const char *list_reason;
  char backend_reason[512];
} engine_choice;

typedef struct {
  engine_choice choice;
  md_ctx *ctx;
  md_atoms *atoms;
  comm *cm;
  neighbor_list *list;
  force *fc;
  pme *mesh;               /* NULL without charges */
  pme_problem charges;     /* what it was made for: alpha, mesh, cutoff */
  pme_tally mesh_tally;    /* of the forces at work */
  bool mesh_begun;         /* they are */
  bool mesh_placed;        /* what is queued since the mark does not move them */
  int64_t charges_of;      /* rebuilds when the mesh took charges in their order; -1: it has none */
  md_buffer unfolded;      /* positions in the box, where it has several frames */
  double net_charge;       /* sum of charges; 0 when it is only rounding */
  const engine_spec *spec; /* of the configuration it was made from */
  double mass;             /* of the first kind of atom */
  /* masses of the kinds by this one */
  double relative[MD_TYPES];
  double origin[3];   /* middle of the box in the input's coordinates; that of atoms->box is 0 */
  double list_cutoff; /* the longest cutoff + skin */
  int64_t step;       /* steps done */
  int64_t rebuilt_at, rebuilds, sorts;
  int64_t steady_steps, steady_bytes; /* steps without rebuild or thermo; bytes they copied */
  double moved_sq;                    /* with check: at the last forces [length^2] */
  engine_lists lists;
  bool half_kick_due;       /* the second half kick of the last step is still to come */
  bool forces_due;          /* and so are its forces */
  double first_temperature; /* of the first engine_measure; negative before */
  force_tally tally;        /* of the last force computation that was asked for one */
} engine;

/* For n atoms in a box, NULL: of any size.  Errors: MD_ENOGPU (device.index names none). */
md_status engine_choose(const engine_spec *spec, int64_t n, const md_box *box, engine_choice *out);

/* Make the system, build its first list and compute its first forces.  Refuses, before anything big
 * is allocated, a system that does not fit the memory, naming the largest that does.  cfg must
 * outlive it. Errors: those of system_create and of the rooms; MD_ENOMEM.  *out is NULL on failure.
 */
md_status engine_create(const engine_spec *spec, engine **out);
void engine_destroy(engine *sim); /* NULL is allowed */

/* The box and this rank's atoms in the input's coordinates, atoms in their present order: x, v,
 * image [n][3], q, type, id [n]; NULL: not wanted.  Errors, of this rank: MD_ENOMEM, MD_ECUDA. */
md_box engine_box(const engine *sim);
md_status engine_get(const engine *sim, double *x, double *v, double *q, uint8_t *type, int64_t *id,
                     int32_t *image);

/* A run between two steps, in host memory, of this rank's atoms in the order they have in the
 * engine's; or, where that does not matter to a run's bits and with several ranks, by rising id.
 * Positions and images are those in frames around the middle of the box (core/atoms.h). */
typedef struct {
  md_box box; /* in the input's coordinates */
  int32_t frames[3];
  int64_t n, all; /* these, and those of all ranks */
  double mass;    /* of the first kind of atom */
  int64_t step, rebuilt_at;
  engine_lists lists;
  double *x, *x_at_build, *v; /* [n][3]: positions, those at the last list build, velocities */
  int64_t *id;                /* [n] */
  int32_t *image;             /* [n][3] */
  double *q;                  /* [n]: charges; NULL without coulomb.method */
  uint8_t *type;              /* [n]; NULL where atoms are alike */
} engine_state;
void engine_state_free(engine_state *state);

/* After engine_create or engine_step with a tally.  *out is empty on failure.
 * Errors: MD_ENOMEM, MD_ECUDA. */
md_status engine_save(const engine *sim, engine_state *out);
/* As engine_create, from a saved state, of which ranks have blocks in turn.  exact: atoms keep
 * their order and the list is built from the same positions as the saved run's, so that on the same
 * backend, with the same settings, every further step is that run's to the bit (but for half lists
 * on the GPU without determinism).  Else the atoms are sorted and the list is built anew. */
md_status engine_restore(const engine_spec *spec, const engine_state *from, bool exact,
                         engine **out);

/* One step of velocity Verlet.  tally: also compute energy and virial and finish the velocities, so
 * that engine_measure may follow.  Errors: MD_ENUMERIC (NaN, naming an atom), MD_ENOMEM, MD_ECUDA.
 */
md_status engine_step(engine *sim, bool tally);
/* So many steps without tally; those between two rebuilds are queued together where force_advance
 * can.  To the bit as one by one, unless a list by tiles grows its rooms: one that is in use by
 * then keeps its passes, and sums forces in another order than one that is built again. */
md_status engine_steps(engine *sim, int64_t steps);
/* The same, but a list that was built last may not be settled yet: only steps may follow, so that a
 * GPU has work while the host listens to other ranks and to signals. */
md_status engine_steps_early(engine *sim, int64_t steps);

/* Thermo of the present state; only after engine_create or engine_step with a tally.
 * Errors: MD_ENUMERIC (not finite, or ENGINE_RUNAWAY times as hot as at first or as epsilon: names
 * the step and the fastest atom). */
enum { ENGINE_RUNAWAY = 1000 };
md_status engine_measure(engine *sim, engine_thermo *out);

/* Bytes a run of n atoms in a box with these edges needs on its backend: an estimate for atoms that
 * are evenly dense. */
int64_t engine_memory(const md_ctx *ctx, const engine_spec *spec, neighbor_kind list, double n,
                      const double edge[3]);

MD_END_C
#endif
