/* stokes/solver/cg_scalars.h - an iteration of conjugate gradients from one set of sums.  Host and
 * device code.
 *
 * With q = A p, z = M^-1 r and u = M^-1 q all sums are taken together, before the step:
 *
 *     p.q = z.q = r.u,   alpha = r.z / p.q,   beta = r'.z' / r.z = alpha q.u / p.q - 1,
 *     r'.r' = r.r - 2 alpha r.q + alpha^2 q.q,
 *
 * r' and z' being those after the step.  The next iteration sums r'.r' and r'.z' themselves, so
 * that no rounding error is handed on. */
#ifndef STOKES_CG_SCALARS_H
#define STOKES_CG_SCALARS_H

#include "stokes/solver/vectors_impl.h"

#include <math.h>

/* Where M = I the sums from CG_PLAIN on are r.r, r.q and q.q again. */
enum { CG_RR, CG_RQ, CG_QQ, CG_PLAIN, CG_RZ = CG_PLAIN, CG_RU, CG_QU, CG_SUMS };

/* Below this part of its terms r'.r' is lost in their rounding: such a residual is not called
 * smaller before it has been summed itself. */
#define CG_KNOWN 1e-9

/* Scalars of a step, or why there is none: alpha is 0. */
MD_INLINE void cg_advance(cg_state *state, bool preconditioned, const double *sum)
{
  const double *with_m = sum + (preconditioned ? CG_RZ : CG_RR);
  const double rz = with_m[0], ru = with_m[1], qu = with_m[2];
  state->rr = sum[CG_RR];
  state->alpha = 0;
  state->done = sum[CG_RR] <= state->limit ? 1 : ru > 0 ? 0 : 2;
  if (state->done) return;
  const double alpha = rz / ru, change = alpha * alpha * sum[CG_QQ];
  const double rest = sum[CG_RR] - 2 * alpha * sum[CG_RQ] + change;
  state->alpha = alpha;
  state->beta = alpha * qu / ru - 1;
  state->rr = fmax(rest, CG_KNOWN * (sum[CG_RR] + change));
  state->steps++;
  state->done = state->rr <= state->limit;
}

#endif
