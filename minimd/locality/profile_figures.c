/* minimd/locality/profile_figures.c - see profile_figures.h. */
#include "minimd/locality/profile_figures.h"
#include "minimd/run/compare.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Streams of accesses that a prediction is of.  A full list stores its forces, a half list reduces
 * all that it updates. */
typedef enum { ALL, LOADS, STORES, REDUCTIONS, ONE } selection; /* ONE + s: stream s */
enum { L1 = 0, L2 = 1, SECTOR = 32 /* bytes, of every GPU */ };

static bool selected(const profile_model *model, int streams, int s)
{
  const bool update = s == TRACE_FUI || s == TRACE_FUO;
  switch (streams) {
  case ALL:
    return true;
  case LOADS:
    return !update;
  case STORES:
    return update && model->kind == NEIGHBOR_FULL;
  case REDUCTIONS:
    return update && model->kind == NEIGHBOR_HALF;
  default:
    return s == streams - ONE;
  }
}

static hierarchy_counts sum_streams(const profile_model *model, int streams)
{
  hierarchy_result some = *model->caches;
  for (int s = 0; s < TRACE_STREAM_COUNT; s++)
    if (!selected(model, streams, s)) some.stream[s] = (hierarchy_counts){0};
  return hierarchy_total(&some);
}

/* Cycles of a multiprocessor for what passes through its L1, its share of the L2 and its share of
 * memory; the slowest of the three sets the time.  Least squares over the counters (not the model)
 * of docs/results/orderings/gpu-profile.csv in double precision; single and mixed are the test. */
static const struct {
  double looked_up, filled; /* sectors of loads in the L1: 97 bytes a cycle of the 128 of its data
                               pipe; and into it, 64 bytes a cycle [Hopper tuning guide] */
  double passed;        /* sectors of loads and stores at the L2: 5.8 TB/s on 132 multiprocessors */
  double reduced;       /* there, for a sector's address and for each 8 bytes added to it */
  double read, written; /* sectors of memory: 2.8 and 1.3 TB/s of its 4.8 */
  double begun;         /* once: the first warps arrive, the last ones are alone */
} cost = {.33, .5, 1.4, .88, 2.9, 6.5, 4300};

/* Of all multiprocessors.  Those of embedded atoms depend on tables, too. */
static double cycles(const profile_model *model)
{
  for (int s = 0; s < TRACE_STREAM_COUNT; s++)
    if (model->caches->density[s].requests > 0) return NAN;
  const hierarchy_counts loads = sum_streams(model, LOADS), all = sum_streams(model, ALL);
  const hierarchy_counts reduced = sum_streams(model, REDUCTIONS);
  /* A reduction's words of 8 bytes (list_trace.h). */
  const int words = model->precision == MD_DOUBLE ? 3 : 2;
  const double l1 =
      cost.looked_up * (double)loads.sectors + cost.filled * (double)loads.level[L2].sectors;
  const double l2 = cost.passed * (double)(all.level[L2].sectors - reduced.level[L2].sectors) +
                    cost.reduced * (1 + words) * (double)reduced.level[L2].sectors;
  const double memory =
      cost.read * (double)all.memory_read + cost.written * (double)all.memory_written;
  return fmax(fmax(l1, l2), memory) + cost.begun * model->m->multiprocessors;
}

static double occupancy(const profile_model *model)
{
  return 100.0 * model->caches->resident_warps / model->m->warps;
}

double profile_predict(const profile_quantity *q, const profile_model *model)
{
  if (q->modelled.function) return q->modelled.function(model);
  if (q->modelled.factor == 0) return NAN;
  const hierarchy_counts c = sum_streams(model, q->modelled.streams);
  int64_t over, under = model->caches->rows;
  memcpy(&over, (const char *)&c + q->modelled.over, sizeof over);
  if (q->modelled.under != (size_t)PROFILE_PER_ATOM)
    memcpy(&under, (const char *)&c + q->modelled.under, sizeof under);
  if (c.requests == 0 || under == 0) return NAN;
  return q->modelled.plus + q->modelled.factor * (double)over / (double)under;
}

