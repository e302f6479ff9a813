/* tests/hostile/pretend_ranks.c - see pretend_ranks.h.
 *
 * What all ranks call together has a number, its round; what each brings lies in one of two halves
 * of its room, by turns, so that nobody overwrites what others still read.  Messages lie one behind
 * the other in a queue for each pair of ranks. */
#include "tests/hostile/pretend_ranks.h"
#include "comm/world/world_impl.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = PRETEND_RANKS, PATIENCE = 20, ROOM = 1 << 22, QUEUED = 4096, PENDING = 256 };
enum { FAULT = 97, ENDED_BY_ANOTHER = 98 }; /* exit codes of ranks */

typedef struct {
  const char *what; /* NULL: not in a call of all ranks */
  size_t bytes;
} meeting;

typedef struct {
  size_t bytes, at;
} queued;

typedef struct {
  int64_t sent, taken;
  size_t used;
  queued message[QUEUED];
  char data[ROOM];
} queue;

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int64_t round;
  int arrived, abort_code, watched;
  failing_where where;
  bool broken, aborted, ended[RANKS];
  meeting at[RANKS];
  pretend_outcome out;
  char brought[2][RANKS][ROOM];
  queue way[RANKS][RANKS]; /* from, to */
} board;

static board *all;
static int me;
static struct {
  world_message in[PENDING];
  int n_in, n_all;
  int64_t room;
  void *request; /* memory as world_mpi.c takes it */
} under_way;

static void leave(int code)
{
  pthread_cond_broadcast(&all->moved);
  pthread_mutex_unlock(&all->lock);
  _exit(code);
}

/* With the lock.  The first fault is the one to tell. */
__attribute__((format(printf, 1, 2))) static void fault(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  if (!all->broken) vsnprintf(all->out.fault, sizeof all->out.fault, format, args);
  va_end(args);
  all->broken = true;
  leave(FAULT);
}

/* With the lock: until something moves. */
static void wait_for(const char *what)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  if (pthread_cond_timedwait(&all->moved, &all->lock, &until) != 0)
    fault("rank %d waits in %s for %d s", me, what, PATIENCE);
  if (all->broken || all->aborted) leave(ENDED_BY_ANOTHER);
}

/* Where this rank calls the others: who called world.c. */
static void note_site(void)
{
  enum { FRAMES = 5 }; /* this, meet, carrier_, world_, caller */
  static long before;
  void *frame[FRAMES] = {NULL};
  const long now = failing_calls(all->where), first = before + 1;
  before = now;
  if (me != all->watched || backtrace(frame, FRAMES) < FRAMES || now < first) return;
  pretend_outcome *out = &all->out;
  for (int k = 0; k < out->n_sites; k++)
    if (out->site[k].from == frame[FRAMES - 1]) return;
  if (out->n_sites < PRETEND_SITES)
    out->site[out->n_sites++] = (pretend_site){frame[FRAMES - 1], first, now};
}

/* All ranks together: each brings `own` bytes, and gets what the others brought; `bytes` are alike
 * on all. */
__attribute__((noinline)) static char (*meet(const char *what, size_t bytes, const void *mine,
                                             size_t own))[ROOM]
{
  if (own > ROOM) abort();
  pthread_mutex_lock(&all->lock);
  if (all->broken || all->aborted) leave(ENDED_BY_ANOTHER);
  note_site();
  const int64_t round = all->round;
  memcpy(all->brought[round % 2][me], mine, own);
  all->at[me] = (meeting){what, bytes};
  for (int r = 0; r < RANKS; r++) {
    const meeting *other = &all->at[r];
    if (other->what && (strcmp(other->what, what) != 0 || other->bytes != bytes))
      fault("rank %d is in %s of %zu bytes, and rank %d in %s of %zu", me, what, bytes, r,
            other->what, other->bytes);
  }
  if (++all->arrived == RANKS) {
    all->arrived = 0;
    all->round++;
    memset(all->at, 0, sizeof all->at);
  }
  pthread_cond_broadcast(&all->moved);
  while (all->round == round) {
    for (int r = 0; r < RANKS; r++)
      if (all->ended[r]) fault("rank %d is in %s, and rank %d has ended", me, what, r);
    wait_for(what);
  }
  pthread_mutex_unlock(&all->lock);
  return all->brought[round % 2];
}

