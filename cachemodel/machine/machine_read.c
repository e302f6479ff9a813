/* cachemodel/machine/machine_read.c - machine descriptions in libconfig (machine.h).
 *
 * libconfig wraps integers that do not fit 32 bits unless they end in L, leaks a string in place of
 * a name, and @include may read any file; all are refused before it sees the text. */
#include "cachemodel/machine/machine_impl.h"
#include "core/output/files.h"
#include "core/parse/parse.h"

#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MOST = 64 << 10, DIGITS_MOST = 9 };

static md_status read_text(const char *path, char **text)
{
  FILE *file;
  MD_REQUIRE(access(path, F_OK) == 0 || errno != ENOENT, MD_EINVAL,
             "'%.200s' is no machine: expected h200, h200:K, host or a file (%s)", path,
             strerror(errno));
  MD_TRY(md_file_read(path, &file));
  *text = malloc(FILE_MOST + 1);
  const size_t got = *text ? fread(*text, 1, FILE_MOST + 1, file) : 0;
  const bool bad = ferror(file) != 0;
  fclose(file);
  MD_REQUIRE(*text, MD_ENOMEM, "out of memory for '%s'", path);
  MD_REQUIRE(!bad, MD_EIO, "cannot read '%s': %s", path, strerror(errno));
  MD_REQUIRE(got <= FILE_MOST, MD_EINVAL, "'%s' is longer than %d bytes", path, FILE_MOST);
  (*text)[got] = '\0';
  int line = 1;
  for (const char *c = *text; *c; c++)
    line += *c == '\n';
  MD_REQUIRE(strlen(*text) == got, MD_EINVAL, "%s:%d: byte 0x00: expected a text file", path, line);
  return MD_OK;
}

/* The end of the comment that begins here, or c. */
static const char *comment_end(const char *c)
{
  const char *end = NULL;
  if (strncmp(c, "/*", 2) == 0)
    end = strstr(c + 2, "*/") ? strstr(c + 2, "*/") + 2 : c + strlen(c);
  else if (*c == '#' || strncmp(c, "//", 2) == 0)
    end = c + strcspn(c, "\n");
  return end ? end : c;
}

/* The end of the token that begins here: a string, digits, or one character. */
static const char *token_end(const char *c)
{
  if (isdigit((unsigned char)*c)) return c + strspn(c, "0123456789");
  if (*c != '"') return c + 1;
  for (c++; *c && *c != '"'; c++)
    if (*c == '\\' && c[1]) c++;
  return *c ? c + 1 : c;
}

/* What libconfig would get wrong, or leak when it finds the error: see above. */
static md_status scan(const char *path, const char *text)
{
  int line = 1;
  char last = ';'; /* what came before, blanks and comments left out */
  for (const char *c = text, *end; *c; c = end) {
    end = comment_end(c);
    const bool comment = end > c;
    if (!comment) end = token_end(c);
    MD_REQUIRE(*c != '@', MD_EINVAL, "%s:%d: @include is not supported", path, line);
    MD_REQUIRE(!isdigit((unsigned char)*c) || end - c <= DIGITS_MOST || *end == 'L', MD_EINVAL,
               "%s:%d: a number of %d digits must end in L", path, line, (int)(end - c));
    MD_REQUIRE(*c != '"' || strchr("=:\"", last), MD_EINVAL,
               "%s:%d: syntax error: expected name = before a string", path, line);
    MD_REQUIRE(*c != '"' || !md_escapes_nul(c, end), MD_EINVAL,
               "%s:%d: a string holds \\x00: expected text", path, line);
    if (!comment && !isspace((unsigned char)*c)) last = *c;
    for (; c < end; c++)
      line += *c == '\n';
  }
  return MD_OK;
}

/* What is being read: a group, and how to name it. */
typedef struct {
  const char *path;
  const config_setting_t *group;
} reader;

/* The line of a member, or of the group where it is missing. */
static int line_of(const reader *r, const char *key)
{
  const config_setting_t *s = config_setting_get_member(r->group, key);
  const int line = (int)config_setting_source_line(s ? s : r->group);
  return line > 0 ? line : 1;
}

/* An integer in 1..most; absent: *value stays, or is an error when it is 0. */
static md_status read_integer(const reader *r, const char *key, int64_t most, int64_t *value)
{
  const config_setting_t *s = config_setting_get_member(r->group, key);
  if (!s) {
    MD_REQUIRE(*value, MD_EINVAL, "%s:%d: '%s' is missing", r->path, line_of(r, key), key);
    return MD_OK;
  }
  const int type = config_setting_type(s);
  const int64_t found = config_setting_get_int64(s);
  MD_REQUIRE((type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64) && found >= 1 && found <= most,
             MD_EINVAL, "%s:%d: %s: expected an integer in 1..%lld", r->path,
             (int)config_setting_source_line(s), key, (long long)most);
  *value = found;
  return MD_OK;
}

static md_status read_int32(const reader *r, const char *key, int32_t most, int32_t *value)
{
  int64_t wide = *value;
  MD_TRY(read_integer(r, key, most, &wide));
  *value = (int32_t)wide;
  return MD_OK;
}

static md_status read_string(const reader *r, const char *key, const char **value)
{
  MD_REQUIRE(config_setting_lookup_string(r->group, key, value), MD_EINVAL,
             "%s:%d: expected %s = \"...\";", r->path, line_of(r, key), key);
  return MD_OK;
}

