/* minimd/counters/addresses.h - the CPU's force kernel address by address, beside its model.
 *
 * valgrind's lackey writes down every access of a child that says where the kernel's arrays lie and
 * launches it between stores to a marker.  The first launch tells which elements are touched
 * and fills the caches; the misses of the second count.  Accesses in no array are constants, the
 * stack and spills: they go through the same caches and are counted apart.
 *
 * The compiler may load a word once more instead of keeping it in a register, a spill as well.  So
 * a structure of four is touched as often as the least of x, y and z; indices, counts and starts,
 * which a launch needs once, count once. */
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include "minimd/locality/locality.h"

MD_BEGIN_C

typedef struct {
  int64_t touched, modelled; /* elements of the arrays, loads and stores */
  int64_t differ;            /* by how much in all, element by element */
  int64_t other;             /* accesses in no array, of one launch */
  /* Misses in the first and last level of the second launch: in the arrays, and of all. */
  int64_t in_arrays[2], all[2];
} addresses_counts;

/* The child's part: say where the arrays lie, on standard output, and launch, a store to a marker
 * before each and behind the last.
 * Errors: those of list_kernel_of and the kernel. */
md_status addresses_launch(const engine *sim, int64_t launches);

/* program: this one, with arguments that make it launch twice on the same engine; caches: as
 * cachegrind_machine gives.  *missing as valgrind_run's.
 * Errors: MD_EINVAL (the child printed something else, or has other arrays), those of valgrind_run,
 * of the list and of the caches. */
md_status addresses_run(const machine *caches, char *const *program, const engine *sim,
                        addresses_counts *out, char **missing);

MD_END_C
#endif
