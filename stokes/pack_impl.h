/* stokes/pack_impl.h - the two kinds of sweep of a packing. */
#ifndef STOKES_PACK_IMPL_H
#define STOKES_PACK_IMPL_H

#include "stokes/packing.h"
#include "stokes/pairs.h"

MD_BEGIN_C

/* Spheres by block, for sweeps in colours: block b has sphere[start[b] .. start[b + 1]). */
typedef struct {
  int32_t n[3]; /* blocks along each axis: even, or one */
  int32_t *start, *sphere;
} pack_blocks;

/* Blocks at least 2 reach wide.  Errors: MD_ENOMEM.  Free with pack_blocks_free. */
md_status pack_blocks_build(pack_blocks *blocks, const stokes_packing *packing, double reach);
void pack_blocks_free(pack_blocks *blocks);

static inline stokes_view pack_view(const stokes_packing *p)
{
  return (stokes_view){p->n, {p->box[0], p->box[1], p->box[2]}, p->x};
}

/* Push every pair closer than the spec's gap apart, visiting all pairs `iterations` times at most;
 * used: how often; done: no such pair is left. */
md_status pack_relax(md_ctx *ctx, const stokes_pack_spec *spec, stokes_packing *packing,
                     int iterations, int *used, bool *done);

/* Hard-sphere Monte Carlo; accepted: share of the moves. */
md_status pack_walk(md_ctx *ctx, const stokes_pack_spec *spec, stokes_packing *packing,
                    double *accepted);

MD_END_C
#endif
