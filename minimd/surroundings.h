/* minimd/surroundings.h - what the program needs around it before it begins: how threads wait for
 * each other, and their stacks. */
#ifndef SURROUNDINGS_H
#define SURROUNDINGS_H

#include "core/hardware/processors.h"
#include <stdio.h>

/* At the start of main.  Unless the environment says how to wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT,
 * KMP_BLOCKTIME), threads spin for some tens of microseconds, then sleep.  A soft limit of the
 * stack that is too small is raised.  GCC's OpenMP reads its environment when it is loaded, and the
 * C library the limit: the program starts itself once more with these, same arguments, files and
 * process.  Errors: MD_ENOMEM (the hard limit of the stack is too small). */
md_status surroundings_settle(char **argv);

/* A line of warning if threads waited for processors for more than a tenth of the time that they
 * could have run: times are then those of a busy machine. */
void waiting_note(const md_waiting *spent, FILE *stream);

#endif
