/* bench/bench_partition.c - what each way to cut the box costs, one CSV row a case: nothing is
 * timed, all is counted.
 *
 * A melt of n atoms (reduced density 0.8442, lists that reach 2.8), its atoms spread evenly over
 * the cells, or a quarter of the box 37 times as dense as the rest.  imbalance: atoms of the most
 * loaded rank over the mean.  ghosts: per cent of the owned atoms, over all ranks, periodic images
 * counted. */
#include "bench/bench.h"
#include "comm/partition.h"

#include <math.h>
#include <stdlib.h>

static const double DENSITY = 0.8442, REACH = 2.8;

/* Atoms of each cell: so that their sum is what it should be, the fractions are carried on. */
static int64_t *make_weights(const partition *p, double n, bool dense)
{
  int64_t *weight = calloc((size_t)p->cells, sizeof *weight);
  double sum = 0, given = 0, unit = 0;
  for (int pass = 0; weight && pass < 2; pass++) {
    const double scale = pass ? n / unit : 0;
    for (int64_t c = 0; c < p->cells; c++) {
      const double share = dense && c < p->cells / 4 ? 37 : 1;
      unit += pass ? 0 : share;
      sum += share * scale;
      weight[c] = (int64_t)(sum - given);
      given += (double)weight[c];
    }
  }
  return weight;
}

static void bench_cut(partition *p, md_ctx *ctx, partition_cut cut, const char *density, int64_t n,
                      const int64_t *weight)
{
  static const ordering hilbert = {.kind = ORDERING_HILBERT};
  double most = 0, atoms = 0, images = 0, neighbors = 0;
  int64_t most_neighbors = 0;
  bench_stop(partition_make(p, ctx, cut, &hilbert, weight));
  for (int r = 0; r < p->ranks; r++) {
    partition_halo halo;
    bench_stop(partition_halo_make(p, r, REACH, &halo));
    const partition_load load = partition_weigh(p, r, &halo, weight);
    partition_halo_free(&halo);
    most = fmax(most, (double)load.atoms);
    atoms += (double)load.atoms;
    images += (double)load.images;
    neighbors += (double)load.neighbors;
    if (load.neighbors > most_neighbors) most_neighbors = load.neighbors;
  }
  printf("%lld,%s,%d,%s,%.3f,%.1f,%.1f,%lld\n", (long long)n, density, p->ranks,
         partition_cut_words[cut], most * p->ranks / atoms, 100 * images / atoms,
         neighbors / p->ranks, (long long)most_neighbors);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  static const int64_t sizes[] = {32000, 262144};
  static const int32_t one_frame[3] = {1, 1, 1};
  static const int ranks[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};
  if (argc < 2 || strcmp(argv[1], "cpu") != 0) return 0; /* nothing depends on the machine */
  md_ctx *ctx;
  const md_ctx_spec spec = {MD_CPU, MD_DOUBLE, 1, false};
  bench_stop(md_ctx_create(&spec, &ctx));
  puts("atoms,density,ranks,cut,imbalance,ghosts_percent,neighbors_mean,neighbors_most");
  for (int s = 0; s < 2; s++)
    for (int dense = 0; dense < 2; dense++)
      for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
        const double edge = cbrt((double)sizes[s] / DENSITY);
        const md_box box = {{0, 0, 0}, {edge, edge, edge}};
        partition *p;
        bench_stop(partition_create(&box, one_frame, REACH, ranks[k], &p));
        int64_t *weight = make_weights(p, (double)sizes[s], dense);
        for (int cut = PARTITION_CURVE; cut < PARTITION_CUT_COUNT; cut++)
          bench_cut(p, ctx, (partition_cut)cut, dense ? "quarter 37:1" : "even", sizes[s], weight);
        free(weight);
        partition_destroy(p);
      }
  md_ctx_destroy(ctx);
  return 0;
}
