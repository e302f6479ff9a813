/* minimd/config/config_records.c - lists of groups as one text, as libconfig writes them:
 *
 *     ( { name = "Na"; mass = 22.99; }, { types = [ "Na", "Cl" ]; epsilon = 1; } )
 *
 * A list of groups is a setting like any other: it has one origin, is printed and compared, and
 * comes from an input, from --set or from a checkpoint. */
#include "minimd/config/config_impl.h"

#include <ctype.h>
#include <string.h>

static void skip_blanks(const char **at)
{
  *at += strspn(*at, " \t");
}

/* True when this character comes next, which is then passed. */
static bool pass(const char **at, char c)
{
  skip_blanks(at);
  if (**at != c) return false;
  ++*at;
  return true;
}

static md_status expect(const char **at, char c)
{
  if (pass(at, c)) return MD_OK;
  return MD_FAIL(MD_EINVAL, "expected '%c' before '%.20s'", c, *at);
}

/* So many characters as a word, which must fit. */
static md_status take(const char **at, size_t length, char word[ENGINE_NAME])
{
  MD_REQUIRE(length > 0 && length < ENGINE_NAME, MD_EINVAL,
             "expected a word of 1..%d characters before '%.20s'", ENGINE_NAME - 1, *at);
  memcpy(word, *at, length);
  word[length] = '\0';
  *at += length;
  return MD_OK;
}

static md_status take_string(const char **at, char word[ENGINE_NAME])
{
  MD_TRY(expect(at, '"'));
  MD_TRY(take(at, strcspn(*at, "\"\\"), word));
  return expect(at, '"');
}

/* What stands behind the equals sign. */
static md_status take_value(const char **at, config_item *item)
{
  item->n_words = 0;
  skip_blanks(at);
  item->quoted = **at == '"' || **at == '[';
  if (!item->quoted) {
    item->n_words = 1;
    return take(at, strcspn(*at, " \t;,{}()[]\"="), item->word[0]);
  }
  const bool list = pass(at, '[');
  do {
    MD_REQUIRE(item->n_words < CONFIG_ITEM_WORDS, MD_EINVAL, "%s: expected at most %d strings",
               item->key, CONFIG_ITEM_WORDS);
    MD_TRY(take_string(at, item->word[item->n_words++]));
  } while (list && pass(at, ','));
  return list ? expect(at, ']') : MD_OK;
}

static md_status read_group(const char **at, int group, config_item_fn *give, void *to)
{
  MD_TRY(expect(at, '{'));
  while (!pass(at, '}')) {
    config_item item;
    size_t length = 0;
    skip_blanks(at);
    while (isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_')
      length++;
    MD_TRY(take(at, length, item.key));
    MD_TRY(expect(at, '='));
    MD_TRY(take_value(at, &item));
    MD_TRY(give(to, group, &item));
    if (pass(at, ';')) continue;
    MD_TRY(expect(at, '}'));
    break;
  }
  return MD_OK;
}

md_status config_records(const char *text, config_item_fn *give, void *to, int *count)
{
  const char *at = text;
  *count = 0;
  MD_TRY(expect(&at, '('));
  if (!pass(&at, ')')) {
    do {
      MD_TRY(read_group(&at, *count, give, to));
      ++*count;
    } while (pass(&at, ','));
    MD_TRY(expect(&at, ')'));
  }
  skip_blanks(&at);
  MD_REQUIRE(*at == '\0', MD_EINVAL, "expected the end of the list before '%.20s'", at);
  return MD_OK;
}
