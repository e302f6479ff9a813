#!/bin/sh
# bench/study_hydrodynamics.sh BUILD [cpu|gpu] [PART...] - what suspensions of spheres of one size do as a whole, for
# docs/hydrodynamics.md: docs/results/hydrodynamics/BACKEND-PART.csv, and pictures of what is there.
#
#   suspension   D_s, K and H(q) in equilibrium at 10 to 50 %: 125, 1000 and 8000 spheres, M alone, with lubrication,
#                lubrication alone (a GPU: M alone, 125,000 spheres as well)
#   cubic        sedimentation of cubic arrays (cpu only)
#   limits       D_s and K without images, from the rows of `suspension`
#   pictures     with gnuplot
set -eu
build=$1
backend=${2:-cpu}
[ $# -lt 2 ] || shift
shift
minimd=$build/minimd
results=docs/results/hydrodynamics
work=$build/study-hydrodynamics-$backend
rm -rf "$work"
mkdir -p "$results" "$work" "$build/suspensions"
echo 1,1 >"$work/one.radii"
tolerance=1e-5

. bench/rows.sh

# packing SPHERES OCCUPANCY SEED : its file
packing()
{
  name=$build/suspensions/$1-$2-$3.xyz
  [ -s "$name" ] ||
    "$minimd" pack --particles "$1" --occupancy "$2" --seed "$3" --radii "$work/one.radii" -o "$name" --quiet >/dev/null
  echo "$name"
}

# observe SPHERES OCCUPANCY SEED HYDRODYNAMICS LIST PROBES
observe()
{
  rows suspension seed="$3" -- mobility -i "$(packing "$1" "$2" "$3")" --hydrodynamics "$4" --observe "$5" --probes "$6" \
    --tolerance $tolerance --backend "$backend" --seed "$3"
}

suspension()
{
  [ "$backend" = cpu ] && kinds='rpy full lubrication' || kinds='rpy lubrication'
  for phi in 0.1 0.2 0.3 0.4 0.5; do
    for kind in $kinds; do
      [ $kind = lubrication ] && few=diffusion || few=diffusion,sedimentation
      for seed in 1 2 3 4 5 6; do observe 125 $phi $seed $kind $few 64; done
      for seed in 1 2 3 4 5 6; do observe 1000 $phi $seed $kind $few,hq 64; done
      for seed in 1 2 3 4 5 6; do observe 8000 $phi $seed $kind $few 32; done
    done
    [ "$backend" = cpu ] || observe 125000 $phi 1 rpy diffusion,sedimentation,hq 16
    cp "$work/suspension.part" "$results/$backend-suspension.csv"
  done
}

# array OCCUPANCY : a cubic array of 125 spheres of radius 1
array()
{
  awk -v phi="$1" 'BEGIN { l = exp(log(4 * atan2(1, 1) * 4 / 3 / phi) / 3)
    printf "125\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Properties=species:S:1:pos:R:3:radius:R:1 pbc=\"T T T\"\n", 5 * l, 5 * l, 5 * l
    for (i = 0; i < 125; i++) printf "C %.17g %.17g %.17g 1\n", i % 5 * l, int(i / 5) % 5 * l, int(i / 25) * l }'
}

cubic()
{
  for phi in 0.001 0.008 0.027 0.064 0.125 0.216 0.343 0.45; do
    array $phi >"$work/array.xyz"
    for kind in rpy full; do
      rows cubic -- mobility -i "$work/array.xyz" --hydrodynamics $kind --gap-cut 2 --observe sedimentation --tolerance 1e-7 \
        --vectors 3 --backend cpu
    done
  done
  cp "$work/cubic.part" "$results/cpu-cubic.csv"
}

# Means over packings with their standard errors, and both without images.  D_s / D_0 grows by 1.7601 (phi / N)^(1/3) eta_0 / eta
# to its limit: with M alone eta = eta_0, and else 1000 and 8000 spheres tell both.  K grows by S(0) times that, where S(0) is
# that of Carnahan and Starling.
limits()
{
  awk -F, -v OFS=, '
    NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
    $at["observable"] != "hq" { key = $at["hydrodynamics"] OFS $at["observable"] OFS sprintf("%.1f", $at["occupancy"])
      if (!(key in lead)) { lead[key] = $1 OFS $2 OFS $3; order[++k] = key }
      n = $at["particles"]; runs[key, n]++; sum[key, n] += $at["value"]; square[key, n] += $at["value"] ^ 2 }
    function mean(key, n) { return sum[key, n] / runs[key, n] }
    function error(key, n,   v) { v = square[key, n] / runs[key, n] - mean(key, n) ^ 2
      return sqrt((v > 0 ? v : 0) / (runs[key, n] - 1)) }
    function images(phi, n) { return 1.7601 * (phi / n) ^ (1 / 3) }
    function viscosity(kind, phi,   q) { q = kind OFS "diffusion" OFS phi
      return kind == "rpy" ? 1 : (images(phi, 1000) - images(phi, 8000)) / (mean(q, 8000) - mean(q, 1000)) }
    function row(q,   w, kind, phi, share, eta) { split(q, w, OFS); kind = w[1]; phi = w[3]
      printf "%s,%s", lead[q], q
      for (n = 125; n <= 8000; n *= 8) printf ",%.5f,%.5f", mean(q, n), error(q, n)
      if (kind == "lubrication") { printf ",,%.5f,%.5f\n", mean(q, 8000), error(q, 8000); return }
      share = w[2] == "diffusion" ? 1 : (1 - phi) ^ 4 / ((1 + 2 * phi) ^ 2 + phi ^ 3 * (phi - 4))
      eta = viscosity(kind, phi)
      printf ",%.2f,%.5f,%.5f\n", eta, mean(q, 8000) + share * images(phi, 8000) / eta,
        kind == "rpy" || share < 1 ? error(q, 8000) : sqrt(4 * error(q, 8000) ^ 2 + error(q, 1000) ^ 2) }
    END { print "date,commit,machine,hydrodynamics,observable,occupancy,of_125,error_125,of_1000,error_1000,of_8000,error_8000,viscosity,limit,error"
      for (i = 1; i <= k; i++) row(order[i]) }' \
    "$results/$backend-suspension.csv" >"$results/$backend-limits.csv"
}

pictures()
{
  command -v gnuplot >/dev/null 2>&1 || { echo 'no gnuplot: no pictures'; return 0; }
  bench=$(pwd)/bench
  (cd "$results" && gnuplot "$bench/style.gp" "$bench/study_hydrodynamics.gp")
}

[ "$backend" = cpu ] && usual='suspension cubic limits pictures' || usual='suspension limits'
for part in ${*:-$usual}; do
  echo "$part"
  $part
done
