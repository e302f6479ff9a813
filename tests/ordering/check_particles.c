/* tests/ordering/check_particles.c - particles sorted along a curve, against a sort of cells found
 * one by one. */
#include "core/buffer.h"
#include "ordering/ordering.h"
#include "tests/test.h"

enum { N = 3000 };

typedef struct {
  uint32_t key;
  int32_t particle;
} keyed;

static int by_key(const void *a, const void *b)
{
  const keyed *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return p->particle < q->particle ? -1 : p->particle > q->particle;
}

/* What the sort should give: the cells' indices from a table, then qsort. */
static void ref_places(const ordering *order, const ordering_particles *p, const double *x,
                       int32_t *place)
{
  const int32_t *c = p->cells;
  uint32_t *index = malloc(sizeof *index * (size_t)(c[0] * c[1] * c[2]));
  keyed *all = malloc(sizeof *all * (size_t)p->n);
  md_ctx host = {.backend = MD_CPU, .threads = 1, .isa = MD_PORTABLE};
  ck_ok(ordering_index(&host, order, c, index));
  for (int32_t i = 0; i < p->n; i++) {
    int32_t cell = 0;
    for (int a = 0; a < 3; a++) {
      const double edge = p->hi[a] - p->lo[a];
      double y = fmod(x[i * p->stride + a] - p->lo[a], edge);
      if (y < 0) y += edge;
      cell = cell * c[a] + (int32_t)(y / (edge / c[a]));
    }
    all[i] = (keyed){order->kind == ORDERING_NONE ? 0 : index[cell], i};
  }
  qsort(all, (size_t)p->n, sizeof *all, by_key);
  for (int32_t i = 0; i < p->n; i++)
    place[i] = all[i].particle;
  free(index);
  free(all);
}

static uint64_t seed = 7;
static double uniform(void)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 40) * 0x1p-24;
}

/* Positions of [n][stride] on the backend in the type of the precision; never at a cell's border,
 * where roundings decide. */
static void *positions(md_ctx *ctx, md_buffer *buffer, int64_t numbers, const double *x)
{
  const size_t bytes = (ctx->precision == MD_SINGLE ? 4 : 8) * (size_t)numbers;
  float *narrow = malloc(4 * (size_t)numbers);
  for (int64_t k = 0; k < numbers; k++)
    narrow[k] = (float)x[k];
  ck_ok(md_buffer_reserve(ctx, buffer, bytes, 0));
  ck_ok(
      md_write(ctx, buffer->data, ctx->precision == MD_SINGLE ? (void *)narrow : (void *)x, bytes));
  free(narrow);
  return buffer->data;
}

static const char *const words[] = {"none",    "row",        "column",
                                    "morton",  "morton:kji", "hilbert",
                                    "gilbert", "random:3",   "hybrid:hilbert/row:4"};
enum { WORDS = sizeof words / sizeof *words };

static void check_sorted(md_precision precision, int threads, const ordering *order, int64_t stride)
{
  static double x[N * 4];
  static int32_t place[N], expected[N];
  ordering_particles p = {{-1, 2, 0}, {5, 5, 12}, {6, 12, 24}, N, NULL, stride};
  for (int64_t k = 0; k < N * stride; k++) {
    const int64_t a = k % stride;
    const double edge = a < 3 ? p.hi[a] - p.lo[a] : 1, lo = a < 3 ? p.lo[a] : 0;
    const double cell = floor(uniform() * 24 * 5) - 48; /* of 24 a box, up to two boxes away */
    x[k] = lo + edge * (cell + 0.25 + uniform() / 2) / 24;
  }
  md_ctx *ctx = test_ctx(precision, threads, false);
  ordering_sorter *sorter;
  md_buffer in = {0}, out = {0};
  ck_ok(ordering_sorter_create(ctx, &sorter));
  p.x = positions(ctx, &in, N * stride, x);
  ck_ok(md_buffer_reserve(ctx, &out, sizeof place, 0));
  ck_ok(ordering_sort_particles(sorter, order, &p, out.data));
  ck_ok(md_read(ctx, place, out.data, sizeof place));
  ref_places(order, &p, x, expected);
  ck_assert_mem_eq(place, expected, sizeof place);
  p.cells[0] = p.cells[1] = p.cells[2] = 0; /* chosen: cubes of about one particle */
  ck_ok(ordering_sort_particles(sorter, order, &p, out.data));
  ck_ok(md_read(ctx, place, out.data, sizeof place));
  memcpy(p.cells, (int32_t[]){16, 8, 32}, sizeof p.cells);
  ref_places(order, &p, x, expected);
  ck_assert_mem_eq(place, expected, sizeof place);
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &out);
  ordering_sorter_destroy(sorter);
  md_ctx_destroy(ctx);
}