/* Every member of the group is one of these words. */
static md_status check_keys(const reader *r, const char *const *words, int n)
{
  for (int k = 0; k < config_setting_length(r->group); k++) {
    const config_setting_t *s = config_setting_get_elem(r->group, (unsigned)k);
    const char *name = config_setting_name(s);
    if (md_word_index(name, words, n) >= 0) continue;
    const char *near = md_nearest(name, words, n);
    return MD_FAIL(MD_EINVAL, "%s:%d: unknown key '%s'%s%s%s", r->path,
                   (int)config_setting_source_line(s), name, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
  }
  return MD_OK;
}

static md_status read_policy(const reader *r, machine_policy *policy)
{
  const char *word;
  int k;
  MD_TRY(read_string(r, "policy", &word));
  if (md_parse_word(word, machine_policy_words, MACHINE_POLICY_COUNT, &k))
    return MD_FAIL(MD_EINVAL, "%s:%d: policy: %s", r->path, line_of(r, "policy"), md_message());
  *policy = (machine_policy)k;
  return MD_OK;
}

static md_status read_level(const reader *r, machine_level *level)
{
  static const char *const words[] = {"bytes", "ways",   "line", "sector",
                                      "parts", "policy", "fetch"};
  MD_REQUIRE(config_setting_is_group(r->group), MD_EINVAL,
             "%s:%d: expected levels = ( { bytes = ...; ways = ...; line = ...; }, ... );", r->path,
             (int)config_setting_source_line(r->group));
  MD_TRY(check_keys(r, words, 7));
  *level = (machine_level){.parts = 1};
  MD_TRY(read_integer(r, "bytes", (int64_t)1 << 40, &level->bytes));
  MD_TRY(read_int32(r, "ways", 1 << 20, &level->ways));
  MD_TRY(read_int32(r, "line", 1 << 16, &level->line));
  level->sector = level->line;
  MD_TRY(read_int32(r, "sector", 1 << 16, &level->sector));
  if (config_setting_get_member(r->group, "policy")) MD_TRY(read_policy(r, &level->policy));
  if (config_setting_get_member(r->group, "fetch"))
    MD_TRY(read_int32(r, "fetch", 1 << 16, &level->fetch));
  return read_int32(r, "parts", 2, &level->parts);
}

static md_status read_levels(const reader *r, machine *out)
{
  const config_setting_t *list = config_setting_get_member(r->group, "levels");
  MD_REQUIRE(list && config_setting_is_list(list), MD_EINVAL, "%s:%d: expected levels = ( ... );",
             r->path, line_of(r, "levels"));
  out->n_levels = config_setting_length(list);
  MD_REQUIRE(out->n_levels >= 1 && out->n_levels <= MACHINE_LEVELS_MOST, MD_EINVAL,
             "%s:%d: %d levels of caches: expected 1..%d", r->path, line_of(r, "levels"),
             out->n_levels, MACHINE_LEVELS_MOST);
  MD_REQUIRE(out->kind == MACHINE_CPU || out->n_levels == 2, MD_EINVAL,
             "%s:%d: a GPU has two levels of caches, not %d", r->path, line_of(r, "levels"),
             out->n_levels);
  for (int k = 0; k < out->n_levels; k++) {
    const reader level = {r->path, config_setting_get_elem(list, (unsigned)k)};
    MD_TRY(read_level(&level, &out->level[k]));
    const md_status status = machine_check_level(out, k);
    if (status)
      return MD_FAIL(status, "%s:%d: %s", r->path, (int)config_setting_source_line(level.group),
                     md_message());
  }
  return MD_OK;
}

static md_status read_machine(const reader *r, machine *out)
{
  static const char *const words[] = {"name",  "kind",   "levels",   "multiprocessors",
                                      "warps", "blocks", "registers"};
  const char *name, *kind;
  int k;
  *out = (machine){.warps = 64, .blocks = 32, .registers = 65536};
  MD_TRY(read_string(r, "name", &name));
  MD_TRY(read_string(r, "kind", &kind));
  if (md_parse_word(kind, machine_kind_words, MACHINE_KIND_COUNT, &k))
    return MD_FAIL(MD_EINVAL, "%s:%d: kind: %s", r->path, line_of(r, "kind"), md_message());
  out->kind = (machine_kind)k;
  MD_REQUIRE(*name && strlen(name) < sizeof out->name && !strpbrk(name, ",\"\n"), MD_EINVAL,
             "%s:%d: name: expected at most %zu characters without commas and quotes", r->path,
             line_of(r, "name"), sizeof out->name - 1);
  strcpy(out->name, name);
  MD_TRY(check_keys(r, words, out->kind == MACHINE_GPU ? 7 : 3));
  if (out->kind == MACHINE_GPU) {
    MD_TRY(read_int32(r, "multiprocessors", 4096, &out->multiprocessors));
    MD_TRY(read_int32(r, "warps", 1024, &out->warps));
    MD_TRY(read_int32(r, "blocks", 1024, &out->blocks));
    MD_TRY(read_int32(r, "registers", 1 << 24, &out->registers));
  }
  return read_levels(r, out);
}

static md_status parse(const char *path, const char *text, machine *out)
{
  MD_TRY(scan(path, text));
  config_t tree;
  config_init(&tree);
  md_status status;
  if (!config_read_string(&tree, text)) {
    status =
        MD_FAIL(MD_EINVAL, "%s:%d: %s", path, config_error_line(&tree), config_error_text(&tree));
  } else {
    const reader r = {path, config_root_setting(&tree)};
    status = read_machine(&r, out);
  }
  config_destroy(&tree);
  return status;
}

md_status machine_read(const char *path, machine *out)
{
  char *text = NULL;
  md_status status = read_text(path, &text);
  if (!status) status = parse(path, text, out);
  free(text);
  return status;
}
