/* cachemodel/kernel/list_slices.c - slices of 32 rows in host memory, one after the other: read
 * from a GPU's list in windows, or made from the CPU's (list_rows.c). */
#include "cachemodel/kernel/list_impl.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1024 }; /* slices read at a time */

struct list_slices {
  list_input in;
  list_kernel kernel;
  int64_t next, n; /* slice */
  list_rows *made; /* NULL: the list is the GPU's own */
  int64_t made_slots;
  /* Slices first..end of the GPU's list. */
  int64_t first, end;
  int64_t start[WINDOW + 1];
  int32_t count[WINDOW * LIST_WARP];
  int32_t *nbr;
  size_t nbr_bytes;
  /* Half lists, and atoms of several types. */
  list_positions at;
  const int32_t *home;
  uint8_t *type; /* of owned atoms */
  void *x_copy, *home_copy;
};

void list_slice_free(list_slice *slice)
{
  free(slice->nbr);
  free(slice->home);
  free(slice->acts);
  free(slice->type);
  *slice = (list_slice){0};
}

/* What is in the slice stays. */
md_status list_slice_reserve(list_slice *slice, int32_t n)
{
  if (n <= slice->room) return MD_OK;
  const int32_t room = n + n / 2 + 4;
  const size_t row = LIST_WARP * sizeof(int32_t);
  int32_t *nbr = realloc(slice->nbr, (size_t)room * row);
  if (nbr) slice->nbr = nbr;
  int32_t *home = nbr ? realloc(slice->home, (size_t)room * row) : NULL;
  if (home) slice->home = home;
  uint32_t *acts = home ? realloc(slice->acts, (size_t)room * sizeof *acts) : NULL;
  if (acts) slice->acts = acts;
  uint8_t *type = acts ? realloc(slice->type, (size_t)room * LIST_WARP) : NULL;
  MD_REQUIRE(type, MD_ENOMEM, "out of memory for rows of %d neighbours", n);
  slice->type = type;
  slice->room = room;
  return MD_OK;
}

/* An array in host memory: the one of the backend on the CPU, else a copy that *copy owns. */
static md_status on_host(md_ctx *ctx, const void *data, size_t bytes, void **copy, const void **out)
{
  *out = data;
  if (ctx->backend == MD_CPU || bytes == 0) return MD_OK;
  *copy = malloc(bytes);
  MD_REQUIRE(*copy, MD_ENOMEM, "out of memory: %.1f MB asked for", (double)bytes / 1e6);
  *out = *copy;
  return md_read(ctx, *copy, data, bytes);
}

/* What half lists need to know of the atoms. */
static md_status open_pairs(list_slices *s)
{
  const md_atoms *atoms = s->in.atoms;
  const size_t state = 4 * md_state_size(atoms->ctx->precision);
  s->at.single = atoms->ctx->precision == MD_SINGLE;
  s->at.r_cut_sq = s->in.r_cut * s->in.r_cut;
  return on_host(atoms->ctx, atoms->x.data, (size_t)(atoms->n + atoms->n_ghost) * state, &s->x_copy,
                 &s->at.x);
}

static md_status open_types(list_slices *s)
{
  s->type = malloc((size_t)s->kernel.n);
  MD_REQUIRE(s->type, MD_ENOMEM, "out of memory for a list trace");
  return md_atoms_get_types(s->in.atoms, s->type);
}

static md_status open_homes(list_slices *s)
{
  const md_atoms *atoms = s->in.atoms;
  const void *home;
  MD_TRY(on_host(atoms->ctx, atoms->home.data, (size_t)atoms->n_ghost * sizeof(int32_t),
                 &s->home_copy, &home));
  s->home = home;
  return MD_OK;
}

md_status list_slices_open(const list_input *in, const list_kernel *kernel, list_slices **out)
{
  *out = NULL;
  list_slices *s = calloc(1, sizeof *s);
  MD_REQUIRE(s, MD_ENOMEM, "out of memory for a list trace");
  s->in = *in;
  s->kernel = *kernel;
  s->n = (kernel->n + LIST_WARP - 1) / LIST_WARP;
  md_status status = MD_OK;
  if (in->atoms->ctx->backend == MD_CPU) {
    s->made_slots = s->kernel.array[LIST_NBR].count / (s->n * LIST_WARP);
    status = list_rows_open(in, kernel, &s->made);
  }
  const bool half = kernel->kind == NEIGHBOR_HALF, typed = kernel->reads == LIST_TYPED;
  if (!status && (half || typed)) status = open_homes(s);
  if (!status && half) status = open_pairs(s);
  if (!status && typed) status = open_types(s);
  if (status)
    list_slices_close(s);
  else
    *out = s;
  return status;
}

void list_slices_close(list_slices *s)
{
  if (!s) return;
  list_rows_close(s->made);
  free(s->nbr);
  free(s->type);
  free(s->x_copy);
  free(s->home_copy);
  free(s);
}

