/* tests/stokes/check_stokes_ranks.c - products of a matrix whose rows several ranks have; runs
 * alone and under mpirun.  The whole matrix, which they are compared with, is on a CPU. */
#include "comm/world.h"
#include "stokes/matrix/matrix_impl.h"
#include "stokes/ranks/rows.h"
#include "tests/drive/run_ranks.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_blocks.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static bool on_gpu(void)
{
  return test_backend() == MD_GPU;
}

/* The same on a CPU. */
static md_ctx *host_ctx(int threads)
{
  md_ctx *ctx = NULL;
  const md_ctx_spec spec = {MD_CPU, MD_DOUBLE, threads, false};
  ck_ok(md_ctx_create(&spec, &ctx));
  return ctx;
}

/* Rows of a vector as this rank has them; ghosts are no numbers where a product has to fetch
 * them. */
static double *own_part(const stokes_rows_view *v, int m, const double *all, bool ghosts)
{
  double *x = ref_alloc(3 * (v->n_own + v->n_ghosts) * m, sizeof *x);
  for (int64_t k = 0; k < 3 * (v->n_own + v->n_ghosts) * m; k++)
    x[k] = ghosts || k < 3 * v->n_own * m ? all[3 * m * v->row[k / (3 * m)] + k % (3 * m)]
                                          : (double)NAN;
  return x;
}

/* Of what a GPU sums in another way, or has assembled, from gaps of a thousandth, and rounded to
 * floats. */
static double rounding(stokes_storage storage, bool assembled)
{
  return !assembled ? 1e-13 : storage == STOKES_BCRS ? 1e-11 : 1e-6;
}

/* The same bits; on a GPU as far as that. */
static bool is_same(int64_t n, double tolerance, const double *a, const double *b)
{
  if (!on_gpu()) tolerance = 0;
  for (int64_t k = 0; k < n; k++)
    if (!(fabs(a[k] - b[k]) <= tolerance)) return false;
  return true;
}

static double largest(int64_t n, const double *v)
{
  double most = 0;
  for (int64_t k = 0; k < n; k++)
    most = fmax(most, fabs(v[k]));
  return most;
}

/* The product of own rows, and v [n_all][m] complete on every rank. */
static void multiply(md_ctx *ctx, stokes_rows *rows, int m, const double *mine, double *all)
{
  const stokes_rows_view v = stokes_rows_get(rows);
  const size_t row = 3 * (size_t)m * sizeof *all, own = (size_t)v.n_own * row;
  double *y = ref_alloc(3 * v.n_own * m + 1, sizeof *y);
  md_buffer in = {0}, out = {0}, complete = {0};
  ck_ok(md_buffer_reserve(ctx, &in, own + (size_t)v.n_ghosts * row + 1, 0));
  ck_ok(md_buffer_reserve(ctx, &out, own + 1, 0));
  ck_ok(md_buffer_reserve(ctx, &complete, (size_t)v.n_all * row, 0));
  ck_ok(md_write(ctx, in.data, mine, own + (size_t)v.n_ghosts * row));
  ck_ok(md_fill(ctx, complete.data, 0xff, (size_t)v.n_all * row));
  ck_ok(stokes_rows_multiply(rows, m, in.data, out.data));
  ck_ok(md_read(ctx, y, out.data, own));
  if (v.n_own > 0) ck_ok(md_write(ctx, (char *)complete.data + (size_t)v.row[0] * row, y, own));
  ck_ok(stokes_rows_complete(rows, complete.data, 3 * m));
  ck_ok(md_read(ctx, all, complete.data, (size_t)v.n_all * row));
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &out);
  md_buffer_free(ctx, &complete);
  free(y);
}

/* A product that fetched ghosts has the bits of one that has them: y [n_all][m] for x. */
static void check_bits(md_ctx *ctx, const stokes_rows *rows, int m, const double *x,
                       const double *y)
{
  const stokes_rows_view v = stokes_rows_get(rows);
  const size_t row = 3 * (size_t)m * sizeof *x, own = (size_t)v.n_own * row;
  const size_t bytes = own + (size_t)v.n_ghosts * row;
  double *whole = own_part(&v, m, x, true), *alone = ref_alloc(3 * v.n_own * m + 1, sizeof *alone);
  md_buffer in = {0}, out = {0};
  ck_ok(md_buffer_reserve(ctx, &in, bytes + 1, 0));
  ck_ok(md_buffer_reserve(ctx, &out, own + 1, 0));
  ck_ok(md_write(ctx, in.data, whole, bytes));
  ck_ok(stokes_matrix_multiply(stokes_rows_matrix(rows), m, in.data, out.data));
  ck_ok(md_read(ctx, alone, out.data, own));
  if (v.n_own > 0) ck_assert_int_eq(memcmp(alone, y + (size_t)(3 * m) * (size_t)v.row[0], own), 0);
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &out);
  free(whole);
  free(alone);
}

