/* tests/cachemodel/check_list_trace.c - requests of the force kernels against the kernels' text. */
#include "cachemodel/kernel/list_trace.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_slices.h"
#include "tests/ref/ref_threads.h"
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

/* What the model issued, request after request, threads as events. */
typedef struct {
  ref_events all;
  int64_t requests, threads;
} issued;

static md_status collect(void *to, const list_request *r)
{
  issued *in = to;
  for (int32_t l = 0; l < r->lanes; l++) {
    const ref_event e = {0, in->requests,       r->stream, r->op, r->no_keep,
                         l, list_address(r, l), r->bytes};
    ref_event_note(&in->all, e);
  }
  in->threads += r->lanes * r->threads;
  in->requests++;
  return MD_OK;
}

/* The 4-byte words that n events touch, sorted. */
static int by_word(const void *x, const void *y)
{
  const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}
static int64_t words_of(const ref_event *e, int64_t n, uint64_t *word)
{
  int64_t found = 0;
  for (int64_t k = 0; k < n; k++)
    for (int32_t b = 0; b < e[k].bytes; b += 4)
      word[found++] = e[k].address + (uint64_t)b;
  qsort(word, (size_t)found, sizeof *word, by_word);
  return found;
}

/* Both say the same, request by request. */
static void compare(const issued *model, const ref_events *expected, const char *name)
{
  int64_t at = 0, threads = 0;
  for (int64_t from = 0; from < expected->n;) {
    const int64_t end = ref_request_end(expected, from);
    ck_assert_msg(at < model->all.n, "%s: the model ends early", name);
    const int64_t model_end = ref_request_end(&model->all, at);
    const ref_event *e = &expected->event[from], *m = &model->all.event[at];
    ck_assert_msg(e->stream == m->stream && e->op == m->op && e->no_keep == m->no_keep,
                  "%s, request %lld: %s %d instead of %s %d", name, (long long)m->label,
                  trace_stream_words[m->stream], (int)m->op, trace_stream_words[e->stream],
                  (int)e->op);
    uint64_t words[2][32 * 8];
    const int64_t n = words_of(e, end - from, words[0]);
    ck_assert_msg(n == words_of(m, model_end - at, words[1]) &&
                      memcmp(words[0], words[1], (size_t)n * sizeof **words) == 0,
                  "%s, request %lld (%s): other addresses", name, (long long)m->label,
                  trace_stream_words[m->stream]);
    threads += end - from;
    from = end;
    at = model_end;
  }
  ck_assert_msg(at == model->all.n, "%s: the model goes on", name);
  ck_assert_int_eq(model->threads, threads);
}

/* Of three types. */
static const double cutoff[9] = {1.6, 1.1, 1.4, 1.1, 1.3, 0.9, 1.4, 0.9, 1.5};

static void check_gpu(const run_near *near, list_reads reads, neighbor_kind kind, bool newton,
                      const char *name)
{
  double spaced[18]; /* cutoffs, each followed by what is none */
  for (int k = 0; k < 9; k++)
    spaced[2 * k] = cutoff[k], spaced[2 * k + 1] = 9;
  const list_input in = {.atoms = near->atoms,
                         .list = near->list,
                         .r_cut = 0.88 * near->spec.r_list,
                         .reads = reads,
                         .cutoff = spaced,
                         .step = 2};
  list_kernel kernel;
  ck_ok(list_kernel_gpu(&in, kind, newton, &kernel));
  for (kernel.pass = list_first_pass(&kernel); kernel.pass <= LIST_PASS_FORCES; kernel.pass++) {
    issued model = {0};
    const ref_events expected = ref_threads(near, &kernel, in.r_cut, cutoff);
    ck_ok(list_run_pass(&in, &kernel, kernel.n, collect, &model));
    compare(&model, &expected, name);
    free(model.all.event);
    free(expected.event);
  }
}

