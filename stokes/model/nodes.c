/* stokes/model/nodes.c - products on several machines, by the model. */
#include "stokes/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Blocks before a row. */
static double before(const stokes_weights *rows, int64_t row)
{
  return (double)(rows->start[row] + row * rows->alone);
}

/* The first row before which at least part/parts of the blocks lie. */
static int64_t cut_at(const stokes_weights *rows, int part, int parts)
{
  int64_t low = 0, high = rows->n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (before(rows, middle) * parts < before(rows, rows->n) * part)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void stokes_model_cut(const stokes_weights *rows, int nodes, int64_t *cut)
{
  for (int k = 0; k < nodes; k++)
    cut[k] = cut_at(rows, k, nodes);
  cut[nodes] = rows->n;
}

int stokes_model_owner(const int64_t *cut, int nodes, int64_t row)
{
  int low = 0, high = nodes;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (cut[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Rows from `from` to `to`: what they need that is not theirs.  row_seen, node_seen: `mark` where
 * that was counted already. */
static void count_remote(const stokes_blocks *blocks, const int64_t *cut, int nodes, int mark,
                         int *row_seen, int *node_seen, stokes_share *share)
{
  for (int64_t p = blocks->start[cut[mark]]; p < blocks->start[cut[mark + 1]]; p++) {
    const int64_t row = blocks->column[p];
    if ((row >= cut[mark] && row < cut[mark + 1]) || row_seen[row] == mark) continue;
    const int owner = stokes_model_owner(cut, nodes, row);
    row_seen[row] = mark;
    share->remote++;
    share->messages += node_seen[owner] != mark;
    node_seen[owner] = mark;
  }
}

md_status stokes_model_shares(const stokes_blocks *blocks, double bytes, int nodes,
                              stokes_share *out)
{
  MD_REQUIRE(nodes >= 1 && nodes <= blocks->n_rows, MD_EINVAL,
             "%lld rows cannot be dealt out to %d nodes", (long long)blocks->n_rows, nodes);
  int64_t *cut = malloc(((size_t)nodes + 1) * sizeof *cut);
  int *row_seen = malloc((size_t)blocks->n_rows * sizeof *row_seen);
  int *node_seen = malloc((size_t)nodes * sizeof *node_seen);
  md_status status =
      cut && row_seen && node_seen ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for shares");
  if (!status) {
    memset(row_seen, 0xff, (size_t)blocks->n_rows * sizeof *row_seen);
    memset(node_seen, 0xff, (size_t)nodes * sizeof *node_seen);
    stokes_model_cut(&(stokes_weights){blocks->n_rows, blocks->start, 0}, nodes, cut);
    for (int k = 0; k < nodes; k++) {
      const int64_t own = blocks->start[cut[k + 1]] - blocks->start[cut[k]];
      out[k] = (stokes_share){.shape = {.n_rows = cut[k + 1] - cut[k], .n_blocks = own}};
      out[k].shape.product_bytes = bytes * (double)own / fmax(1, (double)blocks->n_blocks);
      count_remote(blocks, cut, nodes, k, row_seen, node_seen, &out[k]);
    }
  }
  free(cut);
  free(row_seen);
  free(node_seen);
  return status;
}

double stokes_model_nodes(const stokes_machine *machine, const stokes_network *network,
                          const stokes_share *shares, int nodes, int m, double *communication)
{
  double slowest = 0;
  for (int k = 0; k < nodes; k++) {
    const double fetch = shares[k].messages * network->latency +
                         3.0 * sizeof(double) * m * (double)shares[k].remote / network->bandwidth;
    const double all = fetch + stokes_model_time(machine, &shares[k].shape, m, 0);
    if (!(all > slowest)) continue;
    slowest = all;
    *communication = fetch / all;
  }
  return slowest;
}
