/* cachemodel/kernel/list_cpu.c - what the CPU's force kernels access, as one thread runs through
 * all rows (list_trace.h).  Structures are accessed whole, indices a vector at a time. */
#include "cachemodel/kernel/list_impl.h"

#include <stdlib.h>

typedef struct {
  const list_kernel *kernel;
  const neighbor_view *view;
  const int32_t *home; /* of ghosts */
  list_positions at;
  list_sink *sink;
  void *to;
  /* Embedded atoms: entries of the slice at hand that are near. */
  int32_t *near, *near_count; /* [room][lanes]; [2][lanes] how many, and how many of them shared */
  int32_t *found;             /* [lanes] */
  int32_t room;
} walk;

/* Rows as a kernel walks along them: entry k of lane l is entry[k * lanes + l]. */
typedef struct {
  list_array_name array; /* that the entries lie in, from element `start` on */
  int64_t start;
  const int32_t *entry, *own, *count, *shared; /* shared NULL: full lists */
} slice_rows;

static md_status touch(const walk *w, list_array_name name, trace_stream stream, trace_op op,
                       int32_t lanes, const int32_t *index)
{
  const list_request r = list_request_of(w->kernel, name, stream, op, lanes, index);
  return lanes > 0 ? w->sink(w->to, &r) : MD_OK;
}

/* n elements from element `first` on, in one access. */
static md_status touch_vector(const walk *w, list_array_name name, trace_op op, int64_t first,
                              int32_t n)
{
  static const int32_t zero = 0;
  list_request r = list_request_of(w->kernel, name, TRACE_NI, op, 1, &zero);
  r.base += (uint64_t)(first * r.stride);
  r.bytes = n * r.stride;
  return w->sink(w->to, &r);
}

static int32_t most_of(const int32_t *count, int32_t lanes)
{
  int32_t most = 0;
  for (int32_t l = 0; l < lanes; l++)
    most = count[l] > most ? count[l] : most;
  return most;
}

static list_array_name summed(const walk *w)
{
  return w->kernel->pass == LIST_PASS_DENSITIES ? LIST_DENSITY : LIST_FORCE;
}

/* The atoms and ghosts that react to entries k of a slice: neighbours that share, else the row's
 * own. */
static md_status react(const walk *w, const slice_rows *r, int32_t k)
{
  const int32_t lanes = w->kernel->lanes;
  for (int32_t l = 0; l < lanes; l++) {
    const int32_t *to = k < r->shared[l] ? &r->entry[k * lanes + l] : &r->own[l];
    MD_TRY(touch(w, summed(w), TRACE_FUI, TRACE_UPDATE, 1, to));
  }
  return MD_OK;
}

/* Where the coordinates are; F' lies beside them in the second pass over embedded atoms. */
static list_array_name places(const list_kernel *kernel)
{
  const bool beside = kernel->reads == LIST_EMBEDDED && kernel->pass == LIST_PASS_FORCES;
  return beside ? LIST_PACKED : LIST_COORD;
}

/* What the pair needs to know of the neighbours behind a vector of entries. */
static md_status see(const walk *w, const int32_t *j)
{
  const list_kernel *kernel = w->kernel;
  MD_TRY(touch(w, places(kernel), TRACE_NC, TRACE_READ, kernel->lanes, j));
  if (kernel->reads == LIST_TYPED)
    MD_TRY(touch(w, LIST_TYPE, TRACE_NT, TRACE_READ, kernel->lanes, j));
  return MD_OK;
}

