/* minimd/counters/figures_cpu.c - quantities of profile_cpu.h from counts. */
#include "minimd/counters/profile_cpu.h"

#include <math.h>

static void clear(profile_cpu_figures out)
{
  for (int q = 0; q < PROFILE_CPU_QUANTITY_COUNT; q++)
    out[q] = NAN;
}

void profile_cpu_of_perf(const perf_reading *readings, double atoms, profile_cpu_figures out)
{
  static const struct {
    profile_cpu_quantity quantity;
    perf_event event;
  } pairs[] = {{PROFILE_CPU_CYCLES, PERF_CYCLES},
               {PROFILE_CPU_INSTRUCTIONS, PERF_INSTRUCTIONS},
               {PROFILE_CPU_LOADS, PERF_L1_LOADS},
               {PROFILE_CPU_L1_LOAD_MISSES, PERF_L1_LOAD_MISSES},
               {PROFILE_CPU_LLC_LOAD_MISSES, PERF_LLC_LOAD_MISSES},
               {PROFILE_CPU_DTLB_LOAD_MISSES, PERF_DTLB_LOAD_MISSES}};
  clear(out);
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
    out[pairs[k].quantity] = perf_count(&readings[pairs[k].event]) / atoms;
}

void profile_cpu_of_cachegrind(const int64_t *counts, double launches, double atoms,
                               profile_cpu_figures out)
{
  const double share = 1 / (launches * atoms);
  clear(out);
  out[PROFILE_CPU_INSTRUCTIONS] = share * (double)counts[CACHEGRIND_IR];
  out[PROFILE_CPU_LOADS] = share * (double)counts[CACHEGRIND_DR];
  out[PROFILE_CPU_L1_LOAD_MISSES] = share * (double)counts[CACHEGRIND_D1MR];
  out[PROFILE_CPU_L1_MISSES] = share * (double)(counts[CACHEGRIND_D1MR] + counts[CACHEGRIND_D1MW]);
  out[PROFILE_CPU_LLC_LOAD_MISSES] = share * (double)counts[CACHEGRIND_DLMR];
  out[PROFILE_CPU_LLC_MISSES] = share * (double)(counts[CACHEGRIND_DLMR] + counts[CACHEGRIND_DLMW]);
}

/* A full list's kernel stores its own forces and loads all else; a half list's adds to forces,
 * whose lines its loads bring. */
void profile_cpu_of_model(const hierarchy_result *result, neighbor_kind kind, int levels,
                          profile_cpu_figures out)
{
  const double rows = (double)result->rows;
  int64_t l1[2] = {0, 0}, last[2] = {0, 0}; /* of loads, of all */
  clear(out);
  for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
    const hierarchy_counts *c = &result->stream[s];
    const int64_t missed[] = {c->level[0].sectors - c->level[0].hits,
                              c->level[levels - 1].sectors - c->level[levels - 1].hits};
    const bool load = kind == NEIGHBOR_HALF || s != TRACE_FUO;
    l1[0] += load ? missed[0] : 0;
    last[0] += load ? missed[1] : 0;
    l1[1] += missed[0];
    last[1] += missed[1];
  }
  out[PROFILE_CPU_L1_LOAD_MISSES] = (double)l1[0] / rows;
  out[PROFILE_CPU_L1_MISSES] = (double)l1[1] / rows;
  out[PROFILE_CPU_LLC_LOAD_MISSES] = (double)last[0] / rows;
  out[PROFILE_CPU_LLC_MISSES] = (double)last[1] / rows;
}
