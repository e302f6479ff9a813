/* tests/hostile/failing_memory.c - see failing_memory.h. */
#include "tests/hostile/failing_memory.h"
#include "tests/drive/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
  atomic_long calls;
  long at;
  bool on;
} counters[FAILING_COUNT];
static atomic_long device_live;

void failing_set(failing_where where, long at, bool on)
{
  counters[where].calls = 0;
  counters[where].at = at;
  counters[where].on = on;
}

long failing_calls(failing_where where)
{
  return counters[where].calls;
}

long failing_device_live(void)
{
  return device_live;
}

static bool refused(failing_where where)
{
  const long call = ++counters[where].calls, at = counters[where].at;
  if (at == 0 || call < at || (call > at && !counters[where].on)) return false;
  errno = ENOMEM;
  return true;
}

void *failing_malloc(size_t bytes)
{
  return refused(FAILING_HOST) ? NULL : malloc(bytes);
}

void *failing_calloc(size_t n, size_t bytes)
{
  return refused(FAILING_HOST) ? NULL : calloc(n, bytes);
}

void *failing_realloc(void *old, size_t bytes)
{
  return refused(FAILING_HOST) || refused(FAILING_GROWN) ? NULL : realloc(old, bytes);
}

void *failing_aligned_alloc(size_t align, size_t bytes)
{
  return refused(FAILING_HOST) ? NULL : aligned_alloc(align, bytes);
}

int failing_posix_memalign(void **out, size_t align, size_t bytes)
{
  return refused(FAILING_HOST) ? ENOMEM : posix_memalign(out, align, bytes);
}

char *failing_strdup(const char *text)
{
  return refused(FAILING_HOST) ? NULL : strdup(text);
}

char *failing_strndup(const char *text, size_t n)
{
  return refused(FAILING_HOST) ? NULL : strndup(text, n);
}

int failing_vasprintf(char **out, const char *format, va_list args)
{
  return refused(FAILING_HOST) ? -1 : vasprintf(out, format, args);
}

int failing_asprintf(char **out, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  const int used = failing_vasprintf(out, format, args);
  va_end(args);
  return used;
}

FILE *failing_open_memstream(char **text, size_t *size)
{
  return refused(FAILING_HOST) ? NULL : open_memstream(text, size);
}

char *failing_realpath(const char *path, char *out)
{
  return refused(FAILING_HOST) ? NULL : realpath(path, out);
}

int failing_clock_gettime(clockid_t which, struct timespec *out)
{
  static atomic_long seconds;
  (void)which;
  *out = (struct timespec){.tv_sec = ++seconds};
  return 0;
}

/* A call on files that fails as on a full disk. */
static bool full(void)
{
  const bool fails = refused(FAILING_FILES);
  if (fails) errno = ENOSPC;
  return fails;
}

int failing_open(const char *path, int flags, ...)
{
  va_list args;
  va_start(args, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  return full() ? -1 : open(path, flags, mode);
}

FILE *failing_fdopen(int fd, const char *mode)
{
  return full() ? NULL : fdopen(fd, mode);
}

/* What the stream still holds is written to a full device: its error stays. */
static int spoil(FILE *stream)
{
  const int fd = fileno(stream), kept = dup(fd), device = open("/dev/full", O_WRONLY);
  if (kept < 0 || device < 0 || dup2(device, fd) < 0) abort();
  const int flushed = fflush(stream), error = errno;
  if (dup2(kept, fd) < 0) abort();
  close(device);
  close(kept);
  errno = error;
  return flushed;
}

int failing_fflush(FILE *stream)
{
  return stream && fileno(stream) >= 0 && full() ? (spoil(stream), errno = ENOSPC, EOF)
                                                 : fflush(stream);
}

size_t failing_fwrite(const void *data, size_t bytes, size_t n, FILE *stream)
{
  const bool fails = fileno(stream) > STDERR_FILENO && n * bytes > 0 && full();
  const size_t written = fwrite(data, bytes, n, stream);
  return fails && spoil(stream) ? 0 : written;
}

ssize_t failing_pwrite(int fd, const void *data, size_t bytes, off_t at)
{
  return full() ? -1 : pwrite(fd, data, bytes, at);
}

int failing_ftruncate(int fd, off_t bytes)
{
  return full() ? -1 : ftruncate(fd, bytes);
}

int failing_fsync(int fd)
{
  return full() ? -1 : fsync(fd);
}

int failing_rename(const char *from, const char *to)
{
  return full() ? -1 : rename(from, to);
}

int failing_link(const char *from, const char *to)
{
  return full() ? -1 : link(from, to);
}

int failing_fchmod(int fd, mode_t mode)
{
  return full() ? -1 : fchmod(fd, mode);
}

int failing_fclose(FILE *stream)
{
  const bool in_memory = fileno(stream) < 0;
  const int closed = fclose(stream);
  return !in_memory && full() ? EOF : closed;
}

int minimd_main(int argc, char **argv); /* the program's */

enum { MOST_ARGUMENTS = 40 };

int failing_start(const char *line, bool on_gpu)
{
  char words[2048] = "", *argv[MOST_ARGUMENTS] = {"minimd"}, *rest = words;
  size_t used = 0;
  int argc = 1;
  for (const char *c = line; *c; c++) {
    char name[64] = "";
    if (*c == '{' && sscanf(c, "{%63[^}]}", name) == 1) {
      used += (size_t)snprintf(words + used, sizeof words - used, "%s", files_path(name));
      c = strchr(c, '}');
    } else {
      words[used++] = *c;
    }
  }
  for (char *word; (word = strsep(&rest, " ")) != NULL;)
    argv[argc++] = word;
  if (on_gpu) {
    argv[argc++] = "--backend";
    argv[argc++] = "gpu";
  }
  setenv("OMP_WAIT_POLICY", "passive", 0); /* else this suite starts anew */
  const int code = minimd_main(argc, argv);
  fflush(stdout);
  return code;
}

#ifdef MD_HAVE_CUDA
int cudaMalloc(void **out, size_t bytes);
int cudaFree(void *data);
enum { CUDA_OUT_OF_MEMORY = 2 };

int failing_cudaMalloc(void **out, size_t bytes)
{
  if (refused(FAILING_DEVICE)) return CUDA_OUT_OF_MEMORY;
  const int error = cudaMalloc(out, bytes);
  if (!error) device_live++;
  return error;
}

int failing_cudaFree(void *data)
{
  const int error = cudaFree(data);
  if (!error && data) device_live--;
  return error;
}
#endif