/* The sums over the rows of a slice, of which `left` are atoms. */
static md_status sum_rows(const walk *w, const slice_rows *r, int64_t left)
{
  const list_kernel *kernel = w->kernel;
  const int32_t lanes = kernel->lanes, longest = most_of(r->count, lanes);
  const int32_t shared = r->shared ? most_of(r->shared, lanes) : 0;
  if (kernel->reads == LIST_TYPED) MD_TRY(touch(w, LIST_TYPE, TRACE_NT, TRACE_READ, lanes, r->own));
  if (kernel->reads == LIST_EMBEDDED && kernel->pass == LIST_PASS_FORCES)
    MD_TRY(touch(w, LIST_SLOPE, TRACE_NF, TRACE_READ, lanes, r->own));
  MD_TRY(touch(w, places(kernel), TRACE_AC, TRACE_READ, lanes, r->own));
  for (int32_t k = 0; k < longest; k++) {
    MD_TRY(touch_vector(w, r->array, TRACE_READ, r->start + (int64_t)k * lanes, lanes));
    MD_TRY(see(w, r->entry + k * lanes));
    if (k < shared) MD_TRY(react(w, r, k));
  }
  return touch(w, summed(w), TRACE_FUO, r->shared ? TRACE_UPDATE : TRACE_WRITE,
               left < lanes ? (int32_t)left : lanes, r->own);
}

/* The rows of slice s as the list has them. */
static slice_rows listed(const walk *w, int64_t s)
{
  const neighbor_view *view = w->view;
  const int64_t row = s * w->kernel->lanes, start = view->start[s];
  const bool half = w->kernel->kind == NEIGHBOR_HALF;
  return (slice_rows){LIST_NBR,          start,
                      view->nbr + start, view->atom + row,
                      view->count + row, half ? view->shared + row : NULL};
}

static md_status open_listed(const walk *w, int64_t s)
{
  const int32_t lanes = w->kernel->lanes;
  MD_TRY(touch_vector(w, LIST_START, TRACE_READ, s, 1));
  MD_TRY(touch_vector(w, LIST_ATOM, TRACE_READ, s * lanes, lanes));
  MD_TRY(touch_vector(w, LIST_COUNT, TRACE_READ, s * lanes, lanes));
  if (w->kernel->kind != NEIGHBOR_HALF) return MD_OK;
  return touch_vector(w, LIST_SHARED, TRACE_READ, s * lanes, lanes);
}

/* Embedded atoms: those of a slice's entries that are near, in their order; behind the last of a
 * lane lies its own atom. */
static md_status find_near(walk *w, const slice_rows *all, slice_rows *out)
{
  const int32_t lanes = w->kernel->lanes, longest = most_of(all->count, lanes);
  int32_t *n = w->near_count, *shared = n + lanes;
  if (longest > w->room) {
    int32_t *more = realloc(w->near, (size_t)longest * (size_t)lanes * sizeof *more);
    MD_REQUIRE(more, MD_ENOMEM, "out of memory for a row of %d neighbours", longest);
    w->near = more;
    w->room = longest;
  }
  for (int32_t l = 0; l < lanes; l++) {
    n[l] = shared[l] = 0;
    for (int32_t k = 0; k < all->count[l]; k++) {
      const int32_t j = all->entry[k * lanes + l];
      if (list_distance_sq(&w->at, all->own[l], j) >= w->at.r_cut_sq) continue;
      w->near[n[l]++ * lanes + l] = j;
      shared[l] += all->shared && k < all->shared[l];
    }
  }
  const int32_t most = most_of(n, lanes);
  for (int32_t l = 0; l < lanes; l++)
    for (int32_t k = n[l]; k < most; k++)
      w->near[k * lanes + l] = all->own[l];
  *out = (slice_rows){LIST_NEAR, all->start, w->near, all->own, n, all->shared ? shared : NULL};
  return MD_OK;
}

/* How the first pass writes them: every entry goes where the next near one of its lane belongs, and
 * then the lanes' own atoms behind the last, a vector at a time. */
