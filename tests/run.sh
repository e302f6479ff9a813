#!/bin/sh
# tests/run.sh BUILD - run every suite and every command-line test; the backend is MINIMD_TEST_BACKEND.
# On the CPU two more at once than there are processors, since those of several ranks wait, or TEST_JOBS.  A line for each says
# how many seconds it took.
build=$1
backend=${MINIMD_TEST_BACKEND:-cpu}
case $backend in
  cpu) jobs=${TEST_JOBS:-$(($(nproc 2>/dev/null || echo 2) + 2))} ;;
  *) jobs=${TEST_JOBS:-1} ;;
esac
logs=$build/tests/logs
rm -rf "$logs"
mkdir -p "$logs"
export logs
export OMP_WAIT_POLICY=passive # there are more threads than processors: waiting must not keep one busy

# A line for each: its name, and the command.  Scripts come first: the longest are among them, and what begins last should be
# short, or one processor waits for another at the end.
list()
{
  for script in tests/cli/cli_*.sh; do
    if [ -e "$script" ]; then echo "$(basename "$script") sh $script $build/minimd"; fi
  done
  for suite in "$build"/tests/check_*; do
    if [ -x "$suite" ]; then echo "$(basename "$suite") $suite"; fi
  done
  # The engine's suites once more with the instruction sets that other processors have.
  if [ "$backend" = cpu ] && [ -z "${ASAN_OPTIONS:-}" ]; then
    for isa in portable avx2; do
      for suite in comm bins neighbor force energy integrate; do
        echo "check_$suite.$isa env MINIMD_ISA=$isa $build/tests/check_$suite"
      done
    done
  fi
}

# start JOBS - run what list says, so many at once.
start()
{
  xargs -r -P "$1" -L 1 sh -c '
    name=$1
    shift
    began=$(date +%s)
    if "$@" >"$logs/$name" 2>&1; then
      took=$(($(date +%s) - began))
      grep -E "^[0-9]+%|cases" "$logs/$name" | sed "s/^/$took s $name: /"
    else
      mv "$logs/$name" "$logs/$name.failed"
      { echo "$name: FAILED"; cat "$logs/$name.failed"; }
    fi' run
}

# The one that installs may make the program again, which the others run.
list | grep -v '^cli_library' | start "$jobs" || exit 1
list | grep '^cli_library' | start 1 || exit 1
passed=$(find "$logs" -type f ! -name '*.failed' | wc -l)
failed=$(find "$logs" -name '*.failed' | wc -l)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
