#!/bin/sh
# tests/cli/cli_ordering.sh MINIMD - `ordering` and `cachemodel`: tables, formats, what bad input says.
. tests/cli/cli.sh

# Index tables: the oracle's columns, reshaped.
expect 0 ordering --order row,hilbert,morton:kji,morton --size 4
{
  echo order,i,j,k,index
  for column in 4:row 5:hilbert 6:morton:kji 7:morton; do
    awk -F, -v c="${column%%:*}" -v name="${column#*:}" \
      'NR > 1 { print name "," $1 "," $2 "," $3 "," $c }' tests/oracle/index_M4.csv
  done
} >"$dir/expected"
same "$dir/out" "$dir/expected" "index tables"
expect 0 ordering --order gilbert --size 2,3,1 --format table
[ "$(wc -l <"$dir/out")" = 7 ] || fail "a box of 2 x 3 x 1 has not 6 rows"

# Stencils: Table 2.
expect 0 ordering --stencil block:1,sphere:3,sphere:9
printf '%s\n' stencil,bins,half_bins,sphericity_deviation_percent block:1,27,14,84.4860 \
  sphere:3,311,156,63.6343 sphere:9,4675,2338,34.6818 >"$dir/expected"
same "$dir/out" "$dir/expected" "stencil counts"

# Memory offsets: the oracle's histogram.
expect 0 ordering --order row,hilbert,morton:kji --size 16 --stencil block:1 --offsets
awk -F, 'BEGIN { print "order,stencil,offset,count" }
  NR > 1 { for (c = 2; c <= 4; c++) if ($c > 0) row[c, ++n[c]] = $1 "," $c }
  END { split("x,row,hilbert,morton:kji", name, ",")
        for (c = 2; c <= 4; c++) for (k = 1; k <= n[c]; k++) print name[c] ",block:1," row[c, k] }' \
  tests/oracle/offset_hist_M16_g1.csv >"$dir/expected"
same "$dir/out" "$dir/expected" "memory offsets"

# Misses: one capacity, several, and all agree with each other.
sweep="--order row,hilbert,morton --size 32 --stencil block:1 --line 8"
expect 0 cachemodel $sweep --capacity 8,32,64,256,1024
[ "$(head -1 "$dir/out")" = order,size,stencil,half,line,capacity,accesses,misses,miss_rate ] ||
  fail "header of cachemodel"
prints '^row,32,block:1,0,8,64,729000,11520,0.015802$'
prints '^hilbert,32,block:1,0,8,1024,729000,4770,'
prints '^morton,32,block:1,0,8,8,729000,145688,'
cp "$dir/out" "$dir/several"
expect 0 cachemodel $sweep --capacity all
grep -E ',(8|32|64|256|1024|capacity),' "$dir/out" | grep -E '^[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,(8|32|64|256|1024|capacity),' >"$dir/some"
same "$dir/some" "$dir/several" "all capacities"
for c in 8 32 64 256 1024; do
  expect 0 cachemodel $sweep --capacity $c
  sed 1d "$dir/out"
done | sort >"$dir/single"
sed 1d "$dir/several" | sort >"$dir/expected"
same "$dir/single" "$dir/expected" "single capacities"

# Levels: exclusive levels together are one cache; ways and policies are honoured.
expect 0 cachemodel $sweep --levels exclusive:8,24
prints '^hilbert,32,block:1,0,8,24,141032,29601,'
expect 0 cachemodel $sweep --capacity 64 --policy fifo
cp "$dir/out" "$dir/fifo"
expect 0 cachemodel $sweep --levels 64/fifo
same "$dir/out" "$dir/fifo" "one level"
expect 0 cachemodel $sweep --capacity 64 --ways 4
if grep -q 'hilbert.*,14177,' "$dir/out"; then fail "--ways changes nothing"; fi
expect 0 cachemodel $sweep --half --capacity 64 --format json
prints '"schema": 2'
prints '"half": 1'

