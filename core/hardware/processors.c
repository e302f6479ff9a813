/* core/hardware/processors.c - see processors.h. */
#include "core/hardware/processors.h"

#include <dirent.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of a file `name` in the group `dir`; returns how many of the two there are. */
static int read_pair(const char *dir, const char *name, double pair[2])
{
  char *path, text[64] = "";
  if (asprintf(&path, "%s/%s", dir, name) < 0) return 0;
  FILE *in = fopen(path, "r");
  free(path);
  if (!in) return 0;
  if (!fgets(text, sizeof text, in)) text[0] = '\0';
  fclose(in);
  char *end = text;
  for (int k = 0; k < 2; k++) {
    char *begin = end;
    pair[k] = strtod(begin, &end);
    if (end == begin) return k; /* "max", or the end of the line */
  }
  return 2;
}

/* Quota of one group, in processors. */
static double group_quota(const char *dir, bool unified)
{
  double quota[2], period[2];
  if (unified)
    return read_pair(dir, "cpu.max", quota) == 2 && quota[1] > 0 ? quota[0] / quota[1] : INFINITY;
  const bool both = read_pair(dir, "cpu.cfs_quota_us", quota) == 1 && quota[0] > 0 &&
                    read_pair(dir, "cpu.cfs_period_us", period) == 1 && period[0] > 0;
  return both ? quota[0] / period[0] : INFINITY;
}

/* The least quota of a group and its parents.  A container may see its own group as the root. */
static double least_quota(const char *root, const char *group, bool unified)
{
  char *dir;
  double least = INFINITY;
  if (asprintf(&dir, "%s%s%s", root, unified ? "" : "/cpu", group) < 0) return least;
  char *stop = dir + strlen(dir) - strlen(group); /* end of the root */
  for (char *end = dir + strlen(dir); end;
       end = end > stop ? memrchr(stop, '/', end - stop) : NULL) {
    *end = '\0';
    least = fmin(least, group_quota(dir, unified));
  }
  free(dir);
  return least;
}

static bool has_cpu(char *controllers)
{
  char *rest;
  for (char *word = strtok_r(controllers, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
    if (strcmp(word, "cpu") == 0) return true;
  return false;
}

double md_quota(const char *root, const char *self)
{
  double least = INFINITY;
  FILE *in = fopen(self, "r");
  char *line = NULL;
  size_t room = 0;
  while (in && getline(&line, &room, in) > 0) { /* number:controllers:group */
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    const bool unified = *++controllers == '\0';
    if (unified || has_cpu(controllers)) least = fmin(least, least_quota(root, group, unified));
  }
  free(line);
  if (in) fclose(in);
  return least;
}

int md_processors(void)
{
  int n = omp_get_max_threads(); /* OMP_NUM_THREADS, or what the affinity leaves */
  if (!getenv("OMP_NUM_THREADS")) {
    const double quota = ceil(md_quota("/sys/fs/cgroup", "/proc/self/cgroup"));
    if (quota < n) n = quota > 1 ? (int)quota : 1;
  }
  const int limit = omp_get_thread_limit();
  return n < limit ? n : limit;
}

static void *pass(void *gate)
{
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* How many threads can be alive at once beside this one, of `wanted`; *why: what keeps the next. */
static int startable(int wanted, pthread_t *threads, int *why)
{
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  int started = 0;
  *why = 0;
  pthread_mutex_lock(&gate);
  while (started < wanted && (*why = pthread_create(&threads[started], NULL, pass, &gate)) == 0)
    started++;
  pthread_mutex_unlock(&gate);
  for (int t = 0; t < started; t++)
    pthread_join(threads[t], NULL);
  return started;
}

md_status md_threads_check(int threads)
{
  int why;
  if (threads <= 0) return MD_OK;
  pthread_t *ids = malloc((size_t)threads * sizeof *ids);
  MD_REQUIRE(ids, MD_ENOMEM, "out of memory for %d threads", threads);
  const int can = startable(threads, ids, &why);
  free(ids);
  MD_REQUIRE(
      can == threads, MD_ENOMEM,
      "%d threads cannot be started, only %d: %s (limits: ulimit -u, -v; fewer: --threads or "
      "OMP_NUM_THREADS)",
      threads + 1, can + 1, strerror(why));
  return MD_OK;
}

md_status md_threads_start(int threads)
{
  static _Thread_local int started = 1;
  if (threads <= started) return MD_OK;
  MD_TRY(md_threads_check(threads - 1));
  int alive = 0;
#pragma omp parallel num_threads(threads) reduction(+ : alive)
  alive++;
  started = alive > threads ? alive : threads; /* fewer where OMP_THREAD_LIMIT says so */
  return MD_OK;
}

md_waiting md_waiting_since(const md_waiting *reading)
{
  md_waiting now = {-reading->ran_s, -reading->waited_s};
  DIR *tasks = opendir("/proc/self/task");
  const struct dirent *task;
  while (tasks && (task = readdir(tasks)) != NULL) {
    char path[sizeof "/proc/self/task//schedstat" + sizeof task->d_name];
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
    FILE *in = task->d_name[0] != '.' ? fopen(path, "r") : NULL;
    double ran, waited;
    if (in && fscanf(in, "%lf %lf", &ran, &waited) == 2) { /* nanoseconds */
      now.ran_s += 1e-9 * ran;
      now.waited_s += 1e-9 * waited;
    }
    if (in) fclose(in);
  }
  if (tasks) closedir(tasks);
  return now;
}