#define LD "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
#define ST "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
#define RED "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"
#define LD_SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#define ST_SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
#define RED_SECTORS                                                                                \
  "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum "                                               \
  "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"
#define STALL(reason) "smsp__warp_issue_stalled_" reason "_per_warp_active.pct"
#define STALLS                                                                                     \
  STALL("long_scoreboard")                                                                         \
  " " STALL("lg_throttle") " " STALL("wait") " " STALL("short_scoreboard") " " STALL(              \
      "no_instruction") " " STALL("not_selected") " " STALL("barrier")
#define L2_READS "lts__t_sectors_srcunit_tex_op_read"
#define L2_WRITES "lts__t_sectors_srcunit_tex_op_write"
/* clang-format off */
#define NOT {1, NULL, NULL}
#define COUNT(field) offsetof(hierarchy_counts, field)
#define PER_ATOM(factor, field, streams) \
  {NULL, 0, factor, COUNT(field), (size_t)PROFILE_PER_ATOM, streams}
#define RATIO(plus, factor, over, under, streams) \
  {NULL, plus, factor, COUNT(over), COUNT(under), streams}
#define SECTORS(streams) RATIO(0, 1, sectors, requests, streams)
/* Percent of sectors that the L2 had, those among them that came with their neighbour. */
#define L2_HIT(streams) RATIO(0, 100, level[L2].hits, level[L2].sectors, streams)
/* The same of stores, for which it need not turn to memory. */
#define L2_KEPT(streams) RATIO(100, -100, memory_read, level[L2].sectors, streams)
#define FUNCTION(name) {name, 0, 0, 0, 0, ALL}
#define UNKNOWN {NULL, 0, 0, 0, 0, ALL}
/* clang-format on */

