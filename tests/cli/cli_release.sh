#!/bin/sh
# tests/cli/cli_release.sh MINIMD - the version follows git's tags, in a checkout and in an archive; two archives of one
# commit are the same bytes; Debian packages hold what they should; every function of the headers has its page.
. tests/cli/cli.sh
build=$(cd "$(dirname "$minimd")" && pwd)
unset MAKEFLAGS MFLAGS MAKELEVEL

if [ -e "$build/version" ]; then
  expect 0 --version
  read -r version commit <"$build/version"
  [ "$(cat "$dir/out")" = "minimd $(echo "$version" | sed 's/-/ /') ($commit)" ] || fail "--version says $(cat "$dir/out"), built was $version $commit"
fi

# version_of FOLDER WORDS : what the script says there.
version_of()
{
  cases=$((cases + 1))
  said=$(sh "$1/packaging/version.sh")
  echo "$said" | grep -qE "^$2\$" || fail "version.sh in $1: '$said' instead of '$2'"
}
if command -v git >/dev/null 2>&1; then
  # A repository of these few files, with tags of its own.
  tree=$dir/tree
  export GIT_CONFIG_NOSYSTEM=1 HOME="$dir" GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
  mkdir -p "$tree/packaging"
  cp packaging/version.sh packaging/release.txt "$tree/packaging"
  cp .gitattributes "$tree"
  printf '# Changelog\n\n## 3.4.5 (unreleased)\n\n## 1.0.0\n' >"$tree/CHANGELOG.md"
  run_git() { git -C "$tree" "$@" >"$dir/log" 2>&1 || fail "git $*: $(cat "$dir/log")"; }
  run_git init -q
  run_git add .
  run_git commit -q -m first
  archived()
  {
    rm -rf "$tree/packed"
    mkdir "$tree/packed"
    git -C "$tree" archive HEAD | tar -xf - -C "$tree/packed"
    version_of "$tree/packed" "$1"
  }
  version_of "$tree" '3.4.5-dev [0-9a-f]{7,}'
  archived '3.4.5-dev [0-9a-f]{7}'
  run_git tag v3.4.5
  version_of "$tree" '3.4.5 [0-9a-f]{7,}'
  archived '3.4.5 [0-9a-f]{7}'
  rm -r "$tree/packed"
  run_git commit -q --allow-empty -m second
  version_of "$tree" '3.4.5-1-g[0-9a-f]+ [0-9a-f]{7,}'
  archived '3.4.5-1-g[0-9a-f]+ [0-9a-f]{7}'
  echo more >>"$tree/CHANGELOG.md"
  version_of "$tree" '3.4.5-1-g[0-9a-f]+ [0-9a-f]{7,}-dirty'
  run_git tag -d v3.4.5
  mkdir -p "$dir/plain/packaging"
  cp packaging/version.sh packaging/release.txt "$dir/plain/packaging"
  cp "$tree/CHANGELOG.md" "$dir/plain"
  version_of "$dir/plain" '3.4.5-dev unknown'
fi

archive=
if [ -e .git ] && command -v git >/dev/null 2>&1 && git rev-parse -q --verify HEAD >/dev/null 2>&1; then
  cases=$((cases + 1))
  for turn in 1 2; do
    make -s dist BUILD="$dir/$turn" NVCC= >"$dir/log" 2>&1 || fail "make dist: $(cat "$dir/log")"
    sleep 1
  done
  archive=$(echo "$dir"/1/dist/*.tar.gz)
  same "$archive" "$dir/2/dist/$(basename "$archive")" 'two archives of one commit'
  (cd "$dir/1/dist" && sha256sum --quiet -c ./*.sha256) || fail 'the check sum of the archive'
  mkdir "$dir/unpacked"
  tar -xzf "$archive" -C "$dir/unpacked"
  name=$(basename "$archive" .tar.gz)
  version_of "$dir/unpacked/$name" "${name#minimd-} $(git rev-parse HEAD | cut -c1-7)"
  (cd "$dir/unpacked/$name" && find . -type f | sort) >"$dir/files"
  git ls-tree -r --name-only HEAD | sed 's|^|./|' | LC_ALL=C sort >"$dir/committed"
  LC_ALL=C sort "$dir/files" -o "$dir/files"
  same "$dir/files" "$dir/committed" 'the archive and what is committed'
fi

# Packages of the objects at hand.
if [ -n "$archive" ] && [ -e "$build/lib/libminimd.so.1" ] && command -v dh >/dev/null 2>&1 &&
  command -v dpkg-buildpackage >/dev/null 2>&1; then
  cases=$((cases + 1))
  settings="$(cat "$build/made-with") VERSION='$(cat "$build/version")'"
  if MINIMD_BUILD=$build MINIMD_SETTINGS=$settings sh packaging/deb.sh "$archive" "$dir/deb" >"$dir/log" 2>&1; then
    # holds PACKAGE PATTERN... : files of a package.
    holds()
    {
      package=$1
      shift
      cases=$((cases + 1))
      dpkg-deb -c "$dir"/deb/"$package"_*.deb >"$dir/files" || fail "no package $package"
      for pattern in "$@"; do
        grep -qE "$pattern" "$dir/files" || fail "$package: no $pattern in $(awk '{ print $6 }' "$dir/files")"
      done
    }
    holds minimd './usr/bin/minimd$' 'man1/minimd.1.gz$' 'completions/minimd$' 'share/minimd/in.lj$'
    holds libminimd1 '/libminimd.so.1$'
    holds libminimd-dev 'libminimd.so -> ' '/libminimd.a$' 'pkgconfig/minimd.pc$' 'include/minimd/spread/spread.h$' \
      'minimd-config-version.cmake$'
    holds python3-minimd 'dist-packages/minimd/__init__.py$'
    dpkg-deb -f "$dir"/deb/minimd_*.deb Depends | grep -q libc6 || fail 'minimd depends on no library'
  else
    fail "deb.sh: $(tail -20 "$dir/log")"
  fi
fi

if command -v doxygen >/dev/null 2>&1 && command -v make >/dev/null 2>&1; then
  cases=$((cases + 1))
  make -s docs-api BUILD="$dir/docs" NVCC= API="$dir/api" >"$dir/log" 2>&1 || fail "docs-api: $(cat "$dir/log")"
  [ -e "$dir/api/spread_8h.html" ] || fail 'docs-api made no page of spread.h'
fi

finish
