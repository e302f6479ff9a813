#!/bin/sh
# bench/study_drift.sh BUILD cpu|gpu - how far the total energy drifts, by precision, list, box and origin:
# docs/results/drift-BACKEND.csv.
#
# The melt of inputs/in.lj with linear force shift, dt .005, lists rebuilt by displacement.  drift is the
# slope of e_total per atom over time steps (least squares over the thermo lines from step FIRST to LAST).
# A box is so many unit cells; origin is the corner of the box along each axis.  RESULTS names another folder.
set -eu
build=$1 backend=$2
results=${RESULTS:-docs/results}
minimd=$build/minimd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
FIRST=2000 LAST=20000
commit=$("$minimd" --version | sed 's/.*(\(.*\))/\1/')
machine=$("$minimd" info | sed -n "s/^$backend  *//p" | head -1 | sed 's/, .*//' | tr , ';')

# moved ORIGIN: the atoms of 10 x 10 x 10 cells in a box that begins there.
moved()
{
  "$minimd" --backend cpu --cells 10 --steps 0 --dump "$work/at0.xyz" --dump-every 1 --quiet >/dev/null
  awk -v o="$1" 'NR == 1 { n = $1; print; next }
    NR == 2 { sub(/Origin="[^"]*"/, "Origin=\"" o " " o " " o "\""); print; next }
    NR <= n + 2 { printf "%s %.17g %.17g %.17g %s %s %s %s\n", $1, $2 + o, $3 + o, $4 + o, $5, $6, $7, $8 }' \
    "$work/at0.xyz" >"$work/moved.xyz"
}

# slope: least squares over step, e_total of a thermo table in CSV.
slope()
{
  awk -F, -v first=$FIRST 'NR == 1 { for (k = 1; k <= NF; k++) { if ($k == "step") s = k; if ($k == "e_total") e = k }; next }
    $s >= first { if (!n) { s0 = $s; e0 = $e }
      x = $s - s0; y = $e - e0; n++; sx += x; sy += y; sxx += x * x; sxy += x * y }
    END { printf "%.3g", (n * sxy - sx * sy) / (n * sxx - sx * sx) }' "$1"
}

# row PRECISION LIST CELLS ORIGIN
row()
{
  system="--cells $3"
  [ "$4" = 0 ] || { moved "$4"; system="--set system.read=$work/moved.xyz"; }
  # shellcheck disable=SC2086
  "$minimd" --backend "$backend" --precision "$1" --list "$2" $system --set lj.shift=force --rebuild check \
    --dt 0.005 --steps $LAST --thermo 20 --quiet --format csv >"$work/thermo.csv"
  echo "$(date -u +%F),$commit,$machine,$backend,$1,$2,$(echo "$3" | tr , x),$4,$FIRST,$LAST,$(slope "$work/thermo.csv")" |
    tee -a "$work/rows"
}

echo date,commit,machine,backend,precision,list,cells,origin,first,last,drift >"$work/rows"
for precision in single mixed double; do
  for list in full half tile; do
    row $precision $list 10 0
  done
  for origin in 1 1e3 1e4 1e5 1e6; do
    row $precision full 10 $origin
  done
done
# Long boxes: on the CPU one that takes as many frames, not as many atoms.
long=3,3,3000
[ "$backend" = gpu ] || long=1,1,3000
for precision in single mixed double; do
  row $precision full $long 0
done
[ "$backend" = cpu ] || for list in half tile; do
  row single $list $long 0
done
mkdir -p "$results"
mv "$work/rows" "$results/drift-$backend.csv"
