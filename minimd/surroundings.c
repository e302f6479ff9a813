/* minimd/surroundings.c - see surroundings.h. */
#include "minimd/surroundings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* By default GCC's threads spin for 3e5 turns, several ms.  Where another program holds a
 * processor, they spin while the thread that they wait for could run in their place.  As many as
 * the gaps between the parallel loops of a step ask for: with fewer, an idle machine pays for
 * waking threads up; with more, a busy one for turns that lead nowhere. */
#define SPINS "1000"

/* What the largest frames take several times over, and what systems give by default [B]. */
enum { LEAST_STACK = 1 << 20, USUAL_STACK = 8 << 20 };

/* Whether the environment was changed. */
static bool choose_waiting(void)
{
  static const char *const said[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
  for (size_t k = 0; k < sizeof said / sizeof *said; k++)
    if (getenv(said[k])) return false;
  setenv("KMP_BLOCKTIME", "0", 1); /* [ms]; LLVM's OpenMP reads it at the first parallel region */
  setenv("GOMP_SPINCOUNT", SPINS, 1);
  return true;
}

/* *raised: whether the soft limit was. */
static md_status raise_stack(bool *raised)
{
  struct rlimit stack;
  *raised = false;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= LEAST_STACK) return MD_OK;
  MD_REQUIRE(stack.rlim_max >= LEAST_STACK, MD_ENOMEM,
             "the stack may have %llu kB at most: expected a limit of at least %d kB (ulimit -s)",
             (unsigned long long)stack.rlim_max / 1024, LEAST_STACK / 1024);
  stack.rlim_cur = stack.rlim_max < USUAL_STACK ? stack.rlim_max : USUAL_STACK;
  *raised = setrlimit(RLIMIT_STACK, &stack) == 0;
  return MD_OK;
}

md_status surroundings_settle(char **argv)
{
  bool raised;
  const bool chosen = choose_waiting();
  MD_TRY(raise_stack(&raised));
#ifdef __clang__
  const bool again = raised;
  (void)chosen;
#else
  const bool again = raised || chosen;
#endif
  char path[PATH_MAX]; /* the name, not /proc/self/exe, so that ps shows it */
  const ssize_t length = again ? readlink("/proc/self/exe", path, sizeof path - 1) : 0;
  if (length <= 0) return MD_OK;
  path[length] = '\0';
  execv(path, argv);
  return MD_OK; /* it goes on as it is */
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
