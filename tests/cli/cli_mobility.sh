#!/bin/sh
# tests/cli/cli_mobility.sh MINIMD - `mobility`: errors against known velocities and the straight sum, tables, what bad
# input says.
. tests/cli/cli.sh
start() { "$minimd" mobility --threads 2 --deterministic --backend "$backend" "$@"; }
header=particles,vectors,tolerance,xi,cut,mesh,order,rank,near_s,far_s,total_s,per_vector_s,error
# errors LEAST MOST : the last column of every CSV row.
errors()
{
  awk -F, -v least="$1" -v most="$2" '
    NR > 1 && !($13 != "" && $13 >= least && $13 <= most) { bad = 1 } END { exit bad || NR < 2 }' "$dir/out" ||
    fail "an error outside $1 .. $2: $(cat "$dir/out")"
}
rows() { [ "$(tail -n +2 "$dir/out" | wc -l)" = "$1" ] || fail "expected $1 rows: $(cat "$dir/out")"; }

# What is printed, and why; auto takes what there is.
expect 0 --case tests/oracle/rpy/mono_27.csv --backend auto
prints '^ *27 +4 +0.001 '
prints '^m = 4: xi .* expected .* s near and .* s far, error 0.001 '
prints '^  why: least expected time of [0-9]+ splits for m = 4, from times of a usual (processor|GPU), .*; single precision$'

# Known velocities; the header is a promise.
for tolerance in 1e-2 1e-3 1e-4; do
  for name in mono_27 overlap_64; do
    expect 0 --case tests/oracle/rpy/$name.csv --tolerance $tolerance --repeat 1 --format csv
    errors "$(awk "BEGIN { print .5 * $tolerance }")" "$(awk "BEGIN { print 1.5 * $tolerance }")"
  done
done
[ "$(head -1 "$dir/out")" = $header ] || fail "header: $(head -1 "$dir/out")"
expect 0 --case tests/oracle/rpy/mono_27.csv --tolerance 1e-8 --repeat 1 --format csv
errors 1e-9 1.5e-8

# Spheres of a packing, random forces, the straight sum.
"$minimd" pack --particles 400 --occupancy 0.2 --radii ecoli -o "$dir/p.xyz" --quiet >/dev/null || fail pack
expect 0 -i "$dir/p.xyz" --vectors 1,3,5 --check --repeat 1 --format csv --quiet
rows 3
errors 5e-4 1.5e-3
[ -s "$dir/err" ] && fail "--quiet: $(cat "$dir/err")"
expect 0 -i "$dir/p.xyz" --vectors 2 --check --tolerance 1e-5 --repeat 1 --format csv --precision double
errors 5e-6 1.5e-5
expect 0 -i "$dir/p.xyz" --vectors 2 --repeat 1 --format csv
prints ',$'

# A map has several splits for each number of vectors, in JSON with reasons; pictures.
expect 0 -i "$dir/p.xyz" --vectors 1,4 --map --moves --repeat 1 --format csv --tolerance 1e-2
awk -F, 'NR > 1 { n[$2]++ } END { exit !(n[1] >= 5 && n[4] >= 5) }' "$dir/out" || fail "map: $(cat "$dir/out")"
says 'fastest of its splits'
expect 0 -i "$dir/p.xyz" --vectors 1 --repeat 1 --format json -o "$dir/file"
for key in '"schema": 2' '"command": "mobility"' '"choices": \[' '"reason": "least' '"expected_near_s": ' '"error": null'; do
  grep -qE "$key" "$dir/file" || fail "no $key in JSON"
done
if command -v gnuplot >/dev/null; then
  expect 0 -i "$dir/p.xyz" --vectors 1,2 --repeat 1 --plot "$dir/p.svg"
  expect 0 -i "$dir/p.xyz" --vectors 1,2 --map --repeat 1 --tolerance 1e-2 --plot "$dir/map.svg"
  grep -q '<svg' "$dir/p.svg" && grep -q '<svg' "$dir/map.svg" || fail 'pictures'
fi

# Reruns of a deterministic context choose the same.
for run in 1 2; do
  expect 0 -i "$dir/p.xyz" --vectors 2 --check --repeat 1 --format csv
  cut -d, -f1-8,13 "$dir/out" >"$dir/run$run"
done
same "$dir/run1" "$dir/run2" reruns

# What a suspension does as a whole.  cells COLUMN: of all rows.
cells() { awk -F, -v name="$1" 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == name) at = c; next } { print $at }' "$dir/out"; }
observed=particles,occupancy,hydrodynamics,observable,wave,structure,value,error,finite_size,vectors,iterations,time_s
expect 0 -i "$dir/p.xyz" --observe diffusion,sedimentation,hq --waves 1,2 --probes 5 --format csv
[ "$(head -1 "$dir/out")" = $observed ] || fail "header: $(head -1 "$dir/out")"
[ "$(cells observable | tr '\n' ' ')" = 'diffusion sedimentation hq hq ' ] || fail "observables: $(cat "$dir/out")"
[ "$(cells vectors | tr '\n' ' ')" = '5 3 6 6 ' ] || fail "vectors: $(cat "$dir/out")"
cells value >"$dir/one"
expect 0 -i "$dir/p.xyz" --observe hq,sedimentation,diffusion --waves 1,2 --probes 5 --vectors 2 --format csv
cells value >"$dir/two"
paste "$dir/one" "$dir/two" | awk '{ d = $1 - $2; if (d * d > 1e-8) bad = 1 } END { exit bad || NR != 4 }' ||
  fail "other values with two vectors at once: $(paste "$dir/one" "$dir/two")"
