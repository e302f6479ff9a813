#!/bin/sh
# tests/arrows.sh - fails when a room includes a room that is not to its left (docs/architecture.md).
set -u
status=0
arrows()
{
  room=$1
  [ -d "$room" ] || return
  allowed=$(printf '%s|' "$@")
  found=$(grep -nE '^ *# *include "[a-z]+/' "$room"/*.[ch] "$room"/*.cu 2>/dev/null |
    grep -vE "include \"(${allowed%|})/")
  if [ -n "$found" ]; then
    printf '%s may include only: %s\n%s\n' "$room" "$*" "$found"
    status=1
  fi
}
# Private headers stay in their room.
private()
{
  found=$(grep -nE '^ *# *include "[a-z]+/[a-z_]*impl\.h"' */*.[ch] */*.cu 2>/dev/null |
    awk -F'[/:"]' '$1 != $5' | grep -v '^tests/')
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
arrows stokes core ordering neighbor spread
private
exit $status
