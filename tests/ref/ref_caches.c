/* tests/ref/ref_caches.c - see ref_caches.h. */
#include "tests/ref/ref_caches.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_store.h"
#include "tests/test.h"

static int bits(uint32_t x)
{
  int n = 0;
  for (; x; x &= x - 1)
    n++;
  return n;
}

/* --- GPU */

typedef struct {
  int64_t first, last; /* events of the warp */
  int64_t next, turn;
  int64_t open; /* places of the first turn */
  /* Of a batch: its entries, the places of an entry's position, all places; and batches. */
  int64_t batch, parts, every, batches;
  bool full;
} ref_warp;

typedef struct {
  const ref_events *all;
  const machine *m;
  bool full;
  store *l1, l2[2];
  hierarchy_result *result;
} gpu;

/* Distinct sectors of a request, by line in the order in which threads name them. */
static int sectors_of(const gpu *g, int64_t from, int64_t end, uint64_t *line, uint32_t *sectors)
{
  /* Events of a request are sorted by address; what counts is the order of threads. */
  int n = 0;
  for (int thread = 0; thread < 32; thread++)
    for (int64_t e = from; e < end; e++) {
      const ref_event *v = &g->all->event[e];
      if (v->thread != thread) continue;
      for (int32_t b = 0; b < v->bytes; b++) {
        const uint64_t at = v->address + (uint64_t)b;
        const uint64_t l = at / (uint64_t)g->m->level[0].line;
        int k = 0;
        while (k < n && line[k] != l)
          k++;
        if (k == n) {
          line[n] = l;
          sectors[n++] = 0;
        }
        sectors[k] |= 1u << at % (uint64_t)g->m->level[0].line / (uint64_t)g->m->level[0].sector;
      }
    }
  return n;
}

/* Reductions to one address follow each other, and with them their sectors: for each sector of a
 * request, the most events with one address in it, less one. */
static int repeats_of(const gpu *g, int64_t from, int64_t end)
{
  const uint64_t size = (uint64_t)g->m->level[0].sector;
  int64_t repeats = 0, most = 1;
  for (int64_t e = from; e < end;) {
    const uint64_t address = g->all->event[e].address;
    int64_t next = e;
    while (next < end && g->all->event[next].address == address)
      next++;
    most = next - e > most ? next - e : most;
    if (next == end || g->all->event[next].address / size != address / size) {
      repeats += most - 1;
      most = 1;
    }
    e = next;
  }
  return (int)repeats;
}

/* These sectors, and those that memory gives along with them. */
static uint32_t given_with(const gpu *g, uint32_t sectors)
{
  const machine_level *l = &g->m->level[1];
  uint32_t given = 0;
  for (int a = 0; a < l->line; a += l->sector)
    for (int b = 0; b < l->line; b += l->sector)
      if (a / l->fetch == b / l->fetch && (sectors >> a / l->sector & 1))
        given |= 1u << b / l->sector;
  return given;
}

/* A line of a part of the L2, there or brought in. */
static held *part_line(gpu *g, int part, uint64_t line, const ref_event *v)
{
  held gone = {0}, *h = store_find(&g->l2[part], line);
  if (!h) h = store_bring(&g->l2[part], line, v->no_keep, &gone);
  if (gone.dirty) g->result->stream[gone.owner].memory_written += bits(gone.dirty);
  h->time = ++g->l2[part].now;
  h->passes = v->no_keep;
  return h;
}

static void at_l2(gpu *g, int sm, uint64_t line, uint32_t sectors, const ref_event *v)
{
  hierarchy_counts *c = &g->result->stream[v->stream];
  const bool two = g->m->level[1].parts == 2, reads = v->op == TRACE_READ;
  const int home = two && (uint32_t)line * 0x9e3779b1u >= 1u << 31, own = two && sm % 4 > 1;
  held *h = part_line(g, reads ? own : home, line, v);
  c->level[1].sectors += bits(sectors);
  c->level[1].hits += bits(sectors & h->valid);
  uint32_t given = v->op == TRACE_WRITE ? 0 : given_with(g, sectors & ~h->valid);
  if (reads && own != home && given) {
    h->valid |= sectors | given;
    sectors = given;
    h = part_line(g, home, line, v);
    given = given_with(g, given & ~h->valid);
  }
  c->memory_read += bits(given & ~h->valid);
  h->valid |= sectors | given;
  if (reads) return;
  h->dirty |= sectors;
  h->owner = v->stream;
}

