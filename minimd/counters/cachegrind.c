/* minimd/counters/cachegrind.c - see cachegrind.h. */
#include "minimd/counters/cachegrind.h"
#include "core/parse/parse.h"
#include "minimd/counters/valgrind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD(name, word) word,
static const char *const event_words[CACHEGRIND_EVENT_COUNT] = {CACHEGRIND_EVENTS(WORD)};
#undef WORD

enum { COLUMNS_MOST = 32 };

/* Which column each event is in, from the line `events: Ir I1mr ...`. */
static md_status read_events(md_lines *in, int column[CACHEGRIND_EVENT_COUNT])
{
  char *rest = in->line + strlen("events:"), *word;
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    column[e] = -1;
  for (int c = 0; (word = strsep(&rest, " "));)
    if (*word) {
      const int e = md_word_index(word, event_words, CACHEGRIND_EVENT_COUNT);
      if (e >= 0) column[e] = c;
      c++;
    }
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    if (column[e] < 0)
      return md_lines_blame(in, MD_FAIL(MD_EINVAL, "cachegrind did not count %s", event_words[e]));
  return MD_OK;
}

/* `line count count ...`; counts that are left out at the end are 0. */
static md_status add_counts(md_lines *in, const int column[CACHEGRIND_EVENT_COUNT],
                            int64_t counts[CACHEGRIND_EVENT_COUNT])
{
  int64_t value[COLUMNS_MOST + 1] = {0};
  char *rest = in->line, *word;
  int n = 0;
  while ((word = strsep(&rest, " ")) && n <= COLUMNS_MOST)
    if (*word && md_parse_int64(word, 0, INT64_MAX, &value[n++]))
      return md_lines_blame(in, MD_EINVAL);
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    if (column[e] < COLUMNS_MOST) counts[e] += value[column[e] + 1];
  return MD_OK;
}

static md_status read_lines(md_lines *in, const char *function,
                            int64_t counts[CACHEGRIND_EVENT_COUNT])
{
  int column[CACHEGRIND_EVENT_COUNT];
  bool got = true, events = false, wanted = false;
  MD_TRY(md_lines_next(in, &got));
  while (got) {
    const char *line = in->line;
    if (strncmp(line, "events:", 7) == 0) {
      MD_TRY(read_events(in, column));
      events = true;
    } else if (strncmp(line, "fn=", 3) == 0) {
      wanted = strncmp(line + 3, function, strlen(function)) == 0;
    } else if (wanted && events && *line >= '0' && *line <= '9') {
      MD_TRY(add_counts(in, column, counts));
    }
    MD_TRY(md_lines_next(in, &got));
  }
  MD_REQUIRE(events, MD_EINVAL, "'%s' is not what cachegrind writes: it has no line `events:`",
             in->path);
  return MD_OK;
}

md_status cachegrind_read(const char *path, const char *function,
                          int64_t counts[CACHEGRIND_EVENT_COUNT])
{
  md_lines in;
  memset(counts, 0, CACHEGRIND_EVENT_COUNT * sizeof *counts);
  MD_TRY(md_lines_open(&in, path));
  const md_status status = read_lines(&in, function, counts);
  md_lines_close(&in);
  return status;
}

void cachegrind_machine(const machine *m, machine *out)
{
  *out = *m;
  out->n_levels = m->n_levels > 1 ? 2 : 1;
  out->level[out->n_levels - 1] = m->level[m->n_levels - 1];
  for (int k = 0; k < out->n_levels; k++) {
    machine_level *l = &out->level[k];
    int64_t sets = 1;
    while (2 * sets * l->ways * l->line <= l->bytes)
      sets *= 2;
    l->bytes = sets * l->ways * l->line;
  }
}

md_status cachegrind_run(const machine *caches, char *const *program, const char *function,
                         int64_t counts[CACHEGRIND_EVENT_COUNT], char **missing)
{
  const machine_level *d1 = &caches->level[0], *last = &caches->level[caches->n_levels - 1];
  char path[] = "/tmp/minimd-cachegrind-XXXXXX", out[64], d1_text[64], last_text[64];
  const int fd = mkstemp(path);
  MD_REQUIRE(fd >= 0, MD_EIO, "cannot make a temporary file: %s", strerror(errno));
  close(fd);
  snprintf(out, sizeof out, "--cachegrind-out-file=%s", path);
  snprintf(d1_text, sizeof d1_text, "--D1=%lld,%d,%d", (long long)d1->bytes, (int)d1->ways,
           (int)d1->line);
  snprintf(last_text, sizeof last_text, "--LL=%lld,%d,%d", (long long)last->bytes, (int)last->ways,
           (int)last->line);
  const char *const options[] = {"--log-file=/dev/null",
                                 "--tool=cachegrind",
                                 "--cache-sim=yes",
                                 out,
                                 d1_text,
                                 last_text,
                                 NULL};
  md_status status = valgrind_run(options, program, NULL, NULL, missing);
  if (!status && !*missing) status = cachegrind_read(path, function, counts);
  unlink(path);
  return status;
}
