/* neighbor/cpu/chunks.c - what each chunk of a half list owns. */
#include "neighbor/cpu/chunks.h"

#include "neighbor/cpu/lines.h"

enum {
  WINDOW = LINES_WINDOW,
  DETERMINISTIC_ROWS = 2048, /* least of a chunk and */
  DETERMINISTIC_MOST = 64    /* most chunks in deterministic contexts */
};

static int64_t windows_of(int64_t n)
{
  return (n + WINDOW - 1) / WINDOW;
}

md_status chunks_of_rows(neighbor_list *list, int64_t n)
{
  const int64_t windows = windows_of(n), fit = n / DETERMINISTIC_ROWS;
  int64_t chunks = list->ctx->threads;
  if (list->ctx->deterministic) chunks = fit < DETERMINISTIC_MOST ? fit : DETERMINISTIC_MOST;
  chunks = chunks > windows ? windows : chunks < 1 ? 1 : chunks;
  MD_TRY(md_buffer_reserve(list->ctx, &list->chunk, (size_t)(chunks + 1) * sizeof(int64_t), 0));
  int64_t *chunk = list->chunk.data;
  for (int64_t c = 0; c < chunks; c++)
    chunk[c] = windows * c / chunks * WINDOW;
  chunk[chunks] = n;
  list->view.chunk = chunk;
  list->view.n_chunks = (int32_t)chunks;
  return MD_OK;
}

md_status chunks_of_ghosts(neighbor_list *list, const md_atoms *atoms)
{
  md_ctx *ctx = list->ctx;
  const int64_t ghosts = atoms->n_ghost, chunks = list->view.n_chunks;
  const int64_t windows = windows_of(atoms->n);
  const int32_t *home = atoms->home.data, *shift = atoms->shift.data, *row_of = list->row_of.data;
  const size_t size = sizeof(int32_t);
  MD_TRY(md_buffer_reserve(ctx, &list->key, (size_t)ghosts * size, 0));
  MD_TRY(md_buffer_reserve(ctx, &list->ghost, (size_t)ghosts * size, 0));
  MD_TRY(md_buffer_reserve(ctx, &list->ghost_start, (size_t)(chunks + 2) * size, 0));
  uint32_t *key = list->key.data;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t g = 0; g < ghosts; g++) {
    int s[3];
    md_shift_unpack(shift[g], s);
    const bool shared = list->spec.newton && home[g] >= 0 && s[0] >= 0;
    /* The last chunk whose first window, windows * c / chunks, is not behind the row's. */
    const int64_t beyond = shared ? row_of[home[g]] / WINDOW + 1 : 0;
    key[g] = (uint32_t)(shared ? (beyond * chunks - 1) / windows : chunks);
  }
  list->view.ghost = list->ghost.data;
  list->view.ghost_start = list->ghost_start.data;
  return ordering_sort(list->sorter, ghosts, key, (uint32_t)chunks + 1, list->ghost.data,
                       list->ghost_start.data);
}
