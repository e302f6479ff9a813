/* cachemodel/list_gpu.c - what a warp of the GPU's force kernels requests, turn by turn
 * (list_trace.h). */
#include "cachemodel/list_impl.h"

/* A warp at work. */
typedef struct {
  const list_kernel *kernel;
  const list_slice *slice;
  list_sink *sink;
  void *to;
} turn;

static md_status issue(const turn *t, list_array_name name, trace_stream stream, trace_op op,
                       int32_t lanes, const int32_t *index)
{
  const list_request r = list_request_of(t->kernel, name, stream, op, lanes, index);
  return lanes > 0 ? t->sink(t->to, &r) : MD_OK;
}

static md_status issue_parts(const turn *t, list_array_name name, trace_stream stream, trace_op op,
                             const list_parts *parts, int32_t lanes, const int32_t *index)
{
  list_request r = list_request_of(t->kernel, name, stream, op, lanes, index);
  return lanes > 0 ? list_issue(&r, parts, t->sink, t->to) : MD_OK;
}

static md_status open_rows(const turn *t)
{
  const list_slice *s = t->slice;
  const list_parts parts = list_load_parts(t->kernel->precision);
  int32_t row[LIST_WARP], start[LIST_WARP];
  for (int32_t l = 0; l < s->rows; l++) {
    row[l] = (int32_t)s->first + l;
    start[l] = (int32_t)(s->first / LIST_WARP);
  }
  MD_TRY(issue(t, LIST_COUNT, TRACE_NI, TRACE_READ, s->rows, row));
  MD_TRY(issue(t, LIST_START, TRACE_NI, TRACE_READ, s->rows, start));
  return issue_parts(t, LIST_COORD, TRACE_AC, TRACE_READ, &parts, s->rows, row);
}

/* Where each lane is in its row: at[l] is the entry it reads first, -1 for a lane at rest. */
typedef struct {
  int32_t at[LIST_WARP];
} places;

/* Indices of entry u of a batch, for lanes that have it. */
static md_status load_indices(const turn *t, const places *p, int32_t u)
{
  const list_slice *s = t->slice;
  int32_t index[LIST_WARP], lanes = 0;
  for (int32_t l = 0; l < s->rows; l++)
    if (p->at[l] >= 0 && p->at[l] + u < s->count[l])
      index[lanes++] = (p->at[l] + u) * LIST_WARP + l;
  list_request r = list_request_of(t->kernel, LIST_NBR, TRACE_NI, TRACE_READ, lanes, index);
  r.base += (uint64_t)s->start * sizeof(int32_t);
  return lanes > 0 ? t->sink(t->to, &r) : MD_OK;
}

/* Positions behind entry u, the row's own where it has no such entry. */
static md_status load_positions(const turn *t, const places *p, const list_parts *parts, int32_t u)
{
  const list_slice *s = t->slice;
  int32_t index[LIST_WARP], lanes = 0;
  for (int32_t l = 0; l < s->rows; l++)
    if (p->at[l] >= 0) {
      const int32_t k = p->at[l] + u;
      index[lanes++] = k < s->count[l] ? s->nbr[k * LIST_WARP + l] : (int32_t)s->first + l;
    }
  return issue_parts(t, LIST_COORD, TRACE_NC, TRACE_READ, parts, lanes, index);
}

/* Forces on the neighbours that entry u acts on. */
static md_status push_back(const turn *t, const places *p, int32_t u)
{
  const list_slice *s = t->slice;
  const list_parts parts = list_add_parts(t->kernel->precision);
  const int32_t n = (int32_t)t->kernel->n;
  int32_t to[LIST_WARP], ghost[LIST_WARP], lanes = 0, ghosts = 0;
  for (int32_t l = 0; l < s->rows; l++) {
    const int32_t k = p->at[l] + u;
    if (p->at[l] < 0 || k >= s->count[l] || !(s->acts[k] >> l & 1)) continue;
    const int32_t j = s->nbr[k * LIST_WARP + l];
    if (j >= n) ghost[ghosts++] = j - n;
    to[lanes++] = j >= n ? s->home[k * LIST_WARP + l] : j;
  }
  MD_TRY(issue(t, LIST_HOME, TRACE_NI, TRACE_READ, ghosts, ghost));
  return issue_parts(t, LIST_FORCE, TRACE_FUI, TRACE_UPDATE, &parts, lanes, to);
}

static md_status batch(const turn *t, const places *p, int32_t size)
{
  const list_parts parts = list_load_parts(t->kernel->precision);
  for (int32_t u = 0; u < size; u++)
    MD_TRY(load_indices(t, p, u));
  for (int32_t u = 0; u < size; u++)
    MD_TRY(load_positions(t, p, &parts, u));
  if (t->kernel->kind == NEIGHBOR_HALF)
    for (int32_t u = 0; u < size; u++)
      MD_TRY(push_back(t, p, u));
  return MD_OK;
}

static md_status close_rows(const turn *t)
{
  const list_slice *s = t->slice;
  const bool full = t->kernel->kind == NEIGHBOR_FULL;
  const list_parts parts =
      full ? list_store_parts(t->kernel->precision) : list_add_parts(t->kernel->precision);
  int32_t row[LIST_WARP];
  for (int32_t l = 0; l < s->rows; l++)
    row[l] = (int32_t)s->first + l;
  return issue_parts(t, LIST_FORCE, TRACE_FUO, full ? TRACE_WRITE : TRACE_UPDATE, &parts, s->rows,
                     row);
}

md_status list_warp_turn(const list_kernel *kernel, list_warp *warp, list_sink *sink, void *to,
                         bool *done)
{
  const list_slice *s = &warp->slice;
  const turn t = {kernel, s, sink, to};
  const bool full = kernel->kind == NEIGHBOR_FULL;
  *done = false;
  if (warp->next < 0) {
    warp->next = 0;
    return open_rows(&t);
  }
  /* Full lists: whole batches, then what is left of every row in one. */
  places p;
  int32_t active = 0;
  for (int32_t l = 0; l < s->rows; l++) {
    const bool more = warp->next + (full ? LIST_BATCH : 1) <= s->count[l];
    p.at[l] = more ? warp->next : -1;
    active += more;
  }
  if (active > 0) {
    MD_TRY(batch(&t, &p, LIST_BATCH));
    warp->next += LIST_BATCH;
    return MD_OK;
  }
  *done = true;
  if (full) {
    for (int32_t l = 0; l < s->rows; l++)
      p.at[l] = s->count[l] / LIST_BATCH * LIST_BATCH;
    MD_TRY(batch(&t, &p, LIST_BATCH - 1));
  }
  return close_rows(&t);
}
