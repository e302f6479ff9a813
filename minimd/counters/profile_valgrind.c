/* minimd/counters/profile_valgrind.c - this program under valgrind's tools, for `minimd profile`
 * (profile_cpu_impl.h). */
#include "minimd/counters/addresses.h"
#include "minimd/counters/profile_cpu_impl.h"
#include "minimd/shell/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char **word; /* NULL behind the last */
  int n;
} command;

static void free_command(command *c)
{
  for (int k = 0; k < c->n; k++)
    free(c->word[k]);
  free(c->word);
}

static md_status add(command *c, const char *name, const char *value)
{
  char *word = NULL;
  const int length = value ? asprintf(&word, "%s=%s", name, value) : asprintf(&word, "%s", name);
  MD_REQUIRE(length >= 0, MD_ENOMEM, "out of memory for a command");
  c->word[c->n++] = word;
  return MD_OK;
}

/* This program, to launch the kernel of one case so often. */
static md_status fill_command(const profile_cpu_job *job, const profile_cpu_case *of,
                              int64_t launches, command *c)
{
  static const char *const fixed[] = {"--backend=cpu", "--threads=1", "--times", "--addresses",
                                      "--quiet"};
  const options *opts = job->opts;
  char self[4096], text[64];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  MD_REQUIRE(length > 0, MD_EIO, "cannot find this program's file: %s", strerror(errno));
  self[length] = '\0';
  MD_TRY(add(c, self, NULL));
  MD_TRY(add(c, "profile", NULL));
  for (int k = 0; k < opts->n_found; k++) {
    const int index = opts->found[k].index;
    const option *o = &opts->table[index];
    if (index >= SETTINGS_COUNT || (index < 32 && job->listed >> index & 1)) continue;
    snprintf(text, sizeof text, "--%s", o->name);
    MD_TRY(add(c, text, o->value ? opts->found[k].value : NULL));
  }
  MD_TRY(add(c, "--order", of->order));
  if (of->list) MD_TRY(add(c, "--list", of->list));
  snprintf(text, sizeof text, "%lld", (long long)launches);
  MD_TRY(add(c, "--launches", text));
  for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
    MD_TRY(add(c, fixed[k], NULL));
  return MD_OK;
}

/* *out is empty on failure. */
static md_status make_command(const profile_cpu_job *job, const profile_cpu_case *of,
                              int64_t launches, command *out)
{
  *out = (command){.word = calloc((size_t)job->opts->n_found + 16, sizeof *out->word)};
  MD_REQUIRE(out->word, MD_ENOMEM, "out of memory for a command");
  const md_status status = fill_command(job, of, launches, out);
  if (!status) return MD_OK;
  free_command(out);
  *out = (command){.n = 0};
  return status;
}

static md_status grind_once(const profile_cpu_job *job, const profile_cpu_case *of,
                            int64_t launches, int64_t *counts, char **missing)
{
  char function[64];
  command c;
  snprintf(function, sizeof function, "rows_run_%s", neighbor_list_words[of->kind]);
  MD_TRY(make_command(job, of, launches, &c));
  const md_status status = cachegrind_run(&job->m, c.word, function, counts, missing);
  free_command(&c);
  return status;
}

/* The run on the way computes forces, too: what counts is what more launches add. */
md_status profile_cpu_grind(const profile_cpu_job *job, const profile_cpu_case *of,
                            profile_cpu_figures measured, char **missing)
{
  int64_t one[CACHEGRIND_EVENT_COUNT], more[CACHEGRIND_EVENT_COUNT];
  MD_TRY(grind_once(job, of, 1, one, missing));
  if (*missing) return MD_OK;
  MD_TRY(grind_once(job, of, 1 + job->launches, more, missing));
  if (*missing) return MD_OK;
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    more[e] -= one[e];
  profile_cpu_of_cachegrind(more, (double)job->launches, (double)of->atoms, measured);
  return MD_OK;
}

md_status profile_cpu_trace(const profile_cpu_job *job, const profile_cpu_case *of,
                            const engine *sim, profile_cpu_figures measured,
                            profile_cpu_figures modelled, char **missing)
{
  const double atoms = (double)of->atoms;
  addresses_counts counts;
  command c;
  MD_TRY(make_command(job, of, 2, &c));
  const md_status status = addresses_run(&job->m, c.word, sim, &counts, missing);
  free_command(&c);
  if (status || *missing) return status;
  measured[PROFILE_CPU_ARRAY_ACCESSES] = (double)counts.touched / atoms;
  measured[PROFILE_CPU_ARRAY_DIFFERENCES] = (double)counts.differ / atoms;
  measured[PROFILE_CPU_OTHER_ACCESSES] = (double)counts.other / atoms;
  measured[PROFILE_CPU_L1_ARRAY_MISSES] = (double)counts.in_arrays[0] / atoms;
  measured[PROFILE_CPU_LLC_ARRAY_MISSES] = (double)counts.in_arrays[1] / atoms;
  measured[PROFILE_CPU_L1_TRACED_MISSES] = (double)counts.all[0] / atoms;
  measured[PROFILE_CPU_LLC_TRACED_MISSES] = (double)counts.all[1] / atoms;
  modelled[PROFILE_CPU_ARRAY_ACCESSES] = (double)counts.modelled / atoms;
  modelled[PROFILE_CPU_ARRAY_DIFFERENCES] = 0;
  modelled[PROFILE_CPU_L1_ARRAY_MISSES] = modelled[PROFILE_CPU_L1_MISSES];
  modelled[PROFILE_CPU_LLC_ARRAY_MISSES] = modelled[PROFILE_CPU_LLC_MISSES];
  return MD_OK;
}
