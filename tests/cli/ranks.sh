# tests/cli/ranks.sh - what command-line tests of several ranks share; read after cli.sh.  Where there is no MPI the test ends here;
# else `start` starts $ranks ranks.
if ! command -v mpirun >/dev/null 2>&1 || ! "$minimd" info --format csv | grep -q '^mpi,"*Open MPI'; then
  echo 'skipped: several ranks need mpirun and a build with MPI (Debian packages libopenmpi-dev openmpi-bin)'
  finish
  exit
fi
root=
[ "$(id -u)" = 0 ] && root=--allow-run-as-root
unset OMP_NUM_THREADS
# What Open MPI's libraries keep until the process ends would be called leaks of ours.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
# Jobs that share a folder for sessions race: the last one to leave removes it while another makes its own within.
export OMPI_MCA_orte_tmpdir_base="$dir"
ranks=2
# mpirun adds words of its own to the error stream of a job that fails.
job() { mpirun $root --oversubscribe --timeout 120 -n $ranks "$@"; }
start() { job "$minimd" "$@"; }
run_in() # PLACE RANKS ARGS... : files of a run in a folder of its own, under the same names; $minimd is a whole path
{
  place=$dir/$1
  ranks=$2
  shift 2
  cases=$((cases + 1))
  mkdir -p "$place"
  (cd "$place" && start "$@" >out 2>err </dev/null) || fail "$ranks ranks: minimd $*: $(cat "$place/err")"
}
near() # A B LIMIT WHAT : thermo lines of two runs as csv agree to LIMIT of each number
{
  paste -d, "$1" "$2" | awk -F, -v limit="$3" 'NR > 1 {
      for (k = 2; k <= 5; k++) {
        away = $k - $(k + 5)
        size = $k < 0 ? -$k : $k
        if (!(away * away <= limit * limit * size * size)) bad = 1
      }
    } END { exit bad || NR < 3 }' || fail "$4: not within $3: $(paste "$1" "$2")"
}