START_TEST(gpu_requests_are_those_of_the_threads)
{
  for (int k = 0; k < run_case_count(); k++) {
    const md_precision precision = (md_precision)_i;
    run_case c = run_case_make(k, precision);
    neighbor_spec spec = run_near_spec(1.8, 0.5 + 0.25 * (k % 3));
    spec.order = run_order(k);
    if (c.n > 0) {
      run_near near = ref_near_cpu(precision, &spec, &c);
      check_gpu(&near, LIST_ALIKE, NEIGHBOR_FULL, true, c.name);
      check_gpu(&near, LIST_ALIKE, NEIGHBOR_HALF, true, c.name);
      check_gpu(&near, LIST_ALIKE, NEIGHBOR_HALF, false, c.name);
      check_gpu(&near, LIST_EMBEDDED, NEIGHBOR_FULL, true, c.name);
      run_near_types(&near, 3);
      check_gpu(&near, LIST_TYPED, NEIGHBOR_FULL, true, c.name);
      check_gpu(&near, LIST_TYPED, NEIGHBOR_HALF, true, c.name);
      check_gpu(&near, LIST_TYPED, NEIGHBOR_HALF, false, c.name);
      run_near_close(&near);
    }
    run_case_free(&c);
  }
}
END_TEST

/* On a GPU: its own list is what was made from the CPU's. */
START_TEST(slices_are_those_of_the_gpu)
{
  if (test_backend() == MD_CPU) return;
  const int cells[3] = {7, 8, 9};
  const double lo[3] = {1, -2, 0};
  for (int list = 0; list < RUN_TRACED; list++) {
    run_case c = run_case_fcc("liquid", cells, lo, 0.1);
    neighbor_spec spec = run_near_spec(2.8, 0.5);
    run_near host = ref_near_cpu(MD_DOUBLE, &spec, &c);
    run_set_list(&spec, list);
    run_near device = run_near_open(MD_DOUBLE, 1, &spec, &c);
    run_near_rebuild(&device);
    const list_input a = {host.atoms, host.list, 2.5, NULL, LIST_ALIKE, NULL, 0},
                     b = {device.atoms, device.list, 2.5, NULL, LIST_ALIKE, NULL, 0};
    list_kernel made, own;
    list_slices *slices[2];
    list_slice x = {0}, y = {0};
    ck_ok(list_kernel_gpu(&a, spec.kind, spec.newton, &made));
    ck_ok(list_kernel_of(&b, &own));
    ck_ok(list_slices_open(&a, &made, &slices[0]));
    ck_ok(list_slices_open(&b, &own, &slices[1]));
    do {
      ck_ok(list_slices_next(slices[0], &x));
      ck_ok(list_slices_next(slices[1], &y));
      ck_assert_int_eq(x.rows, y.rows);
      ck_assert_mem_eq(x.count, y.count, sizeof x.count);
      for (int l = 0; l < x.rows; l++)
        for (int k = 0; k < x.count[l]; k++)
          ck_assert_int_eq(x.nbr[32 * k + l], y.nbr[32 * k + l]);
      if (spec.kind == NEIGHBOR_HALF)
        ck_assert_mem_eq(x.acts, y.acts, (size_t)x.longest * sizeof *x.acts);
    } while (x.rows > 0);
    list_slice_free(&x);
    list_slice_free(&y);
    list_slices_close(slices[0]);
    list_slices_close(slices[1]);
    run_near_close(&host);
    run_near_close(&device);
    run_case_free(&c);
  }
}
END_TEST

/* A trace file of the kernel holds these accesses. */
static void check_record(const list_input *in, const ref_events *expected, const char *name)
{
  char path[64];
  trace_writer *writer;
  trace_reader *reader;
  trace_run runs[100];
  int64_t n = 1, at = 0;
  snprintf(path, sizeof path, "/tmp/minimd-list-%ld", (long)getpid());
  ck_ok(trace_writer_open(path, &writer));
  ck_ok(list_record(in, writer));
  ck_ok(trace_writer_close(writer));
  ck_ok(trace_reader_open(path, NULL, &reader));
  while (n > 0) {
    ck_ok(trace_read(reader, 100, runs, &n));
    for (int64_t k = 0; k < n; k++)
      for (int64_t a = 0; a < runs[k].count; a++, at++) {
        const ref_event *e = &expected->event[at];
        ck_assert_msg(at < expected->n && runs[k].stream == e->stream && runs[k].op == e->op &&
                          runs[k].bytes == e->bytes &&
                          runs[k].address + (uint64_t)(a * runs[k].stride) == e->address,
                      "%s: access %lld of the trace", name, (long long)at);
      }
  }
  ck_assert_int_eq(at, expected->n);
  trace_reader_close(reader);
  unlink(path);
}

