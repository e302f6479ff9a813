#!/bin/sh
# tests/cli_bad_inputs.sh MINIMD - every bad input of tests/bad_inputs/table.tsv is refused: its exit
# code, one line on stderr that begins with "minimd: error:" and holds the words of the table,
# nothing on stdout, within a second of processor time (and a minute, for one that only waits).
#
# Columns, separated by tabs: name, exit code, words of the message, arguments, text of the input.
# @ in the arguments is the input's path, @.mtx another name of it; escapes in the text are those of
# printf's %b.  In place of a text: -big (too large), -binary (the program itself), -folder, -absent.
minimd=$1
table=$(dirname "$0")/bad_inputs/table.tsv
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tab=$(printf '\t')
cases=0
failures=0

fail()
{
  echo "FAILED: $name: $*"
  failures=$((failures + 1))
}

set -f # no file names in place of arguments
while IFS=$tab read -r name code words args text; do
  case $name in '' | '#'*) continue ;; esac
  input=$dir/in
  case $text in
    -big) head -c 70000 /dev/zero | tr '\0' ' ' >"$input" ;;
    -binary) input=$minimd ;;
    -folder) input=$dir ;;
    -absent) input=$dir/absent ;;
    *) printf '%b' "$text" >"$input" && ln -f "$input" "$input.mtx" ;;
  esac
  [ "$args" = - ] && args=
  set --
  for arg in $args; do
    case $arg in *@*) arg=${arg%@*}$input${arg##*@} ;; esac
    set -- "$@" "$arg"
  done
  cases=$((cases + 1))
  (ulimit -S -t 1 && exec timeout 60 "$minimd" "$@") >"$dir/out" 2>"$dir/err" </dev/null
  got=$?
  [ $got = 124 ] && fail "waited for a minute"
  [ $got = 152 ] && fail "took more than a second of processor time"
  [ $got = "$code" ] || fail "exit $got instead of $code: $(cat "$dir/err")"
  [ "$(wc -l <"$dir/err")" = 1 ] || fail "not one line on stderr: $(cat "$dir/err")"
  grep -q '^minimd: error: ' "$dir/err" || fail "no error line: $(cat "$dir/err")"
  grep -qF -- "$words" "$dir/err" || fail "no '$words' in: $(cat "$dir/err")"
  [ -s "$dir/out" ] && fail "results on stdout: $(head -3 "$dir/out")"
done <"$table"

echo "$cases cases, $failures failures"
[ $cases -gt 0 ] && [ $failures = 0 ]
