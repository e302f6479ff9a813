#!/bin/sh
# packaging/deb.sh ARCHIVE FOLDER - Debian packages of what `make dist` wrote, into FOLDER, by dpkg-buildpackage.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL # the packages are made with settings of their own
for tool in dpkg-buildpackage dh; do
  command -v $tool >/dev/null 2>&1 || {
    echo "deb: $tool is missing; type: sudo apt-get install -y dpkg-dev debhelper" >&2
    exit 1
  }
done
archive=$(realpath "$1")
folder=$2
name=$(basename "$archive" .tar.gz)
version=${name#minimd-}

rm -rf "$folder"
mkdir -p "$folder"
tar -xzf "$archive" -C "$folder"
cd "$folder/$name"
cp -r packaging/debian debian
# 1.0.0-dev comes before 1.0.0, 1.0.0-3-gabc after it.
number=$(echo "$version" | sed 's/-dev$/~dev/; s/-/+/g')
date=$(date -R -u -d "@$(stat -c %Y packaging/release.txt)")
cat >debian/changelog <<END
minimd ($number) unstable; urgency=medium

  * See CHANGELOG.md.

 -- The minimd authors <maintainers@minimd.invalid>  $date
END
# Sources older than the objects at hand, so that none is made again.
[ -z "${MINIMD_BUILD:-}" ] || find . -exec touch -d 2000-01-01 {} +
dpkg-buildpackage -b -us -uc "$(if [ -n "${MINIMD_BUILD:-}" ]; then echo -d; else echo -jauto; fi)"
