/* stokes/step/run_ranks.c - a run that several ranks share.
 *
 * All have the spheres, 32 bytes each, and the list of pairs, and move spheres that overlap apart
 * alike.  A rank has its rows of the matrix and of vectors.  Cuts lie between parts of the vectors
 * of one rank (stokes/solver/vectors_impl.h), at most VECTOR_MOST_PARTS of them: sums are those of
 * one rank, to the bit.  A rank may have no rows. */
#include "comm/world.h"
#include "stokes/step/run_impl.h"

#include <stdlib.h>

md_status stokes_run_check_ranks(const stokes_run_spec *spec)
{
  const int ranks = world_count();
  if (ranks == 1) return MD_OK;
  MD_REQUIRE(spec->hydrodynamics == STOKES_HYDRODYNAMICS_LUBRICATION, MD_EINVAL,
             "%d ranks share steps with the hydrodynamics `lubrication` only, not `%s`", ranks,
             stokes_hydrodynamics_words[spec->hydrodynamics]);
  MD_REQUIRE(spec->method == STOKES_ITERATIVE, MD_EINVAL,
             "%d ranks share steps by the method `iterative` only, not `%s`", ranks,
             stokes_method_words[spec->method]);
  MD_REQUIRE(spec->force == STOKES_FORCE_PAIRS, MD_EINVAL,
             "%d ranks share steps with forces by the root `pairs` only, not `%s`", ranks,
             stokes_force_words[spec->force]);
  return MD_OK;
}

/* Rows of ranks from parts of ranks, by pairs. */
static md_status cut_parts(const stokes_run *run, int64_t *cut)
{
  const stokes_pair_view list = stokes_pairs_view(run->pairs);
  const int64_t rows = vector_part_rows(run->n), parts = (run->n + rows - 1) / rows;
  int64_t start[VECTOR_MOST_PARTS + 1];
  for (int64_t p = 0; p <= parts; p++) {
    const int64_t *from = list.start + (p < parts ? p * rows : run->n);
    MD_TRY(md_read(run->ctx, &start[p], from, sizeof *from));
  }
  stokes_model_cut(&(stokes_weights){parts, start, rows}, world_count(), cut);
  for (int r = 0; r <= world_count(); r++)
    cut[r] = cut[r] < parts ? cut[r] * rows : run->n;
  return MD_OK;
}

md_status run_ranks_cut(stokes_run *run)
{
  const int me = world_rank();
  run->cut = calloc((size_t)world_count() + 1, sizeof *run->cut);
  MD_REQUIRE(run->cut, MD_ENOMEM, "out of memory for the rows of %d ranks", world_count());
  MD_TRY(world_agree(cut_parts(run, run->cut)));
  run->first = run->cut[me];
  run->n_own = run->cut[me + 1] - run->first;
  return stokes_rows_create(run->ctx, run->spec.storage, run->cut, &run->rows);
}

md_status run_ranks_attach(stokes_run *run, const stokes_view *spheres,
                           const stokes_pair_view *pairs, int m)
{
  vector_sharing *shared = &run->space.shared;
  MD_TRY(stokes_rows_assemble(run->rows, spheres, pairs, &run->spec.law, m));
  MD_TRY(stokes_rows_reserve(run->rows, m));
  const stokes_rows_view v = stokes_rows_get(run->rows);
  shared->n_all = v.n_all;
  shared->n_most = v.n_most;
  shared->n_ghosts = v.n_ghosts;
  return stokes_solver_attach_rows(run->solver, run->rows);
}

void stokes_run_messages(const stokes_run *run, stokes_rows_view *rows, stokes_solver_messages *out)
{
  *rows = run->rows ? stokes_rows_get(run->rows) : (stokes_rows_view){0};
  *out = stokes_solver_messages_of(run->solver);
}
