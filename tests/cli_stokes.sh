#!/bin/sh
# tests/cli_stokes.sh MINIMD - `pack`, `gspmv` and `stokes`: files, tables, what bad input says.
minimd=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cases=0
failures=0
backend=${MINIMD_TEST_BACKEND:-cpu}

fail()
{
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect CODE ARGS... : run, check the exit code and the error line's form.
expect()
{
  code=$1
  shift
  cases=$((cases + 1))
  "$minimd" "$@" >"$dir/out" 2>"$dir/err" </dev/null
  got=$?
  [ $got = "$code" ] || fail "exit $got instead of $code: minimd $* : $(cat "$dir/err")"
  lines=$(grep -c '^minimd: error:' "$dir/err")
  if [ "$code" = 0 ]; then
    [ "$lines" = 0 ] || fail "an error line and exit 0: minimd $*"
  else
    [ "$lines" = 1 ] || fail "$lines error lines: minimd $* : $(cat "$dir/err")"
  fi
}
says() { grep -qE -- "$1" "$dir/err" || fail "no '$1' in: $(cat "$dir/err")"; }
prints() { grep -qE -- "$1" "$dir/out" || fail "no '$1' in: $(head -5 "$dir/out")"; }
same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

# Packings: seeded, the same for any number of threads, as dense as asked for.
expect 0 pack --particles 500 --occupancy 0.4 --seed 7 --threads 1 -o "$dir/a.xyz" --format csv
prints '^particles,occupancy,edge,gap_min,iterations,accepted,time_s$'
prints '^500,0\.400000,'
says 'GB of memory'
expect 0 pack --particles 500 --occupancy 0.4 --seed 7 --threads 3 -o "$dir/b.xyz" --quiet
[ -s "$dir/err" ] && fail "--quiet is not"
same "$dir/a.xyz" "$dir/b.xyz" "packings by 1 and 3 threads"
expect 0 pack --particles 500 --occupancy 0.4 --seed 8 -o "$dir/c.xyz" --format json
prints '"schema": 1'
cmp -s "$dir/a.xyz" "$dir/c.xyz" && fail "the seed changes nothing"
[ "$(head -1 "$dir/a.xyz")" = 500 ] || fail "extended XYZ begins with the number of spheres"
sed -n 2p "$dir/a.xyz" | grep -q 'Lattice=".*Properties=.*radius:R:1' || fail "line 2 of the packing"
printf '# two sizes\n30,0.75\n60,0.25\n' >"$dir/radii"
expect 0 pack --particles 200 --occupancy 0.3 --radii "$dir/radii" -o "$dir/two.xyz"
awk 'NR > 2 { n[$NF + 0]++ } END { exit !(n[30] == 150 && n[60] == 50) }' "$dir/two.xyz" ||
  fail "150 and 50 spheres of two sizes"

# Bad input.
expect 2 pack --occupancy 0.3 -o "$dir/x.xyz"
says '--particles'
expect 2 pack --particles 100 --occupancy 0.3
says '-o FILE'
for phi in 0 1 1.2 nan -0.1 0,3; do
  expect 2 pack --particles 100 --occupancy "$phi" -o "$dir/x.xyz"
  says '--occupancy'
done
for n in 0 -1 1.5 1e3; do
  expect 2 pack --particles "$n" --occupancy 0.3 -o "$dir/x.xyz"
  says '--particles'
done
expect 2 pack --particles 200 --occupancy 0.85 --radii "$dir/radii" --iterations 30 -o "$dir/x.xyz"
says 'cannot be packed at an occupancy of 0.85 .* 0\.[1-7][0-9]* was reached'
[ -e "$dir/x.xyz" ] && fail "a failed command leaves a file"
expect 3 pack --particles 100 --occupancy 0.3 --radii "$dir/none" -o "$dir/x.xyz"
printf '30;0.75\n' >"$dir/bad"
expect 2 pack --particles 100 --occupancy 0.3 --radii "$dir/bad" -o "$dir/x.xyz"
says 'bad:1'
expect 3 pack --particles 200 --occupancy 0.2 --radii "$dir/radii" -o "$dir/none/x.xyz"

# Products: header, rows, the error against plain sums.
expect 0 gspmv --matrix mat1 --rows 1500 --vectors 1,3,8 --repeat 2 --format csv --backend "$backend" \
  --write "$dir/m.mtx"
[ "$(head -1 "$dir/out")" = matrix,backend,block_rows,blocks,vectors,time_s,gb_per_s,gflop_per_s,relative_time,model_relative_time,error ] ||
  fail "header of gspmv"
awk -F, 'NR > 1 && !($3 == 1500 && $4 / $3 > 4.8 && $4 / $3 < 6.5 && $6 > 0 && $10 >= 1 && $11 < 1e-14) { bad = 1 }
  END { exit bad || NR != 4 }' "$dir/out" || fail "rows of mat1: $(cat "$dir/out")"
cut -d, -f3,4 "$dir/out" | sort -u >"$dir/shape"
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 1,3,8 --repeat 1 --format csv --backend "$backend" -o "$dir/table"
[ -s "$dir/out" ] && fail "-o leaves standard output empty"
cut -d, -f3,4 "$dir/table" | sort -u >"$dir/shape2"
same "$dir/shape" "$dir/shape2" "a matrix written and read"
for storage in single pair; do
  expect 0 gspmv --matrix mat2 --rows 1500 --vectors 4 --repeat 1 --storage $storage --format csv \
    --backend "$backend"
  awk -F, 'NR == 2 { exit !($4 / $3 > 20 && $4 / $3 < 29 && $11 < 1e-13) }' "$dir/out" ||
    fail "$storage: $(cat "$dir/out")"
done
expect 0 gspmv --map --format csv
[ "$(wc -l <"$dir/out")" = 421 ] || fail "the map has 14 x 30 points"
prints '^6,0\.02,8$' # 72 m + 460 bytes at most twice 532
prints '^84,0\.60,14$' # 18 x 84 x 0.6 m at most twice 6460
expect 0 gspmv --matrix "$dir/m.mtx" --vectors 2 --repeat 1 --format json --backend "$backend"
prints '"model_relative_time"'
if command -v gnuplot >/dev/null 2>&1; then
  expect 0 gspmv --map --plot "$dir/map.png" --quiet
  expect 0 gspmv --matrix "$dir/m.mtx" --repeat 1 --plot "$dir/times.svg" --backend "$backend"
  expect 0 pack --particles 200 --occupancy 0.3 --radii "$dir/radii" -o "$dir/two.xyz" --plot "$dir/cut.png"
  for picture in map.png times.svg cut.png; do
    [ -s "$dir/$picture" ] || fail "no $picture"
  done
fi

# Bad matrices and numbers of vectors.
expect 2 gspmv
says '--matrix'
expect 2 gspmv --matrix mat4
says 'mat1, mat2, mat3'
expect 3 gspmv --matrix "$dir/none.mtx"
for m in 0 65 -1 2x 1,,2 nan; do
  expect 2 gspmv --matrix mat1 --vectors "$m"
  says '--vectors'
done
head='%%MatrixMarket matrix coordinate real general'
printf '%s\n4 4 1\n1 1 1\n' "$head" >"$dir/rows.mtx"
printf '%s\n3 6 1\n1 1 1\n' "$head" >"$dir/square.mtx"
printf '%s\n3 3 3\n1 1 1\n2 2 1\n' "$head" >"$dir/short.mtx"
printf '%s\n3 3 1\n1 1 1\n' "$head" | tr r x >"$dir/head.mtx"
for file in rows:2 square:2 short:5 head:1; do
  expect 2 gspmv --matrix "$dir/${file%:*}.mtx"
  says "${file%:*}.mtx:${file#*:}: "
done
expect 4 gspmv --matrix mat3 --rows 200000000 --quiet
says 'GB of memory'

for command in pack gspmv; do
  expect 0 $command --help
  prints "usage: minimd $command"
done

echo "$cases cases, $failures failures"
[ $failures = 0 ]
