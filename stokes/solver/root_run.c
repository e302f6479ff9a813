/* stokes/solver/root_run.c - what square roots by polynomials and by Lanczos share. */
#include "stokes/solver/solver_impl.h"

md_status root_work(root_run *run, double **work)
{
  *work = NULL;
  return solver_preconditioned(run->solver) ? solver_vector(run->solver, 1, run->m, work) : MD_OK;
}

md_status root_apply(root_run *run, double *v)
{
  double *work;
  MD_TRY(root_work(run, &work));
  MD_TRY(solver_precondition(run->solver, run->m, v, work, &run->u));
  return stokes_matrix_multiply(run->solver->matrix, run->m, run->u, run->w);
}

root_run root_run_of(stokes_solver *solver, int m)
{
  return (root_run){.solver = solver, .ops = solver->ops, .space = &solver->space, .m = m};
}

md_status root_begin(root_run *run, stokes_solver *solver, int m)
{
  *run = root_run_of(solver, m);
  return solver_vector(solver, 0, m, &run->w);
}

md_status root_lower(root_run *run, const double *z, double *v)
{
  if (solver_preconditioned(run->solver)) return run->ops->lower(run->space, run->m, z, v);
  return md_copy(run->solver->ctx, v, z, solver_bytes(run->solver, run->m));
}
