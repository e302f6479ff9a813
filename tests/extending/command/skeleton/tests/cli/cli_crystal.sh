#!/bin/sh
# tests/cli/cli_crystal.sh MINIMD - `minimd crystal`: what it prints, and what it refuses.
. tests/cli/cli.sh

expect 0 --help
prints '^  crystal '
expect 0 crystal --help
prints '^usage: minimd crystal'

expect 0 crystal
prints 'fill in: what crystal prints'

expect 2 crystal --no-such-option
expect 2 crystal stray

finish
