#!/bin/sh
# tests/cli/cli_extending.sh MINIMD - the worked examples of docs/extending.md fit this tree, are built all together in a
# copy of it, and pass their tests; skeletons of new names are built too, and their tests fail until they are filled in.
# Builds everything once without optimisation: a minute on two processors.  A message says what was left out.
. tests/cli/cli.sh
here=tests/extending
examples='ordering pair cpu-kernel gpu-kernel list reader command'

# What the page quotes is what the files say.
cases=$((cases + 1))
sh $here/extend.sh quote >"$dir/page" || fail 'extend.sh quote'
cmp -s "$dir/page" docs/extending.md || fail 'docs/extending.md is stale: run `make docs`'
for example in $examples; do
  cases=$((cases + 1))
  grep -q "^\`\`\`diff $here/$example/lines.patch\$" docs/extending.md || fail "docs/extending.md shows no $example/lines.patch"
  for file in $(cd $here/$example/new && find . -type f); do
    grep -q "$here/$example/new/${file#./}" docs/extending.md || fail "docs/extending.md does not name $example/new/$file"
  done
done

leave()
{
  echo "not built: $*"
  finish
  exit
}
[ "$backend" = cpu ] || leave 'the CPU tests do that'
[ -z "${ASAN_OPTIONS:-}" ] || leave 'the tests without sanitizers do that'
for tool in make gcc patch; do
  command -v $tool >/dev/null 2>&1 || leave "$tool is not installed"
done
printf '#include <check.h>\n#include <libconfig.h>\n' | gcc -E -x c - >/dev/null 2>&1 || leave 'check.h or libconfig.h is missing'

# The tree as git would commit it, else all but what was built.
tree=$dir/tree
mkdir "$tree"
if [ -e .git ] && command -v git >/dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - --ignore-failed-read 2>/dev/null
else
  find . -type f ! -path './build*' -print0 | tar --null -T - -cf -
fi | tar -xf - -C "$tree"

# extend ARGS... : extend.sh in the copy.  What went wrong names the example and the hunk.
extend()
{
  cases=$((cases + 1))
  (cd "$tree" && sh $here/extend.sh "$@") >"$dir/log" 2>&1 || { fail "extend.sh $*: $(cat "$dir/log")"; return 1; }
}
# builds TARGET... : make them in the copy.  Nothing is inlined: kernels compile in a third of the time.
builds()
{
  cases=$((cases + 1))
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES make -s -C "$tree" BUILD=build NVCC= CFLAGS='-O0 -Dalways_inline=unused' \
    VERSION=extending 'archive=-l$(1)' "$@" >"$dir/log" 2>&1 || { fail "make $*: $(tail -20 "$dir/log")"; return 1; }
  warned=$(grep -E '(serpentine|zigzag|soft|crystal|widget|fastest|all|gro)[a-z_.]*\.[ch]:.*warning:' "$dir/log")
  [ -z "$warned" ] || fail "warnings: $warned"
}
# suite CODE NAME : a suite of the copy ends so.
suite()
{
  cases=$((cases + 1))
  (cd "$tree" && OMP_WAIT_POLICY=passive CK_TIMEOUT_MULTIPLIER=10 "build/tests/check_$2") >"$dir/log" 2>&1
  got=$?
  [ $got = "$1" ] || fail "check_$2: exit $got instead of $1: $(tail -5 "$dir/log")"
}
# script CODE NAME : the same of a command-line test.
script()
{
  cases=$((cases + 1))
  (cd "$tree" && sh "tests/cli/cli_$2.sh" build/minimd) >"$dir/log" 2>&1
  got=$?
  [ $got = "$1" ] || fail "cli_$2: exit $got instead of $1: $(cat "$dir/log")"
}
said() { grep -qF -- "$1" "$dir/log" || fail "no '$1' in: $(tail -5 "$dir/log")"; }

# A patch whose place is gone says which; nothing is changed then.
cases=$((cases + 1))
sed 's/^md_status cmd_info/md_status command_info/' minimd/shell/commands.h >"$tree/minimd/shell/commands.h"
cp "$tree/minimd/shell/commands.c" "$dir/before"
(cd "$tree" && sh $here/extend.sh apply command) >"$dir/log" 2>&1 && fail 'a patch that no longer fits was applied'
said "the example 'command' does not fit"
said 'minimd/shell/commands.h'
said 'Hunk #1 FAILED'
same "$dir/before" "$tree/minimd/shell/commands.c" 'half a patch was applied'
cp minimd/shell/commands.h "$tree/minimd/shell/commands.h"

# Where only a line beside the changed ones is another, `mend` makes the patch fit again, and leaves the program alone.
sed 's/^md_status cmd_config/md_status  cmd_config/' minimd/shell/commands.h >"$tree/minimd/shell/commands.h"
cases=$((cases + 1))
(cd "$tree" && sh $here/extend.sh apply command) >"$dir/log" 2>&1 && fail 'a patch was applied where lines beside it differ'
extend mend
grep -q '^ md_status  cmd_config' "$tree/$here/command/lines.patch" || fail 'mend changes nothing'
grep -q cmd_crystal "$tree/minimd/shell/commands.h" && fail 'mend changes the program'
cp $here/command/lines.patch "$tree/$here/command/lines.patch"
cp minimd/shell/commands.h "$tree/minimd/shell/commands.h"

