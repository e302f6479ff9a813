#!/bin/sh
# tests/cli/cli_tune.sh MINIMD - `tune` names choices, their worth, and writes a configuration that runs.
. tests/cli/cli.sh
study="tune --backend cpu --threads 1 --cells 4 --quiet --for 0.02"
header=choice,value,instead_of,worth,worth_low,worth_high,verdict,l1_hit,l1_hit_instead,ns_per_atom_step,atoms,repeats

expect 0 $study --over order,list,skin -o "$dir/tuned" --format csv
[ "$(head -1 "$dir/out")" = $header ] || fail "header: $(head -1 "$dir/out")"
awk -F, 'NR > 1 && ($5 > $4 || $4 > $6 || ($7 == "faster") != ($5 > 1) || $11 != 256) { print }' "$dir/out" >"$dir/wrong"
[ -s "$dir/wrong" ] && fail "rows: $(cat "$dir/wrong")"
# What was not told to be faster is as it was given; the skin needs lists built by displacement.
cp "$dir/out" "$dir/rows"
expect 0 -i "$dir/tuned" --check
prints '^neighbor.every +"check"'
prints '^device.threads +1 '
order=$(awk -F, '$1 == "order" && $7 == "faster" { print $2 }' "$dir/rows")
prints "^order.curve +\"${order:-hilbert}\""
expect 0 -i "$dir/tuned" --steps 5
expect 0 $study --over bin-size,sort-every
prints 'ns an atom and step'
expect 0 $study --over order --format json
prints '"command": "tune"'
expect 2 $study --over order,lists
says 'list'
expect 2 $study --for 0
says 'for'
expect 2 $study --order hilbrt
expect 3 $study -i "$dir/absent"
finish
