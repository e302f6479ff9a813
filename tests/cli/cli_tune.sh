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
# Charges at equal error, precision where an error is allowed, both reasons in words, every run written down.
salt="tune -i inputs/in.nacl --backend cpu --threads 1 --cells 3 --set coulomb.cutoff=2.5 --quiet --for 0.02"
expect 0 $salt --over pme --error 1e-5 --trials "$dir/trials" -o "$dir/tuned"
prints '^fastest|the settings as given are the fastest'
if grep -q '^fastest' "$dir/out"; then
  # What the configuration has is what the table calls faster.
  faster=$(sed -n 's/^\([a-z-]*\) .* faster  .*/\1/p' "$dir/out" | grep -v '^all$' | sort | xargs)
  kept=$(sed -n 's/^kept: \(.*\) (told .*/\1/p' "$dir/out" | tr , '\n' | awk '{ print $1 }' | sort | xargs)
  [ "$faster" = "$kept" ] || fail "tune keeps '$kept' of '$faster': $(cat "$dir/out")"
  prints '^kept: '
fi
prints '^precision: relative rms error of forces, .* single [0-9.]+e-0[678], mixed '
prints '^pme ORDER:CUTOFF:ALPHA:MESH: estimated rms force error at most 0.000[0-9]+'
prints '^why: by the cache model the force kernel finds [0-9.]+ % .* from memory'
prints '^     (no counters: |by the counters the force kernel takes [0-9])'
[ "$(head -1 "$dir/trials")" = order,list,bin-size,sort-every,skin,block-size,threads,pme,precision,steps,us_per_step ] ||
  fail "trials: $(head -1 "$dir/trials")"
awk -F, 'NR > 1 && ($8 !~ /^[0-9]+:[0-9.]+:[0-9.]+:[0-9]+x[0-9]+x[0-9]+$/ || $9 == "") { print }' "$dir/trials" >"$dir/wrong"
[ -s "$dir/wrong" ] && fail "trials: $(cat "$dir/wrong")"
expect 0 -i "$dir/tuned" --steps 5
expect 0 $salt --over list --exhaustive --trials "$dir/trials"
[ "$(awk -F, 'NR > 2 { print $2 }' "$dir/trials" | sort -u | wc -l)" = 2 ] || fail 'not every list was tried'
expect 2 $study --over pme
says 'no charges'
expect 2 $study --over block-size
says "a GPU's"
expect 2 $study --error 2
expect 2 $study --over precision
expect 2 $study --over order,lists
says 'list'
expect 2 $study --for 0
says 'for'
expect 2 $study --order hilbrt
expect 3 $study -i "$dir/absent"
finish
