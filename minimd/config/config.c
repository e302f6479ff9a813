/* minimd/config/config.c - a configuration: values, where each came from, and the checks between
 * them. */
#include "minimd/config/config_impl.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct config {
  config_values values;
  char **origin; /* [n keys]; NULL: default */
  char *reading;
  char **warnings; /* [n_warnings] */
  int n_warnings;
  eam_potential eam;  /* of values.engine.potential, once it was read */
  engine_types types; /* of values.kinds, once they were made */
};

static bool is_string(const config_entry *entry)
{
  const config_type type = entry->rule->type;
  return type == CONFIG_PATH || type == CONFIG_TARGET || type == CONFIG_RECORDS;
}

static char **string_of(config_values *values, const config_entry *entry)
{
  return (char **)((char *)values + entry->rule->offset);
}

void config_destroy(config *cfg)
{
  if (!cfg) return;
  const config_entry *entries;
  const int n = config_entries(&entries);
  for (int k = 0; cfg->origin && k < n; k++)
    free(cfg->origin[k]);
  for (int k = 0; k < cfg->n_warnings; k++)
    free(cfg->warnings[k]);
  free(cfg->origin);
  free(cfg->warnings);
  free(cfg->reading);
  for (int k = 0; k < n; k++)
    if (is_string(&entries[k])) free(*string_of(&cfg->values, &entries[k]));
  eam_free(&cfg->eam);
  engine_types_free(&cfg->types);
  free(cfg);
}

static const char *origin_for(const void *cfg, const char *key)
{
  return config_origin(cfg, key);
}

/* The engine's messages name the origins of this configuration, which holds its potential and
 * types. */
static void own(config *cfg)
{
  if (cfg->values.engine.eam) cfg->values.engine.eam = &cfg->eam;
  if (cfg->values.engine.types) cfg->values.engine.types = &cfg->types;
  cfg->values.engine.origin = origin_for;
  cfg->values.engine.source = cfg;
}

md_status config_create(config **out)
{
  *out = NULL;
  const config_entry *entries;
  const int n = config_entries(&entries);
  config *cfg = calloc(1, sizeof *cfg);
  if (cfg) cfg->origin = calloc((size_t)n, sizeof *cfg->origin);
  md_status status = cfg && cfg->origin ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for settings");
  for (int k = 0; k < n && !status; k++)
    status = config_value_read(&entries[k], CONFIG_ANY, entries[k].fallback, &cfg->values);
  if (!status) status = config_describe(cfg, "built-in in.lj");
  if (status) {
    config_destroy(cfg);
    return status;
  }
  own(cfg);
  *out = cfg;
  return status;
}

const config_values *config_all(const config *cfg)
{
  return &cfg->values;
}

const engine_spec *config_get(const config *cfg)
{
  return &cfg->values.engine;
}

const config_outputs *config_output(const config *cfg)
{
  return &cfg->values.output;
}

const char *config_reading(const config *cfg)
{
  return cfg->reading;
}

const char *config_warning(const config *cfg, int k)
{
  return k < cfg->n_warnings ? cfg->warnings[k] : NULL;
}

md_status config_describe(config *cfg, const char *format, ...)
{
  char *text;
  va_list args;
  va_start(args, format);
  const int length = vasprintf(&text, format, args);
  va_end(args);
  MD_REQUIRE(length >= 0, MD_ENOMEM, "out of memory for the name of the input");
  free(cfg->reading);
  cfg->reading = text;
  return MD_OK;
}

md_status config_warn(config *cfg, const char *format, ...)
{
  char **more = realloc(cfg->warnings, (size_t)(cfg->n_warnings + 1) * sizeof *more);
  if (more) cfg->warnings = more;
  char *text;
  va_list args;
  va_start(args, format);
  const int length = more ? vasprintf(&text, format, args) : -1;
  va_end(args);
  MD_REQUIRE(length >= 0, MD_ENOMEM, "out of memory for a warning");
  cfg->warnings[cfg->n_warnings++] = text;
  return MD_OK;
}

static bool has_controls(const char *text)
{
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 127) return true;
  return false;
}

/* A file that an input names lies beside the input. */
static md_status put_value(config *cfg, const char *path, bool in_file, const config_entry *entry,
                           config_kind kind, const char *text)
{
  const char *slash = strrchr(path, '/');
  if (entry->rule->type != CONFIG_PATH || !in_file || !slash || text[0] == '/' || !text[0])
    return config_value_read(entry, kind, text, &cfg->values);
  char *beside;
  MD_REQUIRE(asprintf(&beside, "%.*s%s", (int)(slash + 1 - path), path, text) >= 0, MD_ENOMEM,
             "out of memory for a file name");
  const md_status status = config_value_read(entry, kind, beside, &cfg->values);
  free(beside);
  return status;
}

