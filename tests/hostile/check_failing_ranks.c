/* tests/hostile/check_failing_ranks.c - the k-th allocation of one of three ranks fails: all end
 * with one line on standard error and exit code 4 (or with the whole answer, where the memory was
 * not needed), and none waits for another.
 *
 * Each try is a job of mpirun, which starts this program again as the ranks: with FAILING_LINE. */
#include "tests/hostile/failing_memory.h"
#include "tests/hostile/failing_ranks.h"
#include "comm/world.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tries a line, evenly over its allocations, and of what grows, such as room for messages; seconds
 * after which a job hangs.  check_failing_agreements has a try for each place, without MPI. */
enum { TRIES = 3, MOST_GROWN = 3, PATIENCE = 30, RANKS = 3 };

static const struct {
  const char *line;
  int rank; /* that fails */
} cases[] = {
    {SMALL "--set system.read={a.data} --steps 1", 1},
    {SMALL "--set system.read={a.xyz} --steps 1", 2},
    {SMALL "--restart {saved} --steps 5 --dump {d.xyz} --checkpoint {c}", 1},
    {"stokes -i {spheres.xyz} --steps 3 --rhs 2 --threads 1 --quiet --checkpoint {c}", 2},
};

typedef struct {
  failing_where where;
  int rank;
  long at; /* 0: none fails */
} failing_call;

typedef struct {
  int code, lines; /* of the job: exit code, error lines */
  long calls;      /* of that rank */
} outcome;

/* As one of the ranks. */
static int be_rank(const char *line)
{
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  const failing_where where = (failing_where)atoi(getenv("FAILING_WHERE"));
  const bool fails = rank && strcmp(rank, getenv("FAILING_RANK")) == 0;
  failing_set(where, fails ? atol(getenv("FAILING_AT")) : 0, false);
  const int code = failing_start(line, false);
  FILE *calls = fails ? fopen(getenv("FAILING_CALLS"), "w") : NULL;
  if (calls) fprintf(calls, "%ld\n", failing_calls(where)), fclose(calls);
  return code;
}

static void put_paths(const char *line, char *out, size_t size)
{
  char name[64];
  size_t used = 0;
  for (const char *c = line; *c; c++) {
    if (*c == '{' && sscanf(c, "{%63[^}]}", name) == 1) {
      used += (size_t)snprintf(out + used, size - used, "%s", files_path(name));
      c = strchr(c, '}');
    } else {
      out[used++] = *c;
    }
  }
  out[used] = '\0';
}

/* The line as so many ranks. */
static outcome try_one(const char *line, int ranks, failing_call call)
{
  char words[2048], command[512], said[1024];
  outcome out = {0};
  put_paths(line, words, sizeof words);
  setenv("FAILING_LINE", words, 1);
  setenv("FAILING_CALLS", files_path("calls"), 1);
  snprintf(command, sizeof command,
           "FAILING_WHERE=%d FAILING_RANK=%d FAILING_AT=%ld mpirun --allow-run-as-root "
           "--oversubscribe --timeout %d -n %d /proc/%d/exe 2>&1 >/dev/null </dev/null",
           (int)call.where, call.rank, call.at, PATIENCE, ranks, (int)getpid());
  FILE *job = popen(command, "r");
  ck_assert_ptr_nonnull(job);
  while (fgets(said, sizeof said, job))
    out.lines += strncmp(said, "minimd: error:", 14) == 0;
  const int state = pclose(job);
  unsetenv("FAILING_LINE");
  FILE *told = fopen(files_path("calls"), "r");
  if (told) (void)!fscanf(told, "%ld", &out.calls), fclose(told);
  out.code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  return out;
}

static void make_files(void)
{
  files_begin();
  /* A folder for sessions of its own: see tests/cli/ranks.sh. */
  setenv("OMPI_MCA_orte_tmpdir_base", files_path("sessions"), 1);
  for (size_t k = 0; k < sizeof setup / sizeof *setup; k++)
    ck_assert_int_eq(try_one(setup[k], 1, (failing_call){0}).code, 0);
}

/* At most so many of the calls fail in turn. */
static void try_some(const char *line, failing_where where, int rank, long tries)
{
  const outcome whole = try_one(line, RANKS, (failing_call){where, rank, 0});
  ck_assert_int_eq(whole.code, 0);
  ck_assert_int_gt(whole.calls, 1);
  if (tries > whole.calls) tries = whole.calls;
  for (long k = 0; k < tries; k++) {
    const long at = 1 + (whole.calls - 1) * k / (tries - 1);
    const outcome o = try_one(line, RANKS, (failing_call){where, rank, at});
    ck_assert_msg((o.code == 4 && o.lines == 1) || (o.code == 0 && o.lines == 0),
                  "%s: %s %ld of %ld of rank %d: exit code %d, %d error lines", line,
                  where == FAILING_GROWN ? "realloc" : "allocation", at, whole.calls, rank, o.code,
                  o.lines);
  }
}

START_TEST(all_ranks_end)
{
  try_some(cases[_i].line, FAILING_HOST, cases[_i].rank, TRIES);
  try_some(cases[_i].line, FAILING_GROWN, cases[_i].rank, MOST_GROWN);
}
END_TEST

int main(void)
{
  const char *line = getenv("FAILING_LINE");
  if (line) return be_rank(line);
  if (strncmp(world_library(), "Open MPI", 8) != 0 || system("command -v mpirun >/dev/null") != 0) {
    puts("100%: skipped: several ranks need mpirun and a build with MPI");
    return 0;
  }
  setenv("OMP_WAIT_POLICY", "passive", 1);
  Suite *suite = suite_create("failing ranks");
  TCase *tries = test_long_case("tries");
  tcase_add_unchecked_fixture(tries, make_files, files_end);
  if (test_backend() == MD_CPU)
    tcase_add_loop_test(tries, all_ranks_end, 0, (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, tries);
  return test_main(suite);
}
