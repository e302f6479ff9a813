/* tests/ref/ref_slices.c - see ref_slices.h. */
#include "tests/ref/ref_slices.h"

typedef struct {
  const list_kernel *kernel;
  const run_list *list;
  const run_snapshot *atoms;
  ref_events out;
} cpu;

static void touch(cpu *c, list_array_name name, trace_stream stream, trace_op op, int64_t index,
                  int64_t n)
{
  const list_array *a = &c->kernel->array[name];
  ref_event_note(&c->out, (ref_event){.label = c->out.n,
                                      .stream = stream,
                                      .op = op,
                                      .address = a->base + (uint64_t)(index * a->stride),
                                      .bytes = (int32_t)(n * a->stride)});
}

/* A byte for each of w atoms, if they have types. */
static void touch_types(cpu *c, const int32_t *atom, int64_t w)
{
  for (int64_t l = 0; l < w && c->kernel->reads == LIST_TYPED; l++)
    touch(c, LIST_TYPE, TRACE_NT, TRACE_READ, atom[l], 1);
}

static void cpu_slice(cpu *c, int64_t s)
{
  const neighbor_view *v = &c->list->view;
  const bool half = v->kind == NEIGHBOR_HALF;
  const int64_t w = v->width, row = s * w;
  const list_array_name words[] = {LIST_ATOM, LIST_COUNT, LIST_SHARED};
  int32_t longest = 0, shared = 0;
  touch(c, LIST_START, TRACE_NI, TRACE_READ, s, 1);
  for (int k = 0; k < (half ? 3 : 2); k++)
    touch(c, words[k], TRACE_NI, TRACE_READ, row, w);
  for (int64_t r = row; r < row + w && r < v->n_rows; r++) {
    longest = v->count[r] > longest ? v->count[r] : longest;
    if (half && v->shared[r] > shared) shared = v->shared[r];
  }
  const int64_t last = v->n_rows - 1; /* lanes without a row repeat its atom */
  for (int64_t r = row; r < row + w; r++)
    touch_types(c, v->atom + (r < last ? r : last), 1);
  for (int64_t r = row; r < row + w; r++)
    touch(c, LIST_COORD, TRACE_AC, TRACE_READ, v->atom[r < last ? r : last], 1);
  for (int64_t k = 0; k < longest; k++) {
    const int64_t at = v->start[s] + k * w;
    touch(c, LIST_NBR, TRACE_NI, TRACE_READ, at, w);
    for (int64_t l = 0; l < w; l++)
      touch(c, LIST_COORD, TRACE_NC, TRACE_READ, v->nbr[at + l], 1);
    touch_types(c, v->nbr + at, w);
    for (int64_t l = 0; l < w && k < shared; l++) {
      const bool both = row + l <= last && k < v->shared[row + l];
      const int64_t j = both ? v->nbr[at + l] : v->atom[row + l < last ? row + l : last];
      touch(c, LIST_FORCE, TRACE_FUI, TRACE_UPDATE, j, 1);
    }
  }
  for (int64_t r = row; r < row + w && r <= last; r++)
    touch(c, LIST_FORCE, TRACE_FUO, half ? TRACE_UPDATE : TRACE_WRITE, v->atom[r], 1);
}

/* Before the rows of a half list's chunk. */
static void cpu_open(cpu *c, int32_t chunk)
{
  const neighbor_view *v = &c->list->view;
  const int64_t n = c->atoms->n, ghosts = c->atoms->n_ghost;
  if (v->n_chunks == 1) {
    for (int64_t j = 0; j < n + ghosts; j++)
      touch(c, LIST_FORCE, TRACE_FUO, TRACE_WRITE, j, 1);
    return;
  }
  for (int64_t r = v->chunk[chunk]; r < v->chunk[chunk + 1]; r++) {
    touch(c, LIST_ATOM, TRACE_NI, TRACE_READ, r, 1);
    touch(c, LIST_FORCE, TRACE_FUO, TRACE_WRITE, v->atom[r], 1);
  }
  for (int64_t k = v->ghost_start[chunk]; k < v->ghost_start[chunk + 1]; k++) {
    touch(c, LIST_GHOST, TRACE_NI, TRACE_READ, k, 1);
    touch(c, LIST_FORCE, TRACE_FUO, TRACE_WRITE, n + v->ghost[k], 1);
  }
}

/* And behind them. */
static void cpu_close(cpu *c, int32_t chunk)
{
  const neighbor_view *v = &c->list->view;
  for (int64_t k = v->ghost_start[chunk]; k < v->ghost_start[chunk + 1]; k++) {
    const int32_t g = v->ghost[k];
    touch(c, LIST_GHOST, TRACE_NI, TRACE_READ, k, 1);
    touch(c, LIST_HOME, TRACE_NI, TRACE_READ, g, 1);
    touch(c, LIST_FORCE, TRACE_FUO, TRACE_READ, c->atoms->n + g, 1);
    touch(c, LIST_FORCE, TRACE_FUI, TRACE_UPDATE, c->atoms->home[g], 1);
  }
}

ref_events ref_slices(const list_kernel *kernel, const run_list *list, const run_snapshot *atoms)
{
  cpu walk = {kernel, list, atoms, {0}}, *c = &walk;
  const neighbor_view *v = &c->list->view;
  const bool half = v->kind == NEIGHBOR_HALF;
  for (int32_t chunk = 0; chunk < (half ? v->n_chunks : 1); chunk++) {
    const int64_t first = half ? v->chunk[chunk] : 0, end = half ? v->chunk[chunk + 1] : v->n_rows;
    if (half) cpu_open(c, chunk);
    for (int64_t s = first / v->width; s * v->width < end; s++)
      cpu_slice(c, s);
    if (half) cpu_close(c, chunk);
  }
  return walk.out;
}
