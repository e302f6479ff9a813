/* stokes/step/run.h - Stokesian dynamics of a suspension, step by step.
 *
 *     R(r) dr/dt = -f,   f has covariance 2 kT R / dt;   explicit midpoint:
 *     R(r_k) u = -f_k,   R(r_k + dt/2 u) u' = -f_k,   r_(k+1) = r_k + dt u'
 *
 * Units: kT, Angstrom, ps.  `original` is Algorithm 1 of [Liu].  `mrhs` is Algorithm 2: every m
 * steps one system with the random numbers of the next m steps is solved at once; its solutions are
 * the guesses for the first solves of those steps.  Both give the same trajectory, up to the
 * tolerances.  Pairs that overlap after a step are moved apart to the smallest gap that R knows.
 * Results depend on the spec and the packing only, not on the number of threads or ranks.
 *
 * Several ranks (comm/world.h) share a run with lubrication, iterative solves and forces by pairs
 * on the CPU.  All have the spheres and the list of pairs; each has its rows of the matrix and of
 * vectors.  What follows is called by all of them together. */
#ifndef STOKES_RUN_H
#define STOKES_RUN_H

#include "stokes/mobility/rpy.h"
#include "stokes/model/model.h"
#include "stokes/packing/packing.h"
#include "stokes/solver/solver.h"

MD_BEGIN_C

#define STOKES_ALGORITHMS(X) X(ORIGINAL, "original") X(MRHS, "mrhs")
#define MD_ENUM_(name, word) STOKES_##name,
typedef enum { STOKES_ALGORITHMS(MD_ENUM_) STOKES_ALGORITHM_COUNT } stokes_algorithm;
#undef MD_ENUM_
extern const char *const stokes_algorithm_words[STOKES_ALGORITHM_COUNT];

#define STOKES_METHODS(X) X(ITERATIVE, "iterative") X(CHOLESKY, "cholesky")
#define MD_ENUM_(name, word) STOKES_##name,
typedef enum { STOKES_METHODS(MD_ENUM_) STOKES_METHOD_COUNT } stokes_method;
#undef MD_ENUM_
extern const char *const stokes_method_words[STOKES_METHOD_COUNT];

/* What moves spheres: lubrication between near ones and each one's own drag, R above; or the flow
 * that all make for all, the mobility M of stokes/mobility/rpy.h, without lubrication:
 *
 *     r_(k+1) = r_k + dt M F + w,   w has covariance 2 kT dt M
 *
 * with one force F on every sphere.  M serves `lambda` steps, whose w are made at once.  Or both,
 * with (M^-1 + R_lub)^-1 in place of M (stokes/step/flow.h), and its divergence. */
#define STOKES_HYDRODYNAMICS(X) X(LUBRICATION, "lubrication") X(RPY, "rpy") X(FULL, "full")
#define MD_ENUM_(name, word) STOKES_HYDRODYNAMICS_##name,
typedef enum { STOKES_HYDRODYNAMICS(MD_ENUM_) STOKES_HYDRODYNAMICS_COUNT } stokes_hydrodynamics;
#undef MD_ENUM_
extern const char *const stokes_hydrodynamics_words[STOKES_HYDRODYNAMICS_COUNT];

/* Where the guesses of mrhs come from: one block solve for the forces of all its steps, as in
 * [Liu], or a Chebyshev series of A^-1/2, which needs neither those forces nor a solve. */
#define STOKES_GUESSES(X) X(SOLVE, "solve") X(SERIES, "series")
#define MD_ENUM_(name, word) STOKES_GUESS_##name,
typedef enum { STOKES_GUESSES(MD_ENUM_) STOKES_GUESS_COUNT } stokes_guess;
#undef MD_ENUM_
extern const char *const stokes_guess_words[STOKES_GUESS_COUNT];

/* How Brownian forces are made: pair by pair, which is exact and needs no product
 * (stokes/step/pair_force.h); by a square root of R' (stokes/solver/solver.h); or by a dense factor
 * of at most STOKES_DENSE_ROWS spheres. */
#define STOKES_FORCES(X)                                                                           \
  X(PAIRS, "pairs")                                                                                \
  X(CHEBYSHEV, "chebyshev") X(LANCZOS, "lanczos") X(CHOLESKY, "cholesky")
#define MD_ENUM_(name, word) STOKES_FORCE_##name,
typedef enum { STOKES_FORCES(MD_ENUM_) STOKES_FORCE_COUNT } stokes_force;
#undef MD_ENUM_
extern const char *const stokes_force_words[STOKES_FORCE_COUNT];

typedef struct {
  stokes_hydrodynamics hydrodynamics; /* rpy: of what follows dt, viscosity, law.gap_min, seed and
                                         root_tolerance, which is that of M;
                                         full: also the law, tolerance, most */
  int lambda;                         /* rpy: steps that share M, 1..STOKES_VECTORS */
  double drive[3];                    /* rpy, full: F [kT/A], for which root_tolerance is
                                         to be RPY_TOLERANCE_ALIKE */
  stokes_algorithm algorithm;
  stokes_guess guess;   /* mrhs only */
  stokes_method method; /* cholesky: `original` only; factor once a step, refine the second solve;
                           forces are a choice of their own */
  int vectors;          /* m of mrhs, 1..STOKES_VECTORS */
  int replicas;     /* K noises on one matrix in each step, 1..STOKES_VECTORS; more than one with
                           lubrication, `original`, `iterative` and forces by pairs only: K first
                           solves at once, and the spheres move by the first noise */
  double dt;        /* [ps] > 0 */
  double viscosity; /* [kT ps / A^3] > 0 */
  stokes_resistance law;
  double tolerance; /* of solutions, relative */
  double
      guess_tolerance; /* of the block solve of mrhs; one that is larger than `tolerance` leaves the
                             rest of the first solution to a solve of its own */
  double root_tolerance; /* of forces by chebyshev and lanczos, relative; guesses from a series: ten
                            times that */
  stokes_force force;    /* guesses from a series: chebyshev only */
  stokes_preconditioner preconditioner;
  stokes_storage storage;
  int most; /* iterations of one solve or order of one square root */
  uint64_t seed;
} stokes_run_spec;

