#!/bin/sh
# tests/arrows.sh - fails when a room includes a room that is not to its left (docs/architecture.md).
set -u
status=0
rooms=
arrows()
{
  room=$1
  rooms="$rooms $room"
  [ -d "$room" ] || return
  allowed=$(printf '%s|' "$@")
  found=$(grep -rnE --include='*.[ch]' --include='*.cu' '^ *# *include "[a-z]+/' "$room" |
    grep -vE "include \"(${allowed%|})/")
  if [ -n "$found" ]; then
    printf '%s may include only: %s\n%s\n' "$room" "$*" "$found"
    status=1
  fi
}
# Private headers stay in their room.
private()
{
  found=$(for room in $rooms; do
    grep -rnE --include='*.[ch]' --include='*.cu' '^ *# *include "[a-z/]+/[a-z_]*impl\.h"' "$room" |
      grep -v "include \"$room/"
  done)
  if [ -n "$found" ]; then
    printf 'private headers of another room:\n%s\n' "$found"
    status=1
  fi
}
arrows core
arrows ordering core
arrows neighbor core ordering
arrows force core ordering neighbor
arrows comm core
arrows spread core ordering
arrows cachemodel core ordering neighbor
arrows stokes core ordering
arrows engine core ordering comm neighbor force spread
arrows minimd core ordering comm neighbor force spread cachemodel stokes engine
private
exit $status
