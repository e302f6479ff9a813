#!/bin/sh
# tests/cli/cli_python.sh MINIMD - the Python package against plain NumPy; its structures against the headers; pip
# installs it beside a library that it finds, or with one that it builds.
. tests/cli/cli.sh
build=$(cd "$(dirname "$minimd")" && pwd)
library=$build/lib/libminimd.so.1

for python in python3 /usr/bin/python3 none; do
  $python -c 'import numpy' 2>/dev/null && break
done
if [ $python = none ] || [ ! -e "$library" ]; then
  echo '0 cases, 0 failures (no python3 with NumPy, or no shared library in this build)'
  exit 0
fi
export PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 MINIMD_LIBRARY="$library"

cases=$((cases + 1))
$python tests/python/check_minimd.py "$minimd" >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
cases=$((cases + 1))
$python tests/python/check_device.py >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
if command -v cc >/dev/null 2>&1; then
  cases=$((cases + 1))
  $python tests/python/check_layout.py cc >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
fi
cases=$((cases + 1))
MINIMD_LIBRARY=$dir/none $python -c 'import minimd' 2>"$dir/log" && fail 'a library that is not there was found'
grep -q 'ImportError: libminimd was not found' "$dir/log" || fail "no reason: $(cat "$dir/log")"
cases=$((cases + 1))
$python python/examples/tour.py "$dir" >"$dir/log" 2>&1 || fail "python/examples/tour.py: $(cat "$dir/log")"

if [ -d "$build/obj" ] && $python -m pip --version >/dev/null 2>&1; then
  # pip installs a copy of the folder with the library that is named.
  cases=$((cases + 1))
  $python -m pip install -q --no-deps --no-index --target "$dir/site" ./python >"$dir/log" 2>&1 ||
    fail "pip: $(cat "$dir/log")"
  said=$(cd / && env -u MINIMD_LIBRARY PYTHONPATH="$dir/site" $python -c \
    'import minimd, minimd._library as l; print(minimd.__version__, l.library()._name)')
  case $said in *"$dir/site/minimd/libminimd.so.1") ;; *) fail "installed by pip, it uses $said" ;; esac
  # Without one it builds it, here from the objects at hand.
  cases=$((cases + 1))
  eval "env -u MINIMD_LIBRARY $(cat "$build/made-with") MINIMD_BUILD='$build'" \
    $python -m pip install -q --no-deps --no-index --target "'$dir/built'" ./python >"$dir/log" 2>&1 ||
    fail "pip: $(cat "$dir/log")"
  same "$library" "$dir/built/minimd/libminimd.so.1" 'the library that pip built'
fi

finish