/* 2 ps, water at 298.15 K, c = 1, gap cutoff 1/2, tolerances 1e-6, for guesses 1e-4, for
 * forces 1e-3. */
stokes_run_spec stokes_run_defaults(void);

typedef struct {
  int64_t step;          /* 0, 1, ... */
  int iterations_first;  /* of the block solve, where it begins a group of steps */
  int iterations_second; /* of the solve at the midpoint; full: where the probe leads */
  int order;          /* of the square root by chebyshev or lanczos; rpy: Lanczos steps; else 0 */
  double guess_error; /* |u - guess| / |u| of the first solve; 0 without a guess */
  double time_force, time_guess, time_first, time_second; /* [s]; time_guess: block solve */
  double residual; /* rpy: of the Lanczos steps; full: the larger true one of both solves */
  double time_far, time_near; /* rpy, full [s]: of products with M; near with list, blocks and
                                 choice; full: time_first is what else solves take */
  double diffusion, spread; /* several replicas: mean of D_s / D_0 over all spheres, each by its own
                                 D_0 = kT / 6 pi eta a, and over replicas; sum of squared deviations
                                 */
  int64_t overlaps;         /* pairs that were moved apart */
} stokes_step;

typedef struct stokes_run stokes_run;

/* Prepare a run from this packing, which is checked and copied.  *out is NULL on failure; free with
 * stokes_run_destroy.  Errors: MD_EINVAL (a value out of range; overlapping spheres or such that
 * are not finite: named; the box is too small for the cutoff), MD_ENOMEM, MD_ENOGPU. */
md_status stokes_run_create(md_ctx *ctx, const stokes_run_spec *spec, const stokes_packing *packing,
                            stokes_run **out);
void stokes_run_destroy(stokes_run *run); /* NULL is allowed */

/* What a run goes on from, to the bit, with the same spec on the same backend. */
typedef struct {
  int64_t step, group;    /* to be done next; the first of the group that it belongs to */
  int group_size;         /* 0: the next step begins a group */
  stokes_packing spheres; /* in the order of memory */
  double *built;          /* [n][4]: the spheres when the pair list was built */
  int32_t *place;         /* [n]: where a sphere stood in the packing */
  double *many;           /* [3 n][group_size]: solutions of the group; saved on rank 0 alone */
  rpy_split split;        /* rpy, full: of the mobility, chosen once; zero: not yet */
} stokes_run_state;

/* Copy the state out; free with stokes_run_state_free.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status stokes_run_save(const stokes_run *run, stokes_run_state *out);
void stokes_run_state_free(stokes_run_state *state); /* an empty one is allowed */

/* Go on from a state.  Errors: those of stokes_run_create; MD_EINVAL (no run has such a state). */
md_status stokes_run_restore(md_ctx *ctx, const stokes_run_spec *spec, const stokes_run_state *from,
                             stokes_run **out);

/* The next step.  Errors: MD_ENUMERIC (no convergence: states the residual; spheres that are not
 * finite or cannot be moved apart), MD_ENOMEM. */
md_status stokes_run_step(stokes_run *run, stokes_step *out);

/* Where the spheres are now, in the order in which they were given; out has room for all. */
md_status stokes_run_read(const stokes_run *run, stokes_packing *out);

/* Whether the ranks that there are can share such a run; one rank can always.  Errors: MD_EINVAL
 * (names what they cannot do). */
md_status stokes_run_check_ranks(const stokes_run_spec *spec);
/* This rank's rows, and what messages took since the run was made; with one rank *rows is empty. */
void stokes_run_messages(const stokes_run *run, stokes_rows_view *rows,
                         stokes_solver_messages *out);

/* Counts of a step from where the run is, without doing it: N, N2 and C are those of Algorithm 1;
 * N1 is taken as N / 2, as in [Liu] Table V.  shape: of the matrix. */
md_status stokes_run_probe(stokes_run *run, stokes_counts *counts, stokes_shape *shape);
/* Numbers of right-hand sides up to `most` that are worth choosing from, ascending, n of them:
 * products with more of the others take longer, measured with the run's matrix.  1 and `most` are
 * among those that are tried.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status stokes_run_widths(stokes_run *run, int most, int width[STOKES_VECTORS], int *n);
/* Change m before the first step.  Errors: MD_EINVAL. */
md_status stokes_run_set_vectors(stokes_run *run, int vectors);

/* Bytes that a run of n spheres needs, about. */
double stokes_run_bytes(const stokes_run_spec *spec, int64_t n, double occupancy);

/* Move pairs of the list that overlap apart to gap_min, the smaller sphere farther, until none is
 * left.  x [n][4] lies on the backend.  cut: where rows of ranks begin, all of which call this, or
 * NULL.  *overlaps: pairs that overlapped at first.  scratch: work space, kept for the next call.
 * The same result in every run and for any number of threads or ranks.
 * Errors: MD_ENUMERIC (some are left after many sweeps), MD_ENOMEM. */
md_status stokes_separate(md_ctx *ctx, const double *box, const stokes_pair_view *pairs,
                          double gap_min, const int64_t *cut, double *x, md_buffer *scratch,
                          int64_t *overlaps);

MD_END_C
#endif
