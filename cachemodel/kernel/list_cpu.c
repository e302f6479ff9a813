/* cachemodel/kernel/list_cpu.c - what the CPU's force kernels access, as one thread runs through
 * all rows (list_trace.h).  Structures are accessed whole, indices a vector at a time. */
#include "cachemodel/kernel/list_impl.h"

typedef struct {
  const list_kernel *kernel;
  const neighbor_view *view;
  const int32_t *home; /* of ghosts */
  list_sink *sink;
  void *to;
} walk;

static md_status touch(const walk *w, list_array_name name, trace_stream stream, trace_op op,
                       int32_t lanes, const int32_t *index)
{
  const list_request r = list_request_of(w->kernel, name, stream, op, lanes, index);
  return lanes > 0 ? w->sink(w->to, &r) : MD_OK;
}

/* n elements from element `first` on, in one access. */
static md_status touch_vector(const walk *w, list_array_name name, int64_t first, int32_t n)
{
  static const int32_t zero = 0;
  list_request r = list_request_of(w->kernel, name, TRACE_NI, TRACE_READ, 1, &zero);
  r.base += (uint64_t)(first * r.stride);
  r.bytes = n * r.stride;
  return w->sink(w->to, &r);
}

/* The atoms that react to entries k of a slice: neighbours that share, a ghost's home in its place,
 * else the row's own. */
static md_status react(const walk *w, int64_t row, int32_t k, const int32_t *j)
{
  const neighbor_view *view = w->view;
  const int32_t n = (int32_t)w->kernel->n;
  for (int32_t l = 0; l < w->kernel->lanes; l++) {
    const int32_t to = k < view->shared[row + l] ? j[l] : view->atom[row + l], ghost = to - n;
    const int32_t *home = ghost < 0 ? &to : &w->home[ghost];
    if (ghost >= 0) MD_TRY(touch(w, LIST_HOME, TRACE_NI, TRACE_READ, 1, &ghost));
    MD_TRY(touch(w, LIST_FORCE, TRACE_FUI, TRACE_UPDATE, 1, home));
  }
  return MD_OK;
}

static md_status slice(const walk *w, int64_t s)
{
  const neighbor_view *view = w->view;
  const bool half = w->kernel->kind == NEIGHBOR_HALF;
  const int32_t lanes = w->kernel->lanes;
  const int64_t row = s * lanes, left = view->n_rows - row, start = view->start[s];
  int32_t longest = 0, shared = 0;
  MD_TRY(touch_vector(w, LIST_START, s, 1));
  MD_TRY(touch_vector(w, LIST_ATOM, row, lanes));
  MD_TRY(touch_vector(w, LIST_COUNT, row, lanes));
  if (half) MD_TRY(touch_vector(w, LIST_SHARED, row, lanes));
  for (int32_t l = 0; l < lanes; l++) {
    longest = view->count[row + l] > longest ? view->count[row + l] : longest;
    if (half) shared = view->shared[row + l] > shared ? view->shared[row + l] : shared;
  }
  MD_TRY(touch(w, LIST_COORD, TRACE_AC, TRACE_READ, lanes, view->atom + row));
  for (int32_t k = 0; k < longest; k++) {
    const int64_t at = start + (int64_t)k * lanes;
    MD_TRY(touch_vector(w, LIST_NBR, at, lanes));
    MD_TRY(touch(w, LIST_COORD, TRACE_NC, TRACE_READ, lanes, view->nbr + at));
    if (k < shared) MD_TRY(react(w, row, k, view->nbr + at));
  }
  return touch(w, LIST_FORCE, TRACE_FUO, half ? TRACE_UPDATE : TRACE_WRITE,
               left < lanes ? (int32_t)left : lanes, view->atom + row);
}

/* The forces that half lists add to begin as zero, chunk by chunk. */
static md_status clear(const walk *w, int64_t begin, int64_t end)
{
  for (int64_t r = begin; r < end; r++) {
    MD_TRY(touch_vector(w, LIST_ATOM, r, 1));
    MD_TRY(touch(w, LIST_FORCE, TRACE_FUO, TRACE_WRITE, 1, &w->view->atom[r]));
  }
  return MD_OK;
}

md_status list_run_cpu(const list_input *in, const list_kernel *kernel, int64_t rows,
                       list_sink *sink, void *to)
{
  const neighbor_view *view = neighbor_list_view(in->list);
  const walk w = {kernel, view, in->atoms->home.data, sink, to};
  const int64_t n = rows < view->n_rows ? rows : view->n_rows, lanes = kernel->lanes;
  int32_t chunk = 0;
  for (int64_t r = 0; r < n; r += lanes) {
    if (kernel->kind == NEIGHBOR_HALF && r == view->chunk[chunk]) {
      MD_TRY(clear(&w, r, view->chunk[chunk + 1]));
      chunk++;
    }
    MD_TRY(slice(&w, r / lanes));
  }
  return MD_OK;
}
