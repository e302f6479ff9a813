#!/bin/sh
# tests/fuzz.sh FUZZ SECONDS [TARGET...] - libFuzzer on each target for so long, from tests/corpus.
# What breaks a reader is left in FUZZ-found/; it belongs into tests/corpus/TARGET, with the repair.
fuzz=$1
seconds=$2
shift 2
[ $# -gt 0 ] || set -- $(ls tests/corpus)
found=$fuzz-found
mkdir -p "$found"
failed=
for target in "$@"; do
  grown=$(mktemp -d)
  dictionary=
  [ ! -e "tests/corpus/$target.dict" ] || dictionary=-dict=tests/corpus/$target.dict
  if FUZZ_TARGET=$target ASAN_OPTIONS=allocator_may_return_null=1 "$fuzz" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 $dictionary -artifact_prefix="$found/$target-" "$grown" "tests/corpus/$target" \
    >"$found/$target.log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found/$target.log") inputs, none breaks it"
  else
    failed="$failed $target"
    echo "$target: BROKEN, see $found/$target.log"
    grep -E 'ERROR|SUMMARY|the last message' "$found/$target.log"
  fi
  rm -rf "$grown"
done
[ -z "$failed" ]
