/* tests/spread/check_spread_boxes.c - particles that follow each other are near each other, so that
 * a GPU sums and reads groups of 64 of them in boxes of the mesh; and groups for which it may not.
 * There are so many that all multiprocessors have groups. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

enum { N = 9011, GROUP = 64 };

/* Charges: of one size, of up to four times that, of all sizes, some that are none, and a group of
 * which is none. */
typedef enum { ALIKE, SPANNED, ANY, SOME, NONE, CHARGE_COUNT } charges;

static void set_charges(ref_particles *particles, charges how)
{
  for (int64_t i = 0; i < particles->n; i++) {
    double *q = &particles->q[i];
    const double sign = *q < 0 ? -1 : 1;
    if (how == ALIKE) *q = 0.8125 * sign;
    if (how == SPANNED) *q = (0.25 + 0.75 * (double)(i % 7) / 6) * sign;
    if (how == SOME) *q = i % 3 ? 0.5 * sign : 0;
    if (how == NONE) *q = i / GROUP % 2 ? 0 : sign;
    if (how != ANY) *q = (float)*q;
  }
}

/* Each group anywhere, its particles within so many cells of each other, across edges of the box
 * too. */
static ref_particles make_groups(const spread_spec *spec, const md_ctx *ctx, int64_t n,
                                 double cells)
{
  ref_particles particles = ref_particles_make(spec, ctx->precision, REF_UNIFORM, n);
  for (int64_t i = 0; i < n; i++)
    for (int a = 0; a < 3; a++) {
      const double edge = spec->hi[a] - spec->lo[a];
      const double at = particles.x[3 * (i / GROUP * GROUP) + a] - spec->lo[a];
      const double within = (particles.x[3 * i + a] - spec->lo[a]) * cells / spec->mesh[a];
      double x = i % GROUP == 0 ? at : at + within;
      while (x >= edge)
        x -= edge;
      particles.x[3 * i + a] =
          ctx->precision == MD_SINGLE ? (float)(spec->lo[a] + x) : spec->lo[a] + x;
    }
  return particles;
}

static double tolerance(const md_ctx *ctx)
{
  return ctx->precision == MD_DOUBLE ? 1e-14 : 3e-6;
}

/* Of a loop's number: orders and precisions. */
enum { ORDERS = SPREAD_ORDER_MAX - 1, CASES = ORDERS * MD_PRECISION_COUNT };
static spread_spec spec_of(int number, int k1, int k2, int k3)
{
  return ref_spec(SPREAD_PARTICLE, k1, k2, k3, 2 + number % ORDERS);
}

