#!/bin/sh
# tests/cli/cli_machines.sh MINIMD - `cachemodel` of the force kernel on a machine and of recorded traces.
. tests/cli/cli.sh

# The force kernel on a machine: a row for each ordering, list and stream, and one for all streams.
cat >"$dir/machine" <<'END'
name = "toy"; kind = "cpu";
levels = ( { bytes = 8192; ways = 8; line = 64; }, { bytes = 262144; ways = 8; line = 64; } );
END
run="cachemodel --quiet --cells 4 --steps 5"
expect 0 $run --order row,hilbert --list full,half --machine "$dir/machine"
[ "$(wc -l <"$dir/out")" = 29 ] || fail "not 4 times 7 rows"
for variant in row,full hilbert,full row,half hilbert,half; do
  for stream in AC NI NC NT FUI FUO all; do prints "^$variant,double,toy,rows,cold,$stream,"; done
done
cp "$dir/out" "$dir/both"
expect 0 $run --order hilbert --list half --machine "$dir/machine"
grep -E '^(order|hilbert,half)' "$dir/both" >"$dir/expected"
same "$dir/out" "$dir/expected" "one variant"
awk -F, 'NR > 1 { for (c = 11; c <= 12; c++) if ($c < 0 || $c > 1) print "hit rate: " $0 }' \
  "$dir/both" >"$dir/wrong"
[ -s "$dir/wrong" ] && fail "$(cat "$dir/wrong")"
expect 0 $run --order row,random --machine h200 --bracket --warm --format json
prints '"stream": "NC"'
prints '"schedule": "oldest"'
prints '"caches": "warm"'

# The model has the lists of the run: in one set of 512 lines, where places in memory do not matter,
# it misses as often as what a run of the same steps recorded, at a rebuild and between two.
cat >"$dir/one_set" <<'END'
name = "one set"; kind = "cpu"; levels = ( { bytes = 32768; ways = 512; line = 64; } );
END
for case in '0 full double' '5 full double' '20 half mixed' '33 half single'; do
  set -- $case
  same_run="--backend cpu --quiet --cells 4 --order row --steps $1 --list $2 --precision $3"
  expect 0 run $same_run --trace "$dir/trace"
  expect 0 cachemodel --trace "$dir/trace" --capacity 512
  awk -F, 'NR == 2 { printf "%.3f\n", 64 * $5 / 256 }' "$dir/out" >"$dir/expected"
  expect 0 cachemodel $same_run --machine "$dir/one_set"
  awk -F, '$7 == "all" { print $12 }' "$dir/out" >"$dir/modelled"
  same "$dir/modelled" "$dir/expected" "misses at step $case"
done

# A trace that a run recorded: its accesses, at any capacity.
expect 0 run --backend cpu --cells 4 --steps 5 --quiet --trace "$dir/trace"
cp "$dir/trace" "$dir/whole"
expect 0 cachemodel --trace "$dir/trace" --line-bytes 64 --capacity 1,64,1000000
prints '^trace,line_bytes,capacity,accesses,misses,miss_rate$'
awk -F, 'NR > 2 && $5 > before { print "more misses in a larger cache" } { before = $5 }
  NR > 1 && ($5 <= 0 || $5 > $4) { print "misses: " $0 }' "$dir/out" >"$dir/wrong"
[ -s "$dir/wrong" ] && fail "$(cat "$dir/wrong")"
tail -1 "$dir/out" | cut -d, -f4- >"$dir/large"
expect 0 cachemodel --trace "$dir/trace" --capacity all --format csv
tail -1 "$dir/out" | cut -d, -f4- >"$dir/last"
same "$dir/last" "$dir/large" "the largest capacity"
printf '0,4,r\n0x40,4,w\n# comment\n60,8,r\n' >"$dir/text"
expect 0 cachemodel --trace "$dir/text" --capacity 1,2
prints ',64,1,4,4,1\.000000$'
prints ',64,2,4,2,0\.500000$'

