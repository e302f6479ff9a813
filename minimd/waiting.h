/* minimd/waiting.h - how threads of OpenMP wait for each other. */
#ifndef WAITING_H
#define WAITING_H

#include "core/processors.h"
#include <stdio.h>

/* At the start of main: unless the environment says how to wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT,
 * KMP_BLOCKTIME), threads spin for some tens of microseconds, then sleep.
 * GCC's OpenMP reads its environment when it is loaded: the program starts itself once more with
 * these variables, same arguments, files and process.  Does nothing where that fails. */
void waiting_choose(char **argv);

/* A line of warning if threads waited for processors for more than a tenth of the time that they
 * could have run: times are then those of a busy machine. */
void waiting_note(const md_waiting *spent, FILE *stream);

#endif