printf '2,1\n' >"$dir/one.radii" # spheres of one size fall alike, whatever lubricates them
"$minimd" pack --particles 300 --occupancy 0.3 --radii "$dir/one.radii" -o "$dir/one.xyz" --quiet >/dev/null || fail pack
expect 0 -i "$dir/one.xyz" --observe diffusion,sedimentation --hydrodynamics lubrication --format csv
awk -F, 'NR == 3 && !($7 > 0.99999 && $7 < 1.00001) { bad = 1 } END { exit bad }' "$dir/out" ||
  fail "lubrication slows what moves alike: $(cat "$dir/out")"
# Under forces that are alike errors of the mobility add up.
expect 0 -i "$dir/one.xyz" --observe sedimentation --format csv
cells value >"$dir/usual"
expect 0 -i "$dir/one.xyz" --observe sedimentation --tolerance 1e-9 --format csv
cells value | paste "$dir/usual" - | awk '{ d = $1 / $2 - 1; if (d * d > 9e-6) bad = 1 } END { exit bad || NR != 1 }' ||
  fail "sedimentation is not within 0.3 % by itself: $(cells value) and $(cat "$dir/usual")"
expect 0 -i "$dir/p.xyz" --observe diffusion --hydrodynamics full --gap-cut 1 --gap-min 1e-2 --format json -o "$dir/file"
grep -q '"hydrodynamics": "full"' "$dir/file" || fail 'no hydrodynamics in JSON'
expect 2 -i "$dir/p.xyz" --observe diffusion,viscosity
says "--observe: expected diffusion, sedimentation or hq, not 'viscosity'"
expect 2 -i "$dir/p.xyz" --observe hq --waves 1,0
says "--waves: expected numbers above 0"
expect 2 -i "$dir/p.xyz" --observe hq --check
says '--check does not go with --observe'
expect 2 -i "$dir/p.xyz" --probes 3
says '--probes goes with --observe only'
expect 2 -i "$dir/p.xyz" --observe hq --vectors 1,4
says 'expected one number with --observe, not 2'
expect 2 -i "$dir/p.xyz" --observe hq --vectors 65
says '--vectors'
expect 2 -i "$dir/p.xyz" --observe hq --hydrodynamics stokes
says '--hydrodynamics'

# What bad input says.
expect 2
says 'expected spheres: -i FILE, or --case FILE'
expect 2 -i "$dir/p.xyz" --case tests/oracle/rpy/mono_27.csv
expect 2 --case tests/oracle/rpy/mono_27.csv --vectors 3
says '--vectors, --viscosity, --check and --map do not go with it'
expect 2 -i "$dir/p.xyz" --tolerance 0
says "--tolerance"
expect 2 -i "$dir/p.xyz" --tolerance 1e-6 --precision single
says 'a tolerance of 1e-06 needs double'
expect 2 -i "$dir/p.xyz" --vectors 1,x
says '--vectors'
expect 2 -i "$dir/p.xyz" --viscosity -1
says '--viscosity'
expect 2 -i "$dir/p.xyz" --plot "$dir/p.gif"
expect 2 -i "$dir/p.xyz" --tolerence 1e-3
says 'tolerance'
expect 3 -i "$dir/nothing.xyz"
expect 3 --case "$dir/nothing.csv"
printf '2\nno box\nC 1 2 3\nC 2 3 4\n' >"$dir/open.xyz"
expect 2 -i "$dir/open.xyz"
says 'open.xyz:2: .*Lattice'
# bad LINES WORDS : a case file with these lines.
bad()
{
  printf "$1" >"$dir/bad.csv"
  expect 2 --case "$dir/bad.csv"
  says "bad.csv:$2"
}
names=x,y,z,radius,fx,fy,fz,ux,uy,uz
bad '' '[01]: '
bad 'x,y\n' "1: expected '# box LX LY LZ viscosity ETA'"
bad "# box 9 9 9 viscosity 1\nx,y,z,radius\n" '2: expected 4 \+ 6 m columns'
bad "# box 9 9 9 viscosity 1\n$names\n" '3: expected a row for each sphere'
bad "# box 9 9 9 viscosity 1\n$names\n1,2,3,1,0,0,1,0,0\n" '3: expected 10 numbers, not 9'
bad "# box 9 9 9 viscosity 1\n$names\n1,2,3,1,0,0,1,0,0,oops\n" '3: .*oops'
printf "# box 9 9 9 viscosity 1\n$names\n1,2,3,-1,0,0,1,0,0,0\n" >"$dir/bad.csv"
expect 2 --case "$dir/bad.csv"
says 'radius'
printf "# box 0 9 9 viscosity 1\n$names\n1,2,3,1,0,0,1,0,0,0\n" >"$dir/bad.csv"
expect 2 --case "$dir/bad.csv"
printf "# box 9 9 9 viscosity -1\n$names\n1,2,3,1,0,0,1,0,0,0\n" >"$dir/bad.csv"
expect 2 --case "$dir/bad.csv"
says 'viscosity must be > 0'
finish
