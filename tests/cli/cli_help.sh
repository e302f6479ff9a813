#!/bin/sh
# tests/cli/cli_help.sh MINIMD - what the program says when asked, and when something was probably meant otherwise.
. tests/cli/cli.sh

# `help` is `--help`.
expect 0 --help
cp "$dir/out" "$dir/all"
expect 0 help
same "$dir/out" "$dir/all" 'minimd help'
for command in $(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$dir/all"); do
  [ "$command" = help ] && continue
  expect 0 "$command" --help
  cp "$dir/out" "$dir/expected"
  expect 0 help "$command"
  same "$dir/out" "$dir/expected" "minimd help $command"
done
expect 0 help --help
prints '^usage: minimd help'
expect 2 help spred
says "did you mean 'spread'"
expect 2 help run spread
says "'spread'"
expect 2 help --all

# One input; of other options the last counts.
expect 2 -i inputs/in.lj -i inputs/in.nacl
says "input was given twice, 'inputs/in.lj' and 'inputs/in.nacl'"
expect 2 stokes --input=x -iy
says 'input was given twice'
expect 0 --steps 5 --steps 1e6 --check
prints '^run.steps +1000000 +--steps'

# Kelvins.
expect 0 --check --set system.temperature=300
says 'warning: system.temperature = 300 .*kelvin'
expect 0 --check --set system.temperature=1.5
[ ! -s "$dir/err" ] || fail "a warning of nothing: $(cat "$dir/err")"
expect 0 --check --set system.temperature=87 --set lj.epsilon=119.8
[ ! -s "$dir/err" ] || fail "a warning of nothing: $(cat "$dir/err")"

# What the build has and lacks.
expect 0 info
for part in fftw lapack mpi zlib gnuplot valgrind; do prints "^$part +[a-zA-Z]"; done

finish
