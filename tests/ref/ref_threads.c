/* tests/ref/ref_threads.c - see ref_threads.h. */
#include "tests/ref/ref_threads.h"
#include "force/force_impl.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

/* A list made on the CPU, whatever backend is under test. */
run_near ref_near_cpu(md_precision precision, const neighbor_spec *spec, const run_case *c)
{
  run_near near = {.spec = *spec};
  const md_ctx_spec ctx = {MD_CPU, precision, 2, false};
  ck_ok(md_ctx_create(&ctx, &near.ctx));
  near.atoms = run_case_atoms(near.ctx, c, NULL);
  ck_ok(comm_create(near.ctx, &near.cm));
  ck_ok(neighbor_create(near.ctx, spec, &near.list));
  run_near_rebuild(&near);
  return near;
}

void ref_event_note(ref_events *all, ref_event e)
{
  if (all->n == all->room) {
    all->room = all->room ? 2 * all->room : 1024;
    all->event = realloc(all->event, (size_t)all->room * sizeof e);
    ck_assert_ptr_nonnull(all->event);
  }
  all->event[all->n++] = e;
}

static int by_place(const void *x, const void *y)
{
  const ref_event *a = x, *b = y;
  if (a->warp != b->warp) return a->warp < b->warp ? -1 : 1;
  if (a->label != b->label) return a->label < b->label ? -1 : 1;
  return a->address < b->address ? -1 : a->address > b->address;
}

/* The rows of the GPU's kernel by its builder's rules, from the lists that the CPU made. */
typedef struct {
  int32_t **entry; /* [n] */
  int32_t *count;
  run_snapshot atoms;
  uint8_t *type; /* of owned atoms; NULL: all are alike */
  int32_t types;
} rows;

static const neighbor_grid *sort_grid;
static const double *sort_x;

static int64_t bin_of(int32_t j)
{
  int64_t bin = 0;
  for (int d = 0; d < 3; d++) {
    const double lo = sort_grid->lo[d] - sort_grid->margin[d] * sort_grid->side[d];
    int64_t at = (int64_t)floor((sort_x[3 * (int64_t)j + d] - lo) / sort_grid->side[d]);
    if (at < 0) at = 0;
    if (at >= sort_grid->n[d]) at = sort_grid->n[d] - 1;
    bin = bin * sort_grid->n[d] + at;
  }
  return bin;
}

static int by_bin(const void *x, const void *y)
{
  const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
  const int64_t bin_a = bin_of(a), bin_b = bin_of(b);
  return bin_a != bin_b ? (bin_a < bin_b ? -1 : 1) : (a > b) - (a < b);
}

static rows make_rows(const run_near *near, const list_kernel *kernel)
{
  rows r = {.atoms = run_snapshot_take(near->atoms), .types = near->atoms->n_types};
  const int64_t n = r.atoms.n;
  if (kernel->reads == LIST_TYPED) {
    r.type = ref_alloc(n, sizeof *r.type);
    ck_ok(md_atoms_get_types(near->atoms, r.type));
  }
  run_list list = run_list_read(near->ctx, near->list);
  const neighbor_view *v = &list.view;
  r.entry = ref_alloc(n, sizeof *r.entry);
  r.count = ref_alloc(n, sizeof *r.count);
  sort_grid = neighbor_list_grid(near->list);
  sort_x = r.atoms.x;
  for (int64_t row = 0; row < n; row++) {
    const int32_t i = v->atom ? v->atom[row] : (int32_t)row;
    int32_t *to = r.entry[i] = ref_alloc(v->count[row], sizeof *to), kept = 0;
    for (int32_t k = 0; k < v->count[row]; k++) {
      const int32_t j = v->nbr[v->start[row / v->width] + (int64_t)k * v->width + row % v->width];
      bool keep = true;
      if (kernel->kind == NEIGHBOR_HALF && j >= n)
        keep = !kernel->newton || r.atoms.shift[j - n] > 0;
      else if (kernel->kind == NEIGHBOR_HALF)
        keep = (i - j) % 2 == 0 ? i < j : i > j;
      if (keep) to[kept++] = j;
    }
    r.count[i] = kept;
    qsort(to, (size_t)kept, sizeof *to, by_bin);
  }
  run_list_free(&list);
  return r;
}

