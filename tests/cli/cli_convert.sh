#!/bin/sh
# tests/cli/cli_convert.sh MINIMD - `convert --to data|xyz`: the atoms that a run starts from, in any order, are read back
# to the bit.
. tests/cli/cli.sh

# Thermo of a start from the file, which has all that the settings had but the lattice.
for name in nacl kob-andersen lj; do
  input=inputs/in.$name
  cells='--cells 4'
  expect 0 run -i $input $cells --backend "$backend" --steps 0 --deterministic --quiet --format csv
  cp "$dir/out" "$dir/want"
  grep -v 'lattice *=\|cells *=\|density *=' $input | sed 's/ fraction = [0-9.]*;//' >"$dir/in.$name"
  for to in data xyz; do
    expect 0 convert -i $input $cells --to $to -o "$dir/$name.$to"
    expect 0 convert -i $input $cells --to $to
    same "$dir/out" "$dir/$name.$to" "$to on standard output"
    # As they were made, the atoms are the same run to the bit; along a curve, the same atoms.
    expect 0 run -i "$dir/in.$name" --set "system.read=$dir/$name.$to" --backend "$backend" --steps 0 --deterministic --quiet --format csv
    same "$dir/want" "$dir/out" "$name as $to"
    expect 0 convert -i $input $cells --to $to --order hilbert -o "$dir/$name.hilbert.$to"
    sort "$dir/$name.$to" >"$dir/a"
    sort "$dir/$name.hilbert.$to" >"$dir/b"
    same "$dir/a" "$dir/b" "the atoms of $name along a curve"
    ! cmp -s "$dir/$name.$to" "$dir/$name.hilbert.$to" || fail "$name.$to is in the same order along a curve"
    # Converted again, a file is what it was.
    expect 0 convert -i "$dir/in.$name" --set "system.read=$dir/$name.hilbert.$to" --to $to
    same "$dir/$name.hilbert.$to" "$dir/out" "$name.hilbert.$to converted again"
  done
done

# Along row the x of cells rises; none leaves all where it is.
expect 0 convert --cells 4 --to xyz --order row
awk 'NR > 2 { if ($2 < last - 1.7) bad = 1; if ($2 > last) last = $2 } END { exit bad }' "$dir/out" || fail 'not along row'
cp "$dir/out" "$dir/row"
expect 0 convert --cells 4 --to xyz
cp "$dir/out" "$dir/made"
expect 0 convert --cells 4 --to xyz --order none
same "$dir/made" "$dir/out" 'order none'
expect 0 convert --cells 4 --to xyz --set order.curve=row
same "$dir/row" "$dir/out" '--set order.curve'
printf 'order: { curve = "row"; };\n' >"$dir/in.row"
expect 0 convert -i "$dir/in.row" --cells 4 --to xyz
same "$dir/made" "$dir/out" "the order of an input's runs"
awk 'NR > 2 && $8 != NR - 2 { bad = 1 } END { exit bad }' "$dir/out" || fail 'ids are not 1..n'

# Types and names of a data file need no repetition.
printf 'system: { read = "%s"; }; lj: { shift = "energy"; pairs = ( %s ); };\n' "$dir/kob-andersen.data" '
  { types = ["A", "A"]; epsilon = 1.0; sigma = 1.0;  cutoff = 2.5; },
  { types = ["A", "B"]; epsilon = 1.5; sigma = 0.8;  cutoff = 2.0; },
  { types = ["B", "B"]; epsilon = 0.5; sigma = 0.88; cutoff = 2.2; }' >"$dir/in.short"
expect 0 run -i inputs/in.kob-andersen --cells 4 --backend "$backend" --steps 0 --deterministic --quiet --format csv
cp "$dir/out" "$dir/want"
expect 0 run -i "$dir/in.short" --backend "$backend" --steps 0 --deterministic --quiet --format csv
same "$dir/want" "$dir/out" 'types of a data file'
expect 0 run -i "$dir/in.short" --check
prints '^species .*"A".*"B".*kob-andersen.data$'

# Atoms at rest have velocities of 0 and -0, which stay what they are.
for to in data xyz; do
  expect 0 convert --cells 2 --set system.temperature=0 --to $to -o "$dir/rest.$to"
  grep -q ' -0 ' "$dir/rest.$to" || fail "no -0 in rest.$to"
  expect 0 convert --set "system.read=$dir/rest.$to" --to $to
  same "$dir/rest.$to" "$dir/out" "rest.$to converted again"
done

# What is refused.
expect 2 convert --to pdb
says "--to.*libconfig, data, xyz|--to.*'pdb'"
expect 2 convert -i "$dir/in.lj" --set "system.read=$dir/lj.data" --to data -o "$dir/lj.data"
says 'lj.data'
expect 2 convert -i "$dir/in.lj" --to data -o "$dir/in.lj"
says 'in.lj'
expect 4 convert --cells 100000 --to data -o "$dir/new.data"
says 'GB of memory'
expect 3 convert --cells 2 --to data -o "$dir/absent/x.data"
expect 3 convert --set "system.read=$dir/absent.data" --to xyz -o "$dir/new.xyz"
[ ! -e "$dir/new.xyz" ] && [ ! -e "$dir/new.data" ] || fail 'a failed conversion left a file'
finish
