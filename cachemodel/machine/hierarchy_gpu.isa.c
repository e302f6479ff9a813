/* cachemodel/machine/hierarchy_gpu.isa.c - warps, multiprocessors, L1 and L2 (hierarchy.h).
 * Compiled once per instruction set. */
#include "cachemodel/machine/hierarchy_cache.h"

enum { LINES_MOST = 2 * LIST_WARP, TABLE = 4 * LINES_MOST, L1 = 0, L2 = 1, PARTS = 2 };

/* Where a line of the request at hand stands in model.line. */
typedef struct {
  uint32_t line, stamp;
  int32_t at;
} place;

typedef struct {
  int32_t live; /* warps that are not done */
} block;

typedef struct {
  block *blocks;    /* [slots] */
  list_warp *warps; /* [slots][warps of a block] */
  int64_t *since;   /* the same: number of the warp in the grid, -1: idle */
  int32_t live;
  uint32_t next;   /* warp to look at */
  uint32_t last;   /* that had a turn */
  uint64_t random; /* state */
} multiprocessor;

typedef struct {
  const hierarchy_job *job;
  list_kernel kernel;                  /* its pass at hand */
  hierarchy_counts *counts;            /* [TRACE_STREAM_COUNT] */
  cache *l1, l2[PARTS];                /* l1 [multiprocessors] */
  int line_shift, sector_shift, fetch; /* sectors that memory gives at a time */
  /* The request at hand. */
  int32_t sm;
  int32_t n_lines, n_sectors;
  uint32_t line[LINES_MOST];
  uint8_t sectors[LINES_MOST];
  place table[TABLE];
  uint32_t stamp;
  /* The grid. */
  list_slices *slices;
  multiprocessor *sms;
  int32_t n_sms, slots, warps; /* blocks of a multiprocessor, warps of a block */
  int32_t first_sm;            /* that gets a block */
  int64_t n_blocks, next_block, live;
} model;

static void add_sector(model *g, uint64_t sector)
{
  const int shift = g->line_shift - g->sector_shift;
  const uint32_t line = (uint32_t)(sector >> shift);
  uint32_t at = line % TABLE;
  while (g->table[at].stamp == g->stamp && g->table[at].line != line)
    at = (at + 1) % TABLE;
  if (g->table[at].stamp != g->stamp) {
    g->table[at] = (place){line, g->stamp, g->n_lines};
    g->line[g->n_lines] = line;
    g->sectors[g->n_lines++] = 0;
  }
  g->sectors[g->table[at].at] |= (uint8_t)(1u << (sector & ((1u << shift) - 1)));
}

/* Distinct sectors of the whole warp, by line, lines in the order of lanes. */
static void coalesce(model *g, const list_request *r)
{
  g->n_lines = g->n_sectors = 0;
  if (++g->stamp == 0) { /* the stamps of old places could come again */
    memset(g->table, 0, sizeof g->table);
    g->stamp = 1;
  }
  for (int32_t l = 0; l < r->lanes; l++) {
    const uint64_t address = list_address(r, l);
    const uint64_t first = address >> g->sector_shift;
    const uint64_t last = (address + (uint64_t)r->bytes - 1) >> g->sector_shift;
    for (uint64_t s = first; s <= last; s++)
      add_sector(g, s);
  }
  for (int32_t k = 0; k < g->n_lines; k++)
    g->n_sectors += __builtin_popcount(g->sectors[k]);
}

/* Sectors of a reduction that are done more than once: equal elements follow each other. */
static int32_t repeats(const model *g, const list_request *r)
{
  int32_t rank[LIST_WARP], more = 0; /* how many like it came before */
  for (int32_t l = 0; l < r->lanes; l++) {
    const uint64_t sector = list_address(r, l) >> g->sector_shift;
    bool known = true;
    rank[l] = 0;
    for (int32_t k = 0; k < l; k++)
      rank[l] += r->index[k] == r->index[l];
    if (rank[l] > 0) known = false;
    for (int32_t k = 0; k < l && !known; k++)
      known = list_address(r, k) >> g->sector_shift == sector && rank[k] >= rank[l];
    more += !known;
  }
  return more;
}

