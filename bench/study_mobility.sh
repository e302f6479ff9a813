#!/bin/sh
# bench/study_mobility.sh BUILD [cpu|gpu] - docs/results/mobility/: errors of mobilities beside their tolerances, the time of
# products by number of vectors, and by split as well; PARTS="errors times map" picks some.  Times want a machine that does nothing else.
# Packings for a GPU are 64 copies of one, side by side.
build=$1
backend=${2:-cpu}
parts=${PARTS:-errors times map}
out=docs/results/mobility
packings=$build/mobility
mkdir -p "$out" "$packings"
printf '1,1\n' >"$packings/one.radii"

# packing NAME SPHERES OCCUPANCY RADII
packing()
{
  [ -s "$packings/$1.xyz" ] ||
    "$build/minimd" pack --particles "$2" --occupancy "$3" --radii "$4" -o "$packings/$1.xyz" --quiet >/dev/null
}

case $parts in *errors*)
  for phi in 0.1 0.3 0.5; do
    packing "one-$phi" 2000 $phi "$packings/one.radii" || exit 1
    packing "ecoli-$phi" 2000 $phi ecoli || exit 1
  done
  {
    echo packing,tolerance,xi,cut,mesh,order,rank,error,ratio
    for name in one-0.1 one-0.3 one-0.5 ecoli-0.1 ecoli-0.3 ecoli-0.5; do
      for tolerance in 1e-2 1e-3 1e-4 1e-5; do
        "$build/minimd" mobility -i "$packings/$name.xyz" --vectors 4 --check --repeat 1 --deterministic --quiet \
          --tolerance $tolerance --backend "$backend" --format csv |
          awk -F, -v name=$name 'NR > 1 { printf "%s,%s,%s,%s,%s,%s,%s,%s,%.3f\n", name, $3, $4, $5, $6, $7, $8, $13, $13 / $3 }'
      done
    done
  } >"$out/errors$([ "$backend" = cpu ] || echo "-$backend").csv" || exit 1
  ;;
esac

# copies FILE K : K^3 copies of a cubic packing side by side
copies()
{
  awk -v k="$2" '
    NR == 1 { print $1 * k * k * k; next }
    NR == 2 { match($0, /"[0-9.e+-]+ /); edge = substr($0, RSTART + 1, RLENGTH - 2) + 0
      rest = $0; sub(/Lattice="[^"]*"/, "", rest)
      printf "Lattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\"%s\n", k * edge, k * edge, k * edge, rest; next }
    { for (a = 0; a < k; a++) for (b = 0; b < k; b++) for (c = 0; c < k; c++)
        printf "%s %.12g %.12g %.12g %s\n", $1, $2 + a * edge, $3 + b * edge, $4 + c * edge, $5 }' "$1"
}

# large PHI : many spheres of one size in $packings/large-PHI.xyz
large()
{
  [ -s "$packings/large-$1.xyz" ] && return
  if [ "$backend" = cpu ]; then
    packing "large-$1" 100000 "$1" "$packings/one.radii"
  else
    packing "part-$1" 15625 "$1" "$packings/one.radii" &&
      copies "$packings/part-$1.xyz" 4 >"$packings/large-$1.xyz"
  fi
}

# measure NAME PHI VECTORS [--map] : rows and picture
measure()
{
  name=$1-$backend-$2
  "$build/minimd" mobility -i "$packings/large-$2.xyz" --vectors "$3" ${4:-} --quiet --format csv --backend "$backend" \
    --plot "$out/$name.svg" -o "$out/$name.csv"
}

for phi in 0.1 0.3 0.5; do
  case $parts in *times*) large $phi && measure times $phi 1,2,4,8,16,32 || exit 1 ;; esac
  case $parts in *map*) large $phi && measure map $phi 1,4,16 --map || exit 1 ;; esac
done