static void free_rows(rows *r)
{
  for (int64_t i = 0; i < r->atoms.n; i++)
    free(r->entry[i]);
  free(r->entry);
  free(r->count);
  free(r->type);
  run_snapshot_free(&r->atoms);
}

/* The GPU's kernel, one thread. */
typedef struct {
  const list_kernel *kernel;
  const rows *r;
  double r_cut;
  const double *cutoff; /* of two types, or NULL */
  int64_t i;            /* thread of the grid */
  int64_t label;
  ref_events *out;
} thread;

static uint64_t element(const thread *t, list_array_name name, int64_t index)
{
  const list_array *a = &t->kernel->array[name];
  return a->base + (uint64_t)(index * a->stride);
}

/* Each call is one place of the program, which all threads pass. */
static void at_place(thread *t, bool active, trace_stream stream, trace_op op, uint64_t address,
                     int32_t bytes, bool no_keep)
{
  const ref_event e = {t->i / 32, t->label++,       stream,  op,
                       no_keep,   (int)(t->i % 32), address, bytes};
  if (active) ref_event_note(t->out, e);
}

static void read_coord(thread *t, bool active, trace_stream stream, int64_t i)
{
  if (t->kernel->precision == MD_DOUBLE) {
    at_place(t, active, stream, TRACE_READ, element(t, LIST_PACKED, i), 16, false);
    at_place(t, active, stream, TRACE_READ, element(t, LIST_Z, i), 8, false);
  } else {
    at_place(t, active, stream, TRACE_READ, element(t, LIST_COORD, i), 16, false);
  }
}

static int64_t type_of(const thread *t, int64_t j)
{
  const run_snapshot *a = &t->r->atoms;
  return t->r->type[j < a->n ? j : a->home[j - a->n]];
}

/* A byte beside a position. */
static void read_type(thread *t, bool active, int64_t j)
{
  if (t->r->type) at_place(t, active, TRACE_NT, TRACE_READ, element(t, LIST_TYPE, j), 1, false);
}

/* The constants of the thread's row and atom j: four numbers, 16 bytes at a time.  A thread without
 * a row has none of its own and takes the table's first row. */
static void read_constants(thread *t, bool active, int64_t j)
{
  if (!t->r->type) return;
  const int64_t row = t->i < t->r->atoms.n ? type_of(t, t->i) : 0;
  const uint64_t at = element(t, LIST_PAIR, row * t->r->types + type_of(t, j));
  at_place(t, active, TRACE_OTHER, TRACE_READ, at, 16, false);
  if (t->kernel->precision == MD_DOUBLE)
    at_place(t, active, TRACE_OTHER, TRACE_READ, at + 16, 16, false);
}

static void read_index(thread *t, bool active, int64_t k)
{
  const int64_t slices = (t->r->atoms.n + 31) / 32;
  const int64_t slots = t->kernel->array[LIST_NBR].count / slices / 32;
  const int64_t at = (t->i / 32 * slots + k) * 32 + t->i % 32;
  at_place(t, active, TRACE_NI, TRACE_READ, element(t, LIST_NBR, at), 4, true);
}

static int32_t count_of(const thread *t, int64_t i)
{
  return i < t->r->atoms.n ? t->r->count[i] : 0;
}

/* A neighbour. */
static void read_atom(thread *t, bool active, int64_t j)
{
  read_coord(t, active, TRACE_NC, j);
  read_type(t, active, j);
}

