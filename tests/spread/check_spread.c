/* tests/spread/check_spread.c - every spreading method and interpolation against the definition. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

/* Digits before the point, of boxes and cells, are lost behind it, and some where a thousand
 * particles of a cell are added up in any order. */
static double tolerance(const md_ctx *ctx, const spread_spec *spec, ref_place place)
{
  const double cells = fmax(spec->mesh[0], spec->mesh[2]);
  const double more = place == REF_FAR ? 40 : place == REF_ONE_CELL ? 2 : 1;
  return (ctx->precision == MD_DOUBLE ? 1e-14 : 3e-6) * more * fmax(1, cells / 60);
}

/* One plan against the reference: spreading and interpolation of every vector, of values alone
 * too. */
static void compare(md_ctx *ctx, const spread_spec *spec, ref_place place, int64_t n)
{
  ref_particles particles = ref_particles_make(spec, ctx->precision, place, n);
  ref_run run = ref_run_open(ctx, spec, &particles);
  const int64_t points = run.points, v = spec->vectors;
  double *mesh = calloc((size_t)(points * v), sizeof *mesh), *exact = calloc((size_t)points, 8);
  double *value = calloc((size_t)(n * v) + 1, 8), *gradient = calloc((size_t)(n * v) + 1, 24);
  double *exact_value = calloc((size_t)n + 1, 8), *exact_gradient = calloc((size_t)n + 1, 24);
  double *alone = calloc((size_t)(n * v) + 1, 8);
  ref_run_spread(&run, mesh);
  ref_run_interpolate(&run, mesh, value, gradient);
  ref_run_interpolate(&run, mesh, alone, NULL);
  const bool kinks = spec->order == 2 && place != REF_UNIFORM;
  for (int64_t k = 0; k < v; k++) {
    memset(exact, 0, (size_t)points * sizeof *exact);
    ref_spread(spec, n, particles.x, particles.q + k * n, exact);
    ck_assert_double_le(ref_error(points, mesh + k * points, exact), tolerance(ctx, spec, place));
    ref_interpolate(spec, n, particles.x, mesh + k * points, exact_value, exact_gradient);
    ck_assert_double_le(ref_error(n, value + k * n, exact_value), 2 * tolerance(ctx, spec, place));
    ck_assert_double_le(ref_error(n, alone + k * n, exact_value), 2 * tolerance(ctx, spec, place));
    if (!kinks)
      ck_assert_double_le(ref_error(3 * n, gradient + 3 * k * n, exact_gradient),
                          8 * tolerance(ctx, spec, place));
  }
  free(mesh), free(exact), free(value), free(gradient), free(exact_value), free(exact_gradient);
  free(alone);
  ref_run_close(&run);
  ref_particles_free(&particles);
}

/* Loop index: precision, and method on this backend. */
static bool pick(int i, int threads, md_ctx **ctx, spread_method *method)
{
  *method = (spread_method)(i / MD_PRECISION_COUNT);
  if (!spread_method_on(*method, test_backend())) return false;
  *ctx = test_ctx((md_precision)(i % MD_PRECISION_COUNT), threads, false);
  return true;
}
enum { PICKS = SPREAD_METHOD_COUNT * MD_PRECISION_COUNT };

static void compare_orders(md_ctx *ctx, spread_method method)
{
  for (int p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++) {
    const spread_spec spec = ref_spec(method, 31, 18, 37, p);
    compare(ctx, &spec, REF_UNIFORM, 300);
  }
}

