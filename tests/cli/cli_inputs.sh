#!/bin/sh
# tests/cli/cli_inputs.sh MINIMD - inputs as users have them: LAMMPS' bench/in.lj and miniMD's in.lj.miniMD
# unmodified, the files of inputs/, convert, config --list.
. tests/cli/cli.sh
inputs=$(dirname "$0")/../../inputs

cat >"$dir/in.lj" <<'END'
# 3d Lennard-Jones melt

variable	x index 1
variable	y index 1
variable	z index 1

variable	xx equal 20*$x
variable	yy equal 20*$y
variable	zz equal 20*$z

units		lj
atom_style	atomic

lattice		fcc 0.8442
region		box block 0 ${xx} 0 ${yy} 0 ${zz}
create_box	1 box
create_atoms	1 box
mass		1 1.0

velocity	all create 1.44 87287 loop geom

pair_style	lj/cut 2.5
pair_coeff	1 1 1.0 1.0 2.5

neighbor	0.3 bin
neigh_modify	delay 0 every 20 check no

fix		1 all nve

run		100
END
cat >"$dir/in.lj.miniMD" <<'END'
Lennard-Jones input file for MD benchmark

lj             units (lj or metal)
none           data file (none or filename)
lj             force style (lj or eam)
1.0 1.0        LJ parameters (epsilon and sigma; COMD: 4.0 3.73?)
16 16 16       size of problem
100            timesteps
0.005          timestep size
1.44           initial temperature
0.8442         density
20             reneighboring every this many steps
2.5 0.30       force cutoff and neighbor skin
100            thermo calculation every this many steps (0 = start,end)
END

# run FILE T E_PAIR P: values at step 100, from the programs that the files are for.
run()
{
  cases=$((cases + 1))
  "$minimd" -i "$1" --backend "$backend" --format csv >"$dir/out" 2>"$dir/err" || fail "$(cat "$dir/err")"
  awk -F, -v t="$2" -v e="$3" -v p="$4" '
    function far(a, b) { return a > b ? a - b > 1e-9 : b - a > 1e-9 }
    NR > 1 { step = $1; bad = far($2, t) || far($3, e) || far($5, p) }
    END { exit bad || step != 100 }' "$dir/out" || fail "$1: $(tail -1 "$dir/out")"
}
# Under AddressSanitizer a minute of arithmetic: the paths are those of the steps below.
if [ -z "${ASAN_OPTIONS:-}" ]; then
  run "$dir/in.lj" .757453103239936 -5.75850548601596 .207261053624723
  run "$dir/in.lj.miniMD" .76641220662596 -5.77227824934866 .0979907871451
fi

# Every input runs, and says the same once converted.  Those of embedded atoms have a potential beside them.
"$minimd" potential -o "$dir/Cu.eam.alloy"
cp "$inputs"/in.eam* "$dir"
for file in "$dir"/in.* "$inputs"/in.*; do
  case $file in "$inputs"/in.eam*) continue ;; esac
  cases=$((cases + 3))
  "$minimd" -i "$file" --backend "$backend" --steps 1 >"$dir/out" 2>"$dir/err" || fail "$file: $(cat "$dir/err")"
  "$minimd" convert -i "$file" -o "$dir/new" || fail "convert $file"
  for name in "$file" "$dir/new"; do
    "$minimd" -i "$name" --check | sed 1d | awk '{ $NF = ""; print }' >"$dir/check.$(basename "$name")"
  done
  # Paths of files are absolute once written.
  grep -v 'system.read \|potential.file ' "$dir/check.$(basename "$file")" >"$dir/a"
  grep -v 'system.read \|potential.file ' "$dir/check.new" >"$dir/b"
  [ -s "$dir/a" ] && cmp -s "$dir/a" "$dir/b" || fail "$file and its conversion differ"
done