static md_status write_near(const walk *w, const slice_rows *all, const slice_rows *near, int64_t s)
{
  const int32_t lanes = w->kernel->lanes, longest = most_of(all->count, lanes);
  const int32_t most = most_of(near->count, lanes);
  int32_t least = most;
  MD_TRY(touch(w, LIST_COORD, TRACE_AC, TRACE_READ, lanes, all->own));
  for (int32_t l = 0; l < lanes; l++) {
    w->found[l] = 0;
    least = near->count[l] < least ? near->count[l] : least;
  }
  for (int32_t k = 0; k < longest; k++) {
    MD_TRY(touch_vector(w, LIST_NBR, TRACE_READ, all->start + (int64_t)k * lanes, lanes));
    MD_TRY(touch(w, LIST_COORD, TRACE_NC, TRACE_READ, lanes, all->entry + k * lanes));
    for (int32_t l = 0; l < lanes; l++) {
      const int32_t row = w->found[l], at = row * lanes + l;
      MD_TRY(touch_vector(w, LIST_NEAR, TRACE_WRITE, all->start + at, 1));
      w->found[l] += row < near->count[l] && near->entry[at] == all->entry[k * lanes + l];
    }
  }
  for (int32_t k = least; k < most; k++)
    MD_TRY(touch_vector(w, LIST_NEAR, TRACE_UPDATE, all->start + (int64_t)k * lanes, lanes));
  return touch_vector(w, LIST_NEAR_COUNT, TRACE_WRITE, 2 * s * lanes, 2 * lanes);
}

static md_status slice(walk *w, int64_t s)
{
  const list_kernel *kernel = w->kernel;
  const int32_t lanes = kernel->lanes;
  const int64_t left = w->view->n_rows - s * lanes;
  const slice_rows all = listed(w, s);
  slice_rows near;
  if (kernel->pass == list_first_pass(kernel)) MD_TRY(open_listed(w, s));
  if (kernel->reads != LIST_EMBEDDED) return sum_rows(w, &all, left);
  MD_TRY(find_near(w, &all, &near));
  if (kernel->pass == LIST_PASS_DENSITIES) MD_TRY(write_near(w, &all, &near, s));
  MD_TRY(touch_vector(w, LIST_START, TRACE_READ, s, 1));
  MD_TRY(touch_vector(w, LIST_ATOM, TRACE_READ, s * lanes, lanes));
  MD_TRY(touch_vector(w, LIST_NEAR_COUNT, TRACE_READ, 2 * s * lanes, 2 * lanes));
  return sum_rows(w, &near, left);
}

/* The sums that chunk c of a half list adds to begin as zero: all in one piece, if it is alone. */
static md_status clear(const walk *w, int32_t c)
{
  const neighbor_view *view = w->view;
  const int32_t n = (int32_t)w->kernel->n, all = n + (int32_t)w->kernel->n_ghost;
  if (view->n_chunks == 1) {
    for (int32_t i = 0; i < all; i++)
      MD_TRY(touch(w, summed(w), TRACE_FUO, TRACE_WRITE, 1, &i));
    return MD_OK;
  }
  for (int32_t r = (int32_t)view->chunk[c]; r < view->chunk[c + 1]; r++) {
    MD_TRY(touch(w, LIST_ATOM, TRACE_NI, TRACE_READ, 1, &r));
    MD_TRY(touch(w, summed(w), TRACE_FUO, TRACE_WRITE, 1, &view->atom[r]));
  }
  for (int32_t k = view->ghost_start[c]; k < view->ghost_start[c + 1]; k++) {
    const int32_t to = n + view->ghost[k];
    MD_TRY(touch(w, LIST_GHOST, TRACE_NI, TRACE_READ, 1, &k));
    MD_TRY(touch(w, summed(w), TRACE_FUO, TRACE_WRITE, 1, &to));
  }
  return MD_OK;
}

/* What the ghosts of chunk c got of them goes to their homes. */
static md_status bring_home(const walk *w, int32_t c)
{
  const neighbor_view *view = w->view;
  const int32_t n = (int32_t)w->kernel->n;
  for (int32_t k = view->ghost_start[c]; k < view->ghost_start[c + 1]; k++) {
    const int32_t ghost = view->ghost[k], from = n + ghost;
    MD_TRY(touch(w, LIST_GHOST, TRACE_NI, TRACE_READ, 1, &k));
    MD_TRY(touch(w, LIST_HOME, TRACE_NI, TRACE_READ, 1, &ghost));
    MD_TRY(touch(w, summed(w), TRACE_FUO, TRACE_READ, 1, &from));
    MD_TRY(touch(w, summed(w), TRACE_FUI, TRACE_UPDATE, 1, &w->home[ghost]));
  }
  return MD_OK;
}

