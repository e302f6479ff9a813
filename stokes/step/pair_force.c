/* stokes/step/pair_force.c - Brownian forces by pairs on the CPU.
 *
 * Most of the time goes into normal numbers, which are drawn for batches of pairs and columns.
 * Spheres are taken in chunks of fixed size: a pair inside a chunk is drawn once, for both of its
 * spheres; one between two chunks twice, so that no thread writes what another one does.  Sums
 * follow the chunks, not the threads, nor the ranks that share a chunk: then a pair of spheres of
 * two ranks is drawn by both, as its first sphere would. */
#include "stokes/step/pair_force_impl.h"
#include "stokes/team.h"

enum { CHUNK = 1024 };

/* What waits for its numbers: column c of a pair, for spheres i and j, unless one is negative. */
typedef struct {
  pair_force_root root;
  int64_t i, j;
  int c;
} waiting_pair;

typedef struct {
  const pair_force_job *job;
  pair_normals_fn *normals;
  int n;
  uint64_t index[PAIR_BATCH], step[PAIR_BATCH];
  double z[3][PAIR_BATCH];
  waiting_pair pair[PAIR_BATCH];
} pair_batch;

/* Where the force on sphere i begins. */
static double *force_on(const pair_force_job *job, int64_t i, int c)
{
  return job->f + 3 * (i - job->first) * job->m + c;
}

static void add_batch(pair_batch *b)
{
  const pair_force_job *job = b->job;
  const int m = job->m;
  b->normals(job->noise.seed, NORMAL_PAIR, b->index, b->step, b->z);
  for (int k = 0; k < b->n; k++) {
    const waiting_pair *pair = &b->pair[k];
    double part[3];
    pair_force_times(&pair->root, (const double[3]){b->z[0][k], b->z[1][k], b->z[2][k]}, part);
    for (int d = 0; d < 3; d++) {
      if (pair->i >= 0) force_on(job, pair->i, pair->c)[d * m] += pair->root.weight * part[d];
      if (pair->j >= 0) force_on(job, pair->j, pair->c)[d * m] -= part[d] / pair->root.weight;
    }
  }
  b->n = 0;
}

/* f = z_i for the spheres first ... end - 1. */
static void begin_rows(pair_batch *b, int64_t first, int64_t end)
{
  const pair_force_job *job = b->job;
  const int64_t m = job->m, last = end * m;
  for (int64_t from = first * m; from < last; from += PAIR_BATCH) {
    const int count = last - from < PAIR_BATCH ? (int)(last - from) : PAIR_BATCH;
    for (int k = 0; k < count; k++) {
      b->index[k] = (uint64_t)job->noise.id[(from + k) / m];
      b->step[k] = job->noise.step + (uint64_t)((from + k) % m);
    }
    b->normals(job->noise.seed, NORMAL_BROWNIAN, b->index, b->step, b->z);
    for (int k = 0; k < count; k++)
      for (int d = 0; d < 3; d++)
        force_on(job, (from + k) / m, (int)((from + k) % m))[d * m] = b->z[d][k];
  }
}

/* The pair of spheres i and j, drawn by i, for one of them or both. */
static void add_pair(pair_batch *b, int64_t i, int64_t j, bool for_i, bool for_j)
{
  const pair_force_job *job = b->job;
  const double *x = job->spheres.x;
  const assemble_place p = assemble_between(job->spheres.box, x + 4 * i, x + 4 * j);
  if (!assemble_near(&p, job->range.gap_cut)) return;
  const pair_force_root root = pair_force_root_of(job, &p, i, j);
  for (int c = 0; c < job->m; c++) {
    b->index[b->n] = root.index;
    b->step[b->n] = job->noise.step + (uint64_t)c;
    b->pair[b->n++] = (waiting_pair){root, for_i ? i : -1, for_j ? j : -1, c};
    if (b->n == PAIR_BATCH) add_batch(b);
  }
}

/* Pairs that spheres from the beginning of the chunk draw, `own` being the first sphere of this
 * rank there. */
static void add_borrowed(pair_batch *b, int64_t i, int64_t begin, int64_t own)
{
  const stokes_pair_view *list = &b->job->pairs;
  for (int64_t k = list->start[i]; k < list->start[i + 1] && list->neighbor[k] < own; k++)
    if (list->neighbor[k] >= begin) add_pair(b, list->neighbor[k], i, false, true);
}

/* The pairs of sphere i but those that a sphere before it in the chunk has drawn.  end: of the
 * spheres of this rank there. */
static void add_row(pair_batch *b, int64_t i, int64_t begin, int64_t end)
{
  const stokes_pair_view *list = &b->job->pairs;
  for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
    const int64_t j = list->neighbor[k];
    if (j < begin || j > i) add_pair(b, i, j, true, j > i && j < end);
  }
}

md_status pair_force_cpu(md_ctx *ctx, const pair_force_job *job)
{
  static pair_normals_fn *const of_isa[] = SIMD_ROW(pair_normals);
  const int64_t chunks = (job->end + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(dynamic) num_threads(team_size(ctx, job->end - job->first))
  for (int64_t chunk = job->first / CHUNK; chunk < chunks; chunk++) {
    const int64_t begin = chunk * CHUNK, next = begin + CHUNK;
    const int64_t first = begin < job->first ? job->first : begin;
    const int64_t end = next < job->end ? next : job->end;
    pair_batch batch = {.job = job, .normals = of_isa[ctx->isa]};
    begin_rows(&batch, first, end);
    for (int64_t i = first; i < end && begin < first; i++)
      add_borrowed(&batch, i, begin, first);
    for (int64_t i = first; i < end; i++)
      add_row(&batch, i, begin, end);
    add_batch(&batch);
  }
  return MD_OK;
}

md_status stokes_pair_force_rows(md_ctx *ctx, const stokes_view *spheres,
                                 const stokes_pair_view *pairs, const stokes_resistance *law,
                                 const stokes_noise *noise, int64_t first, int64_t end, int m,
                                 double *f)
{
  static pair_force_fn *const table[MD_BACKEND_COUNT] = {pair_force_cpu, MD_GPU(pair_force_gpu)};
  const pair_force_job job = {*spheres,
                              *pairs,
                              lubrication_range_of(law->gap_min, law->gap_cut),
                              1 / law->far_field,
                              *noise,
                              m,
                              f,
                              first,
                              end};
  return table[ctx->backend](ctx, &job);
}

md_status stokes_pair_force(md_ctx *ctx, const stokes_view *spheres, const stokes_pair_view *pairs,
                            const stokes_resistance *law, const stokes_noise *noise, int m,
                            double *f)
{
  return stokes_pair_force_rows(ctx, spheres, pairs, law, noise, 0, spheres->n, m, f);
}
