#!/bin/sh
# tests/deps.sh PACKAGE... - install missing Debian / Ubuntu packages, or say how.
command -v dpkg-query >/dev/null 2>&1 || {
  echo "not a Debian system: make sure the equivalents of these are installed: $*"
  exit 0
}
missing=
for package in "$@"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ]; then
  sudo=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  sudo=sudo
else
  echo "packages are missing; type: sudo apt-get update && sudo apt-get install -y$missing" >&2
  exit 1
fi
echo "installing$missing"
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
  echo "could not install$missing" >&2
  exit 1
}
