/* minimd/waiting.c - see waiting.h.
 *
 * By default GCC's threads spin for 3e5 turns, several ms.  Where another program holds a processor,
 * they spin while the thread that they wait for could run in their place. */
#include "minimd/waiting.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As many as the gaps between the parallel loops of a step ask for: with fewer, an idle machine pays
 * for waking threads up; with more, a busy one for turns that lead nowhere. */
#define SPINS "1000"

void waiting_choose(char **argv)
{
  static const char *const said[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
  for (size_t k = 0; k < sizeof said / sizeof *said; k++)
    if (getenv(said[k])) return;
  setenv("KMP_BLOCKTIME", "0", 1); /* [ms]; LLVM's OpenMP reads it at the first parallel region */
  setenv("GOMP_SPINCOUNT", SPINS, 1);
#ifndef __clang__
  char path[PATH_MAX]; /* the name, not /proc/self/exe, so that ps shows it */
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = '\0';
  execv(path, argv);
#else
  (void)argv;
#endif
}

void waiting_note(const md_waiting *spent, FILE *stream)
{
  const double able = spent->ran_s + spent->waited_s;
  if (spent->waited_s <= 0.1 * able) return;
  fprintf(stream,
          "busy machine: threads waited for a processor for %.0f%% of their time (%.3g of %.3g s); "
          "times are longer than on processors of their own\n",
          100 * spent->waited_s / able, spent->waited_s, able);
}
