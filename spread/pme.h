/* spread/pme.h - smooth particle mesh Ewald: the smooth part of periodic Coulomb forces.
 *
 * Charges q_i at x_i in an orthorhombic periodic box of volume V, U = q_i q_j / r.  Ewald's sum
 * with splitting parameter alpha (beta in [Guo]):
 *
 *   E = sum over pairs, r < r_cut, of q_i q_j erfc(alpha r) / r              real space: not here
 *     + 1/(2 pi V) sum over m != 0 of exp(-pi^2 m^2 / alpha^2) / m^2 |S(m)|^2   reciprocal
 *     - alpha / sqrt(pi) sum q_i^2                                              self
 *     - pi / (2 V alpha^2) (sum q_i)^2                            background, for a net charge
 *
 * S(m) comes from B-splines of order p on a mesh (spread.h) and one FFT; forces are the exact
 * gradient of the energy.  Transforms: FFTW3 on the CPU, cuFFT on the GPU. */
#ifndef PME_H
#define PME_H

#include "spread/spread.h"

MD_BEGIN_C

/* Whether this build transforms on the CPU. */
bool pme_has_fftw(void);

typedef struct {
  double lo[3], hi[3];  /* the periodic box [length] */
  int32_t mesh[3];      /* each >= order */
  int32_t order;        /* p >= 3, or forces would jump; even orders are the better ones */
  double alpha;         /* splitting parameter, > 0 [1/length] */
  spread_method method; /* of spreading */
} pme_spec;

typedef struct {
  double reciprocal, self, background; /* energies [charge^2 / length] */
  double virial;                       /* - dE / d ln(length) of all three: sum of r . f */
} pme_tally;

typedef struct {
  spread_report spread;
  int64_t bytes; /* memory held: mesh, spectrum, tables, plan */
} pme_report;

/* Where the charges are; pointers on the context's backend. */
typedef struct {
  int64_t n;
  const void *x; /* state: coordinate a of particle i is x[i * x_stride + a] */
  int64_t x_stride;
  const void *q; /* state: charge i is q[i * q_stride]; NULL: those of the last call, no tally */
  int64_t q_stride;
} pme_charges;

typedef struct pme pme;

/* Plans the transforms.  *out is NULL on failure; free with pme_destroy (NULL is allowed).
 * In a deterministic context results do not depend on the number of threads.
 * Errors: MD_EINVAL (those of spread_create; alpha, order < 3; a build without FFTW3 or a machine
 * without cuFFT), MD_ECAPACITY, MD_ENOMEM, MD_ECUDA. */
md_status pme_create(md_ctx *ctx, const pme_spec *spec, pme **out);
void pme_destroy(pme *solver);

/* Several processes, each with charges of its own, share a mesh: all call pme_compute together, and
 * each tally is that of all charges.  Callbacks, which all call together, too:
 *
 *   few       numbers of the host become their sums over processes
 *   mesh      GPUs: so do n reals of the device, whose sum may be queued on the context's stream
 *   parts     CPUs: reals cut[p] .. cut[p + 1] - 1 do so on process p alone (reduce-scatter)
 *   complete  CPUs: items cut[p] .. of process p come to all (all-gather)
 *   swap      CPUs: items to[p] .. of `out` go to process p, which has them at from[this one] .. of
 *             `in` (all-to-all)
 *
 * `width`: bytes of an item; cut, to, from [count + 1].  On CPUs each process transforms a part of
 * the mesh, and some of the columns across it. */
typedef struct {
  void *of;
  int count, me;
  md_status (*few)(void *of, double *values, int count);
  md_status (*mesh)(void *of, void *reals, int64_t n);
  md_status (*parts)(void *of, void *reals, const int64_t *cut);
  md_status (*complete)(void *of, void *items, const int64_t *cut, size_t width);
  md_status (*swap)(void *of, const void *out, const int64_t *to, void *in, const int64_t *from,
                    size_t width);
} pme_processes;

/* Before the first pme_compute; without this call there is one process.  Errors: MD_ENOMEM. */
md_status pme_share(pme *solver, const pme_processes *with);

/* Add forces to f, real4 [n] on the backend.  tally: NULL, or the energies and the virial; asking
 * for them waits for the GPU.  Particles are located anew in every call: those that lie close in
 * space and in memory, as the engine sorts them, are spread faster.  Without a tally a GPU is not
 * waited for where the last call had as many charges: a position that has no place then counts as
 * the corner of the box, and a later call, at the latest one with a tally, is refused for it.
 * Errors: those of spread_set_positions; MD_ENOMEM, MD_ECUDA. */
md_status pme_compute(pme *solver, const pme_charges *charges, void *f, pme_tally *tally);

/* The same in two parts, between which other forces may be computed: a GPU works on begin's part
 * beside them.  Positions and charges must stay until pme_end; f NULL: the forces are not wanted,
 * and positions may change.  After pme_mark begin's part waits for what was queued before the mark,
 * for nothing that came later.  Errors: those of pme_compute; pme_mark: MD_ECUDA. */
md_status pme_begin(pme *solver, const pme_charges *charges, pme_tally *tally);
md_status pme_end(pme *solver, void *f);
md_status pme_mark(pme *solver);

/* The plan of spreading, and memory held. */
void pme_describe(const pme *solver, pme_report *out);

/* Root mean square errors of a force component's vector, for n charges placed at random with sum of
 * squares q_sq [charge^2 / length^2]. */
typedef struct {
  double lo[3], hi[3];
  int64_t n;
  double q_sq;  /* > 0 */
  double r_cut; /* of real space, > 0 */
  int32_t order;
  double alpha;    /* 0: to be chosen */
  int32_t mesh[3]; /* {0}: to be chosen */
} pme_problem;

/* Of cutting real space at r_cut: 2 q_sq exp(-alpha^2 r_cut^2) / sqrt(n r_cut V), Kolafa and Perram
 * 1992. */
double pme_real_error(const pme_problem *problem);

/* Of the mesh: every mode's aliases of order +-1 along each axis, the damping of the mode itself,
 * the modes that the mesh has not, and the force of a charge on itself; pme_choose.c derives it. */
double pme_mesh_error(const pme_problem *problem);

/* Replace what is to be chosen in the problem so that both errors stay within tolerance / sqrt(2)
 * [force]: alpha from r_cut, then the coarsest mesh of sizes 2^a 3^b 5^c 7^d.
 * Errors: MD_EINVAL (tolerance, r_cut, q_sq not > 0), MD_ECAPACITY (no mesh of fewer than 2^32
 * points reaches it). */
md_status pme_choose(pme_problem *problem, double tolerance);

MD_END_C
#endif
