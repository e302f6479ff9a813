#!/bin/sh
# bench/study_mobility.sh BUILD - docs/results/mobility/: errors of mobilities beside their tolerances, and the time of
# products by split and number of vectors; PARTS="errors map" picks some.  Times want a machine that does nothing else.
build=$1
parts=${PARTS:-errors map}
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
          --tolerance $tolerance --format csv |
          awk -F, -v name=$name 'NR > 1 { printf "%s,%s,%s,%s,%s,%s,%s,%s,%.3f\n", name, $3, $4, $5, $6, $7, $8, $13, $13 / $3 }'
      done
    done
  } >"$out/errors.csv" || exit 1
  ;;
esac

case $parts in *map*)
  for phi in 0.1 0.3 0.5; do
    packing "large-$phi" 100000 $phi "$packings/one.radii" || exit 1
    "$build/minimd" mobility -i "$packings/large-$phi.xyz" --vectors 1,4,16 --map --quiet --format csv \
      --plot "$out/map-cpu-$phi.svg" -o "$out/map-cpu-$phi.csv" || exit 1
  done
  ;;
esac
