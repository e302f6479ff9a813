/* stokes/mobility/near.c - the near part as a matrix of blocks.
 *
 * Rows come from the list of stokes/pairs with a reach of a_i + a_j + cut.  A list sees the nearest
 * image only.  Where the reach of the largest spheres is half an edge or more, all images of all
 * pairs are summed, on the host: in a box so small there are few spheres.
 *
 * Storage on the GPU is `pair` in single precision, of which products with several vectors are
 * taken in floats. */
#include "stokes/mobility/rpy_impl.h"
#include "stokes/mobility/rpy_pair.h"
#include "stokes/pairs/search.h"
#include "stokes/team.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

md_status rpy_near_create(md_ctx *ctx, const rpy_split *split, double viscosity, rpy_near *out)
{
  *out = (rpy_near){.ctx = ctx, .xi = split->xi, .cut = split->cut, .viscosity = viscosity};
  return stokes_pairs_create(ctx, 1, split->cut, &out->pairs);
}

void rpy_near_destroy(rpy_near *near)
{
  stokes_pairs_destroy(near->pairs);
  stokes_solver_destroy(near->solver);
  stokes_matrix_destroy(near->matrix);
  md_buffer *buffers[] = {&near->narrow, &near->table, &near->kind};
  for (size_t k = 0; near->ctx && k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(near->ctx, buffers[k]);
}

double rpy_near_reach(const double box[3], const rpy_radii *radii)
{
  return fmin(box[0], fmin(box[1], box[2])) / 2 - 2 * radii->most;
}

/* Add f (I - ee^T) + g ee^T for centres that lie `apart`. */
static void add_block(const rpy_near *near, const double apart[3], double a, double b,
                      double *block)
{
  const double r_sq = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
  const rpy_block pair = rpy_near_pair(sqrt(r_sq), a, b, near->xi, near->viscosity);
  const double both = r_sq > 0 ? (pair.g - pair.f) / r_sq : 0;
  for (int row = 0; row < 3; row++)
    for (int col = 0; col < 3; col++)
      block[3 * row + col] += both * (apart[row] * apart[col]) + (row == col ? pair.f : 0);
}

static void fill_row(const rpy_near *near, const stokes_view *spheres, const stokes_pair_view *list,
                     int64_t i, stokes_blocks *out)
{
  const double *x = spheres->x + 4 * i;
  int64_t at = out->start[i];
  bool own = false;
  for (int64_t k = list->start[i]; k <= list->start[i + 1]; k++) {
    const int64_t next = k < list->start[i + 1] ? list->neighbor[k] : INT64_MAX;
    for (int turn = 0; turn < 2; turn++) { /* the diagonal where its turn is, then the neighbour */
      if (turn == 0 ? own || next < i : next == INT64_MAX) continue;
      const int64_t j = turn == 0 ? i : next;
      const double *y = spheres->x + 4 * j;
      double apart[3];
      own = own || turn == 0;
      for (int d = 0; d < 3; d++)
        apart[d] = search_difference(x[d], y[d], spheres->box[d]);
      memset(out->block + 9 * at, 0, 9 * sizeof(double));
      add_block(near, apart, x[3], y[3], out->block + 9 * at);
      out->column[at++] = (int32_t)j;
    }
  }
}

static void fill_list(const rpy_near *near, const stokes_view *spheres,
                      const stokes_pair_view *list, stokes_blocks *out)
{
  for (int64_t i = 0; i <= spheres->n; i++)
    out->start[i] = list->start[i] + i;
#pragma omp parallel for schedule(dynamic, 64) num_threads(team_size(near->ctx, spheres->n))
  for (int64_t i = 0; i < spheres->n; i++)
    fill_row(near, spheres, list, i, out);
}

/* The block of i and j: every image whose surface is within the cut. */
static void sum_images(const rpy_near *near, const stokes_view *spheres, const double *x,
                       const double *y, double *block)
{
  const double reach = x[3] + y[3] + near->cut;
  int most[3], at[3];
  memset(block, 0, 9 * sizeof *block);
  for (int d = 0; d < 3; d++)
    most[d] = (int)ceil(reach / spheres->box[d] + 0.5);
  for (at[0] = -most[0]; at[0] <= most[0]; at[0]++)
    for (at[1] = -most[1]; at[1] <= most[1]; at[1]++)
      for (at[2] = -most[2]; at[2] <= most[2]; at[2]++) {
        double apart[3], r_sq = 0;
        for (int d = 0; d < 3; d++) {
          apart[d] = search_difference(x[d], y[d], spheres->box[d]) + at[d] * spheres->box[d];
          r_sq += apart[d] * apart[d];
        }
        if (r_sq < reach * reach) add_block(near, apart, x[3], y[3], block);
      }
}

static void fill_images(const rpy_near *near, const stokes_view *spheres, stokes_blocks *out)
{
  const int64_t n = spheres->n;
#pragma omp parallel for schedule(static) num_threads(near->ctx->threads)
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      out->column[i * n + j] = (int32_t)j;
      sum_images(near, spheres, spheres->x + 4 * i, spheres->x + 4 * j,
                 out->block + 9 * (i * n + j));
    }
  for (int64_t i = 0; i <= n; i++)
    out->start[i] = i * n;
}

