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

struct trace_reader {
  FILE *stream;
  char *path;
  bool binary, ended;
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
};

/* Runs of a text file. */
md_status trace_read_text(trace_reader *r, int64_t room, trace_run *runs, int64_t *n);

MD_END_C
#endif
