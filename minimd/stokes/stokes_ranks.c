/* minimd/stokes/stokes_ranks.c - see stokes_ranks.h. */
#include "minimd/stokes/stokes_ranks.h"
#include "comm/world.h"
#include "minimd/signals.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a machine measures differs from rank to rank. */
md_status stokes_ranks_check(const options *opts, const stokes_settings *settings)
{
  if (world_count() == 1) return MD_OK;
  MD_REQUIRE(!options_value(opts, STOKES_OPTION_MODEL), MD_EINVAL,
             "--model on %d ranks: expected one rank", world_count());
  MD_REQUIRE(!settings->automatic, MD_EINVAL,
             "--rhs auto on %d ranks: expected a number of right-hand sides, or one rank",
             world_count());
  return stokes_run_check_ranks(&settings->spec);
}

md_status stokes_ranks_same(const stokes_packing *packing, const stokes_run_state *from)
{
  const size_t n = (size_t)packing->n, bytes = n * 4 * sizeof(double);
  MD_TRY(world_same("the packing", packing->box, sizeof packing->box));
  if (!from) return world_same("the packing", packing->x, bytes);
  MD_TRY(world_same("the checkpoint", &from->step, sizeof from->step));
  MD_TRY(world_same("the checkpoint", from->spheres.x, bytes));
  return world_same("the checkpoint", from->built, bytes);
}

double stokes_ranks_bytes(const stokes_run_spec *spec, int64_t n, double occupancy)
{
  const double all = stokes_run_bytes(spec, n, occupancy), everywhere = 150.0 * (double)n;
  return world_count() > 1 ? all / world_count() + everywhere : all;
}

md_status stokes_ranks_agree(md_status status)
{
  return status == MD_ENOMEM ? status : world_agree(status);
}

bool stokes_ranks_signals(const char *checkpoint)
{
  double heard[2] = {signals_stopped_by(),
                     signals_save_asked(world_rank() == 0 ? checkpoint : "") ? 1 : 0};
  world_most(heard, 2);
  if (heard[0] > 0) signals_stop_as((int)heard[0]);
  return heard[1] > 0;
}

md_status stokes_ranks_gather(const stokes_run *run, stokes_ranks_part **out)
{
  *out = NULL;
  if (world_count() == 1) return MD_OK;
  stokes_ranks_part mine, *all = malloc((size_t)world_count() * sizeof *all);
  MD_TRY(world_agree(all ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for a report of ranks")));
  stokes_run_messages(run, &mine.rows, &mine.messages);
  world_gather(&mine, sizeof mine, all);
  *out = all;
  return MD_OK;
}

void stokes_ranks_summary(const stokes_ranks_part *parts, int64_t steps)
{
  const int ranks = world_count();
  int64_t least = parts[0].rows.n_own, fetched = 0, from = 0;
  double products = 0, sums = 0;
  for (int r = 0; r < ranks; r++) {
    const stokes_rows_view *v = &parts[r].rows;
    least = v->n_own < least ? v->n_own : least;
    fetched = v->n_ghosts > fetched ? v->n_ghosts : fetched;
    from = v->share.messages > from ? v->share.messages : from;
    products += parts[r].messages.products / ranks;
    sums += parts[r].messages.sums / ranks;
  }
  fprintf(stderr,
          "%d ranks: %" PRId64 " to %" PRId64 " rows; a product fetches at most %" PRId64
          " rows, 24 bytes each a vector, from %" PRId64 " of the others, by %s\n",
          ranks, least, parts[0].rows.n_most, fetched, from, parts[0].rows.carrier);
  fprintf(stderr,
          "a step, mean of ranks: %.3g s in messages of products, %.3g s in sums over ranks, of "
          "which there are %.1f\n",
          products / (double)steps, sums / (double)steps,
          (double)parts[0].messages.n_sums / (double)steps);
}

void stokes_ranks_json(const stokes_ranks_part *parts, md_json *json)
{
  md_json_open(json, "ranks", '[');
  for (int r = 0; r < world_count(); r++) {
    const stokes_rows_view *v = &parts[r].rows;
    md_json_open(json, NULL, '{');
    md_json_integer(json, "rank", r);
    md_json_integer(json, "rows", v->n_own);
    md_json_integer(json, "inner", v->n_inner);
    md_json_integer(json, "ghosts", v->n_ghosts);
    md_json_integer(json, "neighbours", v->share.messages);
    md_json_integer(json, "sent", v->n_sent);
    md_json_number(json, "time_products", parts[r].messages.products);
    md_json_number(json, "time_sums", parts[r].messages.sums);
    md_json_integer(json, "sums", parts[r].messages.n_sums);
    md_json_close(json, '}');
  }
  md_json_close(json, ']');
}
