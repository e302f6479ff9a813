/* minimd/config/read_text.c - input files as text: loading with every check that all languages
 * share, and telling the languages apart. */
#include "minimd/config/config_impl.h"
#include "comm/world.h"
#include "core/output/files.h"
#include "core/parse/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 65536 };

static md_status load(const char *path, FILE *file, config_text *out)
{
  struct stat info;
  errno = fstat(fileno(file), &info) ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
  MD_REQUIRE(errno == 0, MD_EIO, "cannot read '%s': %s", path, strerror(errno));
  out->data = malloc(MAX_BYTES + 2);
  MD_REQUIRE(out->data, MD_ENOMEM, "out of memory for '%s'", path);
  out->size = fread(out->data, 1, MAX_BYTES + 1, file);
  MD_REQUIRE(!ferror(file), MD_EIO, "cannot read '%s': %s", path, strerror(errno));
  MD_REQUIRE(out->size <= MAX_BYTES || !memchr(out->data, 0, out->size), MD_EINVAL,
             "%s: binary data: expected a text file", path);
  MD_REQUIRE(out->size <= MAX_BYTES, MD_ECAPACITY,
             "%s: an input file may have %d bytes; atoms belong in the file of system.read", path,
             MAX_BYTES);
  return MD_OK;
}

/* Drop a byte order mark and the '\r' of "\r\n"; refuse what is no text. */
static md_status clean(config_text *text)
{
  const char *from = text->data, *end = from + text->size;
  char *to = text->data;
  int line = 1;
  const bool utf16 =
      text->size >= 2 && (memcmp(from, "\xff\xfe", 2) == 0 || memcmp(from, "\xfe\xff", 2) == 0);
  MD_REQUIRE(!utf16, MD_EINVAL, "%s: UTF-16 text: save it as UTF-8", text->path);
  if (text->size >= 3 && memcmp(from, "\xef\xbb\xbf", 3) == 0) from += 3;
  bool blank = true;
  for (; from < end; from++) {
    const unsigned char c = (unsigned char)*from;
    if (c == '\r' && from + 1 < end && from[1] == '\n') continue;
    MD_REQUIRE((c >= ' ' && c != 127) || c == '\t' || c == '\n' || c == '\f', MD_EINVAL,
               "%s:%d: byte 0x%02x: expected a text file", text->path, line, c);
    line += c == '\n';
    blank = blank && isspace(c);
    *to++ = *from;
  }
  *to = '\0';
  text->size = (size_t)(to - text->data);
  MD_REQUIRE(!blank, MD_EINVAL, "%s: the file is empty", text->path);
  return MD_OK;
}

static md_status load_clean(const char *path, config_text *out)
{
  FILE *file;
  MD_TRY(md_file_read(path, &file));
  md_status status = load(path, file, out);
  fclose(file);
  return status ? status : clean(out);
}

/* Rank 0's text to all ranks: files need not be on all hosts. */
static md_status share(config_text *text)
{
  if (world_count() == 1) return MD_OK;
  if (!text->data) text->data = malloc(MAX_BYTES + 2);
  MD_TRY(
      world_agree(text->data ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for '%s'", text->path)));
  world_broadcast(&text->size, sizeof text->size);
  world_broadcast(text->data, text->size + 1);
  return MD_OK;
}

md_status config_text_load(const char *path, config_text *out)
{
  *out = (config_text){.path = path};
  md_status status = world_agree(world_rank() == 0 ? load_clean(path, out) : MD_OK);
  if (!status) status = share(out);
  if (status) config_text_free(out);
  return status;
}

void config_text_free(config_text *text)
{
  free(text->data);
  *text = (config_text){0};
}

char *config_text_line(char **cursor)
{
  char *line = *cursor;
  if (!*line) return NULL;
  char *end = line + strcspn(line, "\n");
  *cursor = *end ? end + 1 : end;
  *end = '\0';
  return line;
}

int config_text_words(char *line, char **words, int room)
{
  static const char blanks[] = " \t\f";
  int n = 0;
  for (char *word = line + strspn(line, blanks); *word; n++) {
    if (n < room) words[n] = word;
    word += strcspn(word, blanks);
    if (*word) *word++ = '\0';
    word += strspn(word, blanks);
  }
  return n;
}

static const char *skip_blanks(const char *c)
{
  return c + strspn(c, " \t\f");
}

static size_t word_length(const char *c)
{
  return strcspn(c, " \t\f\n");
}

static bool is_word(const char *c, const char *word)
{
  return word_length(c) == strlen(word) && strncmp(c, word, strlen(word)) == 0;
}

/* miniMD: the third line begins with lj or metal and the fifth with lj or eam; one is enough, so
 * that a mistake in the other is reported as such. */
static bool is_minimd(const char *text)
{
  const char *line = text;
  for (int number = 1; number <= 5 && *line; number++) {
    const char *word = skip_blanks(line);
    const char *rest = skip_blanks(word + word_length(word));
    const bool assigned = *rest && strchr("=:{", *rest);
    if (number == 3 && !assigned && (is_word(word, "lj") || is_word(word, "metal"))) return true;
    if (number == 5 && !assigned && (is_word(word, "lj") || is_word(word, "eam"))) return true;
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return false;
}

/* The first character that is neither blank nor in a comment; LAMMPS has only '#'. */
static const char *first_word(const char *c)
{
  for (;;) {
    c += strspn(c, " \t\f\n");
    if (*c == '#' || strncmp(c, "//", 2) == 0) {
      c += strcspn(c, "\n");
    } else if (strncmp(c, "/*", 2) == 0) {
      const char *end = strstr(c + 2, "*/");
      if (!end) return c + strlen(c);
      c = end + 2;
    } else {
      return c;
    }
  }
}

/* libconfig: a name and then '=' or ':'; LAMMPS: a command and its arguments. */
static config_format by_first_word(const char *text)
{
  const char *word = first_word(text);
  const size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_-*");
  const char *next = first_word(word + length);
  if (*word == '@') return CONFIG_FORMAT_LIBCONFIG;
  if (length == 0 || isdigit((unsigned char)*word)) return CONFIG_FORMAT_AUTO;
  if (*next == '=' || *next == ':') return CONFIG_FORMAT_LIBCONFIG;
  return read_lammps_knows(word, length) ? CONFIG_FORMAT_LAMMPS : CONFIG_FORMAT_AUTO;
}

/* Atoms given in place of an input are a likely mistake. */
static bool holds_atoms(const char *text)
{
  return strstr(text, "xlo xhi") || strstr(text, "Lattice=") || strstr(text, "Properties=");
}

md_status config_text_detect(const config_text *text, config_format *out)
{
  *out = is_minimd(text->data) ? CONFIG_FORMAT_MINIMD : by_first_word(text->data);
  if (*out != CONFIG_FORMAT_AUTO) return MD_OK;
  MD_REQUIRE(!holds_atoms(text->data), MD_EINVAL,
             "%s: holds atoms: name it in system.read = \"FILE\" of an input", text->path);
  return MD_FAIL(MD_EINVAL,
                 "%s: expected libconfig (name = value;), miniMD's fixed format (line 3 lj or "
                 "metal) or LAMMPS commands; --format-in names the language",
                 text->path);
}
