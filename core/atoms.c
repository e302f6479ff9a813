/* core/atoms.c - storage of atoms and its conversion from and to host doubles. */
#include "core/atoms_impl.h"

#include <stdlib.h>
#include <string.h>

size_t md_state_size(md_precision precision)
{
  return precision == MD_SINGLE ? sizeof(float) : sizeof(double);
}

size_t md_real_size(md_precision precision)
{
  return precision == MD_DOUBLE ? sizeof(double) : sizeof(float);
}

size_t md_coord_size(md_precision precision)
{
  return precision == MD_DOUBLE ? sizeof(double) : 4;
}

md_status md_atoms_create(md_ctx *ctx, const md_box *box, md_atoms **out)
{
  *out = NULL;
  for (int d = 0; d < 3; d++)
    MD_REQUIRE(box->hi[d] > box->lo[d], MD_EINVAL, "the box has no extent along %c: %g to %g",
               'x' + d, box->lo[d], box->hi[d]);
  md_atoms *atoms = calloc(1, sizeof *atoms);
  MD_REQUIRE(atoms, MD_ENOMEM, "out of memory for the atoms");
  atoms->ctx = ctx;
  atoms->box = atoms->frame = atoms->part = *box;
  for (int d = 0; d < 3; d++)
    atoms->frames[d] = 1;
  atoms->coord_scale = 1;
  atoms->n_types = 1;
  *out = atoms;
  return MD_OK;
}

void md_atoms_destroy(md_atoms *atoms)
{
  if (!atoms) return;
  md_buffer *buffers[] = {&atoms->x,          &atoms->v,     &atoms->f,       &atoms->fixed,
                          &atoms->x_at_build, &atoms->id,    &atoms->image,   &atoms->home,
                          &atoms->shift,      &atoms->first, &atoms->ghost_id};
  const int n = sizeof buffers / sizeof buffers[0];
  for (int k = 0; k < n; k++)
    md_buffer_free(atoms->ctx, buffers[k]);
  free(atoms);
}

md_status md_atoms_reserve(md_atoms *atoms, int64_t n, int64_t n_ghost)
{
  md_ctx *ctx = atoms->ctx;
  const int64_t all = n + n_ghost, had = atoms->n, had_all = atoms->n + atoms->n_ghost;
  MD_REQUIRE(all <= INT32_MAX, MD_ECAPACITY,
             "%lld atoms and ghosts in one process: at most %d are possible", (long long)all,
             INT32_MAX);
  const size_t state = 4 * md_state_size(ctx->precision), real = 4 * md_real_size(ctx->precision);
  MD_TRY(md_buffer_reserve(ctx, &atoms->x, (size_t)all * state, (size_t)had_all * state));
  MD_TRY(md_buffer_reserve(ctx, &atoms->v, (size_t)n * state, (size_t)had * state));
  const size_t pulled = (size_t)(ctx->backend == MD_CPU ? all : n);
  MD_TRY(md_buffer_reserve(ctx, &atoms->f, pulled * real, (size_t)had * real));
  MD_TRY(md_buffer_reserve(ctx, &atoms->id, (size_t)n * 8, (size_t)had * 8));
  MD_TRY(md_buffer_reserve(ctx, &atoms->image, (size_t)n * 12, (size_t)had * 12));
  if (ctx->precision == MD_MIXED)
    MD_TRY(md_buffer_reserve(ctx, &atoms->fixed, (size_t)all * 16, (size_t)had_all * 16));
  const size_t ghosts = (size_t)n_ghost * 4, had_ghosts = (size_t)atoms->n_ghost * 4;
  MD_TRY(md_buffer_reserve(ctx, &atoms->home, ghosts, had_ghosts));
  return md_buffer_reserve(ctx, &atoms->shift, ghosts, had_ghosts);
}

/* Between host doubles [n][3] and an array of four of float or double. */
static void pack(void *to, const double *from, int64_t n, size_t size)
{
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < 4; d++) {
      const double value = from && d < 3 ? from[3 * i + d] : 0;
      if (size == sizeof(float))
        ((float *)to)[4 * i + d] = (float)value;
      else
        ((double *)to)[4 * i + d] = value;
    }
}

static void unpack(double *to, const void *from, int64_t n, size_t size)
{
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < 3; d++)
      to[3 * i + d] = size == sizeof(float) ? (double)((const float *)from)[4 * i + d]
                                            : ((const double *)from)[4 * i + d];
}

/* Send everything through one host array, which may change only when the device has read it. */
static md_status upload(md_atoms *atoms, int64_t n, const double *x, const double *v,
                        const int64_t *id, const int32_t *image, void *host)
{
  md_ctx *ctx = atoms->ctx;
  const size_t size = md_state_size(ctx->precision), fours = (size_t)n * 4 * size;
  pack(host, x, n, size);
  MD_TRY(md_write(ctx, atoms->x.data, host, fours));
  MD_TRY(md_ctx_sync(ctx));
  pack(host, v, n, size);
  MD_TRY(md_write(ctx, atoms->v.data, host, fours));
  MD_TRY(md_fill(ctx, atoms->f.data, 0, (size_t)n * 4 * md_real_size(ctx->precision)));
  MD_TRY(md_ctx_sync(ctx));
  int64_t *ids = host; /* 16 bytes an atom or more: room for an id */
  for (int64_t i = 0; i < n; i++)
    ids[i] = id ? id[i] : i + 1;
  MD_TRY(md_write(ctx, atoms->id.data, ids, (size_t)n * 8));
  MD_TRY(image ? md_write(ctx, atoms->image.data, image, (size_t)n * 12)
               : md_fill(ctx, atoms->image.data, 0, (size_t)n * 12));
  return md_ctx_sync(ctx);
}

