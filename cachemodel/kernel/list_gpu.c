/* cachemodel/kernel/list_gpu.c - what a warp of the GPU's force kernels requests, turn by turn
 * (list_trace.h). */
#include "cachemodel/kernel/list_impl.h"

enum {
  NOBODY = -1,  /* no atom */
  AT_REST = -1, /* no entry: the thread takes no part */
  TEAM = 4      /* threads that do each other's reductions of doubles */
};

/* A warp at work. */
typedef struct {
  const list_kernel *kernel;
  const list_slice *slice;
  list_sink *sink;
  void *to;
  int32_t part; /* of the batch (list_warp) */
} turn;

static md_status issue(const turn *t, list_request *r, int32_t offset, int32_t bytes)
{
  r->offset = offset;
  r->bytes = bytes;
  return r->lanes > 0 ? t->sink(t->to, r) : MD_OK;
}

static md_status load_words(const turn *t, list_array_name name, int32_t lanes,
                            const int32_t *index)
{
  list_request r = list_request_of(t->kernel, name, TRACE_NI, TRACE_READ, lanes, index);
  return issue(t, &r, 0, r.stride);
}

static md_status load_coordinates(const turn *t, trace_stream stream, int32_t lanes,
                                  const int32_t *index)
{
  const bool packed = t->kernel->array[LIST_PACKED].count > 0;
  list_request r = list_request_of(t->kernel, packed ? LIST_PACKED : LIST_COORD, stream, TRACE_READ,
                                   lanes, index);
  MD_TRY(issue(t, &r, 0, r.stride));
  if (!packed) return MD_OK;
  r = list_request_of(t->kernel, LIST_Z, stream, TRACE_READ, lanes, index);
  return issue(t, &r, 0, r.stride);
}

/* What the pass needs of atoms beside their coordinates: types, or F'. */
static md_status load_rest(const turn *t, int32_t lanes, const int32_t *index)
{
  const list_kernel *kernel = t->kernel;
  const bool typed = kernel->reads == LIST_TYPED;
  if (!typed && (kernel->reads != LIST_EMBEDDED || kernel->pass == LIST_PASS_DENSITIES))
    return MD_OK;
  list_request r = list_request_of(kernel, typed ? LIST_TYPE : LIST_SLOPE,
                                   typed ? TRACE_NT : TRACE_NF, TRACE_READ, lanes, index);
  return issue(t, &r, 0, r.stride);
}

/* What the rows have summed: forces, or densities, which become F'. */
static md_status store_sums(const turn *t, int32_t lanes, const int32_t *index)
{
  const bool densities = t->kernel->pass == LIST_PASS_DENSITIES;
  list_request r = list_request_of(t->kernel, densities ? LIST_SLOPE : LIST_FORCE, TRACE_FUO,
                                   TRACE_WRITE, lanes, index);
  if (densities) return issue(t, &r, 0, r.stride);
  MD_TRY(issue(t, &r, 0, 16));
  if (r.stride == 16) return MD_OK;
  r.again = true;
  return issue(t, &r, 16, 16);
}

/* Reductions on the forces of to[LIST_WARP], some of them NOBODY. */
static md_status reduce(const turn *t, trace_stream stream, const int32_t *to)
{
  const bool team = t->kernel->precision == MD_DOUBLE;
  for (int32_t k = 0; k < (team ? TEAM : 1); k++) {
    int32_t index[LIST_WARP], lanes = 0;
    for (int32_t l = k; l < LIST_WARP; l += team ? TEAM : 1)
      if (to[l] != NOBODY) index[lanes++] = to[l];
    list_request r = list_request_of(t->kernel, LIST_FORCE, stream, TRACE_UPDATE, lanes, index);
    r.threads = team ? 3 : 1;
    MD_TRY(issue(t, &r, 0, team ? 24 : 16));
  }
  return MD_OK;
}

/* The atoms of the warp's threads.  Threads beyond the last row stand by with atom 0. */
static void own_atoms(const list_slice *s, int32_t atom[LIST_WARP])
{
  for (int32_t l = 0; l < LIST_WARP; l++)
    atom[l] = l < s->rows ? (int32_t)s->first + l : 0;
}

static md_status open_rows(const turn *t)
{
  const list_slice *s = t->slice;
  int32_t row[LIST_WARP], start[LIST_WARP];
  own_atoms(s, row);
  for (int32_t l = 0; l < s->rows; l++)
    start[l] = (int32_t)(s->first / LIST_WARP);
  MD_TRY(load_words(t, LIST_COUNT, s->rows, row));
  MD_TRY(load_words(t, LIST_START, s->rows, start));
  MD_TRY(load_coordinates(t, TRACE_AC, s->rows, row));
  return load_rest(t, s->rows, row);
}

/* Indices at[l] + u of rows that have such an entry. */
static md_status load_indices(const turn *t, const int32_t *at, int32_t u)
{
  const list_slice *s = t->slice;
  int32_t index[LIST_WARP], lanes = 0;
  for (int32_t l = 0; l < LIST_WARP; l++)
    if (at[l] != AT_REST && at[l] + u < s->count[l]) index[lanes++] = (at[l] + u) * LIST_WARP + l;
  list_request r = list_request_of(t->kernel, LIST_NBR, TRACE_NI, TRACE_READ, lanes, index);
  r.base += (uint64_t)s->start * sizeof(int32_t);
  r.no_keep = true;
  return issue(t, &r, 0, r.stride);
}

