/* comm/world/world.c - see world.h. */
#include "comm/world/world_impl.h"
#include "core/crc.h"
#include "core/hardware/processors.h"
#include "core/parse/parse.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_SAYS = 5 }; /* seconds, on a busy host */

/* How far a rank came in a sequence. */
typedef struct {
  int64_t failed, at, which;
} failure;

static struct {
  int rank, count;
  bool launched;
  bool agreed; /* all ranks know of the failure that this one ends with */
  bool works;  /* ranks wait for each other's messages */
  bool alone;  /* this one failed meanwhile */
  int on_host, on_processors, local;
  failure *failures; /* [count], or the states of all: memory that an agreement need not take */
} world = {.count = 1, .on_host = 1, .on_processors = 1};

/* Whether a launcher started several ranks, as Open MPI, PMIx and Slurm's PMI tell a process. */
static bool launched(void)
{
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  if (size) return strcmp(size, "1") != 0;
  const char *tasks = getenv("SLURM_NTASKS");
  if (tasks && strcmp(tasks, "1") == 0) return false;
  return getenv("PMIX_RANK") || (tasks && getenv("PMI_RANK"));
}

/* This rank's number by the launcher: where MPI cannot be started, too, only rank 0 says so. */
static int number(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  int64_t rank = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *value = getenv(names[k]);
    if (value && md_parse_int64(value, 0, INT32_MAX, &rank) == MD_OK) break;
  }
  return (int)rank;
}

/* Who else is on this host, and on these processors; memory for agreements. */
static md_status meet(void)
{
  struct {
    char host[256];
    cpu_set_t processors;
  } mine, *all = malloc((size_t)world.count * sizeof mine);
  memset(&mine, 0, sizeof mine);
  gethostname(mine.host, sizeof mine.host - 1);
  sched_getaffinity(0, sizeof mine.processors, &mine.processors);
  world.failures = malloc((size_t)world.count * sizeof *world.failures);
  int64_t failed = !all || !world.failures;
  carrier_sum(&failed, 1);
  world.agreed = failed > 0;
  if (failed || !all) {
    free(all);
    return MD_FAIL(MD_ENOMEM, "out of memory for the hosts of %d ranks", world.count);
  }
  carrier_gather(&mine, sizeof mine, all);
  world.on_host = world.on_processors = 0;
  for (int r = 0; r < world.count; r++) {
    const bool here = strcmp(all[r].host, mine.host) == 0;
    world.on_host += here;
    world.local += here && r < world.rank;
    world.on_processors += memcmp(&all[r], &mine, sizeof mine) == 0;
  }
  free(all);
  return MD_OK;
}

/* What this rank would say, rank 0 most likely says too; then the launcher ends this rank. */
static md_status leave_it_to_first(md_status status)
{
  signal(SIGTERM, SIG_DFL);
  sleep(FIRST_SAYS);
  world.alone = true;
  return status;
}

md_status world_open(void)
{
  world.launched = launched();
  if (!world.launched) return MD_OK;
  world.rank = number();
  /* Where one rank fails here all do, and the launcher ends the others when the first has ended. */
  struct sigaction ignored = {.sa_handler = SIG_IGN}, was;
  sigaction(SIGTERM, &ignored, &was);
  const md_status status = carrier_open(&world.rank, &world.count);
  if (status) return world.rank > 0 ? leave_it_to_first(status) : status;
  sigaction(SIGTERM, &was, NULL);
  if (world.count > 1) MD_TRY(meet());
  MD_REQUIRE(world.rank == 0 || freopen("/dev/null", "w", stdout), MD_EIO,
             "cannot redirect the standard output of rank %d: %s", world.rank, strerror(errno));
  return MD_OK;
}

void world_close(bool failed, int exit_code)
{
  /* A launcher ends the other ranks by a signal when the first has ended with such a code: they are
   * about to end alike. */
  if (exit_code != 0 && world.launched) signal(SIGTERM, SIG_IGN);
  if (world.count == 1) return;
  free(world.failures);
  if (failed && !world.agreed)
    carrier_abort(exit_code);
  else
    carrier_close();
}

