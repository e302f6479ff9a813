/* minimd/locality.h - the lists of a run through the models of caches, for `cachemodel`, `compare`
 * and `profile`. */
#ifndef LOCALITY_H
#define LOCALITY_H

#include "cachemodel/hierarchy.h"
#include "minimd/engine.h"
#include "minimd/options.h"

MD_BEGIN_C

/* The list of an engine as the models read it. */
list_input locality_input(const engine *sim);

/* A run made to be modelled: on the CPU, values of its own. */
typedef struct {
  config *cfg;
  engine *sim;
  neighbor_kind kind; /* of the kernel that is modelled */
} locality_run;

/* Run the configuration under this ordering and list on the CPU for its steps and build its list
 * anew there.  The kernel of a GPU is modelled from a full list.  opts and lists are those of
 * settings_read.  list NULL: what the configuration says, or full.
 * Errors: those of settings_read and the engine; *out is empty on failure. */
md_status locality_open(const options *opts, unsigned lists, const char *order, const char *list,
                        machine_kind kind, locality_run *out);
void locality_close(locality_run *run);

/* hierarchy_run of its kernel; block_size 0 in model is the configuration's. */
md_status locality_model(const locality_run *run, const machine *m, const hierarchy_options *model,
                         hierarchy_result *cold, hierarchy_result *warm);

/* Figures that need no machine: distinct 32-byte sectors of 32 rows' k-th neighbours, on average,
 * and distinct 64-byte lines of a row's neighbours' coordinates; of at most `rows` rows in the
 * order of rows. */
typedef struct {
  double sectors_per_request, lines_per_row;
  int64_t rows;
} locality_figures;
md_status locality_measure(const engine *sim, int64_t rows, locality_figures *out);

MD_END_C
#endif