/* Read the window that begins with slice `first`. */
static md_status read_window(list_slices *s, int64_t first)
{
  md_ctx *ctx = s->in.atoms->ctx;
  const neighbor_view *view = neighbor_list_view(s->in.list);
  const int64_t slices = s->n - first < WINDOW ? s->n - first : WINDOW;
  const int64_t rows = s->kernel.n - first * LIST_WARP;
  const int64_t counts = rows < slices * LIST_WARP ? rows : slices * LIST_WARP;
  MD_TRY(md_read(ctx, s->start, view->start + first, (size_t)(slices + 1) * sizeof(int64_t)));
  MD_TRY(md_read(ctx, s->count, view->count + first * LIST_WARP, (size_t)counts * sizeof(int32_t)));
  MD_TRY(md_ctx_sync(ctx));
  const size_t bytes = (size_t)(s->start[slices] - s->start[0]) * sizeof(int32_t);
  if (bytes > s->nbr_bytes) {
    free(s->nbr);
    s->nbr = malloc(bytes);
    s->nbr_bytes = s->nbr ? bytes : 0;
    MD_REQUIRE(s->nbr, MD_ENOMEM, "out of memory: %.1f MB asked for", (double)bytes / 1e6);
  }
  s->first = first;
  s->end = first + slices;
  MD_TRY(md_read(ctx, s->nbr, view->nbr + s->start[0], bytes));
  return md_ctx_sync(ctx);
}

static md_status copy_slice(list_slices *s, list_slice *out)
{
  if (s->next >= s->end) MD_TRY(read_window(s, s->next));
  const int64_t w = s->next - s->first;
  const int32_t *count = s->count + w * LIST_WARP;
  int32_t longest = 0;
  for (int32_t l = 0; l < out->rows; l++)
    longest = count[l] > longest ? count[l] : longest;
  MD_TRY(list_slice_reserve(out, longest));
  memcpy(out->count, count, (size_t)out->rows * sizeof *count);
  memcpy(out->nbr, s->nbr + (s->start[w] - s->start[0]),
         (size_t)longest * LIST_WARP * sizeof(int32_t));
  out->start = s->start[w];
  return MD_OK;
}

static md_status make_slice(list_slices *s, list_slice *out)
{
  for (int32_t l = 0; l < out->rows; l++) {
    const int32_t *row;
    MD_TRY(list_rows_of(s->made, (int32_t)out->first + l, &row, &out->count[l]));
    MD_TRY(list_slice_reserve(out, out->count[l]));
    for (int32_t k = 0; k < out->count[l]; k++)
      out->nbr[k * LIST_WARP + l] = row[k];
  }
  out->start = s->next * s->made_slots * LIST_WARP;
  return MD_OK;
}

/* Of an atom or ghost; a ghost of another rank counts as one of the first type. */
static uint8_t type_of(const list_slices *s, int32_t j)
{
  const int32_t n = (int32_t)s->kernel.n, home = j < n ? j : s->home[j - n];
  return home < 0 ? 0 : s->type[home];
}

static void mark_types(const list_slices *s, list_slice *out)
{
  for (int32_t l = 0; l < LIST_WARP; l++)
    out->own_type[l] = s->type[l < out->rows ? out->first + l : 0];
  for (int32_t l = 0; l < out->rows; l++)
    for (int32_t k = 0; k < out->count[l]; k++)
      out->type[k * LIST_WARP + l] = type_of(s, out->nbr[k * LIST_WARP + l]);
}

/* Within which distance entry k of row l acts. */
static double reach_sq(const list_slices *s, const list_slice *out, int32_t k, int32_t l)
{
  if (!s->in.cutoff || s->kernel.reads != LIST_TYPED) return s->at.r_cut_sq;
  const int32_t pair = out->own_type[l] * s->kernel.types + out->type[k * LIST_WARP + l];
  const double r_cut = s->in.cutoff[(int64_t)pair * s->in.step];
  return r_cut * r_cut;
}

/* Which pairs of a half list act on the neighbour, and where; types are known. */
static void mark_pairs(const list_slices *s, list_slice *out)
{
  const int32_t n = (int32_t)s->kernel.n;
  if (out->longest > 0) memset(out->acts, 0, (size_t)out->longest * sizeof *out->acts);
  for (int32_t l = 0; l < out->rows; l++)
    for (int32_t k = 0; k < out->count[l]; k++) {
      const int32_t i = (int32_t)out->first + l, j = out->nbr[k * LIST_WARP + l];
      const bool ghost = j >= n;
      out->home[k * LIST_WARP + l] = ghost ? s->home[j - n] : j;
      const bool acts =
          (!ghost || s->kernel.newton) && list_distance_sq(&s->at, i, j) < reach_sq(s, out, k, l);
      out->acts[k] |= (uint32_t)acts << l;
    }
}

md_status list_slices_next(list_slices *s, list_slice *out)
{
  out->rows = 0;
  if (s->next == s->n) return MD_OK;
  const int64_t first = s->next * LIST_WARP, left = s->kernel.n - first;
  out->first = first;
  out->rows = left < LIST_WARP ? (int32_t)left : LIST_WARP;
  MD_TRY(s->made ? make_slice(s, out) : copy_slice(s, out));
  out->longest = 0;
  for (int32_t l = out->rows; l < LIST_WARP; l++)
    out->count[l] = 0;
  for (int32_t l = 0; l < out->rows; l++)
    out->longest = out->count[l] > out->longest ? out->count[l] : out->longest;
  if (s->kernel.reads == LIST_TYPED) mark_types(s, out);
  if (s->kernel.kind == NEIGHBOR_HALF) mark_pairs(s, out);
  s->next++;
  return MD_OK;
}

void list_slices_rewind(list_slices *s)
{
  s->next = s->first = s->end = 0;
}