int world_rank(void)
{
  return world.rank;
}

int world_count(void)
{
  return world.count;
}

md_status world_agree(md_status status)
{
  if (world.count == 1 || (status && world.agreed)) return status;
  const int32_t mine = (int32_t)status;
  int32_t *all = (void *)world.failures;
  carrier_gather(&mine, sizeof mine, all);
  int worst = 0;
  for (int r = 1; r < world.count; r++)
    if (all[r] > all[worst]) worst = r;
  const md_status found = (md_status)all[worst];
  world.agreed = found != MD_OK;
  if (found == MD_OK) return MD_OK;
  char text[WORLD_MESSAGE] = "";
  snprintf(text, sizeof text, "%s", md_message());
  carrier_broadcast(text, sizeof text, worst);
  return world.rank == worst ? found : MD_FAIL(found, "%s", text);
}

md_status world_agree_first(md_status status, int64_t at, int64_t which)
{
  if (world.count == 1 || (status && world.agreed)) return status;
  const failure mine = {status != MD_OK, at, which};
  failure *all = world.failures;
  carrier_gather(&mine, sizeof mine, all);
  const failure *first = NULL;
  for (const failure *f = all; f < all + world.count; f++)
    if (f->failed &&
        (!first || f->at < first->at || (f->at == first->at && f->which < first->which)))
      first = f;
  const bool tells = first == all + world.rank;
  return world_agree(tells ? status : MD_OK);
}

void world_work(void)
{
  world.works = true;
}

md_status world_end(md_status status)
{
  if (status && (world.agreed || world.count == 1)) return status; /* as all others do */
  if (!status || !world.works) return world_agree(status);
  world.alone = true;
  char text[WORLD_MESSAGE];
  snprintf(text, sizeof text, "%s", md_message());
  return MD_FAIL(status, "rank %d of %d: %s", world.rank, world.count, text);
}

bool world_tells(void)
{
  return world.rank == 0 || world.alone;
}

void world_gather(const void *mine, size_t bytes, void *all)
{
  if (world.count > 1)
    carrier_gather(mine, bytes, all);
  else
    memcpy(all, mine, bytes);
}

void world_broadcast(void *data, size_t bytes)
{
  if (world.count > 1) carrier_broadcast(data, bytes, 0);
}

void world_sum(int64_t *values, int64_t count)
{
  if (world.count > 1) carrier_sum(values, count);
}

void world_most(double *values, int count)
{
  if (world.count > 1) carrier_most(values, count);
}

void world_trade(const int64_t *to, int64_t *from, int width)
{
  if (world.count > 1)
    carrier_trade(to, from, width);
  else
    memcpy(from, to, (size_t)width * sizeof *to);
}

md_status world_same(const char *what, const void *data, size_t bytes)
{
  if (world.count == 1) return MD_OK;
  const uint64_t mine[2] = {bytes, md_crc32c(0, data, bytes)};
  uint64_t first[2] = {mine[0], mine[1]};
  carrier_broadcast(first, sizeof first, 0);
  const bool same = memcmp(mine, first, sizeof mine) == 0;
  return world_agree(
      same ? MD_OK : MD_FAIL(MD_EINVAL, "%s of rank %d is not that of rank 0", what, world.rank));
}

md_status world_reserve(int64_t messages, int64_t bytes)
{
  return world.count > 1 ? carrier_reserve(messages, bytes) : MD_OK;
}

void world_start(const world_message *in, int n_in, const world_message *out, int n_out)
{
  if (world.count > 1) carrier_start(in, n_in, out, n_out);
}

void world_wait(void)
{
  if (world.count > 1) carrier_wait();
}

void world_share(int *host, int *processors)
{
  *host = world.on_host;
  *processors = world.on_processors;
}

int world_threads(int asked)
{
  if (asked > 0 || world.on_host == 1 || getenv("OMP_NUM_THREADS")) return asked;
  const int mine = md_processors() / world.on_processors;
  return mine > 1 ? mine : 1;
}

int world_local(void)
{
  return world.local;
}
