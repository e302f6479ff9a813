/* core/output.c - see output.h. */
#include "core/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(md_output *out)
{
  free(out->path);
  free(out->temporary);
  *out = (md_output){0};
}

md_status md_output_open(const char *path, md_output *out)
{
  *out = (md_output){0};
  if (!path || strcmp(path, "-") == 0) {
    out->stream = stdout;
    return MD_OK;
  }
  struct stat info;
  out->path = strdup(path);
  MD_REQUIRE(out->path, MD_ENOMEM, "out of memory for a file name");
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
    out->stream = S_ISDIR(info.st_mode) ? NULL : fopen(path, "w");
    if (S_ISDIR(info.st_mode)) errno = EISDIR;
  } else {
    if (asprintf(&out->temporary, "%s.tmp.%ld", path, (long)getpid()) < 0) {
      out->temporary = NULL;
      release(out);
      return MD_FAIL(MD_ENOMEM, "out of memory for a file name");
    }
    out->stream = fopen(out->temporary, "w");
  }
  if (!out->stream) {
    const md_status status = MD_FAIL(MD_EIO, "cannot write '%s': %s", path, strerror(errno));
    release(out);
    return status;
  }
  return MD_OK;
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
  bool good = !ferror(out->stream) && fflush(out->stream) == 0;
  if (good && out->temporary) good = fsync(fileno(out->stream)) == 0;
  const int flush_error = errno;
  good = fclose(out->stream) == 0 && good;
  if (good && out->temporary) good = rename(out->temporary, out->path) == 0;
  if (!good) {
    const md_status status =
        MD_FAIL(MD_EIO, "cannot write '%s': %s", out->path, strerror(errno ? errno : flush_error));
    if (out->temporary) unlink(out->temporary);
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
  fclose(out->stream);
  if (out->temporary) unlink(out->temporary);
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
