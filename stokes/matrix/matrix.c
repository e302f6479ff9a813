/* stokes/matrix/matrix.c - checks of arguments; the table of backends. */
#include "stokes/matrix/matrix_impl.h"

#include <inttypes.h>
#include <stdlib.h>

#define WORD(name, word) word,
const char *const stokes_storage_words[STOKES_STORAGE_COUNT] = {STOKES_STORAGES(WORD)};
#undef WORD

const matrix_backend *matrix_backend_of(const stokes_matrix *matrix)
{
  static const matrix_backend *const table[MD_BACKEND_COUNT] = {&matrix_cpu, MD_GPU(&matrix_gpu)};
  return table[matrix->ctx->backend];
}

md_status stokes_matrix_create(md_ctx *ctx, stokes_storage storage, stokes_matrix **out)
{
  *out = calloc(1, sizeof **out);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for a matrix");
  (*out)->plans = calloc(1, sizeof *(*out)->plans);
  if (!(*out)->plans) {
    free(*out);
    *out = NULL;
    return MD_FAIL(MD_ENOMEM, "out of memory for a matrix");
  }
  (*out)->ctx = ctx;
  (*out)->storage = storage;
  return MD_OK;
}

/* Every buffer of a matrix, to be freed and to be counted. */
/* clang-format off */
#define BUFFERS(X) \
  X(start) X(column) X(block) X(diagonal) X(scan_status) X(moved) X(order) X(calm) \
  X(slices.first) X(slices.lane) X(slices.place) X(slices.window)
/* clang-format on */

static void free_plans(gspmv_plans *plans)
{
  for (int k = 0; plans && k < plans->n; k++)
    free(plans->plan[k].part);
  if (plans) free(plans->plan);
  free(plans);
}

void stokes_matrix_destroy(stokes_matrix *matrix)
{
  if (!matrix) return;
  if (matrix_backend_of(matrix)->release) matrix_backend_of(matrix)->release(matrix);
#define FREE(field) md_buffer_free(matrix->ctx, &matrix->field);
  BUFFERS(FREE)
#undef FREE
  free_plans(matrix->plans);
  free(matrix);
}

md_status matrix_check_vectors(int vectors)
{
  MD_REQUIRE(vectors >= 1 && vectors <= STOKES_COLUMNS, MD_EINVAL,
             "a product takes 1 to %d vectors, not %d", STOKES_COLUMNS, vectors);
  return MD_OK;
}

static md_status assemble(stokes_matrix *matrix, assemble_job *job, const stokes_resistance *law,
                          int64_t n, int vectors)
{
  MD_TRY(matrix_check_vectors(vectors));
  MD_REQUIRE(law->far_field > 0, MD_EINVAL, "the far-field factor must be > 0, not %g",
             law->far_field);
  MD_REQUIRE(law->gap_min > 0 && law->gap_min < law->gap_cut, MD_EINVAL,
             "expected 0 < smallest gap < gap cutoff, not %g and %g", law->gap_min, law->gap_cut);
  job->range = lubrication_range_of(law->gap_min, law->gap_cut);
  job->inv_far = 1 / law->far_field;
  matrix->n_rows = n;
  matrix->resistance = true;
  return matrix_backend_of(matrix)->assemble(matrix, job, vectors);
}

md_status stokes_matrix_assemble(stokes_matrix *matrix, const stokes_view *spheres,
                                 const stokes_pair_view *pairs, const stokes_resistance *law,
                                 int vectors)
{
  assemble_job job = {.spheres = spheres, .pairs = pairs};
  MD_REQUIRE(pairs->n == spheres->n, MD_EINVAL,
             "the pair list is that of %" PRId64 " spheres, not %" PRId64, pairs->n, spheres->n);
  return assemble(matrix, &job, law, spheres->n, vectors);
}

md_status matrix_assemble_rows(stokes_matrix *matrix, const stokes_view *spheres,
                               const stokes_pair_view *pairs, const stokes_resistance *law,
                               int64_t first, int64_t n, int vectors)
{
  assemble_job job = {.spheres = spheres, .pairs = pairs, .first = first};
  return assemble(matrix, &job, law, n, vectors);
}

md_status stokes_matrix_set(stokes_matrix *matrix, const stokes_blocks *blocks, int vectors)
{
  MD_TRY(matrix_check_vectors(vectors));
  MD_REQUIRE(matrix->storage != STOKES_PAIR, MD_EINVAL,
             "pair storage holds resistance matrices only: expected bcrs or single");
  matrix->n_rows = blocks->n_rows;
  matrix->resistance = false;
  matrix->n_blocks = matrix->n_stored = blocks->n_blocks;
  return matrix_backend_of(matrix)->set(matrix, blocks, vectors);
}

md_status matrix_take(stokes_matrix *matrix, const stokes_matrix *from, int64_t first, int64_t n)
{
  MD_REQUIRE(matrix_backend_of(matrix)->take, MD_EINVAL,
             "rows of a matrix are taken on the backend cpu only");
  MD_REQUIRE(matrix->ctx->backend == from->ctx->backend && matrix->storage == from->storage,
             MD_EINVAL, "rows are taken from a matrix of the same backend and storage");
  matrix->n_rows = n;
  matrix->resistance = from->resistance;
  return matrix_backend_of(matrix)->take(matrix, from, first);
}

static md_status reserve_blocks(stokes_blocks *out, int64_t n_rows, int64_t n_blocks)
{
  *out = (stokes_blocks){n_rows, n_blocks, NULL, NULL, NULL};
  out->start = malloc(((size_t)n_rows + 1) * sizeof *out->start);
  out->column = malloc((size_t)n_blocks * sizeof *out->column);
  out->block = malloc((size_t)n_blocks * 9 * sizeof *out->block);
  if (out->start && out->column && out->block) return MD_OK;
  stokes_blocks_free(out);
  return MD_FAIL(MD_ENOMEM, "out of memory for %" PRId64 " blocks", n_blocks);
}

md_status stokes_matrix_get(const stokes_matrix *matrix, stokes_blocks *out)
{
  MD_TRY(reserve_blocks(out, matrix->n_rows, matrix->n_blocks));
  const md_status status = matrix_backend_of(matrix)->get(matrix, out);
  if (status) stokes_blocks_free(out);
  return status;
}

void stokes_blocks_free(stokes_blocks *blocks)
{
  free(blocks->start);
  free(blocks->column);
  free(blocks->block);
  *blocks = (stokes_blocks){0};
}

bool stokes_matrix_is_resistance(const stokes_matrix *matrix)
{
  return matrix->resistance;
}

const double *stokes_matrix_diagonal(const stokes_matrix *matrix)
{
  return matrix->diagonal.data;
}

stokes_shape stokes_matrix_shape(const stokes_matrix *matrix)
{
  const double entry = (double)matrix_entry_bytes(matrix->storage);
  const bool pair = matrix->storage == STOKES_PAIR;
  stokes_shape shape = {.n_rows = matrix->n_rows, .n_blocks = matrix->n_blocks};
#define COUNT(field) shape.bytes += (int64_t)matrix->field.bytes;
  BUFFERS(COUNT)
#undef COUNT
  shape.product_bytes =
      (double)matrix->n_stored * (entry + (pair ? 0 : sizeof(int32_t))) +
      (double)matrix->n_rows * (sizeof(int64_t) + (pair ? 6 * sizeof(double) : 0));
  return shape;
}
