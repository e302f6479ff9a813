/* cachemodel/trace/trace_impl.h - what writing and reading trace files share. */
#ifndef TRACE_IMPL_H
#define TRACE_IMPL_H

#include "cachemodel/trace/trace_file.h"

#include <stdio.h>

MD_BEGIN_C

#define TRACE_MAGIC "mdtrace\n"
enum {
  TRACE_VERSION = 1,
  TRACE_FILE_HEAD = 16,
  TRACE_BLOCK_HEAD = 16,
  TRACE_PAYLOAD_MOST = 1 << 20
};
enum { TRACE_FORM_RUN, TRACE_FORM_LIST, TRACE_FORM_AGAIN };

/* At least one access, all of them below 2^64. */
static inline bool trace_run_valid(const trace_run *run)
{
  if (run->count < 1 || run->bytes < 1) return false;
  const __int128 first = (__int128)run->address;
  const __int128 last = first + (__int128)run->stride * (run->count - 1);
  const __int128 top = (__int128)UINT64_MAX - (run->bytes - 1);
  return last >= 0 && last <= top && first <= top;
}

/* What a line of text says: no access, one, or a read and a write. */
typedef struct {
  int n;
  trace_run run[2];
} trace_found;

/* Columns of a CSV file, -1: there is none. */
typedef struct {
  char separator;
  int address, size, op;
} trace_columns;

typedef struct trace_gzip trace_gzip;

struct trace_reader {
  FILE *stream;
  trace_gzip *gzip; /* what stream decompresses; NULL without zlib */
  char *path;
  trace_how how;
  bool ended;
  int64_t offset; /* bytes read so far */
  int64_t count;  /* accesses so far */
  /* binary */
  int64_t block;      /* blocks so far */
  uint8_t *payload;   /* [room] */
  int64_t used, size; /* of the payload */
  int64_t room;
  int64_t counted; /* accesses in the records of this block so far */
  uint64_t last[TRACE_STREAM_COUNT];
  trace_run like;   /* of the list that is being handed out */
  uint64_t *listed; /* [n_listed], room for as many as a payload has bytes */
  int64_t n_listed, next_listed;
  /* text */
  char *line;
  size_t line_room;
  int64_t line_number;
  trace_columns columns;
  bool begun;        /* a line said something */
  bool view;         /* lines of DynamoRIO's view tool: those without accesses are skipped */
  trace_found found; /* of the present line */
  int next_found;
};

/* Decompress *stream from here on; a stream that is not compressed stays as it is.  *stream is
 * closed by trace_gzip_close, also after a failure.  Errors: MD_ENOMEM, MD_EINVAL (compressed, and
 * this build cannot), MD_EIO. */
md_status trace_gzip_open(const char *path, FILE **stream, trace_gzip **out);
void trace_gzip_close(trace_gzip *gzip, FILE *stream);
/* What was wrong with compressed data; NULL: nothing. */
const char *trace_gzip_fault(const trace_gzip *gzip);

/* Runs of a text file. */
md_status trace_read_text(trace_reader *r, int64_t room, trace_run *runs, int64_t *n);
/* Accesses of the line of a kind of text; false: it cannot be one.  line may be changed. */
bool trace_parse(trace_reader *r, char *line, trace_found *found);
/* The kind of text that a first line has. */
trace_format trace_detect(const char *line);
/* Columns that a header names; false: none of them holds addresses, or two hold the same. */
bool trace_read_header(const char *line, trace_columns *out);

MD_END_C
#endif
