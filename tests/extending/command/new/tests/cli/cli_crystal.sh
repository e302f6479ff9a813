#!/bin/sh
# tests/cli/cli_crystal.sh MINIMD - `minimd crystal`: what it prints, and what it refuses.
. tests/cli/cli.sh

expect 0 --help
prints '^  crystal '
expect 0 crystal --help
prints '^usage: minimd crystal'

# 4 atoms a cell of edge (4 / 0.5)^(1/3) = 2.
expect 0 crystal --set system.density=0.5 --cells 2,3,4 --format csv
printf 'atoms,x,y,z,volume\n96,4,6,8,192\n' >"$dir/expected"
same "$dir/out" "$dir/expected" crystal
expect 0 crystal --set system.density=0.5 --set system.lattice=sc --cells 4 -o "$dir/table"
grep -q '^ *64 ' "$dir/table" || fail "not 64 atoms: $(cat "$dir/table")"
expect 0 crystal --format json
prints '"command": "crystal"'

expect 2 crystal --cell 4
says "did you mean '?--cells"
expect 2 crystal --cells 0
says 'cells'
expect 2 crystal --set system.read=atoms.xyz
says 'expected a lattice'
expect 2 crystal stray

finish