START_TEST(cpu_accesses_are_those_of_the_kernel)
{
  for (int k = 0; k < run_case_count(); k++) {
    run_case c = run_case_make(k, (md_precision)_i);
    neighbor_spec spec = run_near_spec(1.8, 0.5);
    run_set_list(&spec, k % RUN_TRACED);
    if (c.n > 0) {
      run_near near = ref_near_cpu((md_precision)_i, &spec, &c);
      const list_reads reads = k % 2 ? LIST_TYPED : LIST_ALIKE;
      const list_input in = {near.atoms, near.list, 1.6, NULL, reads, NULL, 0};
      list_kernel kernel;
      ck_ok(list_kernel_of(&in, &kernel));
      ck_assert_int_eq(kernel.array[LIST_TYPE].stride, k % 2);
      run_list list = run_list_read(near.ctx, near.list);
      run_snapshot atoms = run_snapshot_take(near.atoms);
      const ref_events expected = ref_slices(&kernel, &list, &atoms);
      issued model = {0};
      ck_ok(list_run(&in, &kernel, kernel.n, collect, &model));
      ck_assert_int_eq(model.all.n, expected.n);
      for (int64_t a = 0; a < model.all.n; a++) {
        const ref_event *m = &model.all.event[a], *e = &expected.event[a];
        ck_assert_msg(m->stream == e->stream && m->op == e->op && m->address == e->address &&
                          m->bytes == e->bytes,
                      "%s: access %lld: %s instead of %s", c.name, (long long)a,
                      trace_stream_words[m->stream], trace_stream_words[e->stream]);
      }
      check_record(&in, &expected, c.name);
      free(model.all.event);
      free(expected.event);
      run_snapshot_free(&atoms);
      run_list_free(&list);
      run_near_close(&near);
    }
    run_case_free(&c);
  }
}
END_TEST

