/* tests/drive/run_pme.h - some charges, and PME of them on the backend under test, with arrays of
 * doubles on the host. */
#ifndef RUN_PME_H
#define RUN_PME_H

#include "core/atoms.h"
#include "spread/pme.h"
#include "tests/ref/ref_ewald.h"

/* Some charges of a test, neutral or not, with room for results. */
typedef struct {
  ref_charges c;
  double *x, *q, *f, *exact_f;
} sample;

/* n charges anywhere in a box of these edges: -1 and 1 in turn, or 0 to 1 (not neutral). */
sample sample_make(int n, double e0, double e1, double e2, bool neutral);
void sample_free(sample *s);

/* PME for a sample: a mesh k0 x k1 x k2, splines of this order. */
pme_spec sample_spec(const sample *s, int k0, int k1, int k2, int order, double alpha);

/* Positions and charges as state4 [n] on the backend. */
void sample_upload(md_ctx *ctx, const sample *s, md_buffer *x4);

/* Forces go to s->f; they are added to zeros.  sample_once: by a solver of its own. */
pme_tally sample_compute(pme *solver, md_ctx *ctx, sample *s);
pme_tally sample_once(md_ctx *ctx, const pme_spec *spec, sample *s);

/* |a - b| / |b| */
double sample_difference(int n, const double *a, const double *b);

/* Sum of the energies. */
double tally_total(const pme_tally *t);

/* Energy and virial of the mesh by their definition: charges spread by the splines, every mode
 * of the whole spectrum by its own sum over the mesh.  For odd splines |b|^2 at K/2, where the
 * sum in it vanishes, is the mean of both neighbours.  At most 16 points along an axis. */
ref_coulomb sample_mesh_sum(const pme_spec *spec, const sample *s);

#endif
