#!/bin/sh
# tests/cli_compare.sh MINIMD - `compare`: its table, CSV, JSON and picture, what bad input says.
. tests/cli.sh

run="compare --backend $backend --cells 4 --steps 25 --repeat 3"

# A row for each ordering and list, fastest first, each rank within its bounds.
expect 0 $run --order none,row,hybrid:hilbert/row:2 --list full,half --format csv
for word in order list atoms steps repeats confidence rank_best rank_worst m_atom_steps_per_s force_s \
  force_low_s force_high_s neighbor_s sort_s total_s total_low_s total_high_s processor_s sectors_per_request \
  lines_per_row l1_hit l2_hit memory_bytes_per_atom; do
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
    if (!($at["force_s"] > 0 && $at["neighbor_s"] > 0)) print "no time: " $0
    if (!($at["sectors_per_request"] >= 1 && $at["sectors_per_request"] <= 32)) print "sectors: " $0
    rate = $at["atoms"] * $at["steps"] / total / 1e6
    if (rate < 0.99 * $at["m_atom_steps_per_s"] - 0.001 || rate > 1.01 * $at["m_atom_steps_per_s"] + 0.001)
      print "rate: " $0
    before = total }' "$dir/out" >"$dir/wrong"
[ -s "$dir/wrong" ] && fail "$(cat "$dir/wrong")"

# The text says the same; without --list the run's own choice is named.
expect 0 $run --order row,random
prints '^256 atoms, 3 repeats of 25 steps; .* 75\.0 % confidence'
prints '^rank +order +list +M atom-steps/s +force +neighbor +sort +total +processor$'
prints '^(1|1-2|2) +row +full +[0-9.]+ +[0-9.]+ \([0-9.]+\.\.[0-9.]+\) '
prints '^ +order +list +sectors_per_request +lines_per_row +l1_hit'

expect 0 $run --order row --format json --set neighbor.skin=0.4 -o "$dir/file" --quiet
[ -s "$dir/out" ] && fail "-o leaves standard output empty"
cp "$dir/file" "$dir/out"
prints '"schema": 1'
prints '"command": "compare"'
prints '"commit"'
prints '"neighbor.skin"'
prints '"value": "0.4"'
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
