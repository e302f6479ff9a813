/* stokes/step/pair_force.c - Brownian forces by pairs on the CPU.
 *
 * Most of the time goes into normal numbers, which are drawn for
 * batches of pairs and columns.  Spheres are taken in chunks of fixed size: a pair
 * inside a chunk is drawn once, for both of its spheres; one between two chunks twice, so that no
 * thread writes what another one does.  Sums follow the chunks, not the threads. */
#include "stokes/step/pair_force_impl.h"
#include "stokes/team.h"

enum { CHUNK = 1024 };

/* What waits for its numbers: column c of a pair, for sphere i, and for j unless it is negative. */
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
      job->f[(3 * pair->i + d) * m + pair->c] += pair->root.weight * part[d];
      if (pair->j >= 0) job->f[(3 * pair->j + d) * m + pair->c] -= part[d] / pair->root.weight;
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
        job->f[(3 * ((from + k) / m) + d) * m + (from + k) % m] = b->z[d][k];
  }
}

/* The pairs of sphere i but those that a sphere before it in the chunk first ... end - 1 has
 * drawn. */
static void add_row(pair_batch *b, int64_t i, int64_t first, int64_t end)
{
  const pair_force_job *job = b->job;
  const double *x = job->spheres.x;
  for (int64_t k = job->pairs.start[i]; k < job->pairs.start[i + 1]; k++) {
    const int64_t j = job->pairs.neighbor[k];
    if (j >= first && j < i) continue;
    const assemble_place p = assemble_between(job->spheres.box, x + 4 * i, x + 4 * j);
    if (!assemble_near(&p, job->range.gap_cut)) continue;
    const pair_force_root root = pair_force_root_of(job, &p, i, j);
    for (int c = 0; c < job->m; c++) {
      b->index[b->n] = root.index;
      b->step[b->n] = job->noise.step + (uint64_t)c;
      b->pair[b->n++] = (waiting_pair){root, i, j > i && j < end ? j : -1, c};
      if (b->n == PAIR_BATCH) add_batch(b);
    }
  }
}

md_status pair_force_cpu(md_ctx *ctx, const pair_force_job *job)
{
  static pair_normals_fn *const of_isa[] = SIMD_ROW(pair_normals);
  const int64_t n = job->spheres.n, chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(dynamic) num_threads(team_size(ctx, n))
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    const int64_t first = chunk * CHUNK, end = first + CHUNK < n ? first + CHUNK : n;
    pair_batch batch = {.job = job, .normals = of_isa[ctx->isa]};
    begin_rows(&batch, first, end);
    for (int64_t i = first; i < end; i++)
      add_row(&batch, i, first, end);
    add_batch(&batch);
  }
  return MD_OK;
}

md_status stokes_pair_force(md_ctx *ctx, const stokes_view *spheres, const stokes_pair_view *pairs,
                            const stokes_resistance *law, const stokes_noise *noise, int m,
                            double *f)
{
  static pair_force_fn *const table[MD_BACKEND_COUNT] = {pair_force_cpu, MD_GPU(pair_force_gpu)};
  const pair_force_job job = {*spheres,
                              *pairs,
                              lubrication_range_of(law->gap_min, law->gap_cut),
                              1 / law->far_field,
                              *noise,
                              m,
                              f};
  return table[ctx->backend](ctx, &job);
}
