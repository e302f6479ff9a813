/* tests/spread/check_pme_shared.c - a mesh that several processes share, as threads of this one. */
#include "tests/drive/run_pme.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <pthread.h>

/* Processes that share a mesh, as threads of this one. */
enum { MOST_PROCESSES = 7 };
static struct {
  pthread_barrier_t barrier;
  int count;
  const void *data[MOST_PROCESSES];
  const int64_t *cut[MOST_PROCESSES];
} meeting;
typedef struct {
  int me;
  md_ctx *ctx;
  pme *solver;
  sample part;
  pme_tally tally;
} process;

/* Until all have shown what the others may read; after meet_again it may change. */
static void meet(const process *of, const void *data, const int64_t *cut)
{
  meeting.data[of->me] = data, meeting.cut[of->me] = cut;
  pthread_barrier_wait(&meeting.barrier);
}
static void meet_again(void)
{
  pthread_barrier_wait(&meeting.barrier);
}

/* Reals begin .. end - 1 of all processes. */
static void add_range(int64_t begin, int64_t end, size_t size, void *to)
{
  for (int64_t k = begin; k < end; k++) {
    double sum = 0;
    for (int p = 0; p < meeting.count; p++)
      sum += size == sizeof(float) ? (double)((const float *)meeting.data[p])[k]
                                   : ((const double *)meeting.data[p])[k];
    if (size == sizeof(float))
      ((float *)to)[k] = (float)sum;
    else
      ((double *)to)[k] = sum;
  }
}

static md_status add_few(void *of, double *values, int count)
{
  double *sum = ref_alloc(count, sizeof *sum);
  meet(of, values, NULL);
  add_range(0, count, sizeof *sum, sum);
  meet_again();
  memcpy(values, sum, (size_t)count * sizeof *sum);
  free(sum);
  return MD_OK;
}

static md_status add_mesh(void *of, void *reals, int64_t n)
{
  md_ctx *ctx = ((process *)of)->ctx;
  const size_t size = md_real_size(ctx->precision);
  char *mine = ref_alloc(n, size), *sum = ref_alloc(n, size);
  md_status status = md_read(ctx, mine, reals, (size_t)n * size);
  meet(of, mine, NULL);
  add_range(0, n, size, sum);
  meet_again();
  if (!status) status = md_write(ctx, reals, sum, (size_t)n * size);
  free(mine), free(sum);
  return status;
}

static md_status add_parts(void *of, void *reals, const int64_t *cut)
{
  const process *mine = of;
  meet(of, reals, NULL);
  add_range(cut[mine->me], cut[mine->me + 1], md_real_size(mine->ctx->precision), reals);
  meet_again();
  return MD_OK;
}

static md_status complete(void *of, void *items, const int64_t *cut, size_t width)
{
  const process *mine = of;
  meet(of, items, NULL);
  for (int p = 0; p < meeting.count; p++)
    if (p != mine->me)
      memcpy((char *)items + (size_t)cut[p] * width,
             (const char *)meeting.data[p] + (size_t)cut[p] * width,
             (size_t)(cut[p + 1] - cut[p]) * width);
  meet_again();
  return MD_OK;
}

static md_status swap(void *of, const void *out, const int64_t *to, void *in, const int64_t *from,
                      size_t width)
{
  const int me = ((process *)of)->me;
  md_status status = MD_OK;
  meet(of, out, to);
  for (int p = 0; p < meeting.count; p++) {
    const int64_t *theirs = meeting.cut[p], n = from[p + 1] - from[p];
    if (theirs[me + 1] - theirs[me] != n) status = MD_FAIL(MD_EINVAL, "other messages");
    if (!status && n > 0)
      memcpy((char *)in + (size_t)from[p] * width,
             (const char *)meeting.data[p] + (size_t)theirs[me] * width, (size_t)n * width);
  }
  meet_again();
  return status;
}

static void *compute(void *of)
{
  process *mine = of;
  mine->tally = sample_compute(mine->solver, mine->ctx, &mine->part);
  return NULL;
}

/* Plans of FFTW are not made in several threads at once. */
static void make(process *mine, const pme_spec *spec)
{
  const pme_processes with = {mine,     meeting.count, mine->me, add_few,
                              add_mesh, add_parts,     complete, swap};
  ck_ok(pme_create(mine->ctx, spec, &mine->solver));
  ck_ok(pme_share(mine->solver, &with));
}

/* Processes share 50 charges, some of them have none, or no plane of the mesh: forces and sums are
 * those of one. */
START_TEST(processes_share_a_mesh)
{
  static const struct {
    int count, first[MOST_PROCESSES + 1], planes;
  } cases[] = {{2, {0, 50, 50}, 16},
               {2, {0, 37, 50}, 15},
               {3, {0, 0, 11, 50}, 16},
               {7, {0, 8, 16, 16, 30, 33, 47, 50}, 6}};
  const double most = _i == MD_DOUBLE ? 1e-13 : 2e-6;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const int count = meeting.count = cases[c].count, *first = cases[c].first;
    process each[MOST_PROCESSES];
    pthread_t thread[MOST_PROCESSES];
    sample all = sample_make(50, 4.1, 5.3, 3.7, false);
    const pme_spec spec = sample_spec(&all, cases[c].planes, 20, 18, 6, 1);
    md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
    const pme_tally whole = sample_once(ctx, &spec, &all);
    md_ctx_destroy(ctx);
    ck_assert(pthread_barrier_init(&meeting.barrier, NULL, (unsigned)count) == 0);
    for (int p = 0; p < count; p++) {
      each[p] = (process){.me = p, .part = all};
      each[p].ctx = test_ctx((md_precision)_i, 1 + p % 2, false);
      each[p].part.c.n = first[p + 1] - first[p];
      each[p].part.x += 3 * first[p], each[p].part.q += first[p];
      each[p].part.f = ref_alloc(3 * 50, sizeof(double));
      make(&each[p], &spec);
    }
    for (int p = 0; p < count; p++)
      ck_assert(pthread_create(&thread[p], NULL, compute, &each[p]) == 0);
    for (int p = 0; p < count; p++) {
      ck_assert(pthread_join(thread[p], NULL) == 0);
      const pme_tally *t = &each[p].tally;
      const int n = each[p].part.c.n;
      ck_assert_double_eq_tol(tally_total(t), tally_total(&whole), most * fabs(whole.self));
      ck_assert_double_eq_tol(t->virial, whole.virial, most * fabs(whole.self));
      const double off = n > 0 ? sample_difference(3 * n, each[p].part.f, all.f + 3 * first[p]) : 0;
      ck_assert_msg(off <= 10 * most, "case %zu, process %d: forces are off by %g", c, p, off);
      free(each[p].part.f);
      pme_destroy(each[p].solver);
      md_ctx_destroy(each[p].ctx);
    }
    pthread_barrier_destroy(&meeting.barrier);
    sample_free(&all);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pme_shared");
  TCase *tc = tcase_create("pme_shared");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, processes_share_a_mesh, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
