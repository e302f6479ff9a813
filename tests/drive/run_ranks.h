/* tests/drive/run_ranks.h - suites that run alone and under mpirun. */
#ifndef RUN_RANKS_H
#define RUN_RANKS_H

#include "tests/test.h"

/* As test_main, among the ranks that a launcher started; name: of the suite's program. */
int run_ranks(Suite *suite, const char *name);

#endif
