/* cachemodel/kernel/list_trace.c - kernels and their arrays; the requests of a whole kernel. */
#include "cachemodel/kernel/list_impl.h"

#include <stdlib.h>

/* The part of an address that a model keeps.  On a GPU: what allocation promises.  On the CPU: the
 * place within a page, which gives the sets of a first level whose ways are 4 KB or less; where the
 * system puts pages differs from run to run, but for huge ones. */
enum { HUGE_PAGE = 2 << 20, PAGE = 4096, KEEP_GPU = 256 };

/* The kernels as they are written and compiled (nvcc 13, sm_90). */
static const struct {
  int32_t batch, registers, typed; /* registers of atoms alike, and of several types */
} gpu_programs[NEIGHBOR_LIST_COUNT][MD_PRECISION_COUNT] = {
    [NEIGHBOR_FULL] =
        {[MD_SINGLE] = {8, 56, 64}, [MD_MIXED] = {8, 56, 64}, [MD_DOUBLE] = {4, 62, 64}},
    [NEIGHBOR_HALF] =
        {[MD_SINGLE] = {4, 48, 48}, [MD_MIXED] = {4, 46, 48}, [MD_DOUBLE] = {4, 64, 64}},
};
enum { EMBEDDED_REGISTERS = 64 }; /* and batches as of full lists */

static uint64_t align(uint64_t address, uint64_t to)
{
  return (address + to - 1) / to * to;
}

static int32_t registers_of(const list_kernel *k)
{
  if (k->reads == LIST_EMBEDDED) return EMBEDDED_REGISTERS;
  return k->reads == LIST_TYPED ? gpu_programs[k->kind][k->precision].typed
                                : gpu_programs[k->kind][k->precision].registers;
}

/* Atoms whose forces or densities are summed, with ghosts where a CPU sums theirs, too. */
static int64_t summed_of(const list_kernel *k)
{
  return k->gpu || k->kind != NEIGHBOR_HALF ? k->n : k->n + k->n_ghost;
}

/* What every kernel of k->kind reads, wherever it lies. */
static void set_atoms(const list_input *in, list_kernel *k)
{
  const md_atoms *atoms = in->atoms;
  const md_precision precision = k->precision = atoms->ctx->precision;
  const int32_t real_size = (int32_t)md_real_size(precision);
  k->reads = in->reads;
  k->pass = list_first_pass(k);
  if (k->gpu) {
    k->batch = gpu_programs[k->kind][precision].batch;
    k->registers = registers_of(k);
  }
  k->types = atoms->n_types;
  k->n = atoms->n;
  k->n_ghost = atoms->n_ghost;
  k->array[LIST_COORD] = (list_array){(uintptr_t)md_atoms_coord(atoms), k->n + k->n_ghost,
                                      4 * (int32_t)md_coord_size(precision)};
  k->array[LIST_FORCE] = (list_array){(uintptr_t)atoms->f.data, summed_of(k), 4 * real_size};
  if (k->gpu && precision == MD_DOUBLE) {
    k->array[LIST_PACKED] = (list_array){0, k->n + k->n_ghost, 16};
    k->array[LIST_Z] = (list_array){0, k->n + k->n_ghost, 8};
  }
  if (k->reads == LIST_TYPED) k->array[LIST_TYPE] = (list_array){0, k->n + k->n_ghost, 1};
  if (k->gpu && k->reads == LIST_TYPED)
    k->array[LIST_PAIR] = (list_array){0, (int64_t)k->types * k->types, 4 * real_size};
  if (!k->gpu && k->reads == LIST_EMBEDDED)
    k->array[LIST_PACKED] = (list_array){0, k->n + k->n_ghost, k->array[LIST_COORD].stride};
  if (k->reads == LIST_EMBEDDED)
    k->array[LIST_SLOPE] = (list_array){0, k->n + k->n_ghost, real_size};
  k->array[LIST_HOME] = (list_array){(uintptr_t)atoms->home.data, k->n_ghost, sizeof(int32_t)};
}

/* What the CPU's first pass over embedded atoms writes for the second. */
static void set_near(const neighbor_view *view, list_kernel *k)
{
  const int64_t rows = (view->n_rows + k->lanes - 1) / k->lanes * k->lanes;
  k->array[LIST_DENSITY] = (list_array){0, summed_of(k), (int32_t)md_real_size(k->precision)};
  k->array[LIST_NEAR] = (list_array){0, k->array[LIST_NBR].count, sizeof(int32_t)};
  k->array[LIST_NEAR_COUNT] = (list_array){0, 2 * rows, sizeof(int32_t)};
}