static void request(gpu *g, int sm, int64_t from, int64_t end)
{
  const ref_event *v = &g->all->event[from];
  hierarchy_counts *c = &g->result->stream[v->stream];
  uint64_t line[256];
  uint32_t sectors[256];
  const int n = sectors_of(g, from, end, line, sectors);
  c->requests++;
  c->lanes += end - from;
  c->lines += n;
  for (int k = 0; k < n; k++) {
    c->sectors += bits(sectors[k]);
    uint32_t missed = sectors[k];
    if (v->op == TRACE_READ) {
      held gone, *h = store_find(&g->l1[sm], line[k]);
      c->level[0].sectors += bits(sectors[k]);
      if (h) missed &= ~h->valid;
      c->level[0].hits += bits(sectors[k]) - bits(missed);
      if (!h) h = store_bring(&g->l1[sm], line[k], false, &gone);
      store_use(&g->l1[sm], h);
      h->valid |= sectors[k];
      if (v->no_keep) h->line = UINT64_MAX;
    }
    if (missed) at_l2(g, sm, line[k], missed, v);
  }
  if (v->op == TRACE_UPDATE) {
    const int repeats = repeats_of(g, from, end);
    c->sectors += repeats;
    c->level[1].sectors += repeats;
    c->level[1].hits += repeats;
  }
}

/* The turn in which a warp passes a place: the first; the indices of a batch; the positions of each
 * of its entries, with the last of which goes what comes behind it.  A full list's last batch is
 * one entry shorter, a half list has none. */
static int64_t turn_of(const ref_warp *w, int64_t label)
{
  if (label < w->open) return 0;
  const int64_t b = (label - w->open) / w->every, at = (label - w->open) % w->every;
  const int64_t first = 1 + b * (1 + w->batch);
  const int64_t entries = b < w->batches ? w->batch : w->full ? w->batch - 1 : 0;
  if (at < entries) return first;
  const int64_t u = 1 + (at - entries) / w->parts;
  return first + (u < entries ? u : entries);
}

/* One turn of a warp; false when it was the last. */
static bool turn(gpu *g, int sm, ref_warp *w)
{
  while (w->next < w->last && turn_of(w, g->all->event[w->next].label) == w->turn) {
    const int64_t end = ref_request_end(g->all, w->next);
    request(g, sm, w->next, end);
    w->next = end;
  }
  w->turn++;
  return w->next < w->last;
}

static int64_t warps_find(const ref_events *all, const list_kernel *kernel, ref_warp **out)
{
  const int64_t n = (kernel->n + 31) / 32;
  const bool typed = kernel->reads == LIST_TYPED;
  const int64_t loads = kernel->precision == MD_DOUBLE ? 2 : 1, batch = kernel->batch;
  const int64_t parts = loads + typed, constants = typed ? loads : 0;
  const int64_t adds = kernel->precision == MD_DOUBLE ? 4 : 1;
  const bool full = kernel->kind == NEIGHBOR_FULL;
  *out = ref_alloc(n, sizeof **out);
  int64_t e = 0;
  for (int64_t w = 0; w < n; w++) {
    ref_warp *v = &(*out)[w];
    *v = (ref_warp){
        .first = e, .next = e, .open = 2 + parts, .batch = batch, .parts = parts, .full = full};
    v->every = batch * (1 + parts + constants) + (full ? 0 : batch * (1 + adds));
    while (e < all->n && all->event[e].warp == w)
      e++;
    v->last = e;
    v->batches = (all->event[e - 1].label - v->open) / v->every;
  }
  return n;
}

static void run_grid(gpu *g, ref_warp *warps, int64_t n_warps, const hierarchy_options *o,
                     int32_t resident, int first_sm)
{
  const int sms = g->m->multiprocessors, per_block = o->block_size / 32;
  const int64_t n_blocks = (n_warps + per_block - 1) / per_block;
  int64_t *at = ref_alloc((int64_t)sms * resident, sizeof *at); /* warp of a place, or -1 */
  int *next = ref_alloc(sms, sizeof *next);
  int64_t block = 0, live = 0;
#define PUT(sm, slot)                                                                              \
  for (int w_ = 0; w_ < per_block; w_++) {                                                         \
    const int64_t number_ = block * per_block + w_;                                                \
    const bool there_ = number_ < n_warps;                                                         \
    at[(sm)*resident + (slot)*per_block + w_] = there_ ? number_ : -1;                             \
    live += there_;                                                                                \
    if (there_) warps[number_].next = warps[number_].first, warps[number_].turn = 0;               \
  }
  for (int k = 0; k < sms * resident; k++)
    at[k] = -1;
  memset(next, 0, (size_t)sms * sizeof *next);
  while (block < n_blocks || live > 0) {
    if (live == 0 || (block == 0 && live == 0))
      for (int slot = 0; slot < resident / per_block; slot++)
        for (int k = 0; k < sms && block < n_blocks; k++, block++)
          PUT((first_sm + k) % sms, slot)
    for (int sm = 0; sm < sms; sm++) {
      int64_t *mine = at + (int64_t)sm * resident, pick = -1;
      for (int k = 0; k < resident; k++) {
        const int w = o->schedule == HIERARCHY_OLDEST ? k : (next[sm] + k) % resident;
        if (mine[w] < 0) continue;
        if (pick < 0 || (o->schedule == HIERARCHY_OLDEST && mine[w] < mine[pick])) pick = w;
      }
      if (pick < 0) continue;
      next[sm] = (int)(pick + 1) % resident;
      if (turn(g, sm, &warps[mine[pick]])) continue;
      mine[pick] = -1;
      live--;
      const int slot = (int)pick / per_block;
      bool empty = true;
      for (int w = 0; w < per_block; w++)
        empty = empty && mine[slot * per_block + w] < 0;
      if (empty && o->refill == HIERARCHY_DYNAMIC && block < n_blocks) {
        PUT(sm, slot)
        block++;
      }
    }
  }
#undef PUT
  free(at);
  free(next);
}

