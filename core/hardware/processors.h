/* core/hardware/processors.h - how many processors this process may use, and how long its threads
 * waited for one. */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include "core/md.h"

MD_BEGIN_C

/* Threads to start where nobody says how many: OMP_NUM_THREADS; else the processors that the
 * affinity of this process (taskset, mpirun, Slurm) and the CPU quota of its control group leave,
 * at least
 * 1.  Never more than OMP_THREAD_LIMIT. */
int md_processors(void);
/* Whether so many threads can be started beside those that there are.  Errors: MD_ENOMEM (limits of
 * `ulimit -u` or `-v`; says how many could). */
md_status md_threads_check(int threads);
/* Start so many threads, those of OpenMP in this thread's parallel loops: its library ends the
 * program where it cannot.  Errors: those of md_threads_check. */
md_status md_threads_start(int threads);

/* The CPU quota in processors (1.5: half again one processor's time), of the groups that the file
 * `self` names and of their parents, under `root`; INFINITY without one.  Versions 1 and 2 of
 * control groups: /sys/fs/cgroup and /proc/self/cgroup. */
double md_quota(const char *root, const char *self);

/* Of all threads alive: seconds that they ran, and seconds that they could have run but waited in a
 * queue for a processor. */
typedef struct {
  double ran_s, waited_s;
} md_waiting;
/* What was spent since a reading; of an empty one: since the start.  Zeros where the system does
 * not tell (Linux without schedstat). */
md_waiting md_waiting_since(const md_waiting *reading);

MD_END_C
#endif
