/* ordering/particles.c - particles sorted along a curve through the cells of a box: checks, the
 * choice of cells, keys on the CPU. */
#include "ordering/ordering_impl.h"
#include "ordering/particle.h"

#include <inttypes.h>

/* Cells are at least as many as particles, and as cubic as powers of two allow. */
static void choose_cells(const double edge[3], int64_t n, int32_t cells[3])
{
  const double width = cbrt(edge[0] * edge[1] * edge[2] / (n > 0 ? (double)n : 1));
  for (int a = 0; a < 3; a++) {
    const double levels = ceil(log2(edge[a] / width) - 1e-6); /* of a power of two: rounded */
    cells[a] = levels > 0 ? (int32_t)1 << (int)fmin(levels, 30) : 1;
  }
  while ((double)cells[0] * cells[1] * cells[2] > 0x1p31) {
    const int larger = cells[0] >= cells[1] ? 0 : 1;
    cells[cells[larger] >= cells[2] ? larger : 2] /= 2;
  }
}

static md_status make_grid(const md_ctx *ctx, const ordering *order, const ordering_particles *p,
                           particle_grid *g)
{
  MD_REQUIRE(p->n >= 0 && p->n <= INT32_MAX, MD_ECAPACITY,
             "%" PRId64 " particles: at most 2147483647 can be sorted", p->n);
  MD_REQUIRE(p->stride >= 3, MD_EINVAL,
             "positions are %" PRId64 " numbers apart: 3 or more are "
             "expected",
             p->stride);
  *g = (particle_grid){.order = *order,
                       .single = ctx->precision == MD_SINGLE,
                       .x = p->x,
                       .n = p->n,
                       .stride = p->stride};
  double edge[3];
  for (int a = 0; a < 3; a++) {
    edge[a] = p->hi[a] - p->lo[a];
    MD_REQUIRE(edge[a] > 0 && isfinite(edge[a]) && isfinite(1 / edge[a]), MD_EINVAL,
               "the box goes from %g to %g along axis %d: expected finite numbers, the first one "
               "smaller",
               p->lo[a], p->hi[a], a);
    g->lo[a] = p->lo[a];
    g->inv_edge[a] = 1 / edge[a];
    g->cells[a] = p->cells[a];
  }
  const int32_t *c = g->cells;
  if (c[0] == 0 && c[1] == 0 && c[2] == 0) choose_cells(edge, p->n, g->cells);
  return ordering_check(order, g->cells);
}

md_status particle_cpu_keys(md_ctx *ctx, const particle_grid *g, uint32_t *key, uint64_t *first)
{
  uint64_t least = (uint64_t)g->n;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : least)
  for (int64_t i = 0; i < g->n; i++)
    if (!particle_key(g, i, &key[i]) && (uint64_t)i < least) least = (uint64_t)i;
  *first = least;
  return MD_OK;
}

md_status ordering_sort_particles(ordering_sorter *sorter, const ordering *order,
                                  const ordering_particles *particles, int32_t *place)
{
  static particle_keys_fn *const keys[MD_BACKEND_COUNT] = {particle_cpu_keys,
                                                           MD_GPU(particle_gpu_keys)};
  md_ctx *ctx = sorter->ctx;
  particle_grid g;
  MD_TRY(make_grid(ctx, order, particles, &g));
  if (g.n == 0) return MD_OK;
  MD_TRY(md_buffer_reserve(ctx, &sorter->particle, 8 + sizeof(uint32_t) * (size_t)g.n, 0));
  uint64_t *found = sorter->particle.data, first;
  uint32_t *key = (uint32_t *)(found + 1);
  MD_TRY(keys[ctx->backend](ctx, &g, key, found));
  MD_TRY(md_read(ctx, &first, found, sizeof first));
  MD_REQUIRE(first == (uint64_t)g.n, MD_EINVAL,
             "the position of particle %" PRIu64
             " is not a number, infinite or more than 2^50 boxes "
             "away",
             first);
  uint32_t end = (uint32_t)g.cells[0] * (uint32_t)g.cells[1] * (uint32_t)g.cells[2];
  if (order->kind == ORDERING_NONE) {
    MD_TRY(md_fill(ctx, key, 0, sizeof *key * (size_t)g.n));
    end = 1;
  }
  MD_TRY(ordering_sort(sorter, g.n, key, end, place, NULL));
  return md_ctx_sync(ctx);
}
