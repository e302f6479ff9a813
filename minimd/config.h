/* minimd/config.h - what a run is: every setting, where it came from, and how it is read.
 *
 * One table (config_schema.c) lists each key with its type, unit, range, default and meaning; the
 * readers,
 * --set, the named options, --check, `config --list`, `convert` and the JSON report all walk that
 * table. Precedence: defaults < input file < --set < named options. */
#ifndef CONFIG_H
#define CONFIG_H

#include "core/context.h"
#include "core/output.h"
#include "force/force.h"
#include "neighbor/neighbor.h"
#include "ordering/ordering.h"
#include "spread/spread.h"

#include <stdio.h>

MD_BEGIN_C

#define CONFIG_LATTICES(X)                                                                         \
  X(FCC, "fcc")                                                                                    \
  X(BCC, "bcc") X(SC, "sc") X(DIAMOND, "diamond") X(NACL, "nacl") X(CSCL, "cscl") X(ZNS, "zns")
#define CONFIG_VELOCITIES(X) X(LAMMPS, "lammps") X(MINIMD, "minimd")
#define CONFIG_BACKENDS(X) X(AUTO, "auto") X(CPU, "cpu") X(GPU, "gpu")
#define CONFIG_COULOMBS(X) X(NONE, "none") X(PME, "pme")
#define CONFIG_FORMATS(X)                                                                          \
  X(AUTO, "auto") X(LIBCONFIG, "libconfig") X(MINIMD, "minimd") X(LAMMPS, "lammps")
#define MD_ENUM_(name, word) CONFIG_LATTICE_##name,
typedef enum { CONFIG_LATTICES(MD_ENUM_) CONFIG_LATTICE_COUNT } config_lattice;
#undef MD_ENUM_
#define MD_ENUM_(name, word) CONFIG_VELOCITY_##name,
typedef enum { CONFIG_VELOCITIES(MD_ENUM_) CONFIG_VELOCITY_COUNT } config_velocity;
#undef MD_ENUM_
#define MD_ENUM_(name, word) CONFIG_BACKEND_##name,
typedef enum { CONFIG_BACKENDS(MD_ENUM_) CONFIG_BACKEND_COUNT } config_backend;
#undef MD_ENUM_
#define MD_ENUM_(name, word) CONFIG_COULOMB_##name,
typedef enum { CONFIG_COULOMBS(MD_ENUM_) CONFIG_COULOMB_COUNT } config_coulomb;
#undef MD_ENUM_
#define MD_ENUM_(name, word) CONFIG_FORMAT_##name,
typedef enum { CONFIG_FORMATS(MD_ENUM_) CONFIG_FORMAT_COUNT } config_format;
#undef MD_ENUM_

extern const char *const config_format_words[CONFIG_FORMAT_COUNT];

typedef struct {
  /* system */
  config_lattice lattice;
  int32_t cells[3];
  double density, temperature; /* [1/length^3], [energy / k_B] */
  int32_t seed;
  config_velocity velocity;
  double mass;
  double charges;       /* of lattices with two kinds of sites: + and - this */
  char *read;           /* LAMMPS data file or extended XYZ, as to be opened; NULL: the lattice */
  bool keep_velocities; /* those of the file, where it has some */
  /* lj */
  double epsilon, sigma, cutoff; /* [energy], [length], [length] */
  force_shift shift;
  /* coulomb; 0: chosen from the tolerance */
  config_coulomb coulomb;
  int32_t mesh[3], spline_order;
  double alpha;          /* [1/length] */
  double coulomb_cutoff; /* of real space; 0: that of lj [length] */
  double tolerance;      /* root mean square force error [force] */
  spread_method spread;
  /* neighbor */
  double skin;   /* negative: to be measured ("auto") */
  int32_t every; /* rebuild period in steps; 0: when an atom moved half the skin ("check") */
  int list;      /* a neighbor_kind, or -1: chosen */
  neighbor_stencil stencil;
  double bin_size; /* > 0: length; < 0: -bin_size bins per cutoff + skin (written "/2") */
  bool newton;
  /* order */
  ordering curve;
  int32_t sort_every; /* steps; 0 never, -1: at every rebuild */
  /* run */
  int64_t steps;
  double dt;
  int32_t thermo; /* steps between thermo lines; 0: first and last only */
  /* device */
  config_backend backend;
  md_precision precision;
  int32_t threads, block_size; /* 0: all; tuned */
  int32_t index;               /* of the CUDA device; negative: the first */
  int32_t carveout;            /* percent of the greatest shared memory; 0: chosen */
  bool deterministic;
  /* output: files, NULL for none; steps between, 0: first and last */
  char *dump, *checkpoint;
  int32_t dump_every, checkpoint_every;
} config_values;

typedef struct config config; /* values, origins and the name of the input */

/* libconfig exports these names too; ours differ for the linker. */
#define config_read minimd_config_read
#define config_write minimd_config_write
#define config_destroy minimd_config_destroy

/* *out holds the defaults, which are LAMMPS' bench/in.lj: 32,000 atoms of the Lennard-Jones melt.
 * Free with config_destroy (NULL is allowed). */
md_status config_create(config **out);
void config_destroy(config *cfg);
const config_values *config_get(const config *cfg);

/* Read an input file of any supported format; format AUTO detects it by content.  On failure cfg is
 * unchanged. Errors: MD_EIO (cannot be read), MD_EINVAL (file, line, key, value, what was
 * expected). */
md_status config_read(config *cfg, const char *path, config_format format);
/* Likewise libconfig text that is no file; name takes a path's place. */
md_status config_read_text(config *cfg, const char *name, const char *text);
/* How the input was read, for the report: "miniMD fixed format, 14 lines"; "built-in in.lj". */
const char *config_reading(const config *cfg);

/* The k-th warning (an ignored `package` line, say), NULL beyond the last; the run prints them. */
const char *config_warning(const config *cfg, int k);

/* One setting from text; origin ("--set", "--order") is what --check and messages name. */
md_status config_set(config *cfg, const char *key, const char *text, const char *origin);
/* `key=value`, the argument of --set. */
md_status config_set_pair(config *cfg, const char *pair);
/* Conditions between keys (sort_every a multiple of every, ...), after everything was read. */
md_status config_check(const config *cfg);

/* The longest cutoff. */
double config_reach(const config_values *values);

/* The table itself, for printing: n entries. */
typedef struct {
  const char *key, *type, *unit, *range, *fallback, *help;
  const struct config_rule *rule; /* private: how text becomes a value */
} config_entry;
int config_entries(const config_entry **out);
/* A value as a libconfig input would write it; CONFIG_TEXT_SIZE bytes hold any.
 * Errors: MD_EINVAL (no such key), MD_ECAPACITY (text is too small). */
enum { CONFIG_TEXT_SIZE = 8320 };
md_status config_format_value(const config *cfg, const char *key, char *text, size_t size);
const char *config_origin(const config *cfg, const char *key); /* "default", "in.lj:7", "--set" */
/* Members of a JSON object: every setting as {"value": ..., "origin": text}; a value
 * is a number, a boolean, a list of numbers or a string, as its type is. */
void config_json(const config *cfg, md_json *json);
/* All settings that have an effect, as a libconfig input (`minimd convert`); the path of
 * system.read becomes absolute. */
void config_write(const config *cfg, FILE *stream);

MD_END_C
#endif
