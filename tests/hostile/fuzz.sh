#!/bin/sh
# tests/hostile/fuzz.sh FUZZ CORPUS [TARGET...] - libFuzzer on each target, from tests/corpus/TARGET and what was found before.
# For FUZZ_SECONDS each; or FUZZ_RUNS executions in all, a hundredth of them on each whole command and the rest on
# readers.  CORPUS/TARGET keeps inputs that reach new code, to go on from.  What breaks a target is left in CORPUS-found/;
# it belongs into tests/corpus/TARGET, with the repair.  FUZZ_CSV: a file to which a row a target is added.
set -eu
fuzz=$(realpath "$1")
mkdir -p "$2" "$2-found"
corpus=$(realpath "$2")
found=$(realpath "$2-found")
shift 2
[ $# -gt 0 ] || set -- $(cd tests/corpus && ls -d */ | tr -d /)
readers=$(echo "$@" | tr ' ' '\n' | grep -vc '^command_') || true
commands=$(($# - readers))

# How long libFuzzer works on a target.
limit()
{
  if [ -z "${FUZZ_RUNS:-}" ]; then
    echo "-max_total_time=${FUZZ_SECONDS:-60}"
  else
    case $1 in
      command_*) echo "-runs=$((readers > 0 ? FUZZ_RUNS / 100 : FUZZ_RUNS / commands))" ;;
      *) echo "-runs=$(((FUZZ_RUNS - commands * (FUZZ_RUNS / 100)) / readers))" ;;
    esac
  fi
}

commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
root=$PWD
empty=$(mktemp -d) # no target finds a file here, or leaves one
rows=$(mktemp)
trap 'rm -rf "$empty" "$rows"' EXIT
[ -z "${FUZZ_CSV:-}" ] || [ -s "$FUZZ_CSV" ] ||
  echo date,commit,machine,target,executions,per_second,edges,features,inputs,peak_mb,broken >"$FUZZ_CSV"
for target in "$@"; do
  log=$found/$target.log
  mkdir -p "$corpus/$target"
  dictionary=$root/tests/corpus/$target.dict
  broken=0
  (cd "$empty" && FUZZ_TARGET=$target OMP_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1 \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 exec "$fuzz" \
    "$(limit "$target")" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    $([ ! -e "$dictionary" ] || echo "-dict=$dictionary") -artifact_prefix="$found/$target-" \
    "$corpus/$target" "$root/tests/corpus/$target" </dev/null >"$log" 2>&1) || broken=1
  awk -v target="$target" -v start="$(date +%F),$commit,$machine" -v files="$(ls "$corpus/$target" | wc -l)" \
    -v broken=$broken '
    { for (k = 1; k < NF; k++) if ($k == "cov:") edges = $(k + 1); else if ($k == "ft:") features = $(k + 1) }
    /^stat::number_of_executed_units/ { runs = $2 }
    /^stat::average_exec_per_sec/ { rate = $2 }
    /^stat::peak_rss_mb/ { memory = $2 }
    END { printf "%s,%s,%d,%d,%d,%d,%d,%d,%d\n", start, target, runs, rate, edges, features, files, memory, broken }
    ' "$log" >>"$rows"
  [ -z "${FUZZ_CSV:-}" ] || tail -n 1 "$rows" >>"$FUZZ_CSV"
  tail -n 1 "$rows" | awk -F, '{
    printf "%-24s %9d executions, %6d a second, %5d edges, %6d features, %5d inputs, %4d MB%s\n", $4, $5, $6, $7, $8, $9, $10,
      $11 ? ", BROKEN" : "" }'
  [ $broken = 0 ] || { echo "$target: see $log"; grep -E 'ERROR|SUMMARY|the last message' "$log" || true; }
done
awk -F, '{ runs += $5; broken += $11 }
         END { printf "%d executions, %d of %d targets broken\n", runs, broken, NR; exit broken > 0 }' "$rows"
