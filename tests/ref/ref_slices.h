/* tests/ref/ref_slices.h - the force kernel of the CPU as force/force_cpu.prec.c has it, access by
 * access, in terms of arrays. */
#ifndef REF_SLICES_H
#define REF_SLICES_H

#include "tests/ref/ref_threads.h"

/* Everything one thread accesses, in its order.  Free the events. */
ref_events ref_slices(const list_kernel *kernel, const run_list *list, const run_snapshot *atoms);

#endif
