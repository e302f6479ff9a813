/* core/output.c - see output.h. */
#include "core/output.h"
#include "core/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(md_output *out)
{
  free(out->path);
  free(out->temporary);
  *out = (md_output){0};
}

/* Open the temporary file and hold a lock on it.  One that a killed process left is used again; one
 * that a living process writes is locked.  Between opening and locking, the file may have been
 * renamed by its writer: then the name stands for another. */
static md_status open_temporary(md_output *out)
{
  for (;;) {
    struct stat held, named;
    const int fd = open(out->temporary, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    MD_REQUIRE(fd >= 0, MD_EIO, "cannot write '%s': %s", out->path, strerror(errno));
    const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    const bool same = locked && fstat(fd, &held) == 0 && stat(out->temporary, &named) == 0 &&
                      held.st_dev == named.st_dev && held.st_ino == named.st_ino;
    if (same && ftruncate(fd, 0) == 0) out->stream = fdopen(fd, "w");
    if (out->stream) return MD_OK;
    const int error = errno;
    close(fd);
    MD_REQUIRE(locked, MD_EIO, "cannot write '%s': another process is writing it", out->path);
    MD_REQUIRE(!same, MD_EIO, "cannot write '%s': %s", out->path, strerror(error));
  }
}

static md_status open_in_place(md_output *out, bool folder)
{
  if (!folder) out->stream = fopen(out->path, "w");
  MD_REQUIRE(out->stream, MD_EIO, "cannot write '%s': %s", out->path,
             strerror(folder ? EISDIR : errno));
  return MD_OK;
}

md_status md_output_open(const char *path, md_output *out)
{
  *out = (md_output){0};
  if (!path || strcmp(path, "-") == 0) {
    out->stream = stdout;
    return MD_OK;
  }
  struct stat info;
  md_status status;
  out->path = strdup(path);
  MD_REQUIRE(out->path, MD_ENOMEM, "out of memory for a file name");
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
    status = open_in_place(out, S_ISDIR(info.st_mode));
  } else if (asprintf(&out->temporary, "%s.tmp", path) < 0) {
    out->temporary = NULL;
    status = MD_FAIL(MD_ENOMEM, "out of memory for a file name");
  } else {
    status = open_temporary(out);
  }
  if (status) release(out);
  return status;
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
  const int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY) : -1;
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  free(copy);
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
  if (good && out->temporary) good = rename(out->temporary, out->path) == 0;
  int error = errno;
  if (!good && out->temporary) unlink(out->temporary);
  if (fclose(out->stream) != 0 && good && !out->temporary) { /* the lock ends here */
    error = errno;
    good = false;
  }
  if (!good) {
    const md_status status = MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(error));
    release(out);
    return status;
  }
  if (out->temporary) sync_directory(out->path);
  release(out);
  return MD_OK;
}

void md_output_discard(md_output *out)
{
  if (!out->stream || out->stream == stdout) return;
  if (out->temporary) unlink(out->temporary);
  fclose(out->stream);
  release(out);
}

md_status md_output_continue(const char *path, int64_t keep, FILE **out)
{
  FILE *stream = *out = fopen(path, "r+b");
  MD_REQUIRE(stream, MD_EIO, "cannot go on writing '%s': %s; another name begins anew", path,
             strerror(errno));
  md_status status = MD_OK;
  if (fseeko(stream, 0, SEEK_END) != 0 || ftello(stream) < keep)
    status = MD_FAIL(MD_EIO,
                     "'%s' is shorter than the %lld bytes it had at the checkpoint; another name "
                     "begins anew",
                     path, (long long)keep);
  else if (ftruncate(fileno(stream), keep) != 0 || fseeko(stream, 0, SEEK_END) != 0)
    status = MD_FAIL(MD_EIO, "cannot write '%s': %s", path, strerror(errno));
  if (!status) return MD_OK;
  fclose(stream);
  *out = NULL;
  return status;
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