md_status list_kernel_of(const list_input *in, list_kernel *out)
{
  const neighbor_view *view = neighbor_list_view(in->list);
  md_ctx *ctx = in->atoms->ctx;
  MD_REQUIRE(view->n_rows > 0, MD_EINVAL, "there is no neighbour list to trace");
  MD_REQUIRE(view->kind != NEIGHBOR_TILE, MD_EINVAL,
             "the kernel for lists by tiles cannot be traced: use a full or half list");
  *out = (list_kernel){.gpu = ctx->backend == MD_GPU, .kind = view->kind, .newton = view->newton};
  set_atoms(in, out);
  out->lanes = view->width;
  const int64_t slices = (view->n_rows + view->width - 1) / view->width;
  int64_t slots;
  MD_TRY(md_read(ctx, &slots, view->start + slices, sizeof slots));
  MD_TRY(md_ctx_sync(ctx));
  list_array *array = out->array;
  array[LIST_NBR] = (list_array){(uintptr_t)view->nbr, slots, sizeof(int32_t)};
  array[LIST_START] = (list_array){(uintptr_t)view->start, slices + 1, sizeof(int64_t)};
  array[LIST_COUNT] = (list_array){(uintptr_t)view->count, view->n_rows, sizeof(int32_t)};
  array[LIST_ATOM] = (list_array){(uintptr_t)view->atom, view->atom ? view->n_rows : 0, 4};
  array[LIST_SHARED] = (list_array){(uintptr_t)view->shared, view->shared ? view->n_rows : 0, 4};
  array[LIST_GHOST] =
      (list_array){(uintptr_t)view->ghost, view->ghost ? view->ghost_start[view->n_chunks] : 0, 4};
  uint64_t end = 0;
  for (int k = 0; k < LIST_PACKED; k++)
    end = list_array_end(&array[k]) > end ? list_array_end(&array[k]) : end;
  if (!out->gpu && out->reads == LIST_EMBEDDED) set_near(view, out);
  for (int k = LIST_PACKED; k < LIST_ARRAY_COUNT; k++) {
    array[k].base = k == LIST_Z ? end : align(end, HUGE_PAGE); /* z behind x and y */
    end = list_array_end(&array[k]);
  }
  return MD_OK;
}

md_status list_kernel_gpu(const list_input *in, neighbor_kind kind, bool newton, list_kernel *out)
{
  const neighbor_view *view = neighbor_list_view(in->list);
  MD_REQUIRE(in->atoms->ctx->backend == MD_CPU && view->kind == NEIGHBOR_FULL && view->n_rows > 0,
             MD_EINVAL, "the GPU's lists are modelled from a full list of the CPU");
  MD_REQUIRE(in->reads != LIST_EMBEDDED || kind == NEIGHBOR_FULL, MD_EINVAL,
             "a GPU has no kernel for embedded atoms and half lists: expected a full list");
  *out = (list_kernel){.gpu = true, .kind = kind, .newton = newton, .lanes = LIST_WARP};
  set_atoms(in, out);
  /* Room for a row as the GPU's builder guesses it: a quarter more than the mean, and 8. */
  const double mean = (double)view->n_entries / (double)out->n;
  const int64_t slots = (int64_t)(1.25 * (kind == NEIGHBOR_FULL ? mean : mean / 2) + 8) / 4 * 4 + 4;
  const int64_t slices = (out->n + LIST_WARP - 1) / LIST_WARP;
  out->array[LIST_NBR] = (list_array){0, slices * slots * LIST_WARP, sizeof(int32_t)};
  out->array[LIST_START] = (list_array){0, slices + 1, sizeof(int64_t)};
  out->array[LIST_COUNT] = (list_array){0, out->n, sizeof(int32_t)};
  for (int k = 0; k < LIST_ARRAY_COUNT; k++)
    out->array[k].base = 0;
  list_kernel_compact(out);
  return MD_OK;
}

void list_kernel_compact(list_kernel *kernel)
{
  uint64_t at = HUGE_PAGE;
  for (int k = 0; k < LIST_ARRAY_COUNT; k++) {
    list_array *a = &kernel->array[k];
    const bool huge = kernel->gpu || a->base % HUGE_PAGE == 0;
    a->base = align(at, huge ? HUGE_PAGE : PAGE) + a->base % (kernel->gpu ? KEEP_GPU : PAGE);
    at = list_array_end(a);
  }
}

static md_status run_gpu(const list_input *in, const list_kernel *kernel, int64_t rows,
                         list_sink *sink, void *to)
{
  list_slices *slices;
  MD_TRY(list_slices_open(in, kernel, &slices));
  list_warp warp = {0};
  md_status status = MD_OK;
  for (int64_t at = 0; !status && at < rows; at += LIST_WARP) {
    bool done = false;
    status = list_slices_next(slices, &warp.slice);
    if (!status && warp.slice.rows == 0) break;
    warp.next = -1;
    while (!status && !done)
      status = list_warp_turn(kernel, &warp, sink, to, &done);
  }
  list_slice_free(&warp.slice);
  list_slices_close(slices);
  return status;
}

md_status list_run_pass(const list_input *in, const list_kernel *kernel, int64_t rows,
                        list_sink *sink, void *to)
{
  return (kernel->gpu ? run_gpu : list_run_cpu)(in, kernel, rows, sink, to);
}

md_status list_run(const list_input *in, const list_kernel *kernel, int64_t rows, list_sink *sink,
                   void *to)
{
  list_kernel k = *kernel;
  for (k.pass = list_first_pass(kernel); k.pass <= LIST_PASS_FORCES; k.pass++)
    MD_TRY(list_run_pass(in, &k, rows, sink, to));
  return MD_OK;
}

/* Addresses of one request; a constant stride becomes a run. */
static md_status record(void *to, const list_request *r)
{
  uint64_t address[64];
  const trace_run like = {r->stream, r->op, r->bytes, r->lanes, list_address(r, 0), 0};
  bool even = true;
  for (int32_t l = 0; l < r->lanes; l++) {
    address[l] = list_address(r, l);
    if (l > 1 && address[l] - address[l - 1] != address[1] - address[0]) even = false;
  }
  if (!even) return trace_write_list(to, &like, r->lanes, address);
  trace_run run = like;
  if (r->lanes > 1) run.stride = (int64_t)(address[1] - address[0]);
  return trace_write_run(to, &run);
}

md_status list_record(const list_input *in, trace_writer *to)
{
  list_kernel kernel;
  MD_TRY(list_kernel_of(in, &kernel));
  return list_run(in, &kernel, kernel.n, record, to);
}