/* F' of so many densities, and if these are all, of ghosts; coordinates are copied beside it. */
static md_status embed(const walk *w, int32_t count)
{
  const int32_t n = (int32_t)w->kernel->n, all = count < n ? n : n + (int32_t)w->kernel->n_ghost;
  for (int32_t i = 0; i < count; i++) {
    MD_TRY(touch(w, LIST_DENSITY, TRACE_FUO, TRACE_READ, 1, &i));
    MD_TRY(touch(w, LIST_SLOPE, TRACE_FUO, TRACE_WRITE, 1, &i));
  }
  for (int32_t i = n; i < all; i++) {
    const int32_t ghost = i - n;
    MD_TRY(touch(w, LIST_HOME, TRACE_NI, TRACE_READ, 1, &ghost));
    MD_TRY(touch(w, LIST_SLOPE, TRACE_NF, TRACE_READ, 1, &w->home[ghost]));
    MD_TRY(touch(w, LIST_SLOPE, TRACE_FUO, TRACE_WRITE, 1, &i));
  }
  for (int32_t i = 0; i < (count < n ? count : all); i++) {
    MD_TRY(touch(w, LIST_COORD, TRACE_NC, TRACE_READ, 1, &i));
    MD_TRY(touch(w, LIST_SLOPE, TRACE_NF, TRACE_READ, 1, &i));
    MD_TRY(touch(w, LIST_PACKED, TRACE_FUO, TRACE_WRITE, 1, &i));
  }
  return MD_OK;
}

static md_status slices(walk *w, int64_t begin, int64_t end)
{
  const int64_t lanes = w->kernel->lanes;
  for (int64_t r = begin; r < end; r += lanes)
    MD_TRY(slice(w, r / lanes));
  return MD_OK;
}

/* The chunks of a half list, as far as row n. */
static md_status chunks(walk *w, int64_t n)
{
  const neighbor_view *view = w->view;
  for (int32_t c = 0; c < view->n_chunks && view->chunk[c] < n; c++) {
    const int64_t end = view->chunk[c + 1];
    MD_TRY(clear(w, c));
    MD_TRY(slices(w, view->chunk[c], end < n ? end : n));
    if (end <= n) MD_TRY(bring_home(w, c));
  }
  return MD_OK;
}

static md_status all_slices(walk *w, int64_t n)
{
  MD_TRY(w->kernel->kind == NEIGHBOR_HALF ? chunks(w, n) : slices(w, 0, n));
  return w->kernel->pass == LIST_PASS_DENSITIES ? embed(w, (int32_t)n) : MD_OK;
}

md_status list_run_cpu(const list_input *in, const list_kernel *kernel, int64_t rows,
                       list_sink *sink, void *to)
{
  const neighbor_view *view = neighbor_list_view(in->list);
  const bool single = md_state_size(kernel->precision) == sizeof(float);
  walk w = {.kernel = kernel,
            .view = view,
            .home = in->atoms->home.data,
            .at = {in->atoms->x.data, single, in->r_cut * in->r_cut},
            .sink = sink,
            .to = to};
  int32_t *counts = calloc(3 * (size_t)kernel->lanes, sizeof *counts);
  MD_REQUIRE(counts, MD_ENOMEM, "out of memory for a slice of %d rows", kernel->lanes);
  w.near_count = counts;
  w.found = counts + 2 * kernel->lanes;
  const md_status status = all_slices(&w, rows < view->n_rows ? rows : view->n_rows);
  free(counts);
  free(w.near);
  return status;
}
