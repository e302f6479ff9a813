/* minimd/config/read_libconfig.c - inputs in libconfig's language.
 *
 * libconfig checks the grammar and builds the tree; its numbers are not used, since it wraps and
 * rounds them silently (3000000000, 1e400, 010).  The k-th number of the tree is the k-th number
 * token of the text, in document order, so each is parsed again from what the user wrote. */
#include "minimd/config/config_impl.h"
#include "core/parse/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#undef config_read
#undef config_write
#undef config_destroy
#include <libconfig.h>

typedef struct {
  const char *begin;
  size_t length;
} number;

typedef struct {
  config *cfg;
  const char *path;
  number *numbers; /* in document order */
  size_t n_numbers, room, next;
} reader;

static md_status keep_number(reader *rd, const char *begin, size_t length)
{
  if (rd->n_numbers == rd->room) {
    const size_t room = rd->room ? 2 * rd->room : 64;
    number *more = realloc(rd->numbers, room * sizeof *more);
    MD_REQUIRE(more, MD_ENOMEM, "out of memory for the numbers of '%s'", rd->path);
    rd->numbers = more;
    rd->room = room;
  }
  rd->numbers[rd->n_numbers++] = (number){begin, length};
  return MD_OK;
}

static bool is_comment(const char *c)
{
  return *c == '#' || (*c == '/' && (c[1] == '/' || c[1] == '*'));
}

static bool begins_number(char c)
{
  return isdigit((unsigned char)c) || (c && strchr("+-.", c));
}

/* The end of the comment, string, name, number or other character that begins at c. */
static const char *token_end(const char *c)
{
  const char *end;
  if (*c == '/' && c[1] == '*') return (end = strstr(c + 2, "*/")) ? end + 2 : c + strlen(c);
  if (is_comment(c)) return c + strcspn(c, "\n");
  if (*c == '"') {
    for (c++; *c && *c != '"'; c++)
      if (*c == '\\' && c[1]) c++;
    return *c ? c + 1 : c;
  }
  const char *more = begins_number(*c)                         ? "+-."
                     : isalpha((unsigned char)*c) || *c == '*' ? "*-_"
                                                               : NULL;
  if (!more) return c + 1;
  for (end = c; isalnum((unsigned char)*end) || (*end && strchr(more, *end));)
    end++;
  return end;
}

/* Find the numbers.  Refuse @include, which may end the process or read another file, and a string
 * in place of a name, which libconfig's parser would leak. */
static md_status scan(reader *rd, const char *text)
{
  int line = 1, depth = 0; /* of lists */
  char last = ';';         /* what came before, blanks and comments left out */
  for (const char *c = text, *end; *c; c = end) {
    end = token_end(c);
    MD_REQUIRE(*c != '@', MD_EINVAL,
               "%s:%d: @include is not supported: put all settings in one file", rd->path, line);
    MD_REQUIRE(*c != '"' || strchr("=:([\"", last) || (last == ',' && depth > 0), MD_EINVAL,
               "%s:%d: syntax error: expected name = before a string", rd->path, line);
    MD_REQUIRE(*c != '"' || !md_escapes_nul(c, end), MD_EINVAL,
               "%s:%d: a string holds \\x00: expected text", rd->path, line);
    if (begins_number(*c)) MD_TRY(keep_number(rd, c, (size_t)(end - c)));
    depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
    if (!isspace((unsigned char)*c) && !is_comment(c)) last = *c;
    for (const char *k = c; k < end; k++)
      line += *k == '\n';
  }
  return MD_OK;
}

static bool is_number(const config_setting_t *setting)
{
  return config_setting_is_number(setting) != 0;
}

/* The next number as text, without libconfig's suffix for 64 bits. */
static char *next_number(reader *rd)
{
  if (rd->next == rd->n_numbers) return NULL;
  const number *found = &rd->numbers[rd->next++];
  size_t length = found->length;
  for (int k = 0; k < 2 && length > 1 && found->begin[length - 1] == 'L'; k++)
    length--;
  return strndup(found->begin, length);
}