/* Three products, each of the one before, are one rank's: on CPUs to the bit. */
static void compare_products(md_ctx *ctx, const stokes_matrix *whole, stokes_rows *rows, int m,
                             double tolerance)
{
  const stokes_rows_view v = stokes_rows_get(rows);
  const int64_t n = 3 * stokes_matrix_shape(whole).n_rows;
  double *x = ref_vector(n * m, 11), *expect = ref_alloc(n * m, sizeof *x);
  double *y = ref_alloc(n * m, sizeof *y);
  ck_ok(stokes_rows_reserve(rows, m));
  for (int turn = 0; turn < 3; turn++) {
    double *mine = own_part(&v, m, x, false);
    int64_t wrong = 0;
    ref_product(whole, whole->ctx, n, m, x, expect);
    multiply(ctx, rows, m, mine, y);
    check_bits(ctx, rows, m, x, y);
    const double within = tolerance * largest(n * m, expect);
    for (int64_t k = 0; k < n / 3; k++)
      wrong += !is_same(3 * m, within, y + 3 * m * k, expect + 3 * m * k);
    ck_assert_msg(wrong == 0, "rank %d, %d vectors, product %d: %lld of %lld rows wrong",
                  world_rank(), m, turn, (long long)wrong, (long long)n / 3);
    memcpy(x, expect, (size_t)(n * m) * sizeof *x);
    free(mine);
  }
  free(x);
  free(expect);
  free(y);
}

/* Each row belongs to one rank, in the order of rows; whole groups need no ghosts, as many rows as
 * are counted, and each ghost is needed, unless a list with a skin named it to a GPU (`more`);
 * places are as rows.h says. */
static void check_places(const stokes_blocks *b, const stokes_rows_view *v, bool more)
{
  const int n = (int)b->n_rows;
  int64_t *owners = ref_alloc(n + 1, sizeof *owners), inner = 0;
  bool *mine = ref_alloc(n + 1, sizeof *mine), *needed = ref_alloc(n + 1, sizeof *needed);
  bool alone = true;
  ck_assert_int_eq(v->n_all, n);
  for (int64_t k = 0; k < v->n_own; k++)
    owners[v->row[k]]++, mine[v->row[k]] = true;
  world_sum(owners, n);
  for (int i = 0; i < n; i++)
    ck_assert_int_eq(owners[i], 1);
  for (int64_t k = 0; k < v->n_own; k++) {
    int64_t others = 0;
    for (int64_t p = b->start[v->row[k]]; p < b->start[v->row[k] + 1]; p++) {
      others += !mine[b->column[p]];
      needed[b->column[p]] = true;
    }
    alone = k % STOKES_ROWS_TOGETHER == 0 ? others == 0 : alone && others == 0;
    if (k + 1 == v->n_own || k % STOKES_ROWS_TOGETHER == STOKES_ROWS_TOGETHER - 1)
      inner += alone ? k % STOKES_ROWS_TOGETHER + 1 : 0;
    if (k > 0) ck_assert_int_eq(v->row[k], v->row[k - 1] + 1);
  }
  ck_assert_int_eq(on_gpu() ? 0 : inner, v->n_inner);
  int64_t ghosts = 0, sent = v->n_sent, fetched = v->n_ghosts;
  for (int i = 0; i < n; i++) {
    const bool here = ghosts < v->n_ghosts && v->row[v->n_own + ghosts] == i;
    if (needed[i] && !mine[i]) ck_assert(here);
    if (here) ck_assert(!mine[i] && (more || needed[i]));
    ghosts += here;
  }
  ck_assert_int_eq(ghosts, v->n_ghosts);
  world_sum(&sent, 1);
  world_sum(&fetched, 1);
  ck_assert_int_eq(sent, fetched);
  double most = (double)v->n_own;
  world_most(&most, 1);
  ck_assert_double_eq(most, (double)v->n_most);
  free(owners);
  free(mine);
  free(needed);
}

/* The blocks of a rank are those of the whole matrix, each row's in some order. */
static void check_blocks(const stokes_blocks *b, const stokes_rows *rows, const stokes_rows_view *v,
                         double tolerance)
{
  stokes_blocks own;
  const double within = tolerance * largest(9 * b->n_blocks, b->block);
  ck_ok(stokes_rows_blocks(rows, &own));
  ck_assert_int_eq(own.n_rows, v->n_own);
  for (int64_t k = 0; k < v->n_own; k++) {
    const int64_t first = b->start[v->row[k]], n = b->start[v->row[k] + 1] - first;
    int64_t found = 0;
    ck_assert_int_eq(own.start[k + 1] - own.start[k], n);
    for (int64_t p = own.start[k]; p < own.start[k + 1]; p++)
      for (int64_t q = first; q < first + n; q++)
        found += b->column[q] == v->row[own.column[p]] &&
                 is_same(9, within, b->block + 9 * q, own.block + 9 * p);
    ck_assert_int_eq(found, n);
  }
  stokes_blocks_free(&own);
}