static void full_thread(thread *t)
{
  const int64_t n = t->r->atoms.n, wide = t->kernel->precision == MD_DOUBLE;
  const int64_t batch = wide ? FORCE_FULL_BATCH_WIDE : FORCE_FULL_BATCH;
  const bool exists = t->i < n;
  const int32_t count = count_of(t, t->i);
  at_place(t, exists, TRACE_NI, TRACE_READ, element(t, LIST_COUNT, t->i), 4, false);
  at_place(t, exists, TRACE_NI, TRACE_READ, element(t, LIST_START, t->i / 32), 8, false);
  read_coord(t, exists, TRACE_AC, t->i);
  read_type(t, exists, t->i);
  int64_t most = 0;
  for (int64_t l = t->i / 32 * 32; l < t->i / 32 * 32 + 32; l++)
    most = count_of(t, l) > most ? count_of(t, l) : most;
  for (int64_t k = 0; k + batch <= most; k += batch) { /* others may still be in the loop */
    const bool active = k + batch <= count;
    for (int64_t u = 0; u < batch; u++)
      read_index(t, active, k + u);
    for (int64_t u = 0; u < batch; u++)
      read_atom(t, active, active ? t->r->entry[t->i][k + u] : 0);
    for (int64_t u = 0; u < batch; u++)
      read_constants(t, active, active ? t->r->entry[t->i][k + u] : 0);
  }
  const int64_t k = count / batch * batch, own = exists ? t->i : 0;
  for (int64_t u = 0; u < batch - 1; u++)
    read_index(t, exists && k + u < count, k + u);
  for (int64_t u = 0; u < batch - 1; u++)
    read_atom(t, exists, k + u < count ? t->r->entry[t->i][k + u] : own);
  for (int64_t u = 0; u < batch - 1; u++)
    read_constants(t, exists, k + u < count ? t->r->entry[t->i][k + u] : own);
  for (int part = 0; part < t->kernel->array[LIST_FORCE].stride / 16; part++)
    at_place(t, exists, TRACE_FUO, TRACE_WRITE, element(t, LIST_FORCE, t->i) + 16 * (uint64_t)part,
             16, false);
}

/* One pass over embedded atoms: batches until the warp's longest row ends, each of a thread that
 * has entries left; behind the last of them its own atom. */
static void embedded_thread(thread *t)
{
  const int64_t n = t->r->atoms.n, wide = t->kernel->precision == MD_DOUBLE;
  const int64_t batch = wide ? FORCE_FULL_BATCH_WIDE : FORCE_FULL_BATCH;
  const bool exists = t->i < n, forces = t->kernel->pass == LIST_PASS_FORCES;
  const int32_t real = wide ? 8 : 4, count = count_of(t, t->i);
  int64_t most = 0;
  for (int64_t l = t->i / 32 * 32; l < t->i / 32 * 32 + 32; l++)
    most = count_of(t, l) > most ? count_of(t, l) : most;
  at_place(t, exists, TRACE_NI, TRACE_READ, element(t, LIST_COUNT, t->i), 4, false);
  at_place(t, exists, TRACE_NI, TRACE_READ, element(t, LIST_START, t->i / 32), 8, false);
  read_coord(t, exists, TRACE_AC, t->i);
  if (forces) at_place(t, exists, TRACE_NF, TRACE_READ, element(t, LIST_SLOPE, t->i), real, false);
  for (int64_t k = 0; k < most; k += batch) {
    for (int64_t u = 0; u < batch; u++)
      read_index(t, k + u < count, k + u);
    for (int64_t u = 0; u < batch; u++) {
      const int64_t j = k + u < count ? t->r->entry[t->i][k + u] : t->i;
      read_coord(t, k < count, TRACE_NC, j);
      if (forces)
        at_place(t, k < count, TRACE_NF, TRACE_READ, element(t, LIST_SLOPE, j), real, false);
    }
  }
  const int32_t stride = t->kernel->array[LIST_FORCE].stride;
  if (!forces)
    at_place(t, exists, TRACE_FUO, TRACE_WRITE, element(t, LIST_SLOPE, t->i), real, false);
  for (int part = 0; forces && part < stride / 16; part++)
    at_place(t, exists, TRACE_FUO, TRACE_WRITE, element(t, LIST_FORCE, t->i) + 16 * (uint64_t)part,
             16, false);
}

