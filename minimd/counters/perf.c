/* minimd/counters/perf.c - see perf.h. */
#include "minimd/counters/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD(name, word) word,
const char *const perf_event_words[PERF_EVENT_COUNT] = {PERF_EVENTS(WORD)};
#undef WORD

enum { ABSENT = 99 };
#define CACHE(level, result)                                                                       \
  (PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_READ << 8 |                                \
   PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
  uint32_t type;
  uint64_t config;
} codes[PERF_EVENT_COUNT] = {
    [PERF_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [PERF_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [PERF_L1_LOADS] = {PERF_TYPE_HW_CACHE, CACHE(L1D, ACCESS)},
    [PERF_L1_LOAD_MISSES] = {PERF_TYPE_HW_CACHE, CACHE(L1D, MISS)},
    [PERF_LLC_LOADS] = {PERF_TYPE_HW_CACHE, CACHE(LL, ACCESS)},
    [PERF_LLC_LOAD_MISSES] = {PERF_TYPE_HW_CACHE, CACHE(LL, MISS)},
    [PERF_DTLB_LOAD_MISSES] = {PERF_TYPE_HW_CACHE, CACHE(DTLB, MISS)},
};

double perf_count(const perf_reading *reading)
{
  if (reading->running == 0) return NAN;
  return (double)reading->value * ((double)reading->enabled / (double)reading->running);
}

char *perf_explain(int error, int paranoid)
{
  char *text = NULL;
  int length;
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
    length = asprintf(&text,
                      "this processor shows no counters (%s): virtual machines often have "
                      "none; `minimd profile --with cachegrind` needs none",
                      strerror(error));
  else if (error == ENOSYS)
    length = asprintf(&text, "this kernel has no perf_event_open: `minimd profile --with "
                             "cachegrind` needs none");
  else if ((error == EACCES || error == EPERM) && paranoid > 2 && paranoid != ABSENT)
    length =
        asprintf(&text,
                 "this user may not read counters: /proc/sys/kernel/perf_event_paranoid is %d; "
                 "with 2 everybody may read those of own programs (sysctl "
                 "kernel.perf_event_paranoid=2, as root), or run with CAP_PERFMON",
                 paranoid);
  else if (error == EACCES || error == EPERM)
    length = asprintf(&text,
                      "perf_event_open is forbidden although /proc/sys/kernel/perf_event_paranoid "
                      "allows it: in a container its seccomp profile does so (docker run "
                      "--cap-add=PERFMON or --security-opt seccomp=unconfined)");
  else
    length = asprintf(&text, "perf_event_open: %s", strerror(error));
  return length < 0 ? NULL : text;
}

static int read_paranoid(void)
{
  int paranoid = ABSENT;
  FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
  if (!file) return ABSENT;
  if (fscanf(file, "%d", &paranoid) != 1) paranoid = ABSENT;
  fclose(file);
  return paranoid;
}

md_status perf_open(perf_counters *out, char **missing)
{
  int first_error = 0, opened = 0;
  *missing = NULL;
  for (int k = 0; k < PERF_EVENT_COUNT; k++) {
    struct perf_event_attr attr = {.type = codes[k].type,
                                   .size = sizeof attr,
                                   .config = codes[k].config,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING};
    out->fd[k] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (out->fd[k] >= 0) opened++;
    if (out->fd[k] < 0 && !first_error) first_error = errno;
  }
  if (opened > 0) return MD_OK;
  *missing = perf_explain(first_error, read_paranoid());
  MD_REQUIRE(*missing, MD_ENOMEM, "out of memory for a message");
  return MD_OK;
}

void perf_close(perf_counters *counters)
{
  for (int k = 0; k < PERF_EVENT_COUNT; k++)
    if (counters->fd[k] >= 0) close(counters->fd[k]);
}

void perf_start(const perf_counters *counters)
{
  for (int k = 0; k < PERF_EVENT_COUNT; k++)
    if (counters->fd[k] >= 0) (void)ioctl(counters->fd[k], PERF_EVENT_IOC_RESET, 0);
  for (int k = 0; k < PERF_EVENT_COUNT; k++)
    if (counters->fd[k] >= 0) (void)ioctl(counters->fd[k], PERF_EVENT_IOC_ENABLE, 0);
}

/* Times go on over resets: what counts is their growth, which a disabled event does not have. */
md_status perf_stop(const perf_counters *counters, perf_reading readings[PERF_EVENT_COUNT])
{
  for (int k = 0; k < PERF_EVENT_COUNT; k++)
    if (counters->fd[k] >= 0) (void)ioctl(counters->fd[k], PERF_EVENT_IOC_DISABLE, 0);
  for (int k = 0; k < PERF_EVENT_COUNT; k++) {
    readings[k] = (perf_reading){0, 0, 0};
    if (counters->fd[k] < 0) continue;
    const ssize_t got = read(counters->fd[k], &readings[k], sizeof readings[k]);
    MD_REQUIRE(got == sizeof readings[k], MD_EIO, "cannot read the counter %s: %s",
               perf_event_words[k], strerror(errno));
  }
  return MD_OK;
}