static const profile_quantity quantities[] = {
    {"table4",
     "cycles",
     {{1, "sm__cycles_active.sum", NULL}, {1, "elapsed_cycles_sm", NULL}},
     FUNCTION(cycles)},
    {"table4",
     "eligible_percent",
     {{100, "smsp__warps_eligible.sum", "smsp__warps_active.sum"}, NOT},
     UNKNOWN},
    {"fig18", "time_us", {{1e-3, "gpu__time_duration.sum", NULL}, NOT}, UNKNOWN},
    {"fig18",
     "occupancy_percent",
     {{100.0 / 64, "smsp__warps_active.sum", "sm__cycles_active.sum"},
      {100, "achieved_occupancy", NULL}},
     FUNCTION(occupancy)},
    {"fig18", "shared_memory_bytes", {{1, "launch__shared_mem_config_size", NULL}, NOT}, UNKNOWN},
    {"fig21-22",
     "memory_dependency_percent",
     {{100, STALL("long_scoreboard"), STALLS}, {1, "stall_memory_dependency", NULL}},
     UNKNOWN},
    {"fig21-22",
     "execution_dependency_percent",
     {{100, STALL("short_scoreboard") " " STALL("wait"), STALLS},
      {1, "stall_exec_dependency", NULL}},
     UNKNOWN},
    {"fig21-22",
     "memory_throttle_percent",
     {{100, STALL("lg_throttle"), STALLS}, {1, "stall_memory_throttle", NULL}},
     UNKNOWN},
    {"fig21-22",
     "not_selected_percent",
     {{100, STALL("not_selected"), STALLS}, {1, "stall_not_selected", NULL}},
     UNKNOWN},
    {"fig21-22",
     "synchronization_percent",
     {{100, STALL("barrier"), STALLS}, {1, "stall_sync", NULL}},
     UNKNOWN},
    {"fig21-22",
     "instruction_fetch_percent",
     {{100, STALL("no_instruction"), STALLS}, {1, "stall_inst_fetch", NULL}},
     UNKNOWN},
    {"fig23",
     "warp_execution_efficiency_percent",
     {{100.0 / 32, "smsp__average_thread_inst_executed_per_inst_executed.ratio", NULL},
      {1, "warp_execution_efficiency", NULL}},
     RATIO(0, 100.0 / LIST_WARP, lanes, requests, LOADS)},
    {"fig23",
     "branch_efficiency_percent",
     {{1, "smsp__sass_average_branch_targets_threads_uniform.pct", NULL},
      {1, "branch_efficiency", NULL}},
     UNKNOWN},
    {"fig24",
     "requests_per_atom",
     {{1, LD " " ST " " RED, "atoms"}, NOT},
     PER_ATOM(1, requests, ALL)},
    {"fig24",
     "sectors_per_atom",
     {{1, LD_SECTORS " " ST_SECTORS " " RED_SECTORS, "atoms"}, NOT},
     PER_ATOM(1, sectors, ALL)},
    {"fig24", "load_requests_per_atom", {{1, LD, "atoms"}, NOT}, PER_ATOM(1, requests, LOADS)},
    {"fig24",
     "load_sectors_per_request",
     {{1, LD_SECTORS, LD}, {1, "gld_transactions_per_request", NULL}},
     SECTORS(LOADS)},
    {"fig24",
     "load_lines_per_request",
     {{1, "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum", LD}, NOT},
     RATIO(0, 1, lines, requests, LOADS)},
    {"fig24", "store_requests_per_atom", {{1, ST, "atoms"}, NOT}, PER_ATOM(1, requests, STORES)},
    {"fig24",
     "store_sectors_per_request",
     {{1, ST_SECTORS, ST}, {1, "gst_transactions_per_request", NULL}},
     SECTORS(STORES)},
    {"fig24",
     "reduction_requests_per_atom",
     {{1, RED, "atoms"}, NOT},
     PER_ATOM(1, requests, REDUCTIONS)},
    {"fig24", "reduction_sectors_per_request", {{1, RED_SECTORS, RED}, NOT}, SECTORS(REDUCTIONS)},
    {"fig24", "AC_sectors_per_request", {NOT, NOT}, SECTORS(ONE + TRACE_AC)},
    {"fig24", "NI_sectors_per_request", {NOT, NOT}, SECTORS(ONE + TRACE_NI)},
    {"fig24", "NC_sectors_per_request", {NOT, NOT}, SECTORS(ONE + TRACE_NC)},
    {"fig24", "FUI_sectors_per_request", {NOT, NOT}, SECTORS(ONE + TRACE_FUI)},
    {"fig24", "FUO_sectors_per_request", {NOT, NOT}, SECTORS(ONE + TRACE_FUO)},
    {"fig25",
     "l1_hit_percent",
     {{100, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", LD_SECTORS},
      {1, "tex_cache_hit_rate", NULL}},
     RATIO(0, 100, level[L1].hits, level[L1].sectors, LOADS)},
    {"fig25",
     "l2_read_hit_percent",
     {{100, L2_READS "_lookup_hit.sum", L2_READS ".sum"}, {1, "l2_tex_read_hit_rate", NULL}},
     L2_HIT(LOADS)},
    {"fig25",
     "l2_write_hit_percent",
     {{100, L2_WRITES "_lookup_hit.sum", L2_WRITES ".sum"}, {1, "l2_tex_write_hit_rate", NULL}},
     L2_KEPT(STORES)},
    {"fig25", "l2_hit_percent", {{1, "lts__t_sector_hit_rate.pct", NULL}, NOT}, L2_HIT(ALL)},
    {"fig25",
     "l1_l2_read_sectors_per_atom",
     {{1, L2_READS ".sum", "atoms"}, {1, "l2_tex_read_transactions", "atoms"}},
     PER_ATOM(1, level[L2].sectors, LOADS)},
    {"fig25",
     "l2_sectors_per_atom",
     {{1,
       "lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum lts__t_sectors_op_red.sum "
       "lts__t_sectors_op_atom.sum",
       "atoms"},
      NOT},
     UNKNOWN},
    {"fig25",
     "memory_read_bytes_per_atom",
     {{1, "dram__bytes_read.sum", "atoms"}, {1, "dram_read_bytes", "atoms"}},
     PER_ATOM(SECTOR, memory_read, ALL)},
    {"fig25",
     "memory_written_bytes_per_atom",
     {{1, "dram__bytes_write.sum", "atoms"}, {1, "dram_write_bytes", "atoms"}},
     PER_ATOM(SECTOR, memory_written, ALL)},
};
enum { N_QUANTITIES = sizeof quantities / sizeof *quantities };

int profile_quantities(const profile_quantity **out)
{
  *out = quantities;
  return N_QUANTITIES;
}

/* The next of the names in *at, which moves behind it; false after the last. */
static bool next_name(const char **at, const char **name, size_t *length)
{
  *at += strspn(*at, " ");
  *name = *at;
  *length = strcspn(*at, " ");
  *at += *length;
  return *length > 0;
}

static int find_metric(const profile_metrics *metrics, const char *name, size_t length)
{
  for (int k = 0; k < metrics->n; k++)
    if (strncmp(metrics->name[k], name, length) == 0 && metrics->name[k][length] == '\0') return k;
  return -1;
}

static md_status add_metrics(const char *names, profile_metrics *out)
{
  const char *name;
  size_t length;
  while (names && next_name(&names, &name, &length)) {
    if (find_metric(out, name, length) >= 0 || strncmp(name, "atoms", length) == 0) continue;
    char **more = realloc(out->name, (size_t)(out->n + 1) * sizeof *more);
    if (more) out->name = more;
    char *copy = more ? strndup(name, length) : NULL;
    MD_REQUIRE(copy, MD_ENOMEM, "out of memory for names of metrics");
    out->name[out->n++] = copy;
  }
  return MD_OK;
}

md_status profile_metrics_of(profile_tool tool, profile_metrics *out)
{
  *out = (profile_metrics){0};
  md_status status = MD_OK;
  for (int q = 0; q < N_QUANTITIES && !status; q++) {
    status = add_metrics(quantities[q].measured[tool].over, out);
    if (!status) status = add_metrics(quantities[q].measured[tool].under, out);
  }
  if (status) profile_metrics_free(out);
  return status;
}

void profile_metrics_free(profile_metrics *metrics)
{
  for (int k = 0; k < metrics->n; k++)
    free(metrics->name[k]);
  free(metrics->name);
  *metrics = (profile_metrics){0};
}

static double sum_metrics(const char *names, const profile_metrics *metrics, const double *value,
                          double atoms)
{
  double total = 0;
  const char *name;
  size_t length;
  while (next_name(&names, &name, &length)) {
    const int k = find_metric(metrics, name, length);
    total += k >= 0 ? value[k] : atoms;
  }
  return total;
}

profile_measured profile_measure(const profile_quantity *q, profile_tool tool,
                                 const profile_metrics *metrics, const profile_values *values,
                                 int64_t first, int64_t n, double atoms)
{
  const profile_measured nothing = {NAN, NAN};
  const char *over = q->measured[tool].over, *under = q->measured[tool].under;
  double *each = over && n > 0 ? malloc((size_t)n * sizeof *each) : NULL;
  bool known = each != NULL;
  for (int64_t k = 0; known && k < n; k++) {
    const double *value = values->value + (first + k) * values->n;
    const double below = under ? sum_metrics(under, metrics, value, atoms) : 1;
    each[k] = q->measured[tool].factor * sum_metrics(over, metrics, value, atoms) / below;
    known = isfinite(each[k]);
  }
  if (!known) {
    free(each);
    return nothing;
  }
  const double median = compare_summarise(each, n).median; /* sorts them */
  const double range = each[n - 1] - each[0];
  free(each);
  return (profile_measured){median, median != 0 ? 100 * range / fabs(median) : 0};
}