/* True if a part of these elements lies in the same sectors as any other part. */
static bool within_sector(const model *g, const list_request *r)
{
  const uint32_t mask = (1u << g->sector_shift) - 1;
  return (r->base & mask) == 0 && ((uint32_t)r->stride & mask) == 0 &&
         r->offset + r->bytes <= (int32_t)mask + 1;
}

/* Access the L2; what it had to write to memory belongs to the stream that wrote it. */
MD_INLINE cache_answer access_l2(model *g, int part, uint32_t line, uint8_t sectors,
                                 const list_request *r)
{
  const cache_op op = r->op != TRACE_READ ? CACHE_WRITE : r->no_keep ? CACHE_PASS : CACHE_READ;
  const cache_answer a = cache_access(&g->l2[part], line, sectors, op, (uint8_t)r->stream);
  g->counts[a.owner].memory_written += __builtin_popcount(a.dirty);
  return a;
}

/* Sectors with those that come along with them. */
static uint8_t fetched_with(const model *g, uint8_t sectors)
{
  uint8_t all = 0;
  for (int k = 0; sectors >> k; k += g->fetch) {
    const uint8_t together = (uint8_t)(((1u << g->fetch) - 1) << k);
    if (sectors & together) all |= together;
  }
  return all;
}

/* The home part, which gave this answer, reads from memory what it missed. */
static void read_memory(model *g, int home, const cache_answer *a, uint8_t missed,
                        trace_stream stream)
{
  g->counts[stream].memory_read +=
      __builtin_popcount(missed) + cache_fill(&g->l2[home], a->at, fetched_with(g, missed));
}

static int home_of(const model *g, uint32_t line)
{
  return g->job->m.level[L2].parts == 1 ? 0 : (int)(line * 0x9e3779b1u >> 31);
}

/* The part of the L2 that this multiprocessor asks. */
static int own_part(const model *g)
{
  return g->job->m.level[L2].parts == 1 ? 0 : g->sm / 2 % 2;
}

static void read_l2(model *g, uint32_t line, uint8_t sectors, const list_request *r)
{
  hierarchy_counts *c = &g->counts[r->stream];
  const int home = home_of(g, line);
  const int own = own_part(g);
  cache_answer a = access_l2(g, own, line, sectors, r);
  uint8_t missed = sectors & (uint8_t)~a.hits;
  c->level[L2].sectors += __builtin_popcount(sectors);
  c->level[L2].hits += __builtin_popcount(a.hits);
  if (missed && home != own) {
    const uint8_t asked = fetched_with(g, missed);
    cache_fill(&g->l2[own], a.at, asked);
    a = access_l2(g, home, line, asked, r);
    missed = asked & (uint8_t)~a.hits;
  }
  if (missed) read_memory(g, home, &a, missed, r->stream);
}

static void load(model *g, const list_request *r)
{
  hierarchy_counts *c = &g->counts[r->stream];
  const cache *own = &g->l2[own_part(g)];
  for (int32_t k = 0; k < g->n_lines; k++) { /* the host's memory is what a model waits for */
    cache_prefetch(&g->l1[g->sm], g->line[k]);
    cache_prefetch(own, g->line[k]);
  }
  for (int32_t k = 0; k < g->n_lines; k++) {
    const uint8_t sectors = g->sectors[k];
    const cache_answer a = cache_access(&g->l1[g->sm], g->line[k], sectors, CACHE_READ, 0);
    if (r->no_keep) cache_forget(&g->l1[g->sm], a.at);
    const uint8_t missed = sectors & (uint8_t)~a.hits;
    c->level[L1].hits += __builtin_popcount(a.hits);
    if (missed) read_l2(g, g->line[k], missed, r);
  }
}

static void store(model *g, const list_request *r)
{
  hierarchy_counts *c = &g->counts[r->stream];
  for (int32_t k = 0; k < g->n_lines; k++) {
    const uint8_t sectors = g->sectors[k];
    const int home = home_of(g, g->line[k]);
    const cache_answer a = access_l2(g, home, g->line[k], sectors, r);
    const uint8_t missed = sectors & (uint8_t)~a.hits;
    c->level[L2].hits += __builtin_popcount(a.hits);
    if (r->op == TRACE_UPDATE && missed) read_memory(g, home, &a, missed, r->stream);
  }
}

