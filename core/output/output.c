/* core/output/output.c - see output.h. */
#include "core/output/output_impl.h"
#include "core/output/files.h"
#include "core/output/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    status = output_open_temporary(out);
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
  md_output out = {0};
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

/* Make the rename itself durable, in a folder that can be read and synced. */
static bool sync_directory(const char *path)
{
  char *copy = strdup(path);
  const int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  const bool good = fd < 0 || fsync(fd) == 0 || errno == EINVAL || errno == EROFS;
  const int error = errno;
  if (fd >= 0) close(fd);
  free(copy);
  errno = error;
  return good;
}

/* The file and its new name on the disk. */
static bool finish(md_output *out)
{
  if (fsync(fileno(out->stream)) != 0 || !output_replace(out)) return false;
  pass_lock(out);
  free(out->temporary); /* its name is gone */
  out->temporary = NULL;
  return sync_directory(out->target);
}

md_status md_output_close(md_output *out)
{
  if (out->stream == stdout) {
    const bool bad = fflush(stdout) != 0 || ferror(stdout);
    MD_REQUIRE(!bad, MD_EIO, "cannot write to standard output: %s", strerror(errno));
    return MD_OK;
  }
  md_status status = MD_OK;
  bool good = fflush(out->stream) == 0 && !ferror(out->stream);
  if (!good) errno = write_error(fileno(out->stream));
  const bool kept = !out->temporary; /* a device has no other place to fail than here */
  if (good && !kept) good = finish(out);
  if (!good) status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(errno));
  if (out->temporary) output_remove_temporary(out);
  if (fclose(out->stream) != 0 && !status && kept)
    status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(errno));
  release(out);
  return status;
}

void md_output_discard(md_output *out)
{
  if (!out->stream || out->stream == stdout) return;
  if (out->temporary) output_remove_temporary(out);
  fclose(out->stream);
  release(out);
}

static void lead(md_json *json, const char *key)
{
  fprintf(json->stream, "%s\n%*s", json->fresh ? "" : ",", 2 * json->depth, "");
  json->fresh = false;
  if (key) {
    md_quote_json(json->stream, key);
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
  md_quote_json(json->stream, value);
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
