/* force/eam/eam_knots.c - tables of embedded atoms as CPU kernels read them in double: by knot,
 * what one pass needs side by side (eam_pair_cpu.h); those of floats and of the GPU are in
 * eam_words.c. */
#include "force/force_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Coefficients of rho; those of -r phi / step^3, then of -rho' / step^2, ' by the step. */
static void fill_knots(const eam_potential *eam, double *density, double *both)
{
  const double step = eam->density.step, of_z = -1 / (step * step * step), of_rho = of_z * step;
  for (int64_t m = 0; m < eam->density.n; m++) {
    const double *rho = eam->density.knot[m], *z = eam->pair.knot[m];
    for (int k = 0; k < 4; k++) {
      density[4 * m + k] = rho[k];
      both[8 * m + k] = of_z * z[k];
      both[8 * m + 4 + k] = k < 3 ? of_rho * (k + 1) * rho[k + 1] : 0;
    }
  }
}

md_status eam_no_memory(size_t knots)
{
  return MD_FAIL(MD_ENOMEM, "out of memory for a potential of %zu knots", knots);
}

md_status eam_write_reals(md_ctx *ctx, double *values, size_t n, md_buffer *out)
{
  const size_t size = md_real_size(ctx->precision);
  char *narrow = (char *)values;
  for (size_t k = 0; k < n && size == sizeof(float); k++) {
    const float value = (float)values[k];
    MD_REQUIRE(isfinite(value), MD_EINVAL,
               "the potential has %g in its tables, which single and mixed precision do not hold: "
               "expected double precision",
               values[k]);
    memcpy(narrow + k * sizeof value, &value, sizeof value);
  }
  MD_TRY(md_buffer_reserve(ctx, out, n * size, 0));
  return md_write(ctx, out->data, values, n * size);
}

static md_status set_knots(force *fc, const eam_potential *eam)
{
  const size_t n = (size_t)eam->density.n;
  double *density = malloc(n * 4 * sizeof *density), *both = malloc(n * 8 * sizeof *both);
  md_status status = density && both ? MD_OK : eam_no_memory(n);
  if (!status) fill_knots(eam, density, both);
  if (!status) status = eam_write_reals(fc->ctx, density, 4 * n, &fc->density_knots);
  if (!status) status = eam_write_reals(fc->ctx, both, 8 * n, &fc->force_knots);
  free(density);
  free(both);
  return status;
}

md_status force_set_eam(force *fc, const eam_potential *eam)
{
  const bool by_knots = fc->ctx->backend == MD_CPU && fc->ctx->precision == MD_DOUBLE;
  MD_TRY(by_knots ? set_knots(fc, eam) : eam_set_words(fc, eam));
  fc->eam = eam;
  fc->spec.r_cut = eam->cutoff;
  return MD_OK;
}

const char *force_tables(const force *fc, const neighbor_list *list)
{
  const bool tiles = neighbor_list_view(list)->kind == NEIGHBOR_TILE;
  const bool packed = fc->ctx->backend == MD_GPU && tiles && fc->packing.end > 0;
  return !fc->eam ? NULL : packed ? "packed" : "cubics";
}

int64_t force_beyond(const force *fc)
{
  return fc->beyond;
}
