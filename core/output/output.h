/* core/output/output.h - writing results: files that are complete or absent, and JSON.
 *
 * A file is written under a temporary name beside its own, `path.tmp`, flushed to the disk and
 * renamed, so that a full disk or a crash never leaves a half-written result under the name the
 * user gave.  The temporary file is a new one; what a killed process left under its name is removed
 * first, and a lock keeps two at once apart.  A file that is replaced hands on its modes; a
 * symbolic link stays and its target is replaced. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "core/md.h"
#include <stdio.h>

MD_BEGIN_C

typedef struct {
  FILE *stream;    /* write here */
  char *path;      /* as it was given; NULL: stdout */
  char *target;    /* behind symbolic links */
  char *temporary; /* NULL for stdout and for paths that are no regular file */
} md_output;

/* Open path for writing; NULL, "-" and other names of the program's standard output are stdout.  A
 * device or pipe is written in place.  Errors: MD_EIO (also: another process is writing it;
 * something else has the temporary name), MD_ENOMEM. */
md_status md_output_open(const char *path, md_output *out);
/* Flush, sync, rename.  Errors: MD_EIO (nothing is left behind, an older file stays as it was). */
md_status md_output_close(md_output *out);
/* Give up: remove the temporary file. */
void md_output_discard(md_output *out);

/* Whether a regular file could be written under this name now; from then on other processes cannot,
 * whether it is there or not, until md_output_release or the end of this one.  One name at a time.
 * Errors: those of md_output_open. */
md_status md_output_hold(const char *path);
void md_output_release(void);

/* For the handler of a signal that ends the program: remove every temporary file.  Nothing may be
 * written afterwards. */
void md_output_abandon_all(void);

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