# Files and pictures.
expect 0 cachemodel $sweep --capacity 8,32,64,256,1024 -o "$dir/file" --quiet
[ -s "$dir/out" ] && fail "-o leaves standard output empty"
same "$dir/file" "$dir/several" "-o"
expect 3 ordering --stencil block:1 -o "$dir/none/file"
expect 2 ordering --stencil block:1 --plot "$dir/picture.jpg"
if command -v gnuplot >/dev/null 2>&1; then
  expect 0 ordering --order hilbert,gilbert --size 4 --plot "$dir/path.svg"
  expect 0 ordering --order row,hilbert --size 8 --stencil block:1 --offsets --plot "$dir/offsets.png"
  expect 0 ordering --stencil block:1,sphere:4 --plot "$dir/stencils.svg"
  expect 0 cachemodel $sweep --capacity all --plot "$dir/misses.png"
  for picture in path.svg offsets.png stencils.svg misses.png; do
    [ -s "$dir/$picture" ] || fail "no $picture"
  done
fi

# Bad input: exit 2, and the line names what was wrong.
expect 2 ordering
says 'expected --order LIST --size M, or --stencil S'
expect 2 ordering --order hilbrt --size 4
says "hilbrt.*'hilbert'"
for size in 0 -3 4x 4.5 '' 3,4 3,4,5,6 nan; do
  expect 2 ordering --order row --size "$size"
done
expect 2 ordering --order row --size 65536
says '281474976710656 cells'
expect 2 ordering --order hybrid:row/row:0 --size 4
expect 2 ordering --order row,hybrid:hilbert/row:5 --size 32
says 'tiles of 5 cells do not divide a size of 32'
expect 2 ordering --order hybrid:hilbert/row:5 --size 32 --stencil block:1 --offsets
says 'do not divide'
expect 2 ordering --order row --size 4 --stencil block:1
says '--offsets'
expect 2 ordering --order row --size 4 --stencil block:2 --offsets
says 'at least 5'
expect 2 ordering --order row --size 4 --offsets
says '--stencil'
expect 2 ordering --stencils block:1
says "'--stencil'"
base="--order row --size 32 --stencil block:1 --line 8"
expect 2 cachemodel $base
says 'capacity'
expect 2 cachemodel $base --capacity 0
expect 2 cachemodel $base --capacity 8,,9
expect 2 cachemodel $base --capacity 8 --levels 8
expect 2 cachemodel $base --capacity all --ways 4
expect 2 cachemodel $base --capacity 10 --ways 4
says 'divide'
expect 2 cachemodel $base --capacity 8 --policy plru
expect 2 cachemodel $base --levels 8/2/rand
expect 2 cachemodel --order row --size 32 --stencil star:1 --line 8 --capacity 8
says "star.*block, sphere"
expect 2 cachemodel --order row --size 32 --stencil block:1 --line 0 --capacity 8
expect 2 cachemodel --order row --stencil block:1 --line 1 --capacity 8
says 'size'
expect 2 cachemodel --order hybrid:hilbert/row:5 --size 32 --stencil block:1 --line 8 --capacity 8
says 'do not divide'
if [ -z "${ASAN_OPTIONS:-}" ] && (ulimit -v 4000000) 2>/dev/null; then
  minimd_free=$minimd
  printf '#!/bin/sh\nulimit -v 4000000\nexec "%s" "$@"\n' "$minimd_free" >"$dir/limited"
  chmod +x "$dir/limited"
  minimd=$dir/limited
  expect 4 cachemodel --order row --size 1625 --stencil block:1 --line 8 --capacity 8
  says 'GB'
  minimd=$minimd_free
fi
expect 4 cachemodel $base --capacity 1000000000000000 --ways 1
says 'GB'

for command in ordering cachemodel; do
  expect 0 $command --help
  prints "usage: minimd $command"
done

finish