/* What the model counts in the matrix is what ranks have. */
static void check_share(const stokes_blocks *b, const stokes_matrix *whole, const stokes_share *own,
                        bool more)
{
  const int ranks = world_count();
  if (b->n_rows < ranks) return;
  stokes_share *all = ref_alloc(ranks, sizeof *all);
  const double bytes = stokes_matrix_shape(whole).product_bytes;
  ck_ok(stokes_model_shares(b, bytes, ranks, all));
  const stokes_share *model = &all[world_rank()];
  ck_assert_int_eq(own->shape.n_rows, model->shape.n_rows);
  ck_assert_int_eq(own->shape.n_blocks, model->shape.n_blocks);
  if (!more) ck_assert_int_eq(own->remote, model->remote);
  if (!more) ck_assert_int_eq(own->messages, model->messages);
  double sum = 0, *of_all = ref_alloc(ranks, sizeof *of_all);
  world_gather(&own->shape.product_bytes, sizeof sum, of_all);
  for (int r = 0; r < ranks; r++)
    sum += of_all[r];
  ck_assert_double_eq_tol(sum, bytes, 1e-9 * bytes);
  free(of_all);
  free(all);
}

/* Rows of a matrix with these blocks, none yet; NULL: a rank would have none, on a GPU. */
static stokes_rows *rows_for(const stokes_matrix *whole, md_ctx *ctx, const stokes_blocks *b)
{
  int64_t *cut = ref_alloc(world_count() + 1, sizeof *cut);
  stokes_rows *rows = NULL;
  bool fits = true;
  stokes_model_cut(&(stokes_weights){b->n_rows, b->start, 0}, world_count(), cut);
  for (int r = 0; r < world_count(); r++)
    fits = fits && (!on_gpu() || cut[r + 1] > cut[r]);
  if (fits) ck_ok(stokes_rows_create(ctx, whole->storage, cut, &rows));
  free(cut); /* is not needed any more */
  return rows;
}

/* Rows that were taken from the whole matrix, or assembled, are its rows. */
static void check_rows(md_ctx *ctx, const stokes_matrix *whole, stokes_rows *rows, bool more)
{
  static const int widths[] = {4, 1, 16, 7, 12};
  const stokes_rows_view v = stokes_rows_get(rows);
  const double tolerance = rounding(whole->storage, more);
  stokes_blocks b; /* as they are stored */
  ck_ok(stokes_matrix_get(whole, &b));
  check_places(&b, &v, more);
  check_blocks(&b, rows, &v, tolerance);
  check_share(&b, whole, &v.share, more);
  stokes_blocks_free(&b);
  for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
    compare_products(ctx, whole, rows, widths[k], tolerance);
  ck_assert_int_eq(stokes_rows_multiply(rows, 17, NULL, NULL), MD_EINVAL);
  ck_assert_int_eq(stokes_rows_multiply(rows, 0, NULL, NULL), MD_EINVAL);
}

START_TEST(any_blocks)
{
  static const struct {
    int n;
    ref_pattern *has;
  } cases[] = {{1, ref_is_full},    {2, ref_is_full},       {5, ref_is_alone}, {40, ref_is_alone},
               {23, ref_is_full},   {300, ref_is_curve},    {7, ref_is_curve}, {60, ref_is_none},
               {90, ref_is_uneven}, {120, ref_is_one_sided}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false), *host = host_ctx(2);
  if ((md_isa)_i < ctx->isa) ctx->isa = host->isa = (md_isa)_i;
  for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
    stokes_matrix *whole;
    stokes_blocks b = ref_blocks(cases[k / 2].n, cases[k / 2].has);
    ck_ok(stokes_matrix_create(host, k % 2 ? STOKES_SINGLE : STOKES_BCRS, &whole));
    ck_ok(stokes_matrix_set(whole, &b, 1));
    stokes_rows *rows = rows_for(whole, ctx, &b);
    for (int vectors = 1; rows && vectors <= (on_gpu() ? 16 : 1); vectors *= 16) {
      ck_ok(stokes_rows_take(rows, whole, vectors));
      check_rows(ctx, whole, rows, false);
    }
    stokes_rows_destroy(rows);
    stokes_matrix_destroy(whole);
    stokes_blocks_free(&b);
  }
  md_ctx_destroy(ctx);
  md_ctx_destroy(host);
}
END_TEST

