#!/bin/sh
# tests/cli/cli_eam.sh MINIMD - copper of embedded atoms: against LAMMPS' thermo lines, which
# tests/oracle/eam_thermo_20.csv has of 32,000 atoms; restarts; every list and precision; what is refused.
. tests/cli/cli.sh

expect 0 potential -o "$dir/Cu.eam.alloy"
expect 0 potential --knots 3000
cp inputs/in.eam inputs/in.eam.lammps "$dir"
on="--backend $backend"

# agrees FILE : thermo of FILE (CSV, by atom) beside LAMMPS': step 0 to 1e-9, to step 30 to 1e-6, later T to 1e-4.
agrees()
{
  cases=$((cases + 1))
  awk -F, 'NR == FNR { if ($1 == "cleri") { t[$2] = $3; pe[$2] = $4; e[$2] = $6; p[$2] = $7 }; next }
    FNR > 1 {
      step = $1; limit = step == 0 ? 1e-9 : step <= 30 ? 1e-6 : 1e-4; lines++
      off($2, t[step], limit, "T")
      if (step <= 30) { off($3 * 32000, pe[step], limit, "PE"); off($4 * 32000, e[step], limit, "E"); off($5, p[step], limit, "P") }
    }
    function off(got, want, limit, what) {
      d = (got - want) / want
      if (!(d <= limit && d >= -limit)) { print "step " step ", " what ": " got ", not " want; bad = 1 }
    }
    END { exit bad || lines != 11 }' tests/oracle/eam_thermo_20.csv "$1" >"$dir/off" ||
    fail "not LAMMPS' thermo, $1: $(cat "$dir/off")"
}
# Under AddressSanitizer half a minute of arithmetic: the paths are those of the small systems.
if [ -z "${ASAN_OPTIONS:-}" ]; then
  for input in in.eam in.eam.lammps; do
    expect 0 $on -i "$dir/$input" --format csv -o "$dir/thermo.csv"
    agrees "$dir/thermo.csv"
  done
fi

# Small systems: half lists as full lists, by any order, in each precision.
small="$on -i $dir/in.eam --cells 4 --steps 20 --format csv"
expect 0 $small
cp "$dir/out" "$dir/full"
near()
{
  cases=$((cases + 1))
  awk -F, -v limit="$1" 'NR == FNR { for (k = 1; k <= NF; k++) want[FNR, k] = $k; next }
    FNR > 1 { for (k = 1; k <= 4; k++) { d = $k - want[FNR, k]; s = want[FNR, k] + 1e-300
      if (!(d * d <= limit * limit * s * s)) bad = 1 }; lines++ }
    END { exit bad || lines != 3 }' "$dir/full" "$dir/out" || fail "$2 differs by more than $1: $(cat "$dir/out")"
}
# The GPU adds to no other atoms.
if [ "$backend" = cpu ]; then set -- '--list half' '--list half --newton off'; else set -- '--list full'; fi
for options in "$@" '--list tile' '--order row --stencil block'; do
  expect 0 $small $options
  near 1e-9 "$options"
done
expect 2 -i "$dir/in.eam" --backend gpu --list half
says 'neighbor.list = "half": expected "full" or "tile"'
expect 0 -i "$dir/in.eam" --backend auto --list half --check
expect 0 $small --precision mixed
near 1e-4 mixed
expect 0 $small --precision single
near 1e-3 single
expect 0 $small --skin auto

# funcfl: the same functions, as Z with phi = 27.2 0.529 Z^2 / r; another file, and so other roundings.
awk 'NR == 5 { n_rho = $1; n_r = $3; grid = $0 } NR == 6 { element = $0 }
  NR > 6 { for (k = 1; k <= NF; k++) value[++n] = $k }
  END {
    print "copper as funcfl"; print element; print grid
    for (k = 1; k <= n_rho; k++) print value[k]
    for (k = 1; k <= n_r; k++) printf "%.17g\n", sqrt(value[n_rho + n_r + k] / (27.2 * 0.529))
    for (k = 1; k <= n_r; k++) print value[n_rho + k]
  }' "$dir/Cu.eam.alloy" >"$dir/Cu.eam"
expect 0 $small --potential "$dir/Cu.eam"
near 1e-7 funcfl

