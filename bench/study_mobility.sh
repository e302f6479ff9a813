#!/bin/sh
# bench/study_mobility.sh BUILD [cpu|gpu] - docs/results/mobility/: mobilities of spheres of one size
#
#   errors   beside their tolerances, E. coli's sizes too
#   times    of products by number of vectors, and of setting spheres (sets)
#   map      of products by split
#   steps    of Brownian dynamics: M anew in each step, and for 16 at once
#   pictures with gnuplot
#
# PARTS="times map" picks some, SIZES="1000000 100000" numbers of spheres, OCCUPANCIES.  Times want a machine that does nothing else.
# Large packings are 64 copies of one, side by side.
set -eu
build=$1
backend=${2:-cpu}
parts=${PARTS:-errors times map steps pictures}
minimd=$build/minimd
results=docs/results/mobility
work=$build/study-mobility-$backend
rm -rf "$work"
mkdir -p "$results" "$work" "$build/mobility"
printf '1,1\n' >"$work/one.radii"

. bench/rows.sh
. bench/copies.sh

# packing NAME SPHERES OCCUPANCY RADII
packing()
{
  [ -s "$build/mobility/$1.xyz" ] ||
    "$minimd" pack --particles "$2" --occupancy "$3" --radii "$4" -o "$build/mobility/$1.xyz" --quiet >/dev/null
}

errors()
{
  for phi in 0.1 0.3 0.5; do
    packing "one-$phi" 2000 $phi "$work/one.radii"
    packing "ecoli-$phi" 2000 $phi ecoli
  done
  for name in one-0.1 one-0.3 one-0.5 ecoli-0.1 ecoli-0.3 ecoli-0.5; do
    for tolerance in 1e-2 1e-3 1e-4 1e-5; do
      rows errors packing=$name -- mobility -i "$build/mobility/$name.xyz" --vectors 4 --check --repeat 1 --deterministic \
        --tolerance $tolerance --backend "$backend"
    done
  done
  # Without times: a deterministic run chooses from usual ones, and nothing else here depends on the machine.
  awk -F, -v OFS=, 'NR == 1 { print $1, $2, $3, $4, $7, $8, $9, $10, $11, $12, $17, "ratio"; next }
    { print $1, $2, $3, $4, $7, $8, $9, $10, $11, $12, $17, sprintf("%.3f", $17 / $7) }' "$work/errors.part" \
    >"$results/$backend-errors.csv"
}

# large SPHERES PHI : so many of one size
large()
{
  [ -s "$build/mobility/large-$1-$2.xyz" ] && return
  packing "part-$1-$2" $(($1 / 64)) "$2" "$work/one.radii"
  copies "$build/mobility/part-$1-$2.xyz" 4 >"$build/mobility/large-$1-$2.xyz"
}

# measure PART SPHERES PHI VECTORS [--map]
measure()
{
  part=$1 spheres=$2 phi=$3 vectors=$4
  shift 4
  large "$spheres" "$phi"
  rows "$part" occupancy="$phi" -- mobility -i "$build/mobility/large-$spheres-$phi.xyz" --vectors "$vectors" "$@" \
    --backend "$backend"
  cp "$work/$part.part" "$results/$backend-$part.csv"
}

# What it took to set spheres, as told beside the last rows.
sets()
{
  [ -e "$work/sets" ] || echo 'date,commit,machine,occupancy,particles,vectors,blocks_a_row,set_s' >"$work/sets"
  sed -n 's/^m = \([0-9]*\): xi [^,]*, \([0-9.]*\) blocks a row.* set in \([0-9.e+-]*\) s$/\1,\2,\3/p' "$work/messages" |
    sed "s/^/$(date -u +%F),$commit,$machine,$2,$1,/" >>"$work/sets"
  cp "$work/sets" "$results/$backend-sets.csv"
}

# steps SPHERES PHI
steps()
{
  large "$1" "$2"
  for lambda in 1 16; do
    rows steps particles="$1" occupancy="$2" lambda=$lambda -- stokes -i "$build/mobility/large-$1-$2.xyz" \
      --hydrodynamics rpy --lambda $lambda --steps $((lambda == 1 ? 6 : 48)) --dt 0.01 --backend "$backend"
  done
  awk -F, 'NR == 1 || $8 > 0' "$work/steps.part" >"$results/$backend-steps.csv" # within a group nothing is computed
}

pictures()
{
  command -v gnuplot >/dev/null 2>&1 || { echo 'no gnuplot: no pictures'; return 0; }
  bench=$(pwd)/bench
  (cd "$results" && gnuplot "$bench/style.gp" "$bench/study_mobility.gp")
}

[ "$backend" = cpu ] && sizes=${SIZES:-100000} || sizes=${SIZES:-1000000 100000}
occupancies=${OCCUPANCIES:-0.1 0.3 0.5}
for part in $parts; do
  case $part in
    errors) errors ;;
    times) for n in $sizes; do for phi in $occupancies; do measure times "$n" $phi 1,2,4,8,16,32; sets "$n" $phi; done; done ;;
    map) for n in $sizes; do for phi in $occupancies; do measure map "$n" $phi 1,4,16 --map; done; done ;;
    steps) for n in $sizes; do for phi in $occupancies; do steps "$n" $phi; done; done ;;
    pictures) pictures ;;
    *) echo "no such part: $part" >&2; exit 2 ;;
  esac
done
