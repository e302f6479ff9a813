#!/bin/sh
# tests/run.sh BUILD - run every suite and every command-line test; the backend is MINIMD_TEST_BACKEND.
build=$1
passed=0
failed=
log=$build/tests/log
export OMP_WAIT_POLICY=passive # tests ask for more threads than there may be cores: waiting must not keep one busy
mkdir -p "$build/tests"
run()
{
  name=$1
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    grep -E '^[0-9]+%|cases' "$log" | sed "s/^/$name: /"
  else
    failed="$failed $name"
    echo "$name: FAILED"
    cat "$log"
  fi
}
for suite in "$build"/tests/check_*; do
  if [ -x "$suite" ]; then run "$(basename "$suite")" "$suite"; fi
done
# The engine's suites once more with the instruction sets that other processors have.
if [ "${MINIMD_TEST_BACKEND:-cpu}" = cpu ] && [ -z "${ASAN_OPTIONS:-}" ]; then
  for isa in portable avx2; do
    for suite in comm bins neighbor force energy integrate; do
      run "check_$suite ($isa)" env MINIMD_ISA=$isa "$build/tests/check_$suite"
    done
  done
fi
for script in tests/cli_*.sh; do
  if [ -e "$script" ]; then run "$(basename "$script")" sh "$script" "$build/minimd"; fi
done
set -- $failed
echo "$passed passed, $# failed"
[ $# = 0 ]
