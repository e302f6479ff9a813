#!/bin/sh
# tests/cli/cli_lammps.sh MINIMD - mixtures and salt beside LAMMPS: its thermo lines in tests/oracle/lammps at steps 0 and
# 100; where it is installed (Debian package lammps), also what it makes of our data files, and we of its own, and the
# salt of inputs/in.nacl, at once and after 20 steps, with plain Ewald sums and with PPPM.  Its erfc() is good to 1.5e-7,
# and so are its energies to 1e-5.
. tests/cli/cli.sh
oracle=$(realpath tests/oracle/lammps)

# like THERMO SYSTEM LIMIT : the last two lines of a table in CSV are those of the oracle.
like()
{
  { grep "^$2," "$oracle/thermo.csv"; tail -n 2 "$1" | sed "s/^/$2,/"; } | awk -F, -v limit="$3" '
    NR <= 2 { for (k = 2; k <= 6; k++) want[NR, k] = $k; next }
    { for (k = 2; k <= 6; k++) { d = $k - want[NR - 2, k]; w = limit * want[NR - 2, k]; if (!(d * d <= w * w)) bad = 1 } }
    END { exit bad || NR != 4 }' || fail "$2 is not LAMMPS' within $3: $(tail -n 2 "$1")"
}
for name in mixture three; do
  for more in '--list full' '--list half' '--list tile'; do
    expect 0 run -i "$oracle/$name.in" --backend "$backend" $more --quiet --format csv
    like "$dir/out" $name 1e-9
  done
done
printf 'system: { read = "%s"; }; lj: { cutoff = 2.5; shift = "force"; };
coulomb: { method = "pme"; cutoff = 3.5; order = 10; tolerance = 1e-10; };
run: { steps = 100; dt = 0.001; thermo = 100; };\n' "$oracle/salt.data" >"$dir/in.salt"
expect 0 run --backend "$backend" -i "$dir/in.salt" --quiet --format csv
like "$dir/out" salt 1e-9

lammps=$(command -v lmp) || {
  echo 'no LAMMPS (lmp) to start beside it'
  finish
  exit
}

# What it writes of the mixture, pairs to six digits, needs no words of ours.
cases=$((cases + 1))
sed "s|three.data|$oracle/three.data|; s/^run .*/run 0/" "$oracle/three.in" >"$dir/in.write"
echo "write_data $dir/written.data pair ij" >>"$dir/in.write"
"$lammps" -in "$dir/in.write" -log none -echo none >"$dir/lammps" 2>&1 || fail "LAMMPS stopped: $(tail -3 "$dir/lammps")"
expect 0 run --steps 0 --set "system.read=$dir/written.data" --set lj.shift=energy --quiet --format csv
{ grep '^three,0,' "$oracle/thermo.csv"; tail -1 "$dir/out"; } | awk -F, '
  NR == 1 { want = $4 } NR == 2 { d = $3 - want; exit !(d < 1e-5 && d > -1e-5) }' ||
  fail "a data file of LAMMPS: $(tail -1 "$dir/out")"

steps=20
dt=0.001

# The last frame of a melt, as a LAMMPS data file and as an input of our own.
expect 0 --backend "$backend" -i inputs/in.nacl --cells 4 --steps 100 --dump "$dir/melt.xyz" --dump-every 100
tail -n 514 "$dir/melt.xyz" >"$dir/last.xyz"
printf 'species: ( { name = "Na"; charge = 3.0; }, { name = "Cl"; charge = -3.0; } );
system: { read = "%s"; }; lj: { cutoff = 2.5; shift = "force"; };
coulomb: { method = "pme"; cutoff = 3.5; order = 10; tolerance = 1e-6; };
neighbor: { every = "check"; }; run: { dt = %s; thermo = %d; };\n' "$dir/last.xyz" $dt $steps >"$dir/in.last"
expect 0 convert -i "$dir/in.last" --to data --order hilbert -o "$dir/last.data"
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
pair_coeff * * lj/smooth/linear 1 1
pair_coeff * * coul/long
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
