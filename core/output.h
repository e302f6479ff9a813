/* core/output.h - writing results: files that are complete or absent, and JSON.
 *
 * A file is written under a temporary name beside its own, `path.tmp`, flushed to the disk and
 * renamed, so that a full disk or a crash never leaves a half-written result under the name the
 * user gave.  What a killed process leaves under the temporary name the next writer of `path` uses
 * again; a lock keeps two at once apart. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "core/md.h"
#include <stdio.h>

MD_BEGIN_C

typedef struct {
  FILE *stream;           /* write here */
  char *path, *temporary; /* NULL for stdout and for paths that are no regular file */
} md_output;

/* Open path for writing; NULL or "-" is stdout.  A device or pipe is written in place.
 * Errors: MD_EIO (also: another process is writing it), MD_ENOMEM. */
md_status md_output_open(const char *path, md_output *out);
/* Flush, sync, rename.  Errors: MD_EIO (nothing is left behind, an older file stays as it was). */
md_status md_output_close(md_output *out);
/* Give up: remove the temporary file. */
void md_output_discard(md_output *out);

/* Open a file that is written in place, to go on behind its first `keep` bytes; what is there
 * behind them is cut off.  Errors: MD_EIO (cannot be opened, or is shorter). */
md_status md_output_continue(const char *path, int64_t keep, FILE **out);

/* JSON, streamed.  key is NULL inside a list.  Numbers have 17 digits, so they read back exactly;
 * NaN and infinity become null. */
typedef struct {
  FILE *stream;
  int depth;
  bool fresh; /* nothing written yet at this depth */
} md_json;

void md_json_begin(md_json *json, FILE *stream); /* opens the outermost object */
void md_json_end(md_json *json);
void md_json_open(md_json *json, const char *key, char bracket); /* '{' or '[' */
void md_json_close(md_json *json, char bracket);                 /* '}' or ']' */
void md_json_string(md_json *json, const char *key, const char *value);
void md_json_number(md_json *json, const char *key, double value);
void md_json_integer(md_json *json, const char *key, int64_t value);
void md_json_bool(md_json *json, const char *key, bool value);

MD_END_C
#endif
