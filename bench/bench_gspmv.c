/* bench/bench_gspmv.c - products on one core beside other libraries', one CSV row a case.
 *
 * Matrices like those of [Liu] Table I.  The products of a library and of bcrs storage take turns,
 * so that whatever else the machine does meets both; seconds are medians of processor time.
 * gb_per_s counts the bytes that a product needs at least (k = 0 in the model), and of_triad is its
 * share of STREAM's triad, which takes its turn too.  The triad counts 24 bytes a number, as STREAM
 * does, although a processor also reads what it writes: a product, which hardly writes, may exceed
 * 1.  Libraries that the build did not find are named on standard error. */
#include "bench/bench.h"
#include "bench/peers.h"
#include "minimd/stokes/suspension.h"
#include "stokes/model/model.h"

#include <math.h>

enum { REPEATS = 7 };
static const int widths[] = {1, 8, 16};

static const struct {
  const char *package;
  const peer *code; /* NULL: not found */
} peers[] = {
#ifdef PEER_eigen
    {"libeigen3-dev", &peer_eigen},
#else
    {"Eigen (libeigen3-dev)", NULL},
#endif
#ifdef PEER_petsc
    {"petsc-dev", &peer_petsc},
#else
    {"PETSc (petsc-dev)", NULL},
#endif
#ifdef PEER_librsb
    {"librsb-dev", &peer_librsb},
#else
    {"librsb (librsb-dev)", NULL},
#endif
};

/* Numbers of an array of the triad: more than caches hold. */
enum { TRIAD = 1 << 24 };

typedef struct {
  md_ctx *ctx;
  const char *name;
  stokes_matrix *storage[STOKES_STORAGE_COUNT];
  stokes_blocks blocks;
  int m;
  double *x, *y, *expect; /* [3 n_rows][m]; y, and what bcrs gives */
  double *a, *b, *c;      /* [TRIAD], of the triad */
} bed;

static double *numbers(md_ctx *ctx, int64_t n)
{
  md_buffer buffer = {0};
  bench_stop(md_buffer_reserve(ctx, &buffer, (size_t)n * sizeof(double), 0));
  double *out = buffer.data;
  for (int64_t k = 0; k < n; k++)
    out[k] = 1 + 1e-3 * (double)(k % 1009);
  return out;
}

static double error_of(const bed *b)
{
  const int64_t n = 3 * b->blocks.n_rows * b->m;
  double most = 0, largest = 0;
  for (int64_t k = 0; k < n; k++) {
    most = fmax(most, fabs(b->y[k] - b->expect[k]));
    largest = fmax(largest, fabs(b->expect[k]));
  }
  return most / largest;
}

/* Medians of processor time [s]. */
typedef struct {
  double code, bcrs, triad;
} times;

typedef void multiply_fn(void *state);

/* A code, bcrs and the triad in turn; the first turn does not count. */
static times compete(const bed *b, multiply_fn *multiply, void *state)
{
  double code[REPEATS], bcrs[REPEATS], triad[REPEATS];
  for (int k = -1; k < REPEATS; k++) {
    const int at = k < 0 ? 0 : k;
    const double start = md_cpu_seconds();
    multiply(state);
    const double multiplied = md_cpu_seconds();
    bench_stop(stokes_matrix_multiply(b->storage[STOKES_BCRS], b->m, b->x, b->expect));
    const double again = md_cpu_seconds();
    for (int64_t i = 0; i < TRIAD; i++)
      b->a[i] = b->b[i] + 3 * b->c[i];
    triad[at] = md_cpu_seconds() - again;
    bcrs[at] = again - multiplied;
    code[at] = multiplied - start;
  }
  return (times){bench_median(code, REPEATS), bench_median(bcrs, REPEATS),
                 bench_median(triad, REPEATS)};
}