START_TEST(particles_lie_along_the_curve)
{
  ordering order;
  ck_ok(ordering_parse(words[_i], &order));
  for (int precision = MD_SINGLE; precision < MD_PRECISION_COUNT; precision++)
    for (int threads = 1; threads <= 3; threads += 2)
      for (int64_t stride = 3; stride <= 4; stride++)
        check_sorted((md_precision)precision, threads, &order, stride);
}
END_TEST

START_TEST(bad_particles_are_named)
{
  static const ordering hilbert = {.kind = ORDERING_HILBERT};
  double x[9] = {0.5, 0.5, 0.5, 1, 1, 1, 2, 2, 2};
  int32_t place[3] = {7, 7, 7};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  ordering_sorter *sorter;
  md_buffer in = {0}, out = {0};
  ck_ok(ordering_sorter_create(ctx, &sorter));
  ck_ok(md_buffer_reserve(ctx, &out, sizeof place, 0));
  static const double bad[] = {NAN, INFINITY, -INFINITY, 0x1p52, -0x1p52};
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    x[5] = x[8] = bad[b];
    ordering_particles p = {{0, 0, 0}, {3, 3, 3}, {0}, 3, positions(ctx, &in, 9, x), 3};
    ck_assert_int_eq(ordering_sort_particles(sorter, &hilbert, &p, out.data), MD_EINVAL);
    ck_assert_ptr_nonnull(strstr(md_message(), "particle 1 "));
  }
  const ordering_particles good = {{0, 0, 0}, {3, 3, 3}, {0}, 1, positions(ctx, &in, 9, x), 3};
  ordering_particles p = good;
  ck_ok(ordering_sort_particles(sorter, &hilbert, &p, out.data));
  ck_ok(md_read(ctx, place, out.data, sizeof *place));
  ck_assert_int_eq(place[0], 0);
  p.n = 0;
  ck_ok(ordering_sort_particles(sorter, &hilbert, &p, NULL));
  p.n = INT64_C(1) << 31;
  ck_assert_int_eq(ordering_sort_particles(sorter, &hilbert, &p, out.data), MD_ECAPACITY);
  p = good, p.stride = 2;
  ck_assert_int_eq(ordering_sort_particles(sorter, &hilbert, &p, out.data), MD_EINVAL);
  p = good, p.hi[1] = 0;
  ck_assert_int_eq(ordering_sort_particles(sorter, &hilbert, &p, out.data), MD_EINVAL);
  p = good, p.hi[1] = NAN;
  ck_assert_int_eq(ordering_sort_particles(sorter, &hilbert, &p, out.data), MD_EINVAL);
  p = good, p.cells[1] = 4;
  ck_assert_int_eq(ordering_sort_particles(sorter, &hilbert, &p, out.data), MD_EINVAL);
  p = good, p.cells[0] = p.cells[1] = p.cells[2] = 2000;
  ck_assert_int_eq(ordering_sort_particles(sorter, &hilbert, &p, out.data), MD_ECAPACITY);
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &out);
  ordering_sorter_destroy(sorter);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("particles");
  TCase *tc = tcase_create("sort");
  tcase_add_loop_test(tc, particles_lie_along_the_curve, 0, WORDS);
  tcase_add_test(tc, bad_particles_are_named);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