md_status carrier_open(int *rank, int *count)
{
  *rank = me;
  *count = RANKS;
  return MD_OK;
}

void carrier_close(void)
{
  free(under_way.request);
}

void carrier_abort(int exit_code)
{
  pthread_mutex_lock(&all->lock);
  if (all->broken || all->aborted) leave(ENDED_BY_ANOTHER);
  all->aborted = true;
  all->abort_code = exit_code;
  leave(exit_code);
}

void carrier_gather(const void *mine, size_t bytes, void *to)
{
  char(*brought)[ROOM] = meet("gather", bytes, mine, bytes);
  for (int r = 0; r < RANKS; r++)
    memcpy((char *)to + (size_t)r * bytes, brought[r], bytes);
}

void carrier_broadcast(void *data, size_t bytes, int root)
{
  static const char *const what[RANKS] = {"broadcast of 0", "broadcast of 1", "broadcast of 2"};
  char(*brought)[ROOM] = meet(what[root], bytes, data, bytes);
  memcpy(data, brought[root], bytes);
}

void carrier_sum(int64_t *values, int64_t count)
{
  const size_t bytes = (size_t)count * sizeof *values;
  char(*brought)[ROOM] = meet("sum", bytes, values, bytes);
  for (int64_t k = 0; k < count; k++) {
    values[k] = 0;
    for (int r = 0; r < RANKS; r++)
      values[k] += ((const int64_t *)(const void *)brought[r])[k];
  }
}

void carrier_most(double *values, int count)
{
  const size_t bytes = (size_t)count * sizeof *values;
  char(*brought)[ROOM] = meet("most", bytes, values, bytes);
  for (int k = 0; k < count; k++)
    for (int r = 0; r < RANKS; r++) {
      const double other = ((const double *)(const void *)brought[r])[k];
      if (other > values[k]) values[k] = other;
    }
}

void carrier_trade(const int64_t *to, int64_t *from, int width)
{
  const size_t part = (size_t)width * sizeof *to;
  char(*brought)[ROOM] = meet("trade", RANKS * part, to, RANKS * part);
  for (int r = 0; r < RANKS; r++)
    memcpy(from + r * width, brought[r] + (size_t)me * part, part);
}

md_status carrier_reserve(int64_t messages, int64_t bytes)
{
  (void)bytes;
  if (messages <= under_way.room) return MD_OK;
  void *request = failing_realloc(under_way.request, (size_t)messages * sizeof(void *));
  MD_REQUIRE(request, MD_ENOMEM, "out of memory for %lld messages", (long long)messages);
  under_way.request = request;
  under_way.room = messages;
  return MD_OK;
}

static void send(const world_message *m)
{
  queue *way = &all->way[me][m->rank];
  if (way->sent == QUEUED || way->used + m->bytes > ROOM) abort();
  memcpy(way->data + way->used, m->data, m->bytes);
  way->message[way->sent++] = (queued){m->bytes, way->used};
  way->used += m->bytes;
}

void carrier_start(const world_message *in, int n_in, const world_message *out, int n_out)
{
  under_way.n_all += n_in + n_out;
  if (under_way.n_all > under_way.room || under_way.n_in + n_in > PENDING) abort();
  for (int k = 0; k < n_in; k++)
    under_way.in[under_way.n_in++] = in[k];
  pthread_mutex_lock(&all->lock);
  for (int k = 0; k < n_out; k++)
    send(&out[k]);
  pthread_cond_broadcast(&all->moved);
  pthread_mutex_unlock(&all->lock);
}

