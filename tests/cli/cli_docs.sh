#!/bin/sh
# tests/cli/cli_docs.sh MINIMD - what is committed in docs/ is what the program's tables say today; an
# installed tree has program, manual page and completion; pages are readable.
. tests/cli/cli.sh
build=$(dirname "$minimd")

# form FORM FILE : the committed file is the generated one.
form()
{
  expect 0 docs --form "$1"
  cmp -s "$dir/out" "$2" || fail "$2 is stale: run \`make docs\`"
}
form man docs/minimd.1
form bash docs/minimd.bash
form zsh docs/minimd.zsh
form fish docs/minimd.fish
form style bench/style.gp
sed '1,/^<!-- .*make docs/d' docs/user-guide.md >"$dir/reference"
[ -s "$dir/reference" ] || fail 'docs/user-guide.md has no generated part'
form guide "$dir/reference"
cases=$((cases + 1))
sh docs/draw_rooms.sh >"$dir/rooms.svg" || fail 'docs/draw_rooms.sh'
cmp -s "$dir/rooms.svg" docs/rooms.svg || fail 'docs/rooms.svg is stale: run `make docs`'

# Nothing is left out: every command, its options and every setting are in all three.
minimd_says() { "$minimd" "$@" 2>/dev/null; }
for command in $(minimd_says --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  cases=$((cases + 1))
  grep -q "^\.SS minimd $command\$" docs/minimd.1 || fail "no $command in docs/minimd.1"
  grep -q "^### minimd $command:" docs/user-guide.md || fail "no $command in docs/user-guide.md"
  words=$(grep "^    $command) echo" docs/minimd.bash)
  for option in $(minimd_says "$command" --help | sed -n 's/^  ...  *--\([a-z-]*\).*/\1/p'); do
    case $words in *" --$option "* | *" --$option'"* | *"'--$option "* | *"'--$option'"*) ;; *) fail "no $command --$option in docs/minimd.bash" ;; esac
    grep -q -- "--${option}[ \`]" docs/user-guide.md || fail "no --$option in docs/user-guide.md"
  done
done
for key in $(minimd_says config --list --format csv | sed '1d; s/,.*//'); do
  grep -q "^| \`$key\`" docs/user-guide.md || fail "no $key in docs/user-guide.md"
  grep -q "^\\\\fB$key\\\\fR" docs/minimd.1 || fail "no $key in docs/minimd.1"
  grep -q " $key=\|'$key=" docs/minimd.bash || fail "no $key in docs/minimd.bash"
done
expect 2 docs
says 'form'
expect 2 docs --form pdf
says 'man'

# The keys of the three papers stand for something: in full in --help, the manual and the references.
expect 0 --help
for key in AK Guo Liu; do
  prints "^\\[$key\\] +[A-Z]\\. "
  grep -q "^\\[$key\\]  *[A-Z]\\. " docs/minimd.1 || fail "no [$key] in docs/minimd.1"
  grep -q "^- \\*\\*\\[$key\\]\\*\\* " docs/references.md || fail "no [$key] in docs/references.md"
done

# Pages: no paragraph or item of more than 110 words, tables and code aside; every link leads to a file.
pages=$(ls ./*.md docs/*.md docs/decisions/*.md ./*/README.md)
cases=$((cases + 1))
awk '
  function finish() { if (words > 110) print page ":" from ": " words " words"; words = 0 }
  FNR == 1 { finish(); page = FILENAME; code = 0 }
  /^ *```/ { finish(); code = !code; next }
  code { next }
  /^ *(\||#|$)/ { finish(); next }
  /^ *([-*]|[0-9]+\.) / { finish() }
  { if (!words) from = FNR; words += NF }
  END { finish() }' $pages >"$dir/long"
[ ! -s "$dir/long" ] || fail "paragraphs of more than 110 words: $(cat "$dir/long")"
for page in $pages; do
  cases=$((cases + 1))
  for link in $(grep -o '](\([^)#: ]*\)[)#]' "$page" | sed 's/^](//; s/[)#]$//'); do
    [ -e "$(dirname "$page")/$link" ] || fail "$page links to $link, which is not there"
  done
done

# A file that a page or a comment names with its folder is there, or an example adds it.
cases=$((cases + 1))
rooms='core|ordering|comm|neighbor|force|cachemodel|spread|stokes|engine|minimd|tests|bench'
grep -noE "\\b($rooms)(/[a-z_]+)*/[a-z_]+(\\.(prec|real|single|isa))?\\.(cu|c|h|sh|txt)\\b" $pages \
  $(find core ordering comm neighbor force cachemodel spread stokes engine minimd tests bench -name '*.[ch]' -o -name '*.cu') |
  sed 's/:.*:/ /' | sort -u | while read -r from name; do
    for there in "$name" tests/extending/*/new/"$name"; do [ ! -e "$there" ] || continue 2; done
    echo "$from names $name, which is not there"
  done >"$dir/stale"
[ ! -s "$dir/stale" ] || fail "$(cat "$dir/stale")"

if command -v man >/dev/null 2>&1 && command -v groff >/dev/null 2>&1; then
  cases=$((cases + 1))
  groff -man -Tutf8 -ww docs/minimd.1 >/dev/null 2>"$dir/log" || fail 'groff'
  [ ! -s "$dir/log" ] || fail "groff: $(head -3 "$dir/log")"
fi

# Where it was built, it can be installed; a carried build brings no objects.
if command -v make >/dev/null 2>&1 && [ -d "$build/obj" ] && [ -x "$minimd" ] && [ -z "${ASAN_OPTIONS:-}" ]; then
  cases=$((cases + 1))
  to=$dir/usr
  eval "make -s install BUILD='$build' PREFIX='$to' $(cat "$build/made-with")" >"$dir/log" 2>&1 ||
    fail "install: $(cat "$dir/log")"
  "$to/bin/minimd" --version >"$dir/out" 2>&1 || fail 'the installed program does not start'
  same docs/minimd.1 "$to/share/man/man1/minimd.1" 'installed manual page'
  same docs/minimd.zsh "$to/share/zsh/site-functions/_minimd" 'installed completion for zsh'
  same docs/minimd.bash "$to/share/bash-completion/completions/minimd" 'installed completion'
  eval "make -s uninstall BUILD='$build' PREFIX='$to' $(cat "$build/made-with")" >"$dir/log" 2>&1
  [ -z "$(find "$to" -type f)" ] || fail "uninstall leaves $(find "$to" -type f)"
fi

finish
