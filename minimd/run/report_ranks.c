/* minimd/run/report_ranks.c - what a run on several ranks was on each of them. */
#include "comm/world.h"
#include "core/hardware/devices.h"
#include "minimd/run/report_impl.h"
#include "minimd/shell/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Host and device of this rank, for people. */
static md_status name_machine(const report *run, rank_figures *out)
{
  md_device device = {0};
  char machine[128];
  gethostname(out->host, sizeof out->host - 1);
  provenance_machine(run->sim->choice.backend, machine, sizeof machine);
  if (run->sim->choice.backend == MD_GPU) MD_TRY(md_device_of(&device));
  if (run->sim->choice.backend == MD_GPU)
    snprintf(out->device, sizeof out->device, "%d: %s", device.index, machine);
  else
    snprintf(out->device, sizeof out->device, "%s", machine);
  return MD_OK;
}

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
  MD_TRY(world_agree(run->ranks ? name_machine(run, &mine)
                                : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", world_count())));
  run->n_ranks = world_count();
  world_gather(&mine, sizeof mine, run->ranks);
  return MD_OK;
}

/* Bits of a word go into those of a hash. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static uint64_t hash_atom(int64_t id, const double x[3], const double v[3])
{
  uint64_t words[6], hash = mix(0, (uint64_t)id);
  memcpy(words, x, 3 * sizeof *x);
  memcpy(words + 3, v, 3 * sizeof *v);
  for (int k = 0; k < 6; k++)
    hash = mix(hash, words[k]);
  return hash;
}

md_status report_hash(report *run)
{
  const md_atoms *atoms = run->sim->atoms;
  const size_t three = 3 * (size_t)(atoms->n + 1);
  double *x = malloc(three * sizeof *x), *v = malloc(three * sizeof *v);
  int64_t *id = malloc(three * sizeof *id), sum = 0;
  md_status status = x && v && id
                         ? md_atoms_get(atoms, x, v, NULL, id, NULL)
                         : MD_FAIL(MD_ENOMEM, "out of memory for %lld atoms", (long long)atoms->n);
  for (int64_t i = 0; i < atoms->n && !status; i++)
    sum = (int64_t)((uint64_t)sum + hash_atom(id[i], x + 3 * i, v + 3 * i));
  free(x);
  free(v);
  free(id);
  MD_TRY(world_agree(status));
  world_sum(&sum, 1);
  run->state_hash = (uint64_t)sum;
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
  const char *reason;
  const comm_carrier carrier = comm_carried(run->sim->cm, &reason);
  fprintf(stream, "carrier    %s (%s)\n", comm_carrier_words[carrier], reason);
  const char *added = comm_adds_how(run->sim->cm);
  if (added[0])
    fprintf(stream, "meshes     added up %s; %s\n", added,
            run->sim->ctx->backend == MD_GPU ? "each rank transforms all of them"
                                             : "ranks share their transforms");
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

static double imbalance_of(const report *run)
{
  const spread_of atoms = spread_numbers(run, atoms_of, 0);
  return atoms.mean > 0 ? atoms.most / atoms.mean : 1;
}

static void json_rank(const report *run, int r, md_json *json)
{
  const rank_figures *rank = &run->ranks[r];
  md_json_open(json, NULL, '{');
  md_json_integer(json, "rank", r);
  md_json_string(json, "host", rank->host);
  md_json_string(json, "device", rank->device);
  md_json_integer(json, "atoms", rank->load.atoms);
  md_json_integer(json, "ghosts", rank->load.ghosts);
  md_json_integer(json, "own_images", rank->load.own_images);
  md_json_integer(json, "neighbours", rank->load.neighbors);
  md_json_integer(json, "bytes_per_step", rank->load.bytes);
  md_json_integer(json, "bytes_allocated", rank->memory);
  md_json_close(json, '}');
}

double report_phase(const report *run, int k)
{
  return run->n_ranks > 0 ? spread_numbers(run, phase_of, k).most : run->phase_s[k];
}

void report_ranks_json(const report *run, md_json *json)
{
  if (run->n_ranks == 0) return;
  int64_t cuts;
  const char *reason;
  md_json_open(json, "ranks", '{');
  md_json_integer(json, "count", run->n_ranks);
  md_json_string(json, "cut", partition_cut_words[comm_cut_made(run->sim->cm, &cuts)]);
  md_json_integer(json, "cuts", cuts);
  md_json_string(json, "carrier", comm_carrier_words[comm_carried(run->sim->cm, &reason)]);
  md_json_string(json, "carrier_reason", reason);
  const char *added = comm_adds_how(run->sim->cm);
  if (added[0]) md_json_string(json, "meshes_added", added);
  md_json_number(json, "imbalance", imbalance_of(run));
  md_json_open(json, "list", '[');
  for (int r = 0; r < run->n_ranks; r++)
    json_rank(run, r, json);
  md_json_close(json, ']');
  md_json_open(json, "timing", '{');
  for (int k = 0; k < MD_PHASE_COUNT; k++) {
    const spread_of s = spread_numbers(run, phase_of, k);
    md_json_open(json, md_phase_words[k], '{');
    md_json_number(json, "min", s.least);
    md_json_number(json, "mean", s.mean);
    md_json_number(json, "max", s.most);
    md_json_integer(json, "max_rank", s.who);
    md_json_close(json, '}');
  }
  md_json_close(json, '}');
  md_json_close(json, '}');
}
