/* tests/drive/run_lists.c - reading a list literally, by what neighbor.h says about each array. */
#include "tests/drive/run_lists.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

run_near run_near_open(md_precision precision, int threads, const neighbor_spec *spec,
                       const run_case *c)
{
  run_near near = {.ctx = test_ctx(precision, threads, false), .spec = *spec};
  near.atoms = run_case_atoms(near.ctx, c, NULL);
  ck_ok(comm_create(near.ctx, &near.cm));
  ck_ok(neighbor_create(near.ctx, spec, &near.list));
  return near;
}

void run_near_close(run_near *near)
{
  neighbor_destroy(near->list);
  comm_destroy(near->cm);
  md_atoms_destroy(near->atoms);
  md_ctx_destroy(near->ctx);
}

void run_near_rebuild(run_near *near)
{
  ck_ok(comm_migrate(near->cm, near->atoms));
  ck_ok(neighbor_sort(near->list, near->atoms));
  ck_assert_int_eq(near->atoms->n_ghost, 0);
  ck_ok(comm_borders(near->cm, near->atoms, near->spec.r_list));
  ck_ok(neighbor_build(near->list, near->atoms));
}

void run_near_types(run_near *near, int32_t n)
{
  uint8_t *type = ref_alloc(near->atoms->n, sizeof *type);
  for (int64_t i = 0; i < near->atoms->n; i++)
    type[i] = (uint8_t)(i * i / 7 % n);
  near->atoms->n_types = n;
  ck_ok(md_atoms_set_types(near->atoms, type));
  free(type);
}

neighbor_spec run_near_spec(double r_list, double bins)
{
  return (neighbor_spec){.kind = NEIGHBOR_FULL,
                         .stencil = NEIGHBOR_SPHERE,
                         .newton = true,
                         .r_list = r_list,
                         .bin_size = bins * r_list,
                         .order = {.kind = ORDERING_HILBERT}};
}

ordering run_order(int k)
{
  return (ordering){.kind = (ordering_kind)(k % ORDERING_COUNT),
                    .outer = ORDERING_HILBERT,
                    .inner = ORDERING_ROW,
                    .tile = 3,
                    .seed = 9};
}

int run_lists(void)
{
  return test_backend() == MD_GPU ? RUN_TRACED + 1 : RUN_TRACED;
}

void run_set_list(neighbor_spec *spec, int i)
{
  spec->kind = i == 0 ? NEIGHBOR_FULL : i == RUN_TRACED ? NEIGHBOR_TILE : NEIGHBOR_HALF;
  spec->newton = i != 2;
}

static void *read_array(md_ctx *ctx, const void *from, int64_t n, size_t size)
{
  if (!from) return NULL;
  void *to = ref_alloc(n, size);
  if (n > 0) ck_ok(md_read(ctx, to, from, (size_t)n * size));
  return to;
}

/* The arrays of tiles on the host. */
typedef struct {
  neighbor_tiles t;
  int64_t n_tiles;
  int32_t *halo;
  neighbor_piece *halos, *groups;
  uint16_t *list;
} host_tiles;

/* What a halo says of its entries. */
static void check_halo(const host_tiles *h, const neighbor_piece *halo)
{
  int32_t last = 0;
  ck_assert(halo->count >= 0 && halo->start + halo->count <= h->t.n_halo);
  for (int32_t e = 0; e < halo->count; e++)
    if (h->halo[halo->start + e] > last) last = h->halo[halo->start + e];
  ck_assert_int_eq(halo->last, last);
}

static host_tiles read_tiles(md_ctx *ctx, const neighbor_view *v)
{
  host_tiles h = {.t = *v->tiles};
  ck_assert_int_eq(h.t.rows, NEIGHBOR_TILE_ROWS);
  h.n_tiles = (v->n_rows + h.t.rows - 1) / h.t.rows;
  const int64_t passes = h.n_tiles * h.t.passes;
  ck_assert_int_ge(h.t.n_pieces, passes * h.t.rows / 32);
  h.halos = read_array(ctx, h.t.halos, passes, sizeof *h.halos);
  h.groups = read_array(ctx, h.t.groups, h.t.n_pieces, sizeof *h.groups);
  h.halo = read_array(ctx, h.t.halo, h.t.n_halo, 4);
  h.list = read_array(ctx, h.t.list, h.t.n_list * 32 * NEIGHBOR_TILE_GROUP, 2);
  for (int64_t p = 0; p < passes; p++)
    check_halo(&h, &h.halos[p]);
  return h;
}

