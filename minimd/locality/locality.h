/* minimd/locality/locality.h - the lists of a run through the models of caches, for `cachemodel`,
 * `compare` and `profile`. */
#ifndef LOCALITY_H
#define LOCALITY_H

#include "cachemodel/kernel/list_trace.h"
#include "cachemodel/machine/hierarchy.h"
#include "minimd/config/config.h"
#include "engine/engine.h"
#include "minimd/shell/options.h"

MD_BEGIN_C

/* The list of an engine as the models read it. */
list_input locality_input(const engine *sim);

/* The engine's choice for a run that is traced or modelled, set in cfg where it would be tile and
 * is full instead.  Errors: MD_EINVAL (tile was asked for). */
md_status locality_choose(config *cfg, engine_choice *out);

/* A run made to be modelled, with values of its own. */
typedef struct {
  config *cfg;
  engine *sim;
  neighbor_kind kind; /* of the kernel that is modelled */
  bool translated;    /* the kernel is a GPU's, the list a full one of the CPU */
  md_buffer built;    /* then: positions of atoms and ghosts when the list was built */
} locality_run;

/* A run of the configuration under this ordering and list, before its first step.  The kernel of a
 * GPU is modelled from its own list where the configuration runs on one, else from a full list of
 * the CPU.  opts and lists are those of settings_read.  list NULL: what the configuration says, or
 * the engine's choice.  one_thread: the CPU's lists are those of one thread; half lists depend on
 * how many there are.
 * Errors: those of settings_read and the engine; *out is empty on failure. */
md_status locality_begin(const options *opts, unsigned lists, const char *order, const char *list,
                         machine_kind kind, bool one_thread, locality_run *out);
/* Run on to this step.  Atoms and list are then those of any run of this configuration at this
 * step: the list is the one that the force kernel reads, from the last rebuild. */
md_status locality_advance(locality_run *run, int64_t step);
/* Both, to the configuration's last step. */
md_status locality_open(const options *opts, unsigned lists, const char *order, const char *list,
                        machine_kind kind, bool one_thread, locality_run *out);
void locality_close(locality_run *run);

/* What locality_open would refuse in its arguments, without running anything. */
md_status locality_check(const options *opts, unsigned lists, const char *order, const char *list,
                         machine_kind kind);

/* hierarchy_run of its kernel; block_size 0 in model is the configuration's. */
md_status locality_model(const locality_run *run, const machine *m, const hierarchy_options *model,
                         hierarchy_result *cold, hierarchy_result *warm);

/* What an engine's own list says about the locality of its force kernel, and what the model makes
 * of it on the machine the engine runs on (one core of the host, or the GPU). */
#define LOCALITY_FIGURES(X)                                                                        \
  X(SECTORS, "sectors_per_request") /* list_trace.h: list_figures */                               \
  X(LINES, "lines_per_row")                                                                        \
  X(L1_HIT, "l1_hit")                /* share of neighbour coordinates found in the first level */ \
  X(L2_HIT, "l2_hit")                /* of those that were not, in the second */                   \
  X(MEMORY, "memory_bytes_per_atom") /* read by all streams */
#define MD_ENUM_(name, word) LOCALITY_##name,
enum { LOCALITY_FIGURES(MD_ENUM_) LOCALITY_FIGURE_COUNT };
#undef MD_ENUM_

/* NaN where this machine does not describe its caches, and for lists by tiles.  At most the first
 * 2^22 rows count. Errors: MD_ENOMEM, MD_ECUDA. */
md_status locality_of(const engine *sim, double figure[LOCALITY_FIGURE_COUNT]);

MD_END_C
#endif
