/* minimd/config/config_impl.h - between the configuration and its readers.
 *
 * A reader turns a file into (key, kind, text) triples; the schema turns text into values.  So a
 * number is parsed in one place, from what the user wrote, whatever the input's language. */
#ifndef CONFIG_IMPL_H
#define CONFIG_IMPL_H

#include "engine/types.h"
#include "minimd/config/config.h"

/* What an input says about the form of a value. */
typedef enum {
  CONFIG_ANY = 0,     /* the command line does not tell */
  CONFIG_NUMBER = 1,  /* as written: 20, -1.5e3 */
  CONFIG_STRING = 2,  /* between quotes, without them */
  CONFIG_BOOLEAN = 4, /* true or false */
  CONFIG_LIST = 8,    /* numbers joined by commas */
  CONFIG_DIGITS = 16, /* a number of a program whose integers have no exponent */
  CONFIG_GROUPS = 32  /* a list of groups, in the form of records.c */
} config_kind;

typedef enum {
  CONFIG_INTEGER, /* int32_t or int64_t */
  CONFIG_COUNT,   /* int64_t, may be written 1e6 */
  CONFIG_REAL,    /* double */
  CONFIG_FLAG,    /* bool */
  CONFIG_WORD,    /* an enum */
  CONFIG_CELLS,   /* int32_t [3], from one integer or three */
  CONFIG_BINS,    /* double: a length, or -N for "/N" */
  CONFIG_CURVE,   /* ordering */
  CONFIG_PATH,    /* char *, NULL when empty; beside the input that names it */
  CONFIG_TARGET,  /* likewise, but where the program runs: a file to be written */
  CONFIG_RECORDS, /* char *, NULL when empty: text that config_records reads */
  CONFIG_TYPE_COUNT
} config_type;

/* Bins per cutoff + skin, the N of "/N". */
#define CONFIG_BINS_LEAST 0.1
#define CONFIG_BINS_MOST 16

typedef struct config_rule {
  config_type type;
  size_t offset, size;      /* of the field in config_values */
  double min, max;          /* numbers */
  bool open;                /* min itself is out of range */
  const char *special;      /* a word in place of a value, or NULL ... */
  int32_t meaning;          /* ... and what the field holds then */
  const char *const *words; /* of an enum */
  int n_words;
} config_rule;

/* All values, in which the table's offsets are. */
const config_values *config_all(const config *cfg);

/* Set one key of the values.  Errors: MD_EINVAL (what was expected), MD_ENOMEM; values unchanged.
 */
md_status config_value_read(const config_entry *entry, config_kind kind, const char *text,
                            config_values *values);
/* The value as libconfig text; returns the length it needs, as snprintf does. */
size_t config_value_write(const config_entry *entry, const config_values *values, char *text,
                          size_t size);
/* The shortest text that reads back as the same number; CONFIG_NUMBER_SIZE bytes hold any. */
enum { CONFIG_NUMBER_SIZE = 32 };
size_t config_number_write(double value, char *text, size_t size);
/* The value as a member of a JSON object. */
void config_value_json(const config_entry *entry, const config_values *values, md_json *json,
                       const char *name);
/* The entry of a key.  Errors: MD_EINVAL (names the nearest key). */
md_status config_find(const char *key, const config_entry **out);

/* Set a key and remember where it came from: a line of the input at path, or an option when line is
 * 0.  A file name in an input is relative to the input. */
md_status config_put(config *cfg, const char *path, int line, const char *key, config_kind kind,
                     const char *text);
/* Read the file of a potential by tables, which the values then point at; its mass is the default
 * of system.mass.  Errors: those of eam_read. */
md_status config_read_potential(config *cfg);
/* Make the types of `species`, which the values then point at; none without.  A data file's types
 * become `species`, and its pairs lj.pairs, where these are not set.  Errors: MD_EINVAL, MD_ENOMEM.
 */
md_status config_read_types(config *cfg);
/* The types that the file of system.read describes; none where it cannot be read, which is left to
 * who reads its atoms.  Errors: those of system_read_types. */
md_status config_file_types(const config *cfg, engine_types *out);
/* Set species and lj.pairs, the latter where a pair is given: has an epsilon.  No key is written
 * for a mass, charge or cutoff of 0 and a fraction < 0.  path, line: as config_put. */
md_status config_put_species(config *cfg, const char *path, int line, const engine_types *types);
md_status config_put_pairs(config *cfg, const char *path, int line, const engine_types *types);
md_status config_make_types(const config *cfg, engine_types *out);
/* Check the text of species or of lj.pairs (key) by itself, and count its groups. */
md_status config_check_records(const char *key, const char *text, int *groups);

/* One `key = value;` of a group: a number or a string, or several strings. */
enum { CONFIG_ITEM_WORDS = 2 };
typedef struct {
  char key[ENGINE_NAME], word[CONFIG_ITEM_WORDS][ENGINE_NAME];
  int n_words;
  bool quoted;
} config_item;
/* Read "( { key = 1.5; key = \"text\"; key = [ \"a\", \"b\" ]; }, { ... } )": item is called for
 * each, with the number of its group; *count is the number of groups.  Errors: MD_EINVAL (what was
 * expected), those of item. */
typedef md_status config_item_fn(void *to, int group, const config_item *item);
md_status config_records(const char *text, config_item_fn *item, void *to, int *count);

/* Add a warning. */
md_status config_warn(config *cfg, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Say how the input was read. */
md_status config_describe(config *cfg, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A copy that a reader may fill; without warnings, which belong to one input.  Errors:
 * MD_ENOMEM. */
md_status config_copy(const config *from, config **out);
/* Each becomes what the other was. */
void config_swap(config *one, config *other);
/* True where the key has its default. */
bool config_is_default(const config *cfg, const char *key);

/* A whole input file: no NUL and no other control characters, lines end in '\n' alone, no byte
 * order mark. */
typedef struct {
  const char *path;
  char *data; /* [size + 1], ends in NUL */
  size_t size;
} config_text;
/* On all ranks: rank 0 reads it.  Errors: MD_EIO (names the file), MD_EINVAL (empty, binary),
 * MD_ECAPACITY (over 64 kB: a larger one would take libconfig seconds). */
md_status config_text_load(const char *path, config_text *out);
void config_text_free(config_text *text);
/* The language of a text, by its content.  Errors: MD_EINVAL (names what was expected). */
md_status config_text_detect(const config_text *text, config_format *out);

/* The next line of a text, ended by NUL in place; NULL at the end. */
char *config_text_line(char **cursor);
/* Split a line at blanks in place; stores the first `room` words, returns how many there are. */
int config_text_words(char *line, char **words, int room);

/* The readers.  They may change text; on failure cfg is a draft that is thrown away. */
md_status read_libconfig(config *cfg, config_text *text);
md_status read_minimd(config *cfg, config_text *text);
md_status read_lammps(config *cfg, config_text *text);
/* True for a command of LAMMPS, inside the subset or not. */
bool read_lammps_knows(const char *word, size_t length);

#endif
