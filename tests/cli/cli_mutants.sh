#!/bin/sh
# tests/cli/cli_mutants.sh MINIMD - the list of mutants fits the sources: every entry has one place, and what no longer
# fits is named.
. tests/cli/cli.sh

cases=$((cases + 1))
sh tests/mutants.sh list 2>"$dir/err" || fail "$(cat "$dir/err")"
[ "$(grep -c '^- ' tests/mutants.txt)" -ge 200 ] || fail 'fewer than 200 mutants'

# entry TEXT WORDS : a list of this one entry is refused, with a message that has these words.
entry()
{
  cases=$((cases + 1))
  printf "$1" >"$dir/list"
  if MUTANT_LIST=$dir/list sh tests/mutants.sh list 2>"$dir/err"; then fail "taken: $1"; fi
  says "list:1: $2"
}
entry 'core/crc.c: constant: crc\n- no such text\n+ x\n' '0 places in core/crc.c'
entry 'core/crc.c: constant: crc\n- crc\n+ x\n' '[0-9]+ places in core/crc.c'
entry 'core/none.c: constant: crc\n- crc\n+ x\n' 'no file core/none.c'
entry 'core/crc.c: constant: crc\n- POLYNOMIAL = \n+ POLYNOMIAL = \n' 'nothing is replaced'
entry 'core/crc.c: constant\n- POLYNOMIAL =\n+ x\n' 'expected FILE: KIND: TESTS'
entry 'core/crc.c: constant: no_such\n- POLYNOMIAL =\n+ x\n' 'no test no_such'
entry 'core/crc.c: constant: crc/no_such\n- POLYNOMIAL =\n+ x\n' 'no test crc/no_such'

finish
