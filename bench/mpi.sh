# bench/mpi.sh - programs on several ranks of this host, for studies (sourced).
#
# on_ranks N COMMAND... : N ranks, which may be more than there are processors.
root=
[ "$(id -u)" = 0 ] && root=--allow-run-as-root
export OMP_WAIT_POLICY=passive

on_ranks()
{
  on=$1
  shift
  mpirun $root --oversubscribe --bind-to none -n "$on" "$@"
}
