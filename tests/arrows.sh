#!/bin/sh
# tests/arrows.sh - fails unless rooms include each other as said here, and by public headers only: those that the table
# at the top of a room's README lists.  A header listed must exist, and another room must include it.
set -u
cd "$(dirname "$0")/.." || exit 1

# ROOM: the rooms that it includes.  Tests and benchmarks may include anything.
arrows='core:
ordering: core
neighbor: core ordering
force: core neighbor
comm: core ordering
spread: core ordering
cachemodel: core ordering neighbor
stokes: core ordering comm spread
engine: core ordering comm neighbor force spread
minimd: core ordering comm spread cachemodel stokes engine'
rooms=$(echo "$arrows" | cut -d: -f1)
any=$(echo $rooms | tr ' ' '|')

# The headers in the table that follows the heading of a room's README, one a row.
public()
{
  awk -v room="$1" 'NR > 2 && !/^\|/ { exit }
    NR > 2 && split($0, part, "`") > 2 { print "public", room "/" part[2] }' "$1/README.md"
}

{
  echo "$arrows" | sed 's/^/arrow /'
  for room in $rooms; do public "$room"; done
  find $rooms -name '*.h' | sed 's/^/file /'
  grep -rnE --include='*.[ch]' --include='*.cu' '^ *# *include *("|<('"$any"')/)' $rooms |
    sed 's/^\([^:]*:[0-9]*\):[^"<]*["<]\([^">]*\).*/include \1 \2/'
} | awk '
  function fail(text) { print text; failed = 1 }
  function room_of(path) { return substr(path, 1, index(path, "/") - 1) }
  $1 == "arrow" {
    sub(/:$/, "", $2)
    for (k = 3; k <= NF; k++) allowed[$2, $k] = $2 " -> " $k
  }
  $1 == "public" { public[$2] = 1 }
  $1 == "file" { file[$2] = 1 }
  $1 == "include" {
    from = room_of($2); to = room_of($3)
    if (from == to) next
    used[from, to] = used[$3] = 1
    if (!((from, to) in allowed)) fail($2 ": " from " may not include \"" $3 "\"")
    else if (!($3 in public)) fail($2 ": \"" $3 "\" is not a public header: " to "/README.md does not list it")
  }
  END {
    for (header in public)
      if (!(header in file)) fail(room_of(header) "/README.md: there is no " header)
      else if (!(header in used)) fail(room_of(header) "/README.md: no other room includes " header)
    for (arrow in allowed)
      if (!(arrow in used)) fail("tests/arrows.sh: no file needs " allowed[arrow])
    exit failed
  }'