void ref_gpu(const ref_events *all, const list_kernel *kernel, const machine *m,
             const hierarchy_options *opts, int32_t resident_warps, int passes,
             hierarchy_result *results)
{
  ref_warp *warps;
  const int64_t n_warps = warps_find(all, kernel, &warps);
  gpu g = {.all = all, .m = m, .full = kernel->kind == NEIGHBOR_FULL};
  g.l2[0] = store_make(&m->level[1]);
  g.l2[1] = store_make(&m->level[1]);
  g.l1 = ref_alloc(m->multiprocessors, sizeof *g.l1);
  for (int pass = 0; pass < passes; pass++) {
    g.result = &results[pass];
    *g.result = (hierarchy_result){0};
    for (int sm = 0; sm < m->multiprocessors; sm++)
      g.l1[sm] = store_make(&m->level[0]);
    run_grid(&g, warps, n_warps, opts, resident_warps, pass);
    for (int sm = 0; sm < m->multiprocessors; sm++)
      free(g.l1[sm].line);
  }
  free(g.l2[0].line);
  free(g.l2[1].line);
  free(g.l1);
  free(warps);
}

/* --- CPU */

typedef struct {
  const machine *m;
  store level[MACHINE_LEVELS_MOST];
  hierarchy_result *result;
} cpu;

static void write_back(cpu *c, int k, held gone)
{
  if (!gone.dirty) return;
  if (k == c->m->n_levels) {
    c->result->stream[gone.owner].memory_written++;
    return;
  }
  held next = {0}, *h = store_find(&c->level[k], gone.line);
  if (!h) h = store_bring(&c->level[k], gone.line, false, &next);
  h->dirty = 1;
  h->owner = gone.owner;
  h->time = ++c->level[k].now;
  write_back(c, k + 1, next);
}

static void access_line(cpu *c, uint64_t line, const ref_event *e)
{
  hierarchy_counts *counts = &c->result->stream[e->stream];
  bool found = false;
  for (int k = 0; k < c->m->n_levels && !found; k++) {
    held gone = {0}, *h = store_find(&c->level[k], line);
    found = h != NULL;
    if (!h) h = store_bring(&c->level[k], line, false, &gone);
    h->time = ++c->level[k].now;
    if (k == 0 && e->op != TRACE_READ) {
      h->dirty = 1;
      h->owner = e->stream;
    }
    counts->level[k].sectors++;
    counts->level[k].hits += found;
    write_back(c, k + 1, gone);
  }
  counts->memory_read += !found;
}

void ref_cpu(const ref_events *all, const machine *m, int passes, hierarchy_result *results)
{
  cpu c = {.m = m};
  for (int k = 0; k < m->n_levels; k++)
    c.level[k] = store_make(&m->level[k]);
  for (int pass = 0; pass < passes; pass++) {
    c.result = &results[pass];
    *c.result = (hierarchy_result){0};
    for (int64_t k = 0; k < all->n; k++) {
      const ref_event *e = &all->event[k];
      const uint64_t size = (uint64_t)m->level[0].line, first = e->address / size;
      const uint64_t last = (e->address + (uint64_t)e->bytes - 1) / size;
      hierarchy_counts *counts = &c.result->stream[e->stream];
      counts->requests++;
      counts->lanes++;
      counts->lines += (int64_t)(last - first + 1);
      counts->sectors += (int64_t)(last - first + 1);
      for (uint64_t line = first; line <= last; line++)
        access_line(&c, line, e);
    }
  }
  for (int k = 0; k < m->n_levels; k++)
    free(c.level[k].line);
}