/* The entries of one piece of row r to `to`, in the order of the row; returns their number. */
static int64_t piece_row(const host_tiles *h, const neighbor_piece *halo,
                         const neighbor_piece *piece, int64_t r, int32_t *to)
{
  const int32_t m = halo->count, banks = NEIGHBOR_TILE_BANKS;
  const int32_t far = (m + banks - 1) / banks * banks;
  int64_t n = 0;
  ck_assert_int_le(far + banks, h->t.most);
  ck_assert(piece->count >= 0 && piece->start + piece->count <= h->t.n_list);
  for (int64_t group = piece->start; group < piece->start + piece->count; group++)
    for (int k = 0; k < NEIGHBOR_TILE_GROUP; k++) {
      const int32_t word = h->list[(group * 32 + r % 32) * NEIGHBOR_TILE_GROUP + k];
      ck_assert(word % 16 == 0 && (word / 16 < m || (word / 16 >= far && word / 16 < far + banks)));
      if (word / 16 < m) to[n++] = h->halo[halo->start + word / 16];
    }
  return n;
}

/* The entries of row r to `to`, which has room for the longest. */
static int64_t tile_row(const host_tiles *h, int64_t r, int32_t longest, int32_t *to)
{
  const int64_t tile = r / h->t.rows, warp = r / 32;
  int64_t n = 0;
  for (int32_t p = 0; p < h->t.passes; p++) {
    const neighbor_piece *piece = &h->groups[warp * h->t.passes + p];
    for (;; piece = &h->groups[piece->next]) {
      n += piece_row(h, &h->halos[tile * h->t.passes + p], piece, r, to + n);
      ck_assert_int_le(n, longest);
      if (piece->next == 0) break;
      ck_assert_int_lt(piece->next, h->t.n_pieces);
    }
  }
  return n;
}

/* Rows of tiles as slices of one row. */
static void spread_tiles(md_ctx *ctx, const neighbor_view *from, run_list *to)
{
  neighbor_view *v = &to->view;
  host_tiles h = read_tiles(ctx, from);
  int64_t *start = ref_alloc(from->n_rows + 1, 8);
  int32_t *nbr = ref_alloc(from->n_entries, 4), *row = ref_alloc(from->max_count + 1024LL, 4);
  for (int64_t r = 0; r < from->n_rows; r++) {
    const int64_t n = tile_row(&h, r, from->max_count, row);
    ck_assert_int_eq(n, v->count[r]);
    ck_assert_int_le(start[r] + n, from->n_entries);
    memcpy(nbr + start[r], row, (size_t)n * 4);
    start[r + 1] = start[r] + n;
  }
  v->width = 1, v->start = start, v->nbr = nbr, v->tiles = NULL;
  if (!v->atom) { /* the same as naming them all */
    int32_t *atom = ref_alloc(from->n_rows, 4);
    for (int32_t r = 0; r < from->n_rows; r++)
      atom[r] = r;
    v->atom = atom;
  }
  to->n_slots = start[from->n_rows];
  free(row), free(h.halo), free(h.halos), free(h.groups), free(h.list);
}

run_list run_list_read(md_ctx *ctx, const neighbor_list *list)
{
  const neighbor_view *from = neighbor_list_view(list);
  run_list to = {.view = *from};
  neighbor_view *v = &to.view;
  const int64_t rows = from->n_rows;
  if (rows == 0) {
    v->start = v->chunk = NULL;
    v->nbr = v->count = v->atom = v->shared = v->ghost = v->ghost_start = NULL;
    v->n_chunks = 0;
    return to;
  }
  ck_assert_int_gt(from->width, 0);
  v->count = read_array(ctx, from->count, rows, 4);
  v->atom = read_array(ctx, from->atom, rows, 4);
  if (from->kind == NEIGHBOR_TILE) {
    spread_tiles(ctx, from, &to);
  } else {
    const int64_t slices = (rows + from->width - 1) / from->width;
    v->start = read_array(ctx, from->start, slices + 1, 8);
    ck_assert_ptr_nonnull(v->start);
    to.n_slots = v->start[slices];
    v->nbr = read_array(ctx, from->nbr, to.n_slots, 4);
  }
  v->shared = read_array(ctx, from->shared, rows, 4);
  v->chunk = read_array(ctx, from->chunk, from->n_chunks + 1, 8);
  v->ghost_start = read_array(ctx, from->ghost_start, from->n_chunks + 1, 4);
  if (from->ghost)
    v->ghost = read_array(ctx, from->ghost, v->ghost_start[from->n_chunks], sizeof *v->ghost);
  return to;
}

