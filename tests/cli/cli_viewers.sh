#!/bin/sh
# tests/cli/cli_viewers.sh MINIMD - OVITO and MDAnalysis (packages of PyPI) read names, types, charges, velocities, box
# and positions as they stand in trajectories and data files; a run goes on from what OVITO writes.
# PYTHON names an interpreter that has them, where python3 has not.
. tests/cli/cli.sh
[ "$backend" = cpu ] || { echo 'the CPU tests do that'; exit 0; }
python=${PYTHON:-python3}
has() { $python -c "import $1" >/dev/null 2>&1; }
has ovito || has MDAnalysis || { echo '0 cases, 0 failures (no python3 with OVITO or MDAnalysis)'; exit 0; }

# Salt and mixture with names of elements.
sed 's/"A"/"Ni"/g; s/"B"/"P"/g; s/mass = 1.0; fraction = 0.2/mass = 0.75; fraction = 0.2/' inputs/in.kob-andersen >"$dir/in.mixture"
cp inputs/in.nacl "$dir/in.salt"
cells=3
for name in salt mixture; do
  for form in xyz lammpstrj dcd; do
    expect 0 -i "$dir/in.$name" --cells $cells --steps 6 --dt 0.001 --thermo 6 --quiet --format csv \
      --dump "$dir/$name.$form" --dump-every 2
  done
  cp "$dir/out" "$dir/$name.csv"
  expect 0 convert -i "$dir/in.$name" --cells $cells --to data -o "$dir/$name.data"
  cells=4
done
expect 0 pack --particles 400 --occupancy 0.2 -o "$dir/spheres.xyz" --quiet

for package in OVITO MDAnalysis; do
  has "$(echo $package | sed s/OVITO/ovito/)" || { echo "$package is not installed: not asked"; continue; }
  cases=$((cases + 1))
  $python tests/cli/viewers.py $package "$dir" >"$dir/log" 2>&1 || fail "$package: $(tail -5 "$dir/log")"
done

# The energies of the last frame, and of the first, in the files that OVITO wrote from them.
for name in salt mixture; do
  grep -v 'lattice *=\|cells *=\|density *=' "$dir/in.$name" | sed 's/ fraction = [0-9.]*;//' >"$dir/in.$name.again"
  for form in xyz data; do
    [ -e "$dir/$name.again.$form" ] || continue
    step=$([ $form = xyz ] && echo 6 || echo 0)
    expect 0 run -i "$dir/in.$name.again" --set "system.read=$dir/$name.again.$form" --steps 0 --quiet --format csv
    { grep "^$step," "$dir/$name.csv"; tail -1 "$dir/out"; } | awk -F, '
      NR == 1 { split($0, a) }
      NR == 2 { for (k = 2; k <= 5; k++) { d = $k - a[k]; if (!(d * d < 1e-16 * a[k] * a[k])) bad = 1 } }
      END { exit bad || NR != 2 }' || fail "$name.again.$form: $(tail -1 "$dir/out"), not $(grep "^$step," "$dir/$name.csv")"
  done
done
finish
