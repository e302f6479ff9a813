/* force/force.h - pair forces from neighbour lists.
 *
 * Lennard-Jones 12-6, for r < r_cut; beyond, nothing:
 *
 *     shift none     U(r) = 4 epsilon [ (sigma/r)^12 - (sigma/r)^6 ]    (miniMD, LAMMPS lj/cut)
 *     shift energy   U(r) - U(r_cut)
 *     shift force    U(r) - U(r_cut) - (r - r_cut) U'(r_cut)            (linear force shift)
 *
 * Atoms may be of several types (md_atoms.n_types), with an epsilon, sigma and cutoff for each two
 * of them.  Backend and precision are those of the context; callers never choose. */
#ifndef FORCE_H
#define FORCE_H

#include "core/atoms.h"
#include "core/exact.h"
#include "core/mail.h"
#include "force/eam/eam.h"
#include "neighbor/neighbor.h"

MD_BEGIN_C

#define FORCE_SHIFTS(X) X(NONE, "none") X(ENERGY, "energy") X(FORCE, "force")
#define MD_ENUM_(name, word) FORCE_SHIFT_##name,
typedef enum { FORCE_SHIFTS(MD_ENUM_) FORCE_SHIFT_COUNT } force_shift;
#undef MD_ENUM_
extern const char *const force_shift_words[FORCE_SHIFT_COUNT];

/* energy, length, length; all > 0 */
typedef struct {
  double epsilon, sigma, r_cut;
} force_lj;

/* Of two types between which nobody gives them: epsilon sqrt(e_i e_j); sigma and cutoff likewise
 * (geometric) or (s_i + s_j) / 2 (arithmetic).  The rules of LAMMPS by these names. */
#define FORCE_MIXES(X) X(GEOMETRIC, "geometric") X(ARITHMETIC, "arithmetic")
#define MD_ENUM_(name, word) FORCE_MIX_##name,
typedef enum { FORCE_MIXES(MD_ENUM_) FORCE_MIX_COUNT } force_mix;
#undef MD_ENUM_
extern const char *const force_mix_words[FORCE_MIX_COUNT];
force_lj force_lj_mix(force_mix mix, const force_lj *i, const force_lj *j);

typedef struct {
  double epsilon, sigma, r_cut; /* as in force_lj */
  force_shift shift;
  int block_size; /* threads per block of the GPU kernels, 32..1024; 0: tuned */
  int carveout;   /* percent of the GPU's greatest shared memory to set apart from the L1, 1..100;
                     0: as the driver likes */
  /* > 1: atoms have types, up to MD_TYPES, and in place of the first three above there are pairs
   * [n_types][n_types], alike for i, j and j, i; copied. */
  int32_t n_types;
  const force_lj *pairs;
} force_spec;

typedef struct {
  double energy; /* sum over pairs, each pair once [epsilon]         */
  double virial; /* sum of r_ij . f_ij over the same pairs [epsilon] */
  /* The same without rounding, of full lists in a deterministic context: sums over ranks
   * do not depend on who has which atom. */
  bool is_exact;
  exact_sum exact[2];
} force_tally;

typedef struct force force;

/* *out is NULL on failure; free with force_destroy (NULL is allowed).
 * Errors: MD_EINVAL (a parameter is not > 0, too many types, a block size that is no multiple of
 * 32, a carve-out beyond 100 %; in single and mixed precision, an epsilon or sigma of which floats
 * do not hold what kernels make), MD_ENOMEM. */
md_status force_create(md_ctx *ctx, const force_spec *spec, force **out);
void force_destroy(force *fc);

/* Atoms have charges (md_atoms_set_charges): add the real-space part of Ewald's sum,
 * U(r) = q_i q_j erfc(alpha r) / r for r < r_cut, to what force_compute computes; without this call
 * charges have no effect.  Errors: MD_EINVAL (alpha or r_cut not > 0 and finite). */
md_status force_set_coulomb(force *fc, double alpha, double r_cut);