md_status md_atoms_set_local(md_atoms *atoms, int64_t n, const double *x, const double *v,
                             const int64_t *id, const int32_t *image)
{
  MD_REQUIRE(n >= 0, MD_EINVAL, "the number of atoms must be >= 0, not %lld", (long long)n);
  MD_TRY(md_atoms_reserve(atoms, n, 0));
  atoms->n = atoms->n_total = atoms->n_ghost = atoms->n_built = 0;
  if (n == 0) return MD_OK;
  void *host = malloc((size_t)n * 4 * md_state_size(atoms->ctx->precision));
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for %lld atoms", (long long)n);
  const md_status status = upload(atoms, n, x, v, id, image, host);
  free(host);
  if (!status) atoms->n = atoms->n_total = n;
  return status;
}

md_status atoms_get_fours(const md_atoms *atoms, double *to, const void *from, size_t size)
{
  const size_t bytes = (size_t)atoms->n * 4 * size;
  void *host = malloc(bytes);
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for %lld atoms", (long long)atoms->n);
  const md_status status = md_read(atoms->ctx, host, from, bytes);
  if (!status) unpack(to, host, atoms->n, size);
  free(host);
  return status;
}

md_status md_atoms_get_local(const md_atoms *atoms, double *x, int32_t *image)
{
  if (x) MD_TRY(md_atoms_read(atoms, atoms->x.data, x));
  if (image) MD_TRY(md_read(atoms->ctx, image, atoms->image.data, (size_t)atoms->n * 12));
  return MD_OK;
}

md_status md_atoms_read(const md_atoms *atoms, const void *state4, double *to)
{
  return atoms->n ? atoms_get_fours(atoms, to, state4, md_state_size(atoms->ctx->precision))
                  : MD_OK;
}

/* Change components first .. first + count - 1 of an array of four to those of from [n][count]. */
static md_status replace(md_atoms *atoms, void *fours, int first, int count, const double *from)
{
  const size_t size = md_state_size(atoms->ctx->precision), bytes = (size_t)atoms->n * 4 * size;
  if (atoms->n == 0) return MD_OK;
  void *host = malloc(bytes);
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for %lld atoms", (long long)atoms->n);
  md_status status = md_read(atoms->ctx, host, fours, bytes);
  for (int64_t i = 0; i < atoms->n && !status; i++)
    for (int d = 0; d < count; d++) {
      const double value = from[i * count + d];
      if (size == sizeof(float))
        ((float *)host)[4 * i + first + d] = (float)value;
      else
        ((double *)host)[4 * i + first + d] = value;
    }
  if (!status) status = md_write(atoms->ctx, fours, host, bytes);
  if (!status) status = md_ctx_sync(atoms->ctx);
  free(host);
  return status;
}

/* The last components of an array of four. */
static md_status get_fourth(const md_atoms *atoms, const void *fours, double *to)
{
  const size_t size = md_state_size(atoms->ctx->precision), bytes = (size_t)atoms->n * 4 * size;
  if (atoms->n == 0) return MD_OK;
  void *host = malloc(bytes);
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for %lld atoms", (long long)atoms->n);
  const md_status status = md_read(atoms->ctx, host, fours, bytes);
  for (int64_t i = 0; i < atoms->n && !status; i++)
    to[i] =
        size == sizeof(float) ? (double)((float *)host)[4 * i + 3] : ((double *)host)[4 * i + 3];
  free(host);
  return status;
}

md_status md_atoms_place(md_atoms *atoms, const double *x)
{
  return replace(atoms, atoms->x.data, 0, 3, x);
}

md_status md_atoms_set_charges(md_atoms *atoms, const double *q)
{
  return replace(atoms, atoms->x.data, 3, 1, q);
}

md_status md_atoms_get_charges(const md_atoms *atoms, double *q)
{
  return get_fourth(atoms, atoms->x.data, q);
}

md_status md_atoms_set_types(md_atoms *atoms, const uint8_t *type)
{
  double *number = malloc((size_t)(atoms->n + 1) * sizeof *number);
  MD_REQUIRE(number, MD_ENOMEM, "out of memory for %lld types", (long long)atoms->n);
  for (int64_t i = 0; i < atoms->n; i++)
    number[i] = type[i];
  const md_status status = replace(atoms, atoms->v.data, 3, 1, number);
  free(number);
  return status;
}

md_status md_atoms_get_types(const md_atoms *atoms, uint8_t *type)
{
  double *number = malloc((size_t)(atoms->n + 1) * sizeof *number);
  MD_REQUIRE(number, MD_ENOMEM, "out of memory for %lld types", (long long)atoms->n);
  const md_status status = get_fourth(atoms, atoms->v.data, number);
  for (int64_t i = 0; i < atoms->n && !status; i++)
    type[i] = (uint8_t)number[i];
  free(number);
  return status;
}
