/* engine/spec.h - what an engine runs: atoms, forces, lists, order, device. */
#ifndef ENGINE_SPEC_H
#define ENGINE_SPEC_H

#include "comm/comm.h"
#include "comm/partition.h"
#include "core/context.h"
#include "engine/types.h"
#include "force/eam/eam.h"
#include "force/force.h"
#include "neighbor/neighbor.h"
#include "ordering/ordering.h"
#include "spread/spread.h"

MD_BEGIN_C

#define ENGINE_LATTICES(X)                                                                         \
  X(FCC, "fcc")                                                                                    \
  X(BCC, "bcc") X(SC, "sc") X(DIAMOND, "diamond") X(NACL, "nacl") X(CSCL, "cscl") X(ZNS, "zns")
#define ENGINE_VELOCITIES(X) X(LAMMPS, "lammps") X(MINIMD, "minimd")
#define ENGINE_BACKENDS(X) X(AUTO, "auto") X(CPU, "cpu") X(GPU, "gpu")
#define ENGINE_COULOMBS(X) X(NONE, "none") X(PME, "pme")
#define ENGINE_UNITS(X) X(LJ, "lj") X(METAL, "metal")
#define ENGINE_PAIRS(X) X(LJ, "lj") X(EAM, "eam")
#define MD_ENUM_(name, word) ENGINE_LATTICE_##name,
typedef enum { ENGINE_LATTICES(MD_ENUM_) ENGINE_LATTICE_COUNT } engine_lattice;
#undef MD_ENUM_
#define MD_ENUM_(name, word) ENGINE_VELOCITY_##name,
typedef enum { ENGINE_VELOCITIES(MD_ENUM_) ENGINE_VELOCITY_COUNT } engine_velocity;
#undef MD_ENUM_
#define MD_ENUM_(name, word) ENGINE_BACKEND_##name,
typedef enum { ENGINE_BACKENDS(MD_ENUM_) ENGINE_BACKEND_COUNT } engine_backend;
#undef MD_ENUM_
#define MD_ENUM_(name, word) ENGINE_COULOMB_##name,
typedef enum { ENGINE_COULOMBS(MD_ENUM_) ENGINE_COULOMB_COUNT } engine_coulomb;
#undef MD_ENUM_
#define MD_ENUM_(name, word) ENGINE_UNITS_##name,
typedef enum { ENGINE_UNITS(MD_ENUM_) ENGINE_UNITS_COUNT } engine_units;
#undef MD_ENUM_
#define MD_ENUM_(name, word) ENGINE_PAIR_##name,
typedef enum { ENGINE_PAIRS(MD_ENUM_) ENGINE_PAIR_COUNT } engine_pair;
#undef MD_ENUM_

typedef struct engine_spec {
  /* system; [energy], [length] ... are those of the units */
  engine_units units;
  engine_lattice lattice;
  int32_t cells[3];
  double lattice_constant;     /* edge of a cell [length]; 0: from the density */
  double density, temperature; /* [1/length^3], [energy / k_B; metal: K] */
  int32_t seed;
  engine_velocity velocity;
  double mass;
  /* Kinds of atoms, in place of mass, epsilon, sigma and cutoff; NULL: all are alike. */
  const engine_types *types;
  double charges;       /* of lattices with two kinds of sites: + and - this */
  char *read;           /* LAMMPS data file or extended XYZ, as to be opened; NULL: the lattice */
  bool keep_velocities; /* those of the file, where it has some */
  /* potential */
  engine_pair pair;
  char *potential;          /* funcfl or setfl file of pair eam, as to be opened; NULL: none */
  const eam_potential *eam; /* what it holds; NULL unless pair eam */
  /* lj */
  double epsilon, sigma, cutoff; /* [energy], [length], [length] */
  force_shift shift;
  /* coulomb; 0: chosen from the tolerance */
  engine_coulomb coulomb;
  int32_t mesh[3], spline_order;
  double alpha;          /* [1/length] */
  double coulomb_cutoff; /* of real space; 0: that of lj [length] */
  double tolerance;      /* root mean square force error [force] */
  spread_method spread;
  /* neighbor */
  double skin;   /* negative: to be measured ("auto") */
  int32_t every; /* rebuild period in steps; 0: when an atom moved half the skin ("check") */
  int list;      /* a neighbor_kind, or -1: chosen */
  neighbor_stencil stencil;
  double bin_size; /* > 0: length; < 0: -bin_size bins per cutoff + skin (written "/2") */
  bool newton;
  /* order */
  ordering curve;
  int32_t sort_every; /* steps; 0 never, -1: at every rebuild */
  /* run */
  int64_t steps;
  double dt;
  /* device */
  engine_backend backend;
  md_precision precision;
  int32_t threads, block_size; /* 0: all; tuned */
  int32_t index;               /* of the CUDA device; negative: the first */
  int32_t carveout;            /* percent of the greatest shared memory; 0: chosen */
  bool deterministic;
  /* several ranks */
  partition_cut cut; /* of the box */
  comm_carrier carrier;
  bool share_gpu; /* more than one of them on a GPU */
  int64_t window; /* atoms that pass through a rank at a time, see windows.h; 0: ENGINE_WINDOW */
  /* Where a setting came from ("--set", "in.lj:7"; "default": nobody set it), for messages; NULL:
   * all are defaults. */
  const char *(*origin)(const void *source, const char *key);
  const void *source; /* its first argument */
} engine_spec;

/* Where a setting came from: "default" where nobody says. */
const char *engine_origin(const engine_spec *spec, const char *key);

/* What units mean: lj 1, 1, 1; metal (eV, Angstrom, ps, g/mol, K, bar) the constants that LAMMPS
 * has had since 2004, so that thermo lines agree. */
typedef struct {
  double k_b;     /* energy of a degree of freedom twice over, by temperature */
  double inertia; /* mass velocity^2 in units of energy */
  double bar;     /* energy / length^3 in units of pressure */
} engine_constants;
engine_constants engine_constants_of(const engine_spec *spec);

/* The longest cutoff [length]; the largest epsilon, sigma and cutoff of Lennard-Jones pairs. */
double engine_reach(const engine_spec *spec);
force_lj engine_most(const engine_spec *spec);
/* Kinds of atoms, 1 where all are alike; whether the lattice has a sublattice for each of two. */
int32_t engine_kinds(const engine_spec *spec);
/* Kinds that forces tell apart: 1 where all pairs have the same epsilon, sigma and cutoff. */
int32_t engine_pair_kinds(const engine_spec *spec);
bool engine_has_sublattices(engine_lattice lattice);

MD_END_C
#endif
