/* stokes/ranks/rows_make.c - which rows this rank has, needs and sends; see rows.h.
 *
 * A rank knows the ghosts of its rows.  It names them to their owners, which learn so what to send:
 * the matrix need not be symmetric. */
#include "stokes/ranks/rows_impl.h"
#include "stokes/team.h"

#include <stdlib.h>
#include <string.h>

enum { ABSENT = -1, NEEDED = -2 };

static rows_find_fn *const find_on_gpu = MD_GPU(rows_gpu_find);

static bool is_own(const int64_t *mine, int64_t row)
{
  return row >= mine[0] && row < mine[1];
}

/* Which rows need no others' rows, and which are to be fetched for the rest. */
static void find_ghosts(stokes_rows *rows)
{
  const int64_t *start = rows->matrix->start.data, *mine = rows->cut + world_rank();
  stokes_rows_view *v = &rows->view;
#pragma omp parallel for schedule(static, 256) num_threads(team_size(rows->ctx, v->n_own))
  for (int64_t i = 0; i < v->n_own; i++) {
    rows->inner[i] = 1;
    for (int64_t p = start[i]; p < start[i + 1]; p++)
      if (!is_own(mine, *matrix_column(rows->matrix, p))) rows->inner[i] = 0;
  }
  memset(rows->number, 0xff, (size_t)v->n_all * sizeof *rows->number); /* ABSENT */
  for (int64_t i = 0; i < v->n_own; i++)
    for (int64_t p = start[i]; p < start[i + 1] && !rows->inner[i]; p++) {
      const int32_t column = *matrix_column(rows->matrix, p);
      if (is_own(mine, column)) continue;
      v->n_ghosts += rows->number[column] == ABSENT;
      rows->number[column] = NEEDED;
    }
}

/* Rows that are multiplied while messages travel: whole groups that need no ghosts.  Runs of a row
 * or two would break up the stream of blocks: products with one vector took 1.24 times as long. */
static void find_inner(stokes_rows *rows)
{
  enum { GROUP = STOKES_ROWS_TOGETHER };
  const int64_t n = rows->view.n_own;
  for (int64_t first = 0; first < n; first += GROUP) {
    const int64_t count = n - first < GROUP ? n - first : GROUP;
    const bool inner = !memchr(rows->inner + first, 0, (size_t)count);
    memset(rows->inner + first, inner, (size_t)count);
    rows->view.n_inner += inner ? count : 0;
  }
}

/* Numbers of own rows in the whole matrix, and of ghosts where they are known already. */
static md_status list_rows(stokes_rows *rows, const int32_t *ghost)
{
  stokes_rows_view *v = &rows->view;
  rows->row = malloc((size_t)(v->n_own + v->n_ghosts) * sizeof *rows->row + 1);
  MD_REQUIRE(rows->row, MD_ENOMEM, "out of memory for the rows of a rank");
  v->row = rows->row;
  for (int64_t i = 0; i < v->n_own; i++)
    rows->row[i] = rows->cut[world_rank()] + i;
  for (int64_t k = 0; k < v->n_ghosts && ghost; k++)
    rows->row[v->n_own + k] = ghost[k];
  return MD_OK;
}

/* Numbers of own rows and ghosts in the whole matrix, and places of ghosts. */
static md_status name_rows(stokes_rows *rows)
{
  stokes_rows_view *v = &rows->view;
  MD_TRY(list_rows(rows, NULL));
  int64_t ghost = v->n_own;
  for (int64_t i = 0; i < v->n_all; i++) { /* by rising number, which is rank by rank */
    if (rows->number[i] != NEEDED) continue;
    rows->row[ghost] = i;
    rows->number[i] = (int32_t)ghost++;
  }
  return MD_OK;
}

/* Columns become those of X. */
static void rename_columns(stokes_rows *rows)
{
  const int64_t *start = rows->matrix->start.data, *mine = rows->cut + world_rank();
  const int64_t n = rows->view.n_own;
#pragma omp parallel for schedule(static, 256) num_threads(team_size(rows->ctx, n))
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = start[i]; p < start[i + 1]; p++) {
      int32_t *column = matrix_column(rows->matrix, p);
      *column = is_own(mine, *column) ? (int32_t)(*column - mine[0]) : rows->number[*column];
    }
}

/* Rows that are alike and follow each other, cut where a thread would have more than it takes at
 * once.  Counted where `out` is NULL. */
static int64_t list_runs(const char *inner, int64_t n, char kind, matrix_run *out)
{
  int64_t count = 0, first = 0;
  for (int64_t i = 0; i < n; i++) {
    const bool begins = i == 0 || inner[i] != inner[i - 1] || i - first == GSPMV_TASK_ROWS;
    if (begins) first = i;
    if (inner[i] != kind) continue;
    count += begins;
    if (out) out[count - 1] = (matrix_run){first, i + 1};
  }
  return count;
}