void run_list_free(run_list *list)
{
  const neighbor_view *v = &list->view;
  const void *parts[] = {v->start,  v->nbr,   v->count, v->atom,
                         v->shared, v->chunk, v->ghost, v->ghost_start};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    free((void *)(uintptr_t)parts[k]);
  *list = (run_list){0};
}

static bool same(const void *a, const void *b, int64_t n, size_t size)
{
  return (!a && !b) || (a && b && (n == 0 || memcmp(a, b, (size_t)n * size) == 0));
}

bool run_list_equal(const run_list *a, const run_list *b)
{
  const neighbor_view *v = &a->view, *w = &b->view;
  if (v->n_rows != w->n_rows || v->width != w->width || a->n_slots != b->n_slots ||
      v->n_entries != w->n_entries || v->n_chunks != w->n_chunks)
    return false;
  if (v->n_rows == 0) return true;
  const int64_t slices = (v->n_rows + v->width - 1) / v->width;
  return same(v->start, w->start, slices + 1, 8) && same(v->nbr, w->nbr, a->n_slots, 4) &&
         same(v->count, w->count, v->n_rows, 4) && same(v->atom, w->atom, v->n_rows, 4) &&
         same(v->shared, w->shared, v->n_rows, 4) && same(v->chunk, w->chunk, v->n_chunks + 1, 8);
}

/* Slices lie one behind the other, hold their longest row and are padded with the row's atom. */
static void check_shape(const run_list *list, int64_t n, const char *name)
{
  const neighbor_view *v = &list->view;
  int64_t entries = 0;
  int32_t most = 0;
  bool *seen = ref_alloc(n, sizeof *seen);
  ck_assert_msg(v->n_rows == n, "%s: %lld rows for %lld atoms", name, (long long)v->n_rows,
                (long long)n);
  for (int64_t r = 0; r < v->n_rows; r++) {
    const int64_t begin = v->start[r / v->width], end = v->start[r / v->width + 1];
    const int32_t atom = v->atom ? v->atom[r] : (int32_t)r;
    ck_assert_msg(begin >= 0 && v->count[r] >= 0 && end - begin >= (int64_t)v->count[r] * v->width,
                  "%s: row %lld has %d entries in slots %lld to %lld", name, (long long)r,
                  v->count[r], (long long)begin, (long long)end);
    ck_assert_msg(atom >= 0 && atom < n && !seen[atom], "%s: row %lld is atom %d", name,
                  (long long)r, atom);
    seen[atom] = true;
    for (int64_t k = v->count[r]; k < (end - begin) / v->width; k++)
      ck_assert_msg(v->nbr[begin + k * v->width + r % v->width] == atom,
                    "%s: slot %lld of row %lld is not padded", name, (long long)k, (long long)r);
    entries += v->count[r];
    most = v->count[r] > most ? v->count[r] : most;
  }
  free(seen);
  ck_assert_msg(v->n_entries == entries && v->max_count == most,
                "%s: %lld entries, at most %d, but %lld and %d are stated", name,
                (long long)entries, most, (long long)v->n_entries, v->max_count);
}

/* The chunk in which the row of each atom lies; NULL without chunks. */
static int32_t *chunks_of_atoms(const neighbor_view *v, const char *name)
{
  if (!v->chunk) return NULL;
  int32_t *chunk = ref_alloc(v->n_rows, sizeof *chunk);
  ck_assert_msg(v->chunk[0] == 0 && v->chunk[v->n_chunks] == v->n_rows,
                "%s: chunks cover rows %lld to %lld", name, (long long)v->chunk[0],
                (long long)v->chunk[v->n_chunks]);
  for (int32_t c = 0; c < v->n_chunks; c++)
    for (int64_t r = v->chunk[c]; r < v->chunk[c + 1]; r++)
      chunk[v->atom ? v->atom[r] : r] = c;
  return chunk;
}

