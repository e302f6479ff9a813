#!/bin/sh
# docs/teaching.sh PROGRAM DIR - run the experiments of docs/teaching.md in DIR, which keeps their pictures, and compare
# what they print with the page.
page=$(cd "$(dirname "$0")" && pwd)/teaching.md
program=$(realpath "$1") && mkdir -p "$2" && cd "$2" && mkdir -p bin && ln -sf "$program" bin/minimd || exit 3
# Blocks number 1, 2, ... of commands become N.sh, what they print N.expected.
awk '/^```sh$/ { n++; out = n ".sh"; next } /^```text$/ { out = n ".expected"; next } /^```$/ { out = ""; next }
  out { print >out }' "$page"
failures=0
for commands in [0-9].sh; do
  PATH=$PWD/bin:$PATH sh -e "$commands" >printed 2>messages || failures=$((failures + 1))
  diff "${commands%.sh}.expected" printed || failures=$((failures + 1))
  cat messages
done
rm -rf bin printed messages [0-9].sh [0-9].expected
[ $failures = 0 ]
