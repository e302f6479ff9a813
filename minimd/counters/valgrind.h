/* minimd/counters/valgrind.h - a program under one of valgrind's tools, as a child on one thread
 * with portable instructions, which valgrind has. */
#ifndef VALGRIND_H
#define VALGRIND_H

#include "core/md.h"

MD_BEGIN_C

/* Take a line that the child or the tool printed, without its end. */
typedef md_status valgrind_line(void *to, const char *line);

/* options: valgrind's; program: the child's file and arguments; NULL ends both.  take NULL: what
 * they print goes nowhere; errors of take end the child.  *missing is NULL, or says that valgrind
 * is not installed; free it.
 * Errors: those of take; MD_EIO (valgrind or the program failed), MD_ENOMEM. */
md_status valgrind_run(const char *const *options, char *const *program, valgrind_line *take,
                       void *to, char **missing);

MD_END_C
#endif
