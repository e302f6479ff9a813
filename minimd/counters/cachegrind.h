/* minimd/counters/cachegrind.h - the same kernel under valgrind's cachegrind, which needs no
 * counters: it simulates a first-level and a last-level cache, instruction by instruction. */
#ifndef CACHEGRIND_H
#define CACHEGRIND_H

#include "cachemodel/machine/machine.h"

MD_BEGIN_C

/* Events of cachegrind, by their names in its output. */
#define CACHEGRIND_EVENTS(X)                                                                       \
  X(IR, "Ir")                                                                                      \
  X(DR, "Dr") X(D1MR, "D1mr") X(DLMR, "DLmr") X(DW, "Dw") X(D1MW, "D1mw") X(DLMW, "DLmw")
#define MD_ENUM_(name, word) CACHEGRIND_##name,
typedef enum { CACHEGRIND_EVENTS(MD_ENUM_) CACHEGRIND_EVENT_COUNT } cachegrind_event;
#undef MD_ENUM_

/* Sums over the functions whose names begin with `function`.  Errors: MD_EIO (cannot be read),
 * MD_EINVAL (not what cachegrind writes; an event is missing). */
md_status cachegrind_read(const char *path, const char *function,
                          int64_t counts[CACHEGRIND_EVENT_COUNT]);

/* The two caches of a machine that cachegrind simulates: its first level and its last, the number
 * of sets a power of two, as cachegrind wants it: the greatest that is not more. */
void cachegrind_machine(const machine *m, machine *out);

/* Run this program with these arguments (NULL ends them) under cachegrind and read it.  *missing is
 * NULL, or says that valgrind is not installed; free it.
 * Errors: those of cachegrind_read and valgrind_run. */
md_status cachegrind_run(const machine *caches, char *const *program, const char *function,
                         int64_t counts[CACHEGRIND_EVENT_COUNT], char **missing);

MD_END_C
#endif