# A restart is the run that was not stopped; it reads the potential's file again, by its full name.
whole="$on -i $dir/in.eam --cells 4 --deterministic --thermo 10"
expect 0 $whole --steps 60 --format csv
tail -n 2 "$dir/out" >"$dir/whole"
expect 0 $whole --steps 33 --checkpoint "$dir/state"
expect 0 --restart "$dir/state" --steps 60 --format csv
tail -n 2 "$dir/out" >"$dir/rest"
same "$dir/whole" "$dir/rest" restart
expect 0 --restart "$dir/state" --steps 60 --check
prints "^potential.file +\"?$dir/Cu.eam.alloy"
# A file that has changed since is refused by its check sum, unless it is asked for.
mv "$dir/Cu.eam.alloy" "$dir/away"
expect 0 potential --knots 1999 -o "$dir/Cu.eam.alloy"
expect 2 --restart "$dir/state" --steps 60
says "potential.file = \"$dir/Cu.eam.alloy\" is no longer what the run of '$dir/state' read"
expect 0 --restart "$dir/state" --steps 61 --potential "$dir/Cu.eam" --checkpoint "$dir/other"
rm "$dir/Cu.eam.alloy"
expect 3 --restart "$dir/state" --steps 60
says "cannot read '$dir/Cu.eam.alloy'"
mv "$dir/away" "$dir/Cu.eam.alloy"

# Settings, conversions, JSON, miniMD's own format.
expect 0 convert -i "$dir/in.eam.lammps"
grep -q 'lattice_constant = 3.615' "$dir/out" || fail 'convert drops the lattice constant'
if grep -q '^ *\(density\|epsilon\) =' "$dir/out"; then fail 'convert writes what has no meaning'; fi
cp "$dir/out" "$dir/in.converted"
expect 0 $on -i "$dir/in.converted" --cells 3 --steps 2
expect 0 $on -i "$dir/in.eam" --cells 3 --steps 2 --format json
grep -q '"densities_beyond_table": 0' "$dir/out" || fail 'JSON does not count densities'
grep -q '"tables": "\(cubics\|packed\)"' "$dir/out" || fail 'JSON does not say how tables are read'
if [ "$backend" = cpu ]; then tables=cubics; else tables=packed; fi
expect 0 $on -i "$dir/in.eam" --cells 3 --steps 2 --list tile
prints "^potential .*Cu.eam.alloy: embedded atoms, cutoff 4.95, .*tables $tables$"
expect 0 $on -i "$dir/in.eam" --cells 3 --steps 2 --set system.lattice_constant=2.6
prints 'densities beyond the table of .*Cu.eam.alloy, which ends at 60: [1-9]'
printf 'title\n\nmetal\nnone\neam\n1 1\n4 4 4\n10\n0.001\n600\n0.0846\n20\n4.95 1\n5\n' >"$dir/in.minimd"
expect 0 $on -i "$dir/in.minimd" --set potential.file="$dir/Cu.eam.alloy"
expect 2 $on -i "$dir/in.minimd"
says 'expected a potential.file'
sed 's/Cu.eam.alloy Cu/Cu.eam.alloy Ni/' "$dir/in.eam.lammps" >"$dir/in.nickel"
expect 2 $on -i "$dir/in.nickel"
says "in.nickel:13: pair_coeff: '$dir/Cu.eam.alloy' has 'Cu', not 'Ni'"

# Kelvins are what metal units mean.
expect 0 $on -i "$dir/in.eam" --cells 3 --steps 1
if grep -q warning "$dir/err"; then fail "a warning: $(cat "$dir/err")"; fi

# A file cut off is named with line and count.
head -n 300 "$dir/Cu.eam.alloy" >"$dir/cut"
expect 2 $on -i "$dir/in.eam" --potential "$dir/cut"
says "cut:301: the file ends after 1470 of 2000 values of F"

# Both passes are modelled, compared and traced; a GPU's counters are of one kernel.
model="cachemodel -i $dir/in.eam --cells 3 --steps 2 --backend cpu"
expect 0 $model --machine h200 --list full
prints ',NC:density,'
prints ',NF,'
echo 'name = "one"; kind = "cpu"; levels = ( { bytes = 32768; ways = 8; line = 64; } );' >"$dir/one.machine"
expect 0 $model --machine "$dir/one.machine" --list half
prints ',FUI:density,'
expect 2 $model --machine h200 --list half
says 'no kernel for embedded atoms and half lists'
expect 0 compare -i "$dir/in.eam" --backend cpu --cells 3 --steps 2 --order row,random --repeat 1
expect 2 profile -i "$dir/in.eam" --order row
says 'counters off'
expect 0 profile -i "$dir/in.eam" --cells 3 --steps 2 --order row --list full --counters off
expect 2 profile -i "$dir/in.eam" --order row --with cachegrind
says 'pass of forces only'
expect 0 $on -i "$dir/in.eam" --backend cpu --cells 3 --steps 1 --list full --trace "$dir/trace"
expect 0 cachemodel --trace "$dir/trace" --capacity 1024
finish