static md_status request(void *to, const list_request *r)
{
  model *g = to;
  hierarchy_counts *c = &g->counts[r->stream];
  const int level = r->op == TRACE_READ ? L1 : L2;
  const bool known = r->again && within_sector(g, r);
  if (!known) coalesce(g, r);
  c->requests++;
  c->lanes += r->lanes * r->threads;
  c->lines += g->n_lines;
  c->sectors += g->n_sectors;
  c->level[level].sectors += g->n_sectors;
  if (known)
    c->level[level].hits += g->n_sectors;
  else if (level == L1)
    load(g, r);
  else
    store(g, r);
  if (r->op == TRACE_UPDATE) {
    const int32_t more = repeats(g, r);
    c->sectors += more;
    c->level[L2].sectors += more;
    c->level[L2].hits += more;
  }
  return MD_OK;
}

static uint32_t percent(multiprocessor *sm)
{
  return cache_random(&sm->random, 100);
}

/* The warp that has the next turn, on a multiprocessor with live warps. */
static uint32_t pick(const model *g, multiprocessor *sm)
{
  const hierarchy_options *o = &g->job->opts;
  const uint32_t n = (uint32_t)(g->slots * g->warps);
  if (o->schedule == HIERARCHY_OLDEST) {
    uint32_t oldest = n;
    for (uint32_t w = 0; w < n; w++)
      if (sm->since[w] >= 0 && (oldest == n || sm->since[w] < sm->since[oldest])) oldest = w;
    return oldest;
  }
  if (o->schedule == HIERARCHY_RANDOM) sm->next = cache_random(&sm->random, n);
  const uint32_t skip = o->schedule == HIERARCHY_ROUND ? (uint32_t)o->skip : 0;
  const bool more = sm->since[sm->last] >= 0 && list_warp_ready(&sm->warps[sm->last]);
  if (o->schedule == HIERARCHY_ROUND && more && percent(sm) < (uint32_t)o->stay) return sm->last;
  uint32_t passed = n; /* the last live warp that was passed over, should all be */
  for (uint32_t t = 0; t < n; t++) {
    const uint32_t w = sm->next;
    sm->next = sm->next + 1 == n ? 0 : sm->next + 1;
    if (sm->since[w] < 0) continue;
    if (skip == 0 || percent(sm) >= skip) return w;
    passed = w;
  }
  return passed;
}

/* The next block of the grid comes to a slot. */
static md_status launch(model *g, multiprocessor *sm, int32_t slot)
{
  const int64_t number = g->next_block++;
  for (int32_t w = 0; w < g->warps; w++) {
    const int32_t at = slot * g->warps + w;
    list_warp *warp = &sm->warps[at];
    MD_TRY(list_slices_next(g->slices, &warp->slice));
    if (warp->slice.rows == 0) break;
    warp->next = -1;
    sm->since[at] = number * g->warps + w;
    sm->blocks[slot].live++;
    sm->live++;
    g->live++;
  }
  return MD_OK;
}

static md_status fill(model *g)
{
  for (int32_t slot = 0; slot < g->slots; slot++)
    for (int32_t s = 0; s < g->n_sms; s++)
      if (g->next_block < g->n_blocks)
        MD_TRY(launch(g, &g->sms[(g->first_sm + s) % g->n_sms], slot));
  return MD_OK;
}

static md_status take_turn(model *g, int32_t s)
{
  multiprocessor *sm = &g->sms[s];
  const uint32_t w = pick(g, sm);
  const int32_t slot = (int32_t)w / g->warps;
  bool done;
  g->sm = s;
  sm->last = w;
  MD_TRY(list_warp_turn(&g->kernel, &sm->warps[w], request, g, &done));
  if (!done) return MD_OK;
  sm->since[w] = -1;
  sm->live--;
  g->live--;
  const bool dynamic = g->job->opts.refill == HIERARCHY_DYNAMIC;
  if (--sm->blocks[slot].live > 0 || !dynamic || g->next_block == g->n_blocks) return MD_OK;
  return launch(g, sm, slot);
}

