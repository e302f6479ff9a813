#!/bin/sh
# tests/cli/cli_ase.sh MINIMD - ASE (Debian package python3-ase) reads what the program writes, and the program what ASE
# writes: names, charges, velocities as momenta, cells turned in space, quoted words in the comment.
. tests/cli/cli.sh
[ "$backend" = cpu ] || { echo 'the CPU tests do that'; exit 0; }
for python in python3 /usr/bin/python3 none; do
  $python -c 'import ase' 2>/dev/null && break
done
[ $python != none ] || { echo '0 cases, 0 failures (no python3 with ASE)'; exit 0; }

# Salt and mixture with names of elements, which ASE wants.
sed 's/"A"/"Ni"/g; s/"B"/"P"/g; s/mass = 1.0; fraction = 0.2/mass = 0.75; fraction = 0.2/' inputs/in.kob-andersen >"$dir/in.mixture"
salt='-i inputs/in.nacl --cells 3 --steps 5 --thermo 5 --quiet --format csv'
mixture="-i $dir/in.mixture --cells 4 --steps 5 --thermo 5 --quiet --format csv"
expect 0 $salt --dump "$dir/salt.xyz"
cp "$dir/out" "$dir/salt.csv"
expect 0 $mixture --dump "$dir/mixture.lammpstrj"
expect 0 $mixture --dump "$dir/mixture.xyz"
cp "$dir/out" "$dir/mixture.csv"
expect 0 convert -i inputs/in.nacl --cells 3 --to data --order hilbert -o "$dir/salt.data"

# What ASE reads is what the text says; it writes the last frames again in other ways.
cat >"$dir/check.py" <<'END'
import sys
import numpy as np
from ase.io import read, write

folder = sys.argv[1] + '/'
def rows(path, n):      # of the last frame
    return [line.split() for line in open(folder + path).read().splitlines()[-n:]]
def numbers(table, first, count):
    return np.array([[float(word) for word in row[first:first + count]] for row in table])

salt = read(folder + 'salt.xyz', index=-1)
text = rows('salt.xyz', len(salt))
assert len(salt) == 216 and all(salt.pbc)
assert salt.get_chemical_symbols() == [row[0] for row in text]
assert np.all(salt.positions == numbers(text, 1, 3))
assert np.all(salt.arrays['velo'] == numbers(text, 4, 3))
assert np.all(salt.arrays['id'] == numbers(text, 7, 1)[:, 0])
assert np.all(salt.get_initial_charges() == numbers(text, 8, 1)[:, 0])

mixture = read(folder + 'mixture.lammpstrj', format='lammps-dump-text', index=-1)
other = read(folder + 'mixture.xyz', index=-1)
assert mixture.get_chemical_symbols() == other.get_chemical_symbols()
assert mixture.get_chemical_symbols().count('P') == 51
away = mixture.positions - other.positions
assert np.allclose(away - np.round(away / mixture.cell[0, 0]) * mixture.cell[0, 0], 0, atol=1e-12)

data = read(folder + 'salt.data', format='lammps-data', style='charge', units='metal')
assert sorted(set(data.arrays['type'])) == [1, 2] and set(data.get_initial_charges()) == {3., -3.}

# Momenta by masses that the file has, a cell whose vectors point elsewhere, words that need quotes.
masses = {'Na': 1., 'Cl': 1., 'Ni': 1., 'P': .75}
def again(atoms, name, turn):
    atoms.set_masses([masses[s] for s in atoms.get_chemical_symbols()])
    atoms.set_momenta(atoms.arrays.pop('velo') * atoms.get_masses()[:, None])
    atoms.info = {'a note': 'with "quotes" = Lattice="1 2"', 'm': np.eye(3), 'flag': True}
    turn(atoms)
    write(folder + name, atoms, format='extxyz')
def twice(atoms):
    atoms.rotate(33, (1, 2, 3), rotate_cell=True)
def swap(atoms):        # the first vector along -y, the second along z, the third along x
    for a in (atoms.cell, atoms.positions, atoms.arrays['momenta']):
        a[:] = np.array([a[:, 2], -a[:, 0], a[:, 1]]).T
again(salt.copy(), 'salt.turned.xyz', twice)
again(salt.copy(), 'salt.swapped.xyz', swap)
again(other.copy(), 'mixture.turned.xyz', twice)
again(other.copy(), 'mixture.swapped.xyz', swap)
END
cases=$((cases + 1))
$python "$dir/check.py" "$dir" >"$dir/log" 2>&1 || fail "ASE: $(tail -3 "$dir/log")"

# A run from ASE's file begins where the frame was: to the eight digits that ASE gives a position.
for name in salt mixture; do
  grep -v 'lattice *=\|cells *=\|density *=' "$([ $name = salt ] && echo inputs/in.nacl || echo "$dir/in.mixture")" |
    sed 's/ fraction = [0-9.]*;//' >"$dir/in.$name.again"
  for way in turned swapped; do
    expect 0 run -i "$dir/in.$name.again" --set "system.read=$dir/$name.$way.xyz" --steps 0 --quiet --format csv
    { tail -1 "$dir/$name.csv"; tail -1 "$dir/out"; } | awk -F, '
      NR == 1 { split($0, a) }
      NR == 2 { for (k = 2; k <= 5; k++) { d = $k - a[k]; if (!(d * d < 1e-12 * a[k] * a[k])) bad = 1 } }
      END { exit bad || NR != 2 }' || fail "$name.$way.xyz: $(tail -1 "$dir/out"), not $(tail -1 "$dir/$name.csv")"
  done
done

# Species that nobody named.
expect 2 run -i "$dir/in.mixture.again" --set "system.read=$dir/salt.turned.xyz" --steps 0
says "salt.turned.xyz:3: 'Na': expected a name among species"
finish