START_TEST(groups_agree_with_the_definition)
{
  md_ctx *ctx = test_ctx((md_precision)(_i / ORDERS), 2, false);
  const spread_spec spec = spec_of(_i, 33, 40, 37);
  for (int how = 0; how < CHARGE_COUNT; how++) {
    ref_particles particles = make_groups(&spec, ctx, N, how % 2 ? 3 : 5);
    set_charges(&particles, (charges)how);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    ck_assert_double_le(ref_run_error(&run, &particles), tolerance(ctx));
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* Groups whose boxes go around a mesh of as many points as the order, and more than around it;
 * groups that reach all of a mesh, and have no room. */
START_TEST(boxes_go_around_the_mesh)
{
  md_ctx *ctx = test_ctx((md_precision)(_i / ORDERS), 2, false);
  const int order = 2 + _i % ORDERS;
  const spread_spec spec[] = {spec_of(_i, order, order, order + 1), spec_of(_i, 33, order, 12)};
  for (int k = 0; k < 2; k++)
    for (int cells = 0; cells < 40; cells += 13) {
      ref_particles particles = make_groups(&spec[k], ctx, N, cells);
      set_charges(&particles, ALIKE);
      ref_run run = ref_run_open(ctx, &spec[k], &particles);
      ck_assert_double_le(ref_run_error(&run, &particles), 2 * tolerance(ctx));
      ref_run_close(&run);
      ref_particles_free(&particles);
    }
  md_ctx_destroy(ctx);
}
END_TEST

/* As many equal charges as a group has, at one mesh point, where the largest weights meet. */
START_TEST(the_largest_sums_fit)
{
  enum { K = 12, POINTS = K * K * K };
  md_ctx *ctx = test_ctx((md_precision)(_i / ORDERS), 2, false);
  const spread_spec spec = spec_of(_i, K, K, K);
  double mesh[POINTS], exact[POINTS] = {0};
  for (int half = 0; half < 2; half++) {
    ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, N);
    for (int64_t i = 0; i < 3 * N; i++) {
      const double edge = spec.hi[i % 3] - spec.lo[i % 3];
      const double x = spec.lo[i % 3] + edge * (5 + 0.5 * half) / K;
      particles.x[i] = ctx->precision == MD_SINGLE ? (float)x : x;
      particles.q[i / 3] = -0.9375;
    }
    memset(exact, 0, sizeof exact);
    ref_spread(&spec, N, particles.x, particles.q, exact);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    ref_run_spread(&run, mesh);
    ck_assert_double_le(ref_error(POINTS, mesh, exact), ctx->precision == MD_DOUBLE ? 1e-12 : 1e-3);
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* A small charge beside large ones keeps its digits where they do not reach. */
START_TEST(small_charges_keep_their_digits)
{
  enum { K = 40, POINTS = K * K * K };
  md_ctx *ctx = test_ctx(MD_SINGLE, 2, false);
  const spread_spec spec = ref_spec(SPREAD_PARTICLE, K, K, K, 4);
  ref_particles particles = ref_particles_make(&spec, MD_SINGLE, REF_UNIFORM, N);
  double *mesh = calloc(POINTS, sizeof *mesh), *exact = calloc(POINTS, sizeof *exact);
  for (int64_t i = 0; i < N; i++) { /* each 64th far from the others, and small */
    const double along = i % GROUP ? 10.25 : 16.25;
    for (int a = 0; a < 3; a++)
      particles.x[3 * i + a] =
          (float)(spec.lo[a] + (spec.hi[a] - spec.lo[a]) * (a == 2 ? along : 10.25) / K);
    particles.q[i] = i % GROUP ? 1 : 1e-6f;
  }
  ref_spread(&spec, N, particles.x, particles.q, exact);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  ref_run_spread(&run, mesh);
  for (int k = 0; k < POINTS; k++)
    ck_assert_double_le(fabs(mesh[k] - exact[k]), 1e-3 * fabs(exact[k]));
  ref_run_close(&run);
  ref_particles_free(&particles);
  free(mesh), free(exact);
  md_ctx_destroy(ctx);
}
END_TEST

/* Charges of a size for which a float has no scale, or its inverse is not one.  Additions to memory
 * take numbers below 1.2e-38 for 0. */
START_TEST(charges_may_be_of_any_size)
{
  static const float size[] = {3e-31f, 1e-29f, 1e-27f, 1e27f, 1e30f, 1e36f};
  md_ctx *ctx = test_ctx(MD_SINGLE, 2, false);
  const spread_spec spec = ref_spec(SPREAD_PARTICLE, 30, 31, 33, 5);
  for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
    ref_particles particles = make_groups(&spec, ctx, N, 3);
    set_charges(&particles, SPANNED);
    for (int64_t i = 0; i < N; i++)
      particles.q[i] = (float)particles.q[i] * size[k];
    ref_run run = ref_run_open(ctx, &spec, &particles);
    ck_assert_double_le(ref_run_error(&run, &particles), 2e-5);
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* A charge that is not finite shows where it reaches, and nowhere else. */
START_TEST(charges_that_are_not_finite_show)
{
  enum { K = 40 };
  static const double bad[] = {NAN, INFINITY};
  md_ctx *ctx = test_ctx(MD_SINGLE, 2, false);
  const spread_spec spec = ref_spec(SPREAD_PARTICLE, K, K, K, 5);
  double *mesh = calloc(K * K * K, sizeof *mesh), *reached = calloc(K * K * K, sizeof *reached);
  ref_particles particles = make_groups(&spec, ctx, N, 4);
  set_charges(&particles, ALIKE);
  const double one = 1;
  ref_spread(&spec, 1, particles.x + 3 * 777, &one, reached);
  for (int k = 0; k < 2; k++) {
    particles.q[777] = bad[k];
    ref_run run = ref_run_open(ctx, &spec, &particles);
    ref_run_spread(&run, mesh);
    for (int i = 0; i < K * K * K; i++)
      ck_assert_int_eq(isfinite(mesh[i]) != 0, reached[i] == 0);
    ref_run_close(&run);
  }
  ref_particles_free(&particles);
  free(mesh), free(reached);
  md_ctx_destroy(ctx);
}
END_TEST

/* Values and slopes, by definition; the same bits as of particles that read one by one. */
START_TEST(groups_read_what_particles_read)
{
  md_ctx *ctx = test_ctx((md_precision)(_i / ORDERS), 2, false);
  const spread_spec spec = spec_of(_i, 33, 40, 37);
  spread_spec one_by_one = spec;
  one_by_one.tuning.lanes = spec.order;
  const int64_t points = (int64_t)spec.mesh[0] * spec.mesh[1] * spec.mesh[2];
  double *mesh = malloc((size_t)points * sizeof *mesh), *of = malloc(8 * N * sizeof *of);
  double *value[] = {of, of + 4 * N}, *slope[] = {of + N, of + 5 * N};
  double *exact = calloc(N, sizeof *exact), *exact_slope = calloc(3 * N, sizeof *exact_slope);
  for (int64_t k = 0; k < points; k++)
    mesh[k] = sin(0.7 * (double)k) + (double)(k % 11) / 16;
  for (int cells = 4; cells < 40; cells += 33) { /* near each other, and not */
    ref_particles particles = make_groups(&spec, ctx, N, cells);
    for (int k = 0; k < 2; k++) {
      ref_run run = ref_run_open(ctx, k ? &one_by_one : &spec, &particles);
      ref_run_interpolate(&run, mesh, value[k], slope[k]);
      ref_run_close(&run);
    }
    ck_assert_mem_eq(value[0], value[1], N * sizeof(double));
    ck_assert_mem_eq(slope[0], slope[1], 3 * N * sizeof(double));
    ref_interpolate(&spec, N, particles.x, mesh, exact, exact_slope);
    ck_assert_double_le(ref_error(N, value[0], exact), 2 * tolerance(ctx));
    ck_assert_double_le(ref_error(3 * N, slope[0], exact_slope), 8 * tolerance(ctx));
    ref_particles_free(&particles);
  }
  free(mesh), free(of), free(exact), free(exact_slope);
  md_ctx_destroy(ctx);
}
END_TEST

/* Points of boxes, on average, by definition. */
static double mean_points(const spread_spec *spec, const ref_particles *particles)
{
  double all = 0;
  for (int64_t first = 0; first < particles->n; first += GROUP) {
    double points = 1;
    for (int a = 0; a < 3; a++) {
      int lo = 0, hi = 0, begin = 0;
      for (int64_t i = first; i < particles->n && i < first + GROUP; i++) {
        const double u = (particles->x[3 * i + a] - spec->lo[a]) / (spec->hi[a] - spec->lo[a]);
        const int k = spec->mesh[a], cell = (int)floor((u - floor(u)) * k);
        if (i == first) begin = cell;
        const int way = (cell - begin + k + k / 2) % k - k / 2;
        lo = way < lo ? way : lo, hi = way > hi ? way : hi;
      }
      points *= hi - lo + spec->order;
    }
    all += points;
  }
  return all * GROUP / (double)particles->n;
}

/* What auto says of groups in cubes of 3 cells, and of particles that are anywhere. */
START_TEST(auto_counts_the_points_of_boxes)
{
  enum { MANY = 20011 };
  md_ctx *ctx = test_ctx((md_precision)_i, 1, false);
  spread_spec spec = ref_spec(SPREAD_AUTO, 97, 95, 99, 4);
  spec.repeats = 1000; /* so that it looks */
  for (int near = 0; near < 2; near++) {
    ref_particles particles = near ? make_groups(&spec, ctx, MANY, 3)
                                   : ref_particles_make(&spec, ctx->precision, REF_UNIFORM, MANY);
    spread_report report;
    char text[64];
    snprintf(text, sizeof text, "boxes have %.0f points", mean_points(&spec, &particles));
    ref_run run = ref_run_open(ctx, &spec, &particles);
    spread_describe(run.plan, &report);
    ck_assert_msg(strstr(report.reason, "sectors a row") != NULL, "%s", report.reason);
    const bool said = strstr(report.reason, text) != NULL;
    ck_assert_msg(said == (near && ctx->precision != MD_DOUBLE), "%s: %s", text, report.reason);
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  if (test_needs_gpu()) return 0;
  Suite *suite = suite_create("spread_boxes");
  TCase *tc = tcase_create("boxes");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, groups_agree_with_the_definition, 0, CASES);
  tcase_add_loop_test(tc, groups_read_what_particles_read, 0, CASES);
  tcase_add_loop_test(tc, boxes_go_around_the_mesh, 0, CASES);
  tcase_add_loop_test(tc, the_largest_sums_fit, 0, CASES);
  tcase_add_test(tc, small_charges_keep_their_digits);
  tcase_add_test(tc, charges_may_be_of_any_size);
  tcase_add_test(tc, charges_that_are_not_finite_show);
  tcase_add_loop_test(tc, auto_counts_the_points_of_boxes, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
