/* cachemodel/trace/trace_gzip_none.c - instead of trace_gzip.c where zlib's header is not
 * installed. */
#include "cachemodel/trace/trace_impl.h"

bool trace_reads_gzip(void)
{
  return false;
}

md_status trace_gzip_open(const char *path, FILE **stream, trace_gzip **out)
{
  *out = NULL;
  const int first = getc(*stream);
  if (first != EOF) ungetc(first, *stream);
  MD_REQUIRE(first != 0x1f, MD_EINVAL,
             "'%s' is compressed, and this build has no zlib (Debian package zlib1g-dev): expected "
             "what gunzip makes of it",
             path);
  return MD_OK;
}

void trace_gzip_close(trace_gzip *gzip, FILE *stream)
{
  (void)gzip;
  if (stream) fclose(stream);
}

const char *trace_gzip_fault(const trace_gzip *gzip)
{
  (void)gzip;
  return NULL;
}
