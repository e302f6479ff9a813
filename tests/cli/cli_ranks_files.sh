#!/bin/sh
# tests/cli/cli_ranks_files.sh MINIMD - files of atoms and checkpoints read by several ranks: the bits of one rank, its messages, and
# no more memory than a lattice takes.
. tests/cli/cli.sh

if [ "$backend" != cpu ] || [ -n "${ASAN_OPTIONS:-}" ]; then
  echo 'skipped: a test of the CPU without sanitizers'
  finish
  exit
fi
. tests/cli/ranks.sh
where='--backend cpu --threads 1 --quiet --list full --deterministic'

# alike WHAT RANKS ARGS... : thermo lines and checkpoint on so many ranks are those of one.
alike()
{
  what=$1
  counts=$2
  shift 2
  for ranks in 1 $counts; do
    expect 0 $where --format csv --thermo 1 --checkpoint "$dir/c" "$@"
    mv "$dir/out" "$dir/thermo$ranks"
    mv "$dir/c" "$dir/c$ranks" # a checkpoint knows its name
    same "$dir/thermo1" "$dir/thermo$ranks" "$what, $ranks ranks: thermo"
    same "$dir/c1" "$dir/c$ranks" "$what, $ranks ranks: checkpoint"
  done
}
# Lines by a hash of their number: all behind the first two, or the atoms and the velocities of a data file.
mix() { awk '{ print (NR * 7919) % 70001, $0 }' | sort -s -k1,1n | cut -d' ' -f2-; }
shuffle_data()
{
  a=$(grep -n '^Atoms' "$1" | cut -d: -f1)
  v=$(grep -n '^Velocities' "$1" | cut -d: -f1)
  head -n $((a + 1)) "$1"
  sed -n "$((a + 2)),$((v - 2))p" "$1" | mix
  sed -n "$((v - 1)),$((v + 1))p" "$1"
  tail -n +$((v + 2)) "$1" | tac | mix
}
shuffle_xyz() { head -n 2 "$1"; tail -n +3 "$1" | mix; }

# More atoms than a window has: in order, by no order, and as a checkpoint of one rank has them, that of a half list in the order of
# its memory.
crystal='--cells 26 --set system.temperature=1.2'
"$minimd" convert $crystal --to data -o "$dir/a.data" && "$minimd" convert $crystal --to xyz -o "$dir/a.xyz" || fail 'convert'
shuffle_data "$dir/a.data" >"$dir/b.data"
shuffle_xyz "$dir/a.xyz" >"$dir/b.xyz"
cmp -s "$dir/a.data" "$dir/b.data" && fail 'nothing was shuffled'
near='--set lj.cutoff=1.3 --skin 0.2 --steps 2'
alike 'data file' '2 3' $near --set system.read="$dir/a.data"
cp "$dir/c1" "$dir/ordered"
alike 'shuffled data file' '3 4' $near --set system.read="$dir/b.data"
alike 'XYZ' 3 $near --set system.read="$dir/a.xyz"
alike 'shuffled XYZ' '2 4' $near --set system.read="$dir/b.xyz"
alike 'checkpoint' '2 3 4' --restart "$dir/ordered" --steps 4
expect 0 --backend cpu --threads 1 --quiet --list half $near --set system.read="$dir/b.data" --checkpoint "$dir/half"
alike 'checkpoint of a half list' '2 3' --restart "$dir/half" --steps 4
alike 'new velocities' 3 $near --set system.read="$dir/b.data" --set system.keep_velocities=false

