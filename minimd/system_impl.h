/* minimd/system_impl.h - how atoms are read, line by line, and given velocities. */
#ifndef SYSTEM_IMPL_H
#define SYSTEM_IMPL_H

#include "minimd/system.h"

#include <stdio.h>

/* A text file of any size, one line at a time. */
typedef struct {
  const char *path;
  FILE *file;
  int64_t bytes; /* of the whole file */
  int64_t line;  /* number of the last line given */
  char *block;   /* [most + 1]: text read; lines are given in place */
  size_t most;
  size_t begin, end;
  char **words; /* of the last line, see read_words */
  int room;
} line_reader;
md_status lines_open(const char *path, line_reader *in);
void lines_close(line_reader *in);
void lines_rewind(line_reader *in);
/* The next line, without its end; valid until the next call.  NULL at the end of the file.
 * Errors: MD_EIO, MD_EINVAL (binary data, a line over 1 MB). */
md_status lines_next(line_reader *in, char **line);
/* Split the line at blanks into in->words. */
md_status lines_split(line_reader *in, char *line, int *n);
/* Fail with "file:line: " and a message. */
md_status lines_fail(const line_reader *in, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A number, named `what` in messages. */
md_status lines_double(const line_reader *in, const char *what, const char *word, double *out);
md_status lines_int64(const line_reader *in, const char *what, const char *word, int64_t min,
                      int64_t max, int64_t *out);
/* n items of at least line_bytes each must fit the file.  Checked before memory is taken. */
md_status lines_fit(const line_reader *in, int64_t n, int64_t line_bytes);

/* Wrap a position into [lo, hi) and count the edges crossed in image.  Errors: MD_EINVAL (a billion
 * edges away). */
md_status lines_wrap(const line_reader *in, const md_box *box, double x[3], int32_t image[3]);

/* The formats.  in is open, at its beginning. */
md_status read_data(line_reader *in, bool header, system_state *out);
md_status read_xyz(line_reader *in, bool header, system_state *out);

/* Atoms by rising id; *by_id is NULL when they lie so.  free(*by_id), also after a failure.
 * Errors: MD_EINVAL (two atoms have one id), MD_ENOMEM. */
md_status system_rank_ids(const line_reader *in, const system_state *state, int64_t **by_id);
/* The atom with this id, or -1. */
int64_t system_find_id(const system_state *state, const int64_t *by_id, int64_t id);

/* Memory for n atoms: x always, the others as asked. */
md_status system_reserve(system_state *state, int64_t n, bool v, bool id, bool image);
/* Memory for the charges of state->n atoms; what a charge may be. */
md_status system_reserve_charges(system_state *state);
md_status lines_charge(const line_reader *in, const char *word, double *out);
/* The temperature of the configuration for atoms of this mass, momentum zero. */
md_status system_velocities(const config_values *values, double mass, system_state *state);
/* Position of site s of the lattice in unit cells; the lattice has system_sites of them. */
void system_site(const config_values *values, int64_t s, double *site);
/* Threads to make a system with. */
int system_team(const config_values *values);

#endif
