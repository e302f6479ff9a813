#!/bin/sh
# tests/cli/cli_compare.sh MINIMD - `compare`: its table, CSV, JSON and picture, what bad input says.
. tests/cli/cli.sh

run="compare --backend $backend --cells 4 --steps 25 --repeat 3"

# A row for each ordering and list, fastest first, each rank within its bounds.
expect 0 $run --order none,row,hybrid:hilbert/row:2 --list full,half --format csv
for word in order list atoms steps repeats confidence rank_best rank_worst m_atom_steps_per_s force_s \
  force_low_s force_high_s neighbor_s sort_s total_s total_low_s total_high_s processor_s sectors_per_request \
  lines_per_row l1_hit l2_hit memory_bytes_per_atom ratio ratio_low ratio_high runs_per_repeat; do
  head -1 "$dir/out" | grep -qE "(^|,)$word(,|\$)" || fail "no column $word"
done
[ "$(wc -l <"$dir/out")" = 7 ] || fail "not six variants: $(cat "$dir/out")"
for variant in none,full row,full hybrid:hilbert/row:2,full none,half row,half hybrid:hilbert/row:2,half; do
  prints "^$variant,256,25,3,0\.7500,"
done
awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
  { total = $at["total_s"]
    if (total < before) print "rows are not sorted by time"
    if (!($at["total_low_s"] <= total && total <= $at["total_high_s"])) print "no median: " $0
    if (!($at["rank_best"] <= NR - 1 && NR - 1 <= $at["rank_worst"])) print "rank: " $0
    if ($at["force_s"] + $at["neighbor_s"] + $at["sort_s"] > $at["total_high_s"]) print "phases: " $0
    if ($at["rank_best"] != 1 || $at["rank_worst"] != 6) print "ranks from 3 repeats: " $0
    if ($at["ratio_low"] != "" || $at["ratio_high"] != "") print "an interval from 3 repeats: " $0
    if (!($at["force_s"] > 0 && $at["neighbor_s"] > 0)) print "no time: " $0
    if (!($at["sectors_per_request"] >= 1 && $at["sectors_per_request"] <= 32)) print "sectors: " $0
    rate = $at["atoms"] * $at["steps"] / total / 1e6
    if (rate < 0.99 * $at["m_atom_steps_per_s"] - 0.001 || rate > 1.01 * $at["m_atom_steps_per_s"] + 0.001)
      print "rate: " $0
    before = total }' "$dir/out" >"$dir/wrong"
[ -s "$dir/wrong" ] && fail "$(cat "$dir/wrong")"

# The text says the same, in lines of at most 100 columns, and one line what it comes to; without
# --list the run's own choice is named.
narrow()
{
  awk 'length > 100' "$dir/out" | grep -q . && fail "more than 100 columns: $(cat "$dir/out")"
  [ "$(grep -cE 'told apart|no ranks|^speed:|^one variant' "$dir/out")" = 1 ] ||
    fail "not one verdict: $(cat "$dir/out")"
}
expect 0 $run --order row,random
prints '^256 atoms, 3 repeats of 25 steps'
prints '^rank +order +list +total +ratio \(95 %\) +rate$'
prints '^1-2 +row +full +[0-9.]+ +[0-9.]+ +[0-9.]+$'
prints '^order +list +force +neighbor +sort +processor$'
prints '^order +list +sectors +lines +L1 hits +L2 hits +bytes/atom$'
prints '^no ranks: 95 % needs 6 repeats of 2 variants, there are 3$'
narrow
expect 0 $run --order random:18446744073709551615,hybrid:morton:kji/morton:kji:2147483647 --list full,half --repeat 8
narrow
prints '^[1-4-]+ +hybrid:morton:kji/morton:kji:2147483647  full '
prints '^[1-4-]+ +random:18446744073709551615 +half '

# By default there are enough repeats for ranks; how long they take is said first.
expect 0 compare --backend $backend --cells 4 --steps 5 --order row,row --format csv
prints '^row,[a-z]+,256,5,9,0\.9609,'
grep -qE '^minimd: [0-9]+ runs \(2 variants, 9 repeats( of [0-9]+ short runs)?\) will take about [0-9.]+ (s|min|h)$' \
  "$dir/err" || fail "no estimate: $(cat "$dir/err")"
expect 0 $run --order row,row --repeat 2
grep -q 'ranks need 6 repeats' "$dir/err" || fail "no warning: $(cat "$dir/err")"

expect 0 $run --order row --format json --set neighbor.skin=0.4 -o "$dir/file" --quiet
[ -s "$dir/out" ] && fail "-o leaves standard output empty"
[ -s "$dir/err" ] && fail "--quiet leaves standard error empty"
cp "$dir/file" "$dir/out"
prints '"schema": 2'
prints '"command": "compare"'
prints '"verdict": "one variant: nothing to compare"'
prints '"commit"'
prints '"neighbor.skin"'
prints '"value": 0.4'
prints '^    "order": \[$'
prints '^    "cells": [0-9]+,$'
prints '^    "quiet": true$|^    "quiet": true,$'
prints '"total_high_s"'
prints '"rank_worst": 1'

if command -v gnuplot >/dev/null 2>&1; then
  expect 0 $run --order row,hybrid:hilbert/row:2 --plot "$dir/runs.svg"
  grep -q 'hybrid:hilbert/row:2' "$dir/runs.svg" || fail "the picture does not name its runs"
fi

# Bad input fails before anything runs.
expect 2 $run --order row,hilbrt
says "hilbrt.*'hilbert'"
expect 2 $run --order row,,hilbert
expect 2 $run --order row --list full,tile4
says 'tile4'
expect 2 $run --repeat 0
says '--repeat'
expect 2 $run --steps 0
says 'run\.steps'
expect 2 $run --plot "$dir/runs.jpg"
says '--plot'
expect 2 $run --repeats 3
says "'--repeat'"
expect 2 $run --order row --thermo 1x
expect 3 $run --order row -o "$dir/none/file"
expect 5 $run --order row --dt 0.5
expect 0 compare --help
prints '^usage: minimd compare'
[ -z "$(find "$dir" -name '*.tmp*')" ] || fail "a failed comparison leaves files behind"

finish
