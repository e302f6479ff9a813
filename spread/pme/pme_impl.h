/* spread/pme/pme_impl.h - what a PME solver holds and what a backend provides to pme.c.
 *
 * The mesh is real [K1][K2][K3]; its transform has the half spectrum, complex
 * [K1][K2][K3 / 2 + 1].  Transforms are not normalised, and need not be: with
 *
 *   psi(m) = exp(-pi^2 m^2 / alpha^2) |b1 b2 b3|^2 / (pi V m^2),   E = 1/2 sum psi |Q^|^2
 *
 * the backward transform of psi Q^ is dE/dQ, the potential. */
#ifndef PME_IMPL_H
#define PME_IMPL_H

#include "core/beside.h"
#include "core/buffer.h"
#include "core/replay.h"
#include "core/simd.h"
#include "spread/pme.h"

MD_BEGIN_C

enum { PME_CUTS = 5 };

struct pme {
  md_ctx *ctx;
  pme_spec spec;
  spread_plan *plan;
  md_beside *beside; /* the stream of all but the last kernel */
  md_replay *replay; /* of what does not change while charges only move */
  int64_t n, held;   /* charges that it works on; that q holds, -1: none */
  double volume;
  int64_t points, modes; /* of mesh and half spectrum */
  md_buffer mesh, spectrum;
  bool is_clear;         /* the mesh is zero once what was queued beside is done */
  md_buffer q, gradient; /* real [n], [n][3] */
  md_buffer table;       /* double: all that psi needs, see pme_tables */
  md_buffer partial;     /* double: sums before the last one */
  void *transforms;      /* the backend's */
  pme_processes with;    /* count 0: there is one */
  int64_t *cut;          /* [PME_CUTS][count + 1], for the backend */
  md_buffer out, in;     /* modes on their way between processes */
};

/* psi is separable but for 1 / m^2: three pairs of tables, axis after axis. */
typedef struct {
  const double *m_sq[3];   /* (m / edge)^2, [K] */
  const double *factor[3]; /* exp(-pi^2 m_sq / alpha^2) |b|^2, [K] */
  int32_t n[3];            /* K1, K2, K3 / 2 + 1 */
  int32_t mesh_last;       /* K3 */
  double scale;            /* 1 / (pi V) */
  double slope;            /* 2 pi^2 / alpha^2: virial of a mode */
} pme_tables;

/* Fill solver->table for its spec.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status pme_tables_fill(pme *solver);
pme_tables pme_tables_of(const pme *solver);

/* psi at a mode, 0 at the origin. */
MD_INLINE double pme_psi(double factor, double m_sq)
{
  return m_sq > 0 ? factor / m_sq : 0;
}

/* How often a mode of the half spectrum stands for one of the whole. */
MD_INLINE int pme_weight(const pme_tables *t, int32_t k)
{
  return k == 0 || 2 * k == t->mesh_last ? 1 : 2;
}

/* Plan the transforms of mesh and spectrum; forget them. */
typedef md_status pme_plan_fn(pme *solver);
typedef void pme_drop_fn(pme *solver);
/* q = charges as real; sums, if not NULL, gets sum q and sum q^2. */
typedef md_status pme_load_fn(pme *solver, const pme_charges *charges, double sums[2]);
/* mesh of charges -> mesh of the potential; sums, if not NULL, gets energy and virial. */
typedef md_status pme_solve_fn(pme *solver, double sums[2]);
/* f -= q gradient. */
typedef md_status pme_push_fn(pme *solver, int64_t n, void *f);

SIMD_DECLARE(pme_plan_fn, pme_cpu_plan);
SIMD_DECLARE(pme_drop_fn, pme_cpu_drop);
SIMD_DECLARE(pme_load_fn, pme_cpu_load);
SIMD_DECLARE(pme_solve_fn, pme_cpu_solve);
SIMD_DECLARE(pme_push_fn, pme_cpu_push);
PREC_DECLARE(pme_plan_fn, pme_gpu_plan);
PREC_DECLARE(pme_drop_fn, pme_gpu_drop);
PREC_DECLARE(pme_load_fn, pme_gpu_load);
PREC_DECLARE(pme_solve_fn, pme_gpu_solve);
PREC_DECLARE(pme_push_fn, pme_gpu_push);

MD_END_C
#endif