md_status config_put(config *cfg, const char *path, int line, const char *key, config_kind kind,
                     const char *text)
{
  const config_entry *entries, *entry;
  config_entries(&entries);
  char *origin;
  const int length =
      line > 0 ? asprintf(&origin, "%s:%d", path, line) : asprintf(&origin, "%s", path);
  MD_REQUIRE(length >= 0, MD_ENOMEM, "out of memory for settings");
  md_status status;
  if (has_controls(key) || has_controls(text)) { /* quoted, they would break the line */
    status =
        MD_FAIL(MD_EINVAL, "%s: expected a key and a value without control characters", origin);
  } else if ((status = config_find(key, &entry)) != MD_OK) {
    MD_FAIL(status, "%s: %s", origin, md_message());
  } else {
    status = put_value(cfg, path, line > 0, entry, kind, text);
    if (status) MD_FAIL(status, "%s: %s = %.60s: %s", origin, key, text, md_message());
  }
  if (status) {
    free(origin);
    return status;
  }
  free(cfg->origin[entry - entries]);
  cfg->origin[entry - entries] = origin;
  return MD_OK;
}

md_status config_set(config *cfg, const char *key, const char *text, const char *origin)
{
  return config_put(cfg, origin, 0, key, CONFIG_ANY, text);
}

/* Take what a libconfig input writes, "text" or [1, 2, 3], for what it says; text is changed. */
static config_kind unwrap(char *text)
{
  const size_t length = strlen(text);
  char *to = text;
  if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
    for (const char *c = text + 1; c < text + length - 1; c++) {
      if (*c == '\\' && c + 2 < text + length) c++;
      *to++ = *c;
    }
    *to = '\0';
    return CONFIG_STRING;
  }
  if (length < 2 || text[0] != '[' || text[length - 1] != ']') return CONFIG_ANY;
  for (const char *c = text + 1; c < text + length - 1; c++)
    if (*c != ' ') *to++ = *c;
  *to = '\0';
  return CONFIG_LIST;
}

md_status config_set_pair(config *cfg, const char *pair)
{
  const char *equals = strchr(pair, '=');
  MD_REQUIRE(equals && equals > pair, MD_EINVAL, "--set: expected KEY=VALUE, not '%.60s'", pair);
  char *key = strdup(pair);
  MD_REQUIRE(key, MD_ENOMEM, "out of memory for settings");
  char *text = key + (equals - pair);
  *text++ = '\0';
  const config_kind kind = unwrap(text);
  const md_status status = config_put(cfg, "--set", 0, key, kind, text);
  free(key);
  return status;
}

md_status config_read_potential(config *cfg)
{
  engine_spec *spec = &cfg->values.engine;
  spec->eam = NULL;
  eam_free(&cfg->eam);
  if (spec->pair != ENGINE_PAIR_EAM) return MD_OK;
  MD_TRY(eam_read(spec->potential, &cfg->eam));
  spec->eam = &cfg->eam;
  if (config_is_default(cfg, "system.mass")) spec->mass = cfg->eam.mass;
  return MD_OK;
}

/* What a data file says of its types takes the place of defaults. */
static md_status take_file_types(config *cfg)
{
  if (!config_is_default(cfg, "species")) return MD_OK;
  engine_types types;
  MD_TRY(config_file_types(cfg, &types));
  const char *path = cfg->values.engine.read;
  md_status status = types.n ? config_put_species(cfg, path, 0, &types) : MD_OK;
  if (types.n && !status && config_is_default(cfg, "lj.pairs"))
    status = config_put_pairs(cfg, path, 0, &types);
  engine_types_free(&types);
  return status;
}

md_status config_read_types(config *cfg)
{
  MD_TRY(take_file_types(cfg));
  cfg->values.engine.types = NULL;
  engine_types_free(&cfg->types);
  MD_TRY(config_make_types(cfg, &cfg->types));
  if (cfg->types.n) cfg->values.engine.types = &cfg->types;
  return MD_OK;
}

static const char *origin_of(const config *cfg, const char *key)
{
  const config_entry *entries, *entry;
  config_entries(&entries);
  return config_find(key, &entry) ? NULL : cfg->origin[entry - entries];
}

bool config_is_default(const config *cfg, const char *key)
{
  return !origin_of(cfg, key);
}

const char *config_origin(const config *cfg, const char *key)
{
  const char *origin = origin_of(cfg, key);
  return origin ? origin : "default";
}

md_status config_format_value(const config *cfg, const char *key, char *text, size_t size)
{
  const config_entry *entry;
  MD_TRY(config_find(key, &entry));
  const size_t length = config_value_write(entry, &cfg->values, text, size);
  MD_REQUIRE(length < size, MD_ECAPACITY, "the value of %s has %zu bytes", key, length);
  return MD_OK;
}

static bool duplicate(char **to, const char *from)
{
  *to = from ? strdup(from) : NULL;
  return *to || !from;
}

md_status config_copy(const config *from, config **out)
{
  config *cfg;
  MD_TRY(config_create(&cfg));
  const config_entry *entries;
  const int n = config_entries(&entries);
  cfg->values = from->values;
  cfg->values.engine.eam = NULL; /* to be read again */
  cfg->values.engine.types = NULL;
  own(cfg);
  bool whole = true;
  for (int k = 0; k < n; k++) {
    whole = duplicate(&cfg->origin[k], from->origin[k]) && whole;
    if (!is_string(&entries[k])) continue;
    char **string = string_of(&cfg->values, &entries[k]);
    whole = duplicate(string, *string) && whole;
  }
  if (!whole) {
    config_destroy(cfg);
    return MD_FAIL(MD_ENOMEM, "out of memory for settings");
  }
  *out = cfg;
  return MD_OK;
}

void config_swap(config *one, config *other)
{
  const config old = *one;
  *one = *other;
  *other = old;
  own(one);
  own(other);
}