/* What entry k of row i reacts on, -1 for nothing; *ghost: its index among ghosts, or -1. */
static int64_t reacts(const thread *t, int64_t i, int64_t k, int64_t *ghost)
{
  const run_snapshot *a = &t->r->atoms;
  *ghost = -1;
  if (k >= count_of(t, i)) return -1;
  const int64_t j = t->r->entry[i][k];
  double r_sq = 0;
  for (int d = 0; d < 3; d++)
    r_sq += (a->x[3 * i + d] - a->x[3 * j + d]) * (a->x[3 * i + d] - a->x[3 * j + d]);
  const double r_cut =
      t->r->type ? t->cutoff[type_of(t, i) * t->r->types + type_of(t, j)] : t->r_cut;
  if (r_sq >= r_cut * r_cut || (j >= a->n && !t->kernel->newton)) return -1;
  if (j >= a->n) *ghost = j - a->n;
  return j < a->n ? j : a->home[j - a->n];
}

/* to[k]: what the k-th of this thread's team of four gives its force to. */
static void give(thread *t, trace_stream stream, const int64_t to[4])
{
  const int lane = (int)(t->i % 4);
  if (t->kernel->precision != MD_DOUBLE) {
    const int64_t own = to[lane];
    at_place(t, own >= 0, stream, TRACE_UPDATE, element(t, LIST_FORCE, own), 16, false);
    return;
  }
  for (int k = 0; k < 4; k++)
    at_place(t, to[k] >= 0 && lane < 3, stream, TRACE_UPDATE,
             element(t, LIST_FORCE, to[k]) + 8 * (uint64_t)lane, 8, false);
}

static void half_thread(thread *t)
{
  const int64_t n = t->r->atoms.n, first = t->i / 32 * 32, team = t->i / 4 * 4;
  const int32_t count = count_of(t, t->i);
  const int64_t own = t->i < n ? t->i : 0;
  int64_t most = 0, ghost, to[4];
  at_place(t, t->i < n, TRACE_NI, TRACE_READ, element(t, LIST_COUNT, t->i), 4, false);
  at_place(t, t->i < n, TRACE_NI, TRACE_READ, element(t, LIST_START, t->i / 32), 8, false);
  read_coord(t, t->i < n, TRACE_AC, t->i);
  read_type(t, t->i < n, t->i);
  for (int64_t l = first; l < first + 32; l++)
    most = count_of(t, l) > most ? count_of(t, l) : most;
  for (int64_t k = 0; k < most; k += FORCE_HALF_BATCH) {
    for (int64_t u = 0; u < FORCE_HALF_BATCH; u++)
      read_index(t, k + u < count, k + u);
    for (int64_t u = 0; u < FORCE_HALF_BATCH; u++)
      read_atom(t, true, k + u < count ? t->r->entry[t->i][k + u] : own);
    for (int64_t u = 0; u < FORCE_HALF_BATCH; u++) {
      read_constants(t, true, k + u < count ? t->r->entry[t->i][k + u] : own);
      for (int m = 0; m < 4; m++)
        to[m] = reacts(t, team + m, k + u, &ghost);
      reacts(t, t->i, k + u, &ghost);
      at_place(t, ghost >= 0, TRACE_NI, TRACE_READ, element(t, LIST_HOME, ghost), 4, false);
      give(t, TRACE_FUI, to);
    }
  }
  for (int m = 0; m < 4; m++)
    to[m] = team + m < n ? team + m : -1;
  give(t, TRACE_FUO, to);
}

int64_t ref_request_end(const ref_events *all, int64_t from)
{
  int64_t end = from;
  while (end < all->n && all->event[end].warp == all->event[from].warp &&
         all->event[end].label == all->event[from].label)
    end++;
  return end;
}

ref_events ref_threads(const run_near *near, const list_kernel *kernel, double r_cut,
                       const double *cutoff)
{
  rows r = make_rows(near, kernel);
  ref_events all = {0};
  for (int64_t i = 0; i < (kernel->n + 31) / 32 * 32; i++) {
    thread t = {kernel, &r, r_cut, cutoff, i, 0, &all};
    const bool full = kernel->kind == NEIGHBOR_FULL, embedded = kernel->reads == LIST_EMBEDDED;
    (embedded ? embedded_thread : full ? full_thread : half_thread)(&t);
  }
  if (all.n > 0) qsort(all.event, (size_t)all.n, sizeof *all.event, by_place);
  free_rows(&r);
  return all;
}
