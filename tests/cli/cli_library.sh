#!/bin/sh
# tests/cli/cli_library.sh MINIMD - the programs of examples/ use the installed spreading library, found by
# pkg-config and by CMake.
. tests/cli/cli.sh
build=$(dirname "$minimd")

# Nothing to install from where a build was carried to, nor tools to build with.
for tool in make pkg-config ar; do
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

installed=$dir/installed
cases=$((cases + 1))
eval "make -s install-spread BUILD='$build' PREFIX='$installed' $(cat "$build/made-with")" >"$dir/log" 2>&1 ||
  fail "install-spread: $(cat "$dir/log")"

export PKG_CONFIG_PATH="$installed/lib/pkgconfig"
cc=$(pkg-config --variable=cc minimd_spread)
# runs PROGRAM WORDS : it says so.
runs() { "$1" >"$dir/out" 2>&1 && grep -q "$2" "$dir/out" || fail "$1: $(cat "$dir/out")"; }
cases=$((cases + 1))
if $cc -std=c11 -o "$dir/spread" examples/spread.c $(pkg-config --cflags --libs minimd_spread) -lm >"$dir/log" 2>&1; then
  runs "$dir/spread" 'sum of the mesh 3.000000'
else
  fail "pkg-config: $(cat "$dir/log")"
fi
case $cc in *clang*) cxx=clang++ ;; *) cxx=g++ ;; esac
command -v $cxx >/dev/null 2>&1 || without_cxx=yes
if [ -z "${without_cxx:-}" ]; then
  cases=$((cases + 1))
  if $cxx -o "$dir/spread_cc" examples/spread.cc $(pkg-config --cflags --libs minimd_spread) -lm >"$dir/log" 2>&1; then
    runs "$dir/spread_cc" 'step 2: mass 100.000000, charge 25.000000'
  else
    fail "C++: $(cat "$dir/log")"
  fi
fi
if [ -z "${without_cxx:-}" ] && command -v cmake >/dev/null 2>&1; then
  cases=$((cases + 1))
  if CC=$cc CXX=$cxx cmake -S examples -B "$dir/examples" -DCMAKE_PREFIX_PATH="$installed" >"$dir/log" 2>&1 &&
    cmake --build "$dir/examples" >>"$dir/log" 2>&1; then
    runs "$dir/examples/spread" 'sum of the mesh 3.000000'
    runs "$dir/examples/spread_cc" 'step 2: mass 100.000000'
  else
    fail "CMake: $(cat "$dir/log")"
  fi
fi

finish
