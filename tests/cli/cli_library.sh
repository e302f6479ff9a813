#!/bin/sh
# tests/cli/cli_library.sh MINIMD - a program outside the tree uses the installed spreading library, found
# by pkg-config and by CMake.
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

mkdir "$dir/use"
cat >"$dir/use/main.c" <<'END'
#include <math.h>
#include <spread.h>
#include <stdio.h>

int main(void)
{
  static double mesh[12 * 10 * 9], value[3];
  const double x[3][3] = {{0.1, 0.2, 0.3}, {3.9, 2.5, -7.0}, {1.0, 1.0, 1.0}}, q[3] = {1, -2, 4};
  const md_ctx_spec where = {.backend = MD_CPU, .precision = MD_DOUBLE};
  const spread_spec spec = {
      .hi = {4, 3, 2}, .mesh = {12, 10, 9}, .order = 5, .method = SPREAD_AUTO, .vectors = 1};
  md_ctx *ctx;
  spread_plan *plan = NULL;
  if (md_ctx_create(&where, &ctx) || spread_create(ctx, &spec, &plan) ||
      spread_set_positions(plan, 3, x, 3) || spread_charges(plan, q, mesh) ||
      spread_interpolate(plan, mesh, value, NULL)) {
    puts(md_message());
    return 1;
  }
  double sum = 0, twice = 0, dot = 0;
  for (int k = 0; k < 12 * 10 * 9; k++)
    sum += mesh[k], twice += mesh[k] * mesh[k];
  for (int i = 0; i < 3; i++)
    dot += q[i] * value[i];
  spread_destroy(plan);
  md_ctx_destroy(ctx);
  printf("%.6f\n", sum);
  return fabs(sum - 3) > 1e-12 || fabs(twice - dot) > 1e-12 || !(twice > 0);
}
END
cat >"$dir/use/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(use C)
find_package(minimd_spread REQUIRED)
add_executable(use main.c)
target_link_libraries(use minimd_spread::minimd_spread m)
END
installed=$dir/installed
cases=$((cases + 1))
eval "make -s install-spread BUILD='$build' PREFIX='$installed' $(cat "$build/made-with")" >"$dir/log" 2>&1 ||
  fail "install-spread: $(cat "$dir/log")"

export PKG_CONFIG_PATH="$installed/lib/pkgconfig"
cc=$(pkg-config --variable=cc minimd_spread)
cases=$((cases + 1))
if $cc -std=c11 -o "$dir/use/one" "$dir/use/main.c" $(pkg-config --cflags --libs minimd_spread) -lm >"$dir/log" 2>&1; then
  [ "$("$dir/use/one")" = 3.000000 ] || fail "the program built with pkg-config says $("$dir/use/one")"
else
  fail "pkg-config: $(cat "$dir/log")"
fi
if command -v cmake >/dev/null 2>&1; then
  cases=$((cases + 1))
  if CC=$cc cmake -S "$dir/use" -B "$dir/use/build" -DCMAKE_PREFIX_PATH="$installed" >"$dir/log" 2>&1 &&
    cmake --build "$dir/use/build" >>"$dir/log" 2>&1; then
    [ "$("$dir/use/build/use")" = 3.000000 ] || fail 'the program built with CMake'
  else
    fail "CMake: $(cat "$dir/log")"
  fi
fi

finish
