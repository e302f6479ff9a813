#!/bin/sh
# tests/extending/extend.sh - the worked examples of docs/extending.md, and skeletons made from them.
#
#   extend.sh apply EXAMPLE...     put examples into this tree: their new files, and lines.patch
#   extend.sh new EXAMPLE NAME     put a skeleton of this name into this tree, with a test that fails
#   extend.sh fill EXAMPLE NAME    the skeleton's files as the example fills them in
#   extend.sh quote                docs/extending.md with its quotations as the files are now
#   extend.sh mend                 write lines.patch again where lines around the changed ones moved
#
# An example is a folder: new/ has its new files at their paths, lines.patch what it changes in others, and skeleton/
# those of the new files that an author begins with.  It is written for one name, which `new` replaces.
set -eu
here=$(dirname "$0")
examples='ordering pair cpu-kernel gpu-kernel list reader command'
stop() { echo "extend.sh: $*" >&2; exit 2; }

# The name that an example is written for, and words about it that its skeleton cannot know.
name_of() { case $1 in ordering) echo serpentine ;; pair) echo mie96 ;; command) echo crystal ;; *) echo - ;; esac; }
about_of()
{
  case $1 in
    ordering) echo 'row-major that turns back at the end of a row' ;;
    pair) echo 'Mie 9-6' ;;
    command) echo 'atoms and box of the lattice that settings describe' ;;
  esac
}
upper() { printf %s "$1" | tr a-z A-Z; }
# renamed EXAMPLE NAME : standard input with the name replaced; in a skeleton what is said of it too.
renamed()
{
  from=$(name_of "$1")
  if [ "$2" = "$from" ]; then
    cat
  else
    sed "s/$(about_of "$1")/say here what $2 is/; s/$from/$2/g; s/$(upper "$from")/$(upper "$2")/g"
  fi
}

# change EXAMPLE NAME : lines.patch onto this tree, wholly or not at all.  A skeleton whose lines only come in between
# finds their place behind the line before them, where another one may have come in already.
change()
{
  renamed "$1" "$2" <"$here/$1/lines.patch" >"$work/patch"
  if patch -p1 -F "$fuzz" --dry-run <"$work/patch" >"$work/said" 2>&1; then
    patch -p1 -s -F "$fuzz" --no-backup-if-mismatch <"$work/patch"
  elif [ "$what" = new ] && ! grep -q '^-[^-]' "$work/patch" && insert 0 && insert 1; then
    return 0
  else
    grep -B 1 "^Hunk.*FAILED\|^can't find" "$work/said" >&2 || cat "$work/said" >&2
    echo "extend.sh: the example '$1' does not fit: mend it (extend.sh mend), or put these lines of" \
      "$here/$1/lines.patch in by hand" >&2
    return 1
  fi
}

# insert WRITE : each block of added lines behind the one line that is equal to the line before it; first without writing.
insert()
{
  awk -v write="$1" '
    function close_file(  k) {
      if (file == "" || !write) return
      for (k = 1; k <= n; k++) printf "%s\n%s", line[k], add[k] >file
      close(file)
    }
    /^--- / { next }
    /^\+\+\+ / {
      close_file()
      split("", add); n = 0
      file = $2; sub(/^b\//, "", file)
      while ((getline text <file) > 0) line[++n] = text
      close(file)
      next
    }
    /^@@/ { next }
    /^\+/ { add[at] = add[at] substr($0, 2) "\n"; if (!at) exit bad = 1; next }
    { at = count = 0
      for (k = 1; k <= n; k++) if (line[k] == substr($0, 2)) { at = k; count++ }
      if (count > 1) at = 0 }
    END { if (!bad) close_file(); exit bad }' "$work/patch"
}

# files EXAMPLE KIND NAME : copy new/, or where there are any the files of skeleton/, under the name.
files()
{
  (cd "$here/$1/new" && find . -type f) | while IFS= read -r file; do
    from=$here/$1/new/$file
    if [ "$2" = skeleton ] && [ -e "$here/$1/skeleton/$file" ]; then from=$here/$1/skeleton/$file; fi
    to=$(echo "${file#./}" | renamed "$1" "$3")
    mkdir -p "$(dirname "$to")"
    renamed "$1" "$3" <"$from" >"$to"
    [ "$2" != skeleton ] || echo "$to"
  done
}

# Quotations: a fence with a path behind the language, ```c PATH, holds that file.
quote()
{
  awk '
    /^```[a-z]* [^ ]+$/ { print; while ((getline text <$2) > 0) print text; close($2); quoted = 1; next }
    /^```$/ { quoted = 0 }
    !quoted' docs/extending.md
}

# remake EXAMPLE : its patch, from the files as they were and as they are now.
remake()
{
  sed -n 's/^+++ b\///p' "$here/$1/lines.patch" >"$work/files"
  rm -rf "$work/a"
  while IFS= read -r file; do
    mkdir -p "$work/a/$(dirname "$file")"
    cp "$file" "$work/a/$file"
  done <"$work/files"
  fuzz=1
  change "$1" "$(name_of "$1")"
  while IFS= read -r file; do
    diff -up --label "a/$file" --label "b/$file" "$work/a/$file" "$file" || [ $? = 1 ]
  done <"$work/files" >"$work/remade"
  files "$1" new "$(name_of "$1")"
}

is_example() { case " $examples " in *" $1 "*) ;; *) stop "no example '$1': expected one of $examples" ;; esac; }
named()
{
  is_example "$1"
  [ "$(name_of "$1")" != - ] || stop "there is no skeleton of '$1': expected ordering, pair or command"
  case $2 in
    '') stop "expected a name: make new-$1 NAME=x" ;;
    [!a-z]* | *[!a-z0-9_]*) stop "'$2': expected a name of a-z, 0-9 and _ that begins with a letter" ;;
  esac
}

fuzz=0 # lines around the changed ones that may differ
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
what=${1:-}
[ $# = 0 ] || shift
case $what in
  apply)
    for example; do
      is_example "$example"
      change "$example" "$(name_of "$example")"
      files "$example" new "$(name_of "$example")"
    done
    ;;
  new)
    named "$1" "${2:-}"
    for file in $(cd "$here/$1/new" && find . -type f | renamed "$1" "$2"); do
      for other in "$file" tests/*/"$(basename "$file")"; do # suites of all rooms have one name space
        case $other in tests/*/check_* | "$file") [ ! -e "$other" ] || stop "'$2' is taken: ${other#./} is there" ;; esac
      done
    done
    for file in $(sed -n 's/^+++ b\///p' "$here/$1/lines.patch"); do
      if grep -q "\"$2\"" "$file"; then stop "'$2' is taken: $file has it"; fi
    done
    change "$1" "$2"
    sed -n 's/^+++ b\///p' "$here/$1/lines.patch" | sort >"$work/changed"
    echo 'new:'
    files "$1" skeleton "$2" | sort
    echo 'changed:'
    cat "$work/changed"
    echo "fill in what says so, then make format; the test fails until then (docs/extending.md)"
    ;;
  fill)
    named "$1" "${2:-}"
    files "$1" new "$2"
    ;;
  quote) quote ;;
  mend)
    mkdir "$work/tree"
    tar -cf - --exclude=./.git --exclude='./build*' --exclude=./docs/results . | tar -xf - -C "$work/tree"
    home=$PWD
    cd "$work/tree"
    for example in $examples; do
      remake "$example"
      cp "$work/remade" "$home/$here/$example/lines.patch"
    done
    ;;
  *) sed -n '3,8s/^# *//p' "$0" >&2; exit 2 ;;
esac