static md_status run_grid(model *g)
{
  g->next_block = 0;
  list_slices_rewind(g->slices);
  for (int32_t s = 0; s < g->n_sms; s++) {
    cache_clear(&g->l1[s], (uint32_t)g->job->m.level[L1].ways);
    g->sms[s].next = g->sms[s].last = 0;
    g->sms[s].random = (uint64_t)s;
  }
  do {
    MD_TRY(fill(g));
    while (g->live > 0)
      for (int32_t s = 0; s < g->n_sms; s++)
        if (g->sms[s].live > 0) MD_TRY(take_turn(g, s));
  } while (g->next_block < g->n_blocks);
  return MD_OK;
}

static md_status run_passes(model *g, hierarchy_result *result)
{
  list_pass *pass = &g->kernel.pass;
  memset(result->stream, 0, sizeof result->stream);
  g->counts = result->stream;
  for (*pass = list_first_pass(&g->kernel); *pass <= LIST_PASS_FORCES; ++*pass) {
    MD_TRY(run_grid(g));
    if (*pass == LIST_PASS_DENSITIES)
      memcpy(result->density, result->stream, sizeof result->density);
  }
  return MD_OK;
}

static md_status open_model(const hierarchy_job *job, const hierarchy_result *result, model *g)
{
  const machine *m = &job->m;
  g->job = job;
  g->kernel = job->kernel;
  g->line_shift = __builtin_ctz((unsigned)m->level[L1].line);
  g->sector_shift = __builtin_ctz((unsigned)m->level[L1].sector);
  g->fetch = m->level[L2].fetch > 0 ? m->level[L2].fetch / m->level[L2].sector : 1;
  g->n_sms = m->multiprocessors;
  g->warps = result->block_size / LIST_WARP;
  g->slots = result->resident_warps / g->warps;
  g->n_blocks = (result->rows + result->block_size - 1) / result->block_size;
  const size_t n = (size_t)(g->slots * g->warps);
  g->l1 = calloc((size_t)g->n_sms, sizeof *g->l1);
  g->sms = calloc((size_t)g->n_sms, sizeof *g->sms);
  MD_REQUIRE(g->l1 && g->sms, MD_ENOMEM, "out of memory for %d multiprocessors", g->n_sms);
  for (int32_t s = 0; s < g->n_sms; s++) {
    multiprocessor *sm = &g->sms[s];
    sm->blocks = calloc((size_t)g->slots, sizeof *sm->blocks);
    sm->warps = calloc(n, sizeof *sm->warps);
    sm->since = malloc(n * sizeof *sm->since);
    MD_REQUIRE(sm->blocks && sm->warps && sm->since, MD_ENOMEM,
               "out of memory for %zu resident warps", n);
    memset(sm->since, 0xff, n * sizeof *sm->since);
    MD_TRY(cache_create(&m->level[L1], true, &g->l1[s]));
  }
  for (int part = 0; part < m->level[L2].parts; part++)
    MD_TRY(cache_create(&m->level[L2], true, &g->l2[part]));
  return list_slices_open(job->in, &job->kernel, &g->slices);
}

static void close_model(model *g)
{
  for (int32_t s = 0; s < g->n_sms; s++) {
    if (g->l1) cache_destroy(&g->l1[s]);
    if (!g->sms) continue;
    for (int32_t w = 0; g->sms[s].warps && w < g->slots * g->warps; w++)
      list_slice_free(&g->sms[s].warps[w].slice);
    free(g->sms[s].blocks);
    free(g->sms[s].warps);
    free(g->sms[s].since);
  }
  for (int part = 0; part < PARTS; part++)
    cache_destroy(&g->l2[part]);
  free(g->l1);
  free(g->sms);
  list_slices_close(g->slices);
}

md_status ISA(hierarchy_gpu)(const hierarchy_job *job, hierarchy_result *cold,
                             hierarchy_result *warm)
{
  model *g = calloc(1, sizeof *g);
  MD_REQUIRE(g, MD_ENOMEM, "out of memory for a model of a GPU");
  md_status status = open_model(job, cold, g);
  if (!status) status = run_passes(g, cold);
  g->first_sm = 1 % g->n_sms;
  if (!status && warm) status = run_passes(g, warm);
  close_model(g);
  free(g);
  return status;
}
