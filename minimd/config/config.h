/* minimd/config/config.h - what a run is: every setting, where it came from, and how it is read.
 *
 * One table (config_schema.c) lists each key with its type, unit, range, default and meaning.  The
 * readers, --set, the named options, --check, `config --list`, `convert` and the JSON report all
 * walk that table.  Precedence: defaults < input file < --set < named options. */
#ifndef CONFIG_H
#define CONFIG_H

#include "core/output/output.h"
#include "engine/spec.h"

#include <stdio.h>

MD_BEGIN_C

#define CONFIG_FORMATS(X)                                                                          \
  X(AUTO, "auto") X(LIBCONFIG, "libconfig") X(MINIMD, "minimd") X(LAMMPS, "lammps")
#define MD_ENUM_(name, word) CONFIG_FORMAT_##name,
typedef enum { CONFIG_FORMATS(MD_ENUM_) CONFIG_FORMAT_COUNT } config_format;
#undef MD_ENUM_

extern const char *const config_format_words[CONFIG_FORMAT_COUNT];

/* When a run reports, and what it writes: files, NULL for none; steps between, 0: first and
 * last. */
typedef struct {
  int32_t thermo; /* lines */
  char *dump, *checkpoint;
  int32_t dump_every, checkpoint_every;
} config_outputs;

/* Kinds of atoms and their pairs, as text: a list of groups of libconfig; NULL: ( ). */
typedef struct {
  char *species, *pairs;
  force_mix mix;
} config_kinds;

typedef struct {
  engine_spec engine;
  config_kinds kinds;
  config_outputs output;
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
/* They live as long as cfg and change with it. */
const engine_spec *config_get(const config *cfg);
const config_outputs *config_output(const config *cfg);

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
/* Conditions between keys (sort_every a multiple of every, ...), after everything was read; reads
 * potential.file where the style wants one, and makes the types of species, which are those of a
 * data file (system.read) where nothing else is said.  Errors: MD_EINVAL, those of eam_read. */
md_status config_check(config *cfg);

/* The table itself, for printing: n entries. */
typedef struct {
  const char *key, *type, *unit, *range, *fallback, *help;
  const struct config_rule *rule; /* private: how text becomes a value */
} config_entry;
int config_entries(const config_entry **out);
/* A value as a libconfig input would write it; CONFIG_TEXT_SIZE bytes hold any.
 * Errors: MD_EINVAL (no such key), MD_ECAPACITY (text is too small). */
enum { CONFIG_TEXT_SIZE = 1 << 18 };
md_status config_format_value(const config *cfg, const char *key, char *text, size_t size);
const char *config_origin(const config *cfg, const char *key); /* "default", "in.lj:7", "--set" */
/* Members of a JSON object: every setting as {"value": ..., "origin": text}; a value
 * is a number, a boolean, a list of numbers or a string, as its type is. */
void config_json(const config *cfg, md_json *json);
/* All settings that have an effect, as a libconfig input (`minimd convert`); the paths of
 * system.read and potential.file become absolute. */
void config_write(const config *cfg, FILE *stream);

MD_END_C
#endif
