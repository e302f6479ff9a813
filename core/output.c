/* core/output.c - see output.h. */
#include "core/output.h"
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Temporary files that exist.  A signal may end the program in any thread while one is made, renamed
 * or removed: whoever changes the list holds `busy`, and no signal interrupts it. */
typedef struct temporary {
  struct temporary *next;
  const char *name;
} temporary;
static temporary *temporaries;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void enter(sigset_t *was)
{
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, was);
  while (atomic_flag_test_and_set(&busy)) {
  }
}

static void leave(const sigset_t *was)
{
  atomic_flag_clear(&busy);
  pthread_sigmask(SIG_SETMASK, was, NULL);
}

void md_output_abandon_all(void)
{
  while (atomic_flag_test_and_set(&busy)) {
  }
  for (const temporary *t = temporaries; t; t = t->next)
    unlink(t->name);
}

static void forget(const char *name)
{
  temporary **at = &temporaries;
  while (*at && (*at)->name != name)
    at = &(*at)->next;
  if (!*at) return;
  temporary *gone = *at;
  *at = gone->next;
  free(gone);
}

/* The checkpoint of a run that has written none yet is held by its temporary file, then by the file
 * itself; the next one has it before the last is closed. */
static struct {
  char *target;
  md_output waiting; /* .stream is NULL when there is none */
  int fd;
} held = {NULL, {0}, -1};

static void release(md_output *out)
{
  free(out->path);
  free(out->target);
  free(out->temporary);
  *out = (md_output){0};
}

/* Remove what a killed process left under the temporary name.  Nothing else is: a file that is no
 * regular one, that has a second name or another owner was put there by somebody else. */
static md_status remove_left(const md_output *out)
{
  struct stat info;
  bool named = false;
  const int fd = open(out->temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return MD_OK;
  const bool ours = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_nlink <= 1 && info.st_uid == geteuid();
  md_status status = MD_OK;
  if (!ours)
    status = MD_FAIL(MD_EIO, "cannot write '%s': '%s' is in the way", out->path, out->temporary);
  if (!status) status = md_file_lock(fd, out->temporary, out->path, &named);
  if (!status && named && unlink(out->temporary) != 0)
    status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(errno));
  if (fd >= 0) close(fd);
  return status;
}

/* Open a new file under the temporary name and put that on the list, or neither; *fd is -1 where
 * the name is taken. */
static md_status make_temporary(const md_output *out, int *fd)
{
  sigset_t was;
  temporary *entry = malloc(sizeof *entry);
  MD_REQUIRE(entry, MD_ENOMEM, "out of memory for a file name");
  enter(&was);
  *fd = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  const int error = *fd < 0 ? errno : 0;
  if (!error) {
    *entry = (temporary){temporaries, out->temporary};
    temporaries = entry;
  }
  leave(&was);
  if (error) free(entry);
  MD_REQUIRE(!error || error == EEXIST, MD_EIO, "cannot write '%s': %s", out->path,
             strerror(error));
  return MD_OK;
}

/* It is ours alone, if nobody took it for one that was left before it was locked. */
static md_status lock_temporary(const md_output *out, int *fd)
{
  sigset_t was;
  bool named = false;
  const md_status status = md_file_lock(*fd, out->temporary, out->path, &named);
  if (!status && named) return MD_OK;
  enter(&was);
  forget(out->temporary);
  leave(&was);
  close(*fd);
  *fd = -1;
  return status;
}

/* The modes of the file that will be replaced. */
static md_status take_modes(const md_output *out, int fd)
{
  struct stat old;
  if (stat(out->target, &old) != 0) return MD_OK;
  MD_REQUIRE(access(out->target, W_OK) == 0 && fchmod(fd, old.st_mode & 07777) == 0, MD_EIO,
             "cannot write '%s': %s", out->path, strerror(errno));
  return MD_OK;
}

static void remove_temporary(const md_output *out)
{
  sigset_t was;
  enter(&was);
  unlink(out->temporary);
  forget(out->temporary);
  leave(&was);
}

static md_status open_temporary(md_output *out)
{
  int fd = -1;
  md_status status = MD_OK;
  if (asprintf(&out->temporary, "%s.tmp", out->target) < 0) {
    out->temporary = NULL;
    return MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  }
  while (!status && fd < 0) {
    status = make_temporary(out, &fd);
    if (!status) status = fd < 0 ? remove_left(out) : lock_temporary(out, &fd);
  }
  if (fd < 0) return status;
  status = take_modes(out, fd);
  if (!status && !(out->stream = fdopen(fd, "w")))
    status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(errno));
  if (!status) return MD_OK;
  remove_temporary(out);
  close(fd);
  return status;
}

/* `>file` and `-o file`, or `-o /dev/stdout`: the program's own stream has them. */
static bool is_stdout(const char *path)
{
  struct stat named, ours;
  return strcmp(path, "-") == 0 ||
         (stat(path, &named) == 0 && S_ISREG(named.st_mode) && fstat(STDOUT_FILENO, &ours) == 0 &&
          named.st_dev == ours.st_dev && named.st_ino == ours.st_ino);
}

md_status md_output_open(const char *path, md_output *out)
{
  struct stat info;
  *out = (md_output){0};
  if (!path || is_stdout(path)) {
    out->stream = stdout;
    return MD_OK;
  }
  md_status status = md_file_target(path, &out->target);
  if (!status && held.waiting.stream && strcmp(held.target, out->target) == 0) {
    free(out->target);
    *out = held.waiting;
    held.waiting = (md_output){0};
    return MD_OK;
  }
  if (!status && !(out->path = strdup(path)))
    status = MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  if (!status && stat(path, &info) == 0 && !S_ISREG(info.st_mode))
    status = md_file_open_device(path, &out->stream);
  else if (!status)
    status = open_temporary(out);
  if (status) release(out);
  return status;
}