static md_status find_runs(stokes_rows *rows)
{
  rows_runs *of[2] = {&rows->edge, &rows->within};
  for (int kind = 0; kind < 2; kind++) {
    of[kind]->n = list_runs(rows->inner, rows->view.n_own, (char)kind, NULL);
    of[kind]->run = malloc((size_t)of[kind]->n * sizeof *of[kind]->run + 1);
    MD_REQUIRE(of[kind]->run, MD_ENOMEM, "out of memory for the rows of a rank");
    list_runs(rows->inner, rows->view.n_own, (char)kind, of[kind]->run);
  }
  return MD_OK;
}

/* Of counts [ranks] those that are not zero. */
static md_status list_peers(const int64_t *count, rows_peer **out, int *n)
{
  int64_t first = 0;
  *n = 0;
  *out = malloc((size_t)world_count() * sizeof **out);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for %d ranks", world_count());
  for (int r = 0; r < world_count(); r++) {
    if (count[r] > 0) (*out)[(*n)++] = (rows_peer){r, first, count[r]};
    first += count[r];
  }
  return MD_OK;
}

/* Room for what a rank sends, and for messages. */
static md_status make_room(stokes_rows *rows, const int64_t *needed, const int64_t *asked)
{
  for (int r = 0; r < world_count(); r++)
    rows->view.n_sent += asked[r];
  MD_TRY(list_peers(needed, &rows->from, &rows->n_from));
  MD_TRY(list_peers(asked, &rows->to, &rows->n_to));
  rows->in = malloc((size_t)rows->n_from * sizeof *rows->in + 1);
  rows->out = malloc((size_t)rows->n_to * sizeof *rows->out + 1);
  rows->sent = malloc((size_t)rows->view.n_sent * sizeof *rows->sent + 1);
  MD_REQUIRE(rows->in && rows->out && rows->sent, MD_ENOMEM, "out of memory for messages");
  return world_reserve(rows->n_from + rows->n_to, (rows->view.n_sent + rows->view.n_ghosts) * 8);
}

/* Ghosts are named to their owners by their numbers, in `names` [n_sent] there. */
static void ask(stokes_rows *rows, int64_t *names)
{
  for (int k = 0; k < rows->n_to; k++) {
    const rows_peer *p = &rows->to[k];
    rows->out[k] = (world_message){p->rank, names + p->first, (size_t)p->n * sizeof *names};
  }
  for (int k = 0; k < rows->n_from; k++) {
    const rows_peer *p = &rows->from[k];
    rows->in[k] = (world_message){p->rank, rows->row + rows->view.n_own + p->first,
                                  (size_t)p->n * sizeof *names};
  }
  world_start(rows->out, rows->n_to, rows->in, rows->n_from); /* the way back of a product */
  world_wait();
  for (int64_t k = 0; k < rows->view.n_sent; k++)
    rows->sent[k] = (int32_t)(names[k] - rows->cut[world_rank()]);
}

/* Which rows are sent, to where they are packed. */
static md_status copy_sent(stokes_rows *rows)
{
  const size_t bytes = (size_t)rows->view.n_sent * sizeof *rows->sent;
  if (rows->ctx->backend == MD_CPU) return MD_OK;
  MD_TRY(md_buffer_reserve(rows->ctx, &rows->gpu.sent, bytes + 1, 0));
  return md_write(rows->ctx, rows->gpu.sent.data, rows->sent, bytes);
}