# Charges: what was chosen is printed; a net charge is neutralised with a warning.
cases=$((cases + 2))
"$minimd" -i "$inputs/in.nacl" --backend "$backend" --steps 0 >"$dir/out" 2>"$dir/err" || fail "$(cat "$dir/err")"
grep -q '^coulomb .*alpha .*mesh [0-9]* x ' "$dir/out" && grep -q 'expected force error' "$dir/out" || fail "no choice: $(cat "$dir/out")"
grep -q warning "$dir/err" && fail "a warning without need: $(cat "$dir/err")"
cases=$((cases + 1))
"$minimd" -i "$inputs/in.nacl" --backend "$backend" --steps 0 --format json >"$dir/json" 2>"$dir/err" || fail "$(cat "$dir/err")"
# What the JSON report says of charges, in the form of the table's lines.
tr -d '\n' <"$dir/json" | sed -n 's/.*"coulomb": {\([^}]*\)}.*/\1/p' | tr -s ' ' >"$dir/said"
for key in alpha cutoff mesh order spread spread_reason real_error mesh_error net_charge; do
  grep -q "\"$key\": " "$dir/said" || fail "no $key of charges in JSON: $(cat "$dir/said")"
done
alpha=$(sed -n 's/.*"alpha": \([0-9.e-]*\),.*/\1/p' "$dir/said")
grep -q "^coulomb .*alpha $(printf %.6g "$alpha"), cutoff 3.5," "$dir/out" || fail "alpha $alpha in JSON: $(grep '^coulomb' "$dir/out")"
mesh=$(sed -n 's/^coulomb .*mesh \([0-9]* x [0-9]* x [0-9]*\).*/\1/p' "$dir/out")
grep -q "\"mesh\": \[ $(echo "$mesh" | sed 's/ x /, /g') \]" "$dir/said" || fail "mesh $mesh of the table: $(cat "$dir/said")"
printf '2\nLattice="6 0 0 0 6 0 0 0 6" Properties=pos:R:3:charge:R:1\n1 1 1 2\n3 3 3 -0.5\n' >"$dir/net.xyz"
"$minimd" --backend "$backend" --steps 1 --set system.read="$dir/net.xyz" --set coulomb.method=pme >"$dir/out" 2>"$dir/err" || fail "$(cat "$dir/err")"
grep -q 'warning: the charges sum to 1.5: a uniform background' "$dir/err" || fail "no warning: $(cat "$dir/err")"

# A command that is ignored: a warning that names its place, from a run and from a conversion.
{ echo 'suffix gpu'; cat "$inputs/in.lj.lammps"; } >"$dir/warns"
for command in '--steps 0 --cells 4' "convert -o $dir/new"; do
  cases=$((cases + 1))
  "$minimd" $command -i "$dir/warns" >"$dir/out" 2>"$dir/err" || fail "$command: $(cat "$dir/err")"
  grep -q "^minimd: warning: .*/warns:1: 'suffix' is ignored$" "$dir/err" || fail "$command: no warning: $(cat "$dir/err")"
done

cases=$((cases + 3))
"$minimd" config --list >"$dir/out" || fail 'config --list'
"$minimd" config --list --format csv >"$dir/csv" || fail 'config --list --format csv'
keys=$(grep -c '^[a-z]*\.' "$dir/csv")
[ "$keys" -ge 27 ] || fail "config --list has $keys keys"
for key in $(sed -n 's/^\([a-z]*\.[a-z_]*\),.*/\1/p' "$dir/csv"); do
  grep -q "^$key " "$dir/out" || fail "no $key in the table"
done
head -1 "$dir/csv" | grep -q '^key,type,unit,default,range,meaning$' || fail 'CSV header'
if command -v python3 >/dev/null 2>&1; then
  cases=$((cases + 1))
  "$minimd" config --list --format json | python3 -c '
import csv, json, sys
listed = json.load(sys.stdin)
rows = list(csv.DictReader(open(sys.argv[1])))
assert listed["schema"] == 2 and listed["keys"] == rows' "$dir/csv" || fail 'CSV and JSON differ'
fi

finish
