/* minimd/run/report_ranks.c - what a run on several ranks was on each of them. */
#include "comm/world.h"
#include "minimd/run/report_impl.h"

#include <math.h>
#include <stdlib.h>

md_status report_gather(report *run)
{
  const engine *sim = run->sim;
  if (world_count() == 1) return MD_OK;
  rank_figures mine = {.load = comm_describe(sim->cm, sim->atoms),
                       .entries = neighbor_list_view(sim->list)->n_entries,
                       .memory = sim->ctx->bytes_allocated,
                       .beyond = force_beyond(sim->fc)};
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    mine.phase_s[k] = run->phase_s[k];
  if (!run->ranks) run->ranks = malloc((size_t)world_count() * sizeof *run->ranks);
  MD_TRY(world_agree(run->ranks ? MD_OK
                                : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", world_count())));
  run->n_ranks = world_count();
  world_gather(&mine, sizeof mine, run->ranks);
  return MD_OK;
}

report_totals report_sum(const report *run)
{
  const engine *sim = run->sim;
  report_totals sum = {sim->atoms->n_ghost, neighbor_list_view(sim->list)->n_entries,
                       sim->ctx->bytes_allocated, force_beyond(sim->fc)};
  if (run->n_ranks > 0) sum = (report_totals){0};
  for (int r = 0; r < run->n_ranks; r++) {
    sum.ghosts += run->ranks[r].load.ghosts;
    sum.entries += run->ranks[r].entries;
    sum.memory += run->ranks[r].memory;
    sum.beyond += run->ranks[r].beyond;
  }
  return sum;
}

/* Least, mean and most of a number that each rank has, and who has most. */
typedef struct {
  double least, mean, most;
  int who;
} spread_of;

static spread_of spread_numbers(const report *run, double number(const rank_figures *, int), int k)
{
  spread_of s = {INFINITY, 0, -INFINITY, 0};
  for (int r = 0; r < run->n_ranks; r++) {
    const double x = number(&run->ranks[r], k);
    if (x < s.least) s.least = x;
    if (x > s.most) s.most = x, s.who = r;
    s.mean += x / run->n_ranks;
  }
  return s;
}

static double phase_of(const rank_figures *rank, int k)
{
  return rank->phase_s[k];
}

static double atoms_of(const rank_figures *rank, int k)
{
  (void)k;
  return (double)rank->load.atoms;
}

static double ghosts_of(const rank_figures *rank, int k)
{
  (void)k;
  return (double)rank->load.ghosts;
}

static double neighbors_of(const rank_figures *rank, int k)
{
  (void)k;
  return (double)rank->load.neighbors;
}

static double bytes_of(const rank_figures *rank, int k)
{
  (void)k;
  return (double)rank->load.bytes;
}

void report_ranks_begin(const report *run, FILE *stream)
{
  if (run->n_ranks == 0) return;
  int64_t cuts;
  const partition_cut cut = comm_cut_made(run->sim->cm, &cuts);
  const spread_of atoms = spread_numbers(run, atoms_of, 0),
                  ghosts = spread_numbers(run, ghosts_of, 0);
  const spread_of near = spread_numbers(run, neighbors_of, 0),
                  bytes = spread_numbers(run, bytes_of, 0);
  fprintf(stream,
          "ranks      %d, cut by %s: %.0f to %.0f atoms (imbalance %.3f), ghosts %.0f in the mean, "
          "%.0f at most, neighbours %.1f and %.0f, %.0f bytes a step\n",
          run->n_ranks, partition_cut_words[cut], atoms.least, atoms.most,
          atoms.mean > 0 ? atoms.most / atoms.mean : 1, ghosts.mean, ghosts.most, near.mean,
          near.most, bytes.mean);
}

void report_ranks_phases(const report *run, FILE *stream)
{
  fprintf(stream, "\n%-12s %12s %12s %12s %5s %8s\n", "phase", "least s", "mean s", "most s",
          "rank", "share");
  for (int k = 0; k < MD_PHASE_COUNT; k++) {
    const spread_of s = spread_numbers(run, phase_of, k);
    if (k == MD_PHASE_COULOMB) continue;
    fprintf(stream, "%-12s %12.4f %12.4f %12.4f %5d %7.1f%%\n", md_phase_words[k], s.least, s.mean,
            s.most, s.who, run->wall_s > 0 ? 100 * s.mean / run->wall_s : 0.0);
  }
}

void report_ranks_json(const report *run, md_json *json)
{
  if (run->n_ranks == 0) return;
  int64_t cuts;
  md_json_open(json, "ranks", '{');
  md_json_string(json, "cut", partition_cut_words[comm_cut_made(run->sim->cm, &cuts)]);
  md_json_integer(json, "cuts", cuts);
  md_json_open(json, "each", '[');
  for (int r = 0; r < run->n_ranks; r++) {
    const rank_figures *rank = &run->ranks[r];
    md_json_open(json, NULL, '{');
    md_json_integer(json, "atoms", rank->load.atoms);
    md_json_integer(json, "ghosts", rank->load.ghosts);
    md_json_integer(json, "own_images", rank->load.own_images);
    md_json_integer(json, "neighbors", rank->load.neighbors);
    md_json_integer(json, "bytes_exchanged_per_step", rank->load.bytes);
    md_json_integer(json, "bytes_allocated", rank->memory);
    for (int k = 0; k < MD_PHASE_COUNT; k++)
      md_json_number(json, md_phase_words[k], rank->phase_s[k]);
    md_json_close(json, '}');
  }
  md_json_close(json, ']');
  md_json_close(json, '}');
}
