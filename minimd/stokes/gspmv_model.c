/* minimd/stokes/gspmv_model.c - the tables of `minimd gspmv` that the model makes: --map ([Liu]
 * Fig. 1) and --nodes (Table III, Figs. 3 and 4). */
#include "minimd/stokes/gspmv_model.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/table.h"

#include <stdlib.h>

/* So many nodes with so many vectors. */
typedef struct {
  double seconds, relative, communication;
  int64_t remote; /* largest of a node, and so */
  int messages;
} prediction;

static void predict(const gspmv_nodes *job, const stokes_share *shares, int nodes, prediction *out)
{
  double unused;
  const double one = stokes_model_nodes(&job->machine, &job->network, shares, nodes, 1, &unused);
  prediction p = {0};
  for (int k = 0; k < nodes; k++) {
    p.remote = shares[k].remote > p.remote ? shares[k].remote : p.remote;
    p.messages = shares[k].messages > p.messages ? shares[k].messages : p.messages;
  }
  for (int v = 0; v < job->n_vectors; v++) {
    p.seconds = stokes_model_nodes(&job->machine, &job->network, shares, nodes, job->vectors[v],
                                   &p.communication);
    p.relative = p.seconds / one;
    out[v] = p;
  }
}

/* all [n_nodes][n_vectors]. */
static md_status predict_all(const gspmv_nodes *job, prediction *all)
{
  md_status status = MD_OK;
  for (int n = 0; !status && n < job->n_nodes; n++) {
    stokes_share *shares = calloc((size_t)job->nodes[n], sizeof *shares);
    MD_REQUIRE(shares, MD_ENOMEM, "out of memory for the shares of %d nodes", job->nodes[n]);
    status = stokes_model_shares(job->blocks, job->bytes, job->nodes[n], shares);
    if (!status) predict(job, shares, job->nodes[n], all + (size_t)n * (size_t)job->n_vectors);
    free(shares);
  }
  return status;
}

static void print_rows(const gspmv_nodes *job, const prediction *all, FILE *stream)
{
  static const table_column columns[] = {{"matrix", -8, 0},        {"nodes", 7, 0},
                                         {"vectors", 7, 0},        {"remote_rows", 11, 0},
                                         {"messages", 8, 0},       {"model_time_s", 12, 9},
                                         {"communication", 13, 4}, {"model_relative_time", 9, 4}};
  table t;
  table_begin(&t, stream, job->format, "gspmv", job->opts, columns, 8);
  for (int n = 0; n < job->n_nodes; n++)
    for (int v = 0; v < job->n_vectors; v++, all++) {
      table_text(&t, job->matrix);
      table_integer(&t, job->nodes[n]);
      table_integer(&t, job->vectors[v]);
      table_integer(&t, all->remote);
      table_integer(&t, all->messages);
      table_real(&t, all->seconds);
      table_real(&t, all->communication);
      table_real(&t, all->relative);
    }
  table_end(&t);
}

static md_status draw(const gspmv_nodes *job, const prediction *all, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 600, &picture));
  fputs("set", picture.stream);
  plot_title(&picture, "%s shared by several nodes, by the model", job->matrix);
  fputs("set xlabel 'vectors m'\nset ylabel 'time of m vectors / time of one'\n"
        "plot ",
        picture.stream);
  for (int n = 0; n < job->n_nodes; n++)
    fprintf(picture.stream, "%s'-' with linespoints pt 7 title '%d nodes'", n ? ", " : "",
            job->nodes[n]);
  fputs("\n", picture.stream);
  for (int n = 0; n < job->n_nodes; n++) {
    for (int v = 0; v < job->n_vectors; v++, all++)
      fprintf(picture.stream, "%d %.9g\n", job->vectors[v], all->relative);
    fputs("e\n", picture.stream);
  }
  return plot_close(&picture);
}

md_status gspmv_nodes_answer(const gspmv_nodes *job, FILE *stream, const char *picture)
{
  const size_t rows = (size_t)job->n_nodes * (size_t)job->n_vectors;
  prediction *all = calloc(rows, sizeof *all);
  MD_REQUIRE(all, MD_ENOMEM, "out of memory for %zu rows", rows);
  md_status status = predict_all(job, all);
  if (!status && picture) status = draw(job, all, picture);
  if (!status) print_rows(job, all, stream);
  free(all);
  return status;
}

/* Blocks per row 6 ... 84, B / F .02 ... .6. */
static md_status draw_map(const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 600, &picture));
  fputs("set xlabel 'blocks per row'\nset ylabel 'B / F'\nset cblabel 'vectors in twice the time'\n"
        "set title 'vectors that the model multiplies in twice the time of one'\n"
        "set xrange [3:87]\nset yrange [0.01:0.61]\nunset key\nunset grid\nset border 15\n"
        "plot '-' with image pixels\n",
        picture.stream);
  for (int blocks = 6; blocks <= 84; blocks += 6)
    for (int ratio = 2; ratio <= 60; ratio += 2)
      fprintf(picture.stream, "%d %.2f %d\n", blocks, 0.01 * ratio,
              stokes_model_vectors(blocks, 0.01 * ratio));
  fputs("e\n", picture.stream);
  return plot_close(&picture);
}

md_status gspmv_map_answer(const options *opts, options_format format, FILE *stream,
                           const char *picture)
{
  static const table_column columns[] = {
      {"blocks_per_row", 0, 0}, {"byte_per_flop", 0, 2}, {"vectors", 0, 0}};
  table t;
  if (picture) MD_TRY(draw_map(picture));
  table_begin(&t, stream, format, "gspmv", opts, columns, 3);
  for (int blocks = 6; blocks <= 84; blocks += 6)
    for (int ratio = 2; ratio <= 60; ratio += 2) {
      table_integer(&t, blocks);
      table_real(&t, 0.01 * ratio);
      table_integer(&t, stokes_model_vectors(blocks, 0.01 * ratio));
    }
  table_end(&t);
  return MD_OK;
}
