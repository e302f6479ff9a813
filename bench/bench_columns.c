/* bench/bench_columns.c - products with 1 ... 64 vectors, one CSV row a case: more vectors must not
 * take less time.
 *
 * Matrices like those of [Liu] Table I in each storage.  Vectors are stored in as many columns as
 * make a product fastest, and the product is made of ranges of columns (stokes/matrix/compose.c):
 * both are measured first, as a solver or `minimd gspmv` does.  Then all numbers of vectors take
 * turns, so that whatever else the machine does meets them alike.  Seconds are medians, on the GPU
 * from a cold cache, on the CPU of processor time on one core and with a quarter of the rows.
 * times_next: how long a product takes in terms of that with one vector more; above 1 it falls. */
#include "bench/bench.h"
#include "core/time/stopwatch.h"
#include "minimd/stokes/suspension.h"
#include "stokes/model/model.h"

enum { MOST = 64, REPEATS = 9 };

typedef struct {
  int columns; /* in which so many vectors are stored */
  char parts[64];
  double seconds;
} width;

typedef struct {
  suspension spheres;
  const char *name;
  stokes_storage storage;
  stokes_matrix *matrix;
  md_buffer x, y;
  width all[MOST + 1]; /* by the number of vectors */
} product_case;

/* Seconds of one product. */
static double time_product(const product_case *c, md_stopwatch *watch, int columns)
{
  double seconds;
  bench_stop(md_stopwatch_start(watch, true));
  const double began = md_cpu_seconds();
  bench_stop(stokes_matrix_multiply(c->matrix, columns, c->x.data, c->y.data));
  const double used = md_cpu_seconds() - began;
  bench_stop(md_stopwatch_stop(watch, &seconds));
  return c->spheres.ctx->backend == MD_CPU ? used : seconds;
}

/* Numbers of vectors for which a matrix is laid out alike take turns. */
static void bench_group(product_case *c, int first, int last)
{
  static double run[MOST + 1][REPEATS];
  double unused;
  md_stopwatch watch;
  bench_stop(suspension_assemble(&c->spheres, last, c->matrix));
  for (int m = first; m <= last; m++) {
    width *w = &c->all[m];
    bench_stop(stokes_matrix_columns(c->matrix, m, &w->columns));
    bench_stop(stokes_matrix_time(c->matrix, w->columns, &unused, w->parts, sizeof w->parts));
  }
  bench_stop(md_stopwatch_create(c->spheres.ctx, &watch));
  for (int k = 0; k <= REPEATS; k++)
    for (int m = first; m <= last; m++) {
      const double seconds = time_product(c, &watch, c->all[m].columns);
      if (k > 0) run[m][k - 1] = seconds;
    }
  md_stopwatch_destroy(&watch);
  for (int m = first; m <= last; m++)
    c->all[m].seconds = bench_median(run[m], REPEATS);
}

static void print_rows(const product_case *c)
{
  const stokes_shape shape = stokes_matrix_shape(c->matrix);
  for (int m = 1; m <= MOST; m++) {
    const width *w = &c->all[m];
    bench_origin(stdout, c->spheres.ctx->backend);
    printf("%s,%s,%lld,%lld,%d,%d,%s,%.6g,%.4g,", c->name, stokes_storage_words[c->storage],
           (long long)shape.n_rows, (long long)shape.n_blocks, m, w->columns, w->parts, w->seconds,
           1e-9 * stokes_model_bytes(&shape, m, 0) / w->seconds);
    if (m < MOST) printf("%.3f", w->seconds / c->all[m + 1].seconds);
    putchar('\n');
  }
  fflush(stdout);
}

static void bench_storage(product_case *c)
{
  md_ctx *ctx = c->spheres.ctx;
  const size_t bytes = (size_t)c->spheres.view.n * 3 * MOST * sizeof(double);
  bench_stop(stokes_matrix_create(ctx, c->storage, &c->matrix));
  bench_stop(md_buffer_reserve(ctx, &c->x, bytes, 0));
  bench_stop(md_buffer_reserve(ctx, &c->y, bytes, 0));
  bench_stop(md_fill(ctx, c->x.data, 0, bytes));
  bench_stop(md_fill(ctx, c->y.data, 0, bytes));
  bench_group(c, 1, 1);
  bench_group(c, 2, 8);
  bench_group(c, 9, MOST);
  print_rows(c);
  md_buffer_free(ctx, &c->x);
  md_buffer_free(ctx, &c->y);
  stokes_matrix_destroy(c->matrix);
}

int main(int argc, char **argv)
{
  int backend = MD_CPU;
  if (argc > 1) backend = md_word_index(argv[1], md_backend_words, MD_BACKEND_COUNT);
  if (argc > 2 || backend < 0) {
    fprintf(stderr, "usage: bench_columns [cpu|gpu]\n");
    return 2;
  }
  const int threads = backend == MD_CPU; /* 0: all */
  md_ctx *ctx;
  bench_stop(md_ctx_create(&(md_ctx_spec){(md_backend)backend, MD_DOUBLE, threads, true}, &ctx));
  printf("date,commit,machine,matrix,storage,block_rows,blocks,vectors,columns,parts,seconds,"
         "gb_per_s,times_next\n");
  for (int k = 0; k < SUSPENSION_MATRICES; k++) {
    const suspension_matrix *matrix = &suspension_matrices[k];
    const int64_t rows = backend == MD_CPU ? matrix->rows / 4 : matrix->rows;
    const suspension_spec spec = {rows, matrix->occupancy, 1, true};
    const stokes_resistance law = {1, matrix->gap_cut, 1e-3};
    product_case c = {.name = matrix->name};
    bench_stop(suspension_open(ctx, &spec, &law, 2 * MOST, &c.spheres));
    for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
      c.storage = (stokes_storage)storage;
      bench_storage(&c);
    }
    suspension_close(&c.spheres);
  }
  md_ctx_destroy(ctx);
  return 0;
}