/* After each list build of atoms of several types: their types, and those of the ghosts, from now
 * on. Nothing else needs to be done.  Does nothing for one type.  Errors: MD_EINVAL (the atoms have
 * another number of types), MD_ENOMEM, MD_ECUDA, and those of the fill function below. */
md_status force_take_types(force *fc, const md_atoms *atoms);
/* What of it can fail on one of several processes alone, before they exchange anything. */
md_status force_reserve_types(force *fc, const md_atoms *atoms);

/* Embedded atoms (eam.h) in place of Lennard-Jones: the cutoff becomes that of eam, which must
 * outlive fc; energies are eV, lengths Angstrom.  energy of a tally is then that of all atoms,
 * sum F included.  On a GPU lists are full or by tiles; single and mixed precision have the
 * functions against r^2 there, constant nearer than 0.05 cutoffs (eam_pair.h).  Errors: MD_EINVAL
 * (in single and mixed precision, a table that floats do not hold), MD_ENOMEM, MD_ECUDA. */
md_status force_set_eam(force *fc, const eam_potential *eam);
/* Some ghosts are images of other processes' atoms, and their home is < 0: fill sets values [n +
 * n_ghost], reals, at these from those of the atoms; all processes call force_compute and
 * force_take_types together.  Embedded atoms need it for F', atoms for their types.  NULL: every
 * ghost has a home, as at first. */
typedef md_status force_fill_fn(void *arg, void *values);
void force_share(force *fc, force_fill_fn *fill, void *arg);
/* How kernels read the tables of embedded atoms with such a list: "cubics" between knots, or
 * "packed" words (eam_pair.h), by tiles on a GPU where the potential allows it.  NULL: there are
 * none. */
const char *force_tables(const force *fc, const neighbor_list *list);
/* How often a density of an atom of this process was beyond the table of F, in all computations so
 * far, on a GPU up to the last that was asked for sums: F went on linearly. */
int64_t force_beyond(const force *fc);

/* Forces on all owned atoms.
 *   atoms  in: coordinates of owned atoms and ghosts.  out: f [n], overwritten.
 *   list   in: built from these atoms with r_list >= both cutoffs.
 *   tally  out: NULL, or the sums above over this process's pairs.  Asking for them waits for
 *          the GPU.
 * Cost: O(n * neighbours); moves no atom data between host and GPU.
 *
 * Full and tile lists: one result, bit for bit; full lists in a deterministic context also for any
 * order of atoms and any number of ranks.  Half lists: on the CPU one result for one number
 * of threads; on the GPU pairs add to f[j] atomically and the last bits vary.  In a deterministic
 * context they do not: the CPU cuts the work independently of the threads, the GPU adds in 64-bit
 * fixed point.
 *
 * Errors: MD_EINVAL (list and atoms do not match; a half list of embedded atoms on the GPU),
 * MD_ENOMEM, MD_ECUDA. */
md_status force_compute(force *fc, md_atoms *atoms, const neighbor_list *list, force_tally *tally);

/* Up to so many tiles force_advance keeps bits for each two of them, whether they are near: one for
 * a list and one for that to come. */
enum { FORCE_WAITING_TILES = 8192 };

/* Forces and what velocity Verlet does with them, `steps` times: v += kick f, twice, and x += drift
 * v, also for the ghosts that atoms->first counts; f is not kept.  The same bits as force_compute
 * and what comes after it, as often.  mail: ghosts are exchanged with other ranks between as many
 * steps, and where they went after the last is not known here; NULL: they are not.  Settles the
 * list.  force_advances: whether this is possible,
 * with a list by tiles (on the GPU) where neither charges act nor embedded atoms of several ranks.
 * Errors: MD_EINVAL (it is not; otherwise as above), MD_ENOMEM, MD_ECUDA. */
bool force_advances(const force *fc, const neighbor_list *list);
md_status force_advance(force *fc, md_atoms *atoms, neighbor_list *list, double kick, double drift,
                        int32_t steps, const md_mail *mail);

/* A pair at distance r: energy and force magnitude / r in double, the formula that the kernels use.
 * For tests and tables. */
void force_pair(const force_spec *spec, double r, double *energy, double *force_over_r);

MD_END_C
#endif