/* The positions behind them, the own where a row has no such entry. */
static md_status load_positions(const turn *t, const int32_t *at, int32_t u)
{
  const list_slice *s = t->slice;
  int32_t own[LIST_WARP], index[LIST_WARP], lanes = 0;
  own_atoms(s, own);
  for (int32_t l = 0; l < LIST_WARP; l++) {
    if (at[l] == AT_REST) continue;
    const int32_t k = at[l] + u;
    index[lanes++] = k < s->count[l] ? s->nbr[k * LIST_WARP + l] : own[l];
  }
  MD_TRY(load_coordinates(t, TRACE_NC, lanes, index));
  return load_rest(t, lanes, index);
}

/* The constants of the pairs of entries at[l] + u, those of its own type where a row has no such
 * entry. */
static md_status load_constants(const turn *t, const int32_t *at, int32_t u)
{
  const list_slice *s = t->slice;
  int32_t index[LIST_WARP], lanes = 0;
  if (t->kernel->reads != LIST_TYPED) return MD_OK;
  for (int32_t l = 0; l < LIST_WARP; l++) {
    if (at[l] == AT_REST) continue;
    const int32_t k = at[l] + u, first = l < s->rows ? s->own_type[l] * t->kernel->types : 0;
    index[lanes++] = first + (k < s->count[l] ? s->type[k * LIST_WARP + l] : s->own_type[l]);
  }
  list_request r = list_request_of(t->kernel, LIST_PAIR, TRACE_OTHER, TRACE_READ, lanes, index);
  MD_TRY(issue(t, &r, 0, 16));
  if (r.stride == 16) return MD_OK;
  r.again = true;
  return issue(t, &r, 16, 16);
}

/* This part of entries at[l], at[l] + 1, ... of the rows whose threads take part. */
static md_status load_part(const turn *t, const int32_t *at, int32_t size)
{
  if (t->part > 0) return load_positions(t, at, t->part - 1);
  for (int32_t u = 0; u < size; u++)
    MD_TRY(load_indices(t, at, u));
  return MD_OK;
}

/* Forces on the neighbours that entry k of each row acts on. */
static md_status push_back(const turn *t, int32_t k)
{
  const list_slice *s = t->slice;
  const int32_t n = (int32_t)t->kernel->n;
  int32_t to[LIST_WARP], ghost[LIST_WARP], ghosts = 0;
  for (int32_t l = 0; l < LIST_WARP; l++) {
    const bool acts = l < s->rows && k < s->count[l] && (s->acts[k] >> l & 1);
    to[l] = acts ? s->home[k * LIST_WARP + l] : NOBODY;
    if (acts && s->nbr[k * LIST_WARP + l] >= n) ghost[ghosts++] = s->nbr[k * LIST_WARP + l] - n;
  }
  MD_TRY(load_words(t, LIST_HOME, ghosts, ghost));
  return reduce(t, TRACE_FUI, to);
}

static md_status half_turn(const turn *t, int32_t k, int32_t batch, bool *last, bool *done)
{
  int32_t at[LIST_WARP];
  *done = k >= t->slice->longest;
  *last = t->part == batch;
  if (*done) {
    own_atoms(t->slice, at);
    for (int32_t l = t->slice->rows; l < LIST_WARP; l++)
      at[l] = NOBODY;
    return reduce(t, TRACE_FUO, at);
  }
  for (int32_t l = 0; l < LIST_WARP; l++)
    at[l] = k;
  MD_TRY(load_part(t, at, batch));
  for (int32_t u = 0; *last && u < batch; u++) {
    MD_TRY(load_constants(t, at, u));
    MD_TRY(push_back(t, k + u));
  }
  return MD_OK;
}

static md_status full_turn(const turn *t, int32_t k, int32_t batch, bool *last, bool *done)
{
  const list_slice *s = t->slice;
  const bool ends = k + batch > s->longest;
  const int32_t size = ends ? batch - 1 : batch;
  int32_t at[LIST_WARP];
  *last = t->part == size;
  *done = ends && *last;
  for (int32_t l = 0; l < LIST_WARP; l++) {
    const bool whole = k + batch <= s->count[l], rest = ends && l < s->rows;
    at[l] = whole ? k : rest ? s->count[l] / batch * batch : AT_REST;
  }
  MD_TRY(load_part(t, at, size));
  for (int32_t u = 0; *last && u < size; u++)
    MD_TRY(load_constants(t, at, u));
  if (!*done) return MD_OK;
  own_atoms(s, at);
  return store_sums(t, s->rows, at);
}

/* Embedded atoms: rows end in a whole batch. */
static md_status embedded_turn(const turn *t, int32_t k, int32_t batch, bool *last, bool *done)
{
  const list_slice *s = t->slice;
  int32_t at[LIST_WARP];
  *last = t->part == batch || s->longest == 0;
  *done = *last && k + batch >= s->longest;
  for (int32_t l = 0; l < LIST_WARP; l++)
    at[l] = k < s->count[l] ? k : AT_REST;
  MD_TRY(load_part(t, at, batch));
  if (!*done) return MD_OK;
  own_atoms(s, at);
  return store_sums(t, s->rows, at);
}

md_status list_warp_turn(const list_kernel *kernel, list_warp *warp, list_sink *sink, void *to,
                         bool *done)
{
  const turn t = {kernel, &warp->slice, sink, to, warp->part};
  bool last = false; /* part of the batch */
  *done = false;
  if (warp->next < 0) {
    warp->next = warp->part = 0;
    return open_rows(&t);
  }
  const bool full = kernel->kind == NEIGHBOR_FULL, embedded = kernel->reads == LIST_EMBEDDED;
  MD_TRY((embedded ? embedded_turn
          : full   ? full_turn
                   : half_turn)(&t, warp->next, kernel->batch, &last, done));
  warp->part = last ? 0 : warp->part + 1;
  if (last) warp->next += kernel->batch;
  return MD_OK;
}