/* The present checkpoint, if there is one, is locked; *fd is -1 where there is none. */
static md_status lock_present(const char *target, const char *path, int *fd)
{
  for (;;) {
    bool named = false;
    *fd = open(target, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0) return MD_OK;
    const md_status status = md_file_lock(*fd, target, path, &named);
    if (!status && named) return MD_OK;
    close(*fd);
    *fd = -1;
    if (status) return status;
  }
}

md_status md_output_hold(const char *path)
{
  struct stat info;
  md_output out;
  md_output_release();
  MD_REQUIRE(stat(path, &info) != 0 || S_ISREG(info.st_mode), MD_EIO,
             "cannot write '%s': expected a regular file", path);
  MD_TRY(md_file_target(path, &held.target));
  md_status status = lock_present(held.target, path, &held.fd);
  if (!status) status = md_output_open(path, &out);
  if (!status && held.fd < 0) {
    /* it may have come to be since */
    status = lock_present(held.target, path, &held.fd);
    if (!status && held.fd < 0) {
      held.waiting = out;
      return MD_OK;
    }
  }
  if (!status) md_output_discard(&out);
  if (status) md_output_release();
  return status;
}

void md_output_release(void)
{
  if (held.waiting.stream) md_output_discard(&held.waiting);
  if (held.fd >= 0) close(held.fd);
  free(held.target);
  held.target = NULL;
  held.fd = -1;
}

/* The lock on the file that was written outlives its stream. */
static void pass_lock(const md_output *out)
{
  if (!held.target || strcmp(held.target, out->target) != 0) return;
  const int fd = dup(fileno(out->stream));
  if (held.fd >= 0) close(held.fd);
  held.fd = fd;
}

/* Why writing failed, after stdio has forgotten: writing more fails for the same reason. */
static int write_error(int fd)
{
  static const char block[1 << 16];
  for (int k = 0; k < 2; k++)
    if (write(fd, block, sizeof block) < 0) return errno;
  return EIO;
}

/* Make the rename itself durable. */
static void sync_directory(const char *path)
{
  char *copy = strdup(path);
  const int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  free(copy);
}

static bool replace(const md_output *out)
{
  sigset_t was;
  enter(&was);
  const bool good = rename(out->temporary, out->target) == 0;
  const int error = errno;
  if (good) forget(out->temporary);
  leave(&was);
  errno = error;
  return good;
}

md_status md_output_close(md_output *out)
{
  if (out->stream == stdout) {
    const bool bad = fflush(stdout) != 0 || ferror(stdout);
    MD_REQUIRE(!bad, MD_EIO, "cannot write to standard output: %s", strerror(errno));
    return MD_OK;
  }
  bool good = fflush(out->stream) == 0 && !ferror(out->stream);
  if (!good) errno = write_error(fileno(out->stream));
  if (good && out->temporary) good = fsync(fileno(out->stream)) == 0;
  if (good && out->temporary) good = replace(out);
  int error = errno;
  if (!good && out->temporary) remove_temporary(out);
  if (good && out->temporary) pass_lock(out);
  if (fclose(out->stream) != 0 && good && !out->temporary) { /* the lock ends here */
    error = errno;
    good = false;
  }
  if (!good) {
    const md_status status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(error));
    release(out);
    return status;
  }
  if (out->temporary) sync_directory(out->target);
  release(out);
  return MD_OK;
}

void md_output_discard(md_output *out)
{
  if (!out->stream || out->stream == stdout) return;
  if (out->temporary) remove_temporary(out);
  fclose(out->stream);
  release(out);
}

static void quote(FILE *stream, const char *text)
{
  fputc('"', stream);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(stream, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(stream, "\\u%04x", *c);
    else
      fputc(*c, stream);
  }
  fputc('"', stream);
}

static void lead(md_json *json, const char *key)
{
  fprintf(json->stream, "%s\n%*s", json->fresh ? "" : ",", 2 * json->depth, "");
  json->fresh = false;
  if (key) {
    quote(json->stream, key);
    fputs(": ", json->stream);
  }
}

void md_json_begin(md_json *json, FILE *stream)
{
  *json = (md_json){stream, 1, true};
  fputc('{', stream);
}

void md_json_end(md_json *json)
{
  fputs("\n}\n", json->stream);
}

void md_json_open(md_json *json, const char *key, char bracket)
{
  lead(json, key);
  fputc(bracket, json->stream);
  json->depth++;
  json->fresh = true;
}

void md_json_close(md_json *json, char bracket)
{
  json->depth--;
  if (!json->fresh) fprintf(json->stream, "\n%*s", 2 * json->depth, "");
  fputc(bracket, json->stream);
  json->fresh = false;
}

void md_json_string(md_json *json, const char *key, const char *value)
{
  lead(json, key);
  quote(json->stream, value);
}

void md_json_number(md_json *json, const char *key, double value)
{
  lead(json, key);
  if (isfinite(value))
    fprintf(json->stream, "%.17g", value);
  else
    fputs("null", json->stream);
}

void md_json_integer(md_json *json, const char *key, int64_t value)
{
  lead(json, key);
  fprintf(json->stream, "%" PRId64, value);
}

void md_json_bool(md_json *json, const char *key, bool value)
{
  lead(json, key);
  fputs(value ? "true" : "false", json->stream);
}
