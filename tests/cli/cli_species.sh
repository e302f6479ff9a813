#!/bin/sh
# tests/cli/cli_species.sh MINIMD - species from settings and files; trajectories are read back.
. tests/cli/cli.sh

inputs=$(realpath inputs)
mixture="run -i $inputs/in.kob-andersen --cells 5 --steps 40 --thermo 40 --quiet --format csv"

# column FILE LINE K : of a table in CSV
column() { sed -n "$2p" "$1" | cut -d, -f"$3"; }
near() # A B WHAT : numbers
{
  awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d * d <= 1e-20 * (1 + a * a)) }' || fail "$3: $1, not $2"
}

# A fifth of the atoms is B.  The last frame of either kind of trajectory is where another run begins.
expect 0 $mixture --dump "$dir/d.xyz"
cp "$dir/out" "$dir/first"
expect 0 $mixture --dump "$dir/d.lammpstrj"
[ "$(head -502 "$dir/d.xyz" | grep -c '^B ')" = 100 ] || fail 'a fifth of the atoms in d.xyz is not B'
[ "$(head -509 "$dir/d.lammpstrj" | grep -c ' 2 .* B$')" = 100 ] || fail 'a fifth of the atoms in d.lammpstrj is not B'
tail -502 "$dir/d.xyz" >"$dir/last.xyz"
grep -v 'lattice *=\|cells *=\|density *=\|fraction' "$inputs/in.kob-andersen" >"$dir/in.last"
sed -i 's/^system: {/species: ( { name = "B"; }, { name = "A"; } );\nsystem: {\n  read = "last.xyz";/; /^species: ($/,/^);/d' "$dir/in.last"
expect 0 run -i "$dir/in.last" --steps 0 --quiet --format csv
for k in 2 3 4 5; do
  near "$(column "$dir/out" 2 $k)" "$(column "$dir/first" 3 $k)" "column $k of a frame that was read back"
done

# Half lists and every precision see the same mixture.
for more in '--list full' '--list tile' '--list half' '--list half --newton off' '--precision single' '--precision mixed' '--order none --sort-every 0'; do
  expect 0 $mixture --steps 0 $more
  awk -F, -v a="$(column "$dir/first" 2 3)" 'NR == 2 { d = $3 - a; exit !(d * d < 1e-12 * a * a) }' "$dir/out" ||
    fail "e_pair with $more: $(column "$dir/out" 2 3)"
done

# The order of atoms in memory changes nothing where sums are exact.
expect 0 $mixture --deterministic --list full
cp "$dir/out" "$dir/exact"
for order in '--order row' '--order none --sort-every 0'; do
  expect 0 $mixture --deterministic --list full $order
  same "$dir/exact" "$dir/out" "a mixture with $order"
done

# What convert writes is the same run; restarts too.
cp "$dir/first" "$dir/want"
expect 0 convert -i "$inputs/in.kob-andersen"
cp "$dir/out" "$dir/converted"
expect 0 run -i "$dir/converted" --cells 5 --steps 40 --thermo 40 --quiet --format csv
same "$dir/want" "$dir/out" 'a converted input'
expect 0 $mixture --steps 20 --checkpoint "$dir/c"
expect 2 run --restart "$dir/c" --steps 40 --set 'species=({name="A";mass=2;},{name="B";})'
says 'species is not that of'
expect 0 run --restart "$dir/c" --steps 40 --set run.thermo=40 --quiet --format csv
[ "$(tail -1 "$dir/out")" = "$(tail -1 "$dir/want")" ] || fail 'a restart of a mixture is another run'

# Two species that are alike in all are one, to the bit.
alike='species=({name="A";mass=2;fraction=0.3;},{name="B";mass=2;fraction=0.7;})'
expect 0 run --cells 4 --steps 30 --set system.mass=2 --quiet --format csv
cp "$dir/out" "$dir/one"
expect 0 run --cells 4 --steps 30 --set "$alike" --quiet --format csv
same "$dir/one" "$dir/out" 'two species that are alike'

# The model of a GPU reads a type for each position and the constants of each pair, the latter and
# positions of doubles in two requests; atoms whose pairs are alike have none.
for case in full,single,1 half,single,1 full,double,2; do
  loads=${case##*,} of=${case%,*}
  expect 0 cachemodel -i "$inputs/in.kob-andersen" --cells 5 --steps 0 --machine h200 --list "${of%,*}" \
    --precision "${of#*,}" --quiet
  awk -F, -v loads="$loads" '{ n[$7] = $8 } END { d = n["NT"] - (n["NC"] + n["AC"]) / loads
    exit !(n["NC"] > 1 && n["other"] == n["NC"] && d * d < 1e-6) }' "$dir/out" || fail "types on a GPU: $(cat "$dir/out")"
done
expect 0 cachemodel -i "$inputs/in.nacl" --cells 4 --steps 0 --machine h200 --list full --quiet
prints ',NT,0.0000,'
expect 2 run -i "$inputs/in.kob-andersen" --set potential.style=eam --quiet
says 'potential.style'

finish
