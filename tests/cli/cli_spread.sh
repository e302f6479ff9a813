#!/bin/sh
# tests/cli/cli_spread.sh MINIMD - `spread`: methods against the direct sum, formats, what bad input says.
. tests/cli/cli.sh
start() { "$minimd" spread --backend "$backend" --threads 2 "$@"; }
# errors_below LIMIT : the last column of every CSV row.
errors_below()
{
  awk -F, -v limit="$1" 'NR > 1 && !($13 != "" && $13 + 0 < limit) { bad = 1 } END { exit bad || NR < 2 }' \
    "$dir/out" || fail "an error of $1 or more: $(cat "$dir/out")"
}
if [ "$backend" = cpu ]; then
  methods="particle single coloured tiled"
  missing=gather
else
  methods="particle gather single group hybrid tiled"
  missing=coloured
fi
quick="--repeat 1 --format csv"

# Every method agrees with the direct sum; the header is a promise.
for precision in single:5e-6 double:1e-13; do
  for distribution in uniform lattice clustered; do
    expect 0 --particles 3000 --mesh 20,17,24 --order 6 --method all --check $quick \
      --precision ${precision%:*} --distribution $distribution
    [ "$(cut -d, -f1 "$dir/out" | tr '\n' ' ')" = "method $methods " ] || fail "methods of all: $(cat "$dir/out")"
    errors_below ${precision#*:}
  done
done
[ "$(head -1 "$dir/out")" = method,backend,precision,particles,mesh,order,vectors,asm,build_s,spread_s,particles_per_s,fraction_of_limit,error ] ||
  fail "header: $(head -1 "$dir/out")"
says '^cheapest for R spreadings, building included: [a-z]+ from R = 1'
prints "^tiled,$backend,double,3000,20x17x24,6,1,79.412,"
for order in 2 3 9 10; do
  expect 0 --particles 100 --mesh 11 --order $order --check $quick --method tiled --vectors 3
  errors_below 1e-13
done
expect 0 --particles 20000 --mesh 144,128,32 --method all --check $quick # threads take blocks of several tiles
errors_below 1e-13
for n in 0 1; do
  expect 0 --particles $n --mesh 8 --order 4 --check $quick --method all
  errors_below 1e-13
done

# auto says what it chose and why; nothing is compared unless asked for.
expect 0 --particles 1000 --mesh 16 --order 4
prints '^auto chose (particle|single|tiled): .'
prints ' -$'
expect 0 --particles 1000 --mesh 16 --method auto $quick
says '^auto chose '
prints ',$'

# Formats, files, pictures.
expect 0 --particles 500 --mesh 16,16,8 --method all --repeat 3 --check --format json
for key in '"schema": 2' '"method": "tiled"' '"error": ' '"cheapest": \[' '"from_repeats": 1' '"commit": '; do
  prints "$key"
done
expect 0 --particles 500 --mesh 16 --method auto --repeat 1 --format json
prints '"choice": \{'
prints '"reason": "[^"]'
expect 0 --particles 500 --mesh 16 --method tiled $quick -o "$dir/file" --seed 7
[ -s "$dir/out" ] && fail "-o leaves standard output empty"
grep -q '^tiled,' "$dir/file" || fail "-o writes no row"
expect 3 --particles 500 --mesh 16 -o "$dir/none/file"
if command -v gnuplot >/dev/null 2>&1; then
  expect 0 --particles 500 --mesh 16 --method all $quick --plot "$dir/bars.svg"
  [ -s "$dir/bars.svg" ] || fail "no picture"
fi
expect 2 --particles 500 --mesh 16 --plot "$dir/bars.gif"

# Particles from a file, with and without charges.
printf '# x y z\n1 2 3\n-0.5 1e3 4 # beyond the box\n\n15.999999 0 0\n' >"$dir/three"
expect 0 --distribution "$dir/three" --mesh 16 --check $quick --method all
errors_below 1e-12
prints "^tiled,$backend,double,3,16,"
printf '1 2 3 0.5 -1\n4 5 6 2 3\n' >"$dir/charges"
expect 0 --distribution "$dir/charges" --mesh 8 --box 7,8,9 --vectors 2 --check $quick --particles 2
errors_below 1e-13
expect 2 --distribution "$dir/charges" --mesh 8 --vectors 3
says 'charges:1: particle 0 has 5 columns'
expect 2 --distribution "$dir/three" --mesh 8 --particles 4
says "'.*three' has 3"
for bad in nan inf -inf 1e400 x 0,5 0x10; do
  printf '1 2 3\n4 5 6\n7 %s 9\n' "$bad" >"$dir/bad"
  expect 2 --distribution "$dir/bad" --mesh 8
  says "bad:3: particle 2, y: .*$bad"
done
printf '1 2 3\n4 5 1e300\n' >"$dir/bad"
expect 2 --distribution "$dir/bad" --mesh 8
says 'particle 1 '
printf '1 2 3\n4 5\n' >"$dir/bad"
expect 2 --distribution "$dir/bad" --mesh 8
says 'bad:2: particle 1 has 2 columns'
expect 3 --distribution "$dir/nothing" --mesh 8
expect 3 --distribution "$dir" --mesh 8

# Bad input: exit 2, and the line names what was wrong.
expect 2 --mesh 16
says '--particles is missing'
expect 2 --particles 10
says '--mesh is missing'
for n in -1 1.5 10x '' nan 1e6; do
  expect 2 --particles "$n" --mesh 16
  says '--particles'
done
expect 2 --particles 10 --mesh 16,5,16 --order 6
says 'axis 2 of the mesh has 5 points: order 6 needs at least 6'
for mesh in 0 -8 8,8 8,8,8,8 8x ''; do
  expect 2 --particles 10 --mesh "$mesh"
  says '--mesh'
done
for order in 1 11 0 -2 4.0; do
  expect 2 --particles 10 --mesh 16 --order "$order"
  says "--order.*$order"
done
for vectors in 0 -3 two; do
  expect 2 --particles 10 --mesh 16 --vectors "$vectors"
  says "--vectors.*$vectors"
done
expect 2 --particles 10 --mesh 16 --repeat 0
expect 2 --particles 10 --mesh 16 --method tield
says "'tiled'"
expect 2 --particles 10 --mesh 16 --method $missing
says "has no method $missing: expected one of"
expect 2 --particles 10 --mesh 16 --precision half
expect 2 --particles 10 --mesh 16 --distribution unifrom
says "'uniform'"
for box in 0 -1 1,2 inf 1,2,x; do
  expect 2 --particles 10 --mesh 16 --box "$box"
  says '--box'
done
expect 2 --particles 10 --mesh 2000
says '2\^32'
expect 4 --particles 1000000000000000 --mesh 16
says 'GB'
expect 4 --particles 10 --mesh 1000 --vectors 10000
says 'GB'
expect 0 --help
prints 'usage: minimd spread'

finish
