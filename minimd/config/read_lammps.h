/* minimd/config/read_lammps.h - between the files of the reader of LAMMPS inputs. */
#ifndef READ_LAMMPS_H
#define READ_LAMMPS_H

#include "minimd/config/read_script.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  config *cfg;
  script sc;
  char **args; /* of the present command */
  int n;
  const char *usage;
  char *region;         /* its name */
  char cells[3 * 12];   /* its edges in cells, joined by commas */
  int64_t every, delay; /* neigh_modify ... */
  int modified_at;      /* ... and its line, or 0 */
  bool check;           /* LAMMPS' defaults: every 1, delay 0, check yes */
  bool metal, eam;      /* units; pair_style */
  bool lattice, box, atoms, data, mass, velocity, charged, style, coeff, nve, run; /* were there */
  engine_types types; /* several; none: one */
} lammps;

/* Put "file:line: " before the present message. */
static inline md_status at_line(const lammps *in, md_status status)
{
  return MD_FAIL(status, "%s:%d: %s", in->sc.path, in->sc.line, md_message());
}

/* The command, with its k-th argument when k >= 0, is none of the subset. */
static inline md_status unsupported(const lammps *in, int k)
{
  return MD_FAIL(MD_EINVAL, "%s:%d: '%.60s%s%.60s' is outside the supported subset; expected %s",
                 in->sc.path, in->sc.line, in->sc.words[0], k >= 0 ? " " : "",
                 k >= 0 ? in->args[k] : "", in->usage);
}

static inline bool is(const lammps *in, int k, const char *word)
{
  return strcmp(in->args[k], word) == 0;
}

static inline md_status put(lammps *in, const char *key, config_kind kind, const char *text)
{
  return config_put(in->cfg, in->sc.path, in->sc.line, key, kind, text);
}

/* Something that must have come before, has not. */
static inline md_status missing(const lammps *in, const char *what)
{
  return MD_FAIL(MD_EINVAL, "%s:%d: '%s' without '%s' before it", in->sc.path, in->sc.line,
                 in->sc.words[0], what);
}

/* A number that this key of a group of `list`, species or lj.pairs, may have. */
md_status lammps_number(const lammps *in, const char *list, const char *key, const char *text,
                        double *out);
/* The types that argument k stands for, lo..hi from 1: a number, a range, a label. */
md_status lammps_types(const lammps *in, int k, int32_t *lo, int32_t *hi);
/* Each type has a mass, and constants with itself; else the command is named that is missing. */
md_status lammps_have_masses(const lammps *in);
md_status lammps_have_coeffs(const lammps *in);
/* What was collected of several types becomes settings. */
md_status lammps_put_types(lammps *in);

/* Commands, in->args being their arguments. */
md_status lammps_create_box(lammps *in);
md_status lammps_create_atoms(lammps *in);
md_status lammps_read_data(lammps *in);
md_status lammps_mass(lammps *in);
md_status lammps_set(lammps *in);
md_status lammps_pair_style(lammps *in);
md_status lammps_pair_coeff(lammps *in);
md_status lammps_pair_modify(lammps *in);

#endif