# Capacities in bytes, sets, regions of memory and single lines; a CPU's levels.
expect 0 cachemodel --trace "$dir/text" --capacity 64B,128B
prints ',64,1,4,4,1\.000000$'
expect 0 cachemodel --trace "$dir/text" --capacity 1 --regions x=0-64,y=0x40-0x80
prints '^trace,line_bytes,capacity,region,accesses,misses,miss_rate$'
prints ',64,1,x,3,3,'
prints ',64,1,y,1,1,'
prints ',64,1,other,0,0,'
prints ',64,1,all,4,4,'
expect 0 cachemodel --trace "$dir/text" --capacity 1 --worst 1 --regions x=0-64
prints ',64,1,0x0,x,2,2,1\.000000,0\.500000$'
expect 0 cachemodel --trace "$dir/text" --machine "$dir/machine" --format json
prints '"level": 2'
prints '"misses": 2'
expect 0 cachemodel --trace "$dir/text" --capacity 2 --ways 1 --policy fifo
# What other programs write, from a pipe, compressed.
printf '==1== Lackey\n L 1000,8\n M 1040,4\nI  2000,3\n' >"$dir/lackey"
from_pipe() { "$minimd" cachemodel --trace - --capacity 2 "$@" >"$dir/out" 2>"$dir/err"; }
from_pipe <"$dir/lackey" || fail "standard input: $(cat "$dir/err")"
prints '^-,64,2,3,2,'
says 'read as lackey'
gzip -c "$dir/lackey" | from_pipe --instructions --quiet || says 'has no zlib'
[ -s "$dir/err" ] || prints '^-,64,2,4,3,'
expect 2 cachemodel --trace "$dir/lackey" --trace-format dinero --capacity 8
says 'line 1: expected .0.1.2 address'
expect 2 cachemodel --trace "$dir/lackey" --trace-format lacky --capacity 8
says 'lackey'
expect 2 cachemodel --trace "$dir/text" --capacity 100B
says 'capacity.*lines of 64 bytes'
expect 2 cachemodel --trace "$dir/text" --capacity 8 --regions x=0-64,y=60-80
says 'regions.*overlap'
expect 2 cachemodel --trace "$dir/text" --capacity 8,16 --worst 3
says 'worst'
expect 2 cachemodel --trace "$dir/text" --capacity 8 --machine "$dir/machine"
says 'either'
expect 2 cachemodel --trace "$dir/text" --machine "$dir/machine" --ways 2
expect 2 cachemodel --trace "$dir/text" --machine h200
says 'warps'
expect 2 cachemodel --trace "$dir/text" --capacity all --ways 2

if command -v gnuplot >/dev/null 2>&1; then
  expect 0 cachemodel --trace "$dir/text" --capacity all --regions first=0-64 --plot "$dir/regions.svg"
  grep -q first "$dir/regions.svg" || fail "the picture does not name its regions"
  expect 0 $run --order row,hilbert --machine "$dir/machine" --plot "$dir/kernel.svg"
  grep -q 'hilbert full' "$dir/kernel.svg" || fail "the picture does not name its orderings"
  expect 0 cachemodel --trace "$dir/trace" --capacity all --plot "$dir/trace.png"
  [ -s "$dir/trace.png" ] || fail "no picture of the trace"
fi

# Bad input: nothing runs, the line names what was wrong.
expect 2 $run --order row,hilbrt --machine h200
says "hilbrt'"
expect 2 $run --order row --list full,hlaf --machine host
says 'hlaf'
expect 2 $run --order row --list tile --machine host
says '--list.*full or half'
expect 2 run --cells 4 --steps 1 --list tile --trace "$dir/none"
says 'full or half'
expect 0 run --cells 4 --steps 1 --list tile --backend cpu
prints '^list +full \(on the CPU'
expect 2 $run --machine h100
says 'h100.*h200'
expect 2 $run --machine h200:229
says '228'
expect 2 $run --machine "$dir/text"
expect 2 $run --machine h200 --rows 0
expect 2 $run --machine "$dir/machine" --schedule oldest
says 'schedule.*toy'
expect 2 $run --machine h200 --plot "$dir/picture.gif"
expect 2 $run --machine h200 --size 0
says 'size'
expect 3 cachemodel -i "$dir/absent" --machine h200
expect 3 cachemodel --trace "$dir/absent" --capacity 8
expect 2 cachemodel --trace "$dir/trace" --capacity 0
expect 2 cachemodel --trace "$dir/trace" --capacity 8 --line-bytes 0
expect 2 cachemodel --trace "$dir/trace"
says 'capacity'
head -c 2000 "$dir/whole" >"$dir/trace"
expect 2 cachemodel --trace "$dir/trace" --capacity 8
says 'truncated.*byte 2000'
{ head -c 2000 "$dir/whole" && printf 'X' && tail -c +2002 "$dir/whole"; } >"$dir/trace"
expect 2 cachemodel --trace "$dir/trace" --capacity 8
says 'corrupted.*check sum'
: >"$dir/trace"
expect 2 cachemodel --trace "$dir/trace" --capacity 8
says 'empty'
printf '0,4,r\n4,4,x\n' >"$dir/text"
expect 2 cachemodel --trace "$dir/text" --capacity 8
says 'line 2'
for form in '-i x' '--trace x'; do
  expect 0 cachemodel $form --help
  prints '^usage: minimd cachemodel'
  prints '--plot'
done

finish
