#!/bin/sh
# tests/deps.sh PACKAGE... [-- PACKAGE...] - install missing Debian / Ubuntu packages, or say how.  Fails where
# one before -- cannot be had; those behind it are optional: installed where that works, else named.
command -v dpkg-query >/dev/null 2>&1 || {
  echo "not a Debian system: make sure the equivalents of these are installed: $*"
  exit 0
}

# absent PACKAGE... - those that are not installed.
absent()
{
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf ' %s' "$package"
  done
}
needed=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  needed="$needed $1"
  shift
done
[ $# = 0 ] || shift
needed=$(absent $needed)
optional=$(absent "$@")
[ -z "$needed$optional" ] && exit 0

if [ "$(id -u)" = 0 ]; then
  sudo=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  sudo=sudo
else
  sudo=none
fi
install() { DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
if [ "$sudo" != none ]; then
  echo "installing$needed$optional"
  $sudo apt-get update -qq
  [ -z "$needed" ] || install $needed
  for package in $optional; do install "$package"; done
  needed=$(absent $needed)
  optional=$(absent $optional)
fi
how="sudo apt-get update && sudo apt-get install -y"
[ -z "$optional" ] || echo "going on without optional packages; \`minimd info\` says what is off: $how$optional" >&2
[ -z "$needed" ] || {
  echo "packages are missing; type: $how$needed" >&2
  exit 1
}