/* Whom this rank asks for rows, and who asks for its own. */
static md_status meet(stokes_rows *rows)
{
  const int ranks = world_count();
  int64_t *needed = calloc(2 * (size_t)ranks, sizeof *needed), *asked = needed + ranks;
  int64_t *names = NULL;
  md_status status = world_agree(
      needed ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for the rows of %d ranks", ranks));
  if (!status) {
    for (int64_t k = rows->view.n_own; k < rows->view.n_own + rows->view.n_ghosts; k++)
      needed[stokes_model_owner(rows->cut, ranks, rows->row[k])]++;
    world_trade(needed, asked, 1);
    status = make_room(rows, needed, asked);
    names = calloc((size_t)rows->view.n_sent + 1, sizeof *names);
    if (!status && !names) status = MD_FAIL(MD_ENOMEM, "out of memory for names of rows");
    status = world_agree(status);
  }
  if (!status) ask(rows, names);
  if (!status) status = world_agree(copy_sent(rows));
  free(names);
  free(needed);
  return status;
}

/* Of the matrix, whose columns are those of the whole one. */
static md_status place(stokes_rows *rows)
{
  find_ghosts(rows);
  MD_TRY(name_rows(rows));
  rename_columns(rows);
  if (rows->ctx->backend == MD_GPU) return MD_OK; /* whose kernels take rows one by one */
  find_inner(rows);
  return find_runs(rows);
}

/* Of a matrix on a GPU, whose columns are named before it is assembled. */
static md_status assemble_gpu(stokes_rows *rows, const stokes_view *spheres,
                              const stokes_pair_view *pairs, const stokes_resistance *law,
                              int vectors)
{
  int32_t *ghost = NULL;
  stokes_view own_spheres;
  stokes_pair_view own_pairs;
  stokes_rows_view *v = &rows->view;
  md_status status = find_on_gpu(rows, spheres, pairs, &ghost, &own_spheres, &own_pairs);
  if (!status) status = list_rows(rows, ghost);
  free(ghost);
  MD_TRY(status);
  rows->matrix->inner = rows->gpu.mailed ? rows->gpu.inner.data : NULL;
  return matrix_assemble_rows(rows->matrix, &own_spheres, &own_pairs, law, 0, v->n_own, vectors);
}

/* Rows for a GPU are taken and named on the host. */
static md_status take_to_gpu(stokes_rows *rows, const stokes_matrix *whole, int vectors)
{
  stokes_matrix *const own = rows->matrix;
  stokes_blocks blocks = {0};
  md_status status = stokes_matrix_create(whole->ctx, whole->storage, &rows->matrix);
  if (!status) status = matrix_take(rows->matrix, whole, rows->cut[world_rank()], rows->view.n_own);
  if (!status) status = place(rows);
  if (!status) status = stokes_matrix_get(rows->matrix, &blocks);
  stokes_matrix_destroy(rows->matrix);
  rows->matrix = own;
  const size_t n = (size_t)rows->view.n_own;
  if (!status) status = md_buffer_reserve(rows->ctx, &rows->gpu.inner, n, 0);
  if (!status) status = md_write(rows->ctx, rows->gpu.inner.data, rows->inner, n);
  own->inner = rows->gpu.mailed ? rows->gpu.inner.data : NULL;
  if (!status) status = stokes_matrix_set(own, &blocks, vectors);
  stokes_blocks_free(&blocks);
  return status;
}

/* How many rows there are. */
static void count_rows(stokes_rows *rows)
{
  const int64_t *cut = rows->cut;
  stokes_rows_view *v = &rows->view;
  rows_clear(rows);
  v->n_all = cut[world_count()];
  v->n_own = cut[world_rank() + 1] - cut[world_rank()];
  for (int r = 0; r < world_count(); r++)
    v->n_most = cut[r + 1] - cut[r] > v->n_most ? cut[r + 1] - cut[r] : v->n_most;
}

/* Of a matrix that was made, with this status. */
static md_status settle(stokes_rows *rows, md_status status)
{
  stokes_rows_view *v = &rows->view;
  MD_TRY(world_agree(status));
  MD_TRY(meet(rows));
  v->share = (stokes_share){stokes_matrix_shape(rows->matrix), v->n_ghosts, rows->n_from};
  v->carrier = rows_carrier(rows);
  return MD_OK;
}

md_status stokes_rows_take(stokes_rows *rows, const stokes_matrix *whole, int vectors)
{
  const int64_t first = rows->cut[world_rank()];
  count_rows(rows);
  if (rows->ctx->backend == MD_GPU) return settle(rows, take_to_gpu(rows, whole, vectors));
  const md_status status = matrix_take(rows->matrix, whole, first, rows->view.n_own);
  return settle(rows, status ? status : place(rows));
}

md_status stokes_rows_assemble(stokes_rows *rows, const stokes_view *spheres,
                               const stokes_pair_view *pairs, const stokes_resistance *law,
                               int vectors)
{
  const int64_t first = rows->cut[world_rank()];
  count_rows(rows);
  if (rows->ctx->backend == MD_GPU)
    return settle(rows, assemble_gpu(rows, spheres, pairs, law, vectors));
  const md_status status =
      matrix_assemble_rows(rows->matrix, spheres, pairs, law, first, rows->view.n_own, vectors);
  return settle(rows, status ? status : place(rows));
}

static md_status create(stokes_rows *rows, md_ctx *ctx, stokes_storage storage, const int64_t *cut)
{
  const int ranks = world_count(), me = world_rank();
  MD_REQUIRE(rows, MD_ENOMEM, "out of memory for the rows of a rank");
  rows->ctx = ctx;
  for (int r = 0; r < ranks && ctx->backend == MD_GPU; r++)
    MD_REQUIRE(cut[r + 1] > cut[r], MD_EINVAL,
               "rank %d of %d would have none of the %lld rows: expected fewer ranks, or the "
               "backend cpu",
               r, ranks, (long long)cut[ranks]);
  rows->cut = malloc(((size_t)ranks + 1) * sizeof *cut);
  rows->number = malloc((size_t)cut[ranks] * sizeof *rows->number + 1);
  rows->inner = malloc((size_t)(cut[me + 1] - cut[me]) + 1);
  MD_REQUIRE(rows->cut && rows->number && rows->inner, MD_ENOMEM,
             "out of memory for the rows of a rank");
  memcpy(rows->cut, cut, ((size_t)ranks + 1) * sizeof *cut);
  return stokes_matrix_create(ctx, storage, &rows->matrix);
}

md_status stokes_rows_create(md_ctx *ctx, stokes_storage storage, const int64_t *cut,
                             stokes_rows **out)
{
  stokes_rows *rows = calloc(1, sizeof *rows);
  md_status status = world_agree(create(rows, ctx, storage, cut));
  if (!status && ctx->backend == MD_GPU && world_count() > 1) status = rows_carry_open(rows);
  *out = status ? NULL : rows;
  if (status) stokes_rows_destroy(rows);
  return status;
}