START_TEST(every_order_agrees)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 1, &ctx, &method)) return;
  compare_orders(ctx, method);
  md_ctx_destroy(ctx);
  if (!spread_method_ordered(method, test_backend())) return;
  ctx = test_ctx((md_precision)(_i % MD_PRECISION_COUNT), 2, true);
  compare_orders(ctx, method);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(every_place_agrees)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 1, &ctx, &method)) return;
  const int most = getenv("ASAN_OPTIONS") ? 4 : 7; /* there arithmetic is ten times as slow */
  for (int place = 0; place < REF_PLACE_COUNT; place++)
    for (int p = 4; p <= most; p += 3) {
      const spread_spec spec = ref_spec(method, 20, 33, 24, p);
      compare(ctx, &spec, (ref_place)place, 1500);
    }
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(every_mesh_agrees)
{
  static const int meshes[][3] = {{0, 0, 0}, {0, 1, 2},  {0, 0, 11}, {0, 15, 0}, {17, 0, 0},
                                  {1, 7, 3}, {40, 0, 3}, {3, 40, 1}, {2, 1, 60}}; /* order + this */
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 1, &ctx, &method)) return;
  for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++)
    for (int p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p += 2) {
      const spread_spec spec =
          ref_spec(method, p + meshes[m][0], p + meshes[m][1], p + meshes[m][2], p);
      compare(ctx, &spec, REF_UNIFORM, 100);
    }
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(every_count_agrees)
{
  static const int64_t counts[] = {0,   1,   2,   3,   4,   5,   7,   8,   9,    15,   16,
                                   17,  31,  32,  33,  63,  64,  65,  127, 128,  129,  191,
                                   192, 193, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025};
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 1, &ctx, &method)) return;
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    const spread_spec spec = ref_spec(method, 9, 12, 10, 5);
    compare(ctx, &spec, REF_UNIFORM, counts[k]);
    compare(ctx, &spec, REF_ONE_CELL, counts[k]);
  }
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(vectors_agree)
{
  static const int vectors[] = {2, 3, 4, 5, 8, 17};
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 1, &ctx, &method)) return;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    for (int p = 3; p <= 10; p += 3) {
      spread_spec spec = ref_spec(method, 12, 10, 21, p);
      spec.vectors = vectors[k];
      compare(ctx, &spec, REF_UNIFORM, 77);
    }
  md_ctx_destroy(ctx);
}
END_TEST

static void compare_many(md_ctx *ctx, spread_method method)
{
  const spread_spec dense = ref_spec(method, 16, 16, 16, 4);
  compare(ctx, &dense, REF_UNIFORM, 20000);
  compare(ctx, &dense, REF_ONE_CELL, 3000);
  const spread_spec sparse = ref_spec(method, 64, 64, 64, 4);
  compare(ctx, &sparse, REF_UNIFORM, 50);
  const spread_spec empty_planes = ref_spec(method, 50, 12, 16, 4);
  compare(ctx, &empty_planes, REF_UNIFORM, 20);
  const spread_spec many_keys = ref_spec(method, 1000, 40, 60, 4);
  compare(ctx, &many_keys, REF_UNIFORM, 2000);
  const spread_spec full_planes = ref_spec(method, 9, 8, 8, 8);
  compare(ctx, &full_planes, REF_UNIFORM, 15000);
}

/* So many vectors that blocks fill columns of the mesh with them together, and read stacks of
 * pencils: both cut off, meshes that are hardly wider than a spline, more particles of a plane than
 * a chunk has, none, planes without. */
START_TEST(enough_vectors_agree)
{
  static const struct {
    int mesh[3], order, vectors, n;
    ref_place place;
  } what[] = {
      {{40, 33, 17}, 6, 16, 9000, REF_UNIFORM},   {{12, 16, 8}, 5, 33, 2000, REF_UNIFORM},
      {{9, 6, 7}, 6, 17, 700, REF_UNIFORM},       {{30, 47, 12}, 4, 16, 6800, REF_CLUSTERED},
      {{25, 31, 9}, 9, 12, 3000, REF_UNIFORM},    {{16, 20, 26}, 10, 8, 300, REF_ON_EDGES},
      {{14, 19, 22}, 2, 19, 3000, REF_UNIFORM},   {{64, 40, 41}, 3, 16, 30, REF_UNIFORM},
      {{12, 14, 15}, 7, 16, 1050, REF_ONE_CELL},  {{11, 12, 13}, 8, 16, 0, REF_UNIFORM},
      {{23, 38, 17}, 8, 21, 6000, REF_UNIFORM},   {{30, 12, 12}, 6, 16, 1800, REF_ONE_CELL},
      {{33, 34, 20}, 6, 16, 9000, REF_CLUSTERED}, {{30, 35, 29}, 7, 15, 8000, REF_CLUSTERED},
      {{15, 21, 23}, 10, 24, 2900, REF_UNIFORM},  {{8, 9, 10}, 8, 16, 5000, REF_UNIFORM},
      {{19, 30, 27}, 3, 16, 6200, REF_UNIFORM},   {{16, 20, 26}, 10, 8, 3400, REF_ON_EDGES}};
  md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
  const bool slow = getenv("ASAN_OPTIONS") != NULL;
  for (size_t k = slow ? 1 : 0; k < sizeof what / sizeof *what; k += slow ? 3 : 1) {
    const int *mesh = what[k].mesh;
    spread_spec spec = ref_spec(SPREAD_TILED, mesh[0], mesh[1], mesh[2], what[k].order);
    spec.vectors = what[k].vectors;
    spec.tuning.part = k % 6 == 1 ? 700 : 0;
    compare(ctx, &spec, what[k].place, what[k].n);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* Particles so far between that sweeps find some of them anew where they end. */
START_TEST(sparse_particles_agree)
{
  md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
  for (int p = 3; p <= 7; p += 2) {
    const spread_spec spec = ref_spec(SPREAD_TILED, 512, 65, 97, p);
    compare(ctx, &spec, REF_UNIFORM, 30000);
  }
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(many_particles_agree)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 2, &ctx, &method)) return;
  compare_many(ctx, method);
  md_ctx_destroy(ctx);
  if (!spread_method_ordered(method, test_backend())) return;
  ctx = test_ctx((md_precision)(_i % MD_PRECISION_COUNT), 2, true);
  compare_many(ctx, method);
  md_ctx_destroy(ctx);
}
END_TEST

