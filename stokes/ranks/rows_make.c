/* stokes/ranks/rows_make.c - which rows this rank has, needs and sends; see rows.h.
 *
 * A rank knows the ghosts of its rows.  It names them to their owners, which learn so what to send:
 * the matrix need not be symmetric. */
#include "stokes/ranks/rows_impl.h"

#include <stdlib.h>

/* What is needed while rows are made. */
typedef struct {
  const stokes_known *known;
  int64_t lo, hi;  /* own rows, by their places among those that are known */
  int32_t *number; /* [known]: place of a row in the vectors of this rank, or a mark */
  int32_t *row;    /* [known]: the other way round */
} making;

enum { ABSENT = -1, NEEDED = -2 };

static int64_t name_of(const stokes_known *known, int64_t row)
{
  return known->name ? known->name[row] : row;
}

static int32_t column_of(const stokes_matrix *matrix, int64_t p)
{
  return matrix->storage == STOKES_PAIR ? ((const stokes_pair_entry *)matrix->block.data)[p].column
                                        : ((const int32_t *)matrix->column.data)[p];
}

/* Whether a row needs no others' rows; those that it needs are marked. */
static bool is_inner(const making *make, int64_t row, int64_t *n_ghosts)
{
  const stokes_matrix *matrix = make->known->matrix;
  const int64_t *start = matrix->start.data;
  bool inner = true;
  for (int64_t p = start[row]; p < start[row + 1]; p++) {
    const int32_t column = column_of(matrix, p);
    if (column >= make->lo && column < make->hi) continue;
    inner = false;
    *n_ghosts += make->number[column] == ABSENT;
    make->number[column] = NEEDED;
  }
  return inner;
}

/* Own rows and ghosts in their places. */
static md_status place(stokes_rows *rows, making *make)
{
  const int64_t n = make->known->matrix->n_rows, *cut = make->known->cut + world_rank();
  stokes_rows_view *v = &rows->view;
  for (int64_t i = 0; i < n; i++) {
    make->number[i] = ABSENT;
    make->lo += name_of(make->known, i) < cut[0];
    make->hi += name_of(make->known, i) < cut[1];
  }
  v->n_own = make->hi - make->lo;
  for (int64_t i = make->lo; i < make->hi; i++)
    if (is_inner(make, i, &v->n_ghosts)) make->number[i] = (int32_t)v->n_inner++;
  rows->row = malloc((size_t)(v->n_own + v->n_ghosts) * sizeof *rows->row + 1);
  MD_REQUIRE(rows->row, MD_ENOMEM, "out of memory for the rows of a rank");
  v->row = rows->row;
  int64_t edge = v->n_inner, ghost = v->n_own;
  for (int64_t i = make->lo; i < make->hi; i++)
    if (make->number[i] == ABSENT) make->number[i] = (int32_t)edge++;
  for (int64_t i = 0; i < n; i++) { /* by rising number, which is rank by rank */
    if (make->number[i] == NEEDED) make->number[i] = (int32_t)ghost++;
    if (make->number[i] == ABSENT) continue;
    make->row[make->number[i]] = (int32_t)i;
    rows->row[make->number[i]] = name_of(make->known, i);
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
static void ask(stokes_rows *rows, const making *make, int64_t *names)
{
  const int64_t first = make->known->cut[world_rank()];
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
    rows->sent[k] = make->number[make->lo + names[k] - first];
}

/* Whom this rank asks for rows, and who asks for its own. */
static md_status meet(stokes_rows *rows, const making *make)
{
  const int ranks = world_count();
  int64_t *needed = calloc(2 * (size_t)ranks, sizeof *needed), *asked = needed + ranks;
  int64_t *names = NULL;
  md_status status = world_agree(
      needed ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for the rows of %d ranks", ranks));
  if (!status) {
    for (int64_t k = rows->view.n_own; k < rows->view.n_own + rows->view.n_ghosts; k++)
      needed[stokes_model_owner(make->known->cut, ranks, rows->row[k])]++;
    world_trade(needed, asked, 1);
    status = make_room(rows, needed, asked);
    names = calloc((size_t)rows->view.n_sent + 1, sizeof *names);
    if (!status && !names) status = MD_FAIL(MD_ENOMEM, "out of memory for names of rows");
    status = world_agree(status);
  }
  if (!status) ask(rows, make, names);
  free(names);
  free(needed);
  return status;
}

/* The matrix of this rank. */
static md_status take(stokes_rows *rows, const making *make)
{
  stokes_rows_view *v = &rows->view;
  const stokes_matrix *matrix = make->known->matrix;
  MD_TRY(stokes_matrix_create(rows->ctx, matrix->storage, &rows->matrix));
  MD_TRY(matrix_take(rows->matrix, matrix, &(matrix_choice){v->n_own, make->row, make->number}));
  v->share = (stokes_share){stokes_matrix_shape(rows->matrix), v->n_ghosts, rows->n_from};
  return MD_OK;
}

static md_status make_rows(stokes_rows *rows, making *make)
{
  MD_TRY(world_agree(place(rows, make)));
  MD_TRY(meet(rows, make));
  return world_agree(take(rows, make));
}

md_status stokes_rows_create(const stokes_known *known, stokes_rows **out)
{
  const size_t n = (size_t)known->matrix->n_rows;
  making make = {known, 0, 0, malloc(n * sizeof *make.number + 1),
                 malloc(n * sizeof *make.row + 1)};
  md_status status = MD_OK;
  *out = calloc(1, sizeof **out);
  if (known->matrix->ctx->backend != MD_CPU)
    status = MD_FAIL(MD_EINVAL, "rows of several ranks are multiplied on the backend cpu only");
  else if (!make.number || !make.row || !*out)
    status = MD_FAIL(MD_ENOMEM, "out of memory for the rows of a rank");
  else
    (*out)->ctx = known->matrix->ctx;
  status = world_agree(status);
  if (!status) status = make_rows(*out, &make);
  free(make.number);
  free(make.row);
  if (!status) return MD_OK;
  stokes_rows_destroy(*out);
  *out = NULL;
  return status;
}
