/* cachemodel/stack/levels.c - levels of cache from text. */
#include "cachemodel/cachemodel.h"
#include "core/parse/parse.h"

#include <stdlib.h>
#include <string.h>

/* `LINES[/WAYS][/POLICY]`; text is cut at its slashes. */
static md_status parse_level(char *text, cachemodel_level *out)
{
  char *rest = text;
  MD_TRY(md_parse_int64(strsep(&rest, "/"), 1, INT64_MAX, &out->capacity));
  const char *word = strsep(&rest, "/");
  if (word && *word >= '0' && *word <= '9') {
    MD_TRY(md_parse_int64(word, 1, INT64_MAX, &out->ways));
    word = strsep(&rest, "/");
  }
  int policy = (int)out->policy;
  if (word) MD_TRY(md_parse_word(word, cachemodel_policy_words, CACHEMODEL_POLICY_COUNT, &policy));
  out->policy = (cachemodel_policy)policy;
  MD_REQUIRE(!rest, MD_EINVAL, "expected LINES[/WAYS][/POLICY], with '/%.60s' too much", rest);
  MD_REQUIRE(out->ways == 0 || out->capacity % out->ways == 0, MD_EINVAL,
             "%lld ways do not divide a capacity of %lld lines", (long long)out->ways,
             (long long)out->capacity);
  return MD_OK;
}

md_status cachemodel_levels_parse(const char *text, const cachemodel_level *usual,
                                  cachemodel_level **levels, int *n,
                                  cachemodel_inclusion *inclusion)
{
  int kind = CACHEMODEL_INCLUSIVE;
  const char *colon = strchr(text, ':');
  if (colon) {
    char *word = strndup(text, (size_t)(colon - text));
    MD_REQUIRE(word, MD_ENOMEM, "out of memory for levels of cache");
    const md_status status =
        md_parse_word(word, cachemodel_inclusion_words, CACHEMODEL_INCLUSION_COUNT, &kind);
    free(word);
    MD_TRY(status);
  }
  char **items;
  int count;
  MD_TRY(md_parse_list(colon ? colon + 1 : text, "levels of cache", &items, &count));
  cachemodel_level *list = malloc((size_t)count * sizeof *list);
  md_status status = list ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for levels of cache");
  for (int l = 0; !status && l < count; l++) {
    list[l] = *usual;
    status = parse_level(items[l], &list[l]);
    if (status) status = MD_FAIL(status, "level %d: %s", l + 1, md_message());
  }
  free(items);
  if (status) {
    free(list);
    return status;
  }
  *levels = list;
  *n = count;
  *inclusion = (cachemodel_inclusion)kind;
  return MD_OK;
}