# Ranks without any atom of the file; charges and species.
"$minimd" convert --cells 4 --to data -o "$dir/few.data"
alike 'few atoms' '2 3 4' --steps 3 --set system.read="$dir/few.data" --set lj.cutoff=2
cat >"$dir/two.xyz" <<'END'
6
Lattice="9 0 0 0 8 0 0 0 7" Properties=species:S:1:pos:R:3:id:I:1:velo:R:3
A 1 1 1 60 0 0 1
B 4 1 1 3 0 0 -1
A 1 4 1 7 0 1 0
B 7 1 4 1 0 -1 0
A 1 7 4 9223372036854775807 1 0 0
B 4 4 4 5 -1 0 0
END
alike 'two species' '2 4' --steps 3 --set system.read="$dir/two.xyz" --set lj.cutoff=2 \
  --set 'species=({name="A";mass=2;},{name="B";})'

# What is wrong with a file, told once, as one rank tells it: the first line, whoever keeps its atom.
wrong() # FILE PATTERN
{
  for ranks in 1 3; do
    expect 2 $where --steps 0 --set system.read="$dir/$1"
    says "$1:[0-9]+: $2"
    grep '^minimd: error' "$dir/err" >"$dir/said$ranks"
  done
  same "$dir/said1" "$dir/said3" "what 1 and 3 ranks say of $1"
}
atoms=$(grep -n '^Atoms' "$dir/a.data" | cut -d: -f1)
moves=$(grep -n '^Velocities' "$dir/a.data" | cut -d: -f1)
edit() { sed "$2" "$dir/a.data" >"$dir/$1"; }
edit missing "$((atoms + 40000))d"
wrong missing 'another section begins after 70303 of 70304 lines of Atoms'
edit twice "$((atoms + 60001))s/^60000 /17 /"
wrong twice 'two atoms have id 17$'
edit twice_more "$((atoms + 60001))s/^60000 /50000 /;$((atoms + 2))s/^1 /2 /"
wrong twice_more 'two atoms have id 2$'
edit letters "$((atoms + 30001))s/ 0 0 0\$/ 0 0 x/;$((atoms + 69001))s/ 0 0 0\$/ 0 y 0/"
wrong letters "iz: .*x"
edit unknown "$((moves + 69001))s/^[0-9]* /80000 /;$((moves + 69101))s/^[0-9]* /1 /"
wrong unknown 'no atom has id 80000'
edit again "$((moves + 69001))s/^[0-9]* /1 /;$((moves + 69101))s/^[0-9]* /80000 /"
wrong again 'two velocities of id 1$'
edit speed "$((moves + 101))s/[^ ]*\$/fast/;$((moves + 201))s/^[0-9]* /80000 /"
wrong speed 'vz: .*fast'
head -n 60000 "$dir/a.xyz" >"$dir/short"
wrong short 'the file ends after 59998 of 70304 atoms'
awk 'NR == 50000 { $NF = 7 } { print }' "$dir/a.xyz" >"$dir/same"
wrong same 'two atoms have id 7$'
awk 'NR == 69000 { $1 = "Xe" } { print }' "$dir/a.xyz" >"$dir/kinds"
wrong kinds "'Xe' beside 'Ar'"

# A checkpoint that is cut off or damaged.
bytes=$(wc -c <"$dir/ordered")
for part in 3 2; do # in its velocities, in positions at the list build
  head -c $((bytes * part / 5)) "$dir/ordered" >"$dir/broken"
  for ranks in 1 3; do
    expect 3 --restart "$dir/broken" --steps 4
    says "broken' is cut off in the section"
    grep '^minimd: error' "$dir/err" >"$dir/said$ranks"
  done
  same "$dir/said1" "$dir/said3" 'what 1 and 3 ranks say of a checkpoint that is cut off'
done
cp "$dir/ordered" "$dir/broken"
printf 'x' | dd of="$dir/broken" bs=1 seek=$((bytes - 70304 * 12 - 1000)) conv=notrunc 2>/dev/null
cp "$dir/ordered" "$dir/broken.prev"
for ranks in 1 3; do
  expect 3 --restart "$dir/broken" --steps 4
  says "broken' is damaged in the section 'ids'; the one before it is whole: --restart .*broken.prev .step 2."
done

finish