static void row(const bed *b, const char *code, stokes_storage storage, times t)
{
  const stokes_shape shape = stokes_matrix_shape(b->storage[storage]);
  const double bytes = stokes_model_bytes(&shape, b->m, 0);
  bench_origin(stdout, MD_CPU);
  printf("%s,%.3g,%d,%s,%.6g,%.6g,%.4g,%.4g,%.3g,%.2g\n", b->name,
         (double)b->blocks.n_blocks / (double)b->blocks.n_rows, b->m, code, t.code, t.bcrs,
         t.code / t.bcrs, 1e-9 * bytes / t.code, bytes / t.code * t.triad / (24.0 * TRIAD),
         error_of(b));
  fflush(stdout);
}

typedef struct {
  const bed *b;
  const stokes_matrix *matrix;
} own_product;

static void multiply_own(void *state)
{
  const own_product *own = state;
  bench_stop(stokes_matrix_multiply(own->matrix, own->b->m, own->b->x, own->b->y));
}

static void bench_width(bed *b, int m)
{
  const int64_t n = 3 * b->blocks.n_rows * m;
  b->m = m;
  b->x = numbers(b->ctx, n);
  b->y = numbers(b->ctx, n);
  b->expect = numbers(b->ctx, n);
  for (int k = 0; k < STOKES_STORAGE_COUNT; k++) {
    own_product own = {b, b->storage[k]};
    char code[64];
    snprintf(code, sizeof code, "minimd %s", stokes_storage_words[k]);
    row(b, code, (stokes_storage)k, compete(b, multiply_own, &own));
  }
  for (size_t k = 0; k < sizeof peers / sizeof *peers; k++) {
    const peer *code = peers[k].code;
    if (!code) continue;
    void *state = code->open(&b->blocks, m, b->x, b->y);
    if (!state) {
      fprintf(stderr, "bench: %s fails for %s\n", code->name, b->name);
      continue;
    }
    const times t = compete(b, code->multiply, state);
    code->close(state, b->y);
    row(b, code->name, STOKES_BCRS, t);
  }
  free(b->x);
  free(b->y);
  free(b->expect);
}

static void bench_matrix(bed *b, const suspension_matrix *matrix)
{
  const suspension_spec spec = {matrix->rows, matrix->occupancy, 1, true};
  const stokes_resistance law = {1, matrix->gap_cut, 1e-3};
  b->name = matrix->name;
  suspension made;
  bench_stop(suspension_open(b->ctx, &spec, &law, 16, &made));
  for (int k = 0; k < STOKES_STORAGE_COUNT; k++) {
    bench_stop(stokes_matrix_create(b->ctx, (stokes_storage)k, &b->storage[k]));
    bench_stop(suspension_assemble(&made, 16, b->storage[k]));
  }
  suspension_close(&made);
  bench_stop(stokes_matrix_get(b->storage[STOKES_BCRS], &b->blocks));
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
    bench_width(b, widths[w]);
  stokes_blocks_free(&b->blocks);
  for (int k = 0; k < STOKES_STORAGE_COUNT; k++)
    stokes_matrix_destroy(b->storage[k]);
}

int main(int argc, char **argv)
{
  if (argc > 2 || (argc == 2 && strcmp(argv[1], "cpu") != 0)) {
    fprintf(stderr, "usage: bench_gspmv [cpu]\n");
    return 2;
  }
  bed b = {0};
  bench_stop(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, 1, true}, &b.ctx));
  for (size_t k = 0; k < sizeof peers / sizeof *peers; k++)
    if (!peers[k].code)
      fprintf(stderr, "bench: no products of %s: it was not there when this was built\n",
              peers[k].package);
  b.a = numbers(b.ctx, TRIAD);
  b.b = numbers(b.ctx, TRIAD);
  b.c = numbers(b.ctx, TRIAD);
  printf("date,commit,machine,matrix,blocks_per_row,vectors,code,seconds,bcrs_seconds,"
         "times_bcrs,gb_per_s,of_triad,error\n");
  for (int k = 0; k < SUSPENSION_MATRICES; k++)
    bench_matrix(&b, &suspension_matrices[k]);
  free(b.a);
  free(b.b);
  free(b.c);
  md_ctx_destroy(b.ctx);
  return 0;
}
