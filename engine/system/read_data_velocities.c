/* engine/system/read_data_velocities.c - velocities of a data file, by id in any order.
 *
 * Every rank reads the id on each line and looks for it among its own atoms.  Whether any rank has
 * the atom, all learn for BATCH lines at once. */
#include "comm/world.h"
#include "engine/system/read_data_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 65536 };

/* Lines of Velocities, and whether this rank, then any of them, has the atom of each. */
typedef struct {
  int64_t n, line[BATCH], id[BATCH], found[BATCH];
} velocity_lines;

/* Line k of the section. */
static md_status read_velocity(data_file *df, int64_t k, velocity_lines *lines)
{
  static const char *const axes[3] = {"vx", "vy", "vz"};
  const system_state *out = df->out;
  int64_t id = 0;
  MD_TRY(read_data_entry(df, "Velocities", k, df->n));
  if (df->n_words != 4) return md_text_fail(df->in, "expected 'id vx vy vz'");
  MD_TRY(md_text_int64(df->in, "id", df->words[0], 1, INT64_MAX, &id));
  const int64_t here = read_place(out, k); /* where both sections are in one order */
  const bool alike = here >= 0 && out->id[here] == id;
  const int64_t i = alike ? here : system_find_id(out, df->by_id, id), at = lines->n++;
  lines->line[at] = df->in->line;
  lines->id[at] = id;
  lines->found[at] = i >= 0;
  if (i < 0) return MD_OK;
  double *v = &out->v[3 * i];
  if (!isnan(v[0])) return md_text_fail(df->in, "two velocities of id %lld", (long long)id);
  for (int d = 0; d < 3; d++)
    MD_TRY(md_text_double(df->in, axes[d], df->words[1 + d], &v[d]));
  return MD_OK;
}

/* On all ranks: lines k .. k + n - 1, or the failure on the first line that is wrong. */
static md_status read_batch(data_file *df, int64_t k, int64_t n, velocity_lines *lines)
{
  md_status status = MD_OK;
  lines->n = 0;
  memset(lines->found, 0, (size_t)n * sizeof *lines->found);
  for (int64_t end = k + n; k < end && !status; k++)
    status = read_velocity(df, k, lines);
  world_sum(lines->found, n);
  for (int64_t at = 0; at < lines->n; at++)
    if (!lines->found[at]) {
      df->in->line = lines->line[at];
      status = md_text_fail(df->in, "no atom has id %lld", (long long)lines->id[at]);
      break;
    }
  return read_agree(df->in, status);
}

md_status read_data_velocities(data_file *df)
{
  if (!df->atoms) return md_text_fail(df->in, "expected Atoms before Velocities");
  velocity_lines *lines = malloc(sizeof *lines);
  md_status status = system_reserve_velocities(df->out);
  if (!status && !lines) status = MD_FAIL(MD_ENOMEM, "out of memory for lines of velocities");
  status = world_agree(status);
  for (int64_t k = 0; k < 3 * df->out->n && !status; k++)
    df->out->v[k] = NAN; /* not given yet */
  for (int64_t k = 0; k < df->n && !status; k += BATCH)
    status = read_batch(df, k, df->n - k < BATCH ? df->n - k : BATCH, lines);
  free(lines);
  return status;
}