/* The list of pairs with nothing but own rows, on a CPU. */
static stokes_pair_view own_pairs(const stokes_pair_view *list, const stokes_rows_view *v)
{
  int64_t *start = ref_alloc(list->n + 1, sizeof *start);
  const int64_t lo = v->n_own ? v->row[0] : 0, hi = lo + v->n_own;
  for (int64_t i = 0; i <= list->n; i++)
    start[i] = list->start[i < lo ? lo : i > hi ? hi : i];
  return (stokes_pair_view){
      .n = list->n, .n_entries = list->n_entries, .start = start, .neighbor = list->neighbor};
}

/* Matrices of a packing along the curve, in every storage; more rows than a thread has at once.
 * Rows are taken, then assembled in their place from own rows of
 * the list. */
START_TEST(suspensions)
{
  static const stokes_resistance law = {1, 0.5, 1e-3};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false), *host = host_ctx(2);
  stokes_packing packing = ref_packing(_i ? 700 : 200, 0.4, false, 14);
  ck_ok(stokes_packing_sort(host, &packing, &(ordering){.kind = ORDERING_HILBERT}, NULL));
  ref_suspension s = ref_suspend(ctx, &packing, law.gap_cut);
  ref_suspension there = ref_suspend(host, &packing, law.gap_cut);
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
    stokes_matrix *whole = ref_assemble(&there, (stokes_storage)storage, &law, 1);
    stokes_blocks b;
    ck_ok(stokes_matrix_get(whole, &b));
    stokes_rows *rows = rows_for(whole, ctx, &b);
    if (!on_gpu() || storage != STOKES_PAIR) {
      ck_ok(stokes_rows_take(rows, whole, 1));
      check_rows(ctx, whole, rows, false);
    }
    const stokes_rows_view v = stokes_rows_get(rows);
    const stokes_pair_view list = stokes_pairs_view(s.pairs);
    const stokes_pair_view own = on_gpu() ? list : own_pairs(&list, &v);
    for (int vectors = 1; vectors <= (on_gpu() ? 16 : 1); vectors *= 16) {
      ck_ok(stokes_rows_assemble(rows, &s.view, &own, &law, vectors));
      check_rows(ctx, whole, rows, on_gpu());
    }
    stokes_blocks_free(&b);
    stokes_matrix_destroy(whole);
    stokes_rows_destroy(rows);
    if (!on_gpu()) free((void *)own.start);
  }
  ref_suspension_free(&s);
  ref_suspension_free(&there);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
  md_ctx_destroy(host);
}
END_TEST

START_TEST(what_is_refused)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false), *host = host_ctx(1);
  stokes_blocks b = ref_blocks(30, ref_is_curve);
  stokes_matrix *whole;
  ck_ok(stokes_matrix_create(host, STOKES_BCRS, &whole));
  ck_ok(stokes_matrix_set(whole, &b, 1));
  stokes_rows *rows = rows_for(whole, ctx, &b);
  ck_ok(stokes_rows_take(rows, whole, 1));
  stokes_matrix_destroy(whole);
  ck_assert_int_eq(stokes_rows_multiply(rows, 1, NULL, NULL), MD_EINVAL); /* no room yet */
  if (world_count() == 1) { /* what ranks agree on once is not asked again */
    ck_assert_int_eq(stokes_rows_reserve(rows, 0), MD_EINVAL);
    ck_assert_int_eq(stokes_rows_reserve(rows, STOKES_COLUMNS + 1), MD_EINVAL);
  }
  stokes_rows_destroy(rows);
  stokes_rows_destroy(NULL);
  stokes_blocks_free(&b);
  md_ctx_destroy(ctx);
  md_ctx_destroy(host);
}
END_TEST

static void check_network(const stokes_network *network)
{
  if (world_count() == 1)
    ck_assert(network->latency == 0 && isinf(network->bandwidth));
  else
    ck_assert(network->latency > 0 && network->latency < 10 && network->bandwidth > 1e5);
}

START_TEST(network_of_ranks)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  int64_t *cut = ref_alloc(world_count() + 1, sizeof *cut);
  for (int r = 0; r <= world_count(); r++)
    cut[r] = 2 * r;
  stokes_network network;
  stokes_rows *rows;
  ck_ok(stokes_network_measure(&network));
  check_network(&network);
  ck_ok(stokes_rows_create(ctx, STOKES_BCRS, cut, &rows));
  ck_ok(stokes_rows_network(rows, &network));
  check_network(&network);
  stokes_rows_destroy(rows);
  md_ctx_destroy(ctx);
  free(cut);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_ranks");
  TCase *tc = tcase_create("ranks");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, any_blocks, 0, on_gpu() ? 1 : MD_ISA_COUNT);
  tcase_add_loop_test(tc, suspensions, 0, 2);
  tcase_add_test(tc, network_of_ranks);
  tcase_add_test(tc, what_is_refused);
  suite_add_tcase(suite, tc);
  return run_ranks(suite, "check_stokes_ranks");
}