static md_status reserve(int64_t n, int64_t n_blocks, stokes_blocks *out)
{
  *out = (stokes_blocks){.n_rows = n, .n_blocks = n_blocks};
  out->start = malloc(((size_t)n + 1) * sizeof *out->start);
  out->column = malloc((size_t)n_blocks * sizeof *out->column);
  out->block = malloc((size_t)n_blocks * 9 * sizeof *out->block);
  MD_REQUIRE(out->start && out->column && out->block, MD_ENOMEM,
             "out of memory for %" PRId64 " near blocks of the mobility (%.3g GB)", n_blocks,
             76e-9 * (double)n_blocks);
  return MD_OK;
}

/* A matrix of this storage, empty or with what it had. */
static md_status open_matrix(rpy_near *near, stokes_storage storage)
{
  if (near->matrix && near->storage == storage) return MD_OK;
  stokes_matrix_destroy(near->matrix);
  near->storage = storage;
  return stokes_matrix_create(near->ctx, storage, &near->matrix);
}

static stokes_storage storage_of(const rpy_near *near, bool images)
{
  if (near->ctx->precision == MD_DOUBLE) return STOKES_BCRS;
  return near->ctx->backend == MD_GPU && !images ? STOKES_PAIR : STOKES_SINGLE;
}

/* From a list on the host, or NULL for all images. */
static md_status set_from_host(rpy_near *near, const stokes_view *host,
                               const stokes_pair_view *list, int vectors)
{
  const int64_t n = host->n;
  stokes_blocks blocks;
  md_status status = reserve(n, list ? list->n_entries + n : n * n, &blocks);
  if (!status && list) fill_list(near, host, list, &blocks);
  if (!status && !list) fill_images(near, host, &blocks);
  if (!status) status = stokes_matrix_set(near->matrix, &blocks, vectors);
  stokes_blocks_free(&blocks);
  return status;
}

static md_status set_images(rpy_near *near, const stokes_view *spheres, int vectors)
{
  stokes_view host;
  MD_TRY(rpy_view_open(near->ctx, spheres, &host));
  const md_status status = set_from_host(near, &host, NULL, vectors);
  rpy_view_close(spheres, &host);
  return status;
}

static md_status set_list(rpy_near *near, const stokes_view *spheres, int vectors)
{
  MD_TRY(stokes_pairs_update(near->pairs, spheres, INFINITY));
  const stokes_pair_view list = stokes_pairs_view(near->pairs);
#ifdef MD_HAVE_CUDA
  if (near->ctx->backend == MD_GPU) return rpy_near_gpu_fill(near, spheres, &list, vectors);
#endif
  return set_from_host(near, spheres, &list, vectors);
}

md_status rpy_near_radii(rpy_near *near, const stokes_view *spheres, const rpy_radii *radii)
{
#ifdef MD_HAVE_CUDA
  if (near->ctx->backend == MD_GPU) return rpy_near_gpu_tables(near, spheres, radii);
#endif
  (void)near;
  (void)spheres;
  (void)radii;
  return MD_OK;
}

md_status rpy_near_set(rpy_near *near, const stokes_view *spheres, const rpy_radii *radii,
                       int vectors)
{
  const double reach = rpy_near_reach(spheres->box, radii);
  const bool images = near->cut > reach;
  MD_REQUIRE(!images || spheres->n <= RPY_IMAGES, MD_EINVAL,
             "the box edge %g is too short: spheres of radius %g interact over %g, so that it must "
             "be at least %g (take fewer than %d spheres, or a larger xi)",
             2 * (reach + 2 * radii->most), radii->most, 2 * radii->most + near->cut,
             2 * (2 * radii->most + near->cut), RPY_IMAGES + 1);
  near->attached = false;
  MD_TRY(open_matrix(near, storage_of(near, images)));
  return images ? set_images(near, spheres, vectors) : set_list(near, spheres, vectors);
}

/* Fewer vectors gain nothing by being floats on their way through a GPU. */
enum { FLOATS = 4 };

md_status rpy_near_multiply(rpy_near *near, int m, const double *f, double *u)
{
#ifdef MD_HAVE_CUDA
  if (near->storage == STOKES_PAIR && m >= FLOATS && m <= STOKES_VECTORS)
    return rpy_near_gpu_multiply(near, m, f, u);
#endif
  return stokes_matrix_multiply(near->matrix, m, f, u);
}

md_status rpy_near_sample(rpy_near *near, int64_t n, int m, uint64_t seed, uint64_t step,
                          double tolerance, double *u, stokes_outcome *out)
{
  enum { MOST = 200 };
  vector_space space = {.ctx = near->ctx, .n_rows = n};
  if (!near->solver)
    MD_TRY(stokes_solver_create(near->ctx, STOKES_PRECONDITION_NONE, &near->solver));
  if (!near->attached) MD_TRY(stokes_solver_attach(near->solver, near->matrix));
  near->attached = true;
  MD_TRY(vectors_of(near->ctx)->normals(&space, m, seed, NORMAL_BROWNIAN, step, NULL, u));
  return stokes_solver_root(near->solver, STOKES_ROOT_LANCZOS, m, u, u, tolerance, MOST, out);
}