/* Text and form of a scalar or of a list of numbers; free(*text), also after a failure. */
static md_status value_text(reader *rd, const config_setting_t *setting, char **text,
                            config_kind *kind)
{
  *text = NULL;
  if (is_number(setting)) {
    *kind = CONFIG_NUMBER;
    *text = next_number(rd);
  } else if (setting->type == CONFIG_TYPE_STRING) {
    *kind = CONFIG_STRING;
    *text = strdup(config_setting_get_string(setting));
  } else if (setting->type == CONFIG_TYPE_BOOL) {
    *kind = CONFIG_BOOLEAN;
    *text = strdup(config_setting_get_bool(setting) ? "true" : "false");
  } else {
    size_t size = 0;
    FILE *list = open_memstream(text, &size);
    *kind = CONFIG_LIST;
    const int n = config_setting_length(setting);
    for (int k = 0; list && k < n; k++) {
      const config_setting_t *item = config_setting_get_elem(setting, (unsigned)k);
      char *word = is_number(item) ? next_number(rd) : NULL;
      if (!word) {
        fclose(list);
        MD_REQUIRE(is_number(item), MD_EINVAL, "expected numbers in the list");
        return MD_FAIL(MD_ENOMEM, "out of memory for a number");
      }
      fprintf(list, k ? ",%s" : "%s", word);
      free(word);
    }
    if (list) fclose(list);
  }
  MD_REQUIRE(*text, MD_ENOMEM, "out of memory for a value");
  return MD_OK;
}

static md_status put_word(const config_setting_t *setting, FILE *to)
{
  const char *word = config_setting_get_string(setting);
  MD_REQUIRE(word, MD_EINVAL, "expected strings in the list");
  MD_REQUIRE(!strpbrk(word, "\"\\"), MD_EINVAL, "'%.40s': expected no quotes and backslashes",
             word);
  fprintf(to, "\"%s\"", word);
  return MD_OK;
}

/* A value of a group of a list: a number, a string, or several strings. */
static md_status put_item(reader *rd, const config_setting_t *item, FILE *to)
{
  fprintf(to, " %s = ", config_setting_name(item));
  if (is_number(item)) {
    char *word = next_number(rd);
    MD_REQUIRE(word, MD_ENOMEM, "out of memory for a number");
    fprintf(to, "%s;", word);
    free(word);
    return MD_OK;
  }
  if (item->type == CONFIG_TYPE_STRING) {
    MD_TRY(put_word(item, to));
  } else {
    MD_REQUIRE(!config_setting_is_scalar(item) && !config_setting_is_group(item), MD_EINVAL,
               "%s: expected a number, a string or a list of strings", config_setting_name(item));
    const int n = config_setting_length(item);
    fputs("[ ", to);
    for (int k = 0; k < n; k++) {
      if (k) fputs(", ", to);
      MD_TRY(put_word(config_setting_get_elem(item, (unsigned)k), to));
    }
    fputs(" ]", to);
  }
  fputs(";", to);
  return MD_OK;
}

static md_status put_groups(reader *rd, const config_setting_t *list, FILE *to)
{
  const int n = config_setting_length(list);
  fputs("(", to);
  for (int k = 0; k < n; k++) {
    const config_setting_t *group = config_setting_get_elem(list, (unsigned)k);
    MD_REQUIRE(config_setting_is_group(group), MD_EINVAL, "expected groups in the list");
    fputs(k ? ", {" : " {", to);
    for (int m = 0; m < config_setting_length(group); m++)
      MD_TRY(put_item(rd, config_setting_get_elem(group, (unsigned)m), to));
    fputs(" }", to);
  }
  fputs(" )", to);
  return MD_OK;
}

/* A list of groups in the form of config_records. */
static md_status groups_text(reader *rd, const config_setting_t *list, char **text)
{
  size_t size = 0;
  *text = NULL;
  FILE *to = open_memstream(text, &size);
  MD_REQUIRE(to, MD_ENOMEM, "out of memory for a list");
  const md_status status = put_groups(rd, list, to);
  MD_REQUIRE(fclose(to) == 0, MD_ENOMEM, "out of memory for a list");
  return status;
}

