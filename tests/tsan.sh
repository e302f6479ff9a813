#!/bin/sh
# tests/tsan.sh BUILD SUITE... - suites and whole commands built with ThreadSanitizer.  Archer tells it what OpenMP's
# barriers, locks and tasks order; without it, every parallel loop looks like a race.
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

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# looks LOG NAME COMMAND... : run it; no race may be in what it says.
looks()
{
  log=$dir/$1 name=$2
  shift 2
  if "$@" >"$log" 2>&1 </dev/null && ! grep -q 'data race' "$log"; then
    echo "$name: no race$(sed -n 's/.*Checks: \([0-9]*\).*/ in \1 tests/p' "$log")"
  else
    : >"$dir/failed"
    echo "$name: FAILED"
    head -60 "$log"
  fi
}

# What commands do beside what the suites call: readers, reports, models and counters.
commands()
{
  cat <<'END'
$at --cells 6 --steps 60 --dump $dir/d.xyz --checkpoint $dir/c --checkpoint-every 20
$at --restart $dir/c --steps 80
$at -i inputs/in.nacl --steps 20
cachemodel --machine h200 $at --cells 6 --list half --steps 20 --warm
cachemodel --machine host $at --cells 6 --steps 20
cachemodel --order row,hilbert --stencil block:1 --size 12 --line 8 --capacity all
profile $at --cells 6 --steps 20 --counters off
compare $at --cells 5 --steps 10 --order row,hilbert
ordering --order random,hilbert --size 8
spread $at --particles 3000 --mesh 16 --method all --vectors 3 --check
spread $at --particles 3000 --mesh 16 --distribution clustered --method all --check --deterministic
pack --threads 4 --particles 300 --occupancy 0.3 --radii inputs/radii.two -o $dir/s.xyz
stokes $at -i $dir/s.xyz --rhs 4 --steps 6
stokes $at -i $dir/s.xyz --rhs 4 --steps 6 --guess series --preconditioner jacobi --storage pair
gspmv $at --matrix mat1 --rows 2000 --vectors 1,5,16 --repeat 1
END
}
at='--backend cpu --threads 4'
try_commands()
{
  commands >"$dir/commands"
  while IFS= read -r line; do
    eval "looks log.commands 'minimd $line' \"$build/minimd\" $line --quiet"
  done <"$dir/commands"
}

# Two suites at once beside the commands: none keeps two processors busy.  A suite is whose folder is made first.
try_suites()
{
  for suite in "$@"; do
    if mkdir "$dir/$suite" 2>/dev/null; then looks "$suite/log" "$suite" "$build/tests/check_$suite"; fi
  done
}
try_commands >"$dir/said" &
try_suites "$@" &
try_suites "$@"
wait
cat "$dir/said"
[ "$(grep -c . "$dir/said")" -ge "$(grep -c . "$dir/commands")" ] && [ ! -e "$dir/failed" ]