void carrier_wait(void)
{
  pthread_mutex_lock(&all->lock);
  if (all->broken || all->aborted) leave(ENDED_BY_ANOTHER);
  for (int k = 0; k < under_way.n_in; k++) {
    const world_message *m = &under_way.in[k];
    queue *way = &all->way[m->rank][me];
    while (way->taken == way->sent) {
      if (all->ended[m->rank] || all->at[m->rank].what)
        fault("rank %d waits for a message of rank %d, which is in %s", me, m->rank,
              all->ended[m->rank] ? "no call: it has ended" : all->at[m->rank].what);
      wait_for("a message");
    }
    const queued *came = &way->message[way->taken++];
    if (came->bytes != m->bytes)
      fault("rank %d expects %zu bytes of rank %d, and %zu come", me, m->bytes, m->rank,
            came->bytes);
    memcpy(m->data, way->data + came->at, m->bytes);
  }
  pthread_mutex_unlock(&all->lock);
  under_way.n_in = under_way.n_all = 0;
}

const char *world_library(void)
{
  return "ranks that a test pretends";
}

static void be_rank(int body(int, void *), void *of, int said)
{
  char number[16];
  snprintf(number, sizeof number, "%d", me);
  setenv("OMPI_COMM_WORLD_RANK", number, 1);
  snprintf(number, sizeof number, "%d", RANKS);
  setenv("OMPI_COMM_WORLD_SIZE", number, 1);
  dup2(said, STDERR_FILENO);
  if (!freopen("/dev/null", "w", stdout)) _exit(99);
  const int code = body(me, of);
  pthread_mutex_lock(&all->lock);
  all->ended[me] = true;
  leave(code);
}

static void open_board(int watched, failing_where where)
{
  pthread_mutexattr_t lock;
  pthread_condattr_t moved;
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
  if (all == MAP_FAILED) abort();
  all->watched = watched;
  all->where = where;
  pthread_mutexattr_init(&lock);
  pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&all->lock, &lock);
  pthread_condattr_init(&moved);
  pthread_condattr_setpshared(&moved, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&all->moved, &moved);
}

/* Errors that were told. */
static void read_said(FILE *said, pretend_outcome *out)
{
  rewind(said);
  const size_t n = fread(out->said, 1, sizeof out->said - 1, said);
  out->said[n] = '\0';
  for (const char *c = out->said; (c = strstr(c, "minimd: error:")) != NULL; c++)
    out->lines++;
}

/* The exit code of each rank; one that a signal ended takes no part any more. */
static void wait_for_ranks(const pid_t *rank, int *code)
{
  for (int left = RANKS; left > 0; left--) {
    int state, r = 0;
    const pid_t ended = wait(&state);
    while (r < RANKS - 1 && rank[r] != ended)
      r++;
    code[r] = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    if (WIFEXITED(state)) continue;
    pthread_mutex_lock(&all->lock);
    snprintf(all->out.fault, sizeof all->out.fault, "rank %d ended by signal %d", r,
             WTERMSIG(state));
    all->broken = true;
    pthread_cond_broadcast(&all->moved);
    pthread_mutex_unlock(&all->lock);
  }
}

void pretend_ranks(int body(int rank, void *of), void *of, int watched, failing_where where,
                   pretend_outcome *out)
{
  pid_t rank[RANKS];
  int code[RANKS];
  FILE *said = tmpfile();
  if (!said) abort();
  open_board(watched, where);
  fflush(NULL);
  for (me = 0; me < RANKS; me++) {
    rank[me] = fork();
    if (rank[me] == 0) be_rank(body, of, fileno(said));
  }
  wait_for_ranks(rank, code);
  *out = all->out;
  out->alone = all->aborted;
  out->code = all->aborted ? all->abort_code : code[0];
  for (int r = 1; r < RANKS && !all->aborted && !all->broken; r++)
    if (code[r] != code[0])
      snprintf(out->fault, sizeof out->fault, "rank %d exits with %d, and rank 0 with %d", r,
               code[r], code[0]);
  read_said(said, out);
  fclose(said);
  munmap(all, sizeof *all);
}
