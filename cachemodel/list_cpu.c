/* cachemodel/list_cpu.c - what the CPU's force kernels access, as one thread runs through all rows
 * (list_trace.h).  Structures are accessed whole, indices a vector at a time. */
#include "cachemodel/list_impl.h"

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

static md_status full_slice(const walk *w, int64_t slice)
{
  const neighbor_view *view = w->view;
  const int32_t lanes = w->kernel->lanes;
  const int64_t row = slice * lanes, left = view->n_rows - row;
  const int32_t rows = left < lanes ? (int32_t)left : lanes;
  const int32_t *atom = view->atom + row;
  const int64_t start = view->start[slice];
  const int64_t steps = (view->start[slice + 1] - start) / lanes;
  MD_TRY(touch_vector(w, LIST_START, slice, 1));
  MD_TRY(touch_vector(w, LIST_ATOM, row, rows));
  MD_TRY(touch_vector(w, LIST_COUNT, row, rows));
  MD_TRY(touch(w, LIST_COORD, TRACE_AC, TRACE_READ, rows, atom));
  for (int64_t k = 0; k < steps; k++) {
    MD_TRY(touch_vector(w, LIST_NBR, start + k * lanes, lanes));
    MD_TRY(touch(w, LIST_COORD, TRACE_NC, TRACE_READ, lanes, view->nbr + start + k * lanes));
  }
  return touch(w, LIST_FORCE, TRACE_FUO, TRACE_WRITE, rows, atom);
}

/* The neighbours among j[lanes] that react, a ghost's home in its place. */
static md_status react(const walk *w, const int32_t *j, int32_t lanes)
{
  const int32_t n = (int32_t)w->kernel->n;
  for (int32_t l = 0; l < lanes; l++) {
    const int32_t ghost = j[l] - n, to = ghost < 0 ? j[l] : w->home[ghost];
    if (ghost >= 0) MD_TRY(touch(w, LIST_HOME, TRACE_NI, TRACE_READ, 1, &ghost));
    MD_TRY(touch(w, LIST_FORCE, TRACE_FUI, TRACE_UPDATE, 1, &to));
  }
  return MD_OK;
}

static md_status half_row(const walk *w, int64_t r)
{
  const neighbor_view *view = w->view;
  const int32_t lanes = w->kernel->lanes;
  const int32_t atom = view->atom[r], count = view->count[r], shared = view->shared[r];
  const int64_t start = view->start[r];
  MD_TRY(touch_vector(w, LIST_ATOM, r, 1));
  MD_TRY(touch_vector(w, LIST_COUNT, r, 1));
  MD_TRY(touch_vector(w, LIST_SHARED, r, 1));
  MD_TRY(touch_vector(w, LIST_START, r, 1));
  MD_TRY(touch(w, LIST_COORD, TRACE_AC, TRACE_READ, 1, &atom));
  for (int32_t k = 0; k < count; k += lanes) {
    const int32_t *j = view->nbr + start + k, left = shared - k;
    MD_TRY(touch_vector(w, LIST_NBR, start + k, lanes));
    MD_TRY(touch(w, LIST_COORD, TRACE_NC, TRACE_READ, lanes, j));
    /* Where all entries are shared, so is the padding behind them. */
    MD_TRY(react(w, j, left >= lanes || (left > 0 && shared == count) ? lanes : left));
  }
  return touch(w, LIST_FORCE, TRACE_FUO, TRACE_UPDATE, 1, &atom);
}

md_status list_run_cpu(const list_input *in, const list_kernel *kernel, int64_t rows,
                       list_sink *sink, void *to)
{
  const neighbor_view *view = neighbor_list_view(in->list);
  const walk w = {kernel, view, in->atoms->home.data, sink, to};
  const int64_t n = rows < view->n_rows ? rows : view->n_rows;
  if (kernel->kind == NEIGHBOR_FULL) {
    for (int64_t s = 0; s * kernel->lanes < n; s++)
      MD_TRY(full_slice(&w, s));
    return MD_OK;
  }
  for (int32_t c = 0; c < view->n_chunks; c++) {
    const int64_t begin = view->chunk[c], end = view->chunk[c + 1] < n ? view->chunk[c + 1] : n;
    for (int64_t r = begin; r < end; r++) {
      MD_TRY(touch_vector(&w, LIST_ATOM, r, 1));
      MD_TRY(touch(&w, LIST_FORCE, TRACE_FUO, TRACE_WRITE, 1, &view->atom[r]));
    }
    for (int64_t r = begin; r < end; r++)
      MD_TRY(half_row(&w, r));
  }
  return MD_OK;
}