static void compare_charges(md_ctx *ctx, spread_method method, int vectors, int planes)
{
  enum { N = 6000, PLANE = 12 * 13, FIRST = 9 };
  static const double scale[] = {1, 0x1p-60, 0x1p60};
  const int64_t points = (int64_t)planes * PLANE;
  spread_spec spec = ref_spec(method, planes, 12, 13, 6);
  spec.vectors = vectors;
  double *mesh = calloc((size_t)(vectors * points), 8), *exact = calloc((size_t)points, 8);
  ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, N);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < N; i++)
      particles.q[i] = (i % 3 - 1.25) * ldexp(scale[k], -(i % 9));
    for (int a = 0; a < 3; a++) /* one that reaches planes 0 to 5 */
      particles.x[a] = (float)(spec.lo[a] + (spec.hi[a] - spec.lo[a]) / 3 / planes);
    particles.q[0] = 0x1p30 * scale[k];
    for (int v = 1; v < vectors; v++)
      memcpy(particles.q + v * N, particles.q, N * sizeof *particles.q);
    memset(exact, 0, (size_t)points * sizeof *exact);
    ref_spread(&spec, N, particles.x, particles.q, exact);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    for (int again = 0; again < 2 * vectors; again++) {
      const double *mine = mesh + again % vectors * points,
                   far = tolerance(ctx, &spec, REF_UNIFORM);
      if (again % vectors == 0) ref_run_spread(&run, mesh);
      ck_assert_double_le(ref_error(points, mine, exact), far);
      ck_assert_double_le(
          ref_error(points - FIRST * PLANE, mine + FIRST * PLANE, exact + FIRST * PLANE), far);
    }
    ref_run_close(&run);
  }
  free(mesh), free(exact);
  ref_particles_free(&particles);
}

/* Neither the size of all charges nor that of a few has to do with the accuracy of others; on a
 * long mesh, too, where blocks that fill columns of it sweep over more planes than a particle
 * reaches. */
START_TEST(charges_of_any_size_agree)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 2, &ctx, &method)) return;
  compare_charges(ctx, method, 1, 40);
  compare_charges(ctx, method, 17, 40);
  if (method == SPREAD_TILED) compare_charges(ctx, method, 17, 1400);
  md_ctx_destroy(ctx);
  if (!spread_method_ordered(method, test_backend())) return;
  ctx = test_ctx((md_precision)(_i % MD_PRECISION_COUNT), 2, true);
  compare_charges(ctx, method, 1, 40);
  md_ctx_destroy(ctx);
}
END_TEST

enum { SIZES = 5, PERIOD = 60 };

/* Exponents of the planes of a mesh: all small, all large, up and down, a few large ones, a few
 * that are not zero. */
static int plane_size(int kind, int z)
{
  const int at = z % PERIOD;
  const int sizes[SIZES] = {-90, 100, 3 * (at < PERIOD / 2 ? at : PERIOD - at),
                            at % 20 == 10 ? 60 : -20, at == 7 ? 5 : -2000};
  return sizes[kind];
}