/* The chunk that lists each ghost, -1: none; NULL without chunks.  It is that of the home. */
static int32_t *chunks_of_ghosts(const neighbor_view *v, const int32_t *chunk,
                                 const run_snapshot *atoms, const char *name)
{
  if (!chunk) return NULL;
  int32_t *owner = ref_alloc(atoms->n_ghost, sizeof *owner);
  for (int64_t g = 0; g < atoms->n_ghost; g++)
    owner[g] = -1;
  ck_assert_msg(v->ghost_start[0] == 0, "%s: ghosts begin at %d", name, v->ghost_start[0]);
  for (int32_t c = 0; c < v->n_chunks; c++)
    for (int64_t k = v->ghost_start[c]; k < v->ghost_start[c + 1]; k++) {
      const int32_t g = v->ghost[k];
      ck_assert_msg(g >= 0 && g < atoms->n_ghost && (k == v->ghost_start[c] || g > v->ghost[k - 1]),
                    "%s: ghost %d is not in its order", name, g);
      ck_assert_msg(owner[g] < 0 && atoms->home[g] >= 0 && chunk[atoms->home[g]] == c,
                    "%s: chunk %d lists ghost %d of atom %d", name, c, g, atoms->home[g]);
      owner[g] = c;
    }
  return owner;
}

/* Does entry k of row r act on both atoms?  A CPU half list says so and must do it within chunks
 * and only there; any other half list does it for every pair of owned atoms, and with newton for
 * ghosts, of which it holds the positive shifts only; on the CPU no ghosts of negative shift along
 * axis 0. */
static bool acts_on_both(const neighbor_view *v, const int32_t *chunk, int64_t r, int32_t k,
                         const run_action *a, const char *name)
{
  if (v->kind != NEIGHBOR_HALF) return false;
  const bool once = a->shift == 0 || v->newton;
  const bool inside = !chunk || chunk[a->i] == chunk[a->j];
  const bool both = v->shared ? k < v->shared[r] : once;
  ck_assert_msg(both == (once && inside), "%s: atoms %d and %d, shift %d: %s in a half list", name,
                a->i, a->j, a->shift, both ? "shared" : "not shared");
  int s[3];
  md_shift_unpack(a->shift, s);
  ck_assert_msg(!both || (v->shared ? s[0] : a->shift) >= 0,
                "%s: atom %d holds ghost %d of negative shift", name, a->i, a->j);
  return both;
}

static int action_compare(const void *a, const void *b)
{
  const run_action *p = a, *q = b;
  if (p->i != q->i) return p->i < q->i ? -1 : 1;
  if (p->j != q->j) return p->j < q->j ? -1 : 1;
  return (p->shift > q->shift) - (p->shift < q->shift);
}

run_action *run_list_actions(const run_list *list, const run_snapshot *atoms, int64_t *n,
                             const char *name)
{
  const neighbor_view *v = &list->view;
  *n = 0;
  if (atoms->n == 0) {
    ck_assert_msg(v->n_rows == 0 && v->n_entries == 0, "%s: an empty list has rows", name);
    return ref_alloc(0, sizeof(run_action));
  }
  check_shape(list, atoms->n, name);
  run_action *actions = ref_alloc(2 * v->n_entries, sizeof *actions);
  int32_t *chunk = chunks_of_atoms(v, name), *owner = chunks_of_ghosts(v, chunk, atoms, name);
  for (int64_t r = 0; r < v->n_rows; r++)
    for (int32_t k = 0; k < v->count[r]; k++) {
      const int32_t j = v->nbr[v->start[r / v->width] + (int64_t)k * v->width + r % v->width];
      ck_assert_msg(j >= 0 && j < atoms->n + atoms->n_ghost, "%s: entry %d", name, j);
      run_action a = {.i = v->atom ? v->atom[r] : (int32_t)r, .j = j};
      if (j >= atoms->n) a.j = atoms->home[j - atoms->n], a.shift = atoms->shift[j - atoms->n];
      const bool both = acts_on_both(v, chunk, r, k, &a, name);
      ck_assert_msg(!owner || !both || j < atoms->n || owner[j - atoms->n] == chunk[a.i],
                    "%s: row %lld shares ghost %lld, which its chunk does not list", name,
                    (long long)r, (long long)(j - atoms->n));
      a.i = (int32_t)atoms->id[a.i] - 1, a.j = (int32_t)atoms->id[a.j] - 1;
      actions[(*n)++] = a;
      if (both) actions[(*n)++] = (run_action){a.j, a.i, -a.shift};
    }
  free(chunk);
  free(owner);
  if (*n > 0) qsort(actions, (size_t)*n, sizeof *actions, action_compare);
  return actions;
}
