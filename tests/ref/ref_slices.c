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
    bool ghosts = false;
    for (int64_t l = 0; l < w && row + l <= last; l++)
      ghosts = ghosts || (half && k < v->shared[row + l] && v->nbr[at + l] >= c->atoms->n);
    for (int64_t l = 0; l < w && k < shared; l++) {
      const bool both = row + l <= last && k < v->shared[row + l];
      int64_t j = both ? v->nbr[at + l] : v->atom[row + l < last ? row + l : last];
      const int64_t ghost = j - c->atoms->n;
      if (ghosts) touch(c, LIST_HOME, TRACE_NI, TRACE_READ, ghost > 0 ? ghost : 0, 1);
      if (ghost >= 0) j = c->atoms->home[ghost];
      touch(c, LIST_FORCE, TRACE_FUI, TRACE_UPDATE, j, 1);
    }
  }
  for (int64_t r = row; r < row + w && r <= last; r++)
    touch(c, LIST_FORCE, TRACE_FUO, half ? TRACE_UPDATE : TRACE_WRITE, v->atom[r], 1);
}

ref_events ref_slices(const list_kernel *kernel, const run_list *list, const run_snapshot *atoms)
{
  cpu walk = {kernel, list, atoms, {0}}, *c = &walk;
  const neighbor_view *v = &c->list->view;
  const bool half = v->kind == NEIGHBOR_HALF;
  for (int32_t k = 0; k < (half ? v->n_chunks : 1); k++) {
    const int64_t begin = half ? v->chunk[k] : 0, end = half ? v->chunk[k + 1] : v->n_rows;
    for (int64_t r = begin; half && r < end; r++) {
      touch(c, LIST_ATOM, TRACE_NI, TRACE_READ, r, 1);
      touch(c, LIST_FORCE, TRACE_FUO, TRACE_WRITE, v->atom[r], 1);
    }
    for (int64_t s = begin / v->width; s * v->width < end; s++)
      cpu_slice(c, s);
  }
  return walk.out;
}
