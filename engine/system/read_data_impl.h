/* engine/system/read_data_impl.h - between the files that read LAMMPS data files. */
#ifndef READ_DATA_IMPL_H
#define READ_DATA_IMPL_H

#include "engine/system/system_impl.h"

typedef struct {
  md_text *in;
  system_state *out;
  const engine_types *types; /* what there may be; NULL: one kind */
  engine_types *found;       /* NULL, or the same, to be filled with what the file says */
  int64_t n_types;           /* of the file */
  bool labelled;
  uint8_t kind_of[MD_TYPES]; /* its types by number as kinds */
  int64_t n;                 /* atoms, 0: not yet known */
  bool edges[3], atoms;
  int64_t *by_id; /* this rank's atoms by rising id; NULL when they lie so */
  int columns;    /* of the Atoms section */
  char **words;   /* of the present line */
  int n_words;
  char *comment; /* behind '#', or NULL */
} data_file;

/* The next entry of a section that has `total`; `count` were read. */
md_status read_data_entry(data_file *df, const char *section, int64_t count, int64_t total);
/* On all ranks: the section Velocities. */
md_status read_data_velocities(data_file *df);

#endif