# Names that are none, or taken; kinds without a skeleton.
for words in 'ordering Upper' 'ordering row' 'ordering force' 'command run' 'pair' 'reader x' 'nothing x'; do
  cases=$((cases + 1))
  (cd "$tree" && sh $here/extend.sh new $words) >"$dir/log" 2>&1
  got=$?
  [ $got = 2 ] || fail "extend.sh new $words: exit $got: $(cat "$dir/log")"
done

# All but the pair formula, of which a tree has one beside Lennard-Jones: it comes as a skeleton.
for example in $examples; do
  [ $example = pair ] || extend apply $example || leave "$example does not fit"
done
new()
{
  cases=$((cases + 1))
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES make -s -C "$tree" NVCC= "new-$1" NAME="$2" >"$dir/log" 2>&1 ||
    { fail "make new-$1 NAME=$2: $(cat "$dir/log")"; leave "new-$1"; }
}
new ordering zigzag
new pair soft
new command widget
cases=$((cases + 1))
found=$(grep -rliE 'mie96|serpentine|crystal' "$tree/force" "$tree/tests/force" "$tree/ordering/zigzag.h" \
  "$tree/tests/ordering/check_zigzag.c" "$tree/minimd/shell/cmd_widget.c" "$tree/tests/cli/cli_widget.sh")
[ -z "$found" ] || fail "skeletons name the examples: $found"
(cd "$tree" && sh tests/arrows.sh) >"$dir/log" 2>&1 || fail "arrows: $(cat "$dir/log")"

suites='serpentine zigzag soft fastest all gro'
programs=$(for s in $suites; do echo "build/tests/check_$s"; done)
builds build/minimd $programs || leave 'it is not built'
suite 1 zigzag
said 'fill in the loops'
suite 1 soft
said 'fill in the definition of soft'
script 1 widget
said 'fill in: what widget prints'
extend fill ordering zigzag
extend fill pair soft
extend fill command widget
sed 's/crystal/widget/g' $here/command/new/tests/cli/cli_crystal.sh | cmp -s - "$tree/tests/cli/cli_widget.sh" ||
  fail 'fill does not rename'
builds build/minimd $programs || leave 'it is not built once filled in'
for s in $suites; do
  suite 0 $s
done
script 0 crystal
script 0 widget

# The program has them: the words, the same physics, and what is refused.
minimd=$tree/build/minimd
expect 0 run --help
prints 'serpentine'
prints 'full\|half\|tile\|all'
expect 0 ordering --order serpentine --size 4,3,5
[ "$(sed 1d "$dir/out" | cut -d, -f5 | sort -n | uniq | wc -l)" = 60 ] || fail 'not 60 indices'
# energies ARGS... : step, temperature and energies, all but the last digits.
energies()
{
  expect 0 -i inputs/in.small --steps 20 --rebuild check --backend cpu "$@"
  awk '$1 ~ /^[0-9]+$/ && NF == 5 { printf "%d %.7f %.7f %.7f\n", $1, $2, $3, $4 }' "$dir/out"
}
energies --order row --list full >"$dir/energies"
[ "$(wc -l <"$dir/energies")" -ge 2 ] || fail 'no energies'
energies --order serpentine --list full >"$dir/serpentine"
same "$dir/energies" "$dir/serpentine" 'the ordering changes the physics'
energies --order row --list all >"$dir/all"
same "$dir/energies" "$dir/all" 'the list changes the physics'
energies --set lj.formula=soft >"$dir/soft"
cmp -s "$dir/energies" "$dir/soft" && fail 'the pair formula changes nothing'
expect 2 --set lj.formula=sof
says 'soft'
expect 0 cachemodel -i inputs/in.small --order serpentine --list all --machine h200

gro=$here/reader/new/tests/corpus/atoms/two.gro
expect 0 --backend cpu --steps 0 --set "system.read=$gro" --cutoff 1 --set system.temperature=0
prints '2 atoms in 4 x 5 x 6'
sed '4s/ AR    2/ NE    2/' $gro >"$dir/bad.gro"
expect 2 --backend cpu --steps 0 --set "system.read=$dir/bad.gro"
says 'bad.gro:4: .*expected one name'

# Kernels for GPUs are compiled where there is a compiler for them, with little optimisation: it is what takes the time.
nvcc=$(command -v nvcc)
if [ -n "$nvcc" ]; then
  cases=$((cases + 1))
  objects=$(for o in engine/integrate/fastest_gpu force/force_full_gpu force/force_half_gpu force/force_tile_gpu; do
    echo build-cuda/obj/$o.prec.p0.cu.o
  done)
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES NVCC_APPEND_FLAGS='-Xcicc -O1 -Xptxas -O0' \
    make -s -C "$tree" BUILD=build-cuda NVCC="$nvcc" CFLAGS=-O0 \
    build-cuda/obj/engine/integrate/integrate.o build-cuda/obj/engine/integrate/fastest_gpu.prec.p1.cu.o \
    build-cuda/obj/engine/integrate/fastest_gpu.prec.p2.cu.o $objects >"$dir/log" 2>&1 || fail "nvcc: $(tail -20 "$dir/log")"
else
  echo 'nvcc was not found: the kernels for GPUs were not compiled'
fi

finish
