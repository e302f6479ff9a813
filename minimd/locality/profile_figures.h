/* minimd/locality/profile_figures.h - the quantities of [AK] Table 4 and Figs. 18, 21-25: how they
 * follow from a profiler's metrics, and what the model of caches makes of them.
 *
 * A measured quantity is factor * sum of metrics / sum of metrics, of each launch; the metrics to
 * ask the profiler for are those that the quantities name. */
#ifndef PROFILE_FIGURES_H
#define PROFILE_FIGURES_H

#include "cachemodel/machine/hierarchy.h"
#include "minimd/locality/profile_csv.h"

MD_BEGIN_C

#define PROFILE_TOOLS(X) X(NCU, "ncu") X(NVPROF, "nvprof")
#define MD_ENUM_(name, word) PROFILE_##name,
typedef enum { PROFILE_TOOLS(MD_ENUM_) PROFILE_TOOL_COUNT } profile_tool;
#undef MD_ENUM_

typedef struct {
  const machine *m;
  neighbor_kind kind;
  md_precision precision;
  const hierarchy_result *caches;
} profile_model;

typedef struct {
  const char *figure, *name;
  /* Names separated by spaces; "atoms" is their number; under NULL is 1; over NULL: this profiler
   * does not count it. */
  struct {
    double factor;
    const char *over, *under;
  } measured[PROFILE_TOOL_COUNT];
  /* A function; or plus + factor * over / under, counts of some streams; NULL and factor 0: the
   * model has none. */
  struct {
    double (*function)(const profile_model *model);
    double plus, factor;
    size_t over, under; /* offsets in hierarchy_counts, or PROFILE_PER_ATOM */
    int streams;        /* private: which */
  } modelled;
} profile_quantity;
enum { PROFILE_PER_ATOM = -1 };

int profile_quantities(const profile_quantity **out);

/* NaN: the model has none, or the kernel does nothing of the kind. */
double profile_predict(const profile_quantity *q, const profile_model *model);

/* Every metric that the quantities name, once.  Free with profile_metrics_free. */
typedef struct {
  char **name; /* [n] */
  int n;
} profile_metrics;
md_status profile_metrics_of(profile_tool tool, profile_metrics *out);
void profile_metrics_free(profile_metrics *metrics);

/* Launches first .. first + n - 1: the median, and (greatest - least) / median in percent.  NaN
 * where a metric is missing. */
typedef struct {
  double median, spread;
} profile_measured;
profile_measured profile_measure(const profile_quantity *q, profile_tool tool,
                                 const profile_metrics *metrics, const profile_values *values,
                                 int64_t first, int64_t n, double atoms);

MD_END_C
#endif
