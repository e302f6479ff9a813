/* tests/hostile/check_failing_agreements.c - one of three ranks fails just before it calls the
 * others, wherever it calls them: its first or its last allocation, or call on files, since the
 * call before fails.  All end with one exit code and one line (or with the whole answer, where it
 * was not needed), and no rank takes another's call for one of its own or waits for what cannot
 * come (pretend_ranks.h).  But for a few named messages no rank ends the others: all agree. */
#include "tests/drive/files.h"
#include "tests/hostile/failing_memory.h"
#include "tests/hostile/failing_ranks.h"
#include "tests/hostile/pretend_ranks.h"
#include "tests/test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
  const char *line;
  int rank; /* that fails, */
  failing_where where;
  int code; /* and what the run ends with then */
} cases[] = {
    {SMALL "--set system.read={a.data} --steps 1", 1, FAILING_HOST, 4},
    {SMALL "--set system.read={a.xyz} --steps 1", 2, FAILING_HOST, 4},
    {SMALL "--restart {saved} --steps 5 --dump {d.xyz} --checkpoint {c}", 1, FAILING_HOST, 4},
    {SMALL "--restart {saved} --steps 5 --dump {d.xyz} --checkpoint {c}", 0, FAILING_FILES, 3},
    {"compare --backend cpu --threads 1 --cells 4 --steps 1 --repeat 1 --order row,none", 2,
     FAILING_HOST, 4},
    {"-i inputs/in.nacl --backend cpu --threads 1 --cells 3 --steps 2 --quiet", 1, FAILING_HOST, 4},
};

/* What a rank may end the others for, without an agreement: sums of every thermo line, and what is
 * left when all have agreed on the end. */
static const char *const alone[] = {"out of memory for sums of 3 ranks",
                                    "out of memory for 2 variants", "out of memory for 1 repeats",
                                    "out of memory for a line of text",
                                    "cannot write to standard output"};

static bool may_be_alone(const char *said)
{
  for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
    if (strstr(said, alone[k])) return true;
  return false;
}

typedef struct {
  int of;  /* cases */
  long at; /* 0: never */
} failing_call;

static int be_rank(int rank, void *of)
{
  const failing_call *call = of;
  failing_set(cases[call->of].where, rank == cases[call->of].rank ? call->at : 0, false);
  return failing_start(cases[call->of].line, false);
}

static void try_one(int of, long at, pretend_outcome *out)
{
  failing_call call = {of, at};
  pretend_ranks(be_rank, &call, cases[of].rank, cases[of].where, out);
  const bool whole = out->code == 0 && out->lines == 0;
  ck_assert_msg(out->fault[0] == '\0' &&
                    (whole || (out->code == cases[of].code && out->lines == 1)),
                "%s: call %ld of rank %d fails: exit code %d, %d error lines; %s; %s",
                cases[of].line, at, cases[of].rank, out->code, out->lines, out->fault, out->said);
  ck_assert_msg(!out->alone || may_be_alone(out->said),
                "%s: call %ld of rank %d fails: it ends the others without an agreement: %s",
                cases[of].line, at, cases[of].rank, out->said);
}

START_TEST(all_ranks_end)
{
  static pretend_outcome whole, out;
  try_one(_i, 0, &whole);
  ck_assert_int_eq(whole.code, 0);
  ck_assert_int_gt(whole.n_sites, 5);
  ck_assert_int_lt(whole.n_sites, PRETEND_SITES);
  for (int k = 0; k < whole.n_sites; k++) {
    const pretend_site *site = &whole.site[k];
    try_one(_i, site->last, &out);
    if (site->first < site->last) try_one(_i, site->first, &out);
  }
}
END_TEST

/* Each in a process of its own: ranks are to begin as the program does. */
static void make_files(void)
{
  files_begin();
  for (size_t k = 0; k < sizeof setup / sizeof *setup; k++) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(freopen("/dev/null", "w", stdout) ? failing_start(setup[k], false) : 99);
    int state = -1;
    waitpid(child, &state, 0);
    ck_assert_int_eq(state, 0);
  }
}

int main(void)
{
  if (test_needs_cpu()) return 0;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  Suite *suite = suite_create("failing agreements");
  TCase *tries = tcase_create("tries");
  tcase_set_timeout(tries, 60);
  tcase_add_unchecked_fixture(tries, make_files, files_end);
  tcase_add_loop_test(tries, all_ranks_end, 0, (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, tries);
  return test_main(suite);
}
