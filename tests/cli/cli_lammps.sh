#!/bin/sh
# tests/cli/cli_lammps.sh MINIMD - the salt of inputs/in.nacl beside LAMMPS, where that is installed
# (Debian package lammps): energies and pressure of a melt, at once and after 20 steps, with plain
# Ewald sums and with PPPM.  Its erfc() is good to 1.5e-7, and so are its energies to 1e-5.
. tests/cli/cli.sh
lammps=$(command -v lmp) || {
  echo 'skipped: no LAMMPS (lmp) to compare with'
  exit 0
}
steps=20
dt=0.001

# The last frame of a melt, as a LAMMPS data file and as an input of our own.
expect 0 --backend "$backend" -i inputs/in.nacl --cells 4 --steps 100 --dump "$dir/melt.xyz" --dump-every 100
tail -n 514 "$dir/melt.xyz" >"$dir/last.xyz"
awk -F'[" ]' 'NR == 1 { n = $1 }
  NR == 2 { printf "a salt\n\n%d atoms\n1 atom types\n\n0 %s xlo xhi\n0 %s ylo yhi\n0 %s zlo zhi\n\n" \
    "Masses\n\n1 1\n\nAtoms # charge\n\n", n, $2, $6, $10 }
  NR > 2 { print $8, 1, $9, $2, $3, $4; v[NR] = $8 " " $5 " " $6 " " $7 }
  END { print "\nVelocities\n"; for (k = 3; k <= NR; k++) print v[k] }' "$dir/last.xyz" >"$dir/last.data"
printf 'system: { read = "%s"; }; lj: { cutoff = 2.5; shift = "force"; };
coulomb: { method = "pme"; cutoff = 3.5; order = 10; tolerance = 1e-6; };
neighbor: { every = "check"; }; run: { dt = %s; thermo = %d; };\n' "$dir/last.xyz" $dt $steps >"$dir/in.last"
expect 0 --backend "$backend" -i "$dir/in.last" --steps $steps --format csv
tail -n 2 "$dir/out" | tr , ' ' >"$dir/ours"

# agrees KSPACE LIMIT : temperature, energies and pressure of both steps.
agrees()
{
  cases=$((cases + 1))
  cat >"$dir/in.lammps" <<END
units lj
atom_style charge
read_data $dir/last.data
pair_style hybrid/overlay lj/smooth/linear 2.5 coul/long 3.5
pair_coeff 1 1 lj/smooth/linear 1 1
pair_coeff 1 1 coul/long
pair_modify table 0
kspace_style $1
neighbor 0.3 bin
fix move all nve
timestep $dt
thermo $steps
thermo_style custom step temp pe etotal press
thermo_modify format float %.15g norm yes
run $steps
END
  "$lammps" -in "$dir/in.lammps" -log none -echo none >"$dir/lammps" 2>&1 ||
    fail "LAMMPS stopped: $(tail -3 "$dir/lammps")"
  awk '/^ *Step/ { rows = 1; next } /^Loop/ { rows = 0 } rows && NF == 5' "$dir/lammps" >"$dir/theirs"
  paste -d ' ' "$dir/ours" "$dir/theirs" | awk -v limit="$2" '
    { for (k = 1; k <= 5; k++) { d = $k - $(k + 5); if (!(d < limit && d > -limit)) bad = 1 } }
    END { exit bad || NR != 2 }' || fail "not within $2 of LAMMPS, $1: $(cat "$dir/ours" "$dir/theirs")"
}
agrees 'ewald 1e-7' 1e-5
agrees 'pppm 1e-6' 1e-4
finish
