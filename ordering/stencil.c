/* ordering/stencil.c - see stencil.h. */
#include "ordering/stencil.h"
#include "core/parse/parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const ordering_stencil_words[ORDERING_STENCIL_COUNT] = {ORDERING_STENCILS(WORD)};
#undef WORD

md_status ordering_stencil_parse(const char *text, ordering_stencil *out)
{
  const char *colon = strchr(text, ':');
  MD_REQUIRE(colon, MD_EINVAL, "stencil '%.60s': expected block:G or sphere:G", text);
  char *word = strndup(text, (size_t)(colon - text));
  MD_REQUIRE(word, MD_ENOMEM, "out of memory for the name of a stencil");
  int kind = 0;
  int64_t g = 0;
  md_status status = md_parse_word(word, ordering_stencil_words, ORDERING_STENCIL_COUNT, &kind);
  free(word);
  if (!status) status = md_parse_int64(colon + 1, 1, ORDERING_STENCIL_MAX, &g);
  if (status) return MD_FAIL(status, "stencil '%.60s': %s", text, md_message());
  *out = (ordering_stencil){(ordering_stencil_kind)kind, (int32_t)g};
  return MD_OK;
}

void ordering_stencil_format(const ordering_stencil *stencil, char *text)
{
  snprintf(text, 32, "%s:%d", ordering_stencil_words[stencil->kind], stencil->g);
}

static int64_t gap_sq(int64_t d)
{
  const int64_t gap = llabs(d) - 1;
  return gap > 0 ? gap * gap : 0;
}

/* Largest |dk| in the stencil at (di, dj); -1 if there is none. */
static int64_t reach(const ordering_stencil *s, int64_t di, int64_t dj)
{
  if (s->kind == ORDERING_STENCIL_BLOCK) return s->g;
  const int64_t left = (int64_t)s->g * s->g - gap_sq(di) - gap_sq(dj);
  return left > 0 ? (int64_t)ceil(sqrt((double)left)) : -1;
}

int64_t ordering_stencil_bins(const ordering_stencil *s)
{
  const int64_t side = 2 * (int64_t)s->g + 1;
  if (s->kind == ORDERING_STENCIL_BLOCK) return side * side * side;
  int64_t bins = 0;
  for (int64_t di = 0; di <= s->g; di++)
    for (int64_t dj = 0; dj <= s->g; dj++)
      bins += (di ? 2 : 1) * (dj ? 2 : 1) * (2 * reach(s, di, dj) + 1) * (reach(s, di, dj) >= 0);
  return bins;
}

double ordering_stencil_deviation(const ordering_stencil *s)
{
  const double ball = 4.0 / 3.0 * 3.14159265358979323846 * s->g * s->g * s->g;
  return 100 * (1 - ball / (double)ordering_stencil_bins(s));
}

md_status ordering_stencil_offsets(const ordering_stencil *s, bool half, int32_t (**offsets)[3],
                                   int64_t *n)
{
  const int64_t bins = ordering_stencil_bins(s), room = half ? (bins + 1) / 2 : bins;
  int32_t(*list)[3] = malloc((size_t)room * sizeof *list);
  MD_REQUIRE(list, MD_ENOMEM, "out of memory: a stencil of %lld cells takes %.1f MB",
             (long long)room, (double)room * sizeof *list / 1e6);
  int64_t count = 0;
  for (int32_t di = -s->g; di <= s->g; di++)
    for (int32_t dj = -s->g; dj <= s->g; dj++) {
      const int32_t k = (int32_t)reach(s, di, dj);
      const int32_t first = !half ? -k : dj > 0 || (dj == 0 && di >= 0) ? 0 : 1;
      for (int32_t dk = first; dk <= k; dk++) {
        list[count][0] = di, list[count][1] = dj, list[count][2] = dk;
        count++;
      }
    }
  *offsets = list;
  *n = count;
  return MD_OK;
}
