#!/bin/sh
# tests/cli/cli_coverage.sh MINIMD - what tests/coverage.sh makes of a program of which it is known what ran.
. tests/cli/cli.sh

for tool in gcc gcov; do
  if ! command -v $tool >/dev/null 2>&1; then
    echo "0 cases, 0 failures ($tool is not installed)"
    exit 0
  fi
done
script=$PWD/tests/coverage.sh

# Two objects of one source, of which each runs a part; a header; a function that nothing calls.
mkdir -p "$dir/core" "$dir/build/obj/core" "$dir/build/obj/tests"
cat >"$dir/core/half.h" <<'END_OF_FILE'
static inline int half(int n)
{
  return n > 100 ? 0 : n / 2;
}
END_OF_FILE
cat >"$dir/core/part.c" <<'END_OF_FILE'
#include "core/half.h"
int NAME(int n)
{
  if (n < 0)
    return -1;
  return half(n);
}
END_OF_FILE
cat >"$dir/core/main.c" <<'END_OF_FILE'
int part_single_portable(int), part_double_avx2(int);
int never(int n)
{
  return n + 1;
}
int main(void)
{
  return part_single_portable(-2) + part_double_avx2(4) - 1;
}
END_OF_FILE
(
  cd "$dir" || exit 1
  compile() { gcc -O0 --coverage -I. -c -o "build/obj/core/$1.o" "core/$2.c" $3; }
  compile main main && compile part.0 part -DNAME=part_single_portable && compile part.1 part -DNAME=part_double_avx2 &&
    gcc --coverage -o program build/obj/core/*.o && ./program
) >"$dir/log" 2>&1 || fail "the program: $(cat "$dir/log")"

# measure CODE ENTRIES : this list.
measure()
{
  cases=$((cases + 1))
  printf "$2" >"$dir/list"
  (cd "$dir" && COVERAGE_LIST=list sh "$script" build) >"$dir/out" 2>"$dir/err"
  got=$?
  [ $got = "$1" ] || fail "coverage: exit $got instead of $1: $(cat "$dir/out" "$dir/err")"
}
# rest TEXT : what is left, without the places of lines.
rest() { [ "$(cat "$dir/build/uncovered.txt")" = "$1" ] || fail "left: $(cat "$dir/build/uncovered.txt")"; }

# Of 10 lines two did not run, of 4 branches one was not taken.
measure 1 ''
prints '^core +10  80.00  80.00 +4  75.00  75.00$'
prints '^all +10  80.00  80.00 +4  75.00  75.00$'
prints '^too little'
rest "core/half.h:3: 1 of 2 branches: return n > 100 ? 0 : n / 2;
core/main.c:2: not run: int never(int n)
core/main.c:4: not run: return n + 1;"
measure 0 '= it is there for others\ncore/main.c: never()\n= never so large\ncore/half.h: half(): n > 100\n'
prints '100.00 +4  75.00 100.00$'
prints '^ +2 lines +0 branches  it is there for others$'
prints '^ +0 lines +1 branches  never so large$'
rest ''
measure 0 '= x\ncore/main.c: never()\n*: n / 2\ncore/part.c: part(): n < 0\n'
prints 'list:4: now covered: core/part.c: part\(\): n < 0$'
measure 1 '= x\ncore/main.c: never()\ncore/half.h: n > 100\ncore/half.h: n > 99\n'
prints 'list:4: gone: core/half.h: n > 99$'
measure 1 '= x\ncore/main.c: never()\n0 core/half.h: n > 100\n'
rest "core/half.h:3: 1 of 2 branches: return n > 100 ? 0 : n / 2;"
measure 1 '= x\ncore/main.c: never()\ncore/main.c: n\n'
prints 'list:3: [0-9]+ places: core/main.c: n$'
measure 1 'core/main.c: never()\n'
prints 'list:1: expected = REASON'

finish
