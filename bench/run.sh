#!/bin/sh
# bench/run.sh cpu|gpu BUILD - run every benchmark of a backend; rows go to docs/results/NAME-BACKEND.csv.
# RESULTS names another folder.
set -eu
backend=$1
build=$2
results=${RESULTS:-docs/results}
mkdir -p "$results"
for program in "$build"/bench/bench_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program" | sed 's/^bench_//')
  case $backend:$name in
    gpu:ordering | gpu:cachemodel | gpu:gspmv) continue ;; # CPU only
  esac
  file=$results/$name-$backend.csv
  echo "$name on the $backend: $file"
  "$program" "$backend" >"$file.tmp"
  mv "$file.tmp" "$file"
  cat "$file"
done
