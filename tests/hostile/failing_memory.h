/* tests/hostile/failing_memory.h - allocators, and calls that write files, that refuse on demand.
 *
 * The Makefile renames the allocators that the program's own objects call (failing_memory.syms) to
 * those defined here, so that every malloc, calloc, ..., strdup, open_memstream of the program,
 * and every cudaMalloc, can be made to fail.  None of the libraries': libconfig 1.5 crashes or
 * exits and FFTW aborts at any of theirs, which no caller can prevent.  The program's clock is
 * renamed, too: a second passes with every look at it, so that what repeats for a time ends at
 * once. */
#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* GROWN: of the host, what grows by realloc alone. */
typedef enum {
  FAILING_HOST,
  FAILING_GROWN,
  FAILING_DEVICE,
  FAILING_FILES,
  FAILING_COUNT
} failing_where;

/* Start counting at 1 again; refuse call number `at` (0: none), and those after it if `on`. */
void failing_set(failing_where where, long at, bool on);
/* Calls since then. */
long failing_calls(failing_where where);
/* What the program calls for realloc. */
void *failing_realloc(void *old, size_t bytes);
/* Device allocations not freed yet. */
long failing_device_live(void);

/* The program with this command line; every file in braces gets its path (files.h).  Returns its
 * exit code. */
int failing_start(const char *line, bool on_gpu);

#endif