/* group: NULL for a key without one. */
static md_status read_setting(reader *rd, const char *group, const config_setting_t *setting)
{
  const int line = (int)config_setting_source_line(setting);
  const char *name = config_setting_name(setting);
  const config_entry *entry;
  char *key, *text = NULL;
  config_kind kind = CONFIG_ANY;
  MD_REQUIRE(asprintf(&key, "%s%s%s", group ? group : "", group ? "." : "", name) >= 0, MD_ENOMEM,
             "out of memory for a key");
  md_status status = config_find(key, &entry);
  if (!status && config_setting_is_group(setting))
    status = MD_FAIL(MD_EINVAL, "%s: expected a value (%s), not a group", key, entry->type);
  if (!status && entry->rule->type == CONFIG_RECORDS) {
    kind = CONFIG_GROUPS;
    status = config_setting_is_list(setting)
                 ? groups_text(rd, setting, &text)
                 : MD_FAIL(MD_EINVAL, "%s: expected a list of groups, %s", key, entry->range);
  } else if (!status) {
    status = value_text(rd, setting, &text, &kind);
    if (status) MD_FAIL(status, "%s: %s", key, md_message());
  }
  if (status)
    MD_FAIL(status, "%s:%d: %s", rd->path, line, md_message());
  else
    status = config_put(rd->cfg, rd->path, line, key, kind, text);
  free(text);
  free(key);
  return status;
}

/* True when some key begins with "name.". */
static bool is_group(const char *name)
{
  const config_entry *entries;
  const int n = config_entries(&entries);
  const size_t length = strlen(name);
  for (int k = 0; k < n; k++)
    if (strncmp(entries[k].key, name, length) == 0 && entries[k].key[length] == '.') return true;
  return false;
}

/* A group that no key belongs to: what does config_find say to the name of its first key? */
static md_status unknown_group(const reader *rd, const config_setting_t *group)
{
  const char *name = config_setting_name(group);
  const config_setting_t *first = config_setting_is_group(group) && config_setting_length(group)
                                      ? config_setting_get_elem(group, 0)
                                      : NULL;
  const config_entry *entry;
  char *key;
  MD_REQUIRE(asprintf(&key, "%s%s%s", name, first ? "." : "",
                      first ? config_setting_name(first) : "") >= 0,
             MD_ENOMEM, "out of memory for a key");
  const md_status status = config_find(key, &entry);
  free(key);
  return MD_FAIL(status, "%s:%d: %s", rd->path, (int)config_setting_source_line(group),
                 md_message());
}

static md_status read_group(reader *rd, const config_setting_t *group)
{
  const char *name = config_setting_name(group);
  const config_entry *entry;
  if (!strchr(name, '.') && config_find(name, &entry) == MD_OK)
    return read_setting(rd, NULL, group);
  if (!is_group(name)) return unknown_group(rd, group);
  MD_REQUIRE(config_setting_is_group(group), MD_EINVAL, "%s:%d: %s: expected a group, %s: { ... };",
             rd->path, (int)config_setting_source_line(group), name, name);
  const int n = config_setting_length(group);
  for (int k = 0; k < n; k++)
    MD_TRY(read_setting(rd, name, config_setting_get_elem(group, (unsigned)k)));
  return MD_OK;
}

static md_status read_tree(reader *rd, const config_setting_t *root)
{
  const int n = config_setting_length(root);
  MD_REQUIRE(n > 0, MD_EINVAL, "%s: holds comments only", rd->path);
  for (int k = 0; k < n; k++)
    MD_TRY(read_group(rd, config_setting_get_elem(root, (unsigned)k)));
  return MD_OK;
}

/* libconfig's message, with the line that it is about. */
static md_status syntax_error(const config_t *tree, const config_text *text)
{
  const int line = config_error_line(tree);
  const char *begin = text->data;
  for (int k = 1; k < line && begin; k++)
    begin = strchr(begin, '\n') ? strchr(begin, '\n') + 1 : NULL;
  const int length = begin ? (int)strcspn(begin, "\n") : 0;
  return MD_FAIL(MD_EINVAL, "%s:%d: %s at or before '%.*s'; expected group: { name = value; };",
                 text->path, line, config_error_text(tree), length < 60 ? length : 60,
                 begin ? begin : "");
}

/* An input that says nothing about it gets lists that miss no pair. */
static md_status default_rebuild(config *cfg)
{
  static const char key[] = "neighbor.every";
  if (!config_is_default(cfg, key)) return MD_OK;
  return config_set(cfg, key, "check", "default:libconfig");
}

md_status read_libconfig(config *cfg, config_text *text)
{
  reader rd = {.cfg = cfg, .path = text->path};
  config_t tree;
  config_init(&tree);
  md_status status = scan(&rd, text->data);
  if (!status && !config_read_string(&tree, text->data)) status = syntax_error(&tree, text);
  if (!status) status = read_tree(&rd, config_root_setting(&tree));
  if (!status) status = default_rebuild(cfg);
  if (!status) status = config_describe(cfg, "%s (libconfig)", text->path);
  config_destroy(&tree);
  free(rd.numbers);
  return status;
}
