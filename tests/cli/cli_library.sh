#!/bin/sh
# tests/cli/cli_library.sh MINIMD - the installed libraries: their headers alone in C and C++, what they export, the
# programs of examples/ with them by pkg-config and by CMake, all from a place with a space that was moved.
. tests/cli/cli.sh
build=$(dirname "$minimd")

# Nothing to install from where a build was carried to, nor tools to build with.
for tool in make pkg-config ar objcopy; do
  if ! command -v $tool >/dev/null 2>&1; then
    echo "0 cases, 0 failures ($tool is not installed)"
    exit 0
  fi
done
if [ ! -d "$build/obj" ] || [ ! -x "$minimd" ] || [ -n "${ASAN_OPTIONS:-}" ] ||
  grep -q -- --coverage "$build/made-with"; then
  echo "0 cases, 0 failures (no objects to make the library of)"
  exit 0
fi

installed="$dir/its place"
cases=$((cases + 1))
eval "make -s install-lib install-spread BUILD='$build' PREFIX='$dir/first place' $(cat "$build/made-with")" \
  >"$dir/log" 2>&1 || fail "install: $(cat "$dir/log")"
mv "$dir/first place" "$installed"
grep -rl 'first place' "$installed" && fail 'these files name the place they were installed in'

export PKG_CONFIG_PATH="$installed/lib/pkgconfig" LD_LIBRARY_PATH="$installed/lib"
cc=$(pkg-config --variable=cc minimd)
case $cc in *clang*) cxx=clang++ ;; *) cxx=g++ ;; esac
command -v $cxx >/dev/null 2>&1 || cxx=

# Each header alone, without a warning.
headers=$(cd "$installed/include/minimd" && find . -name '*.h' | sed 's|^\./||' | sort)
for header in $headers; do
  for language in c:c11 c:gnu17 c++:c++11 c++:c++20; do
    compiler=$cc
    [ "${language%:*}" = c ] || compiler=$cxx
    [ -n "$compiler" ] || continue
    cases=$((cases + 1))
    printf '#include <%s>\n' "$header" >"$dir/alone"
    eval "$compiler -x ${language%:*} -std=${language#*:} -fsyntax-only -Wall -Wextra -Wpedantic -Werror" \
      "$(pkg-config --cflags minimd) '$dir/alone'" >"$dir/log" 2>&1 || fail "$header in $language: $(cat "$dir/log")"
  done
done

# Both libraries have the names that the headers declare, and no others.
cases=$((cases + 1))
printf '#include <%s>\n' $headers >"$dir/all.c"
(cd "$installed/include/minimd" && gcc -std=c11 -I. -fsyntax-only -aux-info "$dir/declared" "$dir/all.c" &&
  gcc -E -P -I. "$dir/all.c" >"$dir/plain") || fail 'the headers together'
{
  sed -n 's/^.*\*\/ extern \([^(]*\) (.*/\1/p' "$dir/declared" | grep -v '__\|std' |
    awk '{ sub(/^\*+/, "", $NF); print $NF }'
  sed -n '/(/d; s/^extern const char \*const \([a-z_]*\)\[.*/\1/p' "$dir/plain"
} | sort >"$dir/names"
# Declarations of the C library are among them: only ours begin with a room's word.
grep -E '^(md|ordering|cachemodel|spread|pme|stokes)_' "$dir/names" >"$dir/ours"
nm -D --defined-only "$installed/lib/libminimd.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$dir/shared"
nm -g --defined-only "$installed/lib/libminimd.a" | awk 'NF == 3 { print $3 }' | sort >"$dir/static"
[ "$(wc -l <"$dir/ours")" -gt 90 ] || fail "few names are declared: $(cat "$dir/ours")"
for kind in shared static; do
  differ=$(diff "$dir/ours" "$dir/$kind") ||
    fail "declared in headers (<) and exported by the $kind library (>, packaging/libminimd.map): $differ"
done
case $(uname -s) in
  Linux) readelf -d "$installed/lib/libminimd.so" | grep -q 'soname: \[libminimd.so.1\]' || fail 'soname' ;;
esac

# runs PROGRAM WORDS : it says so.
runs() { "$1" >"$dir/out" 2>&1 && grep -q "$2" "$dir/out" || fail "$1: $(cat "$dir/out")"; }
# links COMPILER SOURCE PACKAGE WORDS : compiled with what pkg-config says it runs.
links()
{
  cases=$((cases + 1))
  if eval "$1 -o '$dir/program' 'examples/$2' $(pkg-config --cflags --libs "$3") -lm" >"$dir/log" 2>&1; then
    runs "$dir/program" "$4"
  else
    fail "$2 with $3: $(cat "$dir/log")"
  fi
}
version=$(pkg-config --modversion minimd)
links "$cc -std=c11" spread.c minimd_spread 'sum of the mesh 3.000000'
links "$cc -std=c11" products.c minimd "minimd $version.*: 0 0 -2 -300"
[ -z "$cxx" ] || links $cxx spread.cc minimd_spread 'step 2: mass 100.000000, charge 25.000000'
[ -z "$cxx" ] || links $cxx orderings.cc minimd 'hilbert: particles 0 2 1 3, misses'

if [ -n "$cxx" ] && command -v cmake >/dev/null 2>&1; then
  cases=$((cases + 1))
  if CC=$cc CXX=$cxx cmake -S examples -B "$dir/examples" -DCMAKE_PREFIX_PATH="$installed" >"$dir/log" 2>&1 &&
    cmake --build "$dir/examples" >>"$dir/log" 2>&1; then
    runs "$dir/examples/spread" 'sum of the mesh 3.000000'
    runs "$dir/examples/spread_cc" 'step 2: mass 100.000000'
    runs "$dir/examples/products" "minimd $version"
    runs "$dir/examples/orderings" 'hilbert: particles'
  else
    fail "CMake: $(cat "$dir/log")"
  fi
  # finds CODE ARGUMENTS : whether find_package(minimd ARGUMENTS) succeeds.
  finds()
  {
    cases=$((cases + 1))
    mkdir -p "$dir/asks"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(asks C)' "find_package(minimd $2)" >"$dir/asks/CMakeLists.txt"
    CC=$cc cmake -S "$dir/asks" -B "$dir/asks/out" -DCMAKE_PREFIX_PATH="$installed" >"$dir/log" 2>&1
    [ $(($? > 0)) = "$1" ] || fail "find_package(minimd $2): $(cat "$dir/log")"
  }
  major=${version%%.*}
  finds 0 "$version EXACT REQUIRED"
  finds 0 "$major REQUIRED COMPONENTS ordering cachemodel spread gspmv"
  finds 1 "$((major + 1)) REQUIRED"
  finds 1 "$major.999 REQUIRED"
  finds 1 'REQUIRED COMPONENTS engine'
  grep -q 'minimd was built without engine' "$dir/log" || fail "no reason: $(cat "$dir/log")"
fi

finish
