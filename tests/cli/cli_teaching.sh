#!/bin/sh
# tests/cli/cli_teaching.sh MINIMD - the experiments of docs/teaching.md print what the page says, and draw.
. tests/cli/cli.sh
if command -v gnuplot >/dev/null 2>&1; then
  cases=6
  sh docs/teaching.sh "$minimd" "$dir/class" >"$dir/out" 2>&1 || fail "$(head -20 "$dir/out")"
  for picture in transpose product list stencil atoms padding; do
    [ -s "$dir/class/$picture.svg" ] || fail "no picture of $picture"
    grep -q "results/teaching/$picture.svg" docs/teaching.md || fail "the page does not show $picture"
  done
fi
finish