/* Values of one vector, alone and with gradients; largest [plane]. */
static void check_values(const spread_spec *spec, const ref_particles *particles,
                         const double *mesh, const double *largest, const double *alone,
                         const double *value, const double *gradient, double bound)
{
  const int planes = spec->mesh[0];
  const int64_t n = particles->n;
  double *exact = calloc((size_t)n, 8), *exact_gradient = calloc((size_t)n, 24);
  ref_interpolate(spec, n, particles->x, mesh, exact, exact_gradient);
  for (int64_t i = 0; i < n; i++) {
    const double u = (particles->x[3 * i] - spec->lo[0]) / (spec->hi[0] - spec->lo[0]) * planes;
    double near = 0;
    for (int j = 0; j < spec->order; j++)
      near = fmax(near, largest[((int)floor(u) + j) % planes]);
    ck_assert_double_le(fabs(value[i] - exact[i]), bound * near);
    ck_assert_double_le(fabs(alone[i] - exact[i]), bound * near);
    for (int a = 0; a < 3; a++) {
      const double step = (spec->hi[a] - spec->lo[a]) / spec->mesh[a];
      ck_assert_double_le(fabs(gradient[3 * i + a] - exact_gradient[3 * i + a]),
                          8 * bound * near / step);
    }
  }
  free(exact), free(exact_gradient);
}

static void compare_sizes(md_ctx *ctx, const spread_spec *spec, int64_t n)
{
  const int planes = spec->mesh[0], plane = spec->mesh[1] * spec->mesh[2], v = spec->vectors;
  ref_particles particles = ref_particles_make(spec, ctx->precision, REF_UNIFORM, n);
  ref_run run = ref_run_open(ctx, spec, &particles);
  double *mesh = calloc((size_t)(v * run.points), 8), *largest = calloc((size_t)(v * planes), 8);
  double *value = calloc((size_t)(n * v), 8), *gradient = calloc((size_t)(n * v), 24);
  double *alone = calloc((size_t)(n * v), 8);
  for (int64_t i = 0; i < v * run.points; i++) {
    const int z = (int)(i / plane), size = plane_size(z / planes % SIZES, z % planes);
    mesh[i] = ldexp((double)(i * 7919 % 2003 - 1001), size - 10);
    largest[z] = fmax(largest[z], fabs(mesh[i]));
  }
  ref_run_interpolate(&run, mesh, value, gradient);
  ref_run_interpolate(&run, mesh, alone, NULL);
  for (int k = 0; k < v; k++)
    check_values(spec, &particles, mesh + k * run.points, largest + k * planes, alone + k * n,
                 value + k * n, gradient + 3 * k * n, tolerance(ctx, spec, REF_UNIFORM));
  free(mesh), free(largest), free(alone), free(value), free(gradient);
  ref_run_close(&run);
  ref_particles_free(&particles);
}

/* Neither the size of a mesh's numbers nor that of some has to do with the accuracy elsewhere.  The
 * last meshes have many more planes of pencils than a GPU has warps. */
START_TEST(meshes_of_any_size_agree)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, 2, &ctx, &method)) return;
  for (int p = 4; p <= 10; p += 2) {
    spread_spec spec = ref_spec(method, PERIOD, 12, 13, p);
    spec.vectors = SIZES;
    compare_sizes(ctx, &spec, 500);
    spec.vectors = 4 * SIZES;
    if (method == SPREAD_TILED) compare_sizes(ctx, &spec, 3800);
  }
  const bool slow = getenv("ASAN_OPTIONS") != NULL; /* and there is no GPU */
  for (int p = 6; p <= 7 && method == SPREAD_TILED && !slow; p++) {
    spread_spec spec = ref_spec(method, 5 * PERIOD, 50, 52, p);
    spec.vectors = SIZES;
    compare_sizes(ctx, &spec, 15000);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* On a GPU, more results than its cache holds. */
START_TEST(results_beyond_the_cache_agree)
{
  md_gpu_info info;
  if (test_backend() != MD_GPU) return;
  ck_assert_int_eq(md_gpu_describe(&info), MD_OK);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  const spread_spec spec = ref_spec(SPREAD_TILED, 20, 18, 16, 3);
  compare(ctx, &spec, REF_UNIFORM, info.l2_bytes / 8 + 1);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread");
  TCase *tc = tcase_create("spread");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, every_order_agrees, 0, PICKS);
  tcase_add_loop_test(tc, every_place_agrees, 0, PICKS);
  tcase_add_loop_test(tc, every_mesh_agrees, 0, PICKS);
  tcase_add_loop_test(tc, every_count_agrees, 0, PICKS);
  tcase_add_loop_test(tc, vectors_agree, 0, PICKS);
  tcase_add_loop_test(tc, enough_vectors_agree, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, charges_of_any_size_agree, 0, PICKS);
  tcase_add_loop_test(tc, meshes_of_any_size_agree, 0, PICKS);
  suite_add_tcase(suite, tc);
  TCase *many = test_long_case("many");
  tcase_add_loop_test(many, sparse_particles_agree, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(many, many_particles_agree, 0, PICKS);
  tcase_add_test(many, results_beyond_the_cache_agree);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
