#!/bin/sh
# tests/tsan.sh BUILD SUITE... - suites built with ThreadSanitizer.  Archer tells it what OpenMP's barriers, locks
# and tasks order; without it, every parallel loop looks like a race.
build=$1
shift
archer=$(clang -print-resource-dir)/../../libarcher.so
if [ ! -e "$archer" ]; then
  echo "libarcher.so is missing (Debian package libomp-dev)" >&2
  exit 1
fi
export OMP_TOOL_LIBRARIES="$archer" MINIMD_TEST_RERUNS=1
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 allocator_may_return_null=1 ${TSAN_OPTIONS:-}"

# A race that is there must be seen, or silence means nothing.
cat >"$build/race.c" <<'END'
int main(void)
{
  int sum = 0;
#pragma omp parallel for num_threads(4)
  for (int k = 0; k < 100000; k++)
    sum += k;
  return sum == 1;
}
END
clang -O0 -g -fopenmp -fsanitize=thread -o "$build/race" "$build/race.c" || exit 1
if "$build/race" >"$build/log" 2>&1 || ! grep -q 'data race' "$build/log"; then
  echo 'ThreadSanitizer does not see a plain race' >&2
  exit 1
fi

failed=
for suite in "$@"; do
  if "$build/tests/check_$suite" >"$build/log" 2>&1 && ! grep -q 'data race' "$build/log"; then
    echo "$suite: no race in $(sed -n 's/.*Checks: \([0-9]*\).*/\1/p' "$build/log") tests"
  else
    failed="$failed $suite"
    echo "$suite: FAILED"
    head -60 "$build/log"
  fi
done
[ -z "$failed" ]
