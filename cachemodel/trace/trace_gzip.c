/* cachemodel/trace/trace_gzip.c - a stream that decompresses what gzip wrote, by zlib; what is not
 * compressed passes through. */
#include "cachemodel/trace/trace_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct trace_gzip {
  gzFile file;
  bool failed;
};

bool trace_reads_gzip(void)
{
  return true;
}

/* Data that end within a member are an error, which zlib tells only when asked. */
static ssize_t read_some(void *from, char *to, size_t size)
{
  trace_gzip *gzip = from;
  int code = Z_OK;
  const int got = gzread(gzip->file, to, (unsigned)(size < INT32_MAX ? size : INT32_MAX));
  if (got <= 0) (void)gzerror(gzip->file, &code);
  if (code == Z_MEM_ERROR) errno = ENOMEM;
  gzip->failed = code != Z_OK && code != Z_STREAM_END && code != Z_ERRNO && code != Z_MEM_ERROR;
  return code == Z_OK || code == Z_STREAM_END ? got : -1;
}

md_status trace_gzip_open(const char *path, FILE **stream, trace_gzip **out)
{
  *out = calloc(1, sizeof **out);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for a trace");
  const int fd = dup(fileno(*stream));
  (*out)->file = fd < 0 ? NULL : gzdopen(fd, "rb");
  if (!(*out)->file && fd >= 0) close(fd);
  MD_REQUIRE((*out)->file, MD_EIO, "cannot read '%s': %s", path, strerror(errno));
  FILE *plain = fopencookie(*out, "r", (cookie_io_functions_t){.read = read_some});
  MD_REQUIRE(plain, MD_ENOMEM, "out of memory for a trace");
  fclose(*stream);
  *stream = plain;
  return MD_OK;
}

void trace_gzip_close(trace_gzip *gzip, FILE *stream)
{
  if (stream) fclose(stream);
  if (gzip && gzip->file) (void)gzclose(gzip->file);
  free(gzip);
}

/* Behind the name of the descriptor. */
const char *trace_gzip_fault(const trace_gzip *gzip)
{
  int code;
  if (!gzip || !gzip->failed) return NULL;
  const char *text = gzerror(gzip->file, &code), *said = strstr(text, ": ");
  return said ? said + 2 : text;
}
