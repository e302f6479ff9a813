/* tests/drive/traces.h - a trace file in the folder of files.h, and what is read of it. */
#ifndef TRACES_H
#define TRACES_H

#include "cachemodel/trace/trace_file.h"

const char *traces_path(void);
void traces_write(const unsigned char *data, size_t bytes);

/* All accesses of a file one by one. */
typedef struct {
  trace_run *access; /* count 1, stride 0 */
  int64_t n;
} traces_accesses;
traces_accesses traces_spread(const trace_run *runs, int64_t n_runs);

/* Read the file with room for `room` runs at a time; *runs gets them all. */
md_status traces_read(int64_t room, trace_run **runs, int64_t *n_runs);
/* The file holds these accesses. */
void traces_check(const traces_accesses *expected, int64_t room);
/* The file is refused with these words and its name. */
void traces_refused(const char *expected);

/* Any run of accesses. */
trace_run traces_any(uint64_t *seed);

#endif