/* Addresses are where the arrays lie; compact ones keep arrays apart and their places in a page. */
START_TEST(addresses_are_those_of_the_arrays)
{
  run_case c = run_case_make(0, MD_DOUBLE);
  const neighbor_spec spec = run_near_spec(1.8, 0.5);
  run_near near = ref_near_cpu(MD_DOUBLE, &spec, &c);
  const neighbor_view *view = neighbor_list_view(near.list);
  const list_input in = {near.atoms, near.list, 1.6, NULL, LIST_ALIKE, NULL, 0};
  list_kernel real, compact;
  ck_ok(list_kernel_of(&in, &real));
  ck_assert(real.array[LIST_COORD].base == (uintptr_t)near.atoms->x.data);
  ck_assert(real.array[LIST_FORCE].base == (uintptr_t)near.atoms->f.data);
  ck_assert(real.array[LIST_NBR].base == (uintptr_t)view->nbr);
  ck_assert(real.array[LIST_COUNT].base == (uintptr_t)view->count);
  ck_assert_int_eq(real.array[LIST_COORD].stride, 32);
  ck_assert_int_eq(real.array[LIST_COORD].count, near.atoms->n + near.atoms->n_ghost);
  compact = real;
  list_kernel_compact(&compact);
  for (int k = 0; k < LIST_ARRAY_COUNT; k++) {
    ck_assert(compact.array[k].base % 4096 == real.array[k].base % 4096);
    for (int other = 0; other < k; other++)
      ck_assert(list_array_end(&compact.array[other]) <= compact.array[k].base);
  }
  const neighbor_kind half = NEIGHBOR_HALF;
  neighbor_spec other = spec;
  other.kind = half;
  run_near halves = ref_near_cpu(MD_DOUBLE, &other, &c);
  const list_input wrong = {halves.atoms, halves.list, 1.6, NULL, LIST_ALIKE, NULL, 0};
  ck_assert_int_eq(list_kernel_gpu(&wrong, half, true, &compact), MD_EINVAL);
  run_near_close(&halves);
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

/* How many of n numbers are different. */
static int64_t distinct(const int64_t *number, int64_t n)
{
  int64_t found = 0;
  for (int64_t k = 0; k < n; k++) {
    int64_t before = 0;
    while (before < k && number[before] != number[k])
      before++;
    found += before == k;
  }
  return found;
}

/* Where the coordinates behind entry k of row r begin, or -1. */
static int64_t entry_byte(const neighbor_view *v, int64_t r, int32_t k, int64_t size)
{
  if (r >= v->n_rows || k >= v->count[r]) return -1;
  return v->nbr[v->start[r / v->width] + (int64_t)k * v->width + r % v->width] * size;
}

static list_figures figures_of(const neighbor_view *v, int64_t size)
{
  int64_t requests = 0, sectors = 0, lines = 0, *places = malloc((size_t)v->max_count * 8 + 256);
  for (int64_t first = 0; first < v->n_rows; first += 32)
    for (int32_t k = 0; k < v->max_count; k++) {
      int64_t n = 0;
      for (int64_t r = first; r < first + 32; r++)
        if (entry_byte(v, r, k, size) >= 0) places[n++] = entry_byte(v, r, k, size) / 32;
      requests += n > 0;
      sectors += distinct(places, n);
    }
  for (int64_t r = 0; r < v->n_rows; r++) {
    for (int32_t k = 0; k < v->count[r]; k++)
      places[k] = entry_byte(v, r, k, size) / 64;
    lines += distinct(places, v->count[r]);
  }
  free(places);
  return (list_figures){requests ? (double)sectors / (double)requests : 0,
                        (double)lines / (double)v->n_rows, v->n_rows};
}

START_TEST(figures_are_those_of_the_list)
{
  for (int k = 0; k < run_case_count(); k++) {
    run_case c = run_case_make(k, (md_precision)_i);
    neighbor_spec spec = run_near_spec(1.8, 0.5);
    spec.order = run_order(k);
    run_set_list(&spec, k % RUN_TRACED);
    if (c.n > 0) {
      run_near near = run_near_open((md_precision)_i, 1, &spec, &c);
      run_near_rebuild(&near);
      const list_input in = {near.atoms, near.list, 1.6, NULL, LIST_ALIKE, NULL, 0};
      run_list list = run_list_read(near.ctx, near.list);
      const list_figures expected = figures_of(&list.view, _i == MD_DOUBLE ? 32 : 16);
      list_figures found;
      ck_ok(list_measure(&in, INT64_MAX, &found));
      ck_assert_msg(found.rows >= c.n, "%s: %lld rows", c.name, (long long)found.rows);
      ck_assert_double_eq_tol(found.sectors_per_request, expected.sectors_per_request, 1e-9);
      ck_assert_double_eq_tol(found.lines_per_row, expected.lines_per_row, 1e-9);
      ck_ok(list_measure(&in, 33, &found));
      ck_assert_int_eq(found.rows, c.n < 64 ? c.n : 64);
      run_list_free(&list);
      run_near_close(&near);
    }
    run_case_free(&c);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("list_trace");
  TCase *tcase = tcase_create("kernels");
  tcase_add_loop_test(tcase, gpu_requests_are_those_of_the_threads, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tcase, cpu_accesses_are_those_of_the_kernel, 0, MD_PRECISION_COUNT);
  tcase_add_test(tcase, addresses_are_those_of_the_arrays);
  tcase_add_test(tcase, slices_are_those_of_the_gpu);
  tcase_add_loop_test(tcase, figures_are_those_of_the_list, 0, MD_PRECISION_COUNT);
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
