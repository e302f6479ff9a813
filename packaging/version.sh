#!/bin/sh
# packaging/version.sh - prints the version and the commit of this tree, two words.
#
# A checkout: `git describe` by tags vX.Y.Z; behind a tag X.Y.Z-N-gCOMMIT; without any tag the newest version of
# CHANGELOG.md and -dev.  What `git archive` wrote (make dist): the same, from packaging/release.txt, which git fills in.
cd "$(dirname "$0")/.." || exit 1

if prefix=$(git rev-parse --show-prefix 2>/dev/null) && [ -z "$prefix" ]; then
  tag=$(git describe --tags --match 'v[0-9]*' 2>/dev/null)
  commit=$(git describe --always --dirty --exclude '*' 2>/dev/null)
else
  tag=$(sed -n 's/^tag \(v[^$]*\)$/\1/p' packaging/release.txt)
  commit=$(sed -n 's/^commit \([0-9a-f]\{7\}\)[0-9a-f]*$/\1/p' packaging/release.txt)
fi
newest=$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
version=${tag#v}
echo "${version:-${newest:-0.0.0}-dev} ${commit:-unknown}"
